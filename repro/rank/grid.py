"""Whether differences within rows of log-probabilities lie on a grid: their logits were rounded.

A log-probability is a logit less a number that its whole row shares. So the difference of two of
them is that of two logits, and logits that were rounded to a few bits lie on a grid of powers of
two, coarser the larger they are. Honest differences lie on a much finer one: of 256 places of
float32 between two points of the grid that is asked for, five are taken for a point, for rounding
after the normaliser was subtracted.

What is no sum any more has no mark: products that were rounded before they were added (TF32), and
logits that were rounded before a mixture or log(p + c).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

Rows = np.ndarray[Any, np.dtype[np.floating[Any]]]

COARSE_STEP: Final = 16
"""The grid that half precision leaves has a step of 2^-16 of the largest entry, or more.

Logits of float32 leave a finer one below some 1,000. A finer one is too small to change a rank.
"""

SINGLE_STEP: Final = 38
"""The same of logits in float32 among numbers in float64."""

APART: Final = 4.0
"""Places of the precision that two values must be apart to be two."""

NEAR: Final = 2.0
"""Places of it within which a difference is a multiple of a step."""

LEAST_DIFFERENCES: Final = 100
LEAST_SHARE: Final = 0.35
"""Of honest differences 2 % are multiples: with 100 of them, a third is one in 10^25."""


def on_grid(rows: Rows, bits: int, step: int) -> float:
    """The step of the grid on which differences within rows, (M, V) or one (V,), lie; 0 for none.

    ``bits`` are those of their precision. The step of a row is 2^-``step`` of the power of two
    above its largest entry; the largest of them is returned.
    """
    held = np.sort(np.atleast_2d(rows).astype(np.float64), axis=1)
    _, exponents = np.frexp(np.abs(held[:, [0, -1]]).max(axis=1, keepdims=True))
    place, steps = np.exp2(exponents - 1.0 - bits), np.exp2(1.0 * exponents - step)
    differences = np.diff(held, axis=1)
    compared = differences > APART * place
    multiples = np.rint(differences / steps)
    near = compared & (multiples > 0) & (np.abs(differences - multiples * steps) <= NEAR * place)
    among = int(np.count_nonzero(compared))
    if among < LEAST_DIFFERENCES or np.count_nonzero(near) < LEAST_SHARE * among:
        return 0.0
    return float(steps.max())
