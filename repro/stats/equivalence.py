"""Is a difference small enough? Equivalence, non-inferiority, non-superiority.

All of them ask whether mean A minus mean B lies in a region that was declared beforehand.
*Not significant* never answers that.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from repro.errors import ClaimError
from repro.stats.contrast import Contrast, welch_contrast
from repro.stats.result import TestResult, check_alpha, check_finite
from repro.stats.sample import Arm, summarise

Better: TypeAlias = Literal["lower", "higher"]

MARGIN = "smallest_confirmable_margin"


def tost(a: Arm, b: Arm, *, low: float, high: float, alpha: float = 0.05) -> TestResult:
    """Two one-sided Welch tests: does ``low < mean A - mean B < high`` hold?

    ``p`` is the larger of the two one-sided p-values, ``p_opposite`` the smaller p of *the
    difference lies beyond one of the margins*; the interval has level ``1 - 2 alpha``.
    ``details`` holds the smallest symmetric margin that these data could have confirmed.
    ``ClaimError`` unless ``low < 0 < high``, and as for ``welch``. Schuirmann 1987;
    Lakens 2017; METHODS.md 1.2.
    """
    check_finite("the lower margin", low)
    check_finite("the upper margin", high)
    if not low < 0 < high:
        raise ClaimError(f"equivalence margins lie on both sides of 0, not {low} and {high}")
    return _region_test("tost", (a, b), low, high, alpha)


def non_superiority(
    a: Arm, b: Arm, *, margin: float, better: Better, alpha: float = 0.05
) -> TestResult:
    """One-sided Welch test: A is not better than B by ``margin`` or more.

    ``better`` says which values are good. The gain of A must lie below ``margin``, which is
    in the units of the measurement and not negative (``ClaimError``). METHODS.md 2.1.
    """
    _check_margin(margin)
    low, high = (None, margin) if _higher(better) else (-margin, None)
    return _region_test("non_superiority", (a, b), low, high, alpha)


def non_inferiority(
    a: Arm, b: Arm, *, margin: float, better: Better, alpha: float = 0.05
) -> TestResult:
    """One-sided Welch test: A is not worse than B by ``margin`` or more.

    Units and errors as ``non_superiority``.
    """
    _check_margin(margin)
    low, high = (-margin, None) if _higher(better) else (None, margin)
    return _region_test("non_inferiority", (a, b), low, high, alpha)


def _region_test(
    test: str, arms: tuple[Arm, Arm], low: float | None, high: float | None, alpha: float
) -> TestResult:
    check_alpha(alpha)
    contrast = welch_contrast(*arms)
    interval = contrast.interval(1 - 2 * alpha)
    inside, outside, statistic = _sides(contrast, low, high)
    reach = (
        -math.inf if low is None else -interval.low,
        -math.inf if high is None else interval.high,
    )
    return TestResult(
        test=test,
        effect=contrast.effect,
        alpha=alpha,
        n=(summarise(arms[0]).n, summarise(arms[1]).n),
        interval=interval,
        p=inside,
        p_opposite=outside,
        statistic=statistic,
        df=contrast.df,
        se=contrast.se,
        low=low,
        high=high,
        details={MARGIN: max(0.0, *reach)},
    )


def _sides(contrast: Contrast, low: float | None, high: float | None) -> tuple[float, float, float]:
    """The p of lying inside the region, of lying outside, and the statistic that decides."""
    sides = []
    if low is not None:
        sides.append((contrast.p_greater(low), contrast.p_less(low), contrast.statistic(low)))
    if high is not None:
        sides.append((contrast.p_less(high), contrast.p_greater(high), contrast.statistic(high)))
    inside, _, statistic = max(sides, key=lambda side: side[0])
    return inside, min(side[1] for side in sides), statistic


def _higher(better: Better) -> bool:
    if better not in ("lower", "higher"):
        raise ClaimError(f"better is lower or higher, not {better!r}")
    return better == "higher"


def _check_margin(margin: float) -> None:
    if not (math.isfinite(margin) and margin >= 0):
        raise ClaimError(f"a margin is a finite number, at least 0, not {margin}")
