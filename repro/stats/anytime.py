"""Anytime-valid tests: the t e-process, evidence that may be looked at every night.

Two balanced normal arms with one unknown variance; under the alternative the standardised
difference ``delta = (mean A - mean B) / sd`` has a normal prior of variance ``g``, the variance
the right Haar prior. Then e, a ratio of two likelihoods of all t statistics so far, is a test
martingale: whatever one does after seeing it, it ever reaches 1/alpha with a chance of at most
alpha if there is no difference. Gönen et al. 2005 (the formula); Hendriksen, de Heide &
Grünwald 2021 and Pérez-Ortiz et al. 2024 (why stopping is free); statistics.md 1.8. Arms that
are paired by seed are one normal sample of differences.

Fine print: stopping may depend on the t statistics only, and pairs must be balanced; then
unequal standard deviations do little harm (level at most .034 at 3:1, g = 1). A plan of few
looks at fixed sizes is in ``group_sequential``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from repro.errors import ClaimError, TooFewError
from repro.stats.coefficients import CONTINUATIONS_SEED
from repro.stats.contrast import (
    Contrast,
    difference_of_pairs,
    pair_differences,
    student_contrast,
    welch_contrast,
)
from repro.stats.records import Arm, Interval, Sample, check_alpha
from repro.stats.stopping import (
    Question,
    SequentialResult,
    drift,
    first_crossing,
)

Array: TypeAlias = npt.NDArray[np.floating[Any]]
_LARGEST = math.log(np.finfo(float).max)


def e_value(
    t: npt.ArrayLike,
    n_a: npt.ArrayLike,
    n_b: npt.ArrayLike | None,
    g: npt.ArrayLike = 1.0,
    *,
    df: npt.ArrayLike | None = None,
) -> Array:
    """Evidence against *no difference* in a t statistic; arrays broadcast.

    With ``nu = df``, ``n_a + n_b - 2`` of a pooled t, and ``a = 1 + g n_a n_b / (n_a + n_b)`` it
    is ``a ** (-1/2)`` times ``(1 + t²/nu) / (1 + t²/(nu a))`` to the power ``(nu + 1) / 2``;
    never more than the largest float. It is the density of ``sqrt(a)`` times Student's t over
    that of Student's t, so its mean is 1 without a difference, whatever ``df`` is.
    Without ``n_b``, it is that of ``n_a`` pairs: ``nu = n_a - 1``, and ``a = 1 + g n_a``.
    ``ClaimError`` for fewer than two values in an arm and for ``g <= 0``.
    """
    nu, a = _sizes(n_a, n_b, g, df)
    squared = np.square(np.asarray(t, dtype=float)) / nu
    exponent = (nu + 1) / 2 * (np.log1p(squared) - np.log1p(squared / a)) - np.log(a) / 2
    value: Array = np.exp(np.minimum(exponent, _LARGEST))
    return value


def one_sided_e_value(
    t: npt.ArrayLike,
    n_a: npt.ArrayLike,
    n_b: npt.ArrayLike | None,
    g: npt.ArrayLike = 1.0,
    *,
    df: npt.ArrayLike | None = None,
) -> Array:
    """Evidence against *the difference is at most 0*: the positive half of the same prior.

    It is ``2 e P(delta > 0 | t)``; given t, the difference of the means has Student's
    distribution with ``nu + 1`` degrees of freedom. So it is never more than ``2 e``. Valid for
    every true difference up to 0, because it grows with t and t grows with the difference.
    """
    nu, a = _sizes(n_a, n_b, g, df)
    score = np.asarray(t, dtype=float)
    location = score * np.sqrt((a - 1) / a * (nu + 1) / (nu + np.square(score) / a))
    half = np.minimum(e_value(t, n_a, n_b, g, df=df), np.finfo(float).max / 2)
    value: Array = 2 * half * stdtr(nu + 1, location)
    return value


def threshold(
    n_a: npt.ArrayLike,
    n_b: npt.ArrayLike | None,
    *,
    alpha: float,
    g: npt.ArrayLike = 1.0,
    df: npt.ArrayLike | None = None,
) -> Array:
    """The size of t from which on ``e_value`` is at least ``1/alpha``; infinite if it never is.

    With ``r = (sqrt(a) / alpha) ** (2 / (nu + 1))`` it is ``sqrt(nu (r - 1) / (1 - r / a))``;
    three values per arm cannot decide, for with ``g = 1`` no t gives more than 6.25; nor can four
    pairs, for which it is 11.2.
    """
    nu, a = _sizes(n_a, n_b, g, df)
    log_r = 2 / (nu + 1) * (np.log(a) / 2 - math.log(alpha))
    room = np.expm1(np.minimum(log_r - np.log(a), 0.0))
    with np.errstate(divide="ignore"):
        return np.sqrt(np.abs(nu * np.expm1(log_r) / room))


def balanced(a: Sample, b: Sample) -> tuple[Sample, Sample]:
    """Both samples cut to the replicate numbers that they share, in the order of the numbers.

    A replicate that is missing or was excluded takes its pair with it. ``ClaimError`` when
    fewer than two pairs are left.
    """
    numbers = sorted(set(a.replicates) & set(b.replicates))
    if len(numbers) < 2:
        raise TooFewError(
            f"a sequential test looks at pairs of one replicate number, and there are "
            f"{len(numbers)}; it needs at least two",
            advice="add pairs",
        )
    return _only(a, numbers), _only(b, numbers)


def unpaired(a: Sample, b: Sample) -> tuple[int, ...]:
    """The numbers of the replicates that lack a partner in the other arm."""
    return tuple(sorted(set(a.replicates) ^ set(b.replicates)))


def contrasts(
    a: Sample, b: Sample, looks: Sequence[int], contrast: Callable[[Arm, Arm], Contrast]
) -> dict[int, Contrast]:
    """The contrast of the first pairs of balanced samples at each look, by their number.

    A look at which nothing varied yet says nothing and is left out. ``ClaimError`` unless the
    looks increase from at least 2 to at most the number of pairs, and if nothing varies at the
    last one.
    """
    steps = list(looks)
    if not steps or steps != sorted(set(steps)) or steps[0] < 2 or steps[-1] > a.n:
        raise ClaimError(
            f"looks are increasing numbers of pairs, from 2 to the {a.n} there are, not {steps}"
        )
    found = {}
    for n in steps:
        try:
            found[n] = contrast(_first(a, n), _first(b, n))
        except ClaimError:
            if n == steps[-1]:
                raise
    return found


def confidence_sequence(
    contrast: Contrast, n_a: int, n_b: int | None, *, alpha: float, g: float = 1.0
) -> Interval:
    """The differences of means whose e is below ``1/alpha`` at a look with so many replicates.

    The intervals of all looks together cover the true difference with chance ``1 - alpha``, and
    so does their running intersection. Infinite while nothing could be decided.
    """
    reach = float(threshold(n_a, n_b, alpha=alpha, g=g, df=contrast.df)) * contrast.se
    return Interval(contrast.effect - reach, contrast.effect + reach, 1 - alpha)


def _sizes(
    n_a: npt.ArrayLike, n_b: npt.ArrayLike | None, g: npt.ArrayLike, df: npt.ArrayLike | None
) -> tuple[Array, Array]:
    """Degrees of freedom, and the factor by which the prior widens the variance of the mean."""
    first, width = np.asarray(n_a, dtype=float), np.asarray(g, dtype=float)
    second = first if n_b is None else np.asarray(n_b, dtype=float)
    if first.min() < 2 or second.min() < 2:
        raise TooFewError("an e-value needs at least two values in each arm", "add replicates")
    if not ((width > 0) & np.isfinite(width)).all():
        raise ClaimError(f"the prior's variance g is a finite number above 0, not {width}")
    if n_b is None:
        nu, size = first - 1, first
    else:
        nu, size = first + second - 2, first * second / (first + second)
    return nu if df is None else np.asarray(df, dtype=float), 1 + width * size


def _only(sample: Sample, numbers: Sequence[int]) -> Sample:
    values = dict(zip(sample.replicates, sample.values, strict=True))
    return Sample(tuple(values[number] for number in numbers), tuple(numbers))


def _first(sample: Sample, n: int) -> Sample:
    return Sample(sample.values[:n], sample.replicates[:n])


SENSITIVITY = (0.25, 1.0, 4.0)
"""Variances of the prior for which the result is shown, too."""

PATHS = 2000


@dataclass(frozen=True, slots=True)
class OtherPrior:
    """The e-value at the last look, with a prior of another variance."""

    g: float
    e: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EProcessResult(SequentialResult):
    """The result of an e-process: ``g`` is the variance of its prior.

    ``e`` and ``e_opposite`` are the e-values of the claim and of its contrary at the last look.
    """

    g: float
    e: float
    e_opposite: float
    sensitivity: tuple[OtherPrior, ...]


def sequential(
    a: Sample,
    b: Sample,
    question: Question,
    *,
    looks: Sequence[int] | None,
    alpha: float = 0.05,
    g: float = 1.0,
    paired: bool = False,
) -> EProcessResult:
    """The e-process at the last of ``looks``, which count balanced pairs by replicate number.

    A difference (two-sided) is decided when the ``1 - alpha`` confidence sequence excludes its
    border, exactly when ``e >= 1/alpha`` there; equivalence and the margins (one-sided) when
    the ``1 - 2 alpha`` sequence lies within them, or wholly beyond. Each side of that sequence
    errs with chance alpha plus half the chance (below .001) of crossing on both.

    ``p`` and ``p_opposite`` are anytime p-values, the smallest over the looks; ``interval`` is
    that of the last look, and so are ``e`` and ``e_opposite`` (for e-BH; of a margin it is
    ``one_sided_e_value``, valid however one stops and slightly below ``1/p``).
    ``looks`` is None for samples whose order in time is not known: then all replicates are one
    look, valid also if they were added until it sufficed; of arms of unequal size it is that of
    Welch's t with its own degrees of freedom.
    ``ClaimError`` for bad looks, fewer than two pairs, and where neither arm varies at the last.
    """
    check_alpha(alpha)
    if looks is None and not paired:
        contrast = (student_contrast if a.n == b.n else welch_contrast)(a, b)
        return _result(question, {min(a.n, b.n): _Look(contrast, (a.n, b.n), g)}, alpha, ())
    pair = balanced(a, b)
    looks = [pair[0].n] if looks is None else looks
    found = contrasts(*pair, looks, difference_of_pairs if paired else student_contrast)
    taken = {n: _Look(each, (n, None if paired else n), g) for n, each in found.items()}
    return _result(question, taken, alpha, unpaired(a, b))


@dataclass(frozen=True, slots=True)
class _Look:
    """The contrast so far, its sizes (the second None for pairs), and the prior's variance."""

    contrast: Contrast
    sizes: tuple[int, int | None]
    g: float

    def interval(self, question: Question, alpha: float) -> Interval:
        """The confidence sequence at this look."""
        level = question.tails * alpha
        return confidence_sequence(self.contrast, *self.sizes, alpha=level, g=self.g)

    def evidence(self, question: Question) -> tuple[float, float]:
        """Evidence of lying inside the borders, and beyond one; at least 1/alpha decides."""
        distances = np.array(question.distances(self.contrast))
        e = e_value(distances, *self.sizes, self.g, df=self.contrast.df)
        sided = question.tails * e
        inside = np.where(distances > 0, sided, 0.0)
        outside = np.where(distances < 0, sided, 0.0)
        return float(inside.min()), float(outside.max())

    def e_now(self, question: Question) -> tuple[float, float]:
        """The e-values of the claim and of its contrary, valid however one stops."""
        if question.tails == 1:
            return self.evidence(question)
        distances = np.array(question.distances(self.contrast))
        inside, outside = (
            one_sided_e_value(sign * distances, *self.sizes, self.g, df=self.contrast.df)
            for sign in (1, -1)
        )
        return float(inside.min()), float(outside.max())


