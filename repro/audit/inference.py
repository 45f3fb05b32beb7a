"""Which test to assume: the declared one, else the one that fits the whole table, else Welch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from repro.audit.fingerprint import chance, no_coincidence
from repro.audit.row import AuditRow
from repro.audit.variants import Test, Variant

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
