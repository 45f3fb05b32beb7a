"""Do the means of several arms rise, or fall, on the whole? A linear contrast, spreads unequal.

Jonckheere's and Kendall's tests ask whether the arms are alike, so that spreads that differ
make them err: with standard deviations 3:1 in .06 to .08 of cases instead of .05. This test
asks about the means alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from repro.errors import ClaimError
from repro.stats.contrast import Contrast, satterthwaite
from repro.stats.paired import paired_contrast
from repro.stats.result import check_alpha
from repro.stats.sample import Arm, Summary, summarise
from repro.stats.trend import TrendResult

Direction: TypeAlias = Literal["increasing", "decreasing"]


def linear_trend(
    groups: Sequence[Arm], *, direction: Direction, alpha: float = 0.05, paired: bool = False
) -> TrendResult:
    """One-sided t-test that the means rise (fall) along the groups, given in their order.

    ``effect``, with its interval of level ``1 - 2 alpha``, is the slope of the least-squares
    line through the means: the step from one arm to the next, in the units of the measurement.
    Each arm has its own variance; degrees of freedom by Satterthwaite. With two arms it is
    Welch's test, with three that of the last against the first. Summaries will do. Where the
    groups are ``paired`` by seed, each seed has a slope of its own, and it is the t-test of these.
    ``ClaimError`` for fewer than two groups, a group of one value, where no group that has a
    say varies, and for pairs as ``paired``. Welch 1947; Satterthwaite 1946.
    """
    check_alpha(alpha)
    if direction not in ("increasing", "decreasing"):
        raise ClaimError(f"direction is increasing or decreasing, not {direction!r}")
    if len(groups) < 2:
        raise ClaimError("a trend needs at least two groups")
    if paired:
        contrast = paired_contrast(groups, slope_weights(len(groups)), test="trend")
    else:
        contrast = _slope([summarise(group) for group in groups])
    tails = (contrast.p_greater(), contrast.p_less())
    p, opposite = tails if direction == "increasing" else tails[::-1]
    return TrendResult(
        test="trend",
        effect=contrast.effect,
        alpha=alpha,
        n=tuple(summarise(group).n for group in groups),
        interval=contrast.interval(1 - 2 * alpha),
        p=p,
        p_opposite=opposite,
        statistic=contrast.statistic(),
        df=contrast.df,
        se=contrast.se,
        paired=paired,
        method="paired" if paired else "welch",
    )


def slope_weights(count: int) -> tuple[float, ...]:
    """What each of so many means, one step apart, counts in the slope of the line through them."""
    places = [place - (count - 1) / 2 for place in range(count)]
    total = math.fsum(place**2 for place in places)
    return tuple(place / total for place in places)


def _slope(summaries: Sequence[Summary]) -> Contrast:
    pairs = list(zip(slope_weights(len(summaries)), summaries, strict=True))
    errors = [abs(weight) * one.standard_error for weight, one in pairs]
    if math.hypot(*errors) == 0:
        raise ClaimError(
            "no arm that has a say varies, so a test on means would call any trend certain; "
            "use separation of the first and the last"
        )
    effect = math.fsum(weight * one.mean for weight, one in pairs)
    df = satterthwaite(errors, [one.n for one in summaries])
    return Contrast(effect, math.hypot(*errors), df)
