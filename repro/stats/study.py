"""What a study says of two arms: of both by themselves, or of the differences within pairs."""

from __future__ import annotations

import math
from typing import TypeAlias

from repro.errors import ClaimError
from repro.stats import comparison
from repro.stats.contrast import Contrast, welch_contrast
from repro.stats.result import known
from repro.stats.sample import Arm, Sample, Summary, summarise

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
