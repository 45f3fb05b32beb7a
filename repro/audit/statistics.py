"""t, F, r, chi-squared and z with degrees of freedom, as printed -> the p that each gives.

In lines of text: `t(28) = 2.20, p = .036`; tables are read by `printed_tests`. The statistic is a
range, by its rounding; its p is too. After Nuijten and others 2016 (`statcheck`).
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import itemgetter
from typing import Literal, NamedTuple

from repro.audit.comparison import Answer, Audit, Audited, Grade, check_probability, printed_p
from repro.audit.findings import YES, number, p_from, p_text
from repro.audit.grading import decision
from repro.audit.notations import (
    ENDS,
    NUMBER,
    OPENED,
    STATISTIC,
    P,
    is_statement,
    kind_of,
    plain,
)
from repro.audit.p_range import SIGNED, Span, df_of, ends_of, may_be_exact, possible, tail_of
from repro.audit.printed_words import (
    ONE_SIDED,
    TWO_SIDED,
    UNCORRECTED,
    corrections,
    families,
    is_corrected,
    of_all,
    tells_of_one_sided,
)
from repro.audit.unread import EXAMPLE, EXAMPLES, gathered, sentence_on
from repro.errors import ClaimError, Place, Problem, SpecError
from repro.evidence.published import PrintedNumber, Rounding
from repro.schema.rows import MOST
from repro.stats.multiplicity import holm

ALPHA = 0.05
MAX_STATEMENTS = 2_000
_BEFORE = re.compile(rf"(?:^|[\s,;:(])[pP] ?(?P<p>[=<>≤≥] ?{NUMBER}) ?[,;:]? ?\(?$")
_CALLED = tuple(("χ²", first) for first in "QLGW")
_OF_RANKS = re.compile(r"(?i)spearman(?!.*pearson)")
_FRACTIONAL = {
    "t": re.compile(r"welch|satterthwaite|kenward|unequal variances"),
    "F": re.compile(r"satterthwaite|kenward|greenhouse|huynh"),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A printed statistic: t, F, r, ρ, z, χ², H, Q or q, its degrees of freedom, and its printed p.

    ``df`` is empty for z; F has both, and q the number of groups first. ``tails`` are those that
    its sentence names. ``ratio`` is whether F is that of two variances, of which both ends count.
    ``symbol`` is how it is called, if not by its kind: rs, or QE of chi-squared. ``uncorrected``
    is whether words say so of its p, which ends at ``p_end`` of its line; ``family`` is how the
    text says that all p-values are corrected, Holm or Bonferroni, and for how many tests, if any.
    """

    id: str
    kind: str
    df: tuple[PrintedNumber, ...]
    value: PrintedNumber
    p: PrintedNumber | None
    tails: Literal[1, 2] | None = None
    ratio: bool = False
    symbol: str = ""
    uncorrected: bool = False
    p_end: int = 0
    family: tuple[str, int] = ("", 0)

    @property
    def text(self) -> str:
        """`t(28) = 2.20`."""
        df = f"({', '.join(each.text for each in self.df)})" if self.df else ""
        sign = "" if self.value.relation != "=" else "= "
        return f"{self.symbol or self.kind}{df} {sign}{self.value.text}"

    @property
    def directed(self) -> bool:
        """Whether a one-sided test is possible: of one degree of freedom, or of a sign."""
        return self.ratio or self.kind in SIGNED or (self.kind != "q" and self.df[0].value == 1)


def has_statistics(text: str) -> bool:
    """Whether a text prints a statistic with its degrees of freedom, as `t(28) = 2.20`."""
    return OPENED.search(plain(text)) is not None


class InText(NamedTuple):
    """What a text prints: its statistics, what of them is not plain, and where each p ends.

    Ends are by line and by character of the line as `plain` has it.
    """

    statements: tuple[Statement, ...]
    problems: tuple[Problem, ...]
    ends: frozenset[tuple[int, int]]


