"""Ranks from drawn singular values: against matrices of known rank."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from repro.audit.audit_file import Spectrum
from repro.audit.comparison import Grade
from repro.audit.disagreements import singular_values, spectrum
from repro.errors import ClaimError
from repro.rank.rounded import eps_of
from repro.rank.spectrum import count_above, effective_rank, press_threshold

SEED = 20200210


def entry(press="40", effective=(), accuracy=0.03):
    document = {
        "id": "one",
        "locator": "Table 6",
        "file": "spectra.csv",
        "column": "mos",
        "rows": 300,
        "accuracy": accuracy,
        "press": press,
        "effective": [{"epsilon": epsilon, "rank": rank} for epsilon, rank in effective],
    }
    return Spectrum.model_validate_json(json.dumps(document))


def columns(values):
    return {
        "index": [str(place) for place in range(1, len(values) + 1)],
        "mos": [repr(value) for value in values],
    }


def test_the_rank_of_a_matrix_of_known_rank_is_found():
    """A product of rank 40 with noise below the tolerance has Press rank 40."""
    generator = np.random.default_rng(SEED)
    low = generator.normal(size=(300, 40)) @ generator.normal(size=(40, 100))
    values = np.linalg.svd(low + generator.normal(size=low.shape) * 1e-8, compute_uv=False)
    assert count_above(values, press_threshold(300, 100, eps_of("float32"))) == 40


def test_the_effective_rank_is_the_least_that_keeps_the_share():
    """By the definition, for every epsilon: k is enough and k - 1 is not."""
    values = np.sort(np.random.default_rng(SEED).exponential(size=200))[::-1]
    total = math.fsum(values**2)
    for epsilon in (0.5, 0.1, 1e-2, 1e-3):
        k = effective_rank(values, epsilon)
        assert math.fsum(values[:k] ** 2) >= (1 - epsilon) * total
        assert math.fsum(values[: k - 1] ** 2) < (1 - epsilon) * total


def test_a_geometric_spectrum_is_filled_exactly():
    """Between the indices that are kept the logarithm is linear, as that of a geometric one is."""
    values = 100 * 0.9 ** np.arange(60)
    kept = [1, 2, 10, 30, 60]
    index = [str(place) for place in kept]
    filled = singular_values(index, [repr(float(values[place - 1])) for place in kept])
    assert filled == pytest.approx(values, rel=1e-12)


@pytest.mark.parametrize(
    ("press", "grade"),
    [
        ("50", Grade.CONSISTENT),
        ("49", Grade.CONSISTENT),
        ("48", Grade.INCONSISTENT),
        ("60", Grade.INCONSISTENT),
    ],
)
def test_a_printed_rank_agrees_within_the_accuracy_of_the_figure(press, grade):
    """Fifty values above the tolerance: 3 % of 50 is a count and a half."""
    values = [1.0] * 50 + [1e-9] * 10
    row = spectrum(entry(press), columns(values))
    assert row.details["press"] == 50
    assert row.grade is grade
    assert (row.details["wrong"] == "press") == (grade is Grade.INCONSISTENT)


def test_each_wrong_rank_is_named():
    """Of two effective ranks the wrong one is named, with what the values give."""
    values = [10.0, 1.0, 1.0, 1.0]
    row = spectrum(entry("4", [("1e-1", "1"), ("1e-3", "40")]), columns(values))
    assert row.details["effective_1e-1"] == 1
    assert row.details["effective_1e-3"] == 4
    assert row.details["wrong"] == "effective_1e-3"


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0, 0.0], [1.0, -1.0]])
def test_what_is_no_spectrum_is_refused(values):
    """Singular values descend and are above 0; anything else raises ClaimError."""
    with pytest.raises(ClaimError, match="singular values"):
        spectrum(entry(), columns(values))


def test_indices_that_do_not_ascend_are_refused():
    """An index that comes twice, or a first one other than 1, raises ClaimError."""
    for index in (["1", "1"], ["2", "3"]):
        with pytest.raises(ClaimError, match="ascend"):
            singular_values(index, ["2.0", "1.0"])
