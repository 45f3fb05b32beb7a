"""The test to assume for a printed comparison, its grade, and the correction over families.

And numbers that were not computed as stated (statistics.md 1.5):

- GRIM (Brown and Heathers 2017): an accuracy over N items is k / N with a whole k, and the mean
  over n seeds of s samples an item is K / (n s N). A printed mean that no K rounds to was not
  computed from such values. Macro-averages, partial credit and samples that nothing declares
  give others, so only a declared s makes it a contradiction.
- A test on the runs themselves hits the digits of the test on their rounded summaries only by
  chance. Where it happens too often, the p-values were computed from what is printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from scipy.special import stdtrit

from repro.audit.comparison import AuditRow, Grade, PrintedArm, PrintedComparison, rows_of
from repro.audit.p_range import Span, Test, Variant
from repro.evidence.published import PrintedNumber
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


READINGS: Mapping[str, Callable[[int], float]] = {
    "standard errors": math.sqrt,
    "half the length of 95 % intervals": lambda n: math.sqrt(n) / float(stdtrit(n - 1, 0.975)),
}
"""What may be printed instead of a standard deviation, and the factor that leads to it."""


def as_read(rows: list[AuditRow], other_n: Sequence[int]) -> list[AuditRow]:
    """The rows of a table, by the one reading of its deviations that fits all that is printed.

    As standard deviations, unless LEAST printed p-values fit no variant of them, and all fit
    one variant of another reading, more closely than by chance.
    """
    tested = [row for row in rows if row.intervals and row.comparison.p is not None]
    if sum(not row.matches for row in tested) < LEAST:
        return rows
    found = []
    for reading, factor in READINGS.items():
        again = rows_of([_read(row.comparison, factor) for row in rows], other_n)
        these = [row for row in again if row.intervals and row.comparison.p is not None]
        fitting = _fitting(these)
        covered = [_covered(row, variant) for row in these for variant in fitting[:1]]
        if fitting and math.prod(covered) <= COINCIDENCE:
            found.append([replace(row, reading=reading) for row in again])
    return found[0] if len(found) == 1 else rows


def _read(comparison: PrintedComparison, factor: Callable[[int], float]) -> PrintedComparison:
    """The comparison with its printed deviations times a factor of their number of seeds."""

    def read(arm: PrintedArm) -> PrintedArm:
        if arm.sd is None or arm.n is None or arm.n < 2:
            return arm
        by = factor(arm.n)
        return replace(arm, sd=replace(arm.sd, value=arm.sd.value * by, half=arm.sd.half * by))

    return replace(comparison, a=read(comparison.a), b=read(comparison.b))


def _covered(row: AuditRow, variant: Variant) -> float:
    """What share of the p-values up to its largest a variant allows: its chance to fit one."""
    p, span = row.comparison.p, row.intervals[_turned(row, variant)]
    if p is None or p.relation != "=":
        return 1.0
    return min(1.0, (span[1] - span[0] + 2 * p.half) / max(span[1], p.high))


def _fitting(rows: Sequence[AuditRow]) -> list[Variant]:
    """The variants that give every printed p of the rows, with the tails that each declares."""
    tried = dict.fromkeys(replace(match, against=False) for row in rows for match in row.matches)
    return [
        variant
        for variant in tried
        if all(
            _turned(row, variant) in row.matches and row.comparison.test in (None, variant.test)
            for row in rows
        )
    ]


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
    fitting = _fitting(telling)
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

    Where a printed mean is no share of its answers it is INCONSISTENT, at least, if ``samples``
    says of how many a score is the average or no average lies there, and else NOT-BY-COUNTS.
    """
    grade, condition = _judged(row, assumed.variant, known=assumed.known)
    impossible = [grain for grain in grains(row.comparison) if not grain.possible]
    declared = row.comparison.samples is not None
    certain = any(declared or grain.beyond for grain in impossible)
    worst = Grade.INCONSISTENT if certain else Grade.NOT_BY_COUNTS
    if impossible and grade.rank > worst.rank:
        return worst, ""
    if row.reading and grade in (Grade.CONSISTENT, Grade.CONSISTENT_IF):
        read = f"the printed deviations are {row.reading}"
        return Grade.CONSISTENT_IF, f"{read}, {condition}" if condition else read
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
    open_to_both = decision(span, row.comparison.alpha) is None and assumed.test != "paired"
    if open_to_both and row.matches:
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
    else the assumed test's from the numbers as printed. ``holm_range`` is over all rounding.
    """

    p: float | None
    holm: float | None = None
    bh: float | None = None
    size: int = 0
    holm_range: Span | None = None


def adjust(rows: Sequence[AuditRow], assumed: Sequence[Assumed]) -> list[Adjusted]:
    """Every row corrected over its family; rows without a p are in no family."""
    adjusted = [Adjusted(_p(row, kept.variant)) for row, kept in zip(rows, assumed, strict=True)]
    families: dict[str | None, dict[int, float]] = {}
    for index, (row, alone) in enumerate(zip(rows, adjusted, strict=True)):
        if alone.p is not None:
            families.setdefault(row.comparison.family, {})[index] = alone.p
    for family in families.values():
        p_values = list(family.values())
        spans = [_p_range(rows[index], assumed[index].variant, p) for index, p in family.items()]
        lows, highs = (holm([span[end] for span in spans]) for end in (0, 1))
        ranges = zip(lows, highs, strict=True)
        by_holm, by_bh = holm(p_values), benjamini_hochberg(p_values)
        for (index, p), one, other, span in zip(
            family.items(), by_holm, by_bh, ranges, strict=True
        ):
            adjusted[index] = Adjusted(p, one, other, len(family), span)
    return adjusted


def _p(row: AuditRow, assumed: Variant) -> float | None:
    p = row.comparison.p
    if p is None:
        return row.nominal(assumed)
    return min(p.high, 1.0) if p.relation != "=" else p.value


def _p_range(row: AuditRow, assumed: Variant, p: float) -> Span:
    """What the p that is corrected may be by rounding."""
    printed = row.comparison.p
    if printed is None:
        return row.intervals.get(assumed, (p, p))
    return (max(printed.low, 0.0), min(printed.high, 1.0)) if printed.relation == "=" else (p, p)


SLACK = 1e-9
"""Relative slack of the ends of a rounding interval, for round-off in this computation."""


@dataclass(frozen=True, slots=True)
class Grain:
    """What the number of items says of a printed mean.

    ``possible`` is whether a whole number of right answers rounds to it, ``telling`` whether some
    printed means would not be. ``nearest`` are the possible means on either side, and ``beyond``
    is whether no average of any kind lies there: below 0, or above 1 (100 %).
    """

    arm: str
    mean: str
    answers: int
    possible: bool
    telling: bool
    nearest: tuple[float, float]
    beyond: bool


def grains(comparison: PrintedComparison) -> tuple[Grain, ...]:
    """The check of every arm whose mean and size are printed; none without a number of items.

    Means above 1 are percentages, and so are all of a comparison that has one.
    """
    if comparison.items is None:
        return ()
    means = [arm.mean.value for arm in comparison.arms if arm.mean is not None]
    scale = 100.0 if any(mean > 1 for mean in means) else 1.0
    answers = comparison.items * (comparison.samples or 1)
    return tuple(
        _grain(name, arm.mean, arm.n * answers, scale)
        for name, arm in zip("AB", comparison.arms, strict=True)
        if arm.mean is not None and arm.n is not None
    )


def _grain(arm: str, mean: PrintedNumber, answers: int, scale: float) -> Grain:
    """Whether a multiple of ``scale / answers`` lies where the mean is printed, both ends in."""
    step = scale / answers
    slack = SLACK * max(abs(mean.low), abs(mean.high))
    first = max(0, math.ceil((mean.low - slack) / step))
    below = math.floor(mean.value / step)
    return Grain(
        arm=arm,
        mean=mean.text,
        answers=answers,
        possible=first * step <= mean.high + slack and first <= answers,
        telling=step > mean.high - mean.low,
        nearest=(below * step, (below + 1) * step),
        beyond=mean.low > scale + slack or mean.high < -slack,
    )


LEAST = 3

COINCIDENCE = 1e-3
"""P-values equal those of rounded summaries too often when chance would do so this rarely."""


def chance(p: PrintedNumber | None, interval: Span | None) -> float:
    """How much of its interval a printed p covers: the chance that it falls on one value."""
    if p is None or interval is None:
        return 1.0
    width = interval[1] - interval[0]
    return min(1.0, 2 * p.half / width) if width > 0 else 1.0


def no_coincidence(chances: Sequence[float], equal: int) -> bool:
    """Whether ``equal`` of these p-values hit the digits of one test more often than by chance."""
    if equal < LEAST:
        return False
    largest = sorted(chances, reverse=True)[:equal]
    return math.comb(len(chances), equal) * math.prod(largest) <= COINCIDENCE
