"""How many digits a reader sees: of values by their scatter, of an effect by that of the effect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from repro.errors import ClaimError
from repro.evidence.evidence import Evidence
from repro.expectations.kinds import Expectation, kind_of
from repro.specs.claim import Claim
from repro.stats.contrast import mean_difference
from repro.stats.records import Arm, Sample, TestResult, summarise
from repro.stats.shapes import last_decimal
from repro.trainers.measurement import MOST_DIGITS

WITH_DIGITS = ("difference", "relative")
"""Scales of effects that have digits of their own; others have three significant ones."""

SECOND_DIGIT_BELOW = 0.4
"""An uncertainty shows a second significant digit where the first is 1, 2 or 3."""

LEAST_OF_PERCENT = 1
"""The fewest digits after the point of a relative difference, in percent."""


def with_digits(claim: Claim, evidence: Evidence) -> Claim:
    """The claim as it is worded: of each reported measurement so many digits that it varies.

    Its ``digits`` are the fewest. Where the scatter over seeds is less than one in the last of
    them there are more, two of the scatter's own: 0.04 below 0.05 would be all that is seen of
    0.0423 and 0.0497. Without scatter over seeds that of all values counts.
    """
    known: dict[str, float] = {}
    for each in claim.expectations:
        if sd := kind_of(each).known_sd(each):
            known[each.measurement] = sd
    worded = {
        name: measurement.at_scatter(known.get(name) or _scatter(name, evidence))
        for name, measurement in claim.measurements.items()
    }
    return claim.model_copy(update={"measurements": worded})


def _scatter(name: str, evidence: Evidence) -> float:
    """The largest standard deviation of an arm, else the range of everything known."""
    largest = 0.0
    values: list[float] = []
    for arm in evidence.arms:
        finished = [run.values[name] for run in evidence.counted(arm) if name in run.values]
        values += finished
        if len(finished) > 1:
            largest = max(largest, stdev(finished))
    for printed in evidence.published.values():
        if name in printed:
            values.append(float(printed[name].mean))
            largest = max(largest, float(printed[name].sd or 0))
    return largest or (max(values) - min(values) if values else 0.0)


def digits_of_effect(
    expectation: Expectation, claim: Claim, result: TestResult | None, arms: Sequence[Arm] = ()
) -> int:
    """Digits after the point of an effect and its interval, on the scale of the expectation.

    Those of the measurement are the fewest (of a relative difference, in percent, one). There are
    more where half the interval would not show its first significant digit, and a second one after
    1, 2 and 3, as is usual of uncertainties: pairs of seeds differ by far less than either arm
    scatters; and where an end would be shown on a limit that it excludes. There are never more
    than the values carry: one beyond the last decimal of those that are averaged, that decimal of
    a printed mean.
    """
    usual = claim.measurements[expectation.measurement].digits
    scale = kind_of(expectation).scale(expectation)
    if scale not in WITH_DIGITS:
        return usual
    unit = 1.0
    if scale == "relative":
        usual, unit = LEAST_OF_PERCENT, 100.0
    if result is None or not arms:
        return usual
    half = unit * _half_width(result)
    if result.interval is None and scale == "difference":
        half = _two_errors(result, arms, paired=claim.design == "paired")
    if not 0 < half < math.inf:
        return usual
    step = max(map(_step, arms))
    if scale == "relative":
        step *= unit / (abs(summarise(arms[-1]).mean) or 1.0)
    most = min(_places(step), MOST_DIGITS)
    digits = max(usual, min(_places(half / SECOND_DIGIT_BELOW) + 1, most))
    while digits < most and _hides_a_limit(result, unit, digits):
        digits += 1
    return digits


def _hides_a_limit(result: TestResult, unit: float, digits: int) -> bool:
    """Whether an end of the interval would be shown on a limit that it excludes."""
    limits = {0.0, *(each for each in (result.low, result.high) if each is not None)}
    ends = () if result.interval is None else (result.interval.low, result.interval.high)
    return any(
        end != limit and round(unit * end, digits) == round(unit * limit, digits)
        for limit in limits
        for end in ends
        if math.isfinite(end) and math.isfinite(limit)
    )


def _places(size: float) -> int:
    """Digits after the point that show the first significant one of ``size``."""
    return -math.floor(math.log10(size) + 1e-9)


def _half_width(result: TestResult) -> float:
    """Half the interval, or the distance of the one end that it has; 0 without an interval."""
    if result.interval is None:
        return 0.0
    low, high = result.interval.low, result.interval.high
    if math.isfinite(high - low):
        return (high - low) / 2
    return min(abs(result.effect - low), abs(high - result.effect))


def _two_errors(result: TestResult, arms: Sequence[Arm], *, paired: bool) -> float:
    """Two standard errors of a difference of two arms, in their units; 0 where it has none."""
    if len(arms) != 2:
        return 0.0
    try:
        return 2 * mean_difference(*arms, paired=paired, test=result.test).se
    except ClaimError:
        return 0.0


def _step(arm: Arm) -> float:
    """The smallest step that a mean of this arm can be said to show."""
    if isinstance(arm, Sample):
        return last_decimal(arm.values) / 10
    return last_decimal([arm.mean, arm.sd or 0.0])
