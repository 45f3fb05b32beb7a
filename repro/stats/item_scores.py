"""Two models on the same items: differences per item, clustered errors, McNemar's exact test."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, nctdtr, ndtri, stdtrit

from repro.errors import ClaimError
from repro.stats.contrast import Contrast
from repro.stats.crossed import of_both
from repro.stats.records import Alternative, Interval, Sample, TestResult, interval_level, known

LEAST_ITEMS = 5
LEAST_CLUSTERS = 5
"""With fewer there is next to nothing to know an error by."""

FEW_LARGE = 0.45
"""The share of the degrees of freedom of equal clusters below which a few hold most items."""

MOST = 1e9
"""More items or runs than this are none that anybody has."""

LEAST_RUNS = 3
"""Runs of each arm that the scatter of its seeds is taken from: two against eight err in 9 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsResult(TestResult):
    """``items`` were answered by both, of ``clusters``, or none; ``runs`` are those per arm.

    ``apart`` are the items that the first alone has right and those that the second alone has,
    where all values are 0 or 1. ``of_seeds`` is the share of seeds in the variance, where the test
    is of runs with any seeds.
    """

    items: int
    clusters: int | None
    runs: tuple[int, int]
    apart: tuple[int, int] | None
    of_seeds: float | None = None

    @property
    def detectable(self) -> float:
        """The true difference that so many items exclude 0 for in 80 % (Miller 2024, section 5)."""
        return sum(self._reaches()) * known(self.se)

    def power(self, difference: float) -> float:
        """The chance of excluding 0 where this is the true difference, by a noncentral t."""
        away, (reach, _) = abs(difference) / known(self.se), self._reaches()
        return 1 - float(nctdtr(self._known_df, away, reach))

    @property
    def _known_df(self) -> float:
        return self.items - 1.0 if self.df is None else self.df

    def _reaches(self, times: float = 1.0) -> tuple[float, float]:
        """How many errors an estimate has to be from 0, and the truth beyond, at ``times`` df."""
        df, tail = times * self._known_df, self.alpha
        tail = tail / 2 if self.alternative == "two-sided" else tail
        return -float(stdtrit(df, tail)), float(stdtrit(df, 0.8))

    def settling(self, border: float) -> int | None:
        """About how many items, of clusters as these, would tell the effect from a ``border``.

        In 80 %, with the degrees of freedom that so many have.
        """
        if self.of_seeds is not None or self.effect in (0, border):
            return None
        return self.more(1.0, self.items, border)

    def more(self, share: float, many: int, border: float = 0.0) -> int | None:
        """How many for ``many`` of what makes this share of the variance would settle it in 80 %.

        That is to exclude a difference of ``border``. Degrees of freedom grow with them. None where
        the rest of the variance alone forbids it.
        """
        variance, times = known(self.se) ** 2, MOST
        for _ in range(9):
            room = (self.effect - border) / sum(self._reaches(times))
            left = room**2 - (1 - share) * variance
            if left <= 0:
                return None
            times = max(1.0, share * variance / left)
        return None if many * times > MOST else math.ceil(many * times)

    @property
    def grouping(self) -> str:
        """How its error rates are named after its test: by the clusters, and whether they differ.

        Clusters of one size have one degree of freedom less than their number; where they have
        less than ``FEW_LARGE`` of that, they are more unequal than 1, 2, 4, 8 and 16 items in turn.
        """
        if self.clusters is None or self.of_seeds is not None:
            return ""
        share = known(self.df) / (self.clusters - 1)
        if share < FEW_LARGE:
            return " few large clusters"
        return " equal clusters" if math.isclose(share, 1) else " clustered"


