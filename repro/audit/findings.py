"""What was found about a row, and about a table, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scipy.special import stdtr, stdtrit

from repro.audit.comparison import LEGEND, Answer, Audited, AuditRow, Grade, PrintedComparison
from repro.audit.grading import (
    Adjusted,
    chance,
    contradicts,
    correlation,
    decision,
    grains,
    no_coincidence,
)
from repro.audit.p_range import NEEDS_VALUES, Span, Variant
from repro.evidence.published import ROUNDINGS, PrintedNumber

SIGNIFICANT = {True: "significant", False: "not significant", None: "undecided"}
ALONE = "Significant alone"
NAMED = 10


def number(value: float) -> str:
    """A number to three significant digits: `0.0641`, `2.02e-15`."""
    return f"{value:.3g}"


ANSWERS: Mapping[Grade, Answer] = {
    Grade.CONSISTENT: "holds",
    Grade.INCONSISTENT: "does not",
    Grade.DECISION_INCONSISTENT: "does not",
}
"""What a grade says in a word; that of any other is that nothing can be said."""


def answer_of(row: Audited) -> tuple[Answer, str]:
    """The answer to a row and its reason: by its printed p, else by what the numbers carry."""
    if row.reason:
        return row.answer, row.reason
    if row.p_printed is None and (untested := _untested(row)) is not None:
        return untested
    answer = ANSWERS.get(row.grade, "cannot say")
    if row.condition:
        return answer, f"the printed p follows only if: {row.condition}"
    if answer == "holds" and row.p_interval is not None:
        return answer, f"the printed p follows: the numbers give {span_text(row.p_interval)}"
    return answer, row.findings[0].partition("; ")[0] if row.findings else LEGEND[row.grade]


def _untested(row: Audited) -> tuple[Answer, str] | None:
    """What the numbers of a row without a p say, alone and after Holm, over all rounding."""
    alpha, span, after = row.alpha, row.p_interval, row.holm_interval
    p, holm = row.p_welch, row.holm
    if row.grade is not Grade.NOT_CHECKABLE or not (alpha and span and after):
        return None
    if p is None or holm is None:
        return None
    alone, corrected = decision(span, alpha), decision(after, alpha)
    if alone is None:
        return "cannot say", f"rounding allows {p_from(span)}"
    said = f"significant at {100 * alpha:g} %: {YES[alone]} ({p_number(p)}); after Holm: "
    if corrected is None:
        return "cannot say", f"{said}open, for rounding allows {p_from(after)}"
    return ("holds" if corrected else "does not"), f"{said}{YES[corrected]} ({p_number(holm)})"


YES = {True: "yes", False: "no", None: "open"}


def p_text(p: PrintedNumber) -> str:
    """`p = 0.62`, `p <.001`, or `n.s.`."""
    if p.text.startswith("n"):
        return p.text
    return f"p {p.text}" if p.relation != "=" else f"p = {p.text}"


SMALLEST_P = 1e-300


def span_text(span: Span) -> str:
    """What a p may lie between, as in `0.0438 to 0.0905`; it is never 0, so `< 0.0003`."""
    if span[0] < SMALLEST_P:
        return f"< {number(max(span[1], SMALLEST_P))}"
    return " to ".join(dict.fromkeys(map(number, span)))


def p_number(p: float) -> str:
    """A p as a number; one too small for a computer is below the smallest that is not."""
    return number(p) if p >= SMALLEST_P else f"< {number(SMALLEST_P)}"


def p_is(*p: float) -> str:
    """`p = 0.0641`, `p = 0.0438 to 0.0905`, or `p < 0.0003`."""
    low, high = min(p), max(p)
    text = span_text((low, high)) if len(p) > 1 else p_number(low)
    return f"p {text}" if low < SMALLEST_P else f"p = {text}"


def p_from(span: Span) -> str:
    """`p from 0.0438 to 0.0905`, or `p < 0.0003`."""
    return p_is(*span).replace("p =", "p from" if " to " in span_text(span) else "p =")


def by_no_t(row: Audited, printed: PrintedComparison, span: Span) -> Audited:
    """A row whose p no t-test gives, of a table that names one of independent groups: it is wrong.

    Unless t of Welch gives it with other degrees of freedom, the fewest or all.
    """
    (a, b), p = printed.arms, printed.p
    if not (p and a.mean and b.mean and a.sd and b.sd and a.n and b.n):
        return row
    apart, half = abs(a.mean.value - b.mean.value), a.mean.half + b.mean.half
    least = math.hypot(max(a.sd.low, 0) / a.n**0.5, max(b.sd.low, 0) / b.n**0.5)
    most = math.hypot(a.sd.high / a.n**0.5, b.sd.high / b.n**0.5)
    low = float(2 * stdtr(a.n + b.n - 2, -(apart + half) / max(least, 1e-300)))
    high = float(2 * stdtr(min(a.n, b.n) - 1, -max(apart - half, 0) / max(most, 1e-300)))
    one_sided = p.meets(low / 2, high / 2) and printed.tails != 2
    if row.grade is not Grade.NOT_BY_T_TEST or p.meets(low, high) or one_sided:
        return row
    significant = True if p.high <= printed.alpha else False if p.low >= printed.alpha else None
    other = {decision(span, printed.alpha), significant} == {True, False}
    return replace(row, grade=Grade.DECISION_INCONSISTENT if other else Grade.INCONSISTENT)


def is_open(printed: PrintedNumber, span: Span) -> bool:
    """Whether rounding allows p on both sides of a bound that is printed."""
    beyond = {"<": span[1] >= printed.value, ">": span[0] <= printed.value}
    return beyond.get(printed.relation, False)


MOST_P = 1_000


def corrected_answer(
    p: PrintedNumber,
    kind: str,
    spans: tuple[Sequence[Span], Sequence[Span]],
    count: int,
    *,
    sure: bool,
) -> tuple[Answer, str]:
    """The answer to a p that is said to be corrected over ``count`` p.

    ``spans`` are what each t-test gives before and after it; ``sure`` is whether it is named. A
    family is seldom printed, so only a p that none of up to MOST_P p gives is sure to be wrong.
    """
    before, after = spans
    fits = [span for span in after if p.meets(*span)]
    if fits and count > 1:
        said = f"{p_text(p)} is after {kind} over the {count} p of the table: {p_from(fits[0])}"
        return ("cannot say" if is_open(p, fits[0]) else "holds"), said
    if any(p.meets(*span) for span in before):
        said = f"{p_text(p)} is before a correction ({p_from(before[0])}), and the words say after"
        return "cannot say", f"{said} {kind}" + ": which p are its family?" * (count < 2)
    lows, highs = zip(*before, strict=True)
    if sure and (p.high < min(lows) or MOST_P * max(highs) < p.low):
        side = f"above what {kind} over {MOST_P:,} p gives" if p.low > max(highs) else ""
        side = side or "below all that the numbers give"
        return "does not", f"{p_text(p)} is {side}: {p_from(before[0])} before any correction"
    said = f"{p_text(p)} is not after {kind} over the {count} p of the table: {p_from(after[0])}"
    return "cannot say", f"{said}; of more p, or by another test, it might be"


def findings(
    row: AuditRow, assumed: Variant, grade: Grade, condition: str, family: Adjusted
) -> tuple[str, ...]:
    """The sentences about one row, most important first."""
    if row.comparison.test in NEEDS_VALUES:
        return (*_needs_values(row), *_printed_at_alpha(row))
    return (
        *_impossible_means(row),
        *_grade_sentence(row, assumed, grade, condition),
        *_went_against(row, assumed),
        *_other_test(row, assumed),
        *_printed_at_alpha(row),
        *_multiplicity(row, family),
        *_no_difference(row, assumed),
    )


def _grade_sentence(row: AuditRow, assumed: Variant, grade: Grade, condition: str) -> Iterator[str]:
    span = row.intervals.get(assumed)
    if span is None:
        if 1 in row.n:
            checked = grains(row.comparison)
            fit = any(grain.telling for grain in checked) and all(each.possible for each in checked)
            said = "The means fit whole numbers of right answers, but one" if fit else "One"
            yield f"{said} run in an arm: no p can be computed with fewer than two in each."
        else:
            yield f"Not printed: {', '.join(row.lacks)}; without them no p can be computed."
        return
    alpha, name = row.comparison.alpha, assumed.label(row.n)
    if row.comparison.p is None:
        yield f"No p is printed; {name} gives {span_text(span)}."
    elif grade is Grade.NOT_BY_T_TEST:
        yield _by_another_test(row, assumed, span)
    elif assumed in row.matches:
        if row.reading:
            yield (
                "Read as standard deviations, what is printed with the means does not give the "
                f"p-values of this table; read as {row.reading}, {name} gives {span_text(span)}."
            )
        elif grade is Grade.CONSISTENT_IF:
            yield (
                f"The p of a paired test needs the correlation of the arms, which is not printed; "
                f"the printed p takes {condition}."
            )
    elif grade in (Grade.INCONSISTENT, Grade.DECISION_INCONSISTENT):
        yield _does_not_follow(row, assumed, span)
    else:
        fitting = f"reproduced by {_several(row)}" if row.matches else "no variant reproduces it"
        other = f"; by it the decision at alpha {number(alpha)} is the other one"
        yield (
            f"{name} gives {span_text(span)}, not {row.comparison.p.text}"
            f"{other if contradicts(row, span) else ''}; {fitting}."
        )
    if assumed.test != "paired" and decision(span, alpha) is None:
        yield (
            f"Alpha {number(alpha)} lies between the p-values {span_text(span)} that the "
            "unrounded numbers could give, so what is printed does not decide significance."
        )


def _p_text(row: AuditRow) -> str:
    """`= 0.62`, or the bound that is printed."""
    p = row.comparison.p
    return "" if p is None else p.text if p.relation != "=" else f"= {p.text}"


def _by_another_test(row: AuditRow, assumed: Variant, span: Span) -> str:
    """A printed p that no t-test of independent arms gives, and which tests might."""
    against = ", against what the table declares"
    return (
        f"No t-test of independent arms gives p {_p_text(row)}: "
        f"{_given(row, assumed, span, against)}. Nothing says which test was used: a rank or "
        f"permutation test might give it, which takes the value of every seed to check; "
        f"{_by_pairs(row)}."
    )


def _given(row: AuditRow, assumed: Variant, span: Span, against: str = "") -> str:
    """What the assumed test gives, what gives the printed p, and what it would take."""
    tried = f"none of the {len(row.intervals)} variants tried gives it"
    if row.matches:
        tried = f"only {_several(row)} would give it{against}"
    given = f"{assumed.label(row.n)} gives {span_text(span)} over all rounding, and {tried}"
    return given + _would_take(row, assumed)


def _by_pairs(row: AuditRow) -> str:
    """What a paired t-test would need to give the printed p."""
    if not row.pairable():
        return "a paired t-test gives it for no correlation of the arms"
    r = correlation(row, Variant("paired", row.comparison.tails or 2))
    if r is None:
        return "a paired t-test might, were the arms correlated suitably"
    return f"a paired t-test would take a correlation {r:.2f} of the arms"


def _would_take(row: AuditRow, assumed: Variant) -> str:
    """The difference that would give the printed p, and that of the printed means."""
    p, contrast = row.comparison.p, row.contrast(assumed)
    if p is None or p.relation != "=" or contrast is None or not 0 < p.value < 1:
        return ""
    needed = abs(float(stdtrit(contrast.df, p.value / assumed.tails))) * contrast.se
    return (
        f"; it would take a difference of {number(needed)}, and the printed means differ by "
        f"{number(abs(contrast.effect))}"
    )


def _needs_values(row: AuditRow) -> Iterator[str]:
    """That no summary gives the p of the declared test, and the least p that it can have."""
    test = row.comparison.test
    yield (
        f"A {NEEDS_VALUES[test]} needs the value of every seed, which means and deviations do not "
        "tell: its p cannot be checked."
    )
    p, (n_a, n_b) = row.comparison.p, row.n
    if p is None or n_a is None or n_b is None:
        return
    arrangements = 2.0**n_a if test == "wilcoxon" else float(math.comb(n_a + n_b, n_a))
    least = (row.comparison.tails or 2) / arrangements
    if p.high < least:
        yield (
            f"With {n_a} and {n_b} replicates its exact form gives no p below {number(least)}; "
            f"{p.text} takes the normal approximation, which is rough for so few."
        )


def _impossible_means(row: AuditRow) -> Iterator[str]:
    """Means that no whole number of right answers rounds to."""
    checked = grains(row.comparison)
    for grain in checked:
        if not grain.possible:
            low, high = (f"{end:.6g}" for end in grain.nearest)
            known = row.comparison.samples is not None or grain.beyond
            unless = (
                ""
                if known
                else (
                    ", unless a score is itself an average (of samples per item, of subjects, of "
                    "partial credit): say how many `samples` an item has, 1 if it is none"
                )
            )
            yield (
                f"Mean {grain.mean} of arm {grain.arm} cannot be: of {grain.answers:,} answers a "
                f"whole number is right, so the possible means nearest to it are {low} and "
                f"{high}{unless}."
            )
    if checked and not any(grain.telling for grain in checked):
        yield (
            f"With {checked[0].answers:,} answers every printed mean is possible, so its digits "
            "say nothing."
        )


def _went_against(row: AuditRow, assumed: Variant) -> Iterator[str]:
    """Where the printed p is that of a one-sided test which the data went against."""
    alpha = number(row.comparison.alpha)
    then = f"at alpha {alpha} the printed p is {SIGNIFICANT[row.significant()]}."
    if assumed.against and assumed in row.matches:
        yield f"The difference went against the alternative of this one-sided test; {then}"
    elif row.comparison.tails is None and row.matches and all(each.against for each in row.matches):
        yield f"If the test was one-sided, the difference went against its alternative; {then}"


def _several(row: AuditRow) -> str:
    first = "; ".join(match.label(row.n) for match in row.matches[:3])
    return first if len(row.matches) <= 3 else f"{first}; and {len(row.matches) - 3} more"


def _does_not_follow(row: AuditRow, assumed: Variant, span: Span) -> str:
    """A printed p that its own table does not give, and what it would take."""
    given = _given(row, assumed, span)
    said = f"p {_p_text(row)} does not follow from the printed numbers: {given}."
    if contradicts(row, span):
        alpha = row.comparison.alpha
        said += (
            f" At alpha {number(alpha)} the printed p is {SIGNIFICANT[row.significant()]}, "
            f"the numbers are {SIGNIFICANT[decision(span, alpha)]}."
        )
    return said


def _other_test(row: AuditRow, assumed: Variant) -> Iterator[str]:
    """Where Welch instead of Student, or the reverse, changes or loosens the decision.

    Likewise two-sided instead of one-sided, where the table did not declare one-sided.
    """
    if assumed.test == "paired":
        return
    others = [replace(assumed, test="welch" if assumed.test == "student" else "student")]
    if assumed.tails == 1 and row.comparison.tails is None:
        others.append(replace(assumed, tails=2, against=False))
    mine, alpha = row.intervals.get(assumed), row.comparison.alpha
    ours = None if mine is None else decision(mine, alpha)
    for other in others:
        theirs = row.intervals.get(other)
        if ours is None or theirs is None:
            continue
        if (found := decision(theirs, alpha)) != ours:
            loosens = "contains alpha" if found is None else "lies on the other side of alpha"
            yield f"By {other.label(row.n)} the interval {span_text(theirs)} {loosens}."


def _printed_at_alpha(row: AuditRow) -> Iterator[str]:
    p = row.comparison.p
    if p is not None and p.relation == "=" and row.significant() is None:
        yield (
            f"p = {p.text} is printed too coarsely to say on which side of alpha "
            f"{number(row.comparison.alpha)} it lies."
        )


def _multiplicity(row: AuditRow, family: Adjusted) -> Iterator[str]:
    alpha, p = row.comparison.alpha, row.comparison.p
    if family.p is None or family.holm is None or family.bh is None:
        return
    if p is not None and p.relation != "=":
        return  # a bound is not the p that is corrected
    if family.p <= alpha < family.holm:
        after = "and after" if family.bh > alpha else "but still significant after"
        yield (
            f"{ALONE} (p = {p_number(family.p)}), not after Holm over its family of "
            f"{family.size}: {p_number(family.holm)}; {after} Benjamini-Hochberg: "
            f"{p_number(family.bh)}."
        )


def _no_difference(row: AuditRow, assumed: Variant) -> Iterator[str]:
    """A p above alpha is no evidence of no difference: say what the numbers do show.

    Not where the numbers themselves are significant, and not for a paired test.
    """
    contrast, margin, alpha = row.contrast(Variant("welch")), row.margin(), row.comparison.alpha
    nominal = row.nominal(assumed)
    if contrast is None or margin is None or nominal is None or nominal <= alpha:
        return
    interval = contrast.interval(1 - alpha)
    yield (
        f"Not significant is no evidence of no difference: the {100 * (1 - alpha):g} % interval "
        f"of A - B is {interval.low:+.3g} to {interval.high:+.3g}, and equivalence could be "
        f"confirmed for a margin above {number(margin)} only."
    )


def table_findings(rows: Sequence[Audited]) -> Iterator[str]:
    """The sentences about the comparisons of one table together."""
    tested = [(row.assumed or "", row.assumed_why) for row in rows if row.p_interval]
    assumed = dict.fromkeys((label.rpartition(" n=")[0] or label, why) for label, why in tested)
    yield from (f"Assumed test: {variant}, {why}." for variant, why in assumed)
    yield from _from_rounded(rows)
    lost = [row.id for row in rows if any(said.startswith(ALONE) for said in row.findings)]
    if lost:
        more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
        names = ", ".join(lost[:NAMED])
        yield f"{ALONE} but not after Holm over its family: {names}{more}."
    for model in dict.fromkeys(row.rounding for row in rows):
        yield f"Rounding model: {ROUNDINGS[model]}."


def _from_rounded(rows: Sequence[Audited]) -> Iterator[str]:
    """P-values that equal those of the rounded summaries more often than by chance."""
    tried = [row for row in rows if row.equals_rounded is not None]
    equal = [row for row in tried if row.equals_rounded]
    chances = [
        chance(None if row.p_printed is None else PrintedNumber.read(row.p_printed), row.p_interval)
        for row in tried
    ]
    if no_coincidence(chances, len(equal)):
        yield (
            f"{len(equal)} of {len(tried)} printed p-values equal, to all printed digits, the p "
            "of the rounded means and deviations: they were computed from rounded summaries, "
            "not from the runs."
        )
