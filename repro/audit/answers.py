"""A table as it is printed -> what its numbers say, by every reading of them that is open.

Where nothing says whether ± is a deviation, an error or half an interval, or of how many runs a
mean is, each possibility is computed: an answer stands only where all of them agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice, pairwise
from operator import itemgetter
from typing import TypeAlias

from repro.audit.as_printed import AsPrinted
from repro.audit.best import FEW, best_of, on_the_way
from repro.audit.comparison import (
    Answer,
    Audit,
    Audited,
    Grade,
    PrintedComparison,
    rows_of,
)
from repro.audit.findings import (
    NAMED,
    YES,
    answer_of,
    by_no_t,
    corrected_answer,
    is_open,
    p_from,
    p_is,
    p_text,
)
from repro.audit.grading import decision
from repro.audit.p_range import Span, Test, Variant
from repro.audit.printed_pairs import (
    ALPHA,
    SIZES,
    ComparedPair,
    Decided,
    Scenario,
    cannot,
    of_one_metric,
    pairs_of,
    scenarios_of,
)
from repro.audit.printed_words import Meaning
from repro.errors import Place
from repro.evidence.published import PrintedNumber, Rounding
from repro.files import fatal
from repro.stats.multiplicity import holm

MAX_PAIRS = 1_000
OF_T: tuple[Test, ...] = ("welch", "student")
WELCH, PAIRED, OVER_N = Variant("welch"), Variant("paired"), Variant("welch", ddof=0)


@dataclass(frozen=True, slots=True)
class _Found:
    """What one reading gives for a pair: p and its range, both again after Holm.

    ``fits`` is whether a two-sided t-test gives the printed p, and ``paired`` the least p of a
    paired test, if none is printed and the table names such a test. ``over_n`` is the range after
    Holm if deviations have n in the denominator, and not n - 1.
    """

    span: Span
    p: float
    after: Span
    p_after: float
    fits: bool
    family: int
    paired: float
    over_n: Span


Judge: TypeAlias = Callable[[Sequence[PrintedComparison]], Sequence[Audited]]


def audit_as_printed(
    printed: AsPrinted, source: str, decided: Decided, rounding: Rounding, judge: Judge
) -> Audit:
    """The answers to the comparisons that a table makes, and what was taken for granted.

    Each method against the baseline where one is named, or a p says so; else the best against
    every other, and all pairs where nothing says which way is better. Holm's correction is over
    all pairs of a table whose best is chosen by the data, whichever are shown. ``judge`` audits
    comparisons of which nothing is open.
    """
    pairs = list(islice(pairs_of(printed, source, decided), MAX_PAIRS + 1))
    if not pairs:
        mistake, advice = "nothing to compare", "paste the rows of two methods, or more"
        advice += "; where methods are the rows: --methods rows" * printed.across
        raise fatal(Place(source), mistake, "two methods with results", advice)
    if len(pairs) > MAX_PAIRS:
        expected = f"at most {MAX_PAIRS:,} pairs"
        advice = "leave methods out" if decided.baseline else "name one: --baseline NAME"
        raise fatal(Place(source), f"more than {MAX_PAIRS:,} pairs of methods", expected, advice)
    scenarios = scenarios_of(pairs)
    found = {each: _compute(pairs, each, rounding, over_n=printed.over_n) for each in scenarios}
    plain = [Audited(id=pair.id, grade=Grade.NOT_CHECKABLE, alpha=ALPHA) for pair in pairs]
    if len(scenarios) == 1:
        plain = list(judge([pair.comparison(*scenarios[0], rounding) for pair in pairs]))
        for at, (answer, reason) in _corrected(printed, pairs, scenarios[0], rounding).items():
            plain[at] = replace(plain[at], answer=answer, reason=reason)
    by_pair = [{each: of[at] for each, of in found.items() if at in of} for at in range(len(pairs))]
    rows = [
        (_answered(_or_open(row, pair, scenarios, rounding), pair, each, rounding), pair)
        for row, pair, each in zip(plain, pairs, by_pair, strict=True)
        if pair.shown
    ]
    rows = [(_as_marked(row, pair, printed), pair) for row, pair in rows]
    kept, without = _told_together(rows)
    kept, asked = _asked_once(kept)
    family = sum(pair.complete for pair in pairs)
    said = [*_taken(printed, decided, pairs, family)]
    if len(scenarios) == 1 and decided.baseline is None:
        said += best_of(printed, source, decided, scenarios[0], rounding)
    lead = [*printed.guessed, *_not_checked(printed, pairs)]
    lead += [*on_the_way(printed, decided, pairs), *without, *asked]
    return Audit("", source, kept, tuple(said), tuple(lead))


def _asked_once(rows: tuple[Audited, ...]) -> tuple[tuple[Audited, ...], list[str]]:
    """The rows without the option that decides more than a few of them, and that once."""
    ends = Counter(row.reason.partition(". Decide it by ")[2] for row in rows)
    del ends[""]
    end, count = max(ends.items(), key=itemgetter(1), default=("", 0))
    if count <= FEW:
        return rows, []
    cut = (replace(row, reason=row.reason.removesuffix(f". Decide it by {end}")) for row in rows)
    return tuple(cut), [f"Decide what is open in {count} pairs by {end}."]


def _told_together(
    rows: Sequence[tuple[Audited, ComparedPair]],
) -> tuple[tuple[Audited, ...], list[str]]:
    """The rows, but for more than a few without a spread, and one sentence on all of these."""
    without = [pair for _, pair in rows if pair.missing and pair.p is None]
    if len(without) <= FEW:
        return tuple(row for row, _ in rows), []
    names = list(dict.fromkeys(name for pair in without for name in pair.missing))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    uneven = ", or an asymmetric interval," * any(p.a.uneven or p.b.uneven for p in without)
    why = f"no spread (±){uneven} is printed for {', '.join(names[:NAMED])}{more}"
    kept = tuple(row for row, pair in rows if not pair.missing or pair.p is not None)
    if kept:
        return kept, [f"{len(kept)} of {len(rows)} pairs can be judged; {why}."]
    said = f"none of {len(rows)} pairs"
    return (Audited(id=said, grade=Grade.NOT_CHECKABLE, alpha=ALPHA, reason=why),), []


def _compute(
    pairs: Sequence[ComparedPair], scenario: Scenario, rounding: Rounding, *, over_n: bool
) -> dict[int, _Found]:
    """What each pair that has all its numbers says by one reading, corrected over all of them."""
    comparisons = [pair.comparison(*scenario, rounding) for pair in pairs]
    for at, (pair, each) in enumerate(zip(pairs, comparisons, strict=True)):
        paired = pair.tests.test == "paired" or pair.before_and_after
        if pair.p is None and paired and each.a.n == each.b.n:
            comparisons[at] = replace(each, test="paired")
    rows = rows_of(comparisons, ())
    kept = {
        at: (row, row.intervals[WELCH], nominal)
        for at, row in enumerate(rows)
        if WELCH in row.intervals and (nominal := row.nominal(WELCH)) is not None
    }
    by_n = [
        row.intervals[OVER_N if over_n and pairs[at].of_deviations(scenario[0]) else WELCH]
        for at, (row, *_) in kept.items()
    ]
    spans = _after_holm([span for _, span, _ in kept.values()])
    afters = holm([p for *_, p in kept.values()])
    return {
        at: _Found(
            span,
            p,
            after_span,
            after,
            any(match.tails == 2 for match in row.matches),
            len(kept),
            row.intervals.get(PAIRED, (1.0, 1.0))[0],
            of_n,
        )
        for (at, (row, span, p)), after_span, after, of_n in zip(
            kept.items(), spans, afters, _after_holm(by_n), strict=True
        )
    }


def _corrected(
    printed: AsPrinted, pairs: Sequence[ComparedPair], scenario: Scenario, rounding: Rounding
) -> dict[int, tuple[Answer, str]]:
    """The answers to p that are said to be after Holm or Bonferroni, over all p of the table."""
    kind, test = printed.of_p.corrected, printed.test
    tested = {
        at: pair.p
        for at, pair in enumerate(pairs)
        if pair.p is not None and pair.doubt == printed.of_p.doubt
    }
    rows = rows_of([pairs[at].comparison(*scenario, rounding) for at in tested], ())
    known = all(WELCH in row.intervals for row in rows)
    if not kind or not known or test.test not in (None, *OF_T) or test.tails == 1:
        return {}
    tests = [Variant(each) for each in OF_T if test.test in (None, each)]
    raw = [[row.intervals[each] for row in rows] for each in tests]
    by = partial(_times, by=len(rows)) if kind == "Bonferroni" else _after_holm
    both = zip(zip(*raw, strict=True), zip(*map(by, raw), strict=True), strict=True)
    return {
        at: corrected_answer(p, kind, spans, len(rows), sure=test.test is not None or test.unpaired)
        for (at, p), spans in zip(tested.items(), both, strict=True)
    }


def _times(spans: Sequence[Span], by: int) -> list[Span]:
    return [(min(1.0, low * by), min(1.0, high * by)) for low, high in spans]


def _after_holm(spans: Sequence[Span]) -> list[Span]:
    """The ranges of p after Holm, by their ends."""
    return list(zip(*(holm([span[end] for span in spans]) for end in (0, 1)), strict=True))


def _or_open(
    row: Audited, pair: ComparedPair, scenarios: Sequence[Scenario], rounding: Rounding
) -> Audited:
    """The row; none of a grade where its p fits another row, and nothing says which it is against.

    It compares with the one row without a p only as long as it fits that one.
    """
    if pair.doubt or not pair.others or answer_of(row)[0] == "holds" or len(scenarios) > 1:
        return row
    others = [
        replace(pair, id=f"{at}", b=each).comparison(*scenarios[0], rounding)
        for at, each in enumerate(pair.others)
    ]
    if row.matches or not any(each.matches for each in rows_of(others, ())):
        return row
    said = (
        f"p = {row.p_printed} fits another row than {pair.names[1]}, and nothing says which row "
        "it is against: --baseline NAME says it"
    )
    return Audited(id=row.id, grade=Grade.NOT_CHECKABLE, alpha=ALPHA, reason=said)


def _answered(
    row: Audited, pair: ComparedPair, found: Mapping[Scenario, _Found], rounding: Rounding
) -> Audited:
    printed = None if pair.p is None else pair.p.text
    if row.reason:
        answer, reason = row.answer, row.reason
    elif not found or (pair.doubt and pair.p is not None):
        answer, reason = cannot(pair)
    elif pair.p is not None and len(found) == 1:
        ((scenario, only),) = found.items()
        if pair.tests.unpaired and not row.matches:
            row = by_no_t(row, pair.comparison(*scenario, rounding), only.span)
        answer, reason = answer_of(row)
        if row.condition == "one-sided" and pair.tests.tails == 2:
            answer, reason = "does not", f"{reason}, and the table says two-sided"
        by_pairs, span = "correlat" in row.condition, row.p_interval or only.span
        if by_pairs and pair.p.relation != "=" and not is_open(pair.p, span):
            answer, reason = "holds", f"{p_text(pair.p)} follows for every correlation of the arms"
        if answer == "holds" and not by_pairs and is_open(pair.p, only.span):
            said = f"the numbers can give {p_text(pair.p)}, and need not: rounding allows "
            answer, reason = "cannot say", f"{said}{p_from(only.span)}"
    elif pair.p is not None:
        answer, reason = _answer_to_p(pair, pair.p, found, rounding)
    else:
        answer, reason = _if_over_n(found, *_if_paired(pair, found, *_answer(found)))
    tried = {
        f"p_{of.reading}{f'_n_{n}' if n else ''}": each.p
        for (of, n), each in found.items()
        if len(found) > 1
    }
    return replace(row, p_printed=printed, answer=answer, reason=reason, details=tried)


def _as_marked(row: Audited, pair: ComparedPair, printed: AsPrinted) -> Audited:
    """The row in words that fit a missing star; open where unread letters may contradict it.

    Open, too, where the star may be missing because nobody tested the row.
    """
    if pair.p is not None and pair.starless:
        row = replace(row, reason=row.reason.replace("the printed p", p_text(pair.p)))
        if row.answer != "does not" or printed.starred == "all":
            return row
        said = f"{row.reason}. Either the star is missing, or the row was not tested"
        return Audited(id=row.id, grade=Grade.NOT_CHECKABLE, alpha=ALPHA, reason=said)
    if pair.p is None and printed.lettered and row.answer == "does not":
        said = f"{row.reason}; letters, which are not read, may say otherwise"
        return replace(row, answer="cannot say", reason=said)
    return row


def _if_paired(
    pair: ComparedPair, found: Mapping[Scenario, _Found], answer: Answer, reason: str
) -> tuple[Answer, str]:
    """The answer without a p, where the table names a paired test, whose p takes a correlation."""
    named = pair.tests.test in ("paired", "wilcoxon") or pair.before_and_after
    if answer == "cannot say" or not named:
        return answer, reason
    reason += ", of unpaired runs"
    if answer == "does not" and any(each.paired <= ALPHA for each in found.values()):
        suitably = "the paired test may say yes, if the arms are correlated suitably"
        return "cannot say", f"{reason}; {suitably}"
    return answer, reason


def _if_over_n(found: Mapping[Scenario, _Found], answer: Answer, reason: str) -> tuple[Answer, str]:
    """The answer without a p, where deviations over n and not n - 1 may give another one."""
    ways = {decision(each.over_n, ALPHA) for each in found.values()}
    if answer == "cannot say" or _word(ways) == answer:
        return answer, reason
    other = YES[ways.pop() if len(ways) == 1 else None]
    return "cannot say", f"{reason}; if deviations are over n and not n - 1 (numpy): {other}"


def _answer(found: Mapping[Scenario, _Found]) -> tuple[Answer, str]:
    after = {decision(each.after, ALPHA) for each in found.values()}
    if len(found) == 1:
        (only,) = found.values()
        said = f"significant at 5 %: {_said(only.span, only.p)}"
        if only.family > 1:
            said += f"; after Holm: {_said(only.after, only.p_after)}"
        return _word(after), said
    if len(after) == 1 and None not in after:
        p = [each.p_after for each in found.values()]
        holm = " after Holm" * any(each.family > 1 for each in found.values())
        said = f"significant at 5 %{holm}: {YES[next(iter(after))]} ({p_is(*p)})"
        most = f", with up to {max(SIZES):,} runs each" * (
            after == {False} and any(n for _, n in found)
        )
        return _word(after), f"{said}, by every reading of what is printed{most}"
    return _word(after), f"significant at 5 % {_by_readings(found)}".replace(" :", ":")


def _word(after: set[bool | None]) -> Answer:
    if len(after) > 1 or None in after:
        return "cannot say"
    return "holds" if True in after else "does not"


def _said(span: Span, p: float) -> str:
    decided = decision(span, ALPHA)
    if decided is None:
        return f"open, for rounding allows {p_from(span)}"
    return f"{YES[decided]} ({p_is(p)})"


def _by_readings(found: Mapping[Scenario, _Found]) -> str:
    """`after Holm, if ± is a standard deviation: from n = 4; if a standard error: no`."""
    parts = []
    readings = list(dict.fromkeys(reading for reading, _ in found))
    for reading in readings:
        these = {n: each for (of, n), each in found.items() if of == reading}
        if_so = f"if ± is {reading.name}, " if len(readings) > 1 else ""
        parts.append(f"{if_so}{_by_sizes(these)}")
    asked = ["--plus-minus"] * (len(readings) > 1) + ["--n"] * (len(found) > len(readings))
    after = any(each.family > 1 for each in found.values())
    return f"{'after Holm' * after}: {'; '.join(parts)}. Decide it by {' and '.join(asked)}"


def _by_sizes(these: Mapping[int | None, _Found]) -> str:
    ways = {n: decision(each.after, ALPHA) for n, each in these.items()}
    if len(set(ways.values())) == 1:
        p = [each.p_after for each in these.values()]
        return f"{YES[next(iter(ways.values()))]} ({p_is(*p)})"
    yes = [n for n, way in ways.items() if way and n]
    if not yes:
        no = [n for n, way in ways.items() if way is False and n]
        return f"no up to {max(no)} runs each, then open by rounding" if no else "open by rounding"
    no = [n for n, way in ways.items() if way is not True and n]
    if max(no) < min(yes):
        return f"yes from {min(yes)} runs each"
    return f"yes up to {max(yes)} runs each"


def _answer_to_p(
    pair: ComparedPair, p: PrintedNumber, found: Mapping[Scenario, _Found], rounding: Rounding
) -> tuple[Answer, str]:
    """Whether the numbers give the printed p, by the readings that are open."""
    text = p_text(p)
    fits = {each.fits for each in found.values()}
    if fits == {True} and pair.tests.test == "paired":
        return "cannot say", f"{text} follows only if: the arms are correlated suitably"
    if fits == {True} and any(is_open(p, each.span) for each in found.values()):
        return "cannot say", f"the numbers can give {text} by every reading of them, and need not"
    if fits == {True}:
        return "holds", f"{text} follows from the numbers by every reading of them"
    ways = list(_fitting_sizes(found))
    near = "from about" if p.relation == "<" else "near"
    between = () if ways else _between_sizes(pair, p, found, rounding)
    ways += [(reading, f"n {near} {n:,}") for reading, n in between]
    if not ways:
        return "cannot say", f"no t-test of independent runs gives {text}; another test might"
    many, sized = len({of for of, _ in found}) > 1, any(n for _, n in found)
    told = [", ".join(filter(None, (of.name if many else "", n))) for of, n in ways]
    listed = "; ".join(told[:4]) + ("; ..." if len(told) > 4 else "")
    asked = " and ".join(["--plus-minus"] * many + ["--n"] * sized)
    return (
        "cannot say",
        f"{text} follows {'if ± is:' if many else 'for'} {listed}. Decide it by {asked}",
    )


def _fitting_sizes(found: Mapping[Scenario, _Found]) -> Iterator[tuple[Meaning, str]]:
    """The readings that give the printed p, each with the sizes by which it does, from the least.

    Sizes next to each other among those tried are one range.
    """
    for reading in dict.fromkeys(of for of, _ in found):
        tried = [(n, each.fits) for (of, n), each in found.items() if of == reading]
        for fits, group in groupby(tried, key=itemgetter(1)):
            sizes = [f"{n:,}" for n, _ in group if n]
            if fits and len(sizes) > 1:
                yield reading, f"n from {sizes[0]} to {sizes[-1]}"
            elif fits:
                yield reading, f"n = {sizes[0]}" if sizes else ""


MOST_RUNS = 10**7


def _between_sizes(
    pair: ComparedPair, p: PrintedNumber, found: Mapping[Scenario, _Found], rounding: Rounding
) -> Iterator[tuple[Meaning, int]]:
    """The readings by which a t-test gives p with a number of runs between those tried, or more."""

    def tried(meaning: Meaning, n: int) -> tuple[float, bool]:
        (row,) = rows_of([pair.comparison(meaning, n, rounding)], ())
        return row.nominal(WELCH) or 0.0, any(match.tails == 2 for match in row.matches)

    for meaning in dict.fromkeys(of for of, _ in found):
        known = {n: each.p for (of, n), each in found.items() if of == meaning and n}
        known |= {MOST_RUNS: tried(meaning, MOST_RUNS)[0]} if known else {}
        for few, many in pairwise(known):
            begins = known[few] > p.value
            if begins != (known[many] > p.value):
                low, high = few, many
                while high - low > 1:
                    middle = (low + high) // 2
                    as_few = (tried(meaning, middle)[0] > p.value) == begins
                    low, high = (middle, high) if as_few else (low, middle)
                if tried(meaning, high)[1] or tried(meaning, low)[1]:
                    yield meaning, high


def _taken(
    printed: AsPrinted, decided: Decided, pairs: Sequence[ComparedPair], family: int
) -> Iterator[str]:
    """What an answer takes for granted, what was read from the table, and what was left unread."""
    if any(pair.complete for pair in pairs):
        yield (
            "Judged by Welch's two-sided t-test of independent runs; runs paired by seed or fold "
            "may give another p."
        )
    if family > 1 and not printed.of_p.corrected:
        yield f"Holm's correction is over {family} comparisons of this table."
    read = {value.meaning for pair in pairs if pair.complete for value in (pair.a, pair.b)}
    if len(read) == 1 and (meaning := read.pop()) and not decided.plus_minus:
        yield f"± is read as {meaning.name}, as the table says."
    if printed.n and not decided.n:
        yield f"n = {printed.n}, as the text of the table says."
    if printed.compared_with and not decided.baseline and any(pair.p for pair in pairs):
        yield f"The printed p, or stars, are against {printed.compared_with}, as the table says."
    if printed.across and len(of_one_metric(printed.columns)) > 1:
        yield "Columns of different metrics are not compared with each other."
    if printed.unread:
        yield f"Left unread: {', '.join(printed.unread[:NAMED]).rstrip('.')}."


def _not_checked(printed: AsPrinted, pairs: Sequence[ComparedPair]) -> Iterator[str]:
    """Which stars and p are not read, for what they claim is more than the answers tell."""
    stars = {value.stars for row in printed.methods for value in row.values.values()}
    stars = {each for each in stars if "*" in each or each in printed.legend}
    if stars and not printed.legend:
        yield "What stars say is not checked: no legend such as * p < .05 against Base is read."
    elif stars and not any(pair.p for pair in pairs):
        yield "Nothing says which method stars compare with: name it by --baseline."
    if printed.lettered:
        yield "What letters say of differences is not checked."
    unclear = printed.across and len(printed.columns) > 2 and any(row.p for row in printed.methods)
    if unclear and not any(pair.p for pair in pairs):
        yield "Nothing says which two values the p of a row compares, so it is not checked."
