"""Signs between the arms of a table that it is not what it seems.

Signs that a table of results is not what it seems, before any test looks at it.

Pure functions on the values of arms. Each looks for one kind of fault and is given a level: the
largest chance of a false alarm in an honest table, to be divided among the samples or pairs that
are looked at. Honest are normal, uniform, t4 and lognormal(0.5) values, at full precision or
rounded, shares k of N, constant arms, three or more seeds per arm, standard deviations up to 4:1.
`python -m benchmarks.quality` measures the false alarms and what is found.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr
from scipy.stats import rankdata

from repro.stats.records import Sample
from repro.stats.sample_signs import DIGITS, SHARPEST, scatter

STRONGEST = 0.99
"""Pairs of an honest paired design correlate no more than this."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Replicates of two arms with equal values, as pairs; ``chance`` is at most that of so many.

    ``copied``: they are more than half of the smaller arm; of paired arms, all of both.
    ``whole``: they are all of the smaller arm, at equal numbers.
    """

    pairs: tuple[tuple[int, int], ...]
    chance: float
    copied: bool
    whole: bool


def shared(a: Sample, b: Sample, step: float, *, paired: bool) -> Shared | None:
    """What the arms have in common, and how likely that is; ``None`` where they share nothing.

    The chance that m honest values of each arm match is at most C(a, m) C(b, m) m! (f s)^m, f
    the largest density of the arm that scatters more and s the ``step`` of values; at equal
    numbers of seeds C(k, m) (f s)^m. Twice the lesser is reported. Of ``paired`` arms most of
    the values at equal numbers may be near each other: they count only where they are more than
    half, and their difference scatters as at a correlation of 0.99.
    """
    same, cross = _matches(a, b)
    scale = max(scatter(a.values), scatter(b.values))
    cell = 1.0 if scale == 0 else min(1.0, SHARPEST * step / scale)
    both, half = len(set(a.replicates) & set(b.replicates)), min(a.n, b.n) / 2
    elsewhere = cross if paired else (*same, *cross)
    copied, chance = len(same) > half, _at_equal_numbers(both, len(same), cell)
    if paired:
        near = min(1.0, cell / math.sqrt(2 * (1 - STRONGEST)))
        copied = len(same) == a.n == b.n
        chance = _at_equal_numbers(both, len(same), near) if 2 * len(same) > both else 1.0
    anywhere = _anywhere(a.n, b.n, len(elsewhere), cell)
    found = (
        Shared(tuple(same), chance, copied, len(same) == 2 * half),
        Shared(tuple(elsewhere), anywhere, len(elsewhere) > half, whole=False),
    )
    least = min((one for one in found if one.pairs), key=lambda one: one.chance, default=None)
    return None if least is None else replace(least, chance=min(1.0, 2 * least.chance))


Pairs = Sequence[tuple[int, int]]


def _matches(a: Sample, b: Sample) -> tuple[Pairs, Pairs]:
    """Equal values at equal numbers, and those among the other replicates; each used once."""
    mine, theirs = (dict(zip(one.replicates, map(_key, one.values), strict=True)) for one in (a, b))
    same = [(n, n) for n in mine if n in theirs and mine[n] == theirs[n]]
    used = {n for n, _ in same}
    places = defaultdict(list)
    for number, value in theirs.items():
        if number not in used:
            places[value].append(number)
    cross = [
        (number, places[value].pop(0))
        for number, value in mine.items()
        if number not in used and places[value]
    ]
    return same, cross


def _key(value: float) -> str:
    return f"{value:.{DIGITS}g}"


def _at_equal_numbers(n: int, m: int, cell: float) -> float:
    """At most the chance of ``m`` matches of ``n``."""
    return math.exp(min(0.0, _log_comb(n, m) + m * math.log(cell)))


def _anywhere(n_a: int, n_b: int, m: int, cell: float) -> float:
    """At most the chance of ``m`` matches between any replicates."""
    log_ways = _log_comb(n_a, m) + _log_comb(n_b, m) + math.lgamma(m + 1)
    return math.exp(min(0.0, log_ways + m * math.log(cell)))


def _log_comb(n: int, m: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)


FEWEST = 5
"""With four shared seeds one order in twelve is perfect, which says nothing."""

EXACT = 8
"""Up to so many shared seeds all orders are tried: 40,320."""

DRAWN = 200
"""Up to so many, orders are drawn, always the same; with more, ties do no harm to Student's t."""

MOST_ORDERS = 100_000
AT_ONCE = 1_000


def correlated(a: Sample, b: Sample, level: float) -> tuple[float, int] | None:
    """Pearson's r over the seeds that both arms have, and how many; None where it may be chance.

    Two tests must agree, so that neither tails nor one seed that collapsed in both make an
    alarm: Pearson's at ``level``, and Spearman's at twice that, by permutation (of 5 seeds
    2 orders in 120 are perfect). ``None`` for fewer than five shared seeds or a constant arm.
    """
    partner = dict(zip(b.replicates, b.values, strict=True))
    pairs = [
        (value, partner[number])
        for number, value in zip(a.replicates, a.values, strict=True)
        if number in partner
    ]
    if len(pairs) < FEWEST:
        return None
    x, y = np.array(pairs, dtype=float).T
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    r = _r(x, y)
    if _p(r, len(pairs)) > level or _rank_p(x, y, level) > 2 * level:
        return None
    return r, len(pairs)


