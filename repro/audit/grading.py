"""The test to assume for a printed comparison, its grade, and the correction over families."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scipy.special import stdtrit

from repro.audit.comparison import AuditRow, Grade
from repro.audit.grim import chance, grains, no_coincidence
from repro.audit.p_range import Span, Test, Variant
from repro.stats.multiplicity import benjamini_hochberg, holm

OF_MEANS: Mapping[str, Test] = {"student": "student", "welch": "welch", "paired": "paired"}


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
    fits. Where none or several do, or an unusual one (one-sided, ddof 0, another n) fits a single
    p, as by chance, they are judged by Welch. The p of each row decides a one-sided alternative.
    """
    open_rows = [row for row in rows if row.comparison.test is None]
    variant, why = _joint(open_rows)
    joint = Assumed(variant, why, known=_shown_by_digits(open_rows, variant))
    assumed = [_declared(row) or _kept(row, joint) for row in rows]
    return [
        replace(each, why=f"{each.why}; the printed p decides its alternative")
        if each.variant.against
        else each
        for each in assumed
    ]


def _declared(row: AuditRow) -> Assumed | None:
    test, tails = row.comparison.test, row.comparison.tails
    if test is None:
        return None
    rest = "" if tails is not None else "; two-sided as nothing else is declared"
    variant = Variant(OF_MEANS.get(test, "welch"), tails or 2)
    return Assumed(_turned(row, variant), f"declared by the table{rest}", known=True)


def _kept(row: AuditRow, joint: Assumed) -> Assumed:
    """The joint variant with the tails that the row declares; Welch where n has no neighbour."""
    tails = row.comparison.tails
    assumed = replace(joint, variant=_turned(row, joint.variant))
    if row.intervals and assumed.variant not in row.intervals:
        welch = _turned(row, Variant("welch", tails or 2))
        return Assumed(welch, "by default: the joint variant has no n here")
    if tails is not None and tails != joint.variant.tails:
        return replace(assumed, why=f"{assumed.why}; the tails are declared")
    return assumed


def _joint(rows: Sequence[AuditRow]) -> tuple[Variant, str]:
    """The variant that fits the rows jointly, or Welch, and the reason."""
    printed = [row for row in rows if row.intervals and row.comparison.p is not None]
    telling = [row for row in printed if row.matches]
    tried = dict.fromkeys(replace(match, against=False) for row in telling for match in row.matches)
    fitting = [
        variant for variant in tried if all(_turned(row, variant) in row.matches for row in telling)
    ]
    fitted = f"{len(telling)} of {len(printed)} printed p-values"
    if len(fitting) == 1:
        variant = fitting[0]
        if len(telling) > 1 or variant == Variant(variant.test):
            return variant, f"the only variant that fits the table jointly ({fitted})"
        why = f"{variant.label((None, None))} rests on one printed p alone"
    elif not printed:
        why = "no printed p to infer a test from"
    elif not telling:
        why = "no variant fits any printed p"
    else:
        many = f"{len(fitting)} variants fit" if fitting else "no single variant fits"
        why = f"{many} the table jointly ({fitted})"
    return Variant("welch"), f"by default: {why}"


def _shown_by_digits(rows: Sequence[AuditRow], variant: Variant) -> bool:
    """Whether the printed p-values are those of the variant on the printed numbers."""
    tried = [row for row in rows if row.equals_rounded(variant) is not None]
    chances = [chance(row.comparison.p, row.intervals.get(variant)) for row in tried]
    return no_coincidence(chances, sum(row.equals_rounded(variant) is True for row in tried))


def _turned(row: AuditRow, variant: Variant) -> Variant:
    """The variant with the tails that the row declares, and the alternative of its p."""
    turned = replace(variant, tails=row.comparison.tails or variant.tails, against=False)
    other = replace(turned, against=True)
    kept = turned.tails == 2 or turned in row.matches or other not in row.intervals
    return turned if kept else other


