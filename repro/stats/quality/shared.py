"""Values that two arms have in common, beyond what their granularity explains."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from repro.stats.quality.granularity import DIGITS
from repro.stats.quality.scatter import SHARPEST, scatter
from repro.stats.sample import Sample

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