def in_text(text: str, file: str, before: int = 0) -> InText:
    """Every statistic of a text, numbered from ``before``; SpecError where none can be read."""
    found: list[Statement] = []
    problems: list[Problem] = []
    ends: set[tuple[int, int]] = set()
    text = plain(text)
    told, corrected, begin = list(corrections(text)), list(families(text)), 0
    for line, words in enumerate(text.split("\n"), 1):
        read = {e.start(): e for e in STATISTIC.finditer(words) if is_statement(e)}
        opened = sorted(each.start() for each in OPENED.finditer(words))
        starts = sorted({*read, *opened})
        for at in starts:
            end = next((each for each in starts if each > at), len(words))
            try:
                until = (0 if at == starts[0] else _begin(words[:at]) or at, end)
                before_it = bisect(told, begin + at, key=itemgetter(0))
                denied = before_it > 0 and not told[before_it - 1][1]
                for each in statement_at(
                    words, at, read.get(at), line, before + len(found), until, denied=denied
                ):
                    of = [how for start, how in corrected if start <= begin + at and each.p]
                    found.append(replace(each, family=of[-1]) if of and not denied else each)
                    ends.add((line, each.p_end))
            except ClaimError as error:
                advice = "write a decimal point, and degrees of freedom in parentheses"
                expected = EXAMPLES.get(kind_of(re.split(r"[ (]", words[at:])[0]), EXAMPLE)
                problems.append(Problem(Place(file, line, at + 1), str(error), expected, advice))
                ends |= {(line, at + p.end()) for p in [P.search(words[at:end])] if p}
        begin += len(words) + 1
    statements = checked(found, [] if found or before else problems, file)
    return InText(statements, tuple(problems), frozenset(ends))


def _begin(before: str) -> int:
    """Where the words begin that are of the statistic behind them; 0 where they do not."""
    in_brackets = re.search(r"[(\[](?= ?[pP] ?[=<>≤≥][^()\[\]]*$)", before)
    return (in_brackets.start() if in_brackets else max(map(before.rfind, (";", ". ")))) + 1


def checked(found: list[Statement], problems: list[Problem], file: str) -> tuple[Statement, ...]:
    """The statements; SpecError with what could not be read, or if there are too many."""
    if len(found) > MAX_STATEMENTS:
        mistake, advice = f"{len(found):,} statistics", "make several files of it"
        problems = [Problem(Place(file), mistake, f"at most {MAX_STATEMENTS:,}", advice)]
    if problems:
        raise SpecError(gathered(problems)[:MOST])
    return tuple(found)


def statement_at(
    words: str,
    at: int,
    found: re.Match[str] | None,
    line: int,
    before: int,
    within: tuple[int, int],
    *,
    denied: bool = False,
) -> Iterator[Statement]:
    """The statement that begins there; none for r = .3 or F = 2, which may be anything.

    Its p stands behind it, else before it, ``within`` the words that are of no other statistic.
    ``denied`` is whether the text says last before it that p-values are not corrected.
    """
    if found is None:
        raise ClaimError(f"{words[at : at + 30]!r} has a number that is not plain")
    symbol = found["name"]
    if found["df"] is None and symbol not in "zZ":
        return
    kind = kind_of(symbol)
    kind = "ρ" if kind == "r" and _OF_RANKS.search(_sentence(words[within[0] : at])) else kind
    p, p_end = _p_of_words(words, (within[0], at), (found.end(), within[1]))
    first = _sentence(words[within[0] : at]).lower()
    said = first + words[at : within[1]].lower()
    tails: Literal[1, 2] | None = 2 if TWO_SIDED.search(said) else None
    tails = 1 if ONE_SIDED.search(said) else tails
    sign = "" if found["is"] == "=" else found["is"]
    value = PrintedNumber.read(sign + found["value"])
    name = f"{before + 1}: {_label(words, found.start()) or f'line {line}'}"
    df = df_of(kind, found["df"] or "")
    ratio = kind == "F" and is_of_variances(said)
    called = symbol if symbol in ("rs", "rho") or (kind, symbol[0]) in _CALLED else ""
    value = possible(kind, value)
    ends = max(p_end, found.end()), within[1]
    denied = p is not None and _is_denied(words, first, (at, *ends), p_end, denied=denied)
    yield Statement(name, kind, df, value, p, tails, ratio, called, denied, p_end)


_DENIED = re.compile(rf"[ ,(\[]{{0,3}}(?:{UNCORRECTED.pattern})")


def _is_denied(
    words: str, first: str, ends: tuple[int, int, int], p_end: int, *, denied: bool
) -> bool:
    """Whether a p is said to be uncorrected: next to it, or in the text and not its sentence.

    ``first`` is its sentence up to the statistic, and ``ends`` are where that begins and ends, with
    its p, and where the next begins.
    """
    at, last, until = ends
    said = words[at:last].lower()
    if re.search("un(?:corr|adj)", said) or _DENIED.match(words[p_end : p_end + 200].lower()):
        return True
    said += re.split(r"[.!?] (?=[A-Z])", words[last:until])[0].lower()
    return is_corrected(first + said) is not True and (denied or is_corrected(first) is False)


