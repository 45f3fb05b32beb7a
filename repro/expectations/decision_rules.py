"""The words of a verdict, and the rules from one test result to one finding (statistics.md 2.1).

Orientation: positive is as claimed. ``alpha`` is two-sided for a difference and an association
and one-sided for everything else, whose interval therefore has level ``1 - 2 alpha``.

An interval that touches the edge of the claimed region from inside confirms nothing; from
outside it contradicts, unless the claim is *at least* and so includes its edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from repro.errors import ClaimError
from repro.stats.records import TestResult, beyond, expect, known


class Validity(StrEnum):
    """Whether the evidence can be used; from best to worst."""

    VALID = "VALID"
    INCOMPLETE = "INCOMPLETE"
    STALE = "STALE"
    NOT_COMPARABLE = "NOT-COMPARABLE"
    INVALID = "INVALID"


class Conclusion(StrEnum):
    """What our evidence says.

    TRIVIAL: real, but less than was declared to matter. NOT-TESTED: the declared test refused the
    evidence, so nothing was asked of it; INCONCLUSIVE, that it was asked and gave no answer.
    """

    CONFIRMED = "CONFIRMED"
    CONTRADICTED = "CONTRADICTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    TRIVIAL = "TRIVIAL"
    NOT_TESTED = "NOT-TESTED"


class Agreement(StrEnum):
    """Whether our number is what the paper's number predicts."""

    COMPATIBLE = "COMPATIBLE"
    LARGER = "LARGER"
    SMALLER = "SMALLER"
    OPPOSITE = "OPPOSITE"
    NOT_CHECKABLE = "NOT-CHECKABLE"


class FlagKind(StrEnum):
    """What a conclusion may hang on, or what a reader should know as well."""

    ROUNDING = "rounding"
    MULTIPLICITY = "multiplicity"
    ONE_SEED_LEFT_OUT = "one seed left out"
    TOLERANCE = "tolerance"
    TEST_CHOICE = "choice of test"
    CANARY = "canary"
    DIVERGED = "diverged"
    CEILING = "ceiling"
    ORDER = "order of a table"
    DRIFT = "drift"
    UNITS = "units that differ"
    COPIED = "one arm copied from another"
    SHARED = "values shared between arms"
    REPEATED = "repeated values"
    GAPS = "gaps in the seeds"
    OUTLIER = "a seed far from its arm"
    CORRELATED = "arms correlate by seed"
    UNEQUAL = "unequal numbers of seeds"
    MORE_SEEDS = "more seeds than planned"
    FORCED = "forced design"
    EDITED = "declared after results were visible"
    LEVEL = "test loses its level here"


