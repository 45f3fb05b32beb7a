"""Does our result agree with the paper's? Every usual answer to that, side by side.

An original and a replication, each a difference A minus B, known by the summaries of their
arms. The only variation counted is that between seeds: different data, hardware and tuning
would widen every interval here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scipy.special import fdtrc

from repro.errors import ClaimError
from repro.stats import t_tests as comparison
from repro.stats.contrast import (
    Contrast,
    EffectRatio,
    effect_ratio,
    satterthwaite,
    student_contrast,
    welch_contrast,
)
from repro.stats.power import PowerDesign, detectable, power_difference, power_student
from repro.stats.records import Arm, Interval, Sample, Summary, check_alpha, known, summarise
from repro.stats.sceptical import Sceptical, sceptical, z_value

Pair: TypeAlias = tuple[Arm, Arm]
"""The arms A and B."""

Arms: TypeAlias = tuple[Summary] | tuple[Summary, Summary]
"""Summaries of what is independent: both arms, or only the differences within pairs."""


def arms_of(pair: Pair, *, paired: bool = False) -> Arms:
    """The arms A and B; where they are ``paired``, the differences A minus B by replicate.

    ``ClaimError`` for pairs that the paired t-test refuses.
    """
    if not paired:
        return both_of(pair)
    found = comparison.paired(*pair)
    n = found.n[0]
    return (Summary(n, found.effect, known(found.se) * math.sqrt(n)),)


def both_of(pair: Pair) -> tuple[Summary, Summary]:
    """Both arms as summaries."""
    return summarise(pair[0]), summarise(pair[1])


def logarithms(pair: Pair) -> Pair:
    """The logarithms of both arms; of a mere summary by the delta method.

    ``ClaimError`` for a mean or value not above 0.
    """
    return _log(pair[0]), _log(pair[1])


def ratio_of(logarithm: float) -> float:
    """The ratio with this logarithm; ``ClaimError`` where it is too large for a number."""
    try:
        return math.exp(logarithm)
    except OverflowError:
        raise ClaimError(
            f"the ratio exp({logarithm:.3g}) is too large for a number: the values differ by too "
            "many orders of magnitude to be compared as a ratio"
        ) from None


def contrast_of(arms: Arms) -> Contrast:
    """Mean A minus mean B: Welch's, or the mean of the differences with ``n - 1`` df.

    Errors as ``welch_contrast``, for differences that do not vary, too.
    """
    if len(arms) == 2:
        return welch_contrast(*arms)
    own = arms[0]
    if own.standard_error == 0:
        raise ClaimError("all pairs differ by the same amount, so there is no error to compare")
    return Contrast(own.mean, own.standard_error, own.n - 1)


def _log(arm: Arm) -> Arm:
    if isinstance(arm, Sample):
        return arm.log()
    if arm.mean <= 0:
        raise ClaimError(f"a ratio needs means above 0, not {arm.mean}")
    return Summary(arm.n, math.log(arm.mean), arm.spread / arm.mean)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The original's effect and the interval in which the replication's effect should lie.

    ``null`` is the effect that means *no difference*: 0, or 1 for a ratio.
    """

    effect: float
    interval: Interval
    null: float
    df: float


def predict_difference(
    original: Pair,
    ours: Pair,
    *,
    level: float = 0.95,
    shared_baseline: bool = False,
    paired: bool = False,
) -> Prediction:
    """Prediction interval of our difference of means, from the original's.

    ``theta_o ± t sqrt(se_o² + se_r²)``, with Welch-Satterthwaite degrees of freedom over all
    four arms; covers .945 to .950 at n = 3, 5, 10. Each pair is (A, B). Where B is the same
    printed baseline in both (``shared_baseline``) it cancels, and only A has an error. Where
    ours are ``paired`` by replicate our error is that of the mean of the differences; the
    original's arms count as independent all the same, so the interval covers .95 if they are,
    and more if they were positively correlated pairs. An arm without variance counts as exact.
    ``ClaimError`` for an arm whose variance is unknown, where no arm varies, for pairs that the
    paired t-test refuses, and for pairs with a shared baseline. statistics.md 1.9.
    """
    contrast = _predict(original, ours, shared_baseline=shared_baseline, paired=paired)
    return Prediction(contrast.effect, contrast.interval(level), 0.0, contrast.df)


def predict_ratio(
    original: Pair,
    ours: Pair,
    *,
    level: float = 0.95,
    shared_baseline: bool = False,
    paired: bool = False,
) -> Prediction:
    """Prediction interval of our ratio A over B, from the original's; see ``predict_difference``.

    Computed on logarithms. For an arm known only by its summary the logarithm of the mean is
    used, with standard error ``sd / (mean sqrt(n))`` (delta method): good to a per cent
    while sd/mean stays below about 0.15, because then arithmetic and geometric means agree
    that well. ``ClaimError`` also for a mean or value not above 0, and for a ratio above 1e308.
    """
    pairs = logarithms(original), logarithms(ours)
    contrast = _predict(*pairs, shared_baseline=shared_baseline, paired=paired)
    logs = contrast.interval(level)
    interval = Interval(ratio_of(logs.low), ratio_of(logs.high), level)
    return Prediction(ratio_of(contrast.effect), interval, 1.0, contrast.df)


