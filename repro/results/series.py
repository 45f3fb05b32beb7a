"""Numbers by name in rows: read from JSON, CSV, JSON lines or lines of text, and reduced to one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from repro.errors import DataError, printable
from repro.files import read_bytes
from repro.results.inside import scalars
from repro.schema.base import Spec
from repro.schema.cells import Percent, float_of, plain_values, refuse_mixed, with_points
from repro.schema.messages import choose
from repro.schema.rows import head_of, is_numeral, lenient_rows

LARGEST: Final = 200_000_000
"""Bytes of the largest file that is read whole."""

MOST_ROWS: Final = 1_000_000
MOST_NAMES: Final = 10_000
"""Columns of a table: to leave some out would be to choose."""

Row = dict[str, float | None]
"""Numbers by name; None is one that is not finite."""


LONGEST_NAME: Final = 200

NumberName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
"""The name of a number that a program left: `eval_loss`, `test.accuracy`."""


class BestBy(Spec):
    """The row of a series at which another number, or this one, was best."""

    best_by: NumberName
    better: Literal["lower", "higher"]


class AtRow(Spec):
    """The row of a series at which a number had a value: `{step: 3000}`."""

    at: Annotated[dict[NumberName, float], Field(min_length=1, max_length=1)]

    def __hash__(self) -> int:
        return hash(tuple(self.at.items()))


Reduction = Literal["first", "last"] | BestBy | AtRow


TextForm = Literal["file", "csv", "jsonl"]

FORMS: Final[Mapping[str, TextForm]] = {
    ".json": "file",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
"""By the ending of a file."""


def form_of(file: str, text: str) -> TextForm | None:
    """The form of a text in a file of such a name; None where it is not known.

    A `.txt` whose first two lines are names and numbers between tabs is a table.
    """
    ending = PurePosixPath(file).suffix.lower()
    lines = text.removeprefix("\ufeff").split("\n", 2)
    names, cells = lines[0].rstrip("\r").split("\t"), "".join(lines[1:2]).rstrip("\r").split("\t")
    alike = len(names) == len(cells) > 1 and all(name.strip() for name in names)
    table = alike and any(map(is_numeral, cells)) and not any(map(is_numeral, names))
    return FORMS.get(ending) or ("csv" if table and ending == ".txt" else None)


UNNAMED = "unnamed"
"""The name of a first column that has none, as pandas writes an index, where it holds texts."""

Record = dict[str, Any]
"""Whatever stands in a row, by name."""


def records_in(
    text: str, form: TextForm, *, appended: bool = False, said: dict[str, None] | None = None
) -> list[Record]:
    """The rows of a JSON object (one), of a CSV, or of JSON lines; ValueError for anything else.

    A value inside an object has its dotted path as its name. A JSON with an object in each line is
    read as such, and an empty one has no row. ``appended``: several attempts may have written to a
    CSV, each with its header. ``said`` takes what a reader should know of how it was read.
    """
    if form == "csv":
        return _csv(text, {} if said is None else said, appended=appended)
    lines = form == "jsonl" or in_lines(text) or not text.strip()
    return _json_lines(text) if lines else _json(text)


def rows_in(text: str, form: TextForm, *, appended: bool = False) -> list[Row]:
    """The numbers in the rows of a text, as in ``records_in``."""
    return series_of(records_in(text, form, appended=appended))


def series_of(records: Sequence[Record]) -> list[Row]:
    """The numbers in rows that follow each other; ValueError where one of them cannot be read.

    Where rows are of several numbers, as in `step,key,value`, each is called by its key.
    """
    records = _by_key(records)
    rows = [numbers_in(record) for record in records]
    texts = any(len(row) < len(record) for row, record in zip(rows, records, strict=True))
    if texts or any(isinstance(each, Percent) for row in rows for each in row.values()):
        refuse_mixed(records, odd=True)
    return rows


_KEYS = ("key", "tag", "metric", "name", "measurement")
"""What tells the numbers of rows apart, if all are called `value`."""


def _by_key(records: Sequence[Record]) -> Sequence[Record]:
    head = {name.casefold(): name for name in records[0]} if records else {}
    value, key = head.get("value"), next((head[name] for name in _KEYS if name in head), None)
    if value is None or key is None:
        return records
    names = [str(row[key]) for row in records if isinstance(row.get(key), str) and value in row]
    if len(names) < len(records) or len({*names}) < 2 or any(map(is_numeral, names)):
        return records
    if {*names} & {name for row in records for name in row if name not in (key, value)}:
        return records
    rest = ({k: v for k, v in row.items() if k not in (key, value)} for row in records)
    named = zip(rest, names, records, strict=True)
    return [{**others, name: row[value]} for others, name, row in named]


def in_lines(text: str) -> bool:
    """Whether a JSON text has an object in each of several lines, as Ray's `result.json` has."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{") or not first.rstrip().endswith("}") or not rest.strip():
        return False
    try:
        return json_object(first) is not None
    except ValueError:
        return False


