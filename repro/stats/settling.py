"""How many seeds would settle an open result, were its effect and scatter the truth?"""

from __future__ import annotations

import math

from repro.errors import ClaimError
from repro.stats.power import (
    PowerDesign,
    power_above,
    power_equivalence,
    power_paired_above,
    power_paired_equivalence,
    seeds_needed,
    smallest_size,
)
from repro.stats.records import Arm, Sample, TestResult, known, summarise

DIFFERENCES = ("student", "welch", "permutation", "paired")
MEANS = (*DIFFERENCES, "tost", "non_superiority", "non_inferiority", "ratio")


def seeds_to_settle(
    result: TestResult, a: Arm, b: Arm, *, border: float = 0.0, target: float = 0.80
) -> int | None:
    """Replicates in each arm that would decide with chance ``target``, were the data the truth.

    Of paired arms these are pairs, and the scatter is that of their differences.

    True effect and standard deviations are taken to be the observed ones. Either decision
    counts: confirmed if the effect lies where the claim says, contradicted if it lies
    beyond. ``border`` is the effect that a difference must exceed (0, or its smallest effect
    of interest, signed as A minus B). ``None``: not within 1000, for the effect sits at the
    border. The observed effect is itself uncertain, so this is an order of magnitude.
    ``ClaimError`` for a test that does not compare means. A permutation test has nearly the
    power of Welch's, whose t it uses, and is planned as that.
    """
    if result.test.endswith("_relative"):
        raise ClaimError("no number of seeds is computed for a relative margin")
    if result.test not in MEANS:
        raise ClaimError(f"{result.test} compares no means, so no number of seeds is computed")
    if result.test == "ratio" and result.exact:
        return None
    effect, low, high = _on_test_scale(result, border)
    if result.paired:
        return _pairs(result, effect, low, high, target)
    design = _design(result, a, b)
    if low is not None and high is not None and low < effect < high:
        return seeds_needed(
            design, lambda one: power_equivalence(one, effect, low=low, high=high), target=target
        )
    distance = min(abs(effect - edge) for edge in (low, high) if edge is not None)
    return seeds_needed(design, lambda one: power_above(one, distance, 0.0), target=target)


def _on_test_scale(result: TestResult, border: float) -> tuple[float, float | None, float | None]:
    """Effect and borders on the scale on which the test is done."""
    if result.test in DIFFERENCES:
        return result.effect, border, None
    if result.test == "ratio" and result.low is not None:
        return math.log(result.effect), math.log(result.low), None
    return result.effect, result.low, result.high


def _pairs(
    result: TestResult, effect: float, low: float | None, high: float | None, target: float
) -> int | None:
    sd, alpha = known(result.se) * math.sqrt(result.n[0]), _one_sided(result)
    if low is not None and high is not None and low < effect < high:
        return smallest_size(
            lambda n: power_paired_equivalence(sd, n, effect, low=low, high=high, alpha=alpha),
            target=target,
        )
    distance = min(abs(effect - edge) for edge in (low, high) if edge is not None)
    return smallest_size(
        lambda n: power_paired_above(sd, n, distance, 0, alpha=alpha), target=target
    )


def _one_sided(result: TestResult) -> float:
    """The level of each of the one-sided tests."""
    two_sided = result.alternative == "two-sided"
    return result.alpha / 2 if two_sided else result.alpha


def _design(result: TestResult, a: Arm, b: Arm) -> PowerDesign:
    if result.test == "ratio":
        a, b = (arm.log() if isinstance(arm, Sample) else arm for arm in (a, b))
    first, second = summarise(a), summarise(b)
    return PowerDesign(first.spread, second.spread, first.n, second.n, _one_sided(result))