def _result(
    question: Question, found: Mapping[int, _Look], alpha: float, left_out: tuple[int, ...]
) -> EProcessResult:
    intervals = {n: each.interval(question, alpha) for n, each in found.items()}
    seen = [each.evidence(question) for each in found.values()]
    n, last = list(found.items())[-1]
    claimed, contrary = last.e_now(question)
    decided, decided_at, crossing = first_crossing(question, intervals)
    return EProcessResult(
        test="eprocess_t",
        effect=last.contrast.effect,
        alpha=alpha,
        n=(last.sizes[0], last.sizes[1] or last.sizes[0]),
        interval=intervals[n],
        p=1 / max(1.0, *(inside for inside, _ in seen)),
        p_opposite=1 / max(1.0, *(outside for _, outside in seen)),
        statistic=last.contrast.statistic(),
        df=last.contrast.df,
        se=last.contrast.se,
        low=question.low,
        high=question.high,
        paired=last.sizes[1] is None,
        kind=question.kind,
        looks=tuple(found),
        drift=drift(question, intervals, last.contrast),
        decided=decided,
        decided_at=decided_at,
        crossing=crossing,
        left_out=left_out,
        g=last.g,
        e=claimed,
        e_opposite=contrary,
        sensitivity=tuple(
            OtherPrior(g, replace(last, g=g).e_now(question)[0]) for g in SENSITIVITY
        ),
    )