def _predict(original: Pair, ours: Pair, *, shared_baseline: bool, paired: bool) -> Contrast:
    if paired and shared_baseline:
        raise ClaimError("pairs have both arms of their own, so they share no printed baseline")
    first, second = both_of(original)
    own = arms_of(ours, paired=paired)
    arms = [first, own[0]] if shared_baseline else [first, second, *own]
    errors = [arm.standard_error for arm in arms]
    se = math.hypot(*errors)
    if se == 0:
        raise ClaimError("no arm varies, so there is no error to predict a replication with")
    return Contrast(first.mean - second.mean, se, satterthwaite(errors, [arm.n for arm in arms]))


OriginalTest: TypeAlias = Literal["welch", "student"]
SHARED = "no sceptical p-value: the studies share their baseline"

PAIRED = (
    "Our error is that of the differences within pairs; the paper's arms count as independent, "
    "for no correlation of theirs is printed. Were they pairs that vary together, its error "
    "would be smaller, and a repetition should land nearer to the printed effect."
)


@dataclass(frozen=True, slots=True)
class Study:
    """One study's effect, p (two-sided) and z of its own test, error and interval.

    The last two are Welch's, or those of the differences within pairs.
    """

    effect: float
    se: float
    df: float
    interval: Interval
    p: float
    z: float


@dataclass(frozen=True, slots=True)
class SmallTelescopes:
    """Is our effect smaller than what the original's design could have seen?

    ``d33`` is the effect, signed like the original's, for which its design, test and spread
    had a power of one third; ``p`` is one-sided, small where ours lies below it.
    """

    d33: float
    test: OriginalTest
    p: float
    refuted: bool


@dataclass(frozen=True, slots=True)
class FixedEffect:
    """Both studies as measurements of one effect, and the Q-test of whether they can be.

    ``se`` is the textbook's, which takes the weights as known. ``interval`` and ``p`` allow for
    their being estimated (Meier 1953), and use Student's t with Satterthwaite's degrees of
    freedom: with five seeds per arm they cover .95 where the textbook's cover .90. ``q_p``
    refers Q to F with the degrees of freedom of the prediction interval, so that it is below
    alpha exactly where our effect lies outside that; ``q_p_chi_squared`` is the textbook's,
    too small for a few seeds.
    """

    effect: float
    se: float
    interval: Interval
    p: float
    q: float
    q_p: float
    q_p_chi_squared: float


@dataclass(frozen=True, slots=True)
class Replication:
    """What can be said about an original and its replication; see ``replicate``.

    ``scale`` is ``difference``, in the units of the measurement, or ``log ratio``: then every
    effect is a difference of logarithms, and ``prediction`` alone a ratio. ``compatible``: our
    effect lies in the prediction interval. ``significant``: the same sign, and our two-sided
    p at most alpha. ``covered``: the original's effect lies in our interval. ``sceptical`` is
    ``None``, for the reason among ``notes``, where the studies are not independent.
    """

    scale: Literal["difference", "log ratio"]
    alpha: float
    original: Study
    ours: Study
    prediction: Prediction
    compatible: bool
    same_sign: bool
    significant: bool
    covered: bool
    effect_ratio: EffectRatio
    small_telescopes: SmallTelescopes
    fixed_effect: FixedEffect
    sceptical: Sceptical | None
    notes: tuple[str, ...]


def replicate(
    original: Pair,
    ours: Pair,
    *,
    alpha: float = 0.05,
    shared_baseline: bool = False,
    paired: bool = False,
    original_test: OriginalTest = "welch",
) -> Replication:
    """Compares our difference of means with the original's; each pair is (A, B).

    Intervals have the level ``1 - alpha``; the small-telescopes test is one-sided at
    ``alpha``. ``original_test`` is the one the paper used: its p and z, and the power of its
    design, are that test's; ours are always Welch's, or, where our arms are ``paired`` by
    replicate, the paired t-test's, while the original's arms still count as independent. Where
    B is the same printed baseline in both (``shared_baseline``) the two effects share its
    error, which every part allows for but the sceptical p-value, which is left out.
    ``ClaimError`` where a variance is unknown, where both arms of a pair are constant, and as
    for ``predict_difference``. statistics.md 1.9.
    """
    level = 1 - check_alpha(alpha)
    prediction = predict_difference(
        original, ours, level=level, shared_baseline=shared_baseline, paired=paired
    )
    arms = both_of(original), arms_of(ours, paired=paired)
    compatible = contrast_of(arms[1]).effect in prediction.interval
    parts = _Parts(*arms, alpha, shared_baseline, original_test, prediction.df)
    return parts.joined("difference", prediction, compatible=compatible)