def _r(x: np.ndarray, y: np.ndarray) -> float:
    u, v = x - x.mean(), y - y.mean()
    return float(u @ v / math.sqrt((u @ u) * (v @ v)))


def _p(r: float, n: int) -> float:
    """Two-sided p of Student's t for a correlation."""
    rest = 1 - r * r
    t = math.inf if rest <= 0 else abs(r) * math.sqrt((n - 2) / rest)
    return float(2 * stdtr(n - 2, -t))


def _rank_p(x: np.ndarray, y: np.ndarray, level: float) -> float:
    """Two-sided p of Spearman's correlation by permutation, so that ties do no harm."""
    u, v = rankdata(x), rankdata(y)
    u, v = u - u.mean(), v - v.mean()
    reached = abs(float(u @ v)) * (1 - 1e-9)
    if len(u) > DRAWN:
        return _p(_r(u, v), len(u))
    if len(u) <= EXACT:
        orders = np.array(list(itertools.permutations(v)))
        return float((np.abs(orders @ u) >= reached).mean())
    draws = min(MOST_ORDERS, math.ceil(50 / level))
    rng = np.random.default_rng(0)
    found = 0
    for first in range(0, draws, AT_ONCE):
        orders = rng.permuted(np.tile(v, (min(AT_ONCE, draws - first), 1)), axis=1)
        found += int((np.abs(orders @ u) >= reached).sum())
    return (1 + found) / (1 + draws)


AGREE = {10: 0.05, 100: 0.15, 1000: 0.15}
"""factor -> in one unit the means of two arms differ by less than this share."""

LIKE = {10: 2.5, 100: 5.0, 1000: 5.0}
"""factor -> in one unit the standard deviations differ by less than this factor."""

PERCENT = (0.7, 1.45)
"""Fractions and percents: once in one unit, the larger mean over the smaller is in this range."""

NARROW = 0.15
"""Arms that scatter more than this share of their mean can differ tenfold in one unit."""


@dataclass(frozen=True, slots=True)
class ScaleOfArm:
    """The mean of an arm, the standard deviation of its seeds, and the step of their values."""

    mean: float
    sd: float
    step: float


def factor_between(a: ScaleOfArm, b: ScaleOfArm) -> int | None:
    """The factor, 10, 100 or 1000, by which the larger arm is probably in another unit.

    Its mean and its standard deviation must both be about so many times those of the other:
    different means in one unit mostly come with like deviations. Where one arm lies between 0
    and 1 and the other between 1 and 100, percents mixed with fractions are likely enough that the
    means may differ by two fifths. A factor of 10 between arms that are rounded to the same decimal
    is taken for a difference. ``None`` for arms of two signs, wide arms and constant ones.
    """
    small, large = sorted((a, b), key=lambda one: abs(one.mean))
    if small.mean * large.mean <= 0 or small.sd == 0:
        return None
    if any(one.sd > NARROW * abs(one.mean) for one in (a, b)):
        return None
    for factor, agree in AGREE.items():
        ratio = large.mean / small.mean / factor
        near = abs(ratio - 1) <= agree
        if factor == 100 and 0 < small.mean <= 1 < large.mean <= 100:
            near = PERCENT[0] <= ratio <= PERCENT[1]
        like = 1 / LIKE[factor] <= large.sd / small.sd / factor <= LIKE[factor]
        if near and like and (factor > 10 or a.step != b.step):
            return factor
    return None


def factor_within(values: Sequence[float]) -> tuple[int, tuple[int, ...]] | None:
    """The factor, 100 or 1000, between two groups of seeds of one arm, and the smaller group.

    The places of the smaller group are told (of two alike, those of the small values). Each
    group lies within 15 % of its median, and the medians are a factor apart to within 15 %.
    A factor of 10 is what a seed that collapsed may be off by.
    """
    sizes = np.abs(np.asarray(values, dtype=float))
    if len(values) < 3 or min(values) * max(values) <= 0:
        return None
    low = sizes < math.sqrt(float(sizes.min()) * float(sizes.max()))
    if not low.any() or low.all():
        return None
    medians = [float(np.median(group)) for group in (sizes[low], sizes[~low])]
    for group, median in zip((sizes[low], sizes[~low]), medians, strict=True):
        if float(np.abs(group / median - 1).max()) > NARROW:
            return None
    for factor in (100, 1000):
        if abs(medians[1] / medians[0] / factor - 1) <= AGREE[factor]:
            fewer = low if low.sum() <= len(values) / 2 else ~low
            return factor, tuple(map(int, np.flatnonzero(fewer)))
    return None
