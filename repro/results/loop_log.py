"""The log of a research loop: a row for each experiment, one run each, and whether it was kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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

NAMES = ("commit", "git_commit", "id", "run_id", "experiment", "exp", "name", "iteration")
"""Columns by which a reader finds an experiment, the surest first."""

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
    A number of 0 in a row that was not kept stands for none, where no row that was kept has it.
    ClaimError where the log has no such number, or does not say what was kept.
    """
    (_, head), *rows = _rows(path)
    name, place, status = _columns(path, head, measure)
    if ragged := [(line, len(row)) for line, row in rows if len(row) != len(head)]:
        (line, cells), many = ragged[0], len(ragged)
        mistake = f"row {line} has {cells} cells, and the header {len(head)}"
        mistake += f"; {many} of {len(rows)} rows have another number of cells" if many > 1 else ""
        raise refused(
            path, mistake, "as many in every row", f"correct {'it' if many < 2 else 'them'}"
        )
    if rows[0][1][status].casefold() in BASELINES:
        rows[0][1][status] = "keep"
    words = list(dict.fromkeys(row[status] for _, row in rows))
    unknown = [
        word for word in words if word.casefold() not in KNOWN and state_of(word) not in CRASHED
    ]
    said = []
    if unknown:
        apart = number_of(sum(row[status] in unknown for _, row in rows), "row")
        said = [f"left out, neither kept nor discarded: {apart} with the status {named(unknown)}"]
    rows = [(line, row) for line, row in rows if row[status] not in unknown]
    found = [
        _experiment(str(line) if name is None else row[name], row[place], row[status])
        for line, row in rows
    ]
    for each, (line, row) in zip(found, rows, strict=True):
        if each.fate == "kept" and each.value is None:
            mistake = f"row {line}: '{row[place]}' was kept, and is not a number"
            raise refused(path, mistake, "a number with a decimal point", "write it so")
    if not any(each.fate == "kept" for each in found):
        mistake = f"no experiment was kept: '{head[status]}' has {named(words)}"
        raise refused(path, mistake, f"one of {', '.join(sorted(KEPT))}", "correct the log")
    zero = any(each.value == 0 for each in found if each.fate == "kept")
    if not zero:
        found = [Experiment(e.name, None, "crashed") if e.value == 0 else e for e in found]
    return found, said


def _rows(path: Path) -> list[tuple[int, list[str]]]:
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


def _in_json(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """A row for each line of JSON, below their names."""
    try:
        records = records_in(text, "jsonl")
    except ValueError as error:
        raise refused(path, str(error), "JSON with an object in each line", "correct it") from None
    names = list(dict.fromkeys(name for record in records for name in record))
    cells = ([record.get(name) for name in names] for record in records)
    rows = (["" if cell is None else str(cell).strip() for cell in row] for row in cells)
    return list(enumerate([names, *rows]))


def _columns(path: Path, head: Sequence[str], measure: str) -> tuple[int | None, int, int]:
    """Where a row has the name of its experiment, if anywhere, its number, and its status."""
    small = [cell.casefold() for cell in head]
    status = next(
        (small.index(each) for each in (*STATE_COLUMNS, "decision") if each in small), None
    )
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


def _experiment(name: str, cell: str, status: str) -> Experiment:
    number = float_of(cell)
    value = number if number is not None and math.isfinite(number) else None
    if status.casefold() in KEPT:
        return Experiment(name, value, "kept")
    crashed = state_of(status) in CRASHED or value is None
    return Experiment(name, None if crashed else value, "crashed" if crashed else "not kept")
