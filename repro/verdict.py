"""From test results to verdicts, by fixed rules (METHODS.md 2.1).

A verdict has three fields, never one word: *validity* (can the evidence be used?),
*conclusion* (what does it say about the claim?), *agreement* (does it fit the paper's
number?). Orientation: positive is as claimed. ``alpha`` is two-sided for a difference and
one-sided for everything else, whose interval therefore has level ``1 - 2 alpha``.

An interval that touches the edge of the claimed region from inside confirms nothing; from
outside it contradicts, unless the claim is *at least* and so includes its edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from repro.errors import ClaimError
from repro.stats.contrast import Contrast
from repro.stats.multiplicity import holm
from repro.stats.prediction import Prediction
from repro.stats.result import Interval, TestResult, known

Direction: TypeAlias = Literal["higher", "lower", "different"]

_TAIL = {"higher": "greater", "lower": "less"}
_SIGN = {"higher": 1, "lower": -1}


class Validity(StrEnum):
    """Whether the evidence can be used; from best to worst."""

    VALID = "VALID"
    INCOMPLETE = "INCOMPLETE"
    STALE = "STALE"
    NOT_COMPARABLE = "NOT-COMPARABLE"
    INVALID = "INVALID"


class Conclusion(StrEnum):
    """What our evidence says; TRIVIAL: real, but less than was declared to matter."""

    CONFIRMED = "CONFIRMED"
    CONTRADICTED = "CONTRADICTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    TRIVIAL = "TRIVIAL"


class Agreement(StrEnum):
    """Whether our number is what the paper's number predicts."""

    COMPATIBLE = "COMPATIBLE"
    LARGER = "LARGER"
    SMALLER = "SMALLER"
    OPPOSITE = "OPPOSITE"
    NOT_CHECKABLE = "NOT-CHECKABLE"


class FlagKind(StrEnum):
    """What a conclusion may hang on, or what a reader must know beside it."""

    ROUNDING = "rounding"
    MULTIPLICITY = "multiplicity"
    ONE_SEED_LEFT_OUT = "one seed left out"
    TOLERANCE = "tolerance"
    TEST_CHOICE = "choice of test"
    CANARY = "canary"
    DIVERGED = "diverged"
    CEILING = "ceiling"


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

    @property
    def fragile(self) -> bool:
        """Whether a reader should see the conclusion in amber, never in green."""
        return bool(self.flags)


def conclude_difference(
    result: TestResult, *, direction: Direction, smallest_effect: float | None = None
) -> Finding:
    """Concludes from ``student`` or ``welch``: mean A is higher or lower than mean B, or different.

    With ``smallest_effect`` (above 0, units of the measurement) the interval decides, and a
    real difference below it is TRIVIAL. *Different* cannot be contradicted by a t-test:
    that would take an equivalence test. ``ClaimError`` for another test, for a one-sided
    alternative that is not the direction, and for *different* with a smallest effect.
    """
    _need(result, "student", "welch")
    alternative = result.details.get("alternative", "two-sided")
    if alternative != "two-sided" and alternative != _TAIL.get(direction):
        raise ClaimError(f"a test with alternative {alternative} says nothing about {direction}")
    if smallest_effect is not None:
        return _against_smallest_effect(result, direction, smallest_effect)
    p = known(result.p)
    p_opposite = 1.0 if result.p_opposite is None else result.p_opposite
    if alternative == "two-sided" and direction != "different":
        claimed = _SIGN[direction] * result.effect
        p, p_opposite = (p if claimed > 0 else 1.0), (p if claimed < 0 else 1.0)
    return _by_p(p, p_opposite, result.alpha)


def conclude_equivalence(result: TestResult) -> Finding:
    """Concludes from ``tost``: CONFIRMED inside both margins, also where 0 is excluded."""
    _need(result, "tost")
    return _by_interval(result)


def conclude_non_superiority(result: TestResult) -> Finding:
    """Concludes from ``non_superiority`` or ``non_inferiority``: the bound is within the margin."""
    _need(result, "non_superiority", "non_inferiority")
    return _by_interval(result)


def conclude_ratio(result: TestResult) -> Finding:
    """Concludes from ``ratio_of_geometric_means``: the whole interval lies above the least ratio.

    Two constant arms are compared exactly, and a ratio equal to the least one is *at least*
    that, hence CONFIRMED.
    """
    _need(result, "ratio")
    if result.details.get("exact"):
        return _certain(holds=result.effect >= known(result.low))
    return _by_interval(result, edge_is_claimed=True)


def conclude_separation(result: TestResult) -> Finding:
    """Concludes from ``separation``; anything but complete separation decides nothing."""
    _need(result, "separation")
    return _by_p(known(result.p), known(result.p_opposite), result.alpha)


def conclude_bound(result: TestResult) -> Finding:
    """Concludes from ``bound``: one replicate beyond the limit contradicts it."""
    _need(result, "bound")
    return _certain(holds=not result.details["violators"])


def conclude_share(result: TestResult) -> Finding:
    """Concludes from ``share``: the Clopper-Pearson interval lies above (or below) the share."""
    _need(result, "share")
    return _by_interval(result, edge_is_claimed=True)


