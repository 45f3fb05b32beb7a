"""Tests on means: difference, equivalence, non-inferiority, ratio.

Equivalence and its like ask whether mean A minus mean B lies in a region that was declared
beforehand, in the units of the measurement or as a share of mean B. *Not significant* never
answers that. Where the arms are ``paired`` by seed, the tests are one-sample t-tests of the
differences, for which replicates need partners and a summary will not do; otherwise they are
Welch's. Permutations and ranks are in ``ranks``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from repro.errors import ClaimError, TooFewError
from repro.stats import stopping as ask
from repro.stats.contrast import (
    Contrast,
    PairedRelativeDifference,
    RelativeDifference,
    mean_difference,
    paired_contrast,
    relative_difference,
    satterthwaite,
    student_contrast,
    trimmed,
    welch_contrast,
)
from repro.stats.ranks import brunner_munzel, paired_permutation, permutation
from repro.stats.records import (
    Alternative,
    Arm,
    Interval,
    Sample,
    TestResult,
    check_alpha,
    interval_level,
    p_values,
    require_sample,
    summarise,
)


def welch(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Welch's t-test of mean A minus mean B; the default, safe where variances differ.

    The interval is the one the p-value belongs to: level ``1 - alpha`` two-sided, and
    ``1 - 2 alpha`` for a one-sided alternative. An arm of variance 0 leaves the other's
    ``n - 1`` degrees of freedom. ``ClaimError`` if an arm has fewer than two values, or if
    both have variance 0. Welch 1947; statistics.md 1.1.
    """
    return _mean_test("welch", welch_contrast(a, b), (a, b), alternative, alpha)


