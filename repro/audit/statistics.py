"""t, F, r, chi-squared and z with degrees of freedom, as printed -> the p that each gives.

In lines of text: `t(28) = 2.20, p = .036`; tables are read by `printed_tests`. The statistic is a
range, by its rounding; its p is too. After Nuijten and others 2016 (`statcheck`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from repro.audit.comparison import Answer, Audit, Audited, Grade, printed_p
from repro.audit.findings import NAMED, YES, number, p_from, p_text
from repro.audit.grading import decision
from repro.audit.p_range import Span, ends_of, tail_of
from repro.audit.pasted import gathered
from repro.audit.printed_words import CORRECTED, ONE_SIDED, TWO_SIDED
from repro.errors import ClaimError, Place, Problem, SpecError
from repro.evidence.published import PrintedNumber, Rounding
from repro.files import fatal
from repro.schema.rows import MOST

ALPHA = 0.05
MAX_STATEMENTS = 2_000
_N = r"[-\N{MINUS SIGN}]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?(?!,?[0-9])"
_BY_RANKS = (
    r"[HQ](?= ?\([0-9]{1,2}(?:[,;] ?[Nn] ?= ?[0-9,]+)?\) ?[=<>][^\n]{1,60}(?:\b[pP]\b|\bn\.?s))"
)
"""Kruskal-Wallis and Cochran, with a p: H(X) is an entropy, and Q(1) a quartile or a value."""
_NAMES = (
    r"(?:t|F|r|z|Z|(?:\N{GREEK SMALL LETTER CHI}|X|[Cc]hi-?)(?:\N{SUPERSCRIPT TWO}|\^?2)"
    rf"|{_BY_RANKS}|q(?= ?\([0-9]{{1,2}}, ?[0-9]+\) ?[=<>]))"
)
STATISTIC = re.compile(
    rf"(?<![\w/.-])(?P<name>{_NAMES}) ?(?:\((?P<df>[^()]{{1,40}})\) ?)?"
    rf"(?P<is>[=<>]) ?(?P<value>{_N})"
)
_OPENED = re.compile(rf"(?<![\w/.-]){_NAMES} ?\([^()\n]{{1,40}}\) ?[=<>]")
_P = re.compile(
    r"(?:^|[\s,;:(\[])(?:(?:two|one|2|1)[- ](?:tailed|sided) |\w*[- ]?(?:adjusted|corrected) )?"
    rf"[pP](?:[-_ ]?(?:value|adj\w*))?(?: of| is| was)? ?"
    rf"(?:(?P<p>[=<>≤≥≈] ?(?:{_N}|0?,[0-9]+)|0?\.[0-9]+)|= ?(?P<ns>n\.?s\.?(?!\w)))"
    r"|[,(] ?(?P<bare>[nN]\.?[sS]\.?)(?!\w)|(?:[,;(] ?|is |was )(?P<words>not significant)"
)
_ENDS = re.compile(
    rf"[|&\t\n]|[.;] (?=[A-Z])|; ?r ?[=<>]|(?<![\w/.-])(?!r ?[=<>]){_NAMES} ?[=<>]|; ?(?!p\b)\w+ ?="
)
"""Where what is said of a statistic ends; `, r = .31` is the size of its effect."""
_BEFORE = re.compile(rf"(?:^|[\s,;:(])[pP] ?(?P<p>[=<>≤≥] ?{_N}) ?[,;:]? ?\(?$")
_FRACTIONAL = {
    "t": re.compile(r"welch|satterthwaite|kenward|unequal variances"),
    "F": re.compile(r"satterthwaite|kenward|greenhouse|huynh"),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A printed statistic: t, F, r, z, χ², H, Q or q, its degrees of freedom, and its printed p.

    ``df`` is empty for z; F has both, and q the number of groups first. ``tails`` are those that
    its sentence names. ``ratio`` is whether F is that of two variances, of which both ends count.
    """

    id: str
    kind: str
    df: tuple[PrintedNumber, ...]
    value: PrintedNumber
    p: PrintedNumber | None
    tails: Literal[1, 2] | None = None
    ratio: bool = False

    @property
    def text(self) -> str:
        """`t(28) = 2.20`."""
        df = f"({', '.join(each.text for each in self.df)})" if self.df else ""
        sign = "" if self.value.relation != "=" else "= "
        return f"{self.kind}{df} {sign}{self.value.text}"

    @property
    def directed(self) -> bool:
        """Whether a one-sided test is possible: of one degree of freedom, or of a sign."""
        return self.ratio or self.kind in "trz" or (self.kind != "q" and self.df[0].value == 1)


