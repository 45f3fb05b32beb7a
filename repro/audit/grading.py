"""Chooses the test to assume for a printed comparison, grades it, and corrects over families."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scipy.special import stdtrit

from repro.audit.comparison import AuditRow, Grade
from repro.audit.grim import chance, no_coincidence
from repro.audit.p_range import Span, Test, Variant
from repro.stats.multiplicity import benjamini_hochberg, holm

OF_MEANS: Mapping[str, Test] = {"student": "student", "welch": "welch", "paired": "paired"}
DECLARED = "declared by the table"
TAILS = "the tails are declared"
ALTERNATIVE = "the printed p decides its alternative"


@dataclass(frozen=True, slots=True)
class Assumed:
    """The variant that a row is judged by, why it is that one, and whether the test is known.

    It is known where the table declares it, or shows it by its digits.
    """

    variant: Variant
    why: str
    known: bool = False


def assume(rows: Sequence[AuditRow]) -> list[Assumed]:
    """The variant of every row.

    Where a table declares a test, it is that, two-sided unless declared, ddof 1, n as stated.
    The others share the one variant that fits every printed p among them that any variant
    fits (a p that nothing fits says nothing about the test). Where that leaves none or
    several, they are judged by Welch; so they are where an unusual variant (one-sided, ddof 0,
    another n) fits a single printed p, which among so many variants one does by chance.
    The direction of a one-sided alternative is not printed: the p of each row decides it.
    """
    open_rows = [row for row in rows if row.comparison.test is None]
    variant, why = _joint(open_rows)
    joint = Assumed(variant, why, known=_shown_by_digits(open_rows, variant))
    assumed = [_declared(row) or _kept(row, joint) for row in rows]
    return [
        replace(one, why=f"{one.why}; {ALTERNATIVE}") if one.variant.against else one
        for one in assumed
    ]


def _declared(row: AuditRow) -> Assumed | None:
    test, tails = row.comparison.test, row.comparison.tails
    if test is None:
        return None
    rest = "" if tails is not None else "; two-sided as nothing else is declared"
    variant = Variant(OF_MEANS.get(test, "welch"), tails or 2)
    return Assumed(_turned(row, variant), DECLARED + rest, known=True)


def _kept(row: AuditRow, joint: Assumed) -> Assumed:
    """The joint variant with the tails that the row declares; Welch where n has no neighbour."""
    tails = row.comparison.tails
    assumed = replace(joint, variant=_turned(row, joint.variant))
    if row.intervals and assumed.variant not in row.intervals:
        welch = _turned(row, Variant("welch", tails or 2))
        return Assumed(welch, "by default: the joint variant has no n here")
    if tails is not None and tails != joint.variant.tails:
        return replace(assumed, why=f"{assumed.why}; {TAILS}")
    return assumed


def _joint(rows: Sequence[AuditRow]) -> tuple[Variant, str]:
    """The variant that fits the rows jointly, or Welch, and the reason."""
    printed = [row for row in rows if row.intervals and row.comparison.p is not None]
    telling = [row for row in printed if row.matches]
    fitting = [
        variant
        for variant in dict.fromkeys(
            replace(one, against=False) for row in telling for one in row.matches
        )
        if all(_turned(row, variant) in row.matches for row in telling)
    ]
    fitted = f"{len(telling)} of {len(printed)} printed p-values"
    if len(fitting) == 1 and (len(telling) > 1 or _ordinary(fitting[0])):
        return fitting[0], f"the only variant that fits the table jointly ({fitted})"
    if not printed:
        return Variant("welch"), "by default: no printed p to infer a test from"
    if not telling:
        return Variant("welch"), "by default: no variant fits any printed p"
    if len(fitting) == 1:
        return Variant(
            "welch"
        ), f"by default: {fitting[0].label((None, None))} rests on one printed p alone"
    many = f"{len(fitting)} variants fit" if fitting else "no single variant fits"
    return Variant("welch"), f"by default: {many} the table jointly ({fitted})"


def _shown_by_digits(rows: Sequence[AuditRow], variant: Variant) -> bool:
    """Whether the printed p-values are those of the variant on the printed numbers."""
    tried = [row for row in rows if row.equals_rounded(variant) is not None]
    chances = [chance(row.comparison.p, row.intervals.get(variant)) for row in tried]
    return no_coincidence(chances, sum(row.equals_rounded(variant) is True for row in tried))


def _ordinary(variant: Variant) -> bool:
    return variant == Variant(variant.test)


def _turned(row: AuditRow, variant: Variant) -> Variant:
    """The variant with the tails that the row declares, and the alternative of its p."""
    turned = replace(variant, tails=row.comparison.tails or variant.tails, against=False)
    if turned.tails == 2:
        return turned
    other = replace(turned, against=True)
    if turned in row.matches or other not in row.intervals:
        return turned
    return other


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
