"""What a cell of a table, or a word of a log, says as a number: with a comma, or in percent.

A comma is a decimal sign only where the others beside it leave no doubt: `1,234` alone may be a
thousand.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_COMMA = re.compile(r"[-+−]?[0-9]*,[0-9]++(?:[eE][-+]?[0-9]++)?+ ?%?")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2},[0-9]{3} ?%?")
_ODD = re.compile(r"[-+]?[0-9.,' _]*[0-9][.,' _][0-9][0-9.,' _]*%?")
"""What was meant as a number, where it is none."""

_LONGEST = 64
"""Characters of a cell that may have been meant as one."""


class Percent(float):
    """A number that was written with a percent sign, in percent: 91.2 for `91.2%`."""

    __slots__ = ()


def float_of(text: str) -> float | None:
    """The number that a text is, `nan` and `inf` too; None for any other text.

    Only digits from 0 to 9 and a point make one: neither `1_000` nor the digits of other scripts.
    A minus may be the typographic one, U+2212.
    """
    text = text.replace("−", "-")
    if not text.isascii() or "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        bare = text.strip()
    if not bare.endswith("%") or bare.endswith("%%"):
        return None
    number = float_of(bare[:-1])
    return None if number is None else Percent(number)


def with_points(records: list[dict[str, Any]], separator: str = "") -> bool:
    """Write decimal commas as points, in place; whether there were any.

    A column has them where no number in it has a point, and where some number in these records can
    have no thousands (`0,5`, `9,88`); or where semicolons separate cells and each number of the
    column has a comma, for that is what programs write whose decimal sign is the comma.
    """
    commas, others = _numbers_by_column(records)
    mine = {name: cells for name, cells in commas.items() if "." not in "".join(others[name])}
    sure = any(not _THOUSANDS.fullmatch(cell) for cells in mine.values() for cell in cells)
    meant = {name for name in mine if sure or (separator == ";" and not others[name])}
    for record in records if meant else ():
        for name in meant.intersection(record):
            cell = record[name]
            if isinstance(cell, str) and _COMMA.fullmatch(cell.strip()):
                record[name] = cell.replace(",", ".")
    return bool(meant)


def _numbers_by_column(
    records: Iterable[Mapping[str, Any]],
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The cells of each column that are numbers with a comma, and its other numbers."""
    commas: dict[str, set[str]] = defaultdict(set)
    for record in records:
        for name, cell in record.items():
            if isinstance(cell, str) and "," in cell and _COMMA.fullmatch(cell.strip()):
                commas[name].add(cell.strip())
    others: dict[str, set[str]] = defaultdict(set)
    for record in records if commas else ():
        for name in commas.keys() & record.keys():
            cell = str(record[name]).strip()
            if cell not in commas[name] and (float_of(cell) is not None or is_odd(cell)):
                others[name].add(cell)
    return commas, others


def plain_values(names: Sequence[str], cells: Sequence[str], separator: str) -> list[str]:
    """The values of a tidy table, where all of one name have a decimal comma, or a percent sign.

    ``names`` are those of what was measured. What is mixed is left as it is, and is no number.
    """
    records = [{name: cell} for name, cell in zip(names, cells, strict=True)]
    if separator != ",":
        with_points(records, separator)
    kinds: dict[str, set[str]] = defaultdict(set)
    for record in records:
        for name, cell in record.items():
            kinds[name].add(_kind(cell.strip()))
    return [
        cell.strip().removesuffix("%") if kinds[name] <= {"percent", ""} else cell
        for record in records
        for name, cell in record.items()
    ]


def refuse_mixed(records: Iterable[Mapping[str, Any]], *, odd: bool) -> None:
    """ValueError for a name of which some numbers have a percent sign, and others none.

    ``odd``: and for one that has numbers, and others that cannot be read, such as `1,234`: without
    them a series would end too early.
    """
    kinds: dict[str, dict[str, str]] = defaultdict(dict)
    for record in records:
        for name, cell in record.items():
            if isinstance(cell, str) and (kind := _kind(cell.strip())):
                kinds[name].setdefault(kind, cell.strip())
    for name, found in kinds.items():
        if {"percent", "number"} <= found.keys():
            both = f"'{found['number'][:40]}' and '{found['percent'][:40]}'"
            raise ValueError(
                f"'{name[:80]}' has numbers with a percent sign and numbers without: {both}"
            )
        if odd and "odd" in found and len(found) > 1:
            raise ValueError(
                f"'{found['odd'][:40]}' of '{name[:80]}' is not a number, as others of it are: "
                "write a decimal point, and no marks between thousands"
            )


def _kind(cell: str) -> str:
    number = float_of(cell)
    if number is None:
        return "odd" if is_odd(cell) else ""
    return "percent" if isinstance(number, Percent) else "number"


def is_odd(cell: str) -> bool:
    """Whether a cell was meant as a number, and cannot be read as one: `1,234`, `10 000`."""
    return len(cell) <= _LONGEST and float_of(cell) is None and bool(_ODD.fullmatch(cell))
