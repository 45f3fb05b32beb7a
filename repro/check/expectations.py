"""One expectation on one set of samples: the test it names, and the rule that judges it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import assert_never

from repro.errors import ClaimError
from repro.specs.claim import Claim
from repro.specs.expectation import (
    Bound,
    Difference,
    Equivalence,
    Expectation,
    NonSuperiority,
    Ratio,
    Separation,
)
from repro.stats.bound import bound
from repro.stats.comparison import student, welch
from repro.stats.equivalence import non_superiority, tost
from repro.stats.ratio import ratio_of_geometric_means
from repro.stats.result import TestResult
from repro.stats.sample import Sample
from repro.stats.separation import separation
from repro.verdict import (
    Conclusion,
    Finding,
    conclude_bound,
    conclude_conjunction,
    conclude_difference,
    conclude_equivalence,
    conclude_non_superiority,
    conclude_ratio,
    conclude_separation,
)

Read = Callable[[str, str], Sample]
"""(arm, name of a measurement) -> sample."""


def run_test(one: Expectation, claim: Claim, read: Read) -> TestResult:
    """The test that the expectation declares; raises ClaimError where it would mean nothing."""
    arms = [read(arm, one.measurement) for arm in one.of]
    alpha = claim.alpha
    match one:
        case Difference():
            test = student if one.test == "student" else welch
            return test(arms[0], arms[1], alpha=alpha)
        case Equivalence():
            margin = one.margin.abs
            return tost(arms[0], arms[1], low=-margin, high=margin, alpha=alpha)
        case NonSuperiority():
            better = claim.measurements[one.measurement].better
            return non_superiority(
                arms[0], arms[1], margin=one.margin.abs, better=better, alpha=alpha
            )
        case Ratio():
            return ratio_of_geometric_means(
                arms[0], arms[1], at_least=one.at_least.value, alpha=alpha
            )
        case Separation():
            factor = one.at_least.value
            return separation(arms[0], arms[1], direction="higher", factor=factor, alpha=alpha)
        case Bound():
            low, high = bound_limits(one, claim)
            return bound(arms[0], at_least=low, at_most=high, alpha=alpha)
        case _:
            assert_never(one)


def bound_limits(one: Bound, claim: Claim) -> tuple[float | None, float | None]:
    """The limits of a bound as numbers; ``structural`` is d + 2 of the arm's own model."""
    structural = claim.arms[one.of[0]].configuration.model.rank_bound()

    def number(value: float | str) -> float:
        if not isinstance(value, str):
            return value
        if structural is None:
            message = f"arm '{one.of[0]}' has no structural bound on its rank"
            raise ClaimError(message)
        return float(structural)

    low = None if one.at_least is None else number(one.at_least.value)
    high = None if one.at_most is None else number(one.at_most.value)
    return low, high


def conclude(one: Expectation, result: TestResult) -> Finding:
    """The finding by the exact rule of the expectation's kind."""
    match one:
        case Difference():
            smallest = None if one.smallest_effect is None else one.smallest_effect.abs
            return conclude_difference(result, direction=one.direction, smallest_effect=smallest)
        case Equivalence():
            return conclude_equivalence(result)
        case NonSuperiority():
            return conclude_non_superiority(result)
        case Ratio():
            return conclude_ratio(result)
        case Separation():
            return conclude_separation(result)
        case Bound():
            return conclude_bound(result)
        case _:
            assert_never(one)


def published_rule(one: Expectation) -> bool:
    """Whether the expectation only repeats the paper's own rule, which concludes nothing."""
    return isinstance(one, Difference) and one.rule == "as_published"


REFUSED = Finding(Conclusion.INCONCLUSIVE, 1.0, 1.0)
"""What an expectation finds whose test refuses the samples: nothing."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One expectation with its finding; ``result`` is absent where the test ``refused``, and why.

    An expectation that repeats the paper's own rule has a result and finds nothing.
    """

    expectation: Expectation
    result: TestResult | None
    finding: Finding
    refused: str = ""

    @property
    def conclusion(self) -> Conclusion:
        """The conclusion of this expectation alone, at its own level."""
        return self.finding.conclusion


def judge(one: Expectation, claim: Claim, read: Read) -> Judged:
    """Test and judge one expectation."""
    try:
        result = run_test(one, claim, read)
        found = REFUSED if published_rule(one) else conclude(one, result)
    except ClaimError as error:
        return Judged(one, None, REFUSED, str(error))
    return Judged(one, result, found)


def decisive(claim: Claim) -> tuple[Expectation, ...]:
    """The expectations whose conjunction is the claim."""
    return tuple(one for one in claim.expectations if one.role == "decisive")


def conjunction(claim: Claim, judged: Iterable[Judged]) -> Conclusion:
    """The conclusion of the claim: all its decisive expectations together."""
    own = [one.finding for one in judged if one.expectation.role == "decisive"]
    return conclude_conjunction(own, alpha=claim.alpha).conclusion
