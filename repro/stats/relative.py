"""The difference of two means as a share of the second: A over B minus 1, with its error.

That mean A lies above ``(1 + r)`` times mean B is tested as it stands, by the contrast
``mean A - (1 + r) mean B``. To take ``r`` times the *observed* mean of B as a margin would
forget that this mean has an error too, and lose the level (METHODS.md 2.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from repro.errors import ClaimError, TooFewError
from repro.stats.contrast import Contrast, welch_contrast
from repro.stats.result import Interval
from repro.stats.sample import Arm, summarise

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Numbers: TypeAlias = float | Array

_FAR = 1e6  # a statistic this far from its border decides like any further one


@dataclass(frozen=True, slots=True)
class RelativeDifference:
    """Means, their standard errors and sizes of two arms; ``mean_b`` is not 0.

    The relative difference is ``(mean_a - mean_b) / abs(mean_b)``, so that its sign is that of
    the difference also where the values are negative.
    """

    mean_a: float
    error_a: float
    n_a: int
    mean_b: float
    error_b: float
    n_b: int

    @property
    def effect(self) -> float:
        """The observed relative difference."""
        return (self.mean_a - self.mean_b) / abs(self.mean_b)

    def beyond(self, relative: float) -> Contrast:
        """How far the difference lies above ``relative`` times mean B, in their units."""
        effect, se, df = scaled_contrast(
            (self.mean_a, self.error_a, self.n_a),
            (self.mean_b, self.error_b, self.n_b),
            self._factor(relative),
        )
        return Contrast(float(effect), float(se), float(df))

    def interval(self, level: float) -> Interval:
        """The least interval that holds every relative difference that is not rejected.

        Each side errs with chance (1 - level)/2. Fieller 1954, with Welch's degrees of freedom
        at each border. As these change with the border, in rare cases with two replicates in an
        arm a border inside is rejected too; outside every one is. ``ClaimError`` where mean B is
        not safely different from 0: then no share of it could be excluded.
        """
        tail = (1 - level) / 2
        if self.error_b > 0:
            reach = -float(stdtrit(self.n_b - 1, tail)) * self.error_b
            if reach >= abs(self.mean_b):
                raise TooFewError(
                    f"mean B, {self.mean_b:g}, is not safely different from 0 (it may err by "
                    f"{reach:.3g}), so a difference relative to it means nothing; declare an "
                    "absolute margin"
                )
        return Interval(self._end(tail, 1), self._end(tail, -1), level)

    def _factor(self, relative: Numbers) -> Numbers:
        return 1 + math.copysign(1, self.mean_b) * relative

    def _end(self, tail: float, side: int) -> float:
        """The outermost border below (side 1) or above (-1) the effect that is not rejected."""
        from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

        borders = self._borders(side)
        accepted = np.flatnonzero(self._scores(borders, tail, side) <= 0)
        if not accepted.size:  # the interval is narrower than the digits of a number
            return self.effect
        last = int(accepted[-1])
        if last == len(borders) - 1:
            raise ClaimError("mean B is too close to 0 for an interval relative to it")

        def score(border: float) -> float:
            return float(self._scores(np.array([border]), tail, side)[0])

        return float(brentq(score, borders[last], borders[last + 1], xtol=1e-15, rtol=1e-14))

    def _borders(self, side: int) -> Array:
        """Borders to try, from the effect outwards; close together where mean A decides alone."""
        step = self.beyond(self.effect).se / abs(self.mean_b)
        away = self.effect - side * step * np.exp2(np.linspace(-4, 60, 513))
        alone = self.error_a / self.error_b if self.error_b > 0 else 0.0
        factors = alone * np.exp2(np.linspace(-6, 6, 97))
        around = (np.concatenate([-factors, factors]) - 1) * math.copysign(1, self.mean_b)
        around = around[side * (self.effect - around) > 0]
        outwards = np.sort(side * np.concatenate([away, around]))[::-1]
        return np.concatenate([[self.effect], side * outwards])

    def _scores(self, borders: Array, tail: float, side: int) -> Array:
        """By how much each statistic, towards ``side``, exceeds its quantile: above 0, rejected."""
        a = (self.mean_a, self.error_a, self.n_a)
        b = (self.mean_b, self.error_b, self.n_b)
        with np.errstate(divide="ignore", invalid="ignore"):  # a constant A against exactly 0
            effect, se, df = scaled_contrast(a, b, self._factor(borders))
            excess = side * effect / se + stdtrit(df, tail)
        exact = np.sign(side * self.mean_a) * _FAR
        return np.clip(np.where(se > 0, excess, exact), -_FAR, _FAR)


def relative_difference(a: Arm, b: Arm) -> RelativeDifference:
    """The relative difference of two arms.

    ``ClaimError`` as for ``welch``, if mean B is 0, and if A is 0 in every replicate.
    """
    welch_contrast(a, b)  # refuses what has no variance
    first, second = summarise(a), summarise(b)
    if second.mean == 0:
        raise ClaimError("mean B is 0, so a difference relative to it means nothing")
    if first.mean == first.standard_error == 0:
        raise ClaimError("A is 0 in every replicate, so no share of mean B bounds its difference")
    return RelativeDifference(
        first.mean, first.standard_error, first.n, second.mean, second.standard_error, second.n
    )


def scaled_contrast(
    a: tuple[Numbers, Numbers, int], b: tuple[Numbers, Numbers, int], factor: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Mean A minus ``factor`` times mean B: estimate, standard error, degrees of freedom.

    Each arm is its mean, the standard error of it, and its size; numbers or arrays of one
    shape. Satterthwaite 1946; METHODS.md 2.2.
    """
    (mean_a, error_a, n_a), (mean_b, error_b, n_b) = a, b
    scaled = np.abs(factor) * error_b
    se = np.hypot(error_a, scaled)
    df = 1 / ((error_a / se) ** 4 / (n_a - 1) + (scaled / se) ** 4 / (n_b - 1))
    return mean_a - factor * mean_b, se, df
