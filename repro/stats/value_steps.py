"""The step between values that can be told apart, guessed from the values themselves."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

LARGEST_SET = 10_000
"""A share k of N is recognised up to this N; larger sets have finer steps than most digits."""

CHANCE = 0.05
"""An N that fits is believed where so many smaller ones, or fewer, would fit by chance."""

DIGITS = 12
"""Digits of a value that are taken to mean something; the others are round-off."""

FLOAT32 = 2.0**-23
"""The relative round-off of a share of float32, as a program for training gives it."""


def granularity(values: Sequence[float], together: Sequence[float] = ()) -> float:
    """The step of ``values``, guessed from themselves: too coarse rather than too fine.

    The largest of three: the last decimal that any of them has; the spacing of the binary numbers
    that hold them; and 1/N, or 100/N, of the smallest N up to 10,000 of which all could be shares
    k of N, unless that is by chance. Shares that a program has as float32 are known to its
    round-off only. ``together`` are all values of the same measurement.
    """
    step = max(last_decimal(values), _binary(values))
    share = _share(together, step) or _share(values, step)
    return max(step, share)


def last_decimal(values: Sequence[float]) -> float:
    """The unit of the last decimal of any value: 0.01 for 71.23 and 70.9, 1000 for 71,000."""
    exponents = [Decimal(f"{v:.{DIGITS}g}").normalize().as_tuple().exponent for v in values if v]
    return 10.0 ** min((power for power in exponents if isinstance(power, int)), default=0)


def _binary(values: Sequence[float]) -> float:
    """The largest power of 1/2 of which all values are multiples."""
    return 1 / max(float(v).as_integer_ratio()[1] for v in values)


def _share(values: Sequence[float], step: float) -> float:
    """1/N, or 100/N for values in percent; 0 where no N fits values known to half a ``step``."""
    known = np.unique(np.asarray(values, dtype=float))
    if not known.size or known[0] < 0 or known[-1] > 100:
        return 0.0
    unit = 1.0 if known[-1] <= 1 else 100.0
    sizes = np.arange(1, LARGEST_SET + 1, dtype=float)
    round_off = _round_off(known, unit) * float(known[-1])
    step = max(step, 2 * round_off)
    for value in known / unit:
        counts = value * sizes
        within = (step / 2 + round_off) / unit * sizes
        sizes = sizes[np.abs(counts - np.round(counts)) <= within]
        if not sizes.size:
            return 0.0
    # Of M steps from 0 to the unit N are shares k of N: so many N would fit m values by chance.
    steps, m = unit / step, known.size
    by_chance = float(sizes[0]) / (m + 1) * (float(sizes[0]) / steps) ** m
    return unit / float(sizes[0]) if by_chance <= CHANCE else 0.0


def _round_off(values: np.ndarray, unit: float) -> float:
    """That of float32, relative, where all values or all shares are such numbers."""
    nearest = (np.abs(v.astype(np.float32) - v) <= 1e-15 * v for v in (values, values / unit))
    return FLOAT32 if any(map(np.all, nearest)) else 10.0**-DIGITS