def has_statistics(text: str) -> bool:
    """Whether a text prints a statistic with its degrees of freedom, as `t(28) = 2.20`."""
    return _OPENED.search(plain(text)) is not None


_WITHOUT_DF = re.compile(
    rf"(?<![\w/.-])(?P<name>{_NAMES}|[HQUWVD]|tau|rho|τ|ρ)(?P<df> ?\([^()]*\))?"
    rf"(?:[- ](?:value|stat(?:istic)?))? ?[=<>] ?(?:{_N}|(?P<comma>-?[0-9]*,[0-9]+))"
    r"[^\n]{0,40}?\b[pP](?:[- ]?value)? ?[=<>≤≥] ?0?[.,]"
)
EXAMPLES = {
    "F": "F(2, 57) = 4.10, p = .022",
    "r": "r(48) = .31, p = .028, with n - 2 in parentheses",
    "χ²": "χ²(2, N = 90) = 7.20, p = .027",
    "H": "H(2) = 7.10, p = .029",
    "Q": "Q(3) = 8.10, p = .044",
}
EXAMPLE = "t(28) = 2.20, p = .036"


def refuse_without_df(text: str, file: str) -> None:
    """SpecError for lines of text, no table, that print a statistic without degrees of freedom."""
    lines = [line for line in text.split("\n") if line.strip()]
    read = list(_without_df(text))
    if not read or len({at for at, _ in read}) * 2 < len(lines) or "±" in text:
        return
    at, found = read[0]
    name = _kind(found["name"])
    mistake = f"{name} has no degrees of freedom"
    expected, advice = EXAMPLES.get(name, EXAMPLE), "write them in parentheses, as shown"
    if found["comma"]:
        mistake = f"{found['comma']} is not a plain number"
        advice = "write decimal points, and degrees of freedom in parentheses"
    elif name not in "tFrzHQ" and name != "χ²":
        mistake = f"the p of {name} takes the values of every run"
        expected = f"t, F, r, χ², H or Q as in {EXAMPLE}, or z"
        advice = "write the z of the test, if it is printed, as in z = 2.10, p = .036"
    raise fatal(Place(file, at, found.start() + 1), mistake, expected, advice)


