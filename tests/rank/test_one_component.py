"""With 1e-8 added before its logarithm one softmax has a high rank, and not by round-off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from repro.rank.spectrum import count_above, press_threshold

ROWS, WORDS, DIMENSIONS = 900, 600, 20
RANK_OF_ONE_SOFTMAX = DIMENSIONS + 2

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]


def logits() -> Floats:
    """Of random contexts: one entry in a thousand has a probability below 1e-8."""
    random = np.random.default_rng(0)
    contexts = random.normal(size=(ROWS, DIMENSIONS))
    words = random.normal(size=(DIMENSIONS, WORDS))
    return 0.5 * contexts @ words + random.normal(size=WORDS)


def press_rank(log_epsilon: float, computed_in: type[np.floating[Any]]) -> int:
    """By the threshold of float32, whatever the log-probabilities are computed in."""
    shifted = logits().astype(computed_in)
    shifted -= shifted.max(axis=1, keepdims=True)
    exponents = np.exp(shifted)
    normaliser = exponents.sum(axis=1, keepdims=True)
    if log_epsilon:
        rows = np.log(exponents / normaliser + computed_in(log_epsilon))
    else:
        rows = shifted - np.log(normaliser)
    spectrum = np.linalg.svd(rows.astype(np.float64), compute_uv=False)
    return count_above(spectrum, press_threshold(ROWS, WORDS, float(np.finfo(np.float32).eps)))


@pytest.mark.parametrize("computed_in", [np.float32, np.float64])
def test_the_constant_raises_the_rank_in_either_precision(
    computed_in: type[np.floating[Any]],
) -> None:
    """Lim et al. (2018, section 2.3) suspect round-off; float64 has far less of it."""
    assert press_rank(0, computed_in) == RANK_OF_ONE_SOFTMAX
    assert press_rank(1e-8, computed_in) > 10 * RANK_OF_ONE_SOFTMAX


def test_the_rank_with_the_constant_is_the_same_in_both_precisions() -> None:
    """Were the rank round-off, it would fall to d + 2 in float64."""
    single, double = press_rank(1e-8, np.float32), press_rank(1e-8, np.float64)
    assert abs(single - double) <= 0.01 * double
