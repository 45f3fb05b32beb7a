"""Paired arms: every question about them is one of a single sample, seed by seed.

Arms that share their randomness are not independent, but their differences within a seed are a
sample like any other: its mean is the difference of the means, and its spread is all the error
that there is. So each test of paired arms is Student's test of one sample, exact for normal
differences whatever the spreads and the correlation of the arms (Student 1908; statistics.md 1.1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from repro.errors import ClaimError, TooFewError
from repro.stats.contrast import Contrast, effect_ratio, welch_contrast
from repro.stats.records import ROUND_OFF, Arm, Interval, Sample, match


def paired_contrast(
    arms: Sequence[Arm], weights: Sequence[float] = (1.0, -1.0), *, test: str = "paired"
) -> Contrast:
    """The mean of a weighted sum of the arms' values, taken seed by seed; ``n - 1`` df.

    With weights 1 and -1 it is the paired t-test's. ``test`` is named in errors. ``ClaimError``
    for a summary, replicates without a partner, fewer than two pairs, and sums that do not vary.
    """
    sums = weighted_sum(arms, weights, test=test)
    largest = max(
        abs(weight * value)
        for weight, arm in zip(weights, match(arms, test), strict=True)
        for value in arm.values
    )
    if sums.n > 1 and max(sums.values) - min(sums.values) <= ROUND_OFF * largest:
        raise ClaimError(
            "all pairs differ by the same amount, so a test on means would call it certain; "
            "use separation or bound"
        )
    summary = sums.summary()
    return Contrast(summary.mean, summary.standard_error, summary.n - 1)


def weighted_sum(
    arms: Sequence[Arm], weights: Sequence[float] = (1.0, -1.0), *, test: str = "paired"
) -> Sample:
    """The weighted sum of the arms' values, seed by seed; ``ClaimError`` for missing partners."""
    samples = match(arms, test)
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
    """The mean difference A minus B of pairs as a share of the size of mean B.

    That it lies beyond ``relative`` times mean B is the one-sample test of
    ``a - (1 + relative) b``, seed by seed, which is exact.
    """

    a: Sample
    b: Sample
    test: str

    @classmethod
    def of(cls, a: Arm, b: Arm, test: str) -> PairedRelativeDifference:
        """From two arms; ``ClaimError`` as ``paired_contrast``, and where mean B is 0."""
        paired_contrast((a, b), test=test)
        first, second = match((a, b), test)
        if second.summary().mean == 0:
            raise ClaimError("mean B is 0, so a difference relative to it means nothing")
        return cls(first, second, test)

    @property
    def effect(self) -> float:
        """The observed relative difference."""
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
        own = Contrast(baseline.mean, baseline.standard_error, baseline.n - 1)
        ratios = effect_ratio(
            own, self._difference, df=baseline.n - 1, level=level, covariance=self._covariance()
        )
        if ratios.low is None or ratios.high is None:
            raise TooFewError(
                f"mean B, {baseline.mean:g}, is not safely different from 0, so a difference "
                "relative to it means nothing; declare an absolute margin"
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
