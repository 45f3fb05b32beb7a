"""Variables that go together, and what scipy says of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import stats

from repro.stats.coefficients import METHODS, Array
from repro.stats.records import Interval, Sample, known

DRAWS = 20_000
SCIPY: dict[str, Callable[..., Any]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}
ALL = pytest.mark.parametrize("method", METHODS)
pairs = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=10, max_size=20)


def two(xy) -> tuple[Sample, Sample]:
    """Two variables at the same points."""
    x, y = zip(*xy, strict=True)
    return Sample.of(*map(float, x)), Sample.of(*map(float, y))


def normal(rng: np.random.Generator, n: int, rho: float) -> tuple[Array, Array]:
    """Pairs of normal variables with a true correlation."""
    x, noise = rng.normal(size=(2, DRAWS, n))
    return x, rho * x + math.sqrt(1 - rho**2) * noise


def ends(interval: Interval | None) -> tuple[float, float]:
    """Both ends of an interval that must be there."""
    return known(interval).low, known(interval).high