def replicate_ratio(
    original: Pair,
    ours: Pair,
    *,
    alpha: float = 0.05,
    shared_baseline: bool = False,
    paired: bool = False,
    original_test: OriginalTest = "welch",
) -> Replication:
    """Compares our ratio A over B with the original's, on logarithms; see ``replicate``.

    The logarithm of an arm known by its summary is taken as in ``predict_ratio``. ``ClaimError``
    also for means and values not above 0.
    """
    level = 1 - check_alpha(alpha)
    prediction = predict_ratio(
        original, ours, level=level, shared_baseline=shared_baseline, paired=paired
    )
    arms = both_of(logarithms(original)), arms_of(logarithms(ours), paired=paired)
    compatible = ratio_of(contrast_of(arms[1]).effect) in prediction.interval
    parts = _Parts(*arms, alpha, shared_baseline, original_test, prediction.df)
    return parts.joined("log ratio", prediction, compatible=compatible)


def small_telescopes(
    original: tuple[Summary, Summary],
    ours: Contrast,
    *,
    alpha: float = 0.05,
    original_test: OriginalTest = "welch",
) -> SmallTelescopes:
    """Simonsohn's test of whether our effect is smaller than the original could have detected.

    ``d33`` takes the original's spreads as the true ones, its sizes, and its two-sided test
    at .05 whatever ``alpha`` is; our own test is that of ``ours``, one-sided at ``alpha``.
    ``ClaimError`` for another test. Simonsohn 2015.
    """
    powers = {"welch": power_difference, "student": power_student}
    if original_test not in powers:
        raise ClaimError(f"the original's test is welch or student, not {original_test!r}")
    a, b = original
    design = PowerDesign(a.spread, b.spread, a.n, b.n)
    size = known(detectable(lambda effect: powers[original_test](design, effect), design.se, 1 / 3))
    sign = -1.0 if a.mean < b.mean else 1.0
    p = ours.p_less(size) if sign > 0 else ours.p_greater(-size)
    return SmallTelescopes(sign * size, original_test, p, p <= alpha)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The arms of both studies on one scale, and what is computed of them."""

    original: tuple[Summary, Summary]
    ours: Arms
    alpha: float
    shared_baseline: bool
    original_test: OriginalTest
    df: float

    def joined(
        self, scale: Literal["difference", "log ratio"], prediction: Prediction, *, compatible: bool
    ) -> Replication:
        first, second = welch_contrast(*self.original), contrast_of(self.ours)
        theirs = student_contrast(*self.original) if self.original_test == "student" else first
        original, ours = self._study(first, theirs), self._study(second, second)
        same_sign = original.effect * ours.effect > 0
        shared = self.original[1].standard_error ** 2 if self.shared_baseline else 0.0
        doubt = None
        if not self.shared_baseline:
            doubt = sceptical(original.z, ours.z, (first.se / second.se) ** 2)
        level = 1 - self.alpha
        return Replication(
            scale=scale,
            alpha=self.alpha,
            original=original,
            ours=ours,
            prediction=prediction,
            compatible=compatible,
            same_sign=same_sign,
            significant=same_sign and ours.p <= self.alpha,
            covered=original.effect in ours.interval,
            effect_ratio=effect_ratio(first, second, df=self.df, level=level, covariance=shared),
            small_telescopes=small_telescopes(
                self.original, second, alpha=self.alpha, original_test=self.original_test
            ),
            fixed_effect=self._fixed_effect(first, second, shared),
            sceptical=doubt,
            notes=self._notes(),
        )

    def _study(self, contrast: Contrast, tested: Contrast) -> Study:
        interval = contrast.interval(1 - self.alpha)
        p, z = tested.p_two_sided(), z_value(tested)
        return Study(contrast.effect, contrast.se, contrast.df, interval, p, z)

    def _notes(self) -> tuple[str, ...]:
        shared = (SHARED,) if self.shared_baseline else ()
        return (*shared, PAIRED) if len(self.ours) == 1 else shared

    def _fixed_effect(self, first: Contrast, second: Contrast, shared: float) -> FixedEffect:
        """Weights inverse to the variances that are not shared."""
        own = first.se**2 - shared, second.se**2 - shared
        weight = own[1] / (own[0] + own[1])
        effect = weight * first.effect + (1 - weight) * second.effect
        if self.shared_baseline:
            arms = [(weight, self.original[0]), (1 - weight, self.ours[0]), (1.0, self.original[1])]
            nu: list[float] = [self.original[0].n - 1, self.ours[0].n - 1]
        else:
            arms = [(weight, arm) for arm in self.original]
            arms += [(1 - weight, arm) for arm in self.ours]
            nu = [first.df, second.df]
        errors = [share * arm.standard_error for share, arm in arms]
        se = math.hypot(*errors)
        doubt = 4 * weight * (1 - weight) * (1 / nu[0] + 1 / nu[1])
        wider = math.sqrt(se**2 + doubt * (se**2 - shared))
        pooled = Contrast(effect, wider, satterthwaite(errors, [arm.n for _, arm in arms]))
        q = (first.effect - second.effect) ** 2 / (own[0] + own[1])
        return FixedEffect(
            effect=effect,
            se=se,
            interval=pooled.interval(1 - self.alpha),
            p=pooled.p_two_sided(),
            q=q,
            q_p=float(fdtrc(1, self.df, q)),
            q_p_chi_squared=math.erfc(math.sqrt(q / 2)),
        )