def _sentence(before: str) -> str:
    """The last sentence, as far as it goes."""
    return re.split(r"[.!?] (?=[A-Z])", before)[-1]


def is_of_variances(said: str) -> bool:
    """Whether F is that of two variances by its words, so that its p is two-sided."""
    return re.search(r"folded|ratio of (?:two )?variances|two variances", said.lower()) is not None


def _p_of_words(
    words: str, before: tuple[int, int], after: tuple[int, int]
) -> tuple[PrintedNumber | None, int]:
    """The p that stands behind a statistic in its sentence, or else right before it; its end."""
    behind = words[slice(*after)]
    end = ENDS.search(behind)
    p = P.search(behind[: end.start()] if end else behind)
    found, at = _BEFORE.search(words[slice(*before)]), before[0]
    if p is not None and (found is None or re.match(r" ?[,(] ?[pP]\b", behind)):
        found, at = p, after[0]
    if found is None:
        return None, 0
    said = found.groupdict()
    at += found.end("p" if said["p"] else 0)
    if said.get("above") and (said["p"] or "").startswith(("<", "≤")):
        return _between(said["above"], said["p"].strip("<≤ ")), at
    if re.search(r",|\..*\.", said["p"] or ""):
        raise ClaimError(f"p {said['p']!r} has a number that is not plain")
    return printed_p(re.sub("[≈:]", "=", said["p"]) if said["p"] else "n.s."), at


def _between(low: str, high: str) -> PrintedNumber:
    """A p that is printed as a range, `.01 < p < .05`."""
    ends = check_probability(PrintedNumber.read(low)).value, PrintedNumber.read(high).value
    return PrintedNumber(f"{low} to {high}", sum(ends) / 2, abs(ends[1] - ends[0]) / 2)


def _label(words: str, at: int) -> str:
    """What stands before a statistic in its line: the cells of a row, or a few words."""
    said = re.split(r"[|&\t]|(?<=[.;]) ", words[:at].strip(" |&\t,(["))
    cells = [each.strip(" ,:") for each in said if re.search("[A-Za-z]", each)]
    in_table = any(sign in words for sign in "|&\t")
    label = "" if not cells else cells[0] if in_table else cells[-1]
    label = re.split(rf"[=<>≤≥] ?{NUMBER}|n\.s\.", label)[-1].strip(" ,;:.()[]")
    return label if len(label) <= 60 else f"...{label[-57:]}"


def span_of(statement: Statement, *, rounded_df: bool = False) -> Span:
    """The two-sided p of every statistic that is printed like this; upper tail for F and χ².

    Degrees of freedom with decimals are rounded; whole ones too only with ``rounded_df``.
    """
    low, high = statement.value.low, statement.value.high
    signed = statement.kind in SIGNED
    if signed:
        ends = (abs(low), abs(high))
        low, high = (0.0 if low <= 0 <= high else min(ends)), max(ends)
    every = list(product(*(ends_of(each, rounded=rounded_df) for each in statement.df)))
    tails = [tail_of(statement.kind, df, value) for df in every for value in (high, max(low, 0.0))]
    if statement.ratio:
        lower = [tail_of("F", df[::-1], 1 / max(v, 1e-300)) for df in every for v in (high, low)]
        both = [2 * min(each) for each in zip(tails, lower, strict=True)]
        return min(both), 1.0 if min(tails) < 0.5 < max(tails) else max(both)
    return min(tails), max(tails)


@dataclass(frozen=True, slots=True)
class _Said:
    """What the text tells of its tests: that there are one-sided ones, or corrected p-values.

    ``in_text``: the statistics stand in a text, of which nothing else is read. ``rounded_df``:
    the statistics that it tells to have degrees of freedom that need not be whole. ``by_ranks``:
    H or Q is among them; ``spearman``: ρ is.
    """

    one_sided: bool
    corrected: bool
    rounded_df: str
    in_text: bool
    by_ranks: bool
    spearman: bool

    def sentences(self) -> Iterator[str]:
        """What the answers take for granted."""
        yield (
            "p is computed from each statistic and its degrees of freedom, with their rounding; "
            "nothing is corrected for many tests."
        )
        if self.by_ranks:
            yield "p of H and Q is that of chi-squared, which is rough for few values."
        if self.spearman:
            yield "p of Spearman's correlation is that of t, which is rough for few values."
        if self.in_text:
            yield "Nothing else of the text is read: put a table of means into another file."
        else:
            yield "Nothing else of the table is read: no means are checked against its statistics."
        if self.one_sided:
            yield "The text tells of one-sided tests, so a p that fits one-sided only is accepted."
        if self.corrected:
            yield "The text tells of corrected p-values, so one that does not fit may be corrected."


