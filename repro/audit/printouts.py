"""What R, SAS and statsmodels print of a test, lined up by blanks -> its statistics.

Summaries of regressions, tables of ANOVA, and Tukey's comparisons of all pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

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


def in_anova(text: str, file: str) -> Pasted | None:
    """Tables of ANOVA that R, SAS or statsmodels line up by blanks, as one; None without any.

    Where rows of errors stand in another table, as in SAS, they count for what has none below it.
    """
    rows: list[tuple[Cell, ...]] = []
    errors: list[tuple[Cell, ...]] = []
    columns: list[str] = []
    begun = False
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) < _MAX_LINE and _ANOVA_HEAD.match(line):
            begun = False
            found = _ANOVA_COLUMN.findall(line)
            columns = [re.sub("(?<=num|den) df", "df", each.lower()) for each in found]
            columns = columns[columns[0] in ("source", "effect", "method") :]
        elif re.match(r"\s*(?:---|Signif)", line) or (not line.strip() and begun):
            columns = []
        elif columns and line.strip():
            begun = True
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
    return Pasted(file, (first, *rows, *errors[:1]), ())


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
    r"Estimate|coef|[Ss]td\.? [Ee]rr(?:or)?\.?|(?<!\S)df(?!\S)|(?<!\S)[tz](?: value)?(?!\S)"
    r"|Pr?\(?>\|[tz]\|\)?|\[?[0-9.]+ ?[%\]]?"
)
_SUMMARY_DF = re.compile(
    r"(?m)^(?! *Null).*\bon +([0-9]+) +degrees of freedom|Df Residuals:\s+([0-9]+)"
)
_F = re.compile(
    rf"F-statistic: *({_NUMBER}) on ([0-9]+) and ([0-9]+) [Dd].*p-value: *(<? ?{_NUMBER})"
)
_OF_STATSMODELS = (
    rf"F-statistic:\s+({_NUMBER})",
    r"Df Model:\s+([0-9]+)",
    r"Df Residuals:\s+([0-9]+)",
    rf"Prob \(F-statistic\):\s+({_NUMBER})",
)


def in_summary(text: str, file: str) -> tuple[Statement, ...] | None:
    """The statistics of a printed summary, in its order; None for any other text.

    SpecError where t has no degrees of freedom, or a line below the header is not a coefficient.
    """
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if _HEAD.search(line)), None)
    if first is None or "|" in re.sub(r"[>|]\|?[tz]\|", "", lines[first]):
        return None
    found: list[Statement] = []
    problems: list[Problem] = []
    degrees = _SUMMARY_DF.search(text)
    df = "" if degrees is None else degrees[1] or degrees[2]
    for number, line in enumerate(lines[first + 1 :], first + 2):
        if not line.strip() or re.match(r"\s*(?:---|===)", line):
            if re.match(r"\s*---+\s*$", line) and not found and not problems:
                continue  # the line that statsmodels draws below its header
            break
        try:
            found.append(_coefficient(lines[first], line, df, len(found)))
        except ClaimError as error:
            advice = "paste the whole summary, with its degrees of freedom"
            expected = "a name with one number per column, as in size 0.45 0.15 3.00 0.004"
            problems.append(Problem(Place(file, number, 1), str(error), expected, advice))
    found += _of_model(text, len(found))
    if not found and not problems:
        place = Place(file, first + 1, 1)
        raise fatal(place, "no coefficient stands below", "a line each", "paste the whole summary")
    return checked(found, problems, file)


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


def _of_model(text: str, before: int) -> Iterator[Statement]:
    """The F-test of all coefficients together, where it is printed."""
    each = [re.search(pattern, text) for pattern in _OF_STATSMODELS]
    if (r := _F.search(text)) is not None:
        parts = list(r.groups())
    elif all(each):
        parts = [one[1] for one in each if one is not None]
    else:
        return
    value, *df, p = parts
    if "Covariance Type:" in text and "nonrobust" not in text:
        return  # a robust F has other degrees of freedom
    degrees = tuple(map(PrintedNumber.read, df))
    name = f"{before + 1}: all coefficients"
    yield Statement(name, "F", degrees, PrintedNumber.read(value), printed_p(p))


def besides(text: str, read: Sequence[Statement]) -> str:
    """The text without the line of the test of all coefficients, where that is among those read."""
    of_all = read[-1].id.endswith(": all coefficients")
    return re.sub(r"(?m)^.*F-statistic.*$", "", text) if of_all else text


_TUKEY = {
    "diff": "diff",
    "meandiff": "diff",
    "lwr": "low",
    "lower": "low",
    "upr": "high",
    "upper": "high",
}


def in_tukey(text: str, file: str) -> tuple[Statement, ...] | None:
    """The comparisons of all pairs that R's TukeyHSD or statsmodels prints; None for other texts.

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
    for number, line in enumerate([*text.split("\n"), ""], 1):
        words = re.findall(r"p[ ._-]?adj|[a-z]\w*", line.lower())
        roles = [
            _TUKEY.get(word) or ("p" if re.match("p[ ._-]?adj", word) else "") for word in words
        ]
        named = (
            "lwr" in words and "p" not in words
        ) or of_tukey  # other tests have such columns too
        if named and {"diff", "low", "high", "p"} <= {*roles}:
            columns = [role for role in roles if role]
        elif columns and (row := _tukey_row(line)):
            values = map(PrintedNumber.read, row[1])
            rows.append((row[0], dict(zip(columns, values, strict=True)), number))
        elif rows and not line.strip(" -="):
            found += _of_tukey(rows, text, file, len(found))
            rows, columns = [], []
    return tuple(found) or None


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
