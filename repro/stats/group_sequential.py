"""A few planned looks: group sequential tests with O'Brien-Fleming type spending.

Lan & DeMets 1983, in the two-sided form that rpact and gsDesign use: until the share ``t`` of
the planned pairs, ``4 (1 - Phi(z_{alpha/4} / sqrt(t)))`` of alpha is spent (the form
``2 (1 - Phi(z_{alpha/2} / sqrt(t)))`` spends more early). Boundaries by recursive integration
(Armitage, McPherson & Rowe 1969). statistics.md 1.8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from repro.errors import ClaimError
from repro.stats.anytime import Array, balanced, contrasts, unpaired
from repro.stats.contrast import Contrast, difference_of_pairs, welch_contrast
from repro.stats.records import Interval, Sample, check_alpha
from repro.stats.stopping import Question, SequentialResult, drift, first_crossing


@cache
def legendre(points: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Nodes between -1 and 1, and their weights."""
    return np.polynomial.legendre.leggauss(points)


_POINTS = 256
_REACH = 9.0
_NOTHING = 1e-14

SMALLEST_P = 1e-10
"""Smaller levels are not looked for; a p of exactly this means at most this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult(SequentialResult):
    """The result of planned looks.

    ``nominal`` is the two-sided level of the last look, ``waiting`` the number of pairs after it.
    """

    nominal: float
    waiting: int = 0


def spent(t: float, alpha: float) -> float:
    """The part of a two-sided ``alpha`` that may be spent until the share ``t`` of the pairs."""
    return 4 * float(ndtr(ndtri(alpha / 4) / math.sqrt(t)))


@lru_cache(maxsize=4096)
def boundaries(times: tuple[float, ...], alpha: float) -> tuple[float, ...]:
    """The size of z that decides at each look; infinite where next to nothing can be spent.

    ``times`` are the shares of the planned pairs at the looks, increasing, at most 1; they need
    not be equally spaced. Accurate to six digits. ``ClaimError`` for other times.
    """
    walk, bounds, used = _Walk.start(), [], 0.0
    for step, time in _steps(times):
        due = spent(time, alpha) - used
        bound = math.inf
        if due > _NOTHING:
            bound = walk.bound(due, step)
            used += due
        bounds.append(bound / math.sqrt(time))
        if time < times[-1]:
            walk = walk.move(min(bound, _REACH * math.sqrt(time)), step)
    return tuple(bounds)


def group_obf(
    a: Sample,
    b: Sample,
    question: Question,
    *,
    looks: Sequence[int] | None,
    planned_looks: Sequence[int],
    alpha: float = 0.05,
    paired: bool = False,
) -> GroupResult:
    """Welch's (or the paired) t-test at each of ``looks``, in pairs, against its nominal level.

    All alpha is spent at the last of ``planned_looks``. A planned look may be left out and
    another added, as long as no result decides which.
    The interval is that of the last look, widened so that those of all looks together have
    level ``1 - alpha`` (repeated intervals, Jennison & Turnbull 1989; ``1 - 2 alpha`` for a
    margin). ``p`` and ``p_opposite`` are the levels at which a boundary would have been
    reached by now, at least 1e-10.

    ``looks`` is None for samples whose order in time is not known: then all replicates are tested
    once, at the nominal level of the last planned look that the smaller arm has reached.
    ``ClaimError`` for looks beyond the plan, before the first, and as for ``welch`` or ``paired``.
    """
    check_alpha(alpha)
    contrast = difference_of_pairs if paired else welch_contrast
    if looks is None:
        left_out = unpaired(a, b) if paired else ()
        a, b = balanced(a, b) if paired else (a, b)
        reached = [n for n in planned_looks if n <= min(a.n, b.n)]
        if not reached:
            raise ClaimError(f"{min(a.n, b.n)} seeds are fewer than the first look needs")
        once = _result({reached[-1]: contrast(a, b)}, question, reached, planned_looks, alpha)
        sizes = (a.n, b.n)
        return replace(once, n=sizes, looks=(reached[-1],), left_out=left_out, paired=paired)
    pairs = balanced(a, b)
    found = contrasts(*pairs, looks, contrast)
    result = _result(found, question, looks, planned_looks, alpha)
    return replace(result, left_out=unpaired(a, b), waiting=pairs[0].n - looks[-1], paired=paired)


def _result(
    found: Mapping[int, Contrast],
    question: Question,
    looks: Sequence[int],
    planned_looks: Sequence[int],
    alpha: float,
) -> GroupResult:
    times = _times(looks, planned_looks)
    bounds = zip(looks, boundaries(times, question.tails * alpha), strict=True)
    nominal = {n: 2 * float(ndtr(-bound)) for n, bound in bounds}
    level = 1 - question.tails * alpha
    intervals = {n: _repeated(each, nominal[n], level) for n, each in found.items()}
    n, last = list(found.items())[-1]
    inside, outside = _normal_scores(question, found, looks)
    decided, decided_at, crossing = first_crossing(question, intervals)
    return GroupResult(
        test="group_obf",
        effect=last.effect,
        alpha=alpha,
        n=(n, n),
        interval=intervals[n],
        p=_level_reached(inside, times, question.tails),
        p_opposite=_level_reached(outside, times, question.tails),
        statistic=last.statistic(),
        df=last.df,
        se=last.se,
        low=question.low,
        high=question.high,
        kind=question.kind,
        looks=tuple(looks),
        drift=drift(question, intervals, last),
        decided=decided,
        decided_at=decided_at,
        crossing=crossing,
        nominal=nominal[n],
    )


def conditional_power(
    a: Sample,
    b: Sample,
    question: Question,
    *,
    looks: Sequence[int],
    planned_looks: Sequence[int],
    alpha: float = 0.05,
    paired: bool = False,
) -> float:
    """Chance that the last planned look decides, if the present estimates are the truth.

    The part of the final estimate that was seen is fixed; the rest is normal around the present
    one; the standard error shrinks with the root of n. Planned looks before the last are
    passed over, so the chance of deciding at all is slightly larger. Either decision counts.
    0 when the plan is at its end.
    """
    check_alpha(alpha)
    pair = balanced(a, b)
    now, maximum = looks[-1], planned_looks[-1]
    contrast = contrasts(*pair, looks, difference_of_pairs if paired else welch_contrast)[now]
    if now == maximum:
        return 0.0
    times = _times([*looks, maximum], planned_looks)
    nominal = 2 * float(ndtr(-boundaries(times, question.tails * alpha)[-1]))
    se = contrast.se * math.sqrt(now / maximum)
    df = maximum - 1 if paired else 2 * maximum - 2
    reach = -float(stdtrit(df, nominal / 2)) * se
    spread = se * math.sqrt(1 - now / maximum)
    lowest, highest = min(question.borders), max(question.borders)
    below = ndtr((lowest - reach - contrast.effect) / spread)
    above = ndtr((contrast.effect - highest - reach) / spread)
    between = ndtr((highest - reach - contrast.effect) / spread) - ndtr(
        (lowest + reach - contrast.effect) / spread
    )
    return float(below + above + max(0.0, between))


@dataclass(frozen=True, slots=True)
class _Walk:
    """The score where no boundary was crossed yet: quadrature nodes with their probabilities.

    The nodes lie symmetrically around 0.
    """

    places: Array
    chances: Array

    @classmethod
    def start(cls) -> _Walk:
        return cls(np.zeros(1), np.ones(1))

    def exit(self, bound: float, step: float) -> float:
        """The chance that an increment of standard deviation ``step`` leaves -bound to bound."""
        above = ndtr((self.places - bound) / step)
        return float((self.chances * (above + above[::-1])).sum())

    def bound(self, chance: float, step: float) -> float:
        """The bound that an increment of standard deviation ``step`` leaves with ``chance``."""
        from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

        highest = float(np.max(np.abs(self.places))) + _REACH * step
        return float(brentq(lambda b: self.exit(b, step) - chance, 0.0, highest, xtol=1e-12))

    def move(self, bound: float, step: float) -> _Walk:
        """The walk after the increment, where it is still within the bound."""
        nodes, weights = legendre(_POINTS)
        places = bound * nodes
        steps = np.subtract.outer(places, self.places)
        steps /= step
        steps *= steps
        steps /= -2
        np.exp(steps, out=steps)
        density = steps @ self.chances / (step * math.sqrt(2 * math.pi))
        return _Walk(places, bound * weights * density)


def _steps(times: Sequence[float]) -> list[tuple[float, float]]:
    """Each time with the standard deviation of the score's increment before it."""
    before = [0.0, *times[:-1]]
    if not times or not all(low < high <= 1 for low, high in zip(before, times, strict=True)):
        raise ClaimError(f"information times increase from above 0 to at most 1, not {times}")
    return [(math.sqrt(t - early), t) for early, t in zip(before, times, strict=True)]


