"""What R, SAS and statsmodels print of a test, lined up by blanks -> its statistics.

Summaries of regressions, tables of ANOVA, and Tukey's comparisons of all pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from repro.audit.comparison import printed_p
from repro.audit.pasted import Cell, Pasted
from repro.audit.printed_tests import DF, ERRORS
from repro.audit.statistics import Statement, checked
from repro.errors import ClaimError, Place, Problem
from repro.evidence.published import PrintedNumber
from repro.files import fatal, place_of_offset

_NUMBER = r"[-\N{MINUS SIGN}]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_CELL = rf"<? ?{_NUMBER}"
_ANOVA_HEAD = re.compile(r"(?i)^[^|\t,]*\b\w*df\b[^|\t,]*\bF(?: value)?\s+Pr ?\(?> ?F\)?\s*$")
_ANOVA_COLUMN = re.compile(
    r"(?:Num|Den) DF|(?:Sum|Mean) (?:Squares?|Sq)\b|Sum of Squares|(?:Type I+|Anova) SS|F [Vv]alue"
    r"|P[Rr] ?\(?> ?F\)?|\S+"
)
_MAX_LINE = 300
_NO_TEST = re.compile(r"(?:corrected |uncorrected )?total\b")


def in_anova(text: str, file: str) -> tuple[Pasted, str] | None:
    """Tables of ANOVA that R, SAS or statsmodels line up by blanks, as one; None without any.

    And the text without them. Where rows of errors stand in another table, as in SAS, they count
    for what has none below it.
    """
    rows: list[tuple[Cell, ...]] = []
    errors: list[tuple[Cell, ...]] = []
    columns: list[str] = []
    begun = False
    lines = text.split("\n")
    rest = lines.copy()
    for number, line in enumerate(lines, 1):
        if len(line) < _MAX_LINE and _ANOVA_HEAD.match(line):
            begun, rest[number - 1] = False, ""
            found = _ANOVA_COLUMN.findall(line)
            columns = [re.sub("(?<=num|den) df", "df", each.lower()) for each in found]
            columns = columns[columns[0] in ("source", "effect", "method") :]
        elif re.match(r"\s*(?:---|Signif|>)", line) or (not line.strip() and begun):
            columns = []
        elif columns and line.strip():
            begun, rest[number - 1] = True, ""
            if _NO_TEST.match(line.strip().lower()):
                continue
            unnamed = len(line.split()) == len(columns) - 2 and not re.search("[A-Za-z]{2}", line)
            named = f"Residuals {line}" if unnamed else line  # as R's test of Levene leaves it out
            rows.append(_anova_row(named, columns, number, file))
            errors += rows[-1:] if ERRORS.match(named.strip().lower()) else []
    if not rows:
        return None
    if foreign := re.search(r"as an error term", text, re.IGNORECASE):
        mistake, advice = "F with error terms of other rows", "leave that table out"
        place = place_of_offset(text, foreign.start(), file)
        raise fatal(place, mistake, "F(2, 57) = 4.10, p = .022 for each", advice)
    heads = ("source", "df1", "df2", "df", "f", "p")
    first = tuple(Cell(head, rows[0][0].line, 1) for head in heads)
    return Pasted(file, (first, *rows, *errors[:1]), ()), "\n".join(rest)


def _anova_row(line: str, columns: Sequence[str], number: int, file: str) -> tuple[Cell, ...]:
    """Name, df1, df2, df, F and p of a line; the last columns are empty in a row of errors."""
    for count in (len(columns), len(columns) - 2):
        numbers = rf"({_CELL}(?:\s+{_CELL}){{{count - 1}}})"
        row = re.fullmatch(rf"\s*(\S.*?)\s+{numbers}(?:\s+NaN)*\s*[*.]*\s*", line)
        if row is not None:
            break
    else:
        mistake, advice = f"{line.strip()[:40]!r} is not a row of ANOVA", "leave other lines out"
        expected = f"a name and {len(columns)} numbers, or two fewer in a row Residuals"
        raise fatal(Place(file, number, 1), mistake, expected, advice)
    said = dict(zip(columns, re.findall(_CELL, row[2]), strict=False))
    roles = {"df1": "numdf", "df2": "dendf", "df": "df", "f": "f", "p": "p"}
    found = {
        role: next((said[name] for name in said if name.split()[0].startswith(start)), "")
        for role, start in roles.items()
    }
    texts = (row[1], *(re.sub(r"\.0+$", "", each) for each in found.values()))
    return tuple(Cell(each, number, 1) for each in texts)


_HEAD = re.compile(
    r"(?:^|\s)(?P<kind>[tz])(?: value)?\s+(?:Pr\(>\|(?P=kind)\|\)|P>\|(?P=kind)\|)(?:\s|$)"
)
_COLUMN = re.compile(
    r"Estimate|[Cc]oef\w*\.?|[Ss]td\.? [Ee]rr(?:or)?\.?|(?<!\S)df(?!\S)"
    r"|(?<!\S)[tz](?: value)?(?!\S)|Pr?\(?>\|[tz]\|\)?|(?i:interval\])|\[?\.?[0-9][0-9.]* ?[%\]]?"
)
_R_DF = re.compile(r"(?m)^(?! *Null).*\bon +([0-9]+) +degrees of freedom")
_DF_ABOVE = re.compile(r"Df Residuals:\s+([0-9]+)|\bF\( *[0-9]+, +([0-9]+)\) += ")
_F = re.compile(
    rf"F-statistic: *({_NUMBER}) on ([0-9]+) and ([0-9]+) [Dd].*p-value: *(<? ?{_NUMBER})"
)
_OF_STATSMODELS = (
    rf"F-statistic:\s+({_NUMBER})",
    r"Df Model:\s+([0-9]+)",
    r"Df Residuals:\s+([0-9]+)",
    rf"Prob \(F-statistic\):\s+({_NUMBER})",
)
_RULE = re.compile(r"\s*---[-+]*\s*")
_BAR = re.compile(r"(?m)^([^|\n]*\S) +\|(?= |$)")


def in_summary(text: str, file: str) -> tuple[tuple[Statement, ...], str]:
    """The statistics of the printed summaries of a text, in its order, and the text without them.

    SpecError where t has no degrees of freedom, or a line below the header is not a coefficient.
    """
    of_stata = re.search(r"(?m)^-+\+-+$", text)
    lines = (_BAR.sub(r"\1   ", text) if of_stata else text).split("\n")
    heads = [at for at, line in enumerate(lines) if _is_head(line)]
    ends = [_end_of_coefficients(lines, at) for at in heads]
    found: list[Statement] = []
    problems: list[Problem] = []
    rest = lines.copy()
    for head, end, start, stop in zip(heads, ends, [0, *ends], [*heads[1:], None], strict=False):
        whole = (0, None) if len(heads) == 1 else None  # degrees of freedom may have been added
        above = "\n".join(lines[slice(*whole or (start, head))])
        below = "\n".join(lines[slice(*whole or (end, stop))])
        said = _R_DF.search(below) or _DF_ABOVE.search(above)
        df = next(filter(None, said.groups())) if said else ""
        for at in range(head + 1, end):
            if not _RULE.fullmatch(lines[at]) and re.search(r"\S +\S", lines[at]):
                _add(lines[head], lines[at], df, found, problems, Place(file, at + 1, 1))
        of_all = list(_of_model(above, below, len(found)))
        found += of_all
        rest[head:end] = [""] * (end - head)
        for at in range(start, stop or len(lines)) if of_all else ():
            rest[at] = re.sub("^.*F-statistic.*$", "", rest[at])
    if heads and not found and not problems:
        place = Place(file, heads[0] + 1)
        raise fatal(place, "no coefficient stands below", "a line each", "paste the whole summary")
    return checked(found, problems, file), "\n".join(rest) if heads else text


_STATA = re.compile(
    rf"(?m)((?:\bF|chi2)\( *[0-9]+(?:, +[0-9]+)?\) +=)  +({_NUMBER})"
    rf"([^\n]{{0,99}}\n[^\n]{{0,99}}?)(?:Prob > (?:F|chi2)) +=  +({_NUMBER})"
)


_T_OF_STATA = re.compile(
    rf"\bt = +({_NUMBER})([^\n]{{0,99}}\n?[^\n]{{0,99}}?)"
    r"(?:\(df|\bdegrees of freedom) = +([0-9.]+)\)?"
    rf"((?:[^\n]{{0,99}}\n){{1,5}}?[^\n]{{0,99}}?)Pr\(\|T\| > \|t\|\) = +({_NUMBER})",
    re.IGNORECASE,
)


def of_stata(text: str) -> str:
    """The text, where Stata or Julia prints the p of a test below it, with this p behind it."""
    if "|T| > |t|" in text:
        text = _T_OF_STATA.sub(r"t(\3) = \1, p = \5 \2 \4", text)
    return _STATA.sub(r"\1 \2, p = \4 \3", text)


def _is_head(line: str) -> bool:
    return _HEAD.search(line) is not None and "|" not in re.sub(r"[>|]\|?[tz]\|", "", line)


def _end_of_coefficients(lines: Sequence[str], head: int) -> int:
    """The line behind the last below a header; a rule right below it is that of the header."""
    for at in range(head + 1, len(lines)):
        rule = re.match(r"\s*(?:---|===)", lines[at])
        if not lines[at].strip() or (rule and (at > head + 1 or not _RULE.fullmatch(lines[at]))):
            return at
    return len(lines)


def _add(
    head: str, line: str, df: str, found: list[Statement], problems: list[Problem], place: Place
) -> None:
    try:
        found.append(_coefficient(head, line, df, len(found)))
    except ClaimError as error:
        advice = "paste the whole summary, with its degrees of freedom"
        expected = "a name with one number per column, as in size 0.45 0.15 3.00 0.004"
        problems.append(Problem(place, str(error), expected, advice))


def _coefficient(head: str, line: str, df: str, before: int) -> Statement:
    columns = [re.sub(r" value$", "", each) for each in _COLUMN.findall(head)]
    row = re.fullmatch(
        rf"\s*(\S.*?)\s+({_CELL}(?:\s+{_CELL}){{{len(columns) - 1}}})\s*[*.]*\s*", line
    )
    if row is None:
        raise ClaimError(f"{line.strip()[:40]!r} is not a coefficient")
    cells = dict(zip(columns, re.findall(_CELL, row[2]), strict=True))
    kind = "t" if "t" in cells else "z"
    df = cells.get("df", df)
    if kind == "t" and not df:
        raise ClaimError("t without degrees of freedom")
    p = printed_p(next(cells[name] for name in columns if name.startswith("P")))
    degrees = (PrintedNumber.read(df),) if kind == "t" else ()
    name = f"{before + 1}: {row[1][:60]}"
    return Statement(name, kind, degrees, PrintedNumber.read(cells[kind]), p)


def _of_model(above: str, below: str, before: int) -> Iterator[Statement]:
    """The F-test of all coefficients together, where it is printed."""
    each = [re.search(pattern, above) for pattern in _OF_STATSMODELS]
    if (r := _F.search(below)) is not None:
        parts = list(r.groups())
    elif all(each):
        parts = [one[1] for one in each if one is not None]
    else:
        return
    value, *df, p = parts
    if "Covariance Type:" in above and "nonrobust" not in above:
        return  # a robust F has other degrees of freedom
    degrees = tuple(map(PrintedNumber.read, df))
    name = f"{before + 1}: all coefficients"
    yield Statement(name, "F", degrees, PrintedNumber.read(value), printed_p(p))


_REFUSED = (
    (
        re.compile(r"\(v/ ?/\*\)"),
        "Weka's marks are of a corrected test of folds, which its means do not give",
        "| data set | J48 | IBk |, below it | iris | 94.73 ± 5.30 | 95.40 ± 4.80 |",
        "leave (100), v and * out",
    ),
    (
        re.compile(
            r"(?m)^[^\w\n]{0,9}(?:t Stat\b|t, df\b(?!, ?p)|F, DFn, Dfd\b"
            r"|[tFP]\([tF]<=[tF]\)| *T +dof\b)"
        ),
        "a test in the form of Excel, GraphPad or pingouin, which is not read",
        "t(26) = 2.213, p = .0359",
        "write each of its tests in a line of this form, with the two-sided p",
    ),
    (
        re.compile(r"(?m)^ *Source \| +(?:Partial|Seq\.) SS"),
        "Stata's table of ANOVA, which is not read",
        "F(2, 37) = 5.78, p = .0066",
        "write each of its rows in a line of this form, with the df of Residual",
    ),
)


def refuse_printouts(text: str, file: str) -> None:
    """SpecError for what Weka, Excel, GraphPad and pingouin print, with what to write instead."""
    for form, *said in _REFUSED:
        if found := form.search(text):
            raise fatal(place_of_offset(text, found.start(), file), *said)


def with_its_name(table: Pasted) -> Pasted:
    """The table with `t` over a column `Statistic` whose rows all say so, as jamovi's."""
    head, *body = table.rows
    of_t = re.compile(r"(?i)(?:student|welch)(?:['’]?s)? t(?:-test)?\W?")
    if not all(any(of_t.fullmatch(cell.text) for cell in row) for row in body):
        return table
    named = (replace(c, text="t") if c.text.lower() == "statistic" else c for c in head)
    return replace(table, rows=(tuple(named), *body))


