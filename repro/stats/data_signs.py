"""Signs that a table of results is not what it seems, before any test looks at it.

Pure functions on the values of one arm, then of two. Each looks for one kind of fault and is
given a level: the largest chance of a false alarm in an honest table, to be divided among the
samples or pairs that are looked at. Honest are normal, uniform, t4 and lognormal(0.5) values, at
full precision or rounded, shares k of N, constant arms, three or more seeds per arm, standard
deviations up to 4:1. `python -m benchmarks.quality` measures the false alarms and what is found.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from repro.stats.coefficients import midranks
from repro.stats.correlation import share_of_orders
from repro.stats.records import ROUND_OFF, Sample
from repro.stats.shapes import DIGITS

SHARPEST = 0.44
"""Largest density of a value times the scale of ``scatter``: that of the lognormal(0.5)."""

NORMAL = 1.349
"""Length of the shortest half of a normal distribution, in standard deviations."""

SMALL_SAMPLE = (1.6, 1.27)
"""The shortest half of n values is shorter by this over the root of n: even n, odd n."""


def scatter(values: Sequence[float] | np.ndarray, step: float = 0.0) -> float:
    """The length of the shortest interval with half of the values, as a standard deviation.

    0 for fewer than three values and where half of them are equal. Up to half of the values may
    lie anywhere. What values on a grid of this ``step`` are apart in any case is taken off.
    Rousseeuw & Leroy 1988.
    """
    n = len(values)
    if n < 3:
        return 0.0
    ordered = np.sort(np.asarray(values, dtype=float))
    half = (n + 1) // 2
    length = float((ordered[half - 1 :] - ordered[: n - half + 1]).min())
    beyond = max(0.0, length - (half - 1) * step)
    return beyond / (NORMAL * (1 - SMALL_SAMPLE[n % 2] / math.sqrt(n)))


LARGEST_RATIO = 4.0
"""Where an arm has no scatter of its own to see, it has at least that of another over this."""

LEAST_SCATTER = 1e-4
"""And at least this share of its value."""

NEAR = 1e-3
"""A cluster so much narrower than the scatter of the others is counted once in the scatter."""

EVERY_SIZE = 12
"""Clusters of up to so many seeds are looked for, then of twice as many, and of all."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Replicates of an arm whose values, from ``low`` to ``high``, are too near each other."""

    arm: str
    replicates: tuple[int, ...]
    low: float
    high: float


def repeats(
    samples: Mapping[str, Sample], steps: Mapping[str, float], level: float
) -> list[Repeat]:
    """The cluster of each arm that is least likely to be there by chance, if it is at all.

    ``samples`` are the arms on one measurement, ``steps`` the granularity of each. That m of n
    honest values lie within w has a chance of at most C(n, m) m (f w)^(m-1), f their largest
    density; an arm is reported where that is at most ``level``. An arm that is one whole number
    is no repeat: ranks and counts can be the same by their structure.
    """
    found = []
    for arm, sample in samples.items():
        others = [scatter(other.values) for name, other in samples.items() if name != arm]
        least = min((width for width in others if width > 0), default=0.0) / LARGEST_RATIO
        cluster = _cluster(sample, steps[arm], least, level)
        if cluster is not None:
            at, values = cluster
            found.append(Repeat(arm, at, min(values), max(values)))
    return found


def _cluster(
    sample: Sample, step: float, least: float, level: float
) -> tuple[tuple[int, ...], tuple[float, ...]] | None:
    whole = all(value.is_integer() for value in map(float, sample.values))
    if sample.n < 2 or (whole and sample.constant):
        return None
    order = sorted(range(sample.n), key=lambda i: sample.values[i])
    values = np.array([sample.values[i] for i in order])
    scale = scatter(_counted_once(values, step), step)
    if scale == 0 and not whole:
        scale = max(least, LEAST_SCATTER * abs(float(np.median(values))))
    best, place = level, None
    for size in _sizes(sample.n):
        widths = values[size - 1 :] - values[: sample.n - size + 1]
        start = int(widths.argmin())
        width = float(widths[start]) + step
        others = scatter(np.delete(values, slice(start + 1, start + size)), step)
        chance = _chance(sample.n, size, width, others if width <= NEAR * others else scale)
        if chance <= best:
            best, place = chance, (start, size)
    if place is None:
        return None
    chosen = sorted(order[place[0] : sum(place)])
    return tuple(sample.replicates[i] for i in chosen), tuple(sample.values[i] for i in chosen)


def _counted_once(values: np.ndarray, step: float) -> np.ndarray:
    runs = np.flatnonzero(np.diff(values, prepend=-np.inf) > step / 2)
    lengths = np.diff(np.append(runs, len(values)))
    longest = int(lengths.argmax())
    start = int(runs[longest])
    return np.delete(values, slice(start + 1, start + int(lengths[longest])))


def _sizes(n: int) -> list[int]:
    sizes = list(range(2, min(n, EVERY_SIZE) + 1))
    while sizes[-1] < n:
        sizes.append(min(n, 2 * sizes[-1]))
    return sizes