def conclude_conjunction(leaves: Sequence[Finding], *, alpha: float = 0.05) -> Finding:
    """Joins findings that must all hold: intersection-union, so no correction to confirm.

    CONTRADICTED needs a leaf that is contradicted at its Holm level over all leaves, for
    with three leaves one is contradicted by chance in 7 to 14 % of cases. ``alpha`` is that
    of the family. ``ClaimError`` without leaves.
    """
    if not leaves:
        raise ClaimError("a claim needs at least one decisive expectation")
    words = {leaf.conclusion for leaf in leaves}
    conclusion, p_opposite = Conclusion.INCONCLUSIVE, 1.0
    if Conclusion.CONTRADICTED in words:
        adjusted = zip(holm([leaf.p_opposite for leaf in leaves]), leaves, strict=True)
        p_opposite = min(p for p, leaf in adjusted if leaf.conclusion is Conclusion.CONTRADICTED)
        conclusion = _decide(confirmed=False, contradicted=p_opposite <= alpha)
    elif words == {Conclusion.CONFIRMED}:
        conclusion = Conclusion.CONFIRMED
    elif words <= {Conclusion.CONFIRMED, Conclusion.TRIVIAL}:
        conclusion = Conclusion.TRIVIAL
    return Finding(conclusion, max(leaf.p for leaf in leaves), p_opposite)


def agree(prediction: Prediction | None, result: TestResult) -> Agreement:
    """Compares our effect with what the paper's number predicts; ``None``: NOT-CHECKABLE.

    Inside the prediction interval, ends included: COMPATIBLE. Outside: OPPOSITE if the sign
    differs from the paper's and our own interval excludes *no difference*, else LARGER or
    SMALLER by size signed so that the paper's effect is positive. An exact result is its
    own interval; a paper's effect of exactly none has no opposite and can only be exceeded.
    """
    if prediction is None:
        return Agreement.NOT_CHECKABLE
    if result.effect in prediction.interval:
        return Agreement.COMPATIBLE
    theirs, ours = prediction.effect - prediction.null, result.effect - prediction.null
    own = result.interval or Interval(result.effect, result.effect, 0.95)
    if theirs * ours < 0 and prediction.null not in own:
        return Agreement.OPPOSITE
    return Agreement.LARGER if (ours - theirs) * (theirs or ours) > 0 else Agreement.SMALLER


def roll_up(validities: Iterable[Validity]) -> Validity:
    """The worst of several validities; VALID when there are none."""
    return max(validities, key=list(Validity).index, default=Validity.VALID)


def exit_code(
    verdicts: Iterable[tuple[Verdict, Conclusion]], *, infrastructure: bool = False
) -> int:
    """Status for a shell, from each verdict and the conclusion that its claim expects.

    5 where ``infrastructure`` failed; else 4 invalid evidence; else 1 a decided conclusion
    that is not the expected one; else 3 something undecided, unless that was expected; else 0.
    """
    codes = {_code(verdict, expected) for verdict, expected in verdicts}
    return 5 if infrastructure else next((code for code in (4, 1, 3) if code in codes), 0)


def _code(verdict: Verdict, expected: Conclusion) -> int:
    if verdict.validity is Validity.INVALID:
        return 4
    if verdict.conclusion == expected:
        return 0
    return 3 if verdict.conclusion in (Conclusion.INCONCLUSIVE, None) else 1


def _against_smallest_effect(result: TestResult, direction: Direction, smallest: float) -> Finding:
    """The rule of a difference with a smallest effect of interest."""
    if direction not in _SIGN or not smallest > 0:
        raise ClaimError("a smallest effect is above 0 and belongs to a claim of higher or lower")
    sign, own = _SIGN[direction], known(result.interval)
    low, high = sorted((sign * own.low, sign * own.high))
    oriented = Contrast(sign * result.effect, known(result.se), known(result.df))
    tails = 1 if result.p_opposite is not None else 2
    p = min(1.0, tails * oriented.p_greater(smallest))
    p_opposite = min(1.0, tails * oriented.p_less(smallest))
    conclusion = _decide(confirmed=low > smallest, contradicted=low <= 0 and high < smallest)
    if low > 0 and high < smallest:
        conclusion = Conclusion.TRIVIAL
    return Finding(conclusion, p, p_opposite)


def _by_interval(result: TestResult, *, edge_is_claimed: bool = False) -> Finding:
    """The rule of everything that asserts a region of the effect, from ``low`` to ``high``."""
    own = known(result.interval)
    low = float("-inf") if result.low is None else result.low
    high = float("inf") if result.high is None else result.high
    at_edge = edge_is_claimed and (own.low == high or own.high == low)
    conclusion = _decide(
        confirmed=low < own.low and own.high < high,
        contradicted=(own.low >= high or own.high <= low) and not at_edge,
    )
    return Finding(conclusion, known(result.p), known(result.p_opposite))


def _by_p(p: float, p_opposite: float, alpha: float) -> Finding:
    return Finding(_decide(confirmed=p <= alpha, contradicted=p_opposite <= alpha), p, p_opposite)


def _certain(*, holds: bool) -> Finding:
    return _by_p(float(not holds), float(holds), 0.0)


def _decide(*, confirmed: bool, contradicted: bool) -> Conclusion:
    if confirmed:
        return Conclusion.CONFIRMED
    return Conclusion.CONTRADICTED if contradicted else Conclusion.INCONCLUSIVE


def _need(result: TestResult, *tests: str) -> None:
    if result.test not in tests:
        raise ClaimError(f"a result of {result.test} cannot be judged by the rule of {tests[0]}")