def predicted_power(
    a: Sample,
    b: Sample,
    question: Question,
    *,
    maximum: int,
    alpha: float = 0.05,
    g: float = 1.0,
    paired: bool = False,
) -> float:
    """Chance that the e-process decides by ``maximum`` pairs, were the estimates the truth.

    The pairs so far are kept; the rest are drawn from normal distributions with the arms'
    present means and standard deviations (of pairs, their differences are), and looked at after
    every pair. Either decision counts. 2,000 simulated continuations from a constant seed: the
    standard error is .007 where the answer is .10 and .011 at most. 0 when no pair is left to add.
    """
    check_alpha(alpha)
    first, second = balanced(a, b)
    n = first.n
    (difference_of_pairs if paired else student_contrast)(first, second)
    if maximum <= n:
        return 0.0
    sizes = np.arange(n + 1.0, maximum + 1)
    rng = np.random.default_rng(CONTINUATIONS_SEED)
    so_far = [pair_differences(first, second)] if paired else [first, second]
    effect, se = at_looks([_continue(arm, sizes, rng) for arm in so_far], sizes)
    least = threshold(sizes, None if paired else sizes, alpha=question.tails * alpha, g=g)
    reach = least * se
    excluded = [np.abs(effect - border) >= reach for border in question.borders]
    return float(np.mean(np.any(np.all(excluded, axis=0), axis=1)))


def _continue(arm: Sample, sizes: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Means and sums of squared deviations of simulated continuations; shape (path, size)."""
    now = arm.summary()
    drawn = now.spread * rng.standard_normal((PATHS, len(sizes)))
    deviations, squares = running(drawn, sizes)
    return now.mean + deviations, (now.n - 1) * now.spread**2 + squares


def running(values: Array, sizes: Array) -> tuple[Array, Array]:
    """Mean and sum of squared deviations up to each value of a row; ``(R, k)`` of each.

    ``sizes`` (k) count the values up to there, with those before the row, whose mean is 0.
    """
    added = np.cumsum(values, axis=1)
    return added / sizes, np.cumsum(values**2, axis=1) - added**2 / sizes


def at_looks(arms: Sequence[tuple[Array, Array]], sizes: Array) -> tuple[Array, Array]:
    """Mean difference and pooled standard error at looks of such sizes; ``(R, k)`` of each.

    ``arms`` are two, or the differences of pairs alone: means and squares, as ``running``.
    """
    means, squares = zip(*arms, strict=True)
    effect = means[0] - means[1] if len(means) == 2 else means[0]
    return effect, np.sqrt(sum(squares) / (sizes - 1) / sizes)
