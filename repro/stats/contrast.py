"""Differences of means with their standard errors: of two arms, of pairs, as a share of a mean.

The interval and all p-values of one test come from one contrast, so they cannot disagree.

That mean A lies above ``(1 + r)`` times mean B is tested by the contrast
``mean A - (1 + r) mean B``: the observed mean of B is no margin, for it has an error too
(statistics.md 2.2). Paired arms are a single sample of differences, seed by seed: each test of
them is Student's of one sample (statistics.md 1.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from repro.errors import ClaimError, TooFewError
from repro.stats.records import ROUND_OFF, Arm, Interval, Sample, match, summarise


@dataclass(frozen=True, slots=True)
class Contrast:
    """An estimate whose error, divided by ``se``, is taken as Student's t with ``df``."""

    effect: float
    se: float
    df: float

    def beyond(self, border: float) -> Contrast:
        """How far the effect lies above ``border``."""
        return Contrast(self.effect - border, self.se, self.df)

    def statistic(self, border: float = 0.0) -> float:
        """Student's t for the distance of the effect from ``border``."""
        return (self.effect - border) / self.se

    def p_greater(self, border: float = 0.0) -> float:
        """One-sided p of ``effect <= border``: small where the effect lies above it."""
        return float(stdtr(self.df, -self.statistic(border)))

    def p_less(self, border: float = 0.0) -> float:
        """One-sided p of ``effect >= border``: small where the effect lies below it."""
        return float(stdtr(self.df, self.statistic(border)))

    def p_two_sided(self) -> float:
        """Two-sided p of ``effect == 0``."""
        return min(1.0, 2 * min(self.p_greater(), self.p_less()))

    def interval(self, level: float) -> Interval:
        """The two-sided interval of coverage ``level``."""
        reach = -float(stdtrit(self.df, (1 - level) / 2)) * self.se
        return Interval(self.effect - reach, self.effect + reach, level)


def satterthwaite(errors: Sequence[float], sizes: Sequence[int]) -> float:
    """Degrees of freedom of a sum of independent means (Satterthwaite 1946; Welch 1947).

    ``errors`` are the standard errors of the means, not all 0; an error of 0 has no say.
    """
    total = math.hypot(*errors)
    shares = [(error / total) ** 2 for error in errors]
    return 1 / math.fsum(share**2 / (n - 1) for share, n in zip(shares, sizes, strict=True))


def welch_contrast(a: Arm, b: Arm) -> Contrast:
    """Mean of A minus mean of B, each arm with its own variance.

    Raises ``ClaimError`` if an arm has no variance to be had, or both have variance 0.
    """
    first, second = summarise(a), summarise(b)
    errors = (first.standard_error, second.standard_error)
    se = _refuse_zero(math.hypot(*errors))
    return Contrast(first.mean - second.mean, se, satterthwaite(errors, (first.n, second.n)))


def student_contrast(a: Arm, b: Arm) -> Contrast:
    """Mean of A minus mean of B, with one pooled variance; errors as ``welch_contrast``."""
    first, second = summarise(a), summarise(b)
    df = first.n + second.n - 2
    pooled = math.hypot(
        first.spread * math.sqrt(first.n - 1), second.spread * math.sqrt(second.n - 1)
    )
    se = _refuse_zero(pooled / math.sqrt(df) * math.sqrt(1 / first.n + 1 / second.n))
    return Contrast(first.mean - second.mean, se, df)


def _refuse_zero(se: float) -> float:
    if se == 0:
        raise ClaimError(
            "both arms have variance 0, so a test on means would call any difference certain",
            advice="use ratio (then an exact comparison), separation or bound",
        )
    return se


@dataclass(frozen=True, slots=True)
class EffectRatio:
    """Our effect over the original's, with the set of ratios that the data do not refute.

    ``low`` and ``high`` are ``None`` where the original's effect may be 0: then the set has no
    such ends, and ``said`` says which ratios belong to it. ``ratio`` is ``None`` where the
    original's effect is exactly 0.
    """

    ratio: float | None
    low: float | None
    high: float | None
    said: str


