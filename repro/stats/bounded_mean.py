"""The mean of values that have a least and a largest: exact by their items, else by betting.

Near an end of their range values are skewed, and a t-test of them errs too often: in 7 to 11 % of
cases instead of 5 % where a seed has fewer than ten failures (``benchmarks/levels``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, bdtrc, chdtrc

from repro.errors import ClaimError, TooFewError
from repro.schema.value_scale import ValueScale
from repro.stats.coefficients import POWER_SEED
from repro.stats.counts import clopper_pearson
from repro.stats.planning import PlannedCounts
from repro.stats.records import Arm, Interval, Sample, TestResult, summarise
from repro.stats.shapes import granularity
from repro.stats.simulated import DRAWS, Confirmed, Decide, frequency

Array: TypeAlias = npt.NDArray[np.floating[Any]]

FEW_FAILURES = 10.0
"""With so many steps to the nearer end of the range, on average, a t-test of shares holds."""

SCATTERS = 0.1
"""Seeds scatter more than their items do where chi-squared has a p of this or less."""

BETS = tuple(2.0 ** (-j / 2) for j in range(16))
"""Shares of the largest bet, from all of it to a 181st."""

WEIGHTS = (0.8, *(0.2 / (len(BETS) - 1),) * (len(BETS) - 1))
"""How the stake is spread over them: near an end of the range the largest bet gains most."""

HALVINGS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedResult(TestResult):
    """Of ``items`` in all seeds together ``right`` are; None where they were not pooled.

    ``p_scatter`` is the p that the seeds scatter no more than their items; None without items.
    """

    right: int | None = None
    items: int | None = None
    p_scatter: float | None = None


def failures(mean: float, step: float, low: float, high: float) -> float:
    """How many steps a mean is from the nearer end of the range."""
    return min(mean - low, high - mean) / step


def needs_range(sample: Sample, limit: float, scale: ValueScale) -> bool:
    """Whether a t-test would not do: the limit or the mean is near an end, or all values agree."""
    step = scale.step or granularity(sample.values, sample.values)
    means = (limit, sample.summary().mean)
    near = min(failures(mean, step, scale.low, scale.high) for mean in means) < FEW_FAILURES
    return near or sample.constant


def failures_of(
    arm: Arm, scale: ValueScale | None, *, better: Literal["lower", "higher"]
) -> tuple[float, float] | None:
    """How many items a replicate has wrong (or right, near the low end) on average, of how many.

    Without a ``scale`` values from 0 to 1, or to 100, are taken for shares of as many items as
    their steps allow, near the end that is ``better``; None where they are none.
    """
    values = arm.values if isinstance(arm, Sample) else ()
    mean, step = summarise(arm).mean, None
    if scale is not None:
        low, high, step = scale.low, scale.high, scale.step
    elif values and min(values) >= 0 and max(values) <= 100:
        low, high = 0.0, 1.0 if max(values) <= 1 else 100.0
    else:
        return None
    if step is None and values:
        step = granularity(values, values)
    if step is None or step >= high - low:
        return None
    few = failures(mean, step, low, high)
    if scale is None and better == "lower":
        whole = high == 100 and all(float(value).is_integer() for value in values)
        few = math.inf if whole else (mean - low) / step
    elif scale is None:
        few = (high - mean) / step
    return few, (high - low) / step


def bounded_level(
    sample: Sample, scale: ValueScale, *, at_least: bool, limit: float, alpha: float
) -> BoundedResult:
    """Is the mean at least (or at most) ``limit``, in the units of ``scale``?

    With items of which each seed got a whole number right, and seeds that scatter no more than
    items do (``p_scatter``), all items are pooled: an exact binomial test with Clopper and
    Pearson's interval, of level ``1 - 2 alpha``. It is conservative where some items are harder
    than others. Else a bet on each seed, whatever the distribution in the range.

    ``TooFewError`` where all values are one end of the range, and even that decides nothing;
    ``ClaimError`` for a value outside the range.
    """
    if any(scale.outside(value) for value in sample.values):
        raise ClaimError(f"a value is outside the declared range, {scale.low:g} to {scale.high:g}")
    counts = [scale.count(value) for value in sample.values]
    right = [each for each in counts if each is not None]
    p_scatter = None
    if scale.items is not None and len(right) == sample.n:
        p_scatter = float(p_of_items(right, scale.items))
    if p_scatter is not None and p_scatter > SCATTERS:
        found = _pooled(sample, scale, sum(right), limit, alpha)
    else:
        found = _by_betting(sample, scale, limit, alpha)
    above, below, interval, exact = found
    result = BoundedResult(
        test="level_items" if exact else "level_betting",
        effect=sample.summary().mean,
        alpha=alpha,
        n=(sample.n,),
        interval=interval,
        p=above if at_least else below,
        p_opposite=below if at_least else above,
        low=limit if at_least else None,
        high=None if at_least else limit,
        exact=exact,
        right=sum(right) if exact else None,
        items=sample.n * scale.items if exact and scale.items is not None else None,
        p_scatter=p_scatter,
    )
    if not exact and sample.constant and sample.values[0] in (scale.low, scale.high):
        _refuse_too_few(result)
    return result


def _refuse_too_few(result: BoundedResult) -> None:
    """All values at an end of the range hide rare failures: so few decide nothing."""
    least = min(result.p or 0.0, result.p_opposite or 0.0)
    if least > result.alpha:
        raise TooFewError(
            f"all {result.n[0]} replicates are {result.effect:g}, an end of the range, and a rare "
            f"failure would not show in so few (p = {least:.2g}, above alpha = {result.alpha:g}); "
            "declare `items`, the number that each value is a share of, or add replicates"
        )


def p_of_items(right: npt.ArrayLike, items: int) -> Array:
    """One-sided p that seeds with so many right, of as many items, scatter no more than items.

    Along the last axis. Chi-squared of homogeneity with n - 1 degrees of freedom; 1 where all or
    none are right.
    """
    counts = np.asarray(right, dtype=float)
    mean = counts.mean(-1, keepdims=True)
    squares = ((counts - mean) ** 2).sum(-1)
    scale = (mean * (1 - mean / items))[..., 0]
    return np.asarray(chdtrc(counts.shape[-1] - 1, squares / np.where(scale > 0, scale, 1.0)))


def _p_of_pooled(right: int | Array, of: int, share: float) -> tuple[Array, Array]:
    """One-sided p that more than this share of all items are right, and that fewer are."""
    above = np.where(np.asarray(right) > 0, bdtrc(np.maximum(right, 1) - 1, of, share), 1.0)
    return above, np.asarray(bdtr(right, of, share))


Found = tuple[float, float, Interval, bool]
"""The p that the mean is above the limit, that it is below, the interval, whether it is exact."""


def _pooled(sample: Sample, scale: ValueScale, right: int, limit: float, alpha: float) -> Found:
    of, span = sample.n * (scale.items or 1), scale.high - scale.low
    above, below = _p_of_pooled(right, of, (limit - scale.low) / span)
    ends = clopper_pearson(right, of, level=1 - 2 * alpha)
    low, high = (scale.low + span * end for end in (ends.low, ends.high))
    return float(above), float(below), Interval(low, high, 1 - 2 * alpha), True


def _by_betting(sample: Sample, scale: ValueScale, limit: float, alpha: float) -> Found:
    span = scale.high - scale.low
    values = (np.asarray(sample.values, dtype=float) - scale.low) / span
    mean, at = float(values.mean()), (limit - scale.low) / span
    low = _end(lambda m: bool(p_of_betting(values, m) > alpha), 0.0, mean)
    high = 1 - _end(lambda m: bool(p_of_betting(1 - values, m) > alpha), 0.0, 1 - mean)
    interval = Interval(scale.low + span * low, scale.low + span * high, 1 - 2 * alpha)
    above, below = p_of_betting(values, at), p_of_betting(1 - values, 1 - at)
    return float(above), float(below), interval, False


def p_of_betting(values: Array, m: float) -> Array:
    """The p of samples (the last axis) from 0 to 1 whose mean is at most ``m``, against a larger.

    A gambler stakes the share ``b`` of the largest bet on each value: the wealth is multiplied by
    ``1 + b (x / m - 1)``, whose mean is at most 1 where that of the values is at most m, so its
    inverse is a p-value (Markov's inequality). The stake is spread over ``BETS``, so the order of
    the values has no say. Waudby-Smith and Ramdas 2024, with a grid of bets.
    """
    if m <= 0:
        return np.where((values > 0).any(-1), 0.0, 1.0)
    with np.errstate(divide="ignore"):  # all that was staked on the largest bet may be lost
        wealth = [
            math.log(weight) + np.log1p(bet * (values / m - 1)).sum(-1)
            for bet, weight in zip(BETS, WEIGHTS, strict=True)
        ]
    return np.asarray(np.minimum(1.0, np.exp(-np.logaddexp.reduce(wealth))))


def _end(within: Callable[[float], bool], outside: float, inside: float) -> float:
    """The last number, from ``inside`` towards ``outside``, that is within; by halving."""
    if within(outside):
        return outside
    for _ in range(HALVINGS):
        middle = (outside + inside) / 2
        if within(middle):
            inside = middle
        else:
            outside = middle
    return outside


@dataclass(frozen=True, slots=True)
class PlannedItems(PlannedCounts):
    """A share that lies above ``low`` by ``effect``, in the units of a range that is ``span`` wide.

    Each replicate is a share of ``items``; each item is right by the same chance, alone. One that
    is claimed to be at most a limit is planned as the share that is wrong.
    """

    items: int = 1
    span: float = 1.0
    name: ClassVar[str] = "a level of items"
    most: ClassVar[int] = 100

    @property
    def decide(self) -> Decide:
        def decide(a: Array, b: Array, alpha: float) -> Confirmed:
            del b
            return p_of_shares(a, self.items, self.least)[0] <= alpha

        return decide

    def simulated(self, decide: Decide) -> tuple[float, float]:
        share = min(1.0, self.least + self.truth / self.span)
        right = np.random.default_rng(POWER_SEED).binomial(self.items, share, (DRAWS, self.n[0]))
        return frequency(decide(right / self.items, np.zeros(0), self.alpha))

    def sized(self, size: float) -> Self:
        """So far above the limit, and no farther than the end of the range."""
        return replace(self, effect=min(size, self.span * (1 - self.least)))

    def surest(self) -> tuple[float, str]:
        return self.least ** (self.n[0] * self.items), "even if every item is right"


def p_of_shares(shares: Array, items: int, limit: float) -> tuple[Array, Array]:
    """One-sided p of each row, a sample: that the mean share is above ``limit``, and below.

    As ``bounded_level`` has them, where each replicate is a share of ``items``.
    """
    right = np.rint(shares * items)
    above, below = _p_of_pooled(right.sum(1), shares.shape[1] * items, limit)
    apart = p_of_items(right, items) <= SCATTERS
    above[apart] = p_of_betting(shares[apart], limit)
    below[apart] = p_of_betting(1 - shares[apart], 1 - limit)
    return above, below


POOLED = {2: 0.199, 3: 0.172, 4: 0.137, 5: 0.097, 6: 0.075, 7: 0.057}
"""How often all items together err at 5 %, by seeds, where two items of a seed correlate by .05
(shares of 100 items at .95, 200,000 draws)."""


def errors_of_pooled(n: int) -> str:
    """The line of a test that pools the items of ``n`` seeds; empty where nothing was measured."""
    if n not in POOLED:
        return ""
    return (
        f"With {n} seeds, scatter beyond that of their items is seldom seen: where two items of a "
        f"seed correlate by .05, the test errs in {100 * POOLED[n]:.2g} % of cases instead of 5 % "
        "(measured with 100 items at .95)."
    )