def audit_statistics(
    statements: Sequence[Statement],
    source: str,
    text: str,
    rounding: Rounding,
    unread: Sequence[str] = (),
) -> Audit:
    """The answer to each; all of ``text`` may tell of one-sided tests and corrections.

    ``unread`` is what of it is not read.
    """
    lower = text.lower()
    sides = of_all(text)
    said = _Said(
        one_sided=any(e.tails != 2 for e in statements) and tells_of_one_sided(text),
        corrected=any(e.kind != "q" for e in statements) and is_corrected(lower) is True,
        rounded_df="".join(_rounded_df(statements, lower)),
        in_text=has_statistics(text),
        by_ranks=any(each.kind in "HQ" for each in statements),
        spearman=any(each.kind == "ρ" for each in statements),
    )
    statements = [replace(e, tails=e.tails or sides) if e.kind in SIGNED else e for e in statements]
    statements = [
        replace(e, id=re.sub("^[0-9]+", str(at), e.id)) for at, e in enumerate(statements, 1)
    ]
    statements = [replace(e, p=e.p.under(rounding)) if e.p else e for e in statements]
    rows = _of_families(statements, [_audited(each, rounding, said) for each in statements])
    lead = tuple(sentence_on(unread))
    return Audit("", source, tuple(rows), tuple(said.sentences()), lead, len(unread))


def _rounded_df(statements: Sequence[Statement], said: str) -> Iterator[str]:
    """The statistics whose degrees of freedom are rounded: none where any is printed in full."""
    if not any("." in df.text for each in statements for df in each.df):
        yield from (kind for kind, told in _FRACTIONAL.items() if told.search(said))


def _audited(each: Statement, rounding: Rounding, said: _Said) -> Audited:
    p = each.p
    each = replace(each, value=each.value.under(rounding))
    span = span_of(each, rounded_df=each.kind in said.rounded_df)
    row = Audited(
        id=each.id,
        kind="statistic",
        grade=Grade.NOT_CHECKABLE,
        p_printed=None if p is None else p.text,
        p_interval=span,
        assumed=f"{each.kind} {'two-sided' if each.ratio or each.kind in SIGNED else 'upper tail'}",
        alpha=ALPHA,
        rounding=rounding,
        details={
            "statistic": each.kind,
            "df": tuple(df.value for df in each.df),
            "value": each.value.text,
        },
    )
    row = _without_p(row, each, span) if p is None else _with_p(row, each, p, said)
    return replace(row, findings=(row.reason,))


def _without_p(row: Audited, each: Statement, span: Span) -> Audited:
    decided = decision(span, ALPHA)
    if each.value.relation != "=":
        reason = f"no p stands behind {each.text}, which gives {_p_of(span)}"
        return replace(row, reason=reason)
    reason = f"no p stands behind {each.text}; significant at 5 %: {YES[decided]} ({_p_of(span)})"
    answers: Mapping[bool | None, Answer] = {True: "holds", False: "does not", None: "cannot say"}
    return replace(row, answer=answers[decided], reason=reason)


def _p_of(span: Span) -> str:
    low, high = map(number, span)
    return f"p = {low}" if low == high else f"p = {low} to {high}"