Pairs = Callable[[list[tuple[str, Any]]], dict[str, Any]]
"""Makes an object of JSON of its names and values."""


def json_value(text: str | bytes, pairs: Pairs | None = None) -> Any:
    """What a JSON text holds; ValueError where it is none, or nested too deeply to be read."""
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except RecursionError as error:
        raise ValueError(str(error)) from error


def json_object(text: str | bytes, pairs: Pairs | None = None) -> dict[str, Any] | None:
    """The object in a JSON; None where its top is anything else, ValueError where it is none."""
    found = json_value(text, pairs)
    return found if isinstance(found, dict) else None


def object_in(file: Path) -> dict[str, Any]:
    """The object in a JSON file; empty where there is none."""
    with suppress(OSError, ValueError):
        return json_object(read_bytes(file, LARGEST)) or {}
    return {}


def _within(rows: Sequence[Any]) -> None:
    """ValueError for more rows than are read: to leave some out would give another number."""
    if len(rows) > MOST_ROWS:
        raise ValueError(f"more than {MOST_ROWS:,} rows, of which none may be left out")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, or its values by path; ValueError for a name that stands there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"'{shown(_twice(name for name, _ in pairs))}' stands there twice")
    return found


def _twice(names: Iterable[str]) -> str:
    """The first name that has come before; empty where each comes once."""
    before: set[str] = set()
    for name in names:
        if name in before:
            return name
        before.add(name)
    return ""


def _json(text: str) -> list[Record]:
    document = json_object(text, _each_once)
    if document is None:
        raise ValueError("it holds no object at its top")
    return [_each_once(list(scalars(document)))]


def _json_lines(text: str) -> list[Record]:
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        document = json_object(line, _each_once)
        if document is None:
            raise ValueError(f"line {number} holds no object")
        records.append(_each_once(list(scalars(document))))
        _within(records)
    return records


def _csv(text: str, said: dict[str, None], *, appended: bool) -> list[Record]:
    head, above, separator = head_of(text)
    if above:
        said[f"lines above the header that begin with # are comments: {above} left out"] = None
    body = text[head:]
    rows = ((n, [cell.rstrip(" ") for cell in cells]) for n, cells in lenient_rows(body, separator))
    _, header = next(rows, (0, list[str]()))
    names = _names(header, rows)
    before = text.count("\n", 0, head)
    records: list[Record] = []
    unnamed: list[str] = []
    hashed: list[int] = []
    for number, cells in rows:
        line = before + number
        if cells == header:
            if not appended:
                raise ValueError(f"line {line} is the header again: two tables in one")
            continue
        if any(cell.strip() for cell in cells[len(header) :]):
            mistake = f"line {line} has {len(cells)} cells, and the header {len(header)}"
            rest = sum(any(map(str.strip, each[len(header) :])) for _, each in rows)
            mistake += f", and {rest} more lines have too many as well" if rest else ""
            more = "; a number with a comma in it must be in quotes, or written with a point"
            raise ValueError(mistake + more * (separator == ","))
        if cells[0].startswith("#"):
            hashed.append(line)
        pairs = zip(names, cells, strict=False)
        records.append({name: cell for name, cell in pairs if name})
        unnamed += [] if names[0] else cells[:1]
        _within(records)
    _refuse_headerless(names, records)
    if UNNAMED not in names and not all(is_numeral(cell) for cell in unnamed if cell.strip()):
        records = [{UNNAMED: cell, **each} for cell, each in zip(unnamed, records, strict=True)]
    if 0 < len(hashed) < len(records):
        raise ValueError(
            f"line {hashed[0]} begins with #, and comments stand above the header alone: leave "
            "it out, or write a name without #"
        )
    _as_numbers(records, body, separator, said)
    return records


def _as_numbers(records: list[Record], body: str, separator: str, said: dict[str, None]) -> None:
    """Write the cells of a table as numbers, where people have a comma or a percent sign."""
    if separator != "," and "," in body and with_points(records, separator):
        said["decimal commas are read as points"] = None
    if "%" in body:
        said["numbers with a percent sign are in percent"] = None
        if all({"measurement", "value"} <= each.keys() for each in records):
            names, cells = ([each[key] for each in records] for key in ("measurement", "value"))
            plain = plain_values(names, cells, separator)
            for record, cell in zip(records, plain, strict=True):
                record["value"] = cell
        refuse_mixed(records, odd=False)


def _names(header: Sequence[str], rows: Iterator[tuple[int, list[str]]]) -> list[str]:
    """The names of columns, of which the first may have a # before it; ``rows`` are those below."""
    names = list(header)
    if names and names[0].startswith("#"):
        names[0] = names[0].lstrip("#").strip() or "index"
    if len(names) > MOST_NAMES:
        raise ValueError(f"more than {MOST_NAMES:,} columns, of which none may be left out")
    if twice := _twice(name.strip() for name in names if name.strip()):
        _refuse_headers(next(rows, (0, list[str]()))[1])
        raise ValueError(f"the column '{shown(twice)}' stands there twice")
    return names


