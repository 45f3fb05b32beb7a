"""One run counted several times: values of an arm that are equal, or nearly so."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from repro.stats.quality.scatter import SHARPEST, scatter
from repro.stats.sample import Sample

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
