"""Counts and shares: replicates within a limit, benchmarks won.

The unit is what was compared on its own: a benchmark, a task, a context. Units that belong
together (the tasks of one benchmark) are clusters, and then the cluster is the unit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv

from repro.errors import ClaimError, TooFewError
from repro.stats.coefficients import OUTCOMES_SEED, tail_p_values
from repro.stats.records import (
    ROUND_OFF,
    Arm,
    Interval,
    Sample,
    TestResult,
    beyond,
    check_alpha,
    check_finite,
    match,
    require_sample,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundResult(TestResult):
    """The result of a bound or a share of replicates that keep one.

    ``violators`` are the numbers of the replicates that do not; ``smallest`` and ``largest`` are
    values, in the units of the measurement.
    """

    violators: tuple[int, ...]
    smallest: float
    largest: float


def bound(
    a: Arm, *, at_least: float | None = None, at_most: float | None = None, alpha: float = 0.05
) -> BoundResult:
    """Structural bound: every replicate lies within the limits, which belong to it.

    There is no p; ``violators`` lists the replicates outside, those that diverged among them; a
    limit is kept up to round-off. ``effect`` is the share inside and ``interval`` its
    Clopper-Pearson interval of level ``1 - 2 alpha``. ``ClaimError`` for a summary or without a
    limit. Clopper & Pearson 1934; statistics.md 1.3.
    """
    return _within("bound", a, at_least, at_most, alpha)


def share(
    a: Arm,
    *,
    of: float,
    at_least: float | None = None,
    at_most: float | None = None,
    alpha: float = 0.05,
) -> BoundResult:
    """Exact binomial test: more than the share ``of`` of all replicates lies within the limits.

    ``p`` and ``p_opposite`` are one-sided; effect, interval and errors as ``bound``,
    and ``ClaimError`` unless ``0 < of < 1``. statistics.md 2.1.
    """
    if not 0 < of < 1:
        raise ClaimError(f"a share lies between 0 and 1, not {of}")
    result = _within("share", a, at_least, at_most, alpha)
    n = result.n[0]
    inside = n - len(result.violators)
    p = float(bdtrc(inside - 1, n, of)) if inside else 1.0
    return replace(result, p=p, p_opposite=float(bdtr(inside, n, of)), low=of)


def clopper_pearson(k: int, n: int, *, level: float) -> Interval:
    """Exact interval of a probability after ``k`` successes in ``n``; each side errs (1 - level)/2.

    ``ClaimError`` unless ``0 <= k <= n`` and ``n >= 1``.
    """
    if not 0 <= k <= n or n < 1:
        raise ClaimError(f"{k} successes of {n} are impossible")
    tail = (1 - level) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Interval(low, high, level)


def _within(
    test: str, a: Arm, at_least: float | None, at_most: float | None, alpha: float
) -> BoundResult:
    sample = require_sample(a, test)
    if at_least is None and at_most is None:
        raise ClaimError("a bound needs a limit: at_least, at_most or both")
    low = check_finite("at_least", at_least) if at_least is not None else float("-inf")
    high = check_finite("at_most", at_most) if at_most is not None else float("inf")
    if low > high:
        raise ClaimError(f"no value is at least {low} and at most {high}")
    violators = tuple(
        replicate
        for replicate, value in zip(sample.replicates, sample.values, strict=True)
        if replicate in sample.diverged or beyond(low, value) or beyond(value, high)
    )
    inside = sample.n - len(violators)
    return BoundResult(
        test=test,
        effect=inside / sample.n,
        alpha=check_alpha(alpha),
        n=(sample.n,),
        interval=clopper_pearson(inside, sample.n, level=1 - 2 * alpha),
        exact=True,
        violators=violators,
        smallest=min(sample.values),
        largest=max(sample.values),
    )


MOST_CLUSTERS = 16
"""With no more clusters than this all flips (65,536) are tried; else some are drawn."""

DRAWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomesResult(TestResult):
    """The result of counted outcomes: units that A won, lost and tied; clusters, if declared."""

    wins: int
    losses: int
    ties: int
    clusters: int | None = None


def sign_test(
    wins: int, losses: int, ties: int = 0, *, more_than: float = 0.5, alpha: float = 0.05
) -> OutcomesResult:
    """Exact binomial test: does A win in more than the share ``more_than`` of untied units?

    Ties are dropped, and counted. ``effect`` is the share of wins among the
    untied, ``interval`` its Clopper-Pearson interval of level ``1 - 2 alpha``; ``p`` and
    ``p_opposite`` are one-sided. ``ClaimError`` for counts below 0, no untied unit, a share
    outside (0, 1), and where no outcome of so many units could reach ``alpha``.
    Dixon & Mood 1946; statistics.md 2.1.
    """
    from scipy.stats import binomtest  # noqa: PLC0415 - slow to import

    check_alpha(alpha)
    untied = _untied(wins, losses, ties)
    if not 0 < more_than < 1:
        raise ClaimError(f"a share lies between 0 and 1, not {more_than}")
    _refuse_few(wins + losses + ties, "units", min(more_than, 1 - more_than), alpha)
    return OutcomesResult(
        test="sign",
        effect=wins / untied,
        alpha=alpha,
        n=(untied,),
        interval=clopper_pearson(wins, untied, level=1 - 2 * alpha),
        p=float(binomtest(wins, untied, more_than, "greater").pvalue),
        p_opposite=float(binomtest(wins, untied, more_than, "less").pvalue),
        low=more_than,
        exact=True,
        wins=wins,
        losses=losses,
        ties=ties,
    )


def paired_outcomes(
    a: Arm,
    b: Arm,
    *,
    better: Literal["lower", "higher"] = "higher",
    clusters: Sequence[Hashable] | None = None,
    more_than: float = 0.5,
    alpha: float = 0.05,
) -> OutcomesResult:
    """Does A win in more than a share of the units? A unit is a replicate's number in both arms.

    A wins where its value is better; values equal up to round-off tie. Without ``clusters``
    this is ``sign_test``. ``clusters`` names for each unit of ``a``, in its order, what it
    belongs to. Then the signs of whole clusters are flipped: all flips up to 16 clusters, else
    10,000 draws from a fixed seed and ``p = (b + 1) / (m + 1)``. That tests one half only, and
    gives no interval. ``ClaimError`` as ``sign_test``, for a summary, a unit that one arm lacks or
    that has no cluster, another share than one half with clusters, and too few clusters to reach
    ``alpha``. statistics.md 2.1.
    """
    check_alpha(alpha)
    first, second = match((a, b), "paired_outcomes")
    outcomes = _outcomes(first, second, better)
    wins, losses = outcomes.count(1), outcomes.count(-1)
    if clusters is None:
        return sign_test(wins, losses, outcomes.count(0), more_than=more_than, alpha=alpha)
    if more_than != 0.5:
        raise ClaimError("with clusters only more than one half can be tested: the signs flip")
    untied = _untied(wins, losses, outcomes.count(0))
    sums = _cluster_sums(require_sample(a, "paired_outcomes"), first, outcomes, clusters)
    _refuse_few(len(sums), "clusters", 0.5, alpha)
    exact = len(sums) <= MOST_CLUSTERS
    p, p_opposite = _flip(sums, exact=exact)
    return OutcomesResult(
        test="cluster_sign",
        effect=wins / untied,
        alpha=alpha,
        n=(untied,),
        p=p,
        p_opposite=p_opposite,
        low=0.5,
        exact=exact,
        wins=wins,
        losses=losses,
        ties=outcomes.count(0),
        clusters=len(sums),
    )


def _flip(sums: list[int], *, exact: bool) -> tuple[float, float]:
    """One-sided p of a sum above 0, and of one below, when each sign is a fair coin's."""
    from scipy.stats import permutation_test  # noqa: PLC0415 - slow to import

    ascending, mirrored = sorted(sums), sorted(-total for total in sums)
    drawn = max(ascending, mirrored)  # one drawing for both orders of the arms
    found = permutation_test(
        (np.array(drawn, dtype=float),),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=2**MOST_CLUSTERS if exact else DRAWS,
        rng=np.random.default_rng(OUTCOMES_SEED),
    )
    greater, less = tail_p_values(found.null_distribution, np.asarray(found.statistic), exact=exact)
    up = drawn == ascending
    return float(greater if up else less), float(less if up else greater)


