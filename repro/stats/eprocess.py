"""The anytime-valid t e-process: evidence that may be looked at every night.

Two balanced normal arms with one unknown variance; under the alternative the standardised
difference ``delta = (mean A - mean B) / sd`` has a normal prior of variance ``g``, the variance
the right Haar prior. Then e, a ratio of two likelihoods of all t statistics so far, is a test
martingale: whatever one does after seeing it, it ever reaches 1/alpha with a chance of at most
alpha if there is no difference. Gönen et al. 2005 (the formula); Hendriksen, de Heide &
Grünwald 2021 and Pérez-Ortiz et al. 2024 (why stopping is free); METHODS.md 1.8.

Arms that are paired by seed are one normal sample of differences: then delta is their mean in
standard deviations, the number of pairs takes the place of ``n_a n_b / (n_a + n_b)``, and the
degrees of freedom are one fewer.

Fine print: stopping may depend on the t statistics only, and pairs must be balanced; then
unequal standard deviations do little harm (level at most .034 at 3:1, g = 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from repro.errors import ClaimError, TooFewError
from repro.stats.contrast import Contrast, student_contrast
from repro.stats.result import Interval, check_alpha
from repro.stats.sample import Arm, Sample

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
    three values an arm cannot decide, for with ``g = 1`` no t gives more than 6.25; nor can four
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
            f"{len(numbers)}; it needs at least two"
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
    so does their running intersection. Infinite while nothing could be decided. It is the
    effect plus or minus ``threshold`` standard errors, for shifting an arm shifts only the
    numerator of t.
    """
    reach = float(threshold(n_a, n_b, alpha=alpha, g=g, df=contrast.df)) * contrast.se
    return Interval(contrast.effect - reach, contrast.effect + reach, 1 - alpha)


@dataclass(frozen=True, slots=True)
class EProcess:
    """The e-process of *no difference* over the looks so far; each tuple has one entry a look.

    ``e`` is the evidence at the look (the last one is what e-BH takes, never the largest),
    ``p`` the smallest ``1/e`` so far, valid at any time, and ``intervals`` the confidence
    sequence of mean A minus mean B.
    """

    looks: tuple[int, ...]
    effects: tuple[float, ...]
    e: tuple[float, ...]
    p: tuple[float, ...]
    intervals: tuple[Interval, ...]

    @property
    def running(self) -> Interval | None:
        """What all intervals so far have in common; None when that is nothing."""
        low = max(each.low for each in self.intervals)
        high = min(each.high for each in self.intervals)
        return Interval(low, high, self.intervals[0].level) if low <= high else None


def eprocess_t(
    a: Sample, b: Sample, *, looks: Sequence[int], alpha: float = 0.05, g: float = 1.0
) -> EProcess:
    """The two-sided e-process of two means, at so many balanced pairs a look.

    *No difference* is rejected at the first look with ``e >= 1/alpha``, exactly where the
    interval of that look, of level ``1 - alpha``, first excludes 0. ``ClaimError`` for bad
    looks, fewer than two pairs, and where neither arm varies at the last look.
    """
    check_alpha(alpha)
    found = contrasts(*balanced(a, b), looks, student_contrast)
    sizes = np.array(list(found))
    e = e_value([each.statistic() for each in found.values()], sizes, sizes, g)
    return EProcess(
        looks=tuple(found),
        effects=tuple(each.effect for each in found.values()),
        e=tuple(map(float, e)),
        p=tuple(map(float, np.minimum(1.0, 1 / np.maximum.accumulate(e)))),
        intervals=tuple(
            confidence_sequence(each, n, n, alpha=alpha, g=g) for n, each in found.items()
        ),
    )


def _sizes(
    n_a: npt.ArrayLike, n_b: npt.ArrayLike | None, g: npt.ArrayLike, df: npt.ArrayLike | None
) -> tuple[Array, Array]:
    """Degrees of freedom, and the factor by which the prior widens the variance of the mean."""
    first, width = np.asarray(n_a, dtype=float), np.asarray(g, dtype=float)
    second = first if n_b is None else np.asarray(n_b, dtype=float)
    if np.min(first) < 2 or np.min(second) < 2:
        raise TooFewError("an e-value needs at least two values in each arm")
    if not np.all((width > 0) & np.isfinite(width)):
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
