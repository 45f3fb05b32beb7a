"""Statistics of a stored spectrum: by definition, without a model, and only of what is stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from repro.errors import DataError
from repro.rank.reduction import GRAM_RESOLUTION
from repro.rank.spectrum import press_threshold
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.language_model.measurements.spectral import Spectral
from repro.trainers.measurement import Measured

SINGULAR_VALUES = np.array([8.0, 4.0, 2.0, 1.0, 1e-3, 0.0])
EPS = float(np.finfo(np.float32).eps)
DETAILS = {"rows": 50, "columns": 6, "relative_threshold": press_threshold(50, 6, EPS)}


def taken(**settings: Any) -> float:
    spec = Spectral.model_validate({"kind": "spectral", **settings})
    return spec.derive(Measured(0, DETAILS, {"singular_values": SINGULAR_VALUES})).value


def test_each_statistic_by_its_definition() -> None:
    assert taken(statistic="stable") == pytest.approx((64 + 16 + 4 + 1 + 1e-6) / 64)
    assert taken(statistic="share", first=2) == pytest.approx(12 / 15.001)
    shares = SINGULAR_VALUES[:5] / 15.001
    assert taken(statistic="entropy") == pytest.approx(np.exp(-np.sum(shares * np.log(shares))))
    assert taken(statistic="effective", epsilon=0.1) == 2
    assert taken(statistic="effective", epsilon=0.01) == 4
    assert taken(statistic="above", threshold=0.2) == 3
    assert taken(statistic="above", threshold=1e-6) == 5
    assert taken(statistic="empirical", singular_value=1.5) == 3
    assert taken(statistic="empirical", singular_value=2.0) == 2


def test_a_bound_that_no_stored_spectrum_resolves_is_refused() -> None:
    """Below 3e-7 of the largest singular value a Gram matrix has nothing but rounding."""
    assert taken(statistic="empirical", singular_value=8 * 3.1e-7) == 5
    with pytest.raises(DataError, match=r"below 2\.4e-06 rounding hides .* is 8\n  expected"):
        taken(statistic="empirical", singular_value=8 * 2.9e-7)


def test_numpys_threshold_is_of_the_precision_of_the_rank() -> None:
    """Above max(50, 6) eps, which the threshold of the rank tells."""
    assert taken(statistic="numpy") == int(np.sum(SINGULAR_VALUES > 50 * EPS * 8))
    limit = 50 * EPS * 8
    values = np.array([8.0, limit * 1.001, limit * 0.999])
    spec = Spectral.model_validate({"kind": "spectral", "statistic": "numpy"})
    assert spec.derive(Measured(0, DETAILS, {"singular_values": values})).value == 2


@pytest.mark.parametrize(
    ("settings", "label"),
    [
        ({"statistic": "effective", "epsilon": 1e-3}, "test effective rank, ε = 0.001"),
        ({"statistic": "above", "threshold": 1e-4, "split": "valid"},
         "validation rank above 0.0001 of the largest singular value"),
        ({"statistic": "share", "first": 1000}, "test share of the first 1,000 singular values"),
        ({"statistic": "numpy", "contexts": 33320},
         "test rank by numpy's threshold (first 33,320 contexts)"),
        ({"statistic": "stable"}, "test stable rank"),
        ({"statistic": "empirical", "singular_value": 98.5},
         "test rank by an empirical bound of 98.5"),
    ],
)  # fmt: skip
def test_labels(settings: dict[str, Any], label: str) -> None:
    assert Spectral.model_validate({"kind": "spectral", **settings}).label == label


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"statistic": "effective"}, "the statistic effective needs epsilon"),
        ({"statistic": "share"}, "the statistic share needs first"),
        ({"statistic": "empirical"}, "the statistic empirical needs singular_value"),
        ({"statistic": "empirical", "singular_value": 0.0}, "greater than 0"),
        ({"statistic": "stable", "epsilon": 0.1}, "epsilon changes nothing of the statistic"),
        ({"statistic": "above", "threshold": 1e-8}, "greater than or equal to 0.0000003"),
        ({"statistic": "effective", "epsilon": 1e-12}, "greater than or equal to 0.000000001"),
    ],
)
def test_settings_without_a_meaning(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Spectral.model_validate({"kind": "spectral", **settings})


def test_a_threshold_is_one_that_every_stored_spectrum_resolves() -> None:
    assert taken(statistic="above", threshold=GRAM_RESOLUTION) == 5


def test_it_follows_from_the_rank_of_the_same_rows() -> None:
    spec = Spectral.model_validate(
        {"kind": "spectral", "statistic": "stable", "split": "valid", "contexts": 7}
    )
    assert spec.sources == (Rank(split="valid", contexts=7),)