def _times(looks: Sequence[int], planned: Sequence[int]) -> tuple[float, ...]:
    if not planned or list(planned) != sorted(set(planned)) or planned[0] < 2:
        raise ClaimError(f"planned looks are increasing numbers of pairs, not {list(planned)}")
    if looks[-1] > planned[-1]:
        raise ClaimError(
            f"a look at {looks[-1]} pairs lies beyond the plan, whose alpha is spent at "
            f"{planned[-1]}; eprocess_t has no end"
        )
    return tuple(n / planned[-1] for n in looks)


def _repeated(contrast: Contrast, nominal: float, level: float) -> Interval:
    points = -float(stdtrit(contrast.df, nominal / 2)) if nominal > 0 else math.inf
    reach = points * contrast.se
    return Interval(contrast.effect - reach, contrast.effect + reach, level)


def _normal_scores(
    question: Question, found: Mapping[int, Contrast], looks: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Welch's p as z at each look: for lying inside the borders, and for lying beyond one."""
    inside, outside = [-math.inf] * len(looks), [-math.inf] * len(looks)
    for place, n in enumerate(looks):
        if n in found:
            df = found[n].df
            scores = [_normal_score(each, df) for each in question.distances(found[n])]
            inside[place], outside[place] = min(scores), max(-score for score in scores)
    return inside, outside


def _normal_score(t: float, df: float) -> float:
    """The z with the same tail probability as Student's t; no size beyond 37."""
    size = -float(ndtri(stdtr(df, -abs(t))))
    return math.copysign(min(size, 37.0), t)


def _level_reached(scores: Sequence[float], times: tuple[float, ...], tails: int) -> float:
    """The smallest alpha at which some score reaches its boundary; 1 if none does."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

    def excess(log_alpha: float) -> float:
        bounds = boundaries(times, math.exp(log_alpha))
        return max(-50.0, *(z - bound for z, bound in zip(scores, bounds, strict=True)))

    low, high = math.log(SMALLEST_P * tails), -1e-9
    if excess(high) < 0:
        return 1.0
    if excess(low) >= 0:
        return SMALLEST_P
    return math.exp(float(brentq(excess, low, high, xtol=1e-7))) / tails
