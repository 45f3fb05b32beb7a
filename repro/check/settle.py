"""What would settle an expectation that is open: so many seeds per arm, or nothing, and why."""

from __future__ import annotations

from dataclasses import dataclass

from repro.check.expectations import Judged
from repro.check.kinds.base import margin_words
from repro.check.kinds.sequential import SEQUENTIAL
from repro.errors import ClaimError
from repro.evidence import Evidence
from repro.report import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import Difference
from repro.stats.planning import seeds_to_settle
from repro.stats.result import TestResult
from repro.verdict import Conclusion

AGAINST = ", against the claim"


@dataclass(frozen=True, slots=True)
class Settling:
    """What would settle it, as a sentence; ``seeds`` per arm, where a number is computed."""

    text: str
    seeds: int | None = None


def settling(judged: Judged, claim: Claim, evidence: Evidence) -> Settling | None:
    """What would settle an expectation; None where it is decided, or its test was refused."""
    one, result = judged.expectation, judged.result
    if judged.conclusion is not Conclusion.INCONCLUSIVE or result is None:
        return None
    if result.test in SEQUENTIAL:
        return Settling(_at_looks(claim, evidence))
    if result.test == "separation":
        return Settling("No number of seeds can settle it: pairs that are out of order stay so.")
    printed = [claim.arms[arm].label for arm in one.of if arm in evidence.published]
    if printed:
        names = " and ".join(printed)
        return Settling(
            f"How many seeds would settle it is not computed: printed ones ({names}) cannot grow."
        )
    return _seeds(judged, evidence, result)


def _seeds(judged: Judged, evidence: Evidence, result: TestResult) -> Settling:
    """So many seeds, where the test compares the means of two arms."""
    one = judged.expectation
    try:
        a, b = (evidence.read(arm, one.measurement) for arm in _two(one.of))
        seeds = seeds_to_settle(result, a, b, border=_border(judged))
    except ClaimError:
        return Settling("More seeds may settle it; how many is not computed.")
    if seeds is None:
        return Settling(
            "Even a thousand seeds would hardly settle it: the effect found is too close to the "
            "declared limit."
        )
    many = "pairs of seeds" if result.paired else "seeds per arm"
    many = f"{fmt.count(seeds)} {many}"
    chance = "with a chance of 80 %, were effect and scatter as found"
    return Settling(f"About {many} would settle it{_how(judged)}, {chance}.", seeds)


def _two(arms: tuple[str, ...]) -> tuple[str, str]:
    if len(arms) != 2:
        raise ClaimError(f"{len(arms)} arms are not compared as two means")
    return arms[0], arms[1]


def _at_looks(claim: Claim, evidence: Evidence) -> str:
    """A sequential claim grows look by look, up to its largest number of seeds."""
    most = claim.seeds.max or claim.seeds.plan
    growing = [arm for arm in claim.arms if arm not in evidence.published]
    if min(len(evidence.arms[arm]) for arm in growing) >= most:
        return f"All {fmt.count(most)} planned seeds per arm are there, so it stays open."
    return f"More seeds may settle it, up to the planned {fmt.count(most)} per arm."


def _border(judged: Judged) -> float:
    one = judged.expectation
    if not isinstance(one, Difference) or one.smallest_effect is None:
        return 0.0
    return one.smallest_effect.size * (-1 if one.direction == "lower" else 1)


def _how(judged: Judged) -> str:
    """Which way so many seeds would decide, were the effect the one that was found."""
    one, result = judged.expectation, judged.result
    if result is None:
        return ""
    if not isinstance(one, Difference):
        return "" if _claimed(result) else AGAINST
    if one.direction == "different":
        return ""
    effect = result.effect * (-1 if one.direction == "lower" else 1)
    if effect < 0:
        return AGAINST
    if one.smallest_effect is None or effect >= one.smallest_effect.size:
        return ""
    return f", as not more than {margin_words(one.smallest_effect)}"


def _claimed(result: TestResult) -> bool:
    """Whether the effect lies in the region that the claim asserts."""
    low = float("-inf") if result.low is None else result.low
    high = float("inf") if result.high is None else result.high
    return low <= result.effect <= high
