"""Sources of variation: how much of the variance of a set of values each of them makes.

Each level of a source is a draw from many (random effects), as a split of the data is. By analysis
of variance, whose estimates are unbiased in balanced designs whatever the distribution; normal
values are needed for the intervals alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import fdtri

from repro.errors import ClaimError

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Levels: TypeAlias = Sequence[tuple[str, ...]]
"""One tuple a value: its level of each source."""


@dataclass(frozen=True, slots=True)
class Component:
    """What one source adds to the variance.

    ``variance`` is in squared units of the values; a negative estimate is given as 0, and
    ``truncated``. ``times`` is the interval of the ratio of its standard deviation to that of the
    rest, at the level asked for; None for a source with another one nested in it.
    """

    source: str
    levels: int
    variance: float
    truncated: bool
    times: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The components of all sources, and ``rest``: the variance that no source explains."""

    components: tuple[Component, ...]
    rest: float
    nested: bool

    @property
    def total(self) -> float:
        """The variance of a value whose every source is redrawn."""
        return math.fsum([self.rest, *(each.variance for each in self.components)])


@dataclass(frozen=True, slots=True)
class _Stratum:
    """A row of a table of the analysis of variance; ``size`` values have each of its levels."""

    source: str
    levels: int
    square: float
    df: int
    size: float


def decompose(
    values: Sequence[float], levels: Levels, sources: Sequence[str], *, level: float = 0.95
) -> Decomposition:
    """The variance of ``values`` by ``sources``, nested in the order given, or crossed.

    Nested: each level of a source belongs to one level of the source before it. Crossed: any two
    levels of two sources meet equally often. In both every level has as many values as each other.
    ``ClaimError`` for a source with a single level, for one that is balanced in neither way, for
    several values of the same crossed levels, whose interaction is not told apart, and where
    nothing is left for the rest. Searle, Casella and McCulloch 1992, chapter 4.
    """
    array = np.asarray(values, dtype=float)
    named = [np.asarray(names) for names in zip(*levels, strict=True)]
    codes = [np.unique(names, return_inverse=True)[1] for names in named]
    for source, code in zip(sources, codes, strict=True):
        counts = np.bincount(code)
        if len(counts) < 2:
            raise ClaimError(f"all runs have one level of '{source}'")
        if counts.min() != counts.max():
            few, many = counts.min(), counts.max()
            raise ClaimError(
                f"the levels of '{source}' have {few} to {many} runs, not as many each"
            )
    if len(codes) > 1 and all(_within(inner, outer) for outer, inner in pairwise(codes)):
        return _nested(array, codes, sources, level)
    for (a, first), (b, second) in combinations(zip(codes, sources, strict=True), 2):
        if len(set(Counter(zip(a, b, strict=True)).values())) != 1 or _empty(a, b):
            raise ClaimError(f"'{first}' and '{second}' are neither crossed nor nested evenly")
    if len(codes) > 1 and len(set(levels)) < len(levels):
        raise ClaimError("runs repeat the levels of crossed sources, whose interaction may differ")
    return _crossed(array, codes, sources, level)


def _within(inner: npt.NDArray[np.intp], outer: npt.NDArray[np.intp]) -> bool:
    """Whether each level of ``inner`` is found in one level of ``outer``."""
    return len(set(zip(inner, outer, strict=True))) == int(inner.max()) + 1


def _empty(a: npt.NDArray[np.intp], b: npt.NDArray[np.intp]) -> bool:
    """Whether some levels never meet."""
    return len(set(zip(a, b, strict=True))) < (int(a.max()) + 1) * (int(b.max()) + 1)


def _between(values: Array, code: npt.NDArray[np.intp]) -> float:
    """Sum of squared deviations of the means of the levels, one for each value."""
    means = np.bincount(code, weights=values) / np.bincount(code)
    return float(np.sum((means[code] - values.mean()) ** 2))


def _crossed(
    values: Array, codes: Sequence[npt.NDArray[np.intp]], sources: Sequence[str], level: float
) -> Decomposition:
    squares = [_between(values, code) for code in codes]
    counts = [int(code.max()) + 1 for code in codes]
    df = len(values) - 1 - sum(count - 1 for count in counts)
    if df < 1:
        raise ClaimError("no run is left to tell the rest by")
    rest = max(float(np.sum((values - values.mean()) ** 2)) - math.fsum(squares), 0.0) / df
    strata = [
        _Stratum(source, count, square / (count - 1), count - 1, len(values) / count)
        for source, count, square in zip(sources, counts, squares, strict=True)
    ]
    return Decomposition(
        tuple(_component(each, rest, df, level) for each in strata), rest, nested=False
    )


def _nested(
    values: Array, codes: Sequence[npt.NDArray[np.intp]], sources: Sequence[str], level: float
) -> Decomposition:
    sums = [
        0.0,
        *(_between(values, code) for code in codes),
        float(np.sum((values - values.mean()) ** 2)),
    ]
    counts = [1, *(int(code.max()) + 1 for code in codes), len(values)]
    df = [after - before for before, after in pairwise(counts)]
    if df[-1] < 1:
        raise ClaimError("no run is left to tell the rest by: each has a level of its own")
    squares = [max(b - a, 0.0) / each for (a, b), each in zip(pairwise(sums), df, strict=True)]
    found = []
    for place, source in enumerate(sources):
        size = len(values) / counts[place + 1]
        stratum = _Stratum(source, counts[place + 1], squares[place], df[place], size)
        component = _component(stratum, squares[place + 1], df[place + 1], level)
        inner = place + 1 == len(sources)
        found.append(component if inner else replace(component, times=None))
    return Decomposition(tuple(found), squares[-1], nested=True)


def _component(stratum: _Stratum, against: float, df: int, level: float) -> Component:
    """A component by its mean square and the one that it would have without it."""
    variance = (stratum.square - against) / stratum.size
    times = (0.0, math.inf)
    if against > 0:
        ratio, tail = stratum.square / against, (1 - level) / 2
        ends = (ratio / fdtri(stratum.df, df, p) for p in (1 - tail, tail))
        low, high = (math.sqrt(max(end - 1, 0.0) / stratum.size) for end in ends)
        times = low, high
    return Component(stratum.source, stratum.levels, max(variance, 0.0), variance < 0, times)
