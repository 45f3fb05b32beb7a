"""What R and statsmodels print of a regression -> its t, z and F with degrees of freedom and p."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repro.audit.comparison import printed_p
from repro.audit.pasted import Pasted
from repro.audit.statistics import Statement, checked, plain
from repro.errors import ClaimError, Place, Problem
from repro.evidence.published import PrintedNumber
from repro.files import fatal

_NUMBER = r"[-\N{MINUS SIGN}]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?"
_HEAD = re.compile(
    r"(?:^|\s)(?P<kind>[tz])(?: value)?\s+(?:Pr\(>\|(?P=kind)\|\)|P>\|(?P=kind)\|)(?:\s|$)"
)
_COLUMN = re.compile(
    r"Estimate|coef|[Ss]td\.? [Ee]rr(?:or)?\.?|(?<!\S)df(?!\S)|(?<!\S)[tz](?: value)?(?!\S)"
    r"|Pr?\(?>\|[tz]\|\)?|\[?[0-9.]+ ?[%\]]?"
)
_DF = re.compile(r"on ([0-9]+) degrees of freedom|Df Residuals:\s+([0-9]+)")
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
    degrees = _DF.search(text)
    df = "" if degrees is None else degrees[1] or degrees[2]
    for number, line in enumerate(lines[first + 1 :], first + 2):
        if not line.strip() or re.match(r"\s*(?:---|===)", line):
            if re.match(r"\s*---+\s*$", line) and not found:
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
    number = rf"<? ?{_NUMBER}"
    row = re.fullmatch(
        rf"\s*(\S.*?)\s+({number}(?:\s+{number}){{{len(columns) - 1}}})\s*[*.]*\s*", line
    )
    if row is None:
        raise ClaimError(f"{line.strip()[:40]!r} is not a coefficient")
    cells = dict(zip(columns, re.findall(number, row[2]), strict=True))
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


def refuse_coefficients(table: Pasted) -> None:
    """SpecError for a table of coefficients, each of which is tested against zero, without t."""
    intercept = re.compile(r"\(?(?:intercept|constant|_?cons)\)?", re.IGNORECASE)
    head, *body = table.rows
    heads = {plain(cell.text).strip().lower() for cell in head}
    by_head = {"t", "p"} <= heads and heads & {"β", "b", "beta", "coef", "coefficient", "estimate"}
    row = next((row for row in body if intercept.fullmatch(plain(row[0].text).strip())), None)
    row = head if by_head else row
    if row is not None:
        mistake = "a table of coefficients, which are not compared with each other"
        expected = "for each its statistic: a column t or z, df for t, and p"
        advice = "add these columns: t is the coefficient divided by its standard error"
        raise fatal(Place(table.file, row[0].line, row[0].column), mistake, expected, advice)