def _chance(n: int, size: int, width: float, scale: float) -> float:
    """At most the chance that ``size`` of ``n`` values lie within ``width``."""
    density = 1.0 if scale == 0 else min(1.0, SHARPEST * width / scale)
    if density == 0:
        return 0.0
    log_ways = _log_comb(n, size) + math.log(size)
    return math.exp(min(0.0, log_ways + (size - 1) * math.log(density)))


def in_blocks(samples: Mapping[str, Sample], *, paired: bool) -> float:
    """The chance that equal values stand side by side in every arm, where they do; else 1.

    Rows that were copied are blocks in the order of seeds: 1.0, 1.0, 1.0, 1.1, 1.1, 1.1. Among
    all orders of an arm's values the share of those in blocks is d! m1! ... md! / n!, for d
    different values. It is multiplied over arms that have equal values; of ``paired`` arms it is
    the least.
    """
    chances = []
    for sample in samples.values():
        inorder = [v for _, v in sorted(zip(sample.replicates, sample.values, strict=True))]
        counts = Counter(inorder)
        if len(counts) in (1, len(inorder)):
            continue
        if 1 + sum(a != b for a, b in itertools.pairwise(inorder)) > len(counts):
            return 1.0
        log = math.lgamma(len(counts) + 1) - math.lgamma(len(inorder) + 1)
        chances.append(math.exp(log + sum(math.lgamma(m + 1) for m in counts.values())))
    if not chances:
        return 1.0
    return min(chances) if paired else math.prod(chances)


LIMITS = {3: 290.0, 4: 33.0, 5: 18.5, 6: 14.5, 7: 12.6, 8: 11.8, 9: 11.3}
"""Distance, in standard deviations of the rest, that 1 % of arms of so many seeds reach."""

LARGER = 15.5
"""The same for 10 to 30 seeds, where a fifth of the seeds is set aside."""

TAIL = 4
"""Moments of the heaviest honest tail, t4: how fast limits grow as the level falls."""


def limit(n: int, level: float) -> float:
    """The distance that at most ``level`` of honest arms with ``n`` seeds reach.

    The largest of those of normal, uniform, t4 and lognormal(0.5) arms, simulated. With few
    others, which may be near each other by chance, its tail falls as the power n - 2.
    """
    at = LIMITS.get(n, LARGER * math.pow(max(1.0, n / 30), 1 / TAIL))
    return at * math.pow(0.01 / level, 1 / min(n - 2, TAIL))