def _without_df(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Each statistic that is not read, with its line; r behind another is an effect size."""
    for at, line in enumerate(plain(text).split("\n"), 1):
        for found in _WITHOUT_DF.finditer(line):
            name = _kind(found["name"])
            known = name in "tFrHQ" or name == "χ²"
            of_effect = name == "r" and STATISTIC.search(line[: found.start()])
            if name != "z" and not (known and found["df"]) and not of_effect:
                yield at, found


def _kind(symbol: str) -> str:
    if symbol in "zZ":
        return "z"
    return "χ²" if re.match("[χXCc]", symbol) else symbol


_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_ONE_DF = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:\.[0-9]+)?)"
_DF_BEHIND = [
    re.compile(
        rf"(?<![\w/.-]){kind}(?:[- ](?:value|stat(?:istic)?))? ?(?P<value>[=<>] ?{_N})"
        rf"(?P<p>[,;]? ?\(?[pP](?:-value)? ?[=<>≤] ?{_N})?"
        rf"(?:[,;]? ?[(\[]?(?:df|d\.f\.) ?[=:]? ?[(]?(?P<df>{df})"
        rf"|(?:,| with| on)? ?[(]?(?P<of>{df}) (?:df|d\.f\.|degrees of freedom))(?![\w%])[)\]]?"
    )
    for kind, df in (
        (r"(?P<kind>t|r|χ²|[HQ])", _ONE_DF),
        ("(?P<kind>F)", f"{_ONE_DF}(?:, ?| and |; ?){_ONE_DF}"),
    )
]
_OF_R = re.compile(
    r"(?P<above>two variances[^\n]*\n(?:[^\n]*\n){0,4}?\W*)?"
    rf"\bF = (?P<f>{_N}), num df = (?P<a>[0-9.]+), denom df = (?P<b>[0-9.]+), p-value"
    r"(?P<p>[^\n]*)"
    r"(?P<below>\n\W*alternative hypothesis: true ratio of variances is (?P<side>\w+))?"
)
"""How R prints a test in one line: `t = 2.2, df = 28, p-value = 0.036`."""
_R_WITH_N = re.compile(
    rf"(?m)(?P<before>(?:^|[.;] )[^\n=<>;]{{0,80}}?)(?<![\w/.-])r ?= ?(?P<r>{_N})"
    rf"(?P<p>,? ?\(?p ?[=<>≤] ?{_N})?,? ?\(?[nN] ?= ?"
    r"(?P<n>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)\)?(?!\w|\.[0-9]| per)"
)
_NO_PEARSON = re.compile(r"(?i)spearman|kendall|rank|rho|partial|effect")


_BROKEN = re.compile(
    rf"(?P<head>(?<![\w/.-])(?:{_NAMES})\([^()\n]*\) ?[=<>]"
    rf"(?P<value> ?{_N}[,;]?(?P<p> \(?[pP](?:[- ]?value)? ?[=<>≤≥])?)?) ?\n ?"
    rf"(?P<rest>(?(p){_N}|(?(value)\(?p ?[=<>≤≥] ?{_N}|{_N}(?:[,;]? ?p ?[=<>≤≥] ?{_N})?))\)?)"
)
"""A statistic that goes on in the next line: behind `=`, behind its value, or behind `p =`."""


def plain(text: str) -> str:
    """The text without the marks of LaTeX and Markdown, of the same lines."""
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ")
    text = re.sub(r"\\chi", "\N{GREEK SMALL LETTER CHI}", text).replace("\N{MINUS SIGN}", "-")
    text = re.sub(r"\\(?:textit|emph|mathit|text)\{(\w+)\}", r"\1", text)
    text = re.sub(r"(?i)\bchi[- ]?squared?(?= ?[(=])|\bX-squared(?= =)", "χ²", text)
    text = re.sub(r"(?<!\w)([tFrz]|χ²)_\{?([0-9][0-9., ]*)\}?", r"\1(\2)", text)
    text = re.sub(r"(?<!\w)([HQ]|χ²)_?\{?[A-Z]\}?(?= ?[(=])", r"\1", text)
    text = re.sub(r"(?<!\w)([tFrHQ]|χ²)\[([0-9][0-9., ]*)\](?= ?[=<>])", r"\1(\2)", text)
    text = re.sub(r"(?<!\w)([tF])([₀-₉]+)", lambda t: f"{t[1]}({t[2].translate(_LOWERED)})", text)
    text = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|[*$\\{}]", "", text)
    text = re.sub(r"[ \t\N{NO-BREAK SPACE}]+", " ", text)
    text = _BROKEN.sub(r"\g<head> \g<rest>\n", text)
    text = re.sub(rf"(?<![\w/.-])t([0-9]{{2,4}})(?= ?[=<>] ?{_N}[,;]? ?\(?p\b)", r"t(\1)", text)
    text = _R_WITH_N.sub(_with_pairs, _OF_R.sub(_of_r, text))
    for behind in _DF_BEHIND:
        text = behind.sub(_with_df, text)
    return text


def _of_r(found: re.Match[str]) -> str:
    """`F(2, 57) = 4.1, p = 0.022`, with the sides of a test of two variances."""
    said = found.groupdict("")
    sides = {"": "", "not": "two-sided "}.get(said["side"], "one-sided ")
    of = f" {sides}ratio of variances" if said["above"] or said["below"] else ""
    return (
        f"{said['above']}F({said['a']}, {said['b']}) = {said['f']}, p{said['p']}{of}{said['below']}"
    )


def _with_pairs(found: re.Match[str]) -> str:
    """`r(48) = .31, p = .028` for `r = .31, n = 50, p = .028` of Pearson."""
    said = found.groupdict("")
    n = int(said["n"].replace(",", ""))
    p_next = said["p"] or re.match(r"\)?[,;]? ?\(?p ?[=<>≤]", found.string[found.end() :])
    if n < 3 or not p_next or _NO_PEARSON.search(said["before"]):
        return found[0]
    return f"{said['before']}r({n - 2}) = {said['r']}{said['p'].replace('(', '')}"


def _with_df(found: re.Match[str]) -> str:
    """`t(28) = 2.20, p = .036` for `t = 2.20, p = .036 (df = 28)`."""
    said = found.groupdict("")
    df = (said["df"] or said["of"]).replace(" and ", ", ")
    return f"{said['kind']}({df}) {said['value']}{said['p'].replace('(', '')}"


def in_text(text: str, file: str, before: int = 0) -> tuple[Statement, ...]:
    """Every statistic of a text, numbered from ``before``; SpecError for what cannot be read."""
    found: list[Statement] = []
    problems: list[Problem] = []
    for line, words in enumerate(plain(text).split("\n"), 1):
        read = {each.start(): each for each in STATISTIC.finditer(words)}
        opened = sorted(each.start() for each in _OPENED.finditer(words))
        starts = sorted({*read, *opened})
        for at in starts:
            try:
                end = next((each for each in opened if each > at), len(words))
                since = max(map(words[:at].rfind, (";", ". ")))
                until = (0 if at == starts[0] else since + 1 or at, end)
                found += statement_at(words, at, read.get(at), line, before + len(found), until)
            except ClaimError as error:
                advice = "write a decimal point, and degrees of freedom in parentheses"
                expected = EXAMPLES.get(_kind(words[at]), EXAMPLE)
                problems.append(Problem(Place(file, line, at + 1), str(error), expected, advice))
    return checked(found, problems, file)


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
) -> Iterator[Statement]:
    """The statement that begins there; none for r = .3 or F = 2, which may be anything.

    Its p stands behind it, else before it, ``within`` the words that are of no other statistic.
    """
    if found is None:
        raise ClaimError(f"{words[at : at + 30]!r} has a number that is not plain")
    symbol = found["name"]
    if found["df"] is None and symbol not in "zZ":
        return
    kind = _kind(symbol)
    p = _p_of_words(words[within[0] : at], words[found.end() : within[1]])
    said = words[within[0] : within[1]].lower()
    tails: Literal[1, 2] | None = 2 if TWO_SIDED.search(said) else None
    tails = 1 if ONE_SIDED.search(said) else tails
    sign = "" if found["is"] == "=" else found["is"]
    value = PrintedNumber.read(sign + found["value"])
    name = f"{before + 1}: {_label(words, found.start()) or f'line {line}'}"
    df = df_of(kind, found["df"] or "")
    ratio = kind == "F" and is_of_variances(said)
    yield Statement(name, kind, df, possible(kind, value), p, tails, ratio)


def is_of_variances(said: str) -> bool:
    """Whether F is that of two variances by its words, so that its p is two-sided."""
    return re.search(r"folded|ratio of (?:two )?variances|two variances", said.lower()) is not None


def _p_of_words(before: str, after: str) -> PrintedNumber | None:
    """The p that stands behind a statistic in its sentence, or else right before it."""
    end = _ENDS.search(after)
    behind = _P.search(after[: end.start()] if end else after)
    found = _BEFORE.search(before)
    if behind is not None and (found is None or re.match(r" ?[,(] ?[pP]\b", after)):
        found = behind
    if found is None:
        return None
    said = found.groupdict()
    if "," in (said["p"] or ""):
        raise ClaimError(f"p {said['p']!r} has a number that is not plain")
    return printed_p(said["p"].replace("≈", "=") if said["p"] else "n.s.")


def _label(words: str, at: int) -> str:
    """What stands before a statistic in its line: the cells of a row, or a few words."""
    said = re.split(r"[|&\t]|(?<=[.;]) ", words[:at].strip(" |&\t,(["))
    cells = [each.strip(" ,:") for each in said if re.search("[A-Za-z]", each)]
    in_table = any(sign in words for sign in "|&\t")
    label = "" if not cells else cells[0] if in_table else cells[-1]
    label = re.split(rf"[=<>≤≥] ?{_N}|n\.s\.", label)[-1].strip(" ,;:)")
    return label if len(label) <= 60 else f"...{label[-57:]}"


def df_of(kind: str, text: str) -> tuple[PrintedNumber, ...]:
    """Degrees of freedom, whole ones exact; those of Welch may have been rounded, see `welch`."""
    thousands = r"(?<![0-9,])([0-9]{1,3}),([0-9]{3})(?![0-9,])"
    text = re.sub(thousands, r"\1\2", text) if ", " in text or kind in "tr" else text
    parts = re.split(r" ?[,;] ?", re.sub(r"[,;] ?N ?= ?[0-9,]+$", "", text.strip("() ")))
    wanted = {"F": 2, "q": 2, "z": 0}.get(kind, 1)
    parts = [re.sub(r"^(?:df ?= ?)", "", part) for part in parts if part]
    if kind == "z":
        return ()
    if len(parts) != wanted or not all(re.fullmatch(r"[0-9]{1,7}(?:\.[0-9]+)?", e) for e in parts):
        raise ClaimError(f"{kind}({text}) needs {wanted} degrees of freedom")
    found = tuple(map(PrintedNumber.read, parts))
    if not all(each.value > 0 for each in found):
        raise ClaimError(f"{kind}({text}): degrees of freedom are above 0")
    return found


def possible(kind: str, value: PrintedNumber) -> PrintedNumber:
    if kind not in "trz" and value.value < 0:
        raise ClaimError(f"{kind} is not negative, and {value.text} is")
    if kind == "r" and abs(value.value) > 1:
        raise ClaimError(f"a correlation lies between -1 and 1, and {value.text} does not")
    return value


def span_of(statement: Statement, *, rounded_df: bool = False) -> Span:
    """The two-sided p of every statistic that is printed like this; upper tail for F and χ².

    Degrees of freedom with decimals are rounded; whole ones too only with ``rounded_df``.
    """
    low, high = statement.value.low, statement.value.high
    signed = statement.kind in "trz"
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
    H or Q is among them.
    """

    one_sided: bool
    corrected: bool
    rounded_df: str
    in_text: bool
    by_ranks: bool

    def sentences(self) -> Iterator[str]:
        """What the answers take for granted."""
        yield (
            "p is computed from each statistic and its degrees of freedom, with their rounding; "
            "nothing is corrected for many tests."
        )
        if self.by_ranks:
            yield "p of H and Q is that of chi-squared, which is rough for few values."
        if self.in_text:
            yield "Nothing else of the text is read: put a table of means into another file."
        if self.one_sided:
            yield "The text tells of one-sided tests, so a p that fits one-sided only is accepted."
        if self.corrected:
            yield "The text tells of corrected p-values, so one that does not fit may be corrected."


def audit_statistics(
    statements: Sequence[Statement], source: str, text: str, rounding: Rounding
) -> Audit:
    """The answer to each; all of ``text`` may tell of one-sided tests and corrections."""
    lower = text.lower()
    said = _Said(
        one_sided=any(e.tails != 2 for e in statements) and bool(ONE_SIDED.search(lower)),
        corrected=any(e.kind != "q" for e in statements) and bool(CORRECTED.search(lower)),
        rounded_df="".join(_rounded_df(statements, lower)),
        in_text=has_statistics(text),
        by_ranks=any(each.kind in "HQ" for each in statements),
    )
    rows = tuple(_audited(each, rounding, said) for each in statements)
    return Audit("", source, rows, tuple(said.sentences()), tuple(_not_read(text)))


def _not_read(text: str) -> Iterator[str]:
    """A sentence on the statistics of a text whose p cannot be computed, each with its line."""
    found = [(at, re.split(r",? ?\(?[pP]\b", each[0])[0]) for at, each in _without_df(text)]
    if found:
        named = "; ".join(f"line {at}, {words}" for at, words in found[:NAMED])
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        yield f"Not read (no degrees of freedom, or p takes every value): {named}{more}."


def _rounded_df(statements: Sequence[Statement], said: str) -> Iterator[str]:
    """The statistics whose degrees of freedom are rounded: none where any is printed in full."""
    if not any("." in df.text for each in statements for df in each.df):
        yield from (kind for kind, told in _FRACTIONAL.items() if told.search(said))


def _audited(each: Statement, rounding: Rounding, said: _Said) -> Audited:
    p = None if each.p is None else each.p.under(rounding)
    each = replace(each, value=each.value.under(rounding), p=p)
    span = span_of(each, rounded_df=each.kind in said.rounded_df)
    row = Audited(
        id=each.id,
        kind="statistic",
        grade=Grade.NOT_CHECKABLE,
        p_printed=None if p is None else p.text,
        p_interval=span,
        assumed=f"{each.kind} {'two-sided' if each.ratio or each.kind in 'trz' else 'upper tail'}",
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
    half = (span[0] / 2, span[1] / 2)
    sides = [half, (1 - half[1], 1 - half[0])] if each.directed else []
    if p.relation == ">" and each.tails != 1:  # n.s. would fit nearly any on the other side
        sides = sides[:1]
    sides = [] if each.tails == 2 else sides
    one_sided = told.one_sided or each.tails == 1
    if any(p.meets(*side) for side in sides):
        reason = f"{gives} two-sided; {p_text(p)} fits one-sided only"
        answer: Answer = "holds" if one_sided else "cannot say"
        reason += ", as the text says" if one_sided else ", which nothing says"
        grade = Grade.CONSISTENT_IF
        return replace(row, grade=grade, condition="one-sided", answer=answer, reason=reason)
    if told.corrected and each.kind != "q" and p.high >= span[0]:  # no correction makes a p smaller
        reason = f"{gives}, not {p_text(p)}, which may be the corrected p"
        return replace(row, grade=Grade.CONSISTENT_IF, condition="corrected p", reason=reason)
    if each.kind in "HQ" and _may_be_exact(p, span):
        reason = f"{gives} by chi-squared, not {p_text(p)}, which may be the exact p of few values"
        return replace(row, grade=Grade.CONSISTENT_IF, condition="exact p", reason=reason)
    claimed = {"<": p.high <= ALPHA or None, ">": False if p.low >= ALPHA else None}
    said = claimed.get(p.relation, decision((p.low, p.high), ALPHA))
    other = {decision(span, ALPHA), said} == {True, False}
    grade = Grade.DECISION_INCONSISTENT if other else Grade.INCONSISTENT
    reason = f"{gives}, not {p_text(p)}" + "; the decision at 5 % is the other one" * other
    return replace(row, grade=grade, answer="does not", reason=reason)


def _may_be_exact(p: PrintedNumber, span: Span) -> bool:
    """Whether the exact p of few values may be printed, where chi-squared gives ``span``.

    An exact p is up to 3.2 times as large (Q of one unlike pair), and any share of a small one.
    """
    return p.low <= 4 * span[1] and (p.high >= span[0] / 2 or span[0] < 0.2)