def effect_ratio(
    original: Contrast, ours: Contrast, *, df: float, level: float = 0.95, covariance: float = 0.0
) -> EffectRatio:
    """Fieller's set: all ratios ``r`` with ``|ours - r original| <= t se(ours - r original)``.

    ``df`` belongs to t; that of the prediction interval makes 1 a member exactly where our
    effect is compatible. ``covariance`` is that of the two estimates. Fieller 1954.
    """
    t_squared = float(stdtrit(df, (1 - level) / 2)) ** 2
    square = original.effect**2 - t_squared * original.se**2
    linear = original.effect * ours.effect - t_squared * covariance
    constant = ours.effect**2 - t_squared * ours.se**2
    ratio = ours.effect / original.effect if original.effect else None
    discriminant = linear**2 - square * constant
    if square > 0:
        reach = math.sqrt(max(discriminant, 0.0))
        low, high = (linear - reach) / square, (linear + reach) / square
        said = f"every ratio from {low:.3g} to {high:.3g}"
        return EffectRatio(ratio, low, high, said)
    said = _without_ends(square, linear, constant, discriminant)
    return EffectRatio(ratio, None, None, f"{said}, because the original's effect may be 0")


def _without_ends(square: float, linear: float, constant: float, discriminant: float) -> str:
    if square == 0 and linear != 0:
        side = "above" if linear > 0 else "below"
        return f"every ratio {side} {constant / (2 * linear):.3g}"
    if square == 0 or discriminant <= 0:
        return "any ratio"
    reach = math.sqrt(discriminant)
    gap = sorted(((linear - reach) / square, (linear + reach) / square))
    return f"any ratio but those between {gap[0]:.3g} and {gap[1]:.3g}"


Array: TypeAlias = npt.NDArray[np.floating[Any]]
Numbers: TypeAlias = float | Array
ABSOLUTE = "declare an absolute margin"
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
        at each border. ``ClaimError`` where mean B is not safely different from 0: then no share
        of it could be excluded.
        """
        tail = (1 - level) / 2
        if self.error_b > 0:
            reach = -float(stdtrit(self.n_b - 1, tail)) * self.error_b
            if reach >= abs(self.mean_b):
                raise TooFewError(
                    f"mean B, {self.mean_b:g}, is not safely different from 0 (it may err by "
                    f"{reach:.3g}), so a difference relative to it means nothing",
                    advice=ABSOLUTE,
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
            raise ClaimError("mean B is too close to 0 for an interval relative to it", ABSOLUTE)

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
        raise ClaimError("mean B is 0, so a difference relative to it means nothing", ABSOLUTE)
    if first.mean == first.standard_error == 0:
        said = "A is 0 in every replicate, so no share of mean B bounds its difference"
        raise ClaimError(said, ABSOLUTE)
    return RelativeDifference(
        first.mean, first.standard_error, first.n, second.mean, second.standard_error, second.n
    )


def scaled_contrast(
    a: tuple[Numbers, Numbers, int], b: tuple[Numbers, Numbers, int], factor: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Mean A minus ``factor`` times mean B: estimate, standard error, degrees of freedom.

    Each arm is its mean, the standard error of it, and its size; numbers or arrays of one
    shape. Satterthwaite 1946; statistics.md 2.2.
    """
    (mean_a, error_a, n_a), (mean_b, error_b, n_b) = a, b
    scaled = np.abs(factor) * error_b
    se = np.hypot(error_a, scaled)
    df = 1 / ((error_a / se) ** 4 / (n_a - 1) + (scaled / se) ** 4 / (n_b - 1))
    return mean_a - factor * mean_b, se, df


def trimmed(values: Array, trim: float) -> tuple[Array, Array, int]:
    """Trimmed means, their standard errors, and how many values each is of; ``(..., n) -> (...)``.

    The share ``trim`` is left out at each end, rounded down. In the error what was left out counts
    as the nearest value kept (Yuen 1974).
    """
    ordered, n = np.sort(values, axis=-1), values.shape[-1]
    cut = int(trim * n)
    kept = n - 2 * cut
    core = ordered[..., cut : n - cut]
    held = np.clip(ordered, core[..., :1], core[..., -1:])
    squares = _sum((held - (_sum(held) / n)[..., None]) ** 2)
    spread = np.sqrt(squares / (n - 1))
    return _sum(core) / kept, spread * math.sqrt((n - 1) / (kept * (kept - 1))), kept


def _sum(values: Array) -> Array:
    """Sums over the last axis that do not depend on the order of the values, but for a last bit."""
    return np.asarray(values.sum(axis=-1, dtype=np.longdouble).astype(np.float64))


