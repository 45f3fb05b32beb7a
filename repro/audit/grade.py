"""The grades of an audit, each defined once; worst first."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Grade(StrEnum):
    """How a printed p-value stands to the numbers that it was printed with.

    The first that applies, in this order. *Assumed* is the declared test, else the one
    variant that fits the whole table, else Welch; its *interval* holds every p that the
    unrounded numbers could have given; a *match* is an overlap of a variant's interval with
    the printed p's own rounding interval. A p is significant when it is at most alpha.

    - DECISION-INCONSISTENT: no admissible variant matches, and the printed p and the whole
      interval of the assumed test lie on opposite sides of alpha. Admissible are all
      variants, or, where the table declares test or tails, those that keep to it. The
      alternative of a one-sided test may have either direction: a p above one half is that
      of a test which the difference went against, and not significant.
    - DECISION-FRAGILE: alpha lies inside the interval of the assumed test, so the unrounded
      numbers may decide either way. (Not for a paired test: there rounding is not what is open.)
    - INCONSISTENT: no variant matches; the decision is the same.
    - NOT-BY-T-TEST: no variant matches (or, where the decision is the other one, none with the
      declared tails), and nothing says which test was used. A rank or permutation
      test, which means and deviations cannot check, or a paired one might give the printed p. Where
      the table declares its test, or its p-values equal, digit by digit, those of one test on the
      printed numbers, the test is known, and such a row has one of the three grades above.
    - CONSISTENT-IF(x): the assumed test does not match, a variant that differs in x does; or
      it is paired and matches only for the correlation x of the arms, which is not printed.
    - CONSISTENT: the assumed test matches.
    - NOT-CHECKABLE: a number that the comparison needs is not printed, or the declared test needs
      the value of every replicate. Never a failure.
    """

    DECISION_INCONSISTENT = "DECISION-INCONSISTENT"
    DECISION_FRAGILE = "DECISION-FRAGILE"
    INCONSISTENT = "INCONSISTENT"
    NOT_BY_T_TEST = "NOT-BY-T-TEST"
    CONSISTENT_IF = "CONSISTENT-IF"
    CONSISTENT = "CONSISTENT"
    NOT_CHECKABLE = "NOT-CHECKABLE"

    @property
    def rank(self) -> int:
        """0 for the worst; NOT-CHECKABLE comes last."""
        return list(Grade).index(self)


LEGEND = {
    Grade.DECISION_INCONSISTENT: (
        "no admissible test reproduces the printed p, and the decision at alpha is the other one"
    ),
    Grade.DECISION_FRAGILE: (
        "alpha lies inside the interval: the unrounded numbers may decide either way"
    ),
    Grade.INCONSISTENT: (
        "no test reproduces the printed p (printed numbers disagree); the decision is the same"
    ),
    Grade.NOT_BY_T_TEST: (
        "no t-test of independent arms reproduces the printed p; a rank, permutation or paired "
        "test might, and nothing says which was used"
    ),
    Grade.CONSISTENT_IF: "reproduced only if x, which is not what is assumed or printed",
    Grade.CONSISTENT: "the assumed test reproduces the printed p (printed numbers agree)",
    Grade.NOT_CHECKABLE: "what the check needs is not printed",
}


def fails(grades: Iterable[Grade], fail_on: Grade | None) -> bool:
    """Whether any grade is as bad as ``fail_on`` or worse; with ``None`` nothing fails."""
    return fail_on is not None and any(grade.rank <= fail_on.rank for grade in grades)