def _with_p(row: Audited, each: Statement, p: PrintedNumber, told: _Said) -> Audited:
    span = row.p_interval or (0.0, 1.0)
    gives = f"{each.text} gives {_p_of(span)}"
    if p.meets(*span):
        if p.relation != "=" and not (p.low <= span[0] and span[1] <= p.high):
            reason = f"rounding allows {p_from(span)}, so {p_text(p)} stays open"
            return replace(row, grade=Grade.DECISION_FRAGILE, reason=reason)
        return replace(row, grade=Grade.CONSISTENT, answer="holds", reason=gives)
    if (answered := _one_sided(row, each, p, told)) is not None:
        return answered
    may_be = told.corrected and not each.uncorrected and each.kind != "q"
    if may_be and p.high >= span[0]:  # no correction makes a p smaller
        reason = f"{gives}, not {p_text(p)}, which may be the corrected p"
        return replace(row, grade=Grade.CONSISTENT_IF, condition="corrected p", reason=reason)
    if each.kind in "HQρ" and may_be_exact(each.kind, each.df, each.value, p, span):
        by = "t" if each.kind == "ρ" else "chi-squared"
        reason = f"{gives} by {by}, not {p_text(p)}, which may be the exact p of few values"
        return replace(row, grade=Grade.CONSISTENT_IF, condition="exact p", reason=reason)
    claimed = {"<": p.high <= ALPHA or None, ">": False if p.low >= ALPHA else None}
    said = claimed.get(p.relation, decision((p.low, p.high), ALPHA))
    other = {decision(span, ALPHA), said} == {True, False}
    grade = Grade.DECISION_INCONSISTENT if other else Grade.INCONSISTENT
    reason = f"{gives}, not {p_text(p)}" + "; the decision at 5 % is the other one" * other
    reason += ", and its words say it is not corrected" * (told.corrected and each.uncorrected)
    return replace(row, grade=grade, answer="does not", reason=reason)


def _of_families(statements: Sequence[Statement], rows: Sequence[Audited]) -> Iterator[Audited]:
    """The rows, judged by the corrected p where the text says that all p-values are corrected.

    By Holm for more tests than are printed, each is at least what it is for these.
    """
    corrected: dict[int, tuple[Span, str]] = {}
    for by, tests in {each.family for each in statements if each.family[0]}:
        inside = [
            at
            for at, each in enumerate(statements)
            if each.family == (by, tests) and not each.uncorrected
        ]
        many = max(tests, len(inside))
        low, high = ([(rows[at].p_interval or (0.0, 1.0))[end] for at in inside] for end in (0, 1))
        times = [[min(1.0, p * many) for p in each] for each in (low, high)]
        low = list(holm(low)) if by == "Holm" else times[0]
        high = list(holm(high)) if by == "Holm" and many == len(inside) else times[1]
        for at, *span in zip(inside, low, high, strict=True) if many > 1 else ():
            corrected[at] = (span[0], span[1]), f"by {by} for {many} tests"
    for at, (each, row) in enumerate(zip(statements, rows, strict=True)):
        yield _with_corrected(row, each, *corrected[at]) if at in corrected else row


def _with_corrected(row: Audited, each: Statement, span: Span, said: str) -> Audited:
    """The row where p is that of ``span``, ``said`` to be corrected, or that of no correction."""
    reason = f"{row.reason.partition(', not')[0]}, and {_p_of(span)} {said}"
    if (p := each.p) is None or row.answer == "does not":
        return row
    if p.meets(*span) and (p.relation == "=" or p.low <= span[0] <= span[1] <= p.high):
        found = replace(row, grade=Grade.CONSISTENT, condition="", answer="holds", reason=reason)
    elif row.answer == "holds":
        reason += f"; {p_text(p)} is not corrected, and the text says that it is"
        found = replace(
            row,
            grade=Grade.CONSISTENT_IF,
            condition="uncorrected p",
            answer="cannot say",
            reason=reason,
        )
    else:
        return row
    return replace(found, findings=(found.reason,))


def _one_sided(row: Audited, each: Statement, p: PrintedNumber, told: _Said) -> Audited | None:
    """The answer where p fits one-sided only; None where it does not.

    Without a word, n.s. may be on the other side, where p is near 1, for a negative t or z only.
    """
    span = row.p_interval or (0.0, 1.0)
    half = (span[0] / 2, span[1] / 2)
    other = (1 - half[1], 1 - half[0])
    if not each.directed or each.tails == 2:
        return None
    against = each.kind in "tz" and each.value.value < 0
    near, far = p.meets(*half), p.meets(*other)
    if p.relation == ">" and each.tails != 1 and not against:
        far = False
    if not (near or far):
        return None
    reason = f"{each.text} gives {_p_of(span)} two-sided; {p_text(p)} fits one-sided only"
    if near or p.relation != ">":
        sure = told.one_sided or each.tails == 1
    else:
        reason += ", against the side of the statistic"
        sure = each.tails == 1 and against
    reason += ", as the text says" if sure else ", which nothing says of it"
    answer: Answer = "holds" if sure else "cannot say"
    grade = Grade.CONSISTENT_IF
    return replace(row, grade=grade, condition="one-sided", answer=answer, reason=reason)
