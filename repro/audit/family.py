"""Families of printed p-values: Holm's and Benjamini and Hochberg's correction over each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repro.audit.inference import Assumed
from repro.audit.row import AuditRow
from repro.stats.multiplicity import benjamini_hochberg, holm


@dataclass(frozen=True, slots=True)
class Adjusted:
    """The p of a row that was corrected, both corrections, and the size of its family.

    All ``None`` where a row has no p. ``p`` is the printed one (of a bound its upper end),
    else the assumed test's from the numbers as printed.
    """

    p: float | None
    holm: float | None
    bh: float | None
    size: int


def adjust(rows: Sequence[AuditRow], assumed: Sequence[Assumed]) -> list[Adjusted]:
    """Every row corrected over its family; rows without a p are in no family."""
    p_values = [_p(row, its) for row, its in zip(rows, assumed, strict=True)]
    adjusted = [Adjusted(p, None, None, 0) for p in p_values]
    for family in {row.comparison.family for row in rows}:
        members = [
            (index, p)
            for index, p in enumerate(p_values)
            if p is not None and rows[index].comparison.family == family
        ]
        family_p = [p for _, p in members]
        both = zip(members, holm(family_p), benjamini_hochberg(family_p), strict=True)
        for (index, p), by_holm, by_bh in both:
            adjusted[index] = Adjusted(p, by_holm, by_bh, len(members))
    return adjusted


def _p(row: AuditRow, assumed: Assumed) -> float | None:
    p = row.comparison.p
    if p is None:
        return row.nominal(assumed.variant)
    return min(p.high, 1.0) if p.relation != "=" else p.value
