"""A row and the variant it is judged by -> its grade. The rules are at ``Grade``."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import stdtrit

from repro.audit.feasible import Span
from repro.audit.grade import Grade
from repro.audit.row import AuditRow
from repro.audit.variants import Variant


@dataclass(frozen=True, slots=True)
class Graded:
    """A grade, and what it takes where it is CONSISTENT-IF."""

    grade: Grade
    condition: str = ""


def judge(row: AuditRow, assumed: Variant, *, known: bool) -> Graded:
    """The grade of a row, worst first; ``known`` says whether its test is."""
    span = row.intervals.get(assumed)
    if span is None or row.comparison.p is None:
        return Graded(Grade.NOT_CHECKABLE)
    if unexplained(row, span, known=known):
        return Graded(Grade.NOT_BY_T_TEST)
    if contradicts(row, span) and not any(_admissible(row, one) for one in row.matches):
        return Graded(Grade.DECISION_INCONSISTENT)
    if decision(span, row.comparison.alpha) is None and assumed.test != "paired":
        return Graded(Grade.DECISION_FRAGILE)
    return _fit(row, assumed)


def _fit(row: AuditRow, assumed: Variant) -> Graded:
    """The grade of a row whose decision stands."""
    if not row.matches:
        return Graded(Grade.INCONSISTENT)
    if assumed not in row.matches:
        return Graded(Grade.CONSISTENT_IF, _condition(row, assumed))
    if assumed.test == "paired":
        return Graded(Grade.CONSISTENT_IF, correlation(row, assumed))
    return Graded(Grade.CONSISTENT)


def unexplained(row: AuditRow, span: Span, *, known: bool) -> bool:
    """Whether no t-test gives the printed p, of a test that is not known.

    Nor one that the declared tails allow, where the decision is the other one.
    """
    if known:
        return False
    if not row.matches:
        return True
    return contradicts(row, span) and not any(_admissible(row, one) for one in row.matches)


def decision(span: Span, alpha: float) -> bool | None:
    """Whether every p of an interval is significant, or none; ``None`` if alpha lies inside."""
    if span[1] <= alpha:
        return True
    return False if span[0] > alpha else None


def contradicts(row: AuditRow, span: Span) -> bool:
    """Whether the printed p and the whole interval lie on opposite sides of alpha."""
    decided, printed = decision(span, row.comparison.alpha), row.significant()
    return None not in (decided, printed) and decided != printed


def survives(row: AuditRow, assumed: Variant) -> bool | None:
    """Whether all unrounded numbers give one decision; ``None`` if they do not determine a p."""
    span = row.intervals.get(assumed)
    if span is None or assumed.test == "paired":
        return None
    return decision(span, row.comparison.alpha) is not None


def _admissible(row: AuditRow, variant: Variant) -> bool:
    """Whether a variant keeps to what the table declares."""
    test, tails = row.comparison.test, row.comparison.tails
    return test in (None, variant.test) and tails in (None, variant.tails)


def _condition(row: AuditRow, assumed: Variant) -> str:
    """What the nearest matches differ in from the assumed variant."""
    ways = [one.beyond(assumed, row.n) for one in row.matches]
    fewest = min(len(way) for way in ways)
    return " or ".join(dict.fromkeys(", ".join(way) for way in ways if len(way) == fewest))


def correlation(row: AuditRow, assumed: Variant) -> str:
    """The correlation of paired arms that gives the printed p, from the numbers as printed."""
    a, b, p = row.comparison.a, row.comparison.b, row.comparison.p
    unknown = "the arms are correlated suitably"
    if a.mean is None or b.mean is None or a.sd is None or b.sd is None or a.n is None:
        return unknown
    if p is None or p.relation != "=" or 0 in (p.value, a.sd.value, b.sd.value):
        return unknown
    tail = 1 - p.value if assumed.against else p.value / assumed.tails
    statistic = -float(stdtrit(a.n - 1, tail))
    if statistic <= 0:
        return unknown
    deviation = (a.mean.value - b.mean.value) * math.sqrt(a.n) / statistic
    ratio = a.sd.value / b.sd.value
    r = (ratio + 1 / ratio - deviation / a.sd.value * (deviation / b.sd.value)) / 2
    return f"correlation {max(-1.0, min(1.0, r)):.2f}" if math.isfinite(r) else unknown