_TUKEY = {
    "diff": "diff",
    "meandiff": "diff",
    "lwr": "low",
    "lower": "low",
    "upr": "high",
    "upper": "high",
}


def in_tukey(text: str, file: str) -> tuple[tuple[Statement, ...], str]:
    """The comparisons of all pairs that R's TukeyHSD or statsmodels prints, and the other lines.

    Half of an interval is so many errors as the studentized range has at its level, which gives q.
    """
    if of_pairs := re.search(r"\(I-J\)|conf\.low.*p\.adj", text):
        mistake = "comparisons of all pairs, in a form that is not read"
        expected = "if they are Tukey's: columns comparison,diff,lwr,upr,p adj and a line df = 27"
        place = place_of_offset(text, of_pairs.start(), file)
        raise fatal(place, mistake, expected, "write b-a for each pair of groups, and each once")
    found: list[Statement] = []
    rows: list[tuple[str, dict[str, PrintedNumber], int]] = []
    columns: list[str] = []
    of_tukey = "tukey" in text.lower()
    rest = [*text.split("\n"), ""]
    for number, line in enumerate(rest.copy(), 1):
        words = re.findall(r"p[ ._-]?adj|[a-z]\w*", line.lower())
        roles = [
            _TUKEY.get(word) or ("p" if re.match("p[ ._-]?adj", word) else "") for word in words
        ]
        named = (
            "lwr" in words and "p" not in words
        ) or of_tukey  # other tests have such columns too
        if named and {"diff", "low", "high", "p"} <= {*roles}:
            columns, rest[number - 1] = [role for role in roles if role], ""
        elif columns and (row := _tukey_row(line)):
            rest[number - 1] = ""
            values = map(PrintedNumber.read, row[1])
            rows.append((row[0], dict(zip(columns, values, strict=True)), number))
        elif rows and not line.strip(" -="):
            found += _of_tukey(rows, text, file, len(found))
            rows, columns = [], []
    return tuple(found), "\n".join(rest[:-1])