def _refuse_headers(below: Sequence[str]) -> None:
    """ValueError where the row below a header is one more, as pandas writes columns in levels."""
    if not below or any(map(is_numeral, below)):
        return
    long = "in pandas `df.stack().reset_index().to_csv(FILE, index=False)` writes a row per run"
    if {"std", "sd", "sem"} & {cell.strip().casefold() for cell in below}:
        long = "of means and deviations `repro audit` reads them"
    raise ValueError(f"it has several header rows, and one is read: {long}")


def _refuse_headerless(names: Sequence[str], records: Sequence[Record]) -> None:
    """ValueError where the first line is a row as others are: numbers, or a text that comes again.

    A name may be a number beside others that are none, as in `seed,64,128`.
    """
    named = [name for name in names if name.strip()]
    numbers = [name for name in named if is_numeral(name)]
    again = any(
        record.get(name) == name for name in named if name not in numbers for record in records
    )
    if numbers and (again or len(numbers) == len(named)):
        raise ValueError(
            f"its first line names no columns, but holds '{shown(numbers[0])}': write a header "
            "above it, such as method,seed,error"
        )


def numbers_in(values: Mapping[str, Any]) -> Row:
    """Those of the values that are numbers; texts, lists and nulls are left out."""
    found: Row = {}
    for name, value in values.items():
        if isinstance(value, bool):
            continue
        try:
            number = float_of(value) if isinstance(value, str) else float(value)
        except (TypeError, ValueError, OverflowError):
            continue
        if number is not None:
            found[str(name).strip()] = number if math.isfinite(number) else None
    return found


def averaged(rows: Sequence[Row]) -> Row:
    """The means of the numbers that every row has."""
    names = [name for name in rows[0] if all(each.get(name) is not None for each in rows)]
    return {name: sum(each[name] or 0.0 for each in rows) / len(rows) for name in names}


class NoSuchRowError(DataError):
    """A series that did not get as far as the row that a reduction chooses."""


class NotFiniteError(DataError):
    """A number that was left, and is not finite: the run diverged."""


def shown(name: str) -> str:
    """The name of a number, as a program has written it, so that it forges no line."""
    return printable(name[:LONGEST_NAME])


def chosen(rows: Sequence[Row], name: str, reduction: Reduction | None) -> tuple[float, int]:
    """The number of that name in the row that the reduction chooses, and the place of the row.

    DataError where there is none, or where it is one of several and no reduction is declared.
    """
    having = [place for place, row in enumerate(rows) if name in row]
    if not having:
        known = sorted({shown(key) for row in rows for key in row})
        what, expected = f"no number '{name}'", ", ".join(known[:20])
        raise _no_number(what, expected, choose(name, known))
    if reduction is None:
        if len(having) > 1:
            advice = f"add `reduce: last` to the measurement of {name}, or another choice"
            raise _no_number(f"{len(having)} values of '{name}'", "one, or `reduce`", advice)
        place = having[0]
    else:
        place = _place(rows, having, reduction)
    value = rows[place][name]
    if value is None:
        raise not_finite(f"'{name}' is not finite")
    return value, place


def _place(rows: Sequence[Row], having: Sequence[int], reduction: Reduction) -> int:
    """Which of the rows that have a number a reduction chooses."""
    if isinstance(reduction, str):
        return having[0 if reduction == "first" else -1]
    if isinstance(reduction, AtRow):
        ((key, value),) = reduction.at.items()
        found = [place for place in having if rows[place].get(key) == value]
        if len(found) != 1:
            what = f"{len(found) or 'no'} rows in which '{key}' is {value:g}"
            refused = _no_number(what, "one", "name another row, or `reduce: last`")
            raise refused if found else NoSuchRowError(str(refused))
        return found[0]
    by = reduction.best_by
    judged = [(number, place) for place in having if (number := rows[place].get(by)) is not None]
    if not judged and any(by in rows[place] for place in having):
        raise not_finite(f"'{by}' is finite in no row")
    if not judged:
        raise _no_number(f"no row with '{by}'", "the number to choose by", "correct its name")
    sign = 1 if reduction.better == "lower" else -1
    return min(judged, key=lambda each: (sign * each[0], each[1]))[1]


def _no_number(mistake: str, expected: str, advice: str) -> DataError:
    return DataError(
        f"the results of the run: {mistake}\n  expected: {expected}\n  to do: {advice}"
    )


def not_finite(mistake: str) -> NotFiniteError:
    """The error of a number that was left and is not finite."""
    advice = "declare it a divergence: `diverged: [not_finite]`"
    return NotFiniteError(str(_no_number(mistake, "a finite number", advice)))