def judge(row: AuditRow, assumed: Assumed) -> tuple[Grade, str]:
    """The grade of a row, and the x of CONSISTENT-IF(x).

    It is INCONSISTENT, at least, where a printed mean is impossible.
    """
    grade, condition = _judged(row, assumed.variant, known=assumed.known)
    impossible = any(not grain.possible for grain in grains(row.comparison))
    if impossible and grade.rank > Grade.INCONSISTENT.rank:
        return Grade.INCONSISTENT, ""
    return grade, condition


def _judged(row: AuditRow, assumed: Variant, *, known: bool) -> tuple[Grade, str]:
    """The grade by the p alone, worst first; ``known`` says whether its test is."""
    span = row.intervals.get(assumed)
    if span is None or row.comparison.p is None:
        return Grade.NOT_CHECKABLE, ""
    contrary = contradicts(row, span) and not any(_admissible(row, each) for each in row.matches)
    if not known and (contrary or not row.matches):
        return Grade.NOT_BY_T_TEST, ""
    if contrary:
        return Grade.DECISION_INCONSISTENT, ""
    if decision(span, row.comparison.alpha) is None and assumed.test != "paired":
        return Grade.DECISION_FRAGILE, ""
    return _fit(row, assumed)


def _fit(row: AuditRow, assumed: Variant) -> tuple[Grade, str]:
    """The grade of a row whose decision stands."""
    if not row.matches:
        return Grade.INCONSISTENT, ""
    if assumed not in row.matches:
        return Grade.CONSISTENT_IF, _condition(row, assumed)
    if assumed.test == "paired":
        r = correlation(row, assumed)
        suitably = "the arms are correlated suitably"
        return Grade.CONSISTENT_IF, suitably if r is None else f"correlation {r:.2f}"
    return Grade.CONSISTENT, ""


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
    ways = [each.beyond(assumed, row.n) for each in row.matches]
    fewest = min(len(way) for way in ways)
    return " or ".join(dict.fromkeys(", ".join(way) for way in ways if len(way) == fewest))


def correlation(row: AuditRow, assumed: Variant) -> float | None:
    """The correlation of paired arms that gives the printed p, from the numbers as printed."""
    a, b, p = row.comparison.a, row.comparison.b, row.comparison.p
    if a.mean is None or b.mean is None or a.sd is None or b.sd is None or a.n is None:
        return None
    if p is None or p.relation != "=" or 0 in (p.value, a.sd.value, b.sd.value):
        return None
    tail = 1 - p.value if assumed.against else p.value / assumed.tails
    statistic = -float(stdtrit(a.n - 1, tail))
    if statistic <= 0:
        return None
    deviation = (a.mean.value - b.mean.value) * math.sqrt(a.n) / statistic
    ratio = a.sd.value / b.sd.value
    r = (ratio + 1 / ratio - deviation / a.sd.value * (deviation / b.sd.value)) / 2
    return max(-1.0, min(1.0, r)) if math.isfinite(r) else None


@dataclass(frozen=True, slots=True)
class Adjusted:
    """The p of a row that was corrected, both corrections, and the size of its family.

    All ``None`` where a row has no p. ``p`` is the printed one (of a bound its upper end),
    else the assumed test's from the numbers as printed.
    """

    p: float | None
    holm: float | None = None
    bh: float | None = None
    size: int = 0


def adjust(rows: Sequence[AuditRow], assumed: Sequence[Assumed]) -> list[Adjusted]:
    """Every row corrected over its family; rows without a p are in no family."""
    adjusted = [Adjusted(_p(row, kept.variant)) for row, kept in zip(rows, assumed, strict=True)]
    families: dict[str | None, dict[int, float]] = {}
    for index, (row, alone) in enumerate(zip(rows, adjusted, strict=True)):
        if alone.p is not None:
            families.setdefault(row.comparison.family, {})[index] = alone.p
    for family in families.values():
        p_values = list(family.values())
        both = zip(family.items(), holm(p_values), benjamini_hochberg(p_values), strict=True)
        for (index, p), by_holm, by_bh in both:
            adjusted[index] = Adjusted(p, by_holm, by_bh, len(family))
    return adjusted


def _p(row: AuditRow, assumed: Variant) -> float | None:
    p = row.comparison.p
    if p is None:
        return row.nominal(assumed)
    return min(p.high, 1.0) if p.relation != "=" else p.value