def _outcomes(a: Sample, b: Sample, better: str) -> list[int]:
    """1 where A wins, -1 where it loses, 0 for a tie."""
    if better not in ("higher", "lower"):
        raise ClaimError(f"better is lower or higher, not {better!r}")
    sign = 1 if better == "higher" else -1
    return [
        0 if abs(x - y) <= ROUND_OFF * max(abs(x), abs(y)) else (sign if x > y else -sign)
        for x, y in zip(a.values, b.values, strict=True)
    ]


def _cluster_sums(
    declared: Sample, matched: Sample, outcomes: list[int], clusters: Sequence[Hashable]
) -> list[int]:
    """Wins minus losses of each cluster, which ``clusters`` names in the declared order."""
    if len(clusters) != declared.n:
        raise ClaimError(f"{len(clusters)} clusters are named for {declared.n} units")
    cluster = dict(zip(declared.replicates, clusters, strict=True))
    sums: dict[Hashable, int] = defaultdict(int)
    for unit, outcome in zip(matched.replicates, outcomes, strict=True):
        sums[cluster[unit]] += outcome
    return list(sums.values())


def _untied(wins: int, losses: int, ties: int) -> int:
    if min(wins, losses, ties) < 0:
        raise ClaimError(f"counts are not negative: {wins}, {losses}, {ties}")
    if wins + losses == 0:
        raise ClaimError(
            "every unit is a tie, so that nobody wins", advice="declare an equivalence"
        )
    return wins + losses


def _refuse_few(n: int, units: str, chance: float, alpha: float) -> None:
    if chance**n > alpha:
        raise TooFewError(
            f"{n} {units} cannot decide: even if all agree p = {chance**n:.3g}, above alpha = "
            f"{alpha:g} (one-sided)",
            advice=f"add {units}",
        )
