"""Many verdicts as one word and one number: the worst validity, the exit status."""

from __future__ import annotations

from collections.abc import Iterable

from repro.crash import gravest
from repro.verdict.words import Conclusion, Validity, Verdict


def roll_up(validities: Iterable[Validity]) -> Validity:
    """The worst of several validities; VALID when there are none."""
    return max(validities, key=list(Validity).index, default=Validity.VALID)


def exit_code(
    verdicts: Iterable[tuple[Verdict, Conclusion]],
    *,
    infrastructure: bool = False,
    stopped: Iterable[int] = (),
) -> int:
    """Status for a shell, from each verdict and the conclusion that its claim expects.

    70 where the program itself failed; else 5 where ``infrastructure`` failed; else 4 invalid
    evidence; else 2; else 1 a decided conclusion that is not the expected one; else 3 something
    undecided or not tested, unless that was expected; else 0. ``stopped`` are the statuses of
    the claims that an error stopped, so that they have no verdict.
    """
    codes = (status_of(verdict, expected) for verdict, expected in verdicts)
    return gravest((*codes, *stopped, 5 if infrastructure else 0))


def status_of(verdict: Verdict, expected: Conclusion) -> int:
    """The status of one verdict, given the conclusion that its claim expects."""
    if verdict.validity is Validity.INVALID:
        return 4
    if verdict.conclusion == expected:
        return 0
    undecided = (Conclusion.INCONCLUSIVE, Conclusion.NOT_TESTED, None)
    return 3 if verdict.conclusion in undecided else 1
