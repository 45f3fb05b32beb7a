"""Are two means different? Student's and Welch's t-tests of unpaired arms."""

from __future__ import annotations

from typing import Literal, TypeAlias

from repro.errors import ClaimError
from repro.stats.contrast import Contrast, student_contrast, welch_contrast
from repro.stats.result import TestResult, check_alpha
from repro.stats.sample import Arm, summarise

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


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


def _mean_test(
    test: str, contrast: Contrast, arms: tuple[Arm, Arm], alternative: Alternative, alpha: float
) -> TestResult:
    check_alpha(alpha)
    p, p_opposite = _p_values(contrast, alternative)
    tails = 1 if alternative == "two-sided" else 2
    return TestResult(
        test=test,
        effect=contrast.effect,
        alpha=alpha,
        n=(summarise(arms[0]).n, summarise(arms[1]).n),
        interval=contrast.interval(1 - tails * alpha),
        p=p,
        p_opposite=p_opposite,
        statistic=contrast.statistic(),
        df=contrast.df,
        se=contrast.se,
        details={"alternative": alternative},
    )


def _p_values(contrast: Contrast, alternative: Alternative) -> tuple[float, float | None]:
    if alternative == "two-sided":
        return contrast.p_two_sided(), None
    if alternative == "greater":
        return contrast.p_greater(), contrast.p_less()
    if alternative == "less":
        return contrast.p_less(), contrast.p_greater()
    raise ClaimError(f"alternative is two-sided, greater or less, not {alternative!r}")
