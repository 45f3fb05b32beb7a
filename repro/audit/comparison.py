"""Printed comparisons of two means -> what their numbers say about each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from repro.audit.family import Adjusted, adjust
from repro.audit.findings import findings
from repro.audit.grade import Grade
from repro.audit.grim import grains
from repro.audit.inference import Assumed, assume
from repro.audit.judging import Graded, judge, survives
from repro.audit.printed import PrintedNumber, Rounding
from repro.audit.record import Audited
from repro.audit.row import AuditRow, PrintedArm, PrintedComparison, rows_of
from repro.audit.variants import Variant, needs_values

__all__ = ["Audited", "PrintedArm", "PrintedComparison", "audit"]


def audit(
    comparisons: Sequence[PrintedComparison],
    *,
    rounding: Rounding = "round",
    other_n: Sequence[int] = (),
) -> tuple[Audited, ...]:
    """Audit the comparisons of one table together, in their order.

    The test is inferred over all of them, and p-values are corrected over their families.
    ``other_n`` are sizes that the paper mentions elsewhere: where one differs from those of a
    row, n - 1 and n + 1 are tried too. ClaimError if two comparisons have the same id.
    """
    rows = rows_of([_rounded(one, rounding) for one in comparisons], other_n)
    assumed = assume(rows)
    adjusted = adjust(rows, assumed)
    return tuple(
        _audited(row, its, family, rounding)
        for row, its, family in zip(rows, assumed, adjusted, strict=True)
    )


def _rounded(comparison: PrintedComparison, rounding: Rounding) -> PrintedComparison:
    """The comparison with every number under one rounding model."""

    def under(number: PrintedNumber | None) -> PrintedNumber | None:
        return None if number is None else number.under(rounding)

    a, b = (replace(arm, mean=under(arm.mean), sd=under(arm.sd)) for arm in comparison.arms)
    return replace(comparison, a=a, b=b, p=under(comparison.p))


def _with_means(row: AuditRow, judged: Graded) -> Graded:
    """INCONSISTENT, at least, where a printed mean is none that its number of items allows."""
    impossible = any(not grain.possible for grain in grains(row.comparison))
    if impossible and judged.grade.rank > Grade.INCONSISTENT.rank:
        return Graded(Grade.INCONSISTENT)
    return judged


def _audited(row: AuditRow, assumed: Assumed, family: Adjusted, rounding: Rounding) -> Audited:
    comparison, variant = row.comparison, assumed.variant
    judged = _with_means(row, judge(row, variant, known=assumed.known))
    by_t = not needs_values(comparison.test)
    return Audited(
        id=comparison.id,
        grade=judged.grade,
        p_printed=None if comparison.p is None else comparison.p.text,
        p_interval=row.intervals.get(variant),
        p_student=row.nominal(Variant("student")),
        p_welch=row.nominal(Variant("welch")),
        matches=tuple(one.label(row.n) for one in row.matches),
        decision_survives_rounding=survives(row, variant),
        holm=family.holm,
        bh=family.bh,
        smallest_confirmable_margin=row.margin(),
        assumed=variant.label(row.n) if by_t else None,
        assumed_why=assumed.why,
        alpha=comparison.alpha,
        family=comparison.family,
        rounding=rounding,
        equals_rounded=row.equals_rounded(variant) if by_t else None,
        condition=judged.condition,
        findings=findings(row, variant, judged, family),
    )
