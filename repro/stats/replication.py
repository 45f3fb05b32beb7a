"""Does our result agree with the paper's? Every usual answer to that, side by side.

An original and a replication, each a difference A minus B, known by the summaries of their
arms. The only variation counted is that between seeds: different data, hardware and tuning
would widen every interval here. The sceptical p-value (Held 2020) sets the original's result
against the prior that would just make it unconvincing.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scipy.special import fdtrc, log_ndtr, ndtr, ndtri

from repro.errors import ClaimError
from repro.stats.contrast import (
    Contrast,
    EffectRatio,
    difference_of_pairs,
    effect_ratio,
    satterthwaite,
    student_contrast,
    welch_contrast,
)
from repro.stats.power import PowerDesign, detectable, power_difference, power_student
from repro.stats.records import (
    Arm,
    Interval,
    Sample,
    Summary,
    check_alpha,
    check_finite,
    known,
    summarise,
)

Pair: TypeAlias = tuple[Arm, Arm]
"""The arms A and B."""

Arms: TypeAlias = tuple[Summary] | tuple[Summary, Summary]
"""Summaries of what is independent: both arms, or only the differences within pairs."""


def arms_of(pair: Pair, *, paired: bool = False) -> Arms:
    """The arms A and B; where they are ``paired``, the differences A minus B by replicate.

    ``ClaimError`` for pairs that the paired t-test refuses.
    """
    if not paired:
        return summarise(pair[0]), summarise(pair[1])
    found = difference_of_pairs(*pair)
    n = summarise(pair[0]).n
    return (Summary(n, found.effect, found.se * math.sqrt(n)),)


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
    (differences,) = arms
    if differences.standard_error == 0:
        raise ClaimError("all pairs differ by the same amount, so there is no error to compare")
    return Contrast(differences.mean, differences.standard_error, differences.n - 1)


def _log(arm: Arm) -> Arm:
    """The logarithms; of a mere summary by the delta method."""
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


def predict(
    original: Pair,
    ours: Pair,
    *,
    ratio: bool = False,
    level: float = 0.95,
    shared_baseline: bool = False,
    paired: bool = False,
) -> Prediction:
    """Prediction interval of our difference of means (or ratio A over B), from the original's.

    ``theta_o ± t sqrt(se_o² + se_r²)``, with Welch-Satterthwaite degrees of freedom over all
    four arms; covers .945 to .950 at n = 3, 5, 10. Each pair is (A, B). Where B is the same
    printed baseline in both (``shared_baseline``) only A has an error; where ours are ``paired``
    by replicate, only their differences. The original's arms always count as independent.
    A ``ratio`` is computed on logarithms; of a summary by the delta method, with standard error
    ``sd / (mean sqrt(n))``: good to a per cent while sd/mean stays below about 0.15.

    ``ClaimError`` for an arm whose variance is unknown, where no arm varies, for pairs that the
    paired t-test refuses, and for pairs with a shared baseline; of a ratio also for a mean or
    value not above 0, and for one above 1e308. statistics.md 1.9.
    """
    if paired and shared_baseline:
        raise ClaimError("pairs have both arms of their own, so they share no printed baseline")
    if ratio:
        original, ours = _logarithms(original), _logarithms(ours)
    first, second = summarise(original[0]), summarise(original[1])
    our_arms = arms_of(ours, paired=paired)
    arms = [first, our_arms[0]] if shared_baseline else [first, second, *our_arms]
    errors = [arm.standard_error for arm in arms]
    se = math.hypot(*errors)
    if se == 0:
        raise ClaimError("no arm varies, so there is no error to predict a replication with")
    df = satterthwaite(errors, [arm.n for arm in arms])
    contrast = Contrast(first.mean - second.mean, se, df)
    interval = contrast.interval(level)
    if not ratio:
        return Prediction(contrast.effect, interval, 0.0, df)
    interval = Interval(ratio_of(interval.low), ratio_of(interval.high), level)
    return Prediction(ratio_of(contrast.effect), interval, 1.0, df)


def _logarithms(pair: Pair) -> Pair:
    return _log(pair[0]), _log(pair[1])


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
    p: float


@dataclass(frozen=True, slots=True)
class FixedEffect:
    """Both studies as measurements of one effect, and the Q-test of whether they can be.

    ``se`` is the textbook's, which takes the weights as known. ``interval`` and ``p`` allow for
    their being estimated (Meier 1953): with five seeds per arm they cover .95 where the
    textbook's cover .90. ``q_p`` refers Q to F with the degrees of freedom of the prediction
    interval, so that it is below alpha exactly where our effect lies outside that.
    """

    effect: float
    se: float
    interval: Interval
    p: float
    q: float
    q_p: float


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
    ratio: bool = False,
    alpha: float = 0.05,
    shared_baseline: bool = False,
    paired: bool = False,
    original_test: OriginalTest = "welch",
) -> Replication:
    """Compares our difference of means (or ratio A over B) with the original's.

    Pairs, ratios, ``shared_baseline`` and ``paired`` are as for ``predict``. Intervals have the
    level ``1 - alpha``. ``original_test`` is the one the paper used: its p and z, and the power of
    its design, are that test's. With a shared baseline there is no sceptical p-value.
    ``ClaimError`` where a variance is unknown, where both arms of a pair are constant, and as for
    ``predict``. statistics.md 1.9.
    """
    level = 1 - check_alpha(alpha)
    prediction = predict(
        original, ours, ratio=ratio, level=level, shared_baseline=shared_baseline, paired=paired
    )
    if ratio:
        original, ours = _logarithms(original), _logarithms(ours)
    printed = summarise(original[0]), summarise(original[1])
    our_arms = arms_of(ours, paired=paired)
    first, second = welch_contrast(*printed), contrast_of(our_arms)
    tested = student_contrast(*printed) if original_test == "student" else first
    study, our_study = _study(first, tested, level), _study(second, second, level)
    same_sign = first.effect * second.effect > 0
    shared = printed[1].standard_error ** 2 if shared_baseline else 0.0
    variances = (first.se / second.se) ** 2
    telescopes = small_telescopes(printed, second, original_test=original_test)
    fixed = fixed_effect(printed, our_arms, level, prediction.df, shared_baseline=shared_baseline)
    notes = ((SHARED, shared_baseline), (PAIRED, paired))
    return Replication(
        scale="log ratio" if ratio else "difference",
        alpha=alpha,
        original=study,
        ours=our_study,
        prediction=prediction,
        compatible=(ratio_of(second.effect) if ratio else second.effect) in prediction.interval,
        same_sign=same_sign,
        significant=same_sign and our_study.p <= alpha,
        covered=first.effect in our_study.interval,
        effect_ratio=effect_ratio(first, second, df=prediction.df, level=level, covariance=shared),
        small_telescopes=telescopes,
        fixed_effect=fixed,
        sceptical=None if shared_baseline else sceptical(study.z, our_study.z, variances),
        notes=tuple(note for note, holds in notes if holds),
    )


def _study(contrast: Contrast, tested: Contrast, level: float) -> Study:
    p, z = tested.p_two_sided(), z_value(tested)
    return Study(contrast.effect, contrast.se, contrast.df, contrast.interval(level), p, z)


def small_telescopes(
    original: tuple[Summary, Summary], ours: Contrast, *, original_test: OriginalTest = "welch"
) -> SmallTelescopes:
    """Simonsohn's test of whether our effect is smaller than the original could have detected.

    ``d33`` takes the original's spreads as the true ones, its sizes, and its two-sided test
    at .05; our own test is that of ``ours``. ``ClaimError`` for another test. Simonsohn 2015.
    """
    powers = {"welch": power_difference, "student": power_student}
    if original_test not in powers:
        raise ClaimError(f"the original's test is welch or student, not {original_test!r}")
    a, b = original
    design = PowerDesign(a.spread, b.spread, a.n, b.n)
    size = known(detectable(lambda effect: powers[original_test](design, effect), design.se, 1 / 3))
    sign = -1.0 if a.mean < b.mean else 1.0
    p = ours.p_less(size) if sign > 0 else ours.p_greater(-size)
    return SmallTelescopes(sign * size, p)


def fixed_effect(
    printed: tuple[Summary, Summary],
    ours: Arms,
    level: float,
    df: float,
    *,
    shared_baseline: bool = False,
) -> FixedEffect:
    """Both studies pooled; weights inverse to the variances that are not shared."""
    first, second = welch_contrast(*printed), contrast_of(ours)
    shared = printed[1].standard_error ** 2 if shared_baseline else 0.0
    variances = first.se**2 - shared, second.se**2 - shared
    weight = variances[1] / (variances[0] + variances[1])
    effect = weight * first.effect + (1 - weight) * second.effect
    if shared_baseline:
        arms = [(weight, printed[0]), (1 - weight, ours[0]), (1.0, printed[1])]
        nu: list[float] = [printed[0].n - 1, ours[0].n - 1]
    else:
        arms = [(weight, arm) for arm in printed] + [(1 - weight, arm) for arm in ours]
        nu = [first.df, second.df]
    errors = [share * arm.standard_error for share, arm in arms]
    se = math.hypot(*errors)
    doubt = 4 * weight * (1 - weight) * (1 / nu[0] + 1 / nu[1])
    wider = math.sqrt(se**2 + doubt * (se**2 - shared))
    pooled = Contrast(effect, wider, satterthwaite(errors, [arm.n for _, arm in arms]))
    q = (first.effect - second.effect) ** 2 / (variances[0] + variances[1])
    return FixedEffect(
        effect=effect,
        se=se,
        interval=pooled.interval(level),
        p=pooled.p_two_sided(),
        q=q,
        q_p=float(fdtrc(1, df, q)),
    )


GOLDEN_RATIO = (1 + math.sqrt(5)) / 2

NEGLIGIBLE = 1e-12
"""A peak so near to z changes the chance in its tenth digit at most."""

LEAST_LOG = math.log(sys.float_info.min)
"""Below it a chance is 0 in floating point."""


@dataclass(frozen=True, slots=True)
class Sceptical:
    """One-sided sceptical p-values, in the direction of the original's effect.

    ``nominal`` is that of Held 2020, and too strict to be read like an ordinary p-value.
    ``golden`` (Held, Micheloud & Pawel 2022) and ``controlled`` (Micheloud, Balabdaoui & Held
    2023) are recalibrated, to be compared with a one-sided level such as 0.025: golden lets an
    original that is just significant succeed only if the replication's effect is as large,
    controlled errs in both studies together as rarely as two significant ones, ``level²``.
    Effects of opposite signs give values above one half.
    """

    z: float
    nominal: float
    golden: float
    controlled: float


def z_value(contrast: Contrast) -> float:
    """The normal quantile with the one-sided p-value of a t statistic.

    Never effect over standard error: at few degrees of freedom that is far too large.
    """
    statistic = contrast.statistic()
    p = contrast.p_less() if statistic < 0 else contrast.p_greater()
    return math.copysign(float(ndtri(max(p, sys.float_info.min))), statistic)


def sceptical(z_original: float, z_ours: float, variance_ratio: float) -> Sceptical:
    """The sceptical p-values of two z-values; ``variance_ratio`` is the original's over ours.

    ``z²`` solves ``(z_o²/z² - 1)(z_r²/z² - 1) = variance_ratio``. ``ClaimError`` for a number
    that is not finite and a ratio not above 0. statistics.md 1.9.
    """
    check_finite("a z-value", z_original)
    check_finite("a z-value", z_ours)
    if check_finite("a ratio of variances", variance_ratio) <= 0:
        raise ClaimError(f"a ratio of variances lies above 0, not at {variance_ratio}")
    z = _solve(z_original, z_ours, variance_ratio)
    p_values = (
        float(ndtr(-z)),
        float(ndtr(-math.sqrt(GOLDEN_RATIO) * z)),
        math.sqrt(both_positive(z, variance_ratio)),
    )
    if z_original * z_ours < 0:
        p_values = (1 - p_values[0], 1 - p_values[1], 1 - p_values[2])
    return Sceptical(z, *p_values)


def both_positive(z: float, variance_ratio: float) -> float:
    """Chance of a sceptical z of at least ``z`` with both effects positive, where there is none.

    For a ratio of 1 it is ``(1 - Phi(2 z)) / 2``; else an integral over the original's z-value,
    around the peak of the integrand, whose relative error is below 1e-6.
    """
    if z == 0:
        return 0.25
    if variance_ratio == 1:
        return float(ndtr(-2 * z)) / 2
    from scipy.integrate import quad  # noqa: PLC0415 - slow to import, needed only here

    def log_chance(distance: float) -> float:
        """The log chance of an original this far above ``z``, however small the distance."""
        beyond = distance / z * (distance / z + 2)
        if beyond <= 0:
            return -math.inf
        ours = z * math.sqrt(1 + variance_ratio / beyond)
        return float(log_ndtr(-ours)) - (z + distance) ** 2 / 2 - math.log(2 * math.pi) / 2

    root = math.sqrt(variance_ratio)
    peak = z * root / (1 + math.sqrt(1 + root))
    if peak < NEGLIGIBLE:  # both z-values above z, and nothing else
        return float(ndtr(-z)) ** 2
    top = log_chance(peak)
    if top < LEAST_LOG:
        return 0.0
    total = sum(
        float(quad(lambda x: math.exp(log_chance(x) - top), *ends, epsabs=0, epsrel=1e-9)[0])
        for ends in ((0.0, peak), (peak, peak + 3), (peak + 3, peak + 12))
    )
    return math.exp(top) * total


def _solve(z_original: float, z_ours: float, variance_ratio: float) -> float:
    """The root, through the harmonic and arithmetic means of the squared z-values."""
    length = math.hypot(z_original, z_ours)
    if length == 0:
        return 0.0
    product = abs(z_original / length) * abs(z_ours / length)
    harmonic_root = math.sqrt(2) * product * length
    means_ratio = min((2 * product) ** 2, 1.0)
    root = math.sqrt(1 + (variance_ratio - 1) * means_ratio)
    return harmonic_root / math.sqrt(1 + root)
