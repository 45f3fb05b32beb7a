"""Many verdicts as one word and one number: the worst validity, the exit status."""

from __future__ import annotations

from collections.abc import Iterable

from repro.verdict.words import Conclusion, Validity, Verdict


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