@dataclass(frozen=True, slots=True)
class PairedItems:
    """The differences A minus B of the items that both have, with the cluster of each.

    Several runs of an arm are averaged per item: what is found is about these runs.
    """

    differences: tuple[float, ...]
    clusters: tuple[str, ...]
    runs: tuple[int, int]
    right: float

    def contrast(self) -> Contrast:
        """Their mean; where there are clusters its error is CR2 (Bell and McCaffrey 2002).

        For a mean that is ``sqrt(sum_g (sum_i (d_i - d))^2 / (1 - n_g / n)) / n``, with
        Satterthwaite's degrees of freedom; for clusters of one size it is Liang and Zeger's error
        with the factor ``G / (G - 1)``, and there are ``G - 1`` (Miller 2024 has no factor).
        ClaimError for few items or clusters, and for differences that are all the same.
        """
        values = np.asarray(self.differences)
        n, mean = len(values), math.fsum(values) / len(values)
        if n < LEAST_ITEMS:
            raise ClaimError(f"{n} items are too few: {LEAST_ITEMS} or more are needed")
        if np.ptp(values) == 0:
            raise ClaimError(f"the difference is {mean:g} on all {n} items, so it has no scatter")
        if not any(self.clusters):
            return Contrast(mean, float(values.std(ddof=1)) / math.sqrt(n), n - 1)
        _, place = np.unique(np.asarray(self.clusters), return_inverse=True)
        sums = np.bincount(place, values - mean)
        groups = len(sums)
        if groups < LEAST_CLUSTERS:
            raise ClaimError(
                f"{groups} clusters are too few for an error: {LEAST_CLUSTERS} or more are needed",
                advice="leave `clusters` out only if items of one cluster are independent",
            )
        share = np.bincount(place) / n
        se = math.sqrt(float(np.sum(sums**2 / (1 - share)))) / n
        return Contrast(mean, se, _degrees(share))

    def means_of_clusters(self) -> list[float]:
        """The mean difference in each cluster; the differences, where there are none."""
        if not any(self.clusters):
            return [*self.differences]
        _, place = np.unique(np.asarray(self.clusters), return_inverse=True)
        return [*map(float, np.bincount(place, self.differences) / np.bincount(place))]

    def apart(self) -> tuple[int, int]:
        """How many items A alone has right, and how many B alone."""
        return self.differences.count(self.right), self.differences.count(-self.right)


def _degrees(share: npt.NDArray[np.float64]) -> float:
    """Satterthwaite's, for CR2 of a mean over independent items in clusters of these shares.

    With ``c_g = share_g / (1 - share_g)`` the errors of the clusters have the covariances
    ``c_g [g = h] - sqrt(c_g c_h share_g share_h)``, but for a factor.
    """
    spread = share / (1 - share)
    both = np.sqrt(spread * share)
    cross = np.diag(spread) - np.outer(both, both)
    return float(np.trace(cross) ** 2 / np.sum(cross**2))


def paired_items(a: Sample, b: Sample) -> PairedItems:
    """The items of two arms. ClaimError where they are not known, or are not the same."""
    scores = [_by_item(each, name) for each, name in ((a, "A"), (b, "B"))]
    first, second = scores
    for name, had, other in (("A", first, second), ("B", second, first)):
        if missing := [item for item in other if item not in had]:
            some = f"{len(missing)} of {len(other)} items, such as {missing[0]}"
            raise ClaimError(
                f"{name} has no answer to {some}",
                advice="evaluate both on the same items, or leave out those that one has not",
            )
    names = list(first)
    clusters = [{part.cluster for part in each.parts} for each in (a, b)]
    if clusters[0] != clusters[1]:
        raise ClaimError("the clusters of the items are not the same in both arms")
    of = {part.item: part.cluster for part in a.parts}
    if any(of[part.item] != part.cluster for part in (*a.parts, *b.parts)):
        raise ClaimError("an item is of two clusters", advice="write one for each item")
    means = [[math.fsum(each[name]) / len(each[name]) for name in names] for each in scores]
    values = {part.value for part in (*a.parts, *b.parts)}
    return PairedItems(
        tuple(x - y for x, y in zip(*means, strict=True)),
        tuple(of[name] for name in names),
        (len({part.unit for part in a.parts}), len({part.unit for part in b.parts})),
        right=_right(values) if max(map(len, (*first.values(), *second.values()))) == 1 else 0.0,
    )


