"""The words of a verdict (VALID, CONFIRMED, ...), its flags, and the records that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
    ONE_TASK_LEFT_OUT = "one task left out"
    TOLERANCE = "tolerance"
    TEST_CHOICE = "choice of test"
    CONTROL = "canary"
    DIVERGED = "diverged"
    CEILING = "ceiling"
    ORDER = "order of a table"
    DRIFT = "drift"
    UNITS = "units that differ"
    COPIED = "one arm copied from another"
    SHARED = "values shared between arms"
    SHARED_SOURCE = "runs that share a source"
    REPEATED = "repeated values"
    CHOSEN = "chosen by itself"
    GAPS = "gaps in the seeds"
    OUTLIER = "a seed far from its arm"
    CORRELATED = "arms correlate by seed"
    TOGETHER = "runs of tasks move together"
    FOLLOWING = "values follow each other"
    UNEQUAL = "unequal numbers of seeds"
    MORE_SEEDS = "more seeds than planned"
    FORCED = "forced design"
    EDITED = "declared after results were visible"
    LEVEL = "test loses its level here"
    DOUBT = "runs in doubt"


@dataclass(frozen=True, slots=True)
class Flag:
    """One reason for caution: its kind, and a sentence for the reader."""

    kind: FlagKind
    message: str


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason why evidence carries no conclusion, and what to do about just that.

    ``options`` are those with which the claim is verified again, once that is done; None where the
    same command would change nothing.
    """

    validity: Validity
    reason: str
    remedy: str
    options: str | None = None


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
