"""Signs within one sample that its values are not what they seem.

Does a sample look skewed, or do a few of its values lie far from the others?

Only what can be seen in so few values: both tests err in at most 1 % of normal samples, and
neither sees anything in three values.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from scipy.special import ndtr, stdtr

from repro.stats.records import ROUND_OFF, Sample

LARGEST_SET = 10_000
"""A share k of N is recognised up to this N; larger sets have finer steps than most digits."""

CHANCE = 0.05
"""An N that fits is believed where so many smaller ones, or fewer, would fit by chance."""

DIGITS = 12
"""Digits of a value that are taken to mean something; the others are round-off."""


def granularity(values: Sequence[float], together: Sequence[float] = ()) -> float:
    """The step of ``values``, guessed from themselves: too coarse rather than too fine.

    The largest of three: the last decimal that any of them has; the spacing of the binary numbers
    that hold them (float32, bfloat16); and 1/N, or 100/N, of the smallest N up to 10,000 of
    which all could be shares k of N, unless that is by chance. ``together`` are all values of
    the same measurement, which tell N better than one arm does.
    """
    step = max(last_decimal(values), _binary(values))
    share = _share(together, step) or _share(values, step)
    return max(step, share)


def last_decimal(values: Sequence[float]) -> float:
    """The unit of the last decimal of any value: 0.01 for 71.23 and 70.9, 1000 for 71,000."""
    exponents = [Decimal(f"{v:.{DIGITS}g}").normalize().as_tuple().exponent for v in values if v]
    return 10.0 ** min((one for one in exponents if isinstance(one, int)), default=0)


def _binary(values: Sequence[float]) -> float:
    """The largest power of 1/2 of which all are multiples."""
    return 1 / max(float(v).as_integer_ratio()[1] for v in values)


def _share(values: Sequence[float], step: float) -> float:
    """1/N, or 100/N for values in percent; 0 where no N fits values known to half a ``step``."""
    known = np.unique(np.asarray(values, dtype=float))
    if not known.size or known[0] < 0 or known[-1] > 100:
        return 0.0
    unit = 1.0 if known[-1] <= 1 else 100.0
    sizes = np.arange(1, LARGEST_SET + 1, dtype=float)
    for value in known / unit:
        counts = value * sizes
        within = (step / 2 + 10.0**-DIGITS * float(known[-1])) / unit * sizes
        sizes = sizes[np.abs(counts - np.round(counts)) <= within]
        if not sizes.size:
            return 0.0
    # Of M steps from 0 to the unit N are shares k of N: so many N would fit m values by chance.
    steps, m = unit / step, known.size
    by_chance = float(sizes[0]) / (m + 1) * (float(sizes[0]) / steps) ** m
    return unit / float(sizes[0]) if by_chance <= CHANCE else 0.0


SHARPEST = 0.44
"""Largest density of a value times the scale of ``scatter``: that of the lognormal(0.5)."""

NORMAL = 1.349
"""Length of the shortest half of a normal distribution, in standard deviations."""

SMALL_SAMPLE = (1.6, 1.27)
"""The shortest half of n values is shorter by this over the root of n: even n, odd n."""


def scatter(values: Sequence[float] | np.ndarray, step: float = 0.0) -> float:
    """The length of the shortest interval with half of the values, as a standard deviation.

    0 for fewer than three values and where half of them are equal. Up to half of the values may
    lie anywhere, as seeds do that collapsed. What different values on a grid of this ``step``
    are apart in any case is taken off. Rousseeuw & Leroy 1988.
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
    """Replicates of an arm whose values lie between ``low`` and ``high``, too near each other."""

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
    density; an arm is reported where that is at most ``level``. An arm whose values are one
    whole number is no repeat: ranks and counts can be the same by their structure.
    """
    found = []
    for arm, sample in samples.items():
        others = [scatter(one.values) for name, one in samples.items() if name != arm]
        least = min((one for one in others if one > 0), default=0.0) / LARGEST_RATIO
        cluster = _cluster(sample, steps[arm], least, level)
        if cluster is not None:
            at, values = cluster
            found.append(Repeat(arm, at, min(values), max(values)))
    return found


def _cluster(
    sample: Sample, step: float, least: float, level: float
) -> tuple[tuple[int, ...], tuple[float, ...]] | None:
    """Replicates and values of the least likely cluster, if that is unlikely enough."""
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
        own = others if width <= NEAR * others else scale
        chance = _chance(sample.n, size, width, own)
        if chance <= best:
            best, place = chance, (start, size)
    if place is None:
        return None
    chosen = sorted(order[place[0] : sum(place)])
    return tuple(sample.replicates[i] for i in chosen), tuple(sample.values[i] for i in chosen)


def _counted_once(values: np.ndarray, step: float) -> np.ndarray:
    """Values in ascending order, the one that most of them have counted once."""
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
    log_ways = math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1)
    return math.exp(min(0.0, log_ways + math.log(size) + (size - 1) * math.log(density)))


def in_blocks(samples: Mapping[str, Sample], *, paired: bool) -> float:
    """The chance that equal values stand side by side in every arm, where they do; else 1.

    Rows that were copied, each several times, are blocks in the order of seeds: 1.0, 1.0, 1.0,
    1.1, 1.1, 1.1. Among all orders of an arm's values the share of those in blocks is
    d! m1! ... md! / n!, for d different values. It is multiplied over arms that have equal
    values; of ``paired`` arms, which follow each other, it is the least.
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

    The largest of those of normal, uniform, t4 and lognormal(0.5) arms, simulated. The others
    may be near each other by chance, so it is wide where they are few: with n - 1 of them its
    tail falls as the power n - 2, until that of the values themselves is the heavier.
    """
    at = LIMITS.get(n, LARGER * math.pow(max(1.0, n / 30), 1 / TAIL))
    return at * math.pow(0.01 / level, 1 / min(n - 2, TAIL))


def outlier(values: Sequence[float], step: float, level: float) -> tuple[int, float] | None:
    """The place of the value farthest from the median, and how far, where it is beyond the limit.

    The distance is from the mean of the rest, in standard deviations of the rest, which are at
    least half a ``step``. A fifth of the values (at least one, the farthest from the median) are
    not of the rest, so that two seeds that collapsed do not hide each other. Nothing is said of
    fewer than three values.
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
    is missing: 42 and 1337 are seeds, and one arm may have 0 to 9, the other 10 to 19. Two shared
    numbers are enough where the other arm is numbered without a gap: 0, 3, 7, 8, 9 against 0 to 4
    are five of ten. What is missing at the end only is a smaller number of seeds.
    """
    mine, theirs = set(numbers), set(other)
    if not mine or not theirs:
        return ()
    shared = len(mine & theirs)
    counted = len(theirs) == max(theirs) - min(theirs) + 1
    if 2 * shared < min(len(mine), len(theirs)) and not (shared >= 2 and counted):
        return ()
    return tuple(sorted(one for one in theirs - mine if min(mine) < one < max(mine)))


def outside(
    numbers: Collection[int], first: int, last: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of a declared range that are missing, and those that lie outside it."""
    mine = set(numbers)
    missing = tuple(one for one in range(first, last + 1) if one not in mine)
    return missing, tuple(sorted(one for one in mine if not first <= one <= last))


