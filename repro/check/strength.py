"""How strong a conclusion is: the level at which it was drawn, beside its word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from repro.check.expectations import Judged, all_must_hold
from repro.report.judgement import Strength
from repro.specs.claim import Claim
from repro.stats.result import TestResult
from repro.stats.stopping import SequentialResult
from repro.verdict import Conclusion

Looks = Literal["one", "planned", "every"]
LOOKS: dict[str, Looks] = {"group_obf": "planned", "eprocess_t": "every"}


def strength_of(judged: Judged) -> Strength | None:
    """The level of one expectation; None where it was not tested.

    A two-sided test finds a declared direction at half its alpha; a claim that two arms differ
    in either direction has both halves.
    """
    result = judged.result
    if result is None:
        return None
    if result.p is None:
        return Strength(one_sided_level=None)
    either = getattr(judged.expectation, "direction", "") == "different"
    halved = _two_sided(result) and not either
    return Strength(
        one_sided_level=result.alpha / 2 if halved else result.alpha,
        tails=2 if either else 1,
        looks=_looks(result),
    )


def strength_of_claim(
    claim: Claim, conclusion: Conclusion | None, decisive: Sequence[Judged]
) -> Strength | None:
    """The level of a claim: that of its weakest part, in its family that of the family.

    It bounds the chance of a false conclusion for every tree: a conjunction is confirmed at the
    level of each part, and what needs one part alone is corrected over all of them (Holm). A
    conjunction that one seed beyond a bound contradicts leaves nothing to chance.
    """
    if conclusion in (None, Conclusion.NOT_TESTED):
        return None
    if conclusion is Conclusion.CONTRADICTED and all_must_hold(claim):
        certain = [one.result is not None and one.result.p is None for one in _against(decisive)]
        if any(certain):
            return Strength(one_sided_level=None)
    found = [strength for one in decisive if (strength := strength_of(one)) is not None]
    levels = [one for one in found if one.one_sided_level is not None]
    if not levels:
        return Strength(one_sided_level=None) if found else None
    weakest = max(levels, key=lambda one: (one.one_sided_level or 0.0, one.tails))
    if claim.family is None:
        return weakest
    # An e-value of a difference is that of both directions: e-BH has no half to speak of.
    level = claim.alpha if claim.family.method == "e_bh" else weakest.one_sided_level
    return weakest.model_copy(update={"one_sided_level": level, "family": claim.family.method})


def _against(decisive: Sequence[Judged]) -> list[Judged]:
    return [one for one in decisive if one.conclusion is Conclusion.CONTRADICTED]


def _looks(result: TestResult) -> Looks:
    """Over which looks the level holds; the seeds of a table without an order had but one."""
    several = isinstance(result, SequentialResult) and len(result.looks) > 1
    return LOOKS.get(result.test, "one") if several else "one"


def _two_sided(result: TestResult) -> bool:
    if isinstance(result, SequentialResult):
        return result.kind == "difference"
    return result.alternative == "two-sided"
