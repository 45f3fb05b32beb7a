"""Is a difference small enough? Equivalence, non-inferiority, non-superiority.

All of them ask whether mean A minus mean B lies in a region that was declared beforehand, in
the units of the measurement or as a share of mean B. *Not significant* never answers that.
Where the arms are ``paired`` by seed, the tests are one-sample t-tests of the differences, for
which replicates need partners and a summary will not do; otherwise they are Welch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from repro.errors import ClaimError
from repro.stats.contrast import Contrast
from repro.stats.paired import PairedRelativeDifference, mean_difference
from repro.stats.relative import RelativeDifference, relative_difference
from repro.stats.result import Interval, TestResult, check_alpha, check_finite
from repro.stats.sample import Arm, summarise

Better: TypeAlias = Literal["lower", "higher"]

Pair: TypeAlias = tuple[Arm, Arm]


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
    Lakens 2017; METHODS.md 1.2.
    """
    check_finite("the lower margin", low)
    check_finite("the upper margin", high)
    if not low < 0 < high:
        raise ClaimError(f"equivalence margins lie on both sides of 0, not {low} and {high}")
    return _region_test("tost", (a, b), low, high, alpha, paired=paired)


def non_superiority(
    a: Arm, b: Arm, *, margin: float, better: Better, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """One-sided t-test: A is not better than B by ``margin`` or more.

    ``better`` says which values are good. The gain of A must lie below ``margin``, which is
    in the units of the measurement and not negative (``ClaimError``). METHODS.md 2.1.
    """
    _check_margin(margin)
    low, high = (None, margin) if _higher(better) else (-margin, None)
    return _region_test("non_superiority", (a, b), low, high, alpha, paired=paired)


def non_inferiority(
    a: Arm, b: Arm, *, margin: float, better: Better, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """One-sided t-test: A is not worse than B by ``margin`` or more.

    Units and errors as ``non_superiority``.
    """
    _check_margin(margin)
    low, high = (-margin, None) if _higher(better) else (None, margin)
    return _region_test("non_inferiority", (a, b), low, high, alpha, paired=paired)


def tost_relative(
    a: Arm, b: Arm, *, relative: float, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """Two one-sided tests: do the means differ by less than ``relative`` times mean B?

    Each margin is a contrast, ``mean A - (1 ± relative) mean B``, with Welch's degrees of
    freedom or, of pairs, taken seed by seed; the observed mean of B is no margin, for it has an
    error. Effect, interval (level
    ``1 - 2 alpha``), ``low``, ``high`` and the smallest confirmable margin are shares of mean
    B; ``statistic``, ``df`` and ``se`` are those of the contrast that decides. ``ClaimError``
    unless ``0 < relative < 1``, where mean B is not safely different from 0, and as for
    ``welch`` or ``paired``. METHODS.md 1.2, 2.2.
    """
    _check_relative(relative, above_zero=True)
    return _relative_test("tost_relative", (a, b), -relative, relative, alpha, paired=paired)


def non_superiority_relative(
    a: Arm, b: Arm, *, relative: float, better: Better, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """One-sided contrast: A is not better than B by ``relative`` times mean B or more.

    Result and errors as ``tost_relative``; ``relative`` may be 0.
    """
    _check_relative(relative)
    low, high = (None, relative) if _higher(better) else (-relative, None)
    return _relative_test("non_superiority_relative", (a, b), low, high, alpha, paired=paired)


def non_inferiority_relative(
    a: Arm, b: Arm, *, relative: float, better: Better, alpha: float = 0.05, paired: bool = False
) -> MarginResult:
    """One-sided contrast: A is not worse than B by ``relative`` times mean B or more.

    Result and errors as ``tost_relative``; ``relative`` may be 0.
    """
    _check_relative(relative)
    low, high = (-relative, None) if _higher(better) else (None, relative)
    return _relative_test("non_inferiority_relative", (a, b), low, high, alpha, paired=paired)


def _region_test(
    test: str, arms: Pair, low: float | None, high: float | None, alpha: float, *, paired: bool
) -> MarginResult:
    check_alpha(alpha)
    contrast = mean_difference(*arms, paired=paired, test=test)

    def beyond(margin: float) -> Contrast:
        return Contrast(contrast.effect - margin, contrast.se, contrast.df)

    interval = contrast.interval(1 - 2 * alpha)
    sides = _Sides.of(beyond, low, high)
    return _result(test, arms, contrast.effect, interval, sides, alpha, paired=paired)


def _relative_test(
    test: str, arms: Pair, low: float | None, high: float | None, alpha: float, *, paired: bool
) -> MarginResult:
    check_alpha(alpha)
    difference: RelativeDifference | PairedRelativeDifference
    if paired:
        difference = PairedRelativeDifference.of(*arms, test=test)
    else:
        difference = relative_difference(*arms)
    interval = difference.interval(1 - 2 * alpha)
    sides = _Sides.of(difference.beyond, low, high)
    return _result(test, arms, difference.effect, interval, sides, alpha, paired=paired)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The declared region, the p of lying inside and outside, and the contrast that decides."""

    low: float | None
    high: float | None
    inside: float
    outside: float
    deciding: Contrast

    @classmethod
    def of(
        cls, beyond: Callable[[float], Contrast], low: float | None, high: float | None
    ) -> _Sides:
        """From the contrast beyond any margin, in whichever units margins are."""
        sides = []
        if low is not None:
            own = beyond(low)
            sides.append((own.p_greater(), own.p_less(), own))
        if high is not None:
            own = beyond(high)
            sides.append((own.p_less(), own.p_greater(), own))
        inside, _, deciding = max(sides, key=lambda side: side[0])
        return cls(low, high, inside, min(side[1] for side in sides), deciding)


def _result(
    test: str,
    arms: Pair,
    effect: float,
    interval: Interval,
    sides: _Sides,
    alpha: float,
    *,
    paired: bool,
) -> MarginResult:
    reach = (
        -math.inf if sides.low is None else -interval.low,
        -math.inf if sides.high is None else interval.high,
    )
    return MarginResult(
        test=test,
        effect=effect,
        alpha=alpha,
        n=(summarise(arms[0]).n, summarise(arms[1]).n),
        interval=interval,
        p=sides.inside,
        p_opposite=sides.outside,
        statistic=sides.deciding.statistic(),
        df=sides.deciding.df,
        se=sides.deciding.se,
        low=sides.low,
        high=sides.high,
        paired=paired,
        smallest_confirmable_margin=max(0.0, *reach),
    )


def _higher(better: Better) -> bool:
    if better not in ("lower", "higher"):
        raise ClaimError(f"better is lower or higher, not {better!r}")
    return better == "higher"


def _check_margin(margin: float) -> None:
    if not (math.isfinite(margin) and margin >= 0):
        raise ClaimError(f"a margin is a finite number, at least 0, not {margin}")


def _check_relative(relative: float, *, above_zero: bool = False) -> None:
    if not 0 <= relative < 1 or (above_zero and relative == 0):
        raise ClaimError(f"a relative margin lies between 0 and 1 (0.01 is 1 %), not {relative}")