LEVEL = 0.01
"""How often a normal sample is taken for skewed, or for one with values far away, at most."""

FEWEST_SKEWED = 8
"""Values from which on the skewness has a test (D'Agostino 1970)."""

MOST_FAR = 10
"""So many values at one end are looked at, and never more than a third."""


def skewed(values: Sequence[float]) -> bool:
    """Whether the values are more skewed than normal ones (D'Agostino's test, two-sided)."""
    if len(values) < FEWEST_SKEWED or min(values) == max(values):
        return False
    return 2 * float(ndtr(-abs(skewness_z(values)))) <= LEVEL


def skewness_z(values: Sequence[float]) -> float:
    """The skewness as a standard normal deviate (D'Agostino 1970), for 8 values or more."""
    n, deviations = len(values), _deviations(values)
    second = math.fsum(d**2 for d in deviations) / n
    skewness = math.fsum(d**3 for d in deviations) / n / second**1.5
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    kurtosis = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3)
    kurtosis /= (n - 2) * (n + 5) * (n + 7) * (n + 9)
    w_squared = math.sqrt(2 * (kurtosis - 1)) - 1
    return math.asinh(y / math.sqrt(2 / (w_squared - 1))) / math.sqrt(math.log(w_squared) / 2)


def far_away(values: Sequence[float]) -> bool:
    """Whether a few values at one end lie far from all others.

    The nearest of the m values at an end is set against the mean of the rest, as if it were one
    more value of theirs: Student's t with ``n - m - 1`` degrees of freedom. p is multiplied by
    the numbers of values, of ends, and of m (Bonferroni; simulated, too: below 1 % at any n).
    """
    ordered = sorted(_deviations(values)) if min(values) < max(values) else []
    most = min(len(ordered) // 3, MOST_FAR)
    return any(
        _p_far(end, m) * 2 * most <= LEVEL
        for end in (ordered, [-value for value in reversed(ordered)])
        for m in range(1, most + 1)
    )


def _p_far(ordered: Sequence[float], m: int) -> float:
    """One-sided p that the first m values, from below, belong to the others."""
    rest = ordered[m:]
    n = len(rest)
    mean = math.fsum(rest) / n
    variance = math.fsum((value - mean) ** 2 for value in rest) / (n - 1)
    if n < 3 or variance == 0:
        return 1.0
    t = (mean - ordered[m - 1]) / math.sqrt(variance * (1 + 1 / n))
    return len(ordered) * float(stdtr(n - 1, -t))


def _deviations(values: Sequence[float]) -> list[float]:
    """From the mean, the largest of them 1, so that no power overflows."""
    mean = math.fsum(value / len(values) for value in values)
    largest = max(abs(value - mean) for value in values)
    return [(value - mean) / largest for value in values]