def _tukey_row(line: str) -> tuple[str, list[str]] | None:
    line = re.sub(r"[|,;\t]", " ", line)
    numbers = rf"({_CELL}(?:\s+{_CELL}){{3}})(?:\s+(?:True|False))?"
    row = re.fullmatch(rf"\s*(\S.*?)\s+{numbers}\s*", line)
    return None if row is None else (row[1], re.findall(_CELL, row[2]))


def _of_tukey(
    rows: Sequence[tuple[str, Mapping[str, PrintedNumber], int]], text: str, file: str, before: int
) -> Iterator[Statement]:
    """Each pair of a factor; SpecError where its groups, or df of the residuals, are not known."""
    from scipy.stats import studentized_range  # noqa: PLC0415 - slow to import

    place = Place(file, rows[0][2], 1)
    groups = {name for pair, *_ in rows for name in re.split(r"-|\s+", pair)}
    if len(groups) * (len(groups) - 1) != 2 * len(rows):
        mistake, advice = "the number of groups is open", "paste all pairs, b-a for b and a"
        raise fatal(place, mistake, "a row for each pair of groups", advice)
    said = re.search(r"(?im)^\s*residuals?\s+([0-9]+)\b", text) or DF.search(text)
    if said is None:
        mistake = "nothing says the degrees of freedom of the residuals"
        advice = "add that line, with the df that summary(aov) prints for Residuals"
        raise fatal(place, mistake, "a line df = 27 below the table", advice)
    df = next(filter(None, said.groups()))
    level = re.search(r"([0-9.]+)% (?:family|conf)|FWER=([0-9.]+)", text)
    alpha = 0.05 if level is None else float(level[2] or 1 - float(level[1]) / 100)
    critical = float(studentized_range.ppf(1 - alpha, len(groups), int(df)))
    for at, (pair, of, line) in enumerate(rows, before + 1):
        half = (of["high"].value - of["low"].value) / 2
        slack = (of["high"].half + of["low"].half) / 2
        if half <= slack:
            raise fatal(
                Place(file, line, 1), "an interval without length", "0.17 to 1.56", "correct it"
            )
        ends = [
            critical * max(abs(of["diff"].value) - of["diff"].half, 0) / (half + slack),
            critical * (abs(of["diff"].value) + of["diff"].half) / (half - slack),
        ]
        middle = sum(ends) / 2
        q = PrintedNumber(f"{middle:.4g}", middle, (ends[1] - ends[0]) / 2)
        degrees = (PrintedNumber.read(str(len(groups))), PrintedNumber.read(df))
        yield Statement(f"{at}: {pair[:60]}", "q", degrees, q, printed_p(of["p"].text))
