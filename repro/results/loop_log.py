"""The log of a research loop: a row for each experiment, one run each, and whether it was kept."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from repro.results.forms import named, refused
from repro.results.log_runs import text_of
from repro.results.readings import LOOP_WORDS, STATE_COLUMNS, short, state_of
from repro.results.series import in_lines, records_in
from repro.schema.cells import float_of
from repro.schema.numbers import number_of
from repro.schema.rows import QuoteError, lenient_rows

KEPT = frozenset(
    {"keep", "kept", "accept", "accepted", "improved", "merged", "best", "new_best", "new best"}
)
KNOWN = KEPT | LOOP_WORDS | {"reject", "rejected", "skip"}
"""The words that are read; all but those of KEPT say that an experiment was not kept."""

CRASHED = ("diverged", "missing")
"""States of runs without a number; a run that finished may be kept or not."""

BASELINES = frozenset({"baseline", "base", "initial", "start", "reference"})
"""Words that keep the first row: the experiments are compared with it."""

NAMES = (
    *("commit", "git_commit", "sha", "hash", "id", "run_id", "experiment", "exp", "name"),
    *("change", "trial", "run", "iteration", "iter", "step", "description", "idea"),
)
"""Columns by which a reader finds an experiment, the surest first."""

DECISIONS = ("accepted", "accept", "kept", "keep", "decision", "improved")
"""Columns that say whether an experiment was kept, before those of a state."""

YES_OR_NO = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "y"), "keep"),
    **dict.fromkeys(("0", "0.0", "false", "no", "n"), "discard"),
}
"""What such a column says, as a word."""

SPLITS = ("split", "subset", "partition", "phase", "data_split", "eval_split")
"""Columns that say on which part of the data a row was measured."""

FAR = 10
"""So many times as large as all others a number of nines alone stands for none."""

Fate = Literal["kept", "not kept", "crashed"]


@dataclass(frozen=True, slots=True)
class Experiment:
    """One row; without a value it crashed, or was given up."""

    name: str
    value: float | None
    fate: Fate


def read_loop(path: Path, measure: str) -> tuple[list[Experiment], list[str]]:
    """The experiments of a log such as `results.tsv`, in their order, and what is said of it.

    Rows whose status is neither that of a decision nor that of a crash are left out.
    A number of 0 in a row that was not kept stands for none, where no row that was kept has it;
    so does -1 among positive numbers, and -999 or 9999 far from all others.
    ClaimError where the log has no such number, does not say what was kept, or mixes splits.
    """
    (_, head), *rows = _rows(path)
    _refuse_rows(path, head, rows)
    name, place, status = _columns(path, head, measure, [row for _, row in rows])
    rows, said = _decided(rows, status, head[status])
    found = _without_placeholders(
        _experiment(f"row {line}" if name is None else row[name], row[place], row[status])
        for line, row in rows
    )
    for each, (line, row) in zip(found, rows, strict=True):
        if each.fate == "kept" and each.value is None:
            mistake = f"row {line}: '{row[place]}' was kept, and is not a value"
            raise refused(path, mistake, "a number with a decimal point", "write it so")
    if not any(each.fate == "kept" for each in found):
        mistake = f"no experiment was kept: '{head[status]}' has {named(_words(rows, status))}"
        raise refused(path, mistake, f"one of {', '.join(sorted(KEPT))}", "correct the log")
    return found, said


Rows: TypeAlias = list[tuple[int, list[str]]]
"""Cells, with the number of their line."""


def _words(rows: Rows, place: int) -> list[str]:
    """What a column says, each once."""
    return list(dict.fromkeys(row[place] for _, row in rows))


def _refuse_rows(path: Path, head: Sequence[str], rows: Rows) -> None:
    """Rows with another number of cells, and rows of several parts of the data, are refused."""
    if ragged := [(line, len(row)) for line, row in rows if len(row) != len(head)]:
        (line, cells), many = ragged[0], len(ragged)
        mistake = f"row {line} has {cells} cells, and the header {len(head)}"
        mistake += f"; {many} of {len(rows)} rows have another number of cells" if many > 1 else ""
        fix = f"correct {'it' if many < 2 else 'them'}"
        raise refused(path, mistake, "as many in every row", fix)
    for place, column in enumerate(head):
        parts = _words(rows, place)
        if column.casefold() in SPLITS and len(parts) > 1:
            mistake = f"rows of several parts of the data: '{column}' has {named(parts)}"
            advice = "leave the rows of one part in the log, that which decides"
            raise refused(path, mistake, "a row for each experiment", advice)


def _decided(rows: Rows, status: int, column: str) -> tuple[Rows, list[str]]:
    """The rows that were kept, or not, or crashed, and what is said of the others."""
    if rows[0][1][status].casefold() in BASELINES:
        rows[0][1][status] = "keep"
    if column.casefold() in DECISIONS:
        for _, row in rows:
            row[status] = YES_OR_NO.get(row[status].casefold(), row[status])
    unknown = [
        word
        for word in _words(rows, status)
        if word.casefold() not in KNOWN and state_of(word) not in CRASHED
    ]
    left = [(line, row) for line, row in rows if row[status] not in unknown]
    if not unknown:
        return rows, []
    apart = number_of(len(rows) - len(left), "row")
    return left, [f"left out, neither kept nor discarded: {apart} with the status {named(unknown)}"]


def _without_placeholders(log: Iterable[Experiment]) -> list[Experiment]:
    """The experiments, where a number that stands for none is none."""
    found = list(log)
    values = [each.value for each in found if each.value is not None]
    real = [value for value in values if value not in (0, -1) and not _nines(value)]
    largest, positive = max(map(abs, real), default=math.inf), min(real, default=-1.0) > 0
    zero = any(each.value == 0 for each in found if each.fate == "kept")
    return [
        Experiment(each.name, None, "kept" if each.fate == "kept" else "crashed")
        if (each.value == 0 and not zero)
        or (each.value == -1 and positive)
        or (each.value is not None and _nines(each.value) and abs(each.value) > FAR * largest)
        else each
        for each in found
    ]


def _nines(value: float) -> bool:
    """Whether a number is -999, 9999 or the like."""
    return re.fullmatch("-?999+", f"{value:.12g}") is not None


def _rows(path: Path) -> Rows:
    """The numbered rows of a CSV, of JSON lines, or of a TSV, in which quotes mean nothing."""
    text = "\n".join(text_of(path).splitlines())
    if in_lines(text):
        return _in_json(path, text)
    separator = "\t" if "\t" in text.lstrip().partition("\n")[0] else ","
    try:
        found = list(lenient_rows(text, separator, quotes=separator == ","))
    except QuoteError as error:
        line = text.count("\n", 0, error.at) + 1
        mistake = f"row {line}: a quote inside a cell, or one that is not closed"
        raise refused(path, mistake, "cells separated by commas", "leave out the quotes") from None
    rows = [
        (line, [cell.strip() for cell in cells])
        for line, cells in found
        if separator.join(cells).strip()
    ]
    if len(rows) < 2:
        raise refused(path, "it has no rows", "a header, and a row for each experiment", "check it")
    return rows


def _in_json(path: Path, text: str) -> Rows:
    """A row for each line of JSON, below their names."""
    try:
        records = records_in(text, "jsonl")
    except ValueError as error:
        raise refused(path, str(error), "JSON with an object in each line", "correct it") from None
    names = list(dict.fromkeys(name for record in records for name in record))
    cells = ([record.get(name) for name in names] for record in records)
    rows = (["" if cell is None else str(cell).strip() for cell in row] for row in cells)
    return list(enumerate([names, *rows]))


def _columns(
    path: Path, head: Sequence[str], measure: str, rows: Sequence[Sequence[str]]
) -> tuple[int | None, int, int]:
    """Where a row has the name of its experiment, if anywhere, its number, and its status."""
    small = [cell.casefold() for cell in head]
    status = _status(small, rows)
    if status is None:
        mistake = f"no column says what became of an experiment: {named(head)}"
        expected = "a column `status` with keep, discard, crash"
        raise refused(path, mistake, expected, "add it, or give the file that has it")
    if measure not in head:
        mistake = f"no column is called '{short(measure)}': {named(head)}"
        advice = "name the number that the baseline and this log share: --measure NAME"
        raise refused(path, mistake, "the number of the baseline", advice)
    name = next((small.index(each) for each in NAMES if each in small), None)
    return name, head.index(measure), status


def _status(head: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """The column that says what was kept: a state that does, a decision, or any state."""
    words = {name: {row[place].casefold() for row in rows} for place, name in enumerate(head)}
    states = [name for name in STATE_COLUMNS if name in words]
    deciding = [name for name in states if words[name] & (KNOWN | BASELINES)]
    allowed = KNOWN | BASELINES | {*YES_OR_NO, ""}
    decisions = [
        name
        for name in DECISIONS
        if name in words and (name == "decision" or words[name] <= allowed)
    ]
    return next((head.index(name) for name in (*deciding, *decisions, *states)), None)


def _experiment(name: str, cell: str, status: str) -> Experiment:
    number = float_of(cell)
    value = number if number is not None and math.isfinite(number) else None
    if status.casefold() in KEPT:
        return Experiment(name, value, "kept")
    crashed = state_of(status) in CRASHED or value is None
    return Experiment(name, None if crashed else value, "crashed" if crashed else "not kept")