def paired_contrast(
    arms: Sequence[Arm], weights: Sequence[float] = (1.0, -1.0), *, test: str = "paired"
) -> Contrast:
    """The mean of a weighted sum of the arms' values, taken seed by seed; ``n - 1`` df.

    With weights 1 and -1 it is the paired t-test's. ``test`` is named in errors. ``ClaimError``
    for a summary, replicates without a partner, fewer than two pairs, and sums that do not vary.
    """
    samples = match(arms, test)
    sums = _weighted(samples, weights)
    largest = max(
        abs(weight) * max(map(abs, sample.values))
        for weight, sample in zip(weights, samples, strict=True)
    )
    if sums.n > 1 and max(sums.values) - min(sums.values) <= ROUND_OFF * largest:
        if not any(sums.values) and weights == (1.0, -1.0):
            equal = "both arms have the same value in every pair, so nothing is left to test"
            raise ClaimError(equal, advice="find out whether the arms ran alike")
        raise ClaimError(
            "all pairs differ by the same amount, so a test on means would call it certain",
            advice="use separation or bound",
        )
    summary = sums.summary()
    return Contrast(summary.mean, summary.standard_error, summary.n - 1)


def pair_differences(a: Arm, b: Arm) -> Sample:
    """The differences A minus B, seed by seed; ``ClaimError`` for missing partners."""
    return _weighted(match((a, b), "paired"), (1.0, -1.0))


def _weighted(samples: Sequence[Sample], weights: Sequence[float]) -> Sample:
    parts = [
        [weight * value for value in sample.values]
        for weight, sample in zip(weights, samples, strict=True)
    ]
    return Sample(tuple(map(math.fsum, zip(*parts, strict=True))), samples[0].replicates)


def difference_of_pairs(a: Arm, b: Arm) -> Contrast:
    """Mean A minus mean B within pairs; errors as ``paired_contrast``."""
    return paired_contrast((a, b))


def mean_difference(a: Arm, b: Arm, *, paired: bool, test: str) -> Contrast:
    """Mean A minus mean B, of pairs or of independent arms (Welch)."""
    return paired_contrast((a, b), test=test) if paired else welch_contrast(a, b)


@dataclass(frozen=True, slots=True)
class PairedRelativeDifference:
    """The mean difference A minus B of pairs as a share of the size of mean B."""

    a: Sample
    b: Sample
    test: str

    @classmethod
    def of(cls, a: Arm, b: Arm, test: str) -> PairedRelativeDifference:
        """From two arms; ``ClaimError`` as ``paired_contrast``, and where mean B is 0."""
        paired_contrast((a, b), test=test)
        first, second = match((a, b), test)
        if second.summary().mean == 0:
            raise ClaimError("mean B is 0, so a difference relative to it means nothing", ABSOLUTE)
        return cls(first, second, test)

    @property
    def effect(self) -> float:
        return self._difference.effect / abs(self.b.summary().mean)

    def beyond(self, relative: float) -> Contrast:
        """How far the difference lies above ``relative`` times mean B, in their units."""
        factor = 1 + math.copysign(1, self.b.summary().mean) * relative
        return paired_contrast((self.a, self.b), (1.0, -factor), test=self.test)

    def interval(self, level: float) -> Interval:
        """All relative differences that are not rejected; each side errs (1 - level)/2.

        Fieller 1954. ``ClaimError`` where mean B is not safely different from 0.
        """
        baseline = self.b.summary()
        df = baseline.n - 1
        mean_b = Contrast(baseline.mean, baseline.standard_error, df)
        ratios = effect_ratio(
            mean_b, self._difference, df=df, level=level, covariance=self._covariance()
        )
        if ratios.low is None or ratios.high is None:
            raise TooFewError(
                f"mean B, {baseline.mean:g}, is not safely different from 0, so a difference "
                "relative to it means nothing",
                advice=ABSOLUTE,
            )
        ends = sorted(math.copysign(1, baseline.mean) * end for end in (ratios.low, ratios.high))
        return Interval(ends[0], ends[1], level)

    @property
    def _difference(self) -> Contrast:
        return paired_contrast((self.a, self.b), test=self.test)

    def _covariance(self) -> float:
        """The covariance of the means of the difference and of B."""
        mean_a, mean_b = self.a.summary().mean, self.b.summary().mean
        n = self.a.n
        products = (
            ((x - y) - (mean_a - mean_b)) * (y - mean_b)
            for x, y in zip(self.a.values, self.b.values, strict=True)
        )
        return math.fsum(products) / (n - 1) / n
