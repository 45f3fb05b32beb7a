"""What heads the columns of a printed table -> the name and the role of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from repro.audit.pasted import Cell, Pasted
from repro.audit.printed_cells import bare, has_spread, is_number, is_result
from repro.audit.printed_layout import of_data
from repro.audit.printed_rows import is_group, is_of_no_method, place_of
from repro.files import fatal

ROLES: Mapping[str, re.Pattern[str]] = {
    "unread": re.compile(r"(?:ci[ _]?)?(?:lower|upper)(?:[ _](?:ci|bound))?|variance|iqr|range"),
    "n": re.compile(
        r"#? ?(?:n|counts?|runs|seeds|trials|repeats|n (?:runs|seeds|trials)"
        r"|(?:seed|run|trial)s? count"
        r"|(?:num(?:ber)?|no\.?)(?: of)? (?:runs|seeds|trials)"
        r"|observations|obs\.?|sample size)"
    ),
    "p": re.compile(
        r"(?:(?:adj(?:usted|\.)?|corrected|holm|bonferroni|raw|two-(?:sided|tailed)|welch(?:'?s)?"
        r"|student(?:'?s)?)[- ])?(?:p|p[-. ]?val(?:ue|or)?s?\.?|p[- ]wert|p-waarde"
        r"|val(?:eur|or)[- ]p|sig\.?|significance)"
        r"(?: ?\(.*\)| (?:vs\.?|versus|against|of) .*|, .*test\b.*"
        r"|[- ]?[{(]?(?:\\\w+\{)?(?:welch|student|t-?test|adj(?:usted|\.)?|corr(?:ected|\.)?|holm"
        r"|bonf(?:erroni|\.)?|fdr)[)}]*)?"
    ),
    "sd": re.compile(
        r".*\b(?:s\.?d\.?|std\.?|std?\.? ?dev(?:iation)?\.?|stdev|standard deviation)\)?"
        r"|standardabweichung|[ée]cart[- ]type|desviación estándar|标准差|標準偏差"
    ),
    "se": re.compile(r".*\b(?:s\.?e\.?m?\.?|std\.? err(?:or)?\.?|standard error)\)?"),
    "ci95": re.compile(
        r".*(?:[5-9][0-9] ?% ?ci|ci ?[5-9][0-9]|[5-9][0-9] ?% confidence interval|±ci)\)?"
    ),
}


_SIGNED = re.compile(r"[0-9)%] ?(?:±|\+/-) ?[0-9.]")
"""A number with its spread, whatever else stands in the cell, which is a mistake to be told."""
_WITH_SPREAD = re.compile(r"±|\+/-|\( ?[0-9.]+(?![0-9.]* ?[*†])")


_SPREAD_OF = re.compile(
    r"(std|sd|stdev|std\.? ?dev\.?|std\.? ?err(?:or)?|se|sem|stderr|standard error"
    r"|standard deviation)[ _.]+(?:of )?(?:the )?(.+)"
)
"""`std_reward`, behind `mean_reward` or `reward`."""


def roles_of(table: Pasted, names: Sequence[str], body: Sequence[Sequence[Cell]]) -> list[str]:
    """What each column is; SpecError where none is of results, or a statistic has no test."""
    place = place_of(table.file, table.rows[0][0])
    if any(re.fullmatch(r"df|d\.f\.|statistic", name.lower()) for name in names):
        mistake = "no column says which test its statistic is of"
        expected = "a column t, F, r, z, chi2, H or Q, and df where the test has any"
        raise fatal(place, mistake, expected, "name the column of statistics after its test")
    roles = [role_of(name, [row[at] for row in body]) for at, name in enumerate(names)]
    for at in range(2, len(names)):
        found = _SPREAD_OF.fullmatch(names[at].lower())
        if (
            found
            and names[at - 1].lower().endswith(found[2])
            and roles[at - 1 : at + 1] == 2 * ["value"]
        ):
            roles[at] = "se" if re.search("se|err", found[1]) else "sd"
    if "value" not in roles[1:]:
        mistake = "no column of results: no cell is a number such as 93.4 or 93.4±0.2"
        advice = "paste the table with its header, one method a row"
        raise fatal(place, mistake, "93.4±0.2", advice)
    return roles


def _widened(head: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """The header, its names above reaching right over names below that come more than once."""
    names = [cell.text.lower() for cell in head[-1]]
    found = []
    for row in head[:-1]:
        cells = list(row)
        for at in range(2, len(cells)):
            again = names.count(names[at]) > 1 and not re.match(r"p\b|sig|$", names[at])
            if cells[at].empty and again:
                cells[at] = cells[at - 1]
        found.append(tuple(cells))
    return [*found, head[-1]]


_WHOLE = re.compile(r"[0-9]{1,7} ?%?")


def _is_head(rows: Sequence[Sequence[Cell]], at: int) -> bool:
    """Whether a row of whole numbers goes on with heads, as 10 and 100 below CIFAR and CIFAR.

    Where names above it come twice, or it is the first, and spreads are printed below.
    """
    row = rows[at]
    texts = [cell.text for cell in row[1:] if not cell.empty]
    below = any(has_spread(bare(each[-1].text)[0]) for each in rows[at + 1 :])
    if not below or "." in "".join(texts) or not _WHOLE.fullmatch(row[-1].text):
        return False
    above = [" ".join(cell.text for cell in each) for each in zip(*rows[:at], strict=True)]
    named = [name for name in above[1:] if name.strip()]
    corner = row[0]
    return len({*named}) < len(named) if at else corner.empty or of_data(corner.text) is not None


def heads(table: Pasted) -> int:
    """How many rows head a table: all above its first rule, and above the first with a result.

    Without a rule, a first row that is all in bold is above one, if it is the only such row.
    Rows with a spread, or several with decimal points, are results, whatever stands below them.
    """
    rows = table.rows
    bold = [all(bare(cell.text)[1] for cell in row if not cell.empty) for row in rows]
    ruled = table.ruled or int(bold[0] and bold.count(True) == 1)
    above = [" ".join(cell.text for cell in row[1:]) for row in rows[:ruled]]
    if any(map(_SIGNED.search, above)) or sum("." in re.sub("[^0-9.]", "", x) for x in above) > 1:
        ruled = 0
    first = next(
        (
            at
            for at, row in enumerate(rows)
            if at >= ruled and any(is_result(cell.text) for cell in row[1:])
        ),
        0,
    )
    while _is_head(rows, first):
        first += 1
    while first > max(1, ruled) and (
        all(cell.empty for cell in rows[first - 1][1:]) or (ruled and is_group(rows[first - 1]))
    ):
        first -= 1  # what heads the first section stays out of the header
    return first


_TICK = re.compile(r"\\checkmark|\\cmark|\\ding\{?5[12]\}?|[✓✔☑√]")
_CROSS = re.compile(r"\\xmark|\\ding\{?5[56]\}?|[✗✘☒×x]")


def named_by_ticks(table: Pasted) -> Pasted:
    """The table with rows called after the columns that are ticked, where those are the first."""
    first = heads(table)
    head, body = table.rows[:first], table.rows[first:]

    def of_ticks(at: int) -> bool:
        texts = [row[at].text for row in body if not row[at].empty]
        ticked = any(map(_TICK.fullmatch, texts))
        return ticked and all(_TICK.fullmatch(each) or _CROSS.fullmatch(each) for each in texts)

    count = next((at for at in range(len(table.rows[0])) if not of_ticks(at)), 0)
    if not head or not count:
        return table
    rows = [(replace(row[0], text="Variant"), *row[count:]) for row in head]
    for row in body:
        ticked = [head[-1][at].text for at in range(count) if _TICK.fullmatch(row[at].text)]
        rows.append((replace(row[0], text=" + ".join(ticked) or "none"), *row[count:]))
    return replace(table, rows=tuple(rows))


def _of_p(parts: Sequence[str]) -> str:
    """`p (Recall)` for p below Recall; nothing for P, which may be a precision, or another name."""
    *above, last = parts or [""]
    named = above and last != "P" and ROLES["p"].fullmatch(last.lower())
    return f"{last} ({' '.join(above)})" if named else ""


def header(table: Pasted) -> tuple[list[str], list[tuple[Cell, ...]]]:
    """The names of the columns, each once, and the rows below them."""
    rows, first = table.rows, heads(table)
    head, body = rows[:first], list(rows[first:])
    if not head:
        return [
            "method",
            *(f"value {at}" if at > 1 else "value" for at in range(1, len(rows[0]))),
        ], body
    names: list[str] = []
    for column in zip(*_widened(head), strict=True):
        parts = [*dict.fromkeys(filter(None, (bare(cell.text)[0] for cell in column)))]
        name = _of_p(parts) or " ".join(filter(None, parts))
        if name in names and (ROLES["p"].fullmatch(name.lower()) or is_of_no_method(name)):
            name = f"{name} ({len(names)})"
        if name and name in names:
            at = column[-1]
            mistake = f"two columns are called {name[:50]!r}"
            raise fatal(
                place_of(table.file, at), mistake, "each name once", "rename one of the two"
            )
        names.append(name or f"column {len(names) + 1}" if names else name)
    return names, body


def role_of(name: str, cells: Sequence[Cell]) -> str:
    """What a column is, by its name, or `value` where most cells have numbers."""
    lower = re.sub(r"[*`$]| ?\(%\)", "", name.lower()).replace("_", " ").strip()
    results = [cell for cell in cells if not cell.empty]
    numbers = [cell for cell in results if is_number(bare(cell.text)[0])]
    for role, pattern in ROLES.items():
        spread = any(_WITH_SPREAD.search(bare(cell.text)[0]) for cell in numbers)
        if pattern.fullmatch(lower) and not spread:
            return "unread" if role in ("sd", "se", "ci95") and is_of_no_method(name) else role
    with_spread = any(has_spread(bare(cell.text)[0]) for cell in numbers)
    with_spread = with_spread or any(_SIGNED.search(bare(cell.text)[0]) for cell in results)
    return "value" if with_spread or len(numbers) * 2 > len(results) else "unread"


MOST_RUNS = 100


def without_counts(roles: Sequence[str], body: Sequence[Sequence[Cell]]) -> list[str]:
    """The roles where rows are data sets, without the sizes of these: n above those of runs.

    Nor are whole numbers methods, before the first column with a spread.
    """
    rows = [row for row in body if not is_group(row)]

    def numbers(at: int) -> list[int]:
        texts = [row[at].text.replace(",", "") for row in rows if not row[at].empty]
        whole = all(text.isascii() and text.isdecimal() for text in texts)
        return [int(text[:9]) for text in texts] if whole else []

    spread = [
        at for at in range(1, len(roles)) if any(has_spread(bare(r[at].text)[0]) for r in rows)
    ]
    found = []
    for at, role in enumerate(roles):
        counts = numbers(at)
        of_items = role == "n" and max(counts, default=0) > MOST_RUNS
        before = role == "value" and bool(counts) and at < min(spread, default=0)
        found.append("unread" if of_items or before else role)
    return found
