"""Every reduction counts what the float64 SVD of the held matrix counts, for every output layer.

MoS of one component has rank d + 2; its log(p + 1e-8) lifts the rank to several times that, which
is no rounding (Lim et al. 2018 found 2,884 of 280).

A layer takes 4 s of one core for 4,200 x 1,100 (three blocks of rows, three of columns), 16 s for
8,000 x 2,000, which one layer needs to show its rank, and 75 s for 20,000 x 4,000, which is looked
at for all eight, 10 minutes, where REPRO_FULL_SIZE is set, and else in part for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.gpu.cases import OUTPUTS, Size, runs_of, spread_model, training
from repro.rank.matrix_rank import ranks_of
from repro.rank.reduction import NUMPY, reduce_rows
from repro.rank.spectrum import count_above, empirical_bound, press_threshold
from repro.trainers.language_model.measurements.model_rank import TORCH

Rows = np.ndarray[Any, np.dtype[np.float32]]

DIMENSIONS = 48
EPS = float(np.finfo(np.float32).eps)
LAYERS = {
    **OUTPUTS,
    "mos of one": {"kind": "mos", "components": 1},
    "mos of one, log(p + 1e-8)": {"kind": "mos", "components": 1, "log_epsilon": 1e-8},
}


@cache
def small_rows_of_layer(name: str) -> Rows:
    """3,000 contexts of 600 words, for several tests."""
    return rows_of_layer(name, 3000, 600)


def rows_of_layer(name: str, rows: int, words: int) -> Rows:
    """Log-probabilities in float32 that a layer gives at contexts at random."""
    size = Size(words=words, embedding=DIMENSIONS, hidden=8, layers=1, steps=5, batch=2)
    base = training("softmax", size)
    model = base.model.model_validate({**base.model.model_dump(), "output": LAYERS[name]})
    output = spread_model(runs_of(base.model_copy(update={"model": model}), 1)[0]).output
    contexts = torch.randn(rows, 1, DIMENSIONS, generator=torch.Generator().manual_seed(7))
    with torch.no_grad():
        parts = [output.log_probabilities(3 * part)[:, 0] for part in contexts.split(1000)]
    held: Rows = torch.cat(parts).numpy()
    return held


def chunks(held: Rows) -> Iterator[Rows]:
    return (held[start : start + 999] for start in range(0, len(held), 999))


def thresholds(values: np.ndarray[Any, Any], press: float) -> list[float]:
    """Press's, a tenth, ten times, and others, away from singular values that are on the edge."""
    relative = values / values[0]
    asked = [press, press / 10, 10 * press, 1e-6, 1e-4, 1e-3]
    return [t for t in asked if np.min(np.abs(relative / t - 1)) > 1e-4]


LARGE = "mos of one, log(p + 1e-8)"


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [(name, *((8000, 2000) if name == LARGE else (4200, 1100))) for name in LAYERS],
)
def test_every_reduction_counts_alike(name: str, rows: int, words: int) -> None:
    held = rows_of_layer(name, rows, words)
    values = np.linalg.svd(held.astype(np.float64), compute_uv=False)
    press = press_threshold(rows, words, EPS)
    asked = thresholds(values, press)
    assert len(asked) >= 4
    expected = [count_above(values, each) for each in asked]
    assert reduce_rows(chunks(held), "gram").ranks(asked) == expected
    assert reduce_rows(chunks(held), "inertia").ranks(asked) == expected
    pieces = (torch.from_numpy(chunk) for chunk in chunks(held))
    assert reduce_rows(pieces, "gram", TORCH).ranks(asked) == expected
    found = ranks_of(lambda _: chunks(held), rows=rows, thresholds=asked)
    assert [found.at[each] for each in asked] == expected
    assert found.expected == found.control == 32
    if name in ("softmax", "moc", "mos of one"):
        assert DIMENSIONS <= found.press <= DIMENSIONS + 2
    if name == "mos":
        assert found.press > 20 * DIMENSIONS
    if name == "mos of one, log(p + 1e-8)":
        assert found.press > 5 * DIMENSIONS


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("mos", 12_000, 3000),
        *(pytest.param(name, 20_000, 4000, marks=pytest.mark.full_size) for name in LAYERS),
    ],
)
def test_one_gram_matrix_serves_both(name: str, rows: int, words: int) -> None:
    """The reference is the SVD of the triangular factor, which has the same singular values.

    One Gram matrix gives the counts by inertia first, and then the spectrum.
    """
    held = rows_of_layer(name, rows, words)
    factor = np.linalg.qr(held.astype(np.float64), mode="r")
    values = np.linalg.svd(factor, compute_uv=False)
    asked = thresholds(values, press_threshold(rows, words, EPS))
    assert len(asked) >= 4
    expected = [count_above(values, each) for each in asked]
    counted = reduce_rows(chunks(held), "inertia", NUMPY)
    assert counted.ranks(asked) == expected
    spectrum = np.sqrt(np.maximum(NUMPY.eigenvalues(counted.gram)[::-1], 0.0))
    assert [count_above(spectrum, each) for each in asked] == expected


@pytest.mark.parametrize("counts_only", [False, True])
@pytest.mark.parametrize("name", ["mos", "moc", "mos of one, log(p + 1e-8)"])
def test_lims_bound_from_the_spectrum_of_one_component(name: str, counts_only: bool) -> None:
    """As in Lim's Table 1: the reference has what its bound leaves it, and MoC keeps d + 2."""
    one = small_rows_of_layer("mos of one, log(p + 1e-8)").astype(np.float64)
    reference = np.linalg.svd(one, compute_uv=False)
    bound = empirical_bound(reference, DIMENSIONS + 1) * (1 + 1e-9)
    held = small_rows_of_layer(name)
    expected = int(np.sum(np.linalg.svd(held.astype(np.float64), compute_uv=False) > bound))
    found = ranks_of(lambda _: chunks(held), rows=3000, bound=bound, counts_only=counts_only)
    assert found.empirical == expected
    if name == "mos":
        assert expected > 3 * DIMENSIONS
    else:
        assert expected == DIMENSIONS + (2 if name == "moc" else 1)


@pytest.mark.parametrize("name", ["mos", "moc", "mos of one, log(p + 1e-8)"])
def test_randomised_svd_finds_the_same_leading_values(name: str) -> None:
    """torch's, by another algorithm: the twenty largest, to a thousandth."""
    held = small_rows_of_layer(name)
    torch.manual_seed(0)
    leading = torch.svd_lowrank(torch.from_numpy(held).double(), q=60, niter=4)[1][:20]
    spectrum = reduce_rows(chunks(held), "gram").values()
    np.testing.assert_allclose(spectrum[:20], leading.numpy(), rtol=1e-3)