def student(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Student's t-test with pooled variance, to repeat what a paper did.

    Not safe where the variances differ (level .075 at n = 3 and a 3:1 ratio of standard
    deviations). Interval and errors as ``welch``. Student 1908; statistics.md 1.1, 2.2.
    """
    return _mean_test("student", student_contrast(a, b), (a, b), alternative, alpha)


def paired(
    a: Arm,
    b: Arm,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    test_to_train: float = 0.0,
) -> TestResult:
    """Student's t-test of the differences A minus B within pairs.

    Replicates with the same number are a pair, wherever they stand; only a design that gives
    both arms the same randomness makes them one. Effect and interval (levels as ``welch``)
    are the mean difference. ``ClaimError`` for a summary, replicates without a partner, fewer
    than two pairs, and differences that do not vary. Student 1908; statistics.md 1.1.

    ``test_to_train`` is for pairs whose training data overlap, such as J folds: the size of a test
    set over that of a training set, r. The squared standard error is then s² (1 / J + r), not
    s² / J (Nadeau & Bengio 2003), which is exact where two differences correlate by r / (1 + r).
    """
    contrast = paired_contrast((a, b))
    pairs = summarise(a).n
    contrast = replace(contrast, se=contrast.se * math.sqrt(1 + pairs * test_to_train))
    result = _mean_test("paired", contrast, (a, b), alternative, alpha)
    if not test_to_train:
        return result
    return replace(result, test="halves" if test_to_train > HALVES else "folds")


HALVES = 0.5
"""Above this share of test to training data, splits are into halves, each of which is trained on.
"""


def yuen(
    a: Arm,
    b: Arm,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    trim: float = 0.2,
) -> TestResult:
    """Yuen's t-test of trimmed means, for arms with genuine outliers.

    From each end of each arm the share ``trim`` of the replicates is left out, rounded down:
    with .2 none below five, where the test is Welch's. Effect and interval (levels as
    ``welch``) are the difference of the trimmed means. Not safe where standard deviations
    are 3:1 (level .062 at n = 5, .059 at n = 10). ``ClaimError`` for a summary, fewer than
    two values left in an arm, a ``trim`` outside [0, 0.5), and where in both arms all values
    between those trimmed agree. Yuen 1974; statistics.md 1.1, 2.2.
    """
    arms = require_sample(a, "yuen"), require_sample(b, "yuen")
    if not 0 <= trim < 0.5:
        raise ClaimError(f"the share trimmed from each end lies in [0, 0.5), not {trim}")
    cores = [_core(arm, trim) for arm in arms]
    if all(core.constant for core in cores):
        raise ClaimError(
            "what trimming leaves does not vary in either arm, so a test on means would call "
            "any difference certain",
            advice="use ratio, separation or bound",
        )
    (mean_a, error_a, n_a), (mean_b, error_b, n_b) = (
        trimmed(np.array(arm.values), trim) for arm in arms
    )
    errors = float(error_a), float(error_b)
    df = satterthwaite(errors, (n_a, n_b))
    contrast = Contrast(float(mean_a - mean_b), math.hypot(*errors), df)
    return _mean_test("yuen", contrast, (a, b), alternative, alpha)


TESTS: Mapping[str, Callable[..., TestResult]] = {
    "welch": welch,
    "student": student,
    "paired": paired,
    "permutation": permutation,
    "paired_permutation": paired_permutation,
    "brunner_munzel": brunner_munzel,
    "yuen": yuen,
}
"""Each name that a claim file may use, with its test of ``(a, b, *, alternative, alpha)``."""


def _core(arm: Sample, trim: float) -> Sample:
    """The values that trimming leaves; ``ClaimError`` for fewer than two."""
    cut = int(trim * arm.n)
    kept = sorted(arm.values)[cut : arm.n - cut]
    if len(kept) < 2:
        raise TooFewError(
            f"trimming leaves {len(kept)} of {arm.n} replicates, and a variance needs two",
            advice="add replicates",
        )
    return Sample.of(*kept)


def _mean_test(
    test: str,
    contrast: Contrast,
    arms: tuple[Arm, Arm],
    alternative: Alternative,
    alpha: float,
) -> TestResult:
    check_alpha(alpha)
    p, p_opposite = p_values(alternative, contrast.p_greater(), contrast.p_less())
    return TestResult(
        test=test,
        effect=contrast.effect,
        alpha=alpha,
        n=(summarise(arms[0]).n, summarise(arms[1]).n),
        interval=contrast.interval(interval_level(alternative, alpha)),
        p=p,
        p_opposite=p_opposite,
        statistic=contrast.statistic(),
        df=contrast.df,
        se=contrast.se,
        alternative=alternative,
        paired=test == "paired",
    )


Better: TypeAlias = Literal["lower", "higher"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginResult(TestResult):
    """The result of a test against margins.

    ``smallest_confirmable_margin`` is the smallest symmetric margin that these data could have
    confirmed, in the units of the effect.
    """

    smallest_confirmable_margin: float


def tost(
    a: Arm, b: Arm, *, low: float, high: float, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """Two one-sided t-tests: does ``low < mean A - mean B < high`` hold?

    ``p`` is the larger of the two one-sided p-values, ``p_opposite`` the smaller p of *the
    difference lies beyond one of the margins*; the interval has level ``1 - 2 alpha``.
    ``ClaimError`` unless ``low < 0 < high``, and as for ``welch`` or ``paired``. Schuirmann 1987;
    Lakens 2017; statistics.md 1.2.
    """
    return _margin_test("tost", (a, b), ask.equivalence(low, high), alpha, paired=paired)


def non_superiority(
    a: Arm, b: Arm, *, margin: float, better: Better, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """One-sided t-test: A is not better than B by ``margin`` or more.

    ``better`` says which values are good. The gain of A must lie below ``margin``, which is
    in the units of the measurement and not negative (``ClaimError``). statistics.md 2.1.
    """
    asked = ask.non_superiority(margin, better)
    return _margin_test("non_superiority", (a, b), asked, alpha, paired=paired)


def non_inferiority(
    a: Arm, b: Arm, *, margin: float, better: Better, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """One-sided t-test: A is not worse than B by ``margin`` or more.

    Units and errors as ``non_superiority``.
    """
    asked = ask.non_inferiority(margin, better)
    return _margin_test("non_inferiority", (a, b), asked, alpha, paired=paired)


def tost_relative(
    a: Arm, b: Arm, *, relative: float, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """Two one-sided tests: do the means differ by less than ``relative`` times mean B?

    Each margin is a contrast, ``mean A - (1 ± relative) mean B``, with Welch's degrees of
    freedom or, of pairs, taken seed by seed. Effect, interval (level ``1 - 2 alpha``), ``low``,
    ``high`` and the smallest confirmable margin are shares of mean B; ``statistic``, ``df`` and
    ``se`` are those of the contrast that decides. ``ClaimError`` unless ``0 < relative < 1``,
    where mean B is not safely different from 0, and as for ``tost``. statistics.md 1.2, 2.2.
    """
    _check_relative(relative, above_zero=True)
    asked = ask.equivalence(-relative, relative)
    return _margin_test("tost_relative", (a, b), asked, alpha, paired=paired)


def non_superiority_relative(
    a: Arm, b: Arm, *, relative: float, better: Better, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """One-sided contrast: A is not better than B by ``relative`` times mean B or more.

    Result and errors as ``tost_relative``; ``relative`` may be 0.
    """
    _check_relative(relative)
    asked = ask.non_superiority(relative, better)
    return _margin_test("non_superiority_relative", (a, b), asked, alpha, paired=paired)


def non_inferiority_relative(
    a: Arm, b: Arm, *, relative: float, better: Better, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """One-sided contrast: A is not worse than B by ``relative`` times mean B or more.

    Result and errors as ``tost_relative``; ``relative`` may be 0.
    """
    _check_relative(relative)
    asked = ask.non_inferiority(relative, better)
    return _margin_test("non_inferiority_relative", (a, b), asked, alpha, paired=paired)


def _margin_test(
    test: str, arms: tuple[Arm, Arm], asked: ask.Question, alpha: float, *, paired: bool
) -> MarginResult:
    check_alpha(alpha)
    difference: Contrast | RelativeDifference | PairedRelativeDifference
    if not test.endswith("_relative"):
        difference = mean_difference(*arms, paired=paired, test=test)
    elif paired:
        difference = PairedRelativeDifference.of(*arms, test=test)
    else:
        difference = relative_difference(*arms)
    interval = difference.interval(1 - 2 * alpha)
    sides, reach = [], []
    if asked.low is not None:
        beyond = difference.beyond(asked.low)
        sides.append((beyond.p_greater(), beyond.p_less(), beyond))
        reach.append(-interval.low)
    if asked.high is not None:
        beyond = difference.beyond(asked.high)
        sides.append((beyond.p_less(), beyond.p_greater(), beyond))
        reach.append(interval.high)
    inside, _, deciding = max(sides, key=lambda side: side[0])
    return MarginResult(
        test=test,
        effect=difference.effect,
        alpha=alpha,
        n=(summarise(arms[0]).n, summarise(arms[1]).n),
        interval=interval,
        p=inside,
        p_opposite=min(outside for _, outside, _ in sides),
        statistic=deciding.statistic(),
        df=deciding.df,
        se=deciding.se,
        low=asked.low,
        high=asked.high,
        paired=paired,
        smallest_confirmable_margin=max(0.0, *reach),
    )


def _check_relative(relative: float, *, above_zero: bool = False) -> None:
    if not 0 <= relative < 1 or (above_zero and relative == 0):
        raise ClaimError(f"a relative margin lies between 0 and 1 (0.01 is 1 %), not {relative}")


def ratio_of_geometric_means(
    a: Arm, b: Arm, *, at_least: float, alpha: float = 0.05, paired: bool = False
) -> TestResult:
    """One-sided t-test on logarithms: is A at least ``at_least`` times B?

    Effect and interval (level ``1 - 2 alpha``) are ratios; ``statistic``, ``df`` and ``se``
    belong to the logarithms. On arithmetic means the test would lose its level. Where both
    arms are constant nothing is left to chance: the result is ``exact`` and there is
    neither interval nor p. Where one is, the other alone gives the error and its ``n - 1``
    degrees of freedom.

    ``ClaimError`` for a summary, for pairs as ``paired``, for values not above 0, for fewer than
    two replicates in an arm, and for a ratio that is not positive. statistics.md 1.3, 2.1.
    """
    check_alpha(alpha)
    if not (math.isfinite(at_least) and at_least > 0):
        raise ClaimError(f"a ratio must be a finite number above 0, not {at_least}")
    first, second = require_sample(a, "ratio"), require_sample(b, "ratio")
    log_a, log_b = first.log(), second.log()
    if min(first.n, second.n) < 2:
        raise TooFewError("a ratio needs at least two replicates in each arm", "add replicates")
    result = TestResult(
        test="ratio",
        effect=first.geometric_mean / second.geometric_mean,
        alpha=alpha,
        n=(first.n, second.n),
        low=at_least,
        paired=paired,
        exact=first.constant and second.constant,
    )
    if result.exact:
        return result
    contrast = mean_difference(log_a, log_b, paired=paired, test="ratio")
    border = math.log(at_least)
    logs = contrast.interval(1 - 2 * alpha)
    return replace(
        result,
        interval=Interval(_exp(logs.low), _exp(logs.high), logs.level),
        p=contrast.p_greater(border),
        p_opposite=contrast.p_less(border),
        statistic=contrast.statistic(border),
        df=contrast.df,
        se=contrast.se,
    )


def ratio_of_means(
    a: Arm, b: Arm, *, at_least: float, alpha: float = 0.05, paired: bool = False
) -> TestResult:
    """One-sided t-test of mean A - ``at_least`` mean B: is mean A at least so many times mean B?

    Effect and interval (level ``1 - 2 alpha``, Fieller's) are ratios; ``statistic``, ``df`` and
    ``se`` belong to the difference. A summary will do, and is compared ``exact`` where neither arm
    varies.

    ``ClaimError`` for means not above 0, for a mean B that is not safely above 0, for pairs as
    ``paired``, for fewer than two replicates in an arm, and for a ratio that is not positive.
    Fieller 1954; statistics.md 2.2.
    """
    check_alpha(alpha)
    if not (math.isfinite(at_least) and at_least > 0):
        raise ClaimError(f"a ratio must be a finite number above 0, not {at_least}")
    first, second = summarise(a), summarise(b)
    if min(first.mean, second.mean) <= 0:
        raise ClaimError("a ratio of means needs means above 0", advice="use difference")
    result = TestResult(
        test="ratio_of_means",
        effect=first.mean / second.mean,
        alpha=alpha,
        n=(first.n, second.n),
        low=at_least,
        paired=paired,
        exact=first.spread == second.spread == 0,
    )
    if result.exact:
        return result
    difference = (
        PairedRelativeDifference.of(a, b, test="ratio_of_means")
        if paired
        else relative_difference(a, b)
    )
    interval, beyond = difference.interval(1 - 2 * alpha), difference.beyond(at_least - 1)
    return replace(
        result,
        interval=Interval(1 + interval.low, 1 + interval.high, interval.level),
        p=beyond.p_greater(),
        p_opposite=beyond.p_less(),
        statistic=beyond.statistic(),
        df=beyond.df,
        se=beyond.se,
    )


def _exp(logarithm: float) -> float:
    """The exponential, infinite where it overflows: such an interval says nothing upwards."""
    try:
        return math.exp(logarithm)
    except OverflowError:
        return math.inf