def outlier(values: Sequence[float], step: float, level: float) -> tuple[int, float] | None:
    """The place of the value farthest from the median, and how far, where it is beyond the limit.

    The distance is from the mean of the rest, in standard deviations of the rest, which are at
    least half a ``step``. A fifth of the values (at least one, the farthest from the median) are
    not of the rest, so that two seeds that collapsed do not hide each other.
    """
    n = len(values)
    if n < 3:
        return None
    every = np.asarray(values, dtype=float)
    order = np.argsort(np.abs(every - np.median(every)), kind="stable")
    rest = every[order[: n - max(1, n // 5)]]
    scale = max(float(rest.std(ddof=1)), step / 2, ROUND_OFF * float(np.abs(every).max()))
    far = abs(float(every[order[-1]] - rest.mean()))
    if scale == 0 or far <= limit(n, level) * scale:
        return None
    return int(order[-1]), far / scale


def gaps(numbers: Collection[int], other: Collection[int]) -> tuple[int, ...]:
    """Numbers of the ``other`` arm that are missing between the least and the largest of this.

    Arms that share less than half of their numbers are numbered each in its own way, and nothing
    is missing; two shared numbers are enough where the other arm is numbered without a gap. What
    is missing at the end only is a smaller number of seeds.
    """
    mine, theirs = set(numbers), set(other)
    if not mine or not theirs:
        return ()
    common = len(mine & theirs)
    counted = len(theirs) == max(theirs) - min(theirs) + 1
    if 2 * common < min(len(mine), len(theirs)) and not (common >= 2 and counted):
        return ()
    return tuple(sorted(n for n in theirs - mine if min(mine) < n < max(mine)))


def outside(
    numbers: Collection[int], first: int, last: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of a declared range that are missing, and those that lie outside it."""
    mine = set(numbers)
    missing = tuple(n for n in range(first, last + 1) if n not in mine)
    return missing, tuple(sorted(n for n in mine if not first <= n <= last))


STRONGEST = 0.99
"""Pairs of an honest paired design correlate no more than this."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Replicates of two arms with equal values, as pairs; ``chance`` is at most that of so many.

    ``copied``: they are more than half of the smaller arm; of paired arms all of both, which no
    correlation explains.
    ``whole``: they are all of the smaller arm, at equal numbers.
    """

    pairs: tuple[tuple[int, int], ...]
    chance: float
    copied: bool
    whole: bool


def shared(a: Sample, b: Sample, step: float, *, paired: bool, level: float) -> Shared | None:
    """What the arms have in common, and how likely that is; ``None`` where they share nothing.

    The chance that m honest values of each arm match is at most C(a, m) C(b, m) m! (f s)^m, f
    the largest density of the arm that scatters more and s the ``step`` of values; at equal
    numbers of seeds C(k, m) (f s)^m. Twice the lesser is reported. Of ``paired`` arms most of
    the values at equal numbers may be near each other: they count only where they are more than
    half, and their difference scatters as at a correlation of 0.99. Where all are equal nothing
    is left to test, and they count as in any arms; that they are ``copied`` is said at ``level``
    of pairs that correlate so.
    """
    same, cross = _matches(a, b)
    scale = max(scatter(a.values), scatter(b.values))
    cell = 1.0 if scale == 0 else min(1.0, SHARPEST * step / scale)
    both, half = len(set(a.replicates) & set(b.replicates)), min(a.n, b.n) / 2
    elsewhere = cross if paired else (*same, *cross)
    copied, chance = len(same) > half, _at_equal_numbers(both, len(same), cell)
    if paired:
        near = min(1.0, cell / math.sqrt(2 * (1 - STRONGEST)))
        alike = len(same) == a.n == b.n
        likely = _at_equal_numbers(both, len(same), near) if 2 * len(same) > both else 1.0
        copied, chance = alike and 2 * likely <= level, chance if alike else likely
    anywhere = _anywhere(a.n, b.n, len(elsewhere), cell)
    found = (
        Shared(tuple(same), chance, copied, len(same) == 2 * half),
        Shared(tuple(elsewhere), anywhere, len(elsewhere) > half, whole=False),
    )
    least = min((s for s in found if s.pairs), key=lambda found: found.chance, default=None)
    return None if least is None else replace(least, chance=min(1.0, 2 * least.chance))


def _matches(a: Sample, b: Sample) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Equal values at equal numbers, and those among the other replicates; each used once."""
    mine, theirs = (
        {n: f"{value:.{DIGITS}g}" for n, value in zip(s.replicates, s.values, strict=True)}
        for s in (a, b)
    )
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


def _at_equal_numbers(n: int, m: int, cell: float) -> float:
    return math.exp(min(0.0, _log_comb(n, m) + m * math.log(cell)))


def _anywhere(n_a: int, n_b: int, m: int, cell: float) -> float:
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


def correlated(a: Sample, b: Sample, level: float) -> tuple[float, int] | None:
    """Pearson's r over the seeds that both arms have, and how many; None where it may be chance.

    Two tests must agree, so that neither tails nor one seed that collapsed in both make an
    alarm: Pearson's at ``level``, and Spearman's at twice that, by permutation. ``None`` for
    fewer than five shared seeds or a constant arm.
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
    rest = 1 - r * r
    t = math.inf if rest <= 0 else abs(r) * math.sqrt((n - 2) / rest)
    return float(2 * stdtr(n - 2, -t))


def _rank_p(x: np.ndarray, y: np.ndarray, level: float) -> float:
    """Two-sided p of Spearman's correlation by permutation, so that ties do no harm."""
    u, v = midranks(x), midranks(y)
    u, v = u - u.mean(), v - v.mean()
    reached = abs(float(u @ v)) * (1 - 1e-9)
    if len(u) > DRAWN:
        return _p(_r(u, v), len(u))
    if len(u) <= EXACT:
        orders = np.array(list(itertools.permutations(v)))
        return float((np.abs(orders @ u) >= reached).mean())
    draws = math.ceil(50 / level)
    return share_of_orders(v, draws, lambda orders: np.abs(orders @ u) >= reached)


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
    """The mean of an arm, the standard deviation of its seeds, and the step of their values.

    One seed has no standard deviation.
    """

    mean: float
    sd: float | None
    step: float


def factor_between(a: ScaleOfArm, b: ScaleOfArm) -> int | None:
    """The factor, 10, 100 or 1000, by which the larger arm is probably in another unit.

    Its mean and its standard deviation must both be about so many times those of the other.
    Where one arm lies between 0 and 1 and the other between 1 and 100, percents mixed with
    fractions are likely enough that the means may differ by two fifths. A factor of 10 between
    arms rounded to the same decimal is taken for a difference. ``None`` for arms of two signs,
    wide arms and constant ones. One seed may be a fraction next to percents, or the reverse.
    """
    small, large = sorted((a, b), key=lambda arm: abs(arm.mean))
    if small.mean * large.mean <= 0 or small.sd == 0:
        return None
    if any(arm.sd is not None and arm.sd > NARROW * abs(arm.mean) for arm in (a, b)):
        return None
    if small.sd is None or large.sd is None:
        near = PERCENT[0] <= large.mean / small.mean / 100 <= PERCENT[1]
        return 100 if near and 0 < small.mean <= 1 < large.mean <= 100 else None
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

    The smaller group is given by place (of two alike, the small values). Each group lies within
    15 % of its median, and the medians are a factor apart to within 15 %.
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
