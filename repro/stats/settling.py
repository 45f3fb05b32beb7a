"""How many seeds would settle an open result, were what was found the truth?"""

from __future__ import annotations

import math

from repro.errors import ClaimError
from repro.stats.power import (
    Design,
    PairedDesign,
    PowerDesign,
    power_above,
    power_equivalence,
    seeds_needed,
)
from repro.stats.records import Arm, Sample, TestResult, known, summarise

DIFFERENCES = ("student", "welch", "permutation", "paired")
MEANS = (*DIFFERENCES, "tost", "non_superiority", "non_inferiority", "ratio")


def seeds_to_settle(
    result: TestResult, a: Arm, b: Arm, *, border: float = 0.0, target: float = 0.80
) -> int | None:
    """Replicates in each arm (or pairs) that would decide with chance ``target``.

    True effect and standard deviations are taken to be the observed ones, so this is an order of
    magnitude. Either decision counts: confirmed or contradicted. ``border`` is the effect that a
    difference must exceed (0, or its smallest effect of interest, signed as A minus B). ``None``:
    not within 1000, for the effect sits at the border. A permutation test is planned as Welch's.
    ``ClaimError`` for a test that does not compare means.
    """
    if result.test.endswith("_relative") or result.test == "ratio_of_means":
        raise ClaimError("no number of seeds is computed for a margin relative to a mean")
    if result.test not in MEANS:
        raise ClaimError(f"{result.test} compares no means, so no number of seeds is computed")
    if result.test == "ratio" and result.exact:
        return None
    effect, low, high = _on_test_scale(result, border)
    design = _observed_design(result, a, b)

    def power(sized: Design) -> float:
        if low is not None and high is not None and low < effect < high:
            return power_equivalence(sized, effect, low=low, high=high)
        distance = min(abs(effect - edge) for edge in (low, high) if edge is not None)
        return power_above(sized, distance, 0.0)

    return seeds_needed(design, power, target=target)


def _on_test_scale(result: TestResult, border: float) -> tuple[float, float | None, float | None]:
    """Effect and borders on the scale on which the test is done."""
    if result.test in DIFFERENCES:
        return result.effect, border, None
    if result.test == "ratio" and result.low is not None:
        return math.log(result.effect), math.log(result.low), None
    return result.effect, result.low, result.high


def _observed_design(result: TestResult, a: Arm, b: Arm) -> Design:
    """The scatter that was found, at the level of each of the one-sided tests."""
    alpha = result.alpha / 2 if result.alternative == "two-sided" else result.alpha
    if result.paired:
        return PairedDesign(known(result.se) * math.sqrt(result.n[0]), result.n[0], alpha)
    if result.test == "ratio":
        a, b = (arm.log() if isinstance(arm, Sample) else arm for arm in (a, b))
    first, second = summarise(a), summarise(b)
    return PowerDesign(first.spread, second.spread, first.n, second.n, alpha)