def _right(values: set[float]) -> float:
    """What a right answer counts, 1 or 100, where wrong ones count 0; else 0."""
    return next((right for right in (1.0, 100.0) if values <= {0.0, right}), 0.0)


def _by_item(sample: Sample, name: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for part in sample.parts:
        found.setdefault(part.item, []).append(part.value)
    if not found:
        raise ClaimError(
            f"{name} is known by its mean over items alone",
            advice="give a table with a row per item, and name its column: `seeds: {items: ...}`",
        )
    return found


@dataclass(frozen=True, slots=True)
class AskedOfItems:
    """Which test, on which side, and at which level."""

    test: str
    alternative: Alternative
    alpha: float


class Chances(NamedTuple):
    """The p of a test on both sides, and on each."""

    both: float
    greater: float
    less: float

    def of(self, asked: Alternative) -> float:
        """That of what is asked."""
        return {"two-sided": self.both, "greater": self.greater, "less": self.less}[asked]

    def against(self, asked: Alternative) -> float | None:
        """That of the contrary, which a test with two sides has not."""
        return (
            None if asked == "two-sided" else self.of("less" if asked == "greater" else "greater")
        )


def items_t(paired: PairedItems, *, alternative: Alternative, alpha: float = 0.05) -> ItemsResult:
    """Student's t-test of the differences per item; clustered where there are clusters.

    ``alternative`` is as in ``stats.t_tests``; the interval has level ``1 - alpha``, and with one
    side ``1 - 2 alpha``.
    """
    return _by_t(paired, paired.contrast(), AskedOfItems("items_t", alternative, alpha))


def items_crossed(
    a: Sample, b: Sample, *, alternative: Alternative, alpha: float = 0.05
) -> ItemsResult:
    """A t-test of the mean difference that holds for runs with other seeds, on items like these.

    The error is that of items and seeds together (``crossed.of_both``). ClaimError for fewer than
    ``LEAST_RUNS`` runs of an arm, or for a run without each item once.
    """
    paired = paired_items(a, b)
    by_items, tables = paired.contrast(), (_runs_by_items(a, "A"), _runs_by_items(b, "B"))
    contrast = of_both(by_items, tables)
    result = _by_t(paired, contrast, AskedOfItems("items_crossed", alternative, alpha))
    of_seeds = 1 - (by_items.se / contrast.se) ** 2
    return replace(result, n=paired.runs, paired=False, of_seeds=of_seeds)


def _runs_by_items(sample: Sample, name: str) -> npt.NDArray[np.float64]:
    """The values of an arm, a row per run and a column per item."""
    runs = sorted({part.unit for part in sample.parts})
    items = sorted({part.item for part in sample.parts})
    values = {(part.unit, part.item): part.value for part in sample.parts}
    cells = [(run, item) for run in runs for item in items]
    if len(runs) < LEAST_RUNS:
        raise ClaimError(
            f"{name} has {len(runs)} runs, and the scatter of seeds takes {LEAST_RUNS} or more",
            advice="run more seeds, or declare `test: t`, which is about these trained models",
        )
    times = Counter((part.unit, part.item) for part in sample.parts)
    if uneven := [cell for cell in cells if times[cell] != 1]:
        run, item = uneven[0]
        more = f" (and {len(uneven) - 1} more)" if len(uneven) > 1 else ""
        raise ClaimError(
            f"{name} has {times[uneven[0]] or 'no'} answers to item {item} in run {run}{more}",
            advice="give it one, leave the item out of every run, or declare `test: t`",
        )
    return np.array([[values[run, item] for item in items] for run in runs])


def _by_t(paired: PairedItems, contrast: Contrast, asked: AskedOfItems) -> ItemsResult:
    chances = Chances(contrast.p_two_sided(), contrast.p_greater(), contrast.p_less())
    interval = contrast.interval(interval_level(asked.alternative, asked.alpha))
    result = _result(paired, contrast, interval, asked, chances)
    return replace(result, statistic=contrast.statistic(), df=contrast.df)


def mcnemar(paired: PairedItems, *, alternative: Alternative, alpha: float = 0.05) -> ItemsResult:
    """McNemar's exact test of the items that one arm alone has right, as a binomial with 1/2.

    The interval is that of the difference by its score (Tango 1998). p is exact and rarely the
    stricter, so the interval is drawn to 0 where p is above alpha; it is held at 0 where p is
    below and the score would not exclude 0. ClaimError unless each item is 0 or 1 (or 100) in one
    run of each arm, without clusters.
    """
    if not paired.right:
        raise ClaimError("McNemar's test takes items that are 0 or 1, in one run of each arm")
    if any(paired.clusters):
        raise ClaimError("McNemar's test takes items that are independent, and these have clusters")
    (won, lost), n = paired.apart(), len(paired.differences)
    apart = won + lost
    if apart == 0:
        raise ClaimError(f"both give the same answer to all {n} items")
    greater, less = (float(bdtr(each, apart, 0.5)) for each in (lost, won))
    chances = Chances(min(1.0, 2 * min(greater, less)), greater, less)
    tail = alpha / 2 if alternative == "two-sided" else alpha
    low, high = _score_interval(won, lost, n, -float(ndtri(tail)))
    low = max(low, 0.0) if greater <= tail else min(low, 0.0)
    high = min(high, 0.0) if less <= tail else max(high, 0.0)
    spread = math.sqrt(max(apart / n - ((won - lost) / n) ** 2, 0.0) / n)
    unit = paired.right
    contrast = Contrast(unit * (won - lost) / n, unit * spread, n - 1)
    asked = AskedOfItems("mcnemar", alternative, alpha)
    interval = Interval(unit * low, unit * high, 1 - 2 * tail)
    return _result(paired, contrast, interval, asked, chances)


def mcnemar_and_t(
    paired: PairedItems, *, alternative: Alternative, alpha: float = 0.05
) -> ItemsResult:
    """McNemar's test with the wider of its interval and that of t, to hold against a margin.

    At a margin the interval of the score alone errs in up to 4.0 % where 2.5 % is the level (100
    items, of which one arm alone has 10 % right). ClaimError as both tests have it.
    """
    exact = mcnemar(paired, alternative=alternative, alpha=alpha)
    by_t = items_t(paired, alternative=alternative, alpha=alpha)
    one, other = known(exact.interval), known(by_t.interval)
    ends = Interval(min(one.low, other.low), max(one.high, other.high), one.level)
    return replace(exact, interval=ends)


def _score_interval(won: int, lost: int, n: int, quantile: float) -> tuple[float, float]:
    """The differences of paired shares whose score is within the normal quantile (Tango 1998)."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

    def score(difference: float) -> float:
        """The estimate less the difference, over its error by the likeliest shares."""
        b = (2 * n - won + lost) * difference - won - lost
        root = math.sqrt(max(b * b + 8 * n * lost * difference * (1 - difference), 0.0))
        variance = n * ((root - b) / (2 * n) + difference * (1 - difference))
        return (won - lost - n * difference) / math.sqrt(max(variance, 1e-300))

    estimate, end = (won - lost) / n, 1 - 1e-12
    low = -1.0 if score(-end) < quantile else brentq(lambda x: score(x) - quantile, -end, estimate)
    high = 1.0 if score(end) > -quantile else brentq(lambda x: score(x) + quantile, estimate, end)
    return low, high


def _result(
    paired: PairedItems,
    contrast: Contrast,
    interval: Interval,
    asked: AskedOfItems,
    chances: Chances,
) -> ItemsResult:
    n = len(paired.differences)
    return ItemsResult(
        test=asked.test,
        effect=contrast.effect,
        alpha=asked.alpha,
        n=(n,),
        interval=interval,
        se=contrast.se,
        alternative=asked.alternative,
        paired=True,
        items=n,
        clusters=len(set(paired.clusters)) if any(paired.clusters) else None,
        runs=paired.runs,
        apart=paired.apart() if paired.right else None,
        p=chances.of(asked.alternative),
        p_opposite=chances.against(asked.alternative),
    )
