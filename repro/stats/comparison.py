"""Are two arms different? Every test that a claim of a difference may name.

The t-tests are here; the permutation test and the rank test have files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from repro.errors import ClaimError, TooFewError
from repro.stats.alternative import Alternative, interval_level, p_values
from repro.stats.contrast import Contrast, satterthwaite, student_contrast, welch_contrast
from repro.stats.paired import paired_contrast
from repro.stats.permutation import permutation
from repro.stats.rank_tests import brunner_munzel
from repro.stats.result import TestResult, check_alpha
from repro.stats.sample import Arm, Sample, require_sample, summarise
from repro.stats.sign_flips import paired_permutation

__all__ = [
    "TESTS",
    "Alternative",
    "brunner_munzel",
    "paired",
    "paired_permutation",
    "permutation",
    "student",
    "welch",
    "yuen",
]


def welch(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Welch's t-test of mean A minus mean B; the default, safe where variances differ.

    The interval is the one the p-value belongs to: level ``1 - alpha`` two-sided, and
    ``1 - 2 alpha`` for a one-sided alternative. An arm of variance 0 leaves the other's
    ``n - 1`` degrees of freedom. ``ClaimError`` if an arm has fewer than two values, or if
    both have variance 0. Welch 1947; METHODS.md 1.1.
    """
    return _mean_test("welch", welch_contrast(a, b), (a, b), alternative, alpha)


def student(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Student's t-test with pooled variance, to repeat what a paper did.

    Not safe where the variances differ (level .075 at n = 3 and a 3:1 ratio of standard
    deviations). Interval and errors as ``welch``. Student 1908; METHODS.md 1.1, 2.2.
    """
    return _mean_test("student", student_contrast(a, b), (a, b), alternative, alpha)


def paired(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Student's t-test of the differences A minus B within pairs.

    Replicates with the same number are a pair, wherever they stand; only a design that gives
    both arms the same randomness makes them one. Effect and interval (levels as ``welch``)
    are the mean difference. ``ClaimError`` for a summary, replicates without a partner, fewer
    than two pairs, and differences that do not vary. Student 1908; METHODS.md 1.1.
    """
    return _mean_test("paired", paired_contrast((a, b)), (a, b), alternative, alpha)


def yuen(
    a: Arm,
    b: Arm,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    trim: float = 0.2,
) -> TestResult:
    """Yuen's t-test of trimmed means, for outliers that are no fault.

    From each end of each arm the share ``trim`` of the replicates is left out, rounded down:
    with .2 none below five, where the test is Welch's. Effect and interval (levels as
    ``welch``) are the difference of the trimmed means. Not safe where standard deviations
    are 3:1 (level .062 at n = 5, .059 at n = 10). ``ClaimError`` for a summary, fewer than
    two values left in an arm, a ``trim`` outside [0, 0.5), and where in both arms all values
    between those trimmed agree. Yuen 1974; METHODS.md 1.1, 2.2.
    """
    arms = require_sample(a, "yuen"), require_sample(b, "yuen")
    if not 0 <= trim < 0.5:
        raise ClaimError(f"the share trimmed from each end lies in [0, 0.5), not {trim}")
    cores = [_core(arm, trim) for arm in arms]
    if all(core.constant for core in cores):
        raise ClaimError(
            "what trimming leaves does not vary in either arm, so a test on means would call "
            "any difference certain; use ratio, separation or bound"
        )
    contrast = _yuen_contrast(arms, cores)
    return _mean_test("yuen", contrast, (a, b), alternative, alpha)


TESTS: Mapping[str, Callable[..., TestResult]] = MappingProxyType(
    {
        "welch": welch,
        "student": student,
        "paired": paired,
        "permutation": permutation,
        "paired_permutation": paired_permutation,
        "brunner_munzel": brunner_munzel,
        "yuen": yuen,
    }
)
"""Each name that a claim file may use, with its test of ``(a, b, *, alternative, alpha)``."""


def _core(arm: Sample, trim: float) -> Sample:
    """The values that trimming leaves; ``ClaimError`` for fewer than two."""
    cut = int(trim * arm.n)
    kept = sorted(arm.values)[cut : arm.n - cut]
    if len(kept) < 2:
        raise TooFewError(
            f"of {arm.n} replicates trimming leaves {len(kept)}, and a variance needs two"
        )
    return Sample.of(*kept)


def _yuen_contrast(arms: tuple[Sample, Sample], cores: list[Sample]) -> Contrast:
    """Difference of trimmed means; each errs by its winsorised spread (Yuen 1974)."""
    errors = [_winsorised_error(arm, core) for arm, core in zip(arms, cores, strict=True)]
    means = [math.fsum(core.values) / core.n for core in cores]
    df = satterthwaite(errors, [core.n for core in cores])
    return Contrast(means[0] - means[1], math.hypot(*errors), df)


def _winsorised_error(arm: Sample, core: Sample) -> float:
    """Standard error of a trimmed mean: what was trimmed counts as the nearest value kept."""
    low, high = min(core.values), max(core.values)
    spread = Sample.of(*(min(max(value, low), high) for value in arm.values)).summary().spread
    return spread * math.sqrt((arm.n - 1) / (core.n * (core.n - 1)))


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