@dataclass(frozen=True, slots=True)
class Flag:
    """One reason for caution: its kind, and a sentence for the reader."""

    kind: FlagKind
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The conclusion of one expectation, or of several joined.

    ``p`` is the evidence for it, ``p_opposite`` that for its contrary, each comparable with
    the declared alpha; 0 or 1 where nothing is left to chance.
    """

    conclusion: Conclusion
    p: float
    p_opposite: float


NOT_TESTED = Finding(Conclusion.NOT_TESTED, 1.0, 1.0)
"""What an expectation finds whose test refuses the evidence: nothing, either way."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said about a claim. Only VALID evidence carries a conclusion, and always does.

    ``ValueError`` for a conclusion or agreement without validity, validity without a
    conclusion, and invalidity without a reason.
    """

    validity: Validity
    reason: str
    conclusion: Conclusion | None = None
    agreement: Agreement = Agreement.NOT_CHECKABLE
    flags: tuple[Flag, ...] = ()

    def __post_init__(self) -> None:
        if self.validity is Validity.VALID:
            if self.conclusion is None:
                raise ValueError("valid evidence has a conclusion, be it INCONCLUSIVE")
        elif self.conclusion is not None or self.agreement is not Agreement.NOT_CHECKABLE:
            raise ValueError(f"evidence that is {self.validity} concludes and agrees with nothing")
        elif not self.reason:
            raise ValueError(f"evidence that is {self.validity} needs a reason")


Direction: TypeAlias = Literal["higher", "lower", "different"]

DIFFERENCES = (
    *("student", "welch", "paired", "permutation", "paired_permutation"),
    *("brunner_munzel", "yuen"),
)

WITHOUT_INTERVAL = ("permutation", "paired_permutation", "brunner_munzel")
_TAIL = {"higher": "greater", "lower": "less"}
_SIGN = {"higher": 1, "lower": -1}


def by_sign(result: TestResult, *, sign: int | None, null: float = 0.0) -> Finding:
    """By p alone; two-sided, a p belongs to the side of ``null`` that was seen.

    ``sign`` is 1 where above is claimed, -1 where below, ``None`` where either side is, which
    cannot be contradicted.
    """
    p = known(result.p)
    p_opposite = 1.0 if result.p_opposite is None else result.p_opposite
    if result.p_opposite is None and sign is not None:
        claimed = sign * (result.effect - null)
        p, p_opposite = (p if claimed > 0 else 1.0), (p if claimed < 0 else 1.0)
    return _by_p(p, p_opposite, result.alpha)


def by_p(result: TestResult) -> Finding:
    """By the p of what is claimed, and by that of its contrary."""
    return _by_p(known(result.p), known(result.p_opposite), result.alpha)


def by_interval(result: TestResult, *, edge_is_claimed: bool = False) -> Finding:
    """By where the interval lies: inside the claimed region, from ``low`` to ``high``, or beyond.

    ``edge_is_claimed`` where what is claimed is *at least*.
    """
    interval = known(result.interval)
    low = float("-inf") if result.low is None else result.low
    high = float("inf") if result.high is None else result.high
    at_edge = edge_is_claimed and (interval.low == high or interval.high == low)
    conclusion = decide(
        confirmed=low < interval.low and interval.high < high,
        contradicted=(interval.low >= high or interval.high <= low) and not at_edge,
    )
    return Finding(conclusion, known(result.p), known(result.p_opposite))


def certain(*, holds: bool) -> Finding:
    """Of what leaves nothing to chance: it holds, or it does not."""
    return _by_p(float(not holds), float(holds), 0.0)


def conclude_difference(
    result: TestResult, *, direction: Direction, smallest_effect: float | None = None
) -> Finding:
    """Concludes from any test of ``comparison``: A is higher or lower than B, or different.

    With ``smallest_effect`` (above 0, units of the measurement) the interval decides, and a
    real difference below it is TRIVIAL. *Different* cannot be contradicted. ``ClaimError`` for
    another test, a one-sided alternative that is not the direction, and a smallest effect of
    *different* or of a test that has no interval in its units.
    """
    _need(result, *DIFFERENCES)
    tail = result.alternative
    if tail in ("greater", "less") and tail != _TAIL.get(direction):
        raise ClaimError(f"a test with alternative {tail} says nothing about {direction}")
    if smallest_effect is not None:
        return _against_smallest_effect(result, direction, smallest_effect)
    null = 0.5 if result.test == "brunner_munzel" else 0.0
    return by_sign(result, sign=_SIGN.get(direction), null=null)


def conclude_ratio(result: TestResult) -> Finding:
    """Concludes from ``ratio_of_geometric_means``, whose interval lies above the least ratio.

    Two constant arms are compared exactly: a ratio equal to the least one is CONFIRMED.
    """
    _need(result, "ratio")
    if result.exact:
        return certain(holds=not beyond(known(result.low), result.effect))
    return by_interval(result, edge_is_claimed=True)


def conclude_sequential(result: TestResult) -> Finding:
    """Concludes from a sequential test by its first crossing, which stands whatever came later."""
    from repro.stats.stopping import SequentialResult

    decided = expect(result, SequentialResult).decided or "inconclusive"
    return Finding(Conclusion(decided.upper()), known(result.p), known(result.p_opposite))


def decide(*, confirmed: bool, contradicted: bool) -> Conclusion:
    """CONFIRMED before CONTRADICTED before INCONCLUSIVE."""
    if confirmed:
        return Conclusion.CONFIRMED
    return Conclusion.CONTRADICTED if contradicted else Conclusion.INCONCLUSIVE


def _against_smallest_effect(result: TestResult, direction: Direction, smallest: float) -> Finding:
    """The rule of a difference with a smallest effect of interest."""
    from repro.stats.contrast import Contrast

    if direction not in _SIGN or not smallest > 0:
        raise ClaimError("a smallest effect is above 0 and belongs to a claim of higher or lower")
    if result.test in WITHOUT_INTERVAL:
        raise ClaimError(
            f"a smallest effect needs an interval in the units of the measurement, and "
            f"{result.test} has none; use welch, student, paired or yuen"
        )
    sign, interval = _SIGN[direction], known(result.interval)
    low, high = sorted((sign * interval.low, sign * interval.high))
    conclusion = decide(confirmed=low > smallest, contradicted=low <= 0 and high < smallest)
    if low > 0 and high < smallest:
        conclusion = Conclusion.TRIVIAL
    oriented = Contrast(sign * result.effect, known(result.se), known(result.df))
    tails = 1 if result.p_opposite is not None else 2
    beyond_it, short_of_it = oriented.p_greater(smallest), oriented.p_less(smallest)
    return Finding(conclusion, min(1.0, tails * beyond_it), min(1.0, tails * short_of_it))


def _by_p(p: float, p_opposite: float, alpha: float) -> Finding:
    return Finding(decide(confirmed=p <= alpha, contradicted=p_opposite <= alpha), p, p_opposite)


def _need(result: TestResult, *tests: str) -> None:
    if result.test not in tests:
        raise ClaimError(f"a result of {result.test} cannot be judged by the rule of {tests[0]}")
