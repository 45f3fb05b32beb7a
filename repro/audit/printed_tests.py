"""Tests in tables -> each statistic with its degrees of freedom and p.

Columns t, df, p, as SPSS has them too; cells `t(28) = 2.20`. What other programs print is cut into
rows by `printouts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from repro.audit.comparison import printed_p
from repro.audit.notations import STATISTIC, plain
from repro.audit.p_range import df_of, possible
from repro.audit.pasted import Cell, Pasted
from repro.audit.printed_cells import bare, is_result, legend_told
from repro.audit.printed_words import TWO_SIDED
from repro.audit.statistics import (
    Statement,
    checked,
    is_of_variances,
    statement_at,
)
from repro.audit.unread import EXAMPLES
from repro.errors import ClaimError, Place, Problem
from repro.evidence.published import PrintedNumber
from repro.files import fatal

ERRORS = re.compile(r"(?:error|residuals?|within)\b")
_EQUAL = re.compile(r"levene|equal variances")
_SPHERICITY = re.compile(r"sphericity|greenhouse|huynh|lower-bound")
DF = re.compile(r"(?i)\bdf ?[:=]? ?([0-9]+)\b(?!,? ?(?:and )?[0-9])|\b([0-9]+) degrees of freedom")
_KINDS = ("t", "F", "r", "z", "χ²", "H", "Q")
_HEADS: Mapping[str, re.Pattern[str]] = {
    "t": re.compile(
        r"(?:(?:welch|student)(?:'?s)?|paired|independent|two-sample)?[- ]?"
        r"t(?:[-_. ]?(?:values?|ratio|stat(?:istic)?s?|tests?)\.?)?"
        r"(?: ?\((?:welch|student|paired|df)\))?"
    ),
    "F": re.compile(r"f(?:[-_. ]?(?:values?|stat(?:istic)?\.?|ratio))?|levene(?:'s)? statistic"),
    "r": re.compile(r"r|pearson(?:'s)? r"),
    "z": re.compile(r"z(?:[-_. ]?(?:values?|ratio|score|stat(?:istic)?\.?))?"),
    "χ²": re.compile(r"(?:χ|x|chi-?)(?:²|\^?2|squared?|-squared?)"),
    "H": re.compile(r"h|kruskal[- ]wallis(?: h)?"),
    "Q": re.compile(r"q|cochran'?s? q"),
    "df": re.compile(r"d[o.]?f\.?|degrees of freedom"),
    "df1": re.compile(r"df ?1|df ?num|numdf|num df|hypothesis df"),
    "df2": re.compile(r"df ?2|df ?den|dendf|den df|error df"),
    "n": re.compile(r"n"),
    "p": re.compile(
        r"(?:p|p[-._ ]?val(?:ue)?s?\.?|p[-._ ]?adj(?:usted)?\.?|(?:asymp\w*\.? )?sig\.?)"
        r"(?: ?\(.*\))?"
        r"|(?:two|2)[- ](?:sided|tailed) p"
        r"|pr? ?\(? ?> ?\|?[tzf]\|?\)?"
    ),
}


def in_cells(table: Pasted) -> tuple[Statement, ...]:
    """The statistics in cells of a table that has columns of p; none without such a column.

    A p is of the nearest statistic before it, else of the first behind it.
    """
    header, *body = table.rows
    heads = [plain(cell.text).strip().lower() for cell in header]
    ps = [at for at, head in enumerate(heads) if _HEADS["p"].fullmatch(head)]
    legend = legend_told(" ".join(table.notes).lower())
    found: list[Statement] = []
    problems: list[Problem] = []
    for row in body if ps else ():
        texts = [plain(cell.text).strip() for cell in row]
        held = {at: read for at, each in enumerate(texts) if (read := STATISTIC.match(each))}
        behind = {
            max((at for at in held if at < p), default=min(held, default=-1)): p
            for p in reversed(ps)
        }
        for at, read in held.items():
            try:
                words = texts[at]
                within = (0, len(words))
                each = next(statement_at(words, 0, read, row[0].line, len(found), within), None)
                if each is not None:
                    text = row[behind[at]].text if at in behind else ""
                    p = each.p or legend.get(text.strip()) or printed_p(text)
                    name = f"{len(found) + 1}: {texts[0] if at else f'line {row[0].line}'}"
                    found.append(replace(each, id=name[:100], p=p))
            except ClaimError as error:
                advice = "write p as .036, <.001 or n.s.; - where nothing is printed"
                where = row[behind.get(at, at)]
                place = Place(table.file, where.line, where.column)
                problems.append(Problem(place, str(error), "t(28) = 2.20 with p .036", advice))
    return checked(found, problems, table.file)


def in_columns(table: Pasted) -> tuple[Statement, ...] | None:
    """The statistics of a table whose header names one test, with its df; else none.

    SPSS's t-tests of two groups give t, and F of Levene's test that stands before it.
    """
    header, body = _header(table)
    at, ps, fixed = _roles(header)
    kinds = [kind for kind in _KINDS if kind in at]
    two_groups = any(_EQUAL.search(c.text.lower()) for row in table.rows for c in row[:3])
    levene = two_groups and sorted(kinds) == ["F", "t"] and len(ps) > 1 and at["F"] < at["t"]
    if levene:
        kinds = ["t"]
        at["p"] = next((p for p in ps if p > at["t"] and _is_two_sided(header[p])), ps[-1])
    if kinds == ["t"] and "df" not in at and (said := DF.search(" ".join(table.notes))):
        fixed = fixed or said[1] or said[2]
    if len(kinds) > 1 and "p" in at and {"df", "df1"} & at.keys():
        _refuse_several(table, kinds)
    known = fixed or {"df", "df1"} & at.keys() or (kinds == ["r"] and "n" in at) or kinds == ["z"]
    if len(kinds) != 1 or not known or not (fixed or "p" in at or "df" in at or "df1" in at):
        return None
    found: list[Statement] = []
    problems: list[Problem] = []
    legend = legend_told(" ".join(table.notes).lower())
    body = [[_as_legend(cell, legend) for cell in row] for row in body]
    two_sided = "p" in at and _is_two_sided(header[at["p"]])
    if "p" not in at and legend:
        at["p"] = len(header)
        body = [[*row, _level_of(row[at[kinds[0]]], legend)] for row in body]
    named = _named(body, at[kinds[0]])
    of_errors = _error_df(named, at.get("df")) if kinds == ["F"] else [""] * len(body)
    for row, error in zip(named, of_errors, strict=True):
        if levene and not row[at["F"]].empty:
            told = f"1, {plain(row[at['df']].text).strip()}", ""
            _of_row(row, "F", {"F": at["F"], "p": ps[0]}, told, found, problems, table.file)
        if not row[at[kinds[0]]].empty:
            _of_row(row, kinds[0], at, (fixed, error), found, problems, table.file)
    if two_sided:
        found = [replace(each, tails=2) for each in found]
    return checked(found, problems, table.file) or None


def outside(text: str, table: Pasted, *, named: bool) -> str:
    """The lines of a text that are not of its table.

    With ``named`` the rows stay whose p stands with no statistic, as `Age, p = .03`.
    """
    header, body = _header(table)
    at, ps, _ = _roles(header)
    tags = [each.span() for each in re.finditer(r"(?i)<table\b|</table>", text)]
    if tags:
        begin, end = tags[0][0], tags[-1][1]
        text = text[:begin] + "\n" * text.count("\n", begin, end) + text[end:]
    lines = text.split("\n")
    for cell in (cell for row in table.rows if not tags for cell in row):
        lines[cell.line - 1] = ""
    for row in body if named else ():
        texts = ["" if cell.empty else plain(cell.text).strip() for cell in row]
        held = any(kind in at and texts[at[kind]] for kind in _KINDS)
        p = next((texts[place] for place in ps if texts[place]), "")
        if p and not held and not any(map(STATISTIC.match, texts)):
            others = ", ".join(text for at, text in enumerate(texts) if text and at not in ps)
            lines[row[0].line - 1] += f"{others}, p {'= ' * (p[0] in '.0123456789')}{p}"
    return "\n".join(lines)


def turned(table: Pasted) -> Pasted | None:
    """A table whose rows are t, df and p with these as columns; None for any other."""
    heads = [plain(row[0].text).strip().lower() for row in table.rows]
    roles = {role for head in heads for role, named in _HEADS.items() if named.fullmatch(head)}
    if {"t", "p"} <= roles <= {"t", "p"} and len(heads) < 4:
        mistake, advice = "t has no degrees of freedom", "add a row df"
        raise fatal(Place(table.file, table.rows[0][0].line, 1), mistake, "df,28", advice)
    sure = "p" in roles and {"df", "df1", "z"} & roles  # P, R and N are of a tagger
    if not sure or any("±" in cell.text for row in table.rows for cell in row):
        return None
    return replace(table, rows=tuple(zip(*table.rows, strict=True)))


def _as_legend(cell: Cell, legend: Mapping[str, PrintedNumber]) -> Cell:
    """A cell of stars alone as what the legend says that they mean."""
    return replace(cell, text=legend[cell.text].text) if cell.text in legend else cell


def _level_of(cell: Cell, legend: Mapping[str, PrintedNumber]) -> Cell:
    """What the stars behind a statistic claim, as the cell of its p; empty without stars."""
    stars = bare(cell.text)[2]
    return replace(cell, text=legend[stars].text if stars in legend else "")


def _refuse_several(table: Pasted, kinds: Sequence[str]) -> None:
    mistake = f"columns of several tests: {', '.join(kinds)}"
    advice = "paste the columns of each test as a table, and leave out sizes of effects"
    place = Place(table.file, table.rows[0][0].line, table.rows[0][0].column)
    raise fatal(place, mistake, "one statistic with its df and p", advice)


def _roles(header: Sequence[Sequence[str]]) -> tuple[dict[str, int], list[int], str]:
    """The first column of each role, all columns of p, and the df that a name gives, as `t(28)`."""
    at: dict[str, int] = {}
    ps: list[int] = []
    fixed = ""
    for place, names in enumerate(header):
        role, name, df = _role(names)
        if role == "p":
            ps.append(place)
        if role and role not in at:
            at[role] = place
            if "(df)" in name.lower():  # `2.20 (28)`
                at["df"] = place
            fixed = fixed or df
    return at, ps, fixed


Row: TypeAlias = Sequence[Cell]


def _header(table: Pasted) -> tuple[list[list[str]], Sequence[Row]]:
    """What stands above each column, the lowest first, and the rows from the first result on."""
    rows = table.rows
    first = next((at for at, row in enumerate(rows) if any(is_result(c.text) for c in row[1:])), 1)
    heads = [[plain(cell.text).strip() for cell in row] for row in reversed(rows[: first or 1])]
    return [list(each) for each in zip(*heads, strict=True)], rows[first or 1 :]


def _role(names: Sequence[str]) -> tuple[str, str, str]:
    """The role of a column, by the name that says it, and the df that stands behind that name."""
    for name in names:
        opened = re.fullmatch(r"(\S+) ?\(([0-9., ]+)\)", name)
        short, df = opened.groups() if opened else (name, "")
        for role, head in _HEADS.items():
            if head.fullmatch(short.lower()):
                return role, short, df
    return "", "", ""


def _is_two_sided(names: Sequence[str]) -> bool:
    return any(TWO_SIDED.search(name.lower()) for name in names)


def _named(body: Sequence[Row], end: int) -> list[Row]:
    """The rows, each with all its names in its first cell; an empty one goes on from above."""
    found: list[Row] = []
    above = ""
    for row in body:
        texts = [plain(cell.text).strip() for cell in row[:end]]
        more = [text for text in texts[1:] if text[:1].isalpha()]
        above = texts[0] if texts and (texts[0] or not more) else above
        name = replace(row[0], text=" ".join(filter(None, [above, *more])))
        found.append((name, *row[1:]) if end else row)
    return found


def _error_df(body: Sequence[Row], at: int | None) -> list[str]:
    """For each row the df of the next row of errors below, as a table of ANOVA prints it.

    SPSS prints a row for each correction of df: then it is that of the same correction.
    """
    found: list[str] = []
    of: dict[str, str] = {}
    for row in reversed(body):
        by = correction[0] if (correction := _SPHERICITY.search(row[0].text.lower())) else ""
        if at is not None and ERRORS.match(row[0].text.lower()):
            of[by] = plain(row[at].text).strip()
        found.append(of.get(by, ""))
    return found[::-1]


def _of_row(
    row: Row,
    kind: str,
    at: Mapping[str, int],
    told: tuple[str, str],
    found: list[Statement],
    problems: list[Problem],
    file: str,
) -> None:
    cells = {role: plain(row[place].text).strip() for role, place in at.items()}
    try:
        fixed, error = told
        if both := re.fullmatch(r"(\S+) ?\(([0-9., ]+)\)", cells[kind]):
            cells[kind], cells["df"] = both.groups()
        df = fixed or cells.get("df") or ", ".join(cells.get(each, "") for each in ("df1", "df2"))
        df = f"{df}, {error}" if error and re.fullmatch(r"[0-9.]+", df) else df
        if kind == "r" and not fixed and "df" not in cells:
            df = _df_of_pairs(cells.get("n", ""))
        name = row[0].text if at[kind] else ""
        number = re.sub(r"(?<=[0-9])[a-d]$", "", cells[kind])  # a footnote of SPSS
        value = possible(kind, PrintedNumber.read(number))
        p = printed_p(cells.get("p", ""))
        label = f"{len(found) + 1}: {name or f'line {row[0].line}'}"
        ratio = kind == "F" and is_of_variances(name)
        found.append(Statement(label[:100], kind, df_of(kind, df), value, p, ratio=ratio))
    except ClaimError as wrong:
        place = Place(file, row[at[kind]].line, row[at[kind]].column)
        advice = (
            "write a decimal point; give F both degrees of freedom, in columns df1,df2 or in a "
            "row Residual; and write - in empty cells"
        )
        expected = EXAMPLES.get(kind, "2.20 with df 28")
        problems.append(Problem(place, str(wrong), expected, advice))


def _df_of_pairs(n: str) -> str:
    if not n.isdecimal() or int(n) < 3:
        raise ClaimError(f"{n!r} is not a number of pairs, 3 or more")
    return str(int(n) - 2)


_BY_RANKS = re.compile(r"[wuvτρ]|tau|rho|(?:spearman|kendall|wilcoxon|mann-whitney)\b.*")


_NO_RATIO = ("β", "b", "beta", "std. β")
_RATIO = re.compile(
    rf"(?:a|c|(?:un)?adjusted |crude )?(?:[ohri]r|irr|{'|'.join(_NO_RATIO)}"
    r"|(?:odds|hazard|risk|rate) ratios?)(?:,? ?\(?(?:95 ?% ?)?ci\)?)?"
)
_OF_COEFFICIENTS = re.compile(
    rf"{_RATIO.pattern}|(?:95 ?% ?)?ci|s\.?e\.?|n|p(?:[- ]?values?)?|(?:95 ?% ?)?(?:ci )?"
    r"(?:low(?:er)?|upp(?:er)?|high)"
)
"""Columns of a coefficient or a ratio, and nothing of two methods."""


_MODEL = re.compile(
    r"\(?(?:[0-9]{1,2}|[ivx]{1,4})\)|(?:model|spec(?:ification)?|step|ols|logit|probit|iv|fe)\.? ?"
    r"\(?(?:[0-9]{1,2}|[ivx]{1,4})\)?|b ?\(s\.?e\.?\).*"
)
_OF_TERMS = re.compile(
    r"(?:predictors?|terms?|covariates?|regressors?|(?:independent|explanatory) variables?"
    r"|dependent variable)\b.*|\W*[0-9ivx]\W.*|.*\bb ?\(s\.?e\.?\).*"
)
_OF_FIT = re.compile(
    r"\(?(?:intercept|constant|_?cons)\)?|(?:num\. ?)?obs(?:ervations|\.)?|log[- ]?likelihood"
    r"|(?:adj(?:\.|usted)?|pseudo) r ?(?:²|\^?2|-?squared)|\w+ fixed effects"
    r"|variables?.*\n(?:n|r ?(?:²|\^?2|-?squared))"
)
"""Columns of regressions, the word above their terms, and what else stands below these."""


def _is_of_fits(said: str, body: Sequence[Row]) -> bool:
    """Whether a header in lower case, or a row below it, is one of a table of regressions."""
    firsts = [plain(row[0].text).strip(" *").lower() for row in body]
    firsts += [f"{said}\n{first}" for first in firsts]
    return bool(_OF_TERMS.fullmatch(said)) or any(map(_OF_FIT.fullmatch, firsts))


def refuse_coefficients(table: Pasted) -> None:
    """SpecError for a table of coefficients, each of which is tested against zero, without t.

    And for one of W, U or the like, whose p takes the values of every run.
    """
    intercept = re.compile(r"\(?(?:intercept|constant|_?cons)\)?", re.IGNORECASE)
    head, *body = table.rows
    heads = {plain(cell.text).strip().lower() for cell in head}
    said = " ".join(plain(cell.text).lower() for cell in head)
    ps = [at for at, cell in enumerate(head) if _HEADS["p"].fullmatch(plain(cell.text).lower())]
    with_spread = any("±" in c.text for row in body for c in row)
    by_ranks = [cell for cell in head[1:] if _BY_RANKS.fullmatch(plain(cell.text).strip().lower())]
    if ps and len(by_ranks) == 1 and not with_spread:
        mistake = f"the p of {by_ranks[0].text} takes the values of every run"
        advice = "write the z of the test, if it is printed, in a column z"
        place = Place(table.file, by_ranks[0].line, by_ranks[0].column)
        raise fatal(place, mistake, "a column t, F, r, z, χ², H or Q", advice)
    with_se = re.search(r"\b(?:estimate|coef\w*)\b.*\b(?:se|std\.? err\w*|standard error)", said)
    of_all = bool(ps) and not any(row[ps[0]].empty for row in body)
    by_head = (
        not with_spread
        and {"t", "p"} <= heads
        and heads & {"β", "b", "beta", "coef", "coefficient", "estimate"}
    )
    row = next((row for row in body if intercept.fullmatch(plain(row[0].text).strip())), None)
    named = [cell.text.strip("*_ ").lower() for cell in head[1:]]
    of_ratios = [each for each in named if _RATIO.fullmatch(each)]
    only_these = bool(of_ratios) and all(map(_OF_COEFFICIENTS.fullmatch, named))
    row = head if by_head or ((with_se or only_these) and of_all) else row
    by_model = all(map(_MODEL.fullmatch, named)) and _is_of_fits(said, body)
    row = head if by_model else row
    if row is not None:
        mistake = "a table of coefficients, which are not compared with each other"
        expected = "for each its statistic: a column t or z, df for t, and p"
        advice = "add these columns: t is the coefficient divided by its standard error"
        if by_model:
            advice = "write a row name,z,p for each: z is the coefficient divided by its error"
        if of_ratios and of_ratios[0] not in _NO_RATIO:
            advice = "add a column z: 3.92 ln(ratio) / ln(high / low) of its 95 % interval"
        raise fatal(Place(table.file, row[0].line, row[0].column), mistake, expected, advice)
