"""A user's own results, a tidy CSV or a pandas frame: arm, seed, measurement, value, and task.

Every mistake is named, all at once, with its row (the line of a file, the position in a frame) and
its column. Other columns and undeclared measurements are left unread, and the report says so.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from repro.errors import Problem
from repro.evidence.base import DeclaredAt, EvidenceSource, Facts, TableSchema
from repro.evidence.evidence import (
    Evaluation,
    SeedKey,
    TableSource,
    TaskSeed,
    TidyTable,
    by_source,
    in_order,
)
from repro.files import read_text
from repro.results.readings import (
    DIVERGED,
    EMPTY,
    EXPECTED_STATES,
    STATES,
    TASK,
    RunState,
    cell_text,
    short,
    state_of,
    time_of,
    value_of,
)
from repro.results.wandb import wandb_export
from repro.schema.base import FileName
from repro.schema.messages import choose, closest, listed
from repro.schema.rows import CsvRow, Mistakes, tidy_rows

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = ("arm", "seed", "measurement", "value")
STATE = "state"
MAX_BYTES = 20_000_000
MAX_SEED, MAX_SEEDS, MAX_ITEMS = 2**53, 10_000, 1_000_000
NAMED = 5
FRAME = "a pandas frame"

_SEED = re.compile(r"0|[1-9][0-9]{0,15}")


class TableFile(EvidenceSource):
    """The name of a file in the folder of the claim; arms may share it."""

    elsewhere: ClassVar[str] = "the claim names another table for it"
    has_units: ClassVar[bool] = True
    shown = "table"

    table: FileName | None = None

    def resolve(self, at: DeclaredAt) -> tuple[Facts | None, tuple[Problem, ...]]:
        """The file is in the folder of the claim, or not there yet; others may be misspelt."""
        problem = at.missing_file("table", str(self.table), sort="table", ending="csv", later=True)
        return (Facts(), ()) if problem is None else (None, (problem,))

    def identity(self, configuration: Any) -> Any:
        """The name of the file."""
        del configuration
        return {"table": self.table}

    def values(self, schema: TableSchema, folder: Path) -> TidyTable | None:
        """The values in the file."""
        return read_table(folder / str(self.table), schema)


def read_table(path: Path, schema: TableSchema) -> TidyTable:
    """The table in a CSV file, as any spreadsheet writes it; SpecError with every mistake in it."""
    text = read_text(path, "a CSV file", MAX_BYTES)
    source = TableSource(path.name, hashlib.sha256(text.encode()).hexdigest())
    mistakes = Mistakes(str(path))
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    if not text.strip():
        mistakes.add(1, 1, "the file is empty", ",".join(COLUMNS), "write this line, and the rows")
    if text.lstrip().startswith(("{", "[")):
        mistakes.add(1, 1, "the file is JSON", ",".join(COLUMNS), "write it as a CSV with these")
        mistakes.stop()
    columns = (*COLUMNS, STATE, *schema.more_columns)
    rows = tidy_rows(text, columns, mistakes, (COLUMNS[2], COLUMNS[3]))
    return _Reader(mistakes, schema).table(rows, source)


def frame_table(frame: pd.DataFrame, schema: TableSchema) -> TidyTable:
    """The table in a frame; SpecError with every mistake in it.

    Its digest is that of a CSV with the same rows, its numbers written to read back exactly.
    """
    header = tuple(str(name) for name in frame.columns)
    starts = tuple(range(1, len(header) + 1))
    rows = [
        CsvRow(position, tuple(map(cell_text, values)), starts)
        for position, values in enumerate(frame.itertuples(index=False, name=None))
    ]
    text = "".join(",".join(line) + "\n" for line in (header, *(row.cells for row in rows)))
    source = TableSource(FRAME, hashlib.sha256(text.encode()).hexdigest())
    rows.insert(0, CsvRow(0, header, starts))
    return _Reader(Mistakes(FRAME), schema).table(iter(rows), source)


@dataclass(slots=True)
class _Unread:
    """A name that is not read: where it first stands, and in how many rows."""

    row: int
    column: int
    rows: int = 0


@dataclass(slots=True)
class _Reader:
    """Reads the rows of one table, and notes every mistake."""

    mistakes: Mistakes
    schema: TableSchema
    found: dict[str, dict[SeedKey, dict[str, float]]] = field(default_factory=dict)
    first: dict[tuple[str, SeedKey, str], int] = field(default_factory=dict)
    seeds: dict[str, dict[SeedKey, int]] = field(default_factory=dict)
    """arm -> seed -> its first row."""
    lost: dict[str, dict[SeedKey, RunState]] = field(default_factory=dict)
    times: dict[str, dict[SeedKey, float]] = field(default_factory=dict)
    sort_of_time: str = ""
    columns: dict[str, int] = field(default_factory=dict)
    """The places in a row of the columns that are read."""
    not_ours: dict[str, _Unread] = field(default_factory=dict)
    """Arms that the claim does not declare, or reads elsewhere."""
    others: dict[tuple[str, SeedKey], tuple[str, _Unread]] = field(default_factory=dict)
    """(arm, seed) -> a measurement of it that the claim does not declare."""
    ignored: dict[str, None] = field(default_factory=dict)
    evaluations: Counter[tuple[str, str, int, str]] = field(default_factory=Counter)
    """How many rows a unit has had so far, by arm, task, unit and measurement."""
    drawn: dict[str, dict[SeedKey, tuple[str, ...]]] = field(default_factory=dict)
    only_task: str | None = None
    """The first task of a table whose column of tasks is left unread."""
    no_tasks: set[str] = field(default_factory=set)
    """Tasks that the claim does not declare."""

    def table(self, rows: Iterator[CsvRow], source: TableSource) -> TidyTable:
        """The table whose first row is its header; SpecError with every mistake."""
        header = next(rows, None)
        if header is not None and self._header(header):
            for row in rows:
                self._row(len(header.cells), row)
            self._unread_arms()
            self._misspelt()
            if not self.mistakes.kept:
                self._complete()
                self._ordered()
        self.mistakes.stop()
        kept = {arm: self._kept(arm) for arm in self.found}
        values = {
            arm: {seed: seeds[seed] for seed in sorted(seeds, key=in_order)}
            for arm, seeds in kept.items()
        }
        order = {
            arm: tuple(sorted(times, key=times.__getitem__)) for arm, times in self.times.items()
        }
        unread, column = tuple(self.ignored), self.schema.order if order else None
        if len(unread) > NAMED:
            unread = (*unread[:NAMED], f"{len(unread) - NAMED} more")
        source = replace(source, order=column, ignored=unread)
        rows_of_arm = {arm: by_source(values[arm], self.drawn[arm]) for arm in values}
        return TidyTable(source, values, self.lost, order, rows_of_arm)

    def _kept(self, arm: str) -> dict[SeedKey, dict[str, float]]:
        """The values of an arm by seed, without the seeds that are lost."""
        found, lost = self.found.get(arm, {}), self.lost.get(arm, {})
        return {seed: values for seed, values in found.items() if seed not in lost}

    # the header

    def _header(self, header: CsvRow) -> bool:
        more = self.schema.more_columns
        needed = (*COLUMNS, *(name for name in more if name not in COLUMNS))
        missing = [name for name in needed if name not in header.cells]
        exported = wandb_export(header.cells) if missing else None
        if exported is not None:
            self._add(header.number, 1, *exported)
            return False
        for place, (name, start) in enumerate(zip(header.cells, header.starts, strict=True)):
            if name in self.columns:
                text = f"row {header.number}: column '{short(name)}' stands there twice"
                self._add(header.number, start, text, "every column once", "remove one of the two")
            elif name in needed or name == STATE:
                self.columns[name] = place
            elif name == TASK:
                self.columns[name] = place
                self.ignored[f"column '{TASK}'"] = None
            else:
                self._other_column(header.number, start, name, needed, missing)
        if missing:
            quoted = [f"'{name}'" for name in missing]
            names, advice = f"is no column {quoted[0]}", "add it"
            if len(missing) > 1:
                names = f"are no columns {', '.join(quoted[:-1])} and {quoted[-1]}"
                advice = "rename your columns to these; others are left unread"
            if len(header.cells) == 1:
                advice = "separate columns by commas"
            text = f"row {header.number}: there {names}"
            self._add(header.number, 1, text, ",".join(needed), advice)
        return not self.mistakes.kept

    def _other_column(
        self, row: int, start: int, name: str, needed: tuple[str, ...], missing: list[str]
    ) -> None:
        """A column that is left unread, unless it is a needed one misspelt."""
        same = [each for each in needed if each == name.casefold()]
        guess = same[0] if same else closest(name, missing)
        if guess is None:
            self.ignored[f"column '{short(name)}'" if name else "a column without a name"] = None
            return
        text = f"row {row}: unknown column '{short(name)}'"
        advice = f"did you mean '{guess}'?" if guess in missing else "remove one of the two"
        self._add(row, start, text, ",".join(needed), advice)
        if guess in missing:
            missing.remove(guess)

    # one row

    def _row(self, columns: int, row: CsvRow) -> None:
        if len(row.cells) != columns:
            cells_found = f"{len(row.cells)} cell{'' if len(row.cells) == 1 else 's'}"
            text = f"row {row.number}: {cells_found} in a table of {columns} columns"
            text = text if any(row.cells) else f"row {row.number}: the row is empty"
            advice = "complete the row; write a decimal point and no commas inside a number"
            self._add(row.number, 1, text, f"{columns} cells, as in the first row", advice)
            return
        arm, seed = self._arm(row), self._run(row)
        measurement = self._measurement(row)
        known = measurement in self.schema.measurements
        state = self._state(row)
        diverged = known and self._cell(row, "value").casefold() == DIVERGED
        lost = diverged or state in ("diverged", "missing")
        value = self._value(row) if known and not lost else None
        if arm is None or seed is None or not measurement:
            return
        self._count(row, arm, seed)
        self._time(row, arm, seed)
        self._drawn(row, arm, seed)
        # A run that diverged has, whatever other rows say of it.
        if lost and self.lost.setdefault(arm, {}).get(seed) != "diverged":
            self.lost[arm][seed] = "missing" if state == "missing" else "diverged"
        if not known:
            self._other_measurement(row, arm, seed, measurement)
        elif self._once(row, arm, seed, measurement) and value is not None:
            self.found.setdefault(arm, {}).setdefault(seed, {})[measurement] = value

    def _cell(self, row: CsvRow, column: str) -> str:
        return row.cells[self.columns[column]]

    def _refuse(self, row: CsvRow, column: str, mistake: str, expected: str, advice: str) -> None:
        """A mistake in a cell."""
        text = f"row {row.number}, column {column}: {mistake}"
        self._add(row.number, row.starts[self.columns[column]], text, expected, advice)

    def _arm(self, row: CsvRow) -> str | None:
        """An arm that the claim has, and reads from here."""
        name, known = self._cell(row, "arm"), self.schema.arms
        if name in known:
            return name
        if not name:
            self._refuse(row, "arm", EMPTY, listed(known), choose(name, known))
        elif name in self.not_ours or len(self.not_ours) < MAX_SEEDS:
            place = _Unread(row.number, row.starts[self.columns["arm"]])
            self.not_ours.setdefault(name, place).rows += 1
        return None

    def _measurement(self, row: CsvRow) -> str:
        name, known = self._cell(row, "measurement"), self.schema.measurements
        if not name:
            self._refuse(row, "measurement", EMPTY, listed(known), choose(name, known))
        return name

    def _run(self, row: CsvRow) -> SeedKey | None:
        """What tells the run of a row from the others of its arm."""
        task = self._task(row) if self.schema.tasks else ""
        if not self.schema.tasks and TASK in self.columns:
            self._one_task(row)
        seed = self._whole(row, "seed")
        if seed is None or task is None:
            return None
        if self.schema.unit is not None:
            return self._evaluation(row, task, seed)
        return TaskSeed(task, seed) if task else seed

    def _evaluation(self, row: CsvRow, task: str, seed: int) -> SeedKey | None:
        """An evaluation of a unit: by its seed; where the seed is the unit, by its place."""
        if self.schema.unit != "seed":
            unit = self._whole(row, str(self.schema.unit))
            return None if unit is None else Evaluation(task, unit, seed)
        row_of = (self._cell(row, "arm"), task, seed, self._cell(row, "measurement"))
        self.evaluations[row_of] += 1
        return Evaluation(task, seed, self.evaluations[row_of])

    def _task(self, row: CsvRow) -> str | None:
        name, known = self._cell(row, TASK), self.schema.tasks
        if name in known:
            return name
        if name not in self.no_tasks:
            self.no_tasks.add(name)
            mistake = f"the claim has no task '{short(name)}'" if name else EMPTY
            self._refuse(row, TASK, mistake, listed(known), choose(name, known))
        return None

    def _one_task(self, row: CsvRow) -> None:
        """Stops at a second task where nothing that is expected is over tasks: no pooling."""
        task = self._cell(row, TASK)
        if self.only_task is None:
            self.only_task = task
        if task == self.only_task:
            return
        mistake = f"the rows are of several tasks ('{short(self.only_task)}', '{short(task)}'), "
        mistake += "and what the claim expects takes no notice of tasks"
        expected = "expectations of kind over_tasks or meta_analysis, or rows of a single task"
        advice = "name the tasks in such an expectation, or write a claim and a table for each task"
        self._refuse(row, TASK, mistake, expected, advice)
        self.mistakes.stop()

    def _whole(self, row: CsvRow, column: str) -> int | None:
        """The number of a seed, or of a unit."""
        cell = self._cell(row, column)
        if _SEED.fullmatch(cell) and int(cell) < MAX_SEED:
            return int(cell)
        text = f"'{short(cell)}' is no number of a replicate" if cell else EMPTY
        advice = "write digits only, without a sign or point"
        self._refuse(row, column, text, "a whole number, 0 or more", advice)
        return None

    def _state(self, row: CsvRow) -> RunState | None:
        if STATE not in self.columns:
            return None
        cell = self._cell(row, STATE)
        state = state_of(cell)
        if state is None:
            text = f"'{short(cell)}' is no state of a run"
            self._refuse(row, STATE, text, EXPECTED_STATES, choose(cell, STATES))
        return state

    def _value(self, row: CsvRow) -> float | None:
        spec = self.schema.specs.get(self._cell(row, "measurement"))
        found = value_of(self._cell(row, "value"), spec)
        if isinstance(found, float):
            return found
        self._refuse(row, "value", *found)
        return None

    def _count(self, row: CsvRow, arm: str, seed: SeedKey) -> None:
        """Stops where there are more seeds than could be planned."""
        seeds = self.seeds.setdefault(arm, {})
        most, noun = (MAX_ITEMS, "items") if self.schema.by_item else (MAX_SEEDS, "seeds")
        if seed in seeds or len(seeds) < most:
            seeds.setdefault(seed, row.number)
            return
        text = f"row {row.number}: arm '{arm}' has more than {most:,} {noun}"
        expected = f"at most {most:,} {noun} per arm"
        self._add(row.number, 1, text, expected, "leave some out, chosen without regard to values")
        self.mistakes.stop()

    def _time(self, row: CsvRow, arm: str, seed: SeedKey) -> None:
        """When the run of a row came, where the claim declares a column for it."""
        column = self.schema.order
        if column is None:
            return
        cell = self._cell(row, column)
        found = time_of(cell)
        if found is None:
            text = f"'{short(cell)}' is neither a number nor a date" if cell else EMPTY
            expected = "a number, or a date such as 2026-03-01 or 2026-03-01T12:30:00"
            self._refuse(row, column, text, expected, "write when the run was finished")
            return
        sort, time = found
        self.sort_of_time = self.sort_of_time or sort
        if sort != self.sort_of_time:
            text = f"'{short(cell)}' is a {sort}, and the rows before hold another sort"
            self._refuse(row, column, text, f"a {self.sort_of_time}", "write all of one sort")
        elif self.times.setdefault(arm, {}).setdefault(seed, time) != time:
            text = f"seed {seed} of arm '{arm}' has another time in an earlier row"
            self._refuse(row, column, text, "one time for each seed", "correct one of the two")

    def _drawn(self, row: CsvRow, arm: str, seed: SeedKey) -> None:
        """What was drawn for a seed, which is the same in all its rows."""
        cells = tuple(self._cell(row, source) for source in self.schema.sources)
        before = self.drawn.setdefault(arm, {}).setdefault(seed, cells)
        for source, cell, first in zip(self.schema.sources, cells, before, strict=True):
            if cell != first or not cell:
                text = f"'{short(cell)}', and '{short(first)}' in another row of the seed"
                self._refuse(row, source, text if cell else EMPTY, "one for each seed", "write it")

    def _other_measurement(self, row: CsvRow, arm: str, seed: SeedKey, name: str) -> None:
        if len(self.ignored) < MAX_SEEDS:
            self.ignored[f"measurement '{short(name)}'"] = None
        place = _Unread(row.number, row.starts[self.columns["measurement"]])
        self.others.setdefault((arm, seed), (name, place))[1].rows += 1

    def _once(self, row: CsvRow, arm: str, seed: SeedKey, measurement: str) -> bool:
        before = self.first.setdefault((arm, seed, measurement), row.number)
        if before != row.number:
            text = f"row {row.number}: arm '{arm}', seed {seed}, measurement '{measurement}' again"
            advice = f"remove one of the two; the first is row {before}"
            self._add(row.number, 1, text, "one value for each", advice)
        return before == row.number

    # all rows

    def _unread_arms(self) -> None:
        """Each arm that the claim does not declare, or reads elsewhere, at its first place."""
        for name, place in self.not_ours.items():
            reason = self.schema.elsewhere.get(name)
            text = f"the claim has no arm '{short(name)}'"
            advice = "" if self.mistakes.full else choose(name, self.schema.arms)
            if reason is not None:
                text = f"the values of '{short(name)}' are not read from here"
                advice = f"leave them out: {reason}"
            self._unread("arm", text, place, listed(self.schema.arms), advice)

    def _misspelt(self) -> None:
        """A seed with rows, but without any value that the claim reads: its name is a mistake."""
        places: dict[str, _Unread] = {}
        for (arm, seed), (name, place) in self.others.items():
            if seed in self.found.get(arm, {}) or seed in self.lost.get(arm, {}):
                continue
            places.setdefault(name, replace(place, rows=0)).rows += place.rows
        known = self.schema.measurements
        for name, place in places.items():
            text = f"the claim has no measurement '{short(name)}'"
            self._unread("measurement", text, place, listed(known), choose(name, known))

    def _unread(
        self, column: str, mistake: str, place: _Unread, expected: str, advice: str
    ) -> None:
        more = place.rows - 1
        others = f" ({more} more row{'' if more == 1 else 's'})" if more else ""
        text = f"row {place.row}, column {column}: {mistake}{others}"
        self._add(place.row, place.column, text, expected, advice)

    def _complete(self) -> None:
        """An arm has rows, and each seed of it a value of every measurement that the arm has."""
        for arm in self.schema.arms:
            seeds = self._kept(arm)
            names = {name for values in seeds.values() for name in values}
            if not seeds and not self.lost.get(arm):
                text = f"there are no rows for arm '{arm}'"
                self._add(1, 1, text, f"arms {', '.join(self.schema.arms)}", "add them")
                continue
            self._every_task(arm)
            for name in self.schema.needed.get(arm, ()):
                if seeds and name not in names:
                    text = f"there are no rows for measurement '{name}' of arm '{arm}'"
                    self._add(1, 1, text, f"a row per seed, for {len(seeds)} seeds", "add them")
            for seed, values in seeds.items():
                for name in sorted(names - set(values)):
                    self._without(arm, seed, name, values)

    def _every_task(self, arm: str) -> None:
        """An arm has a row for each task that is declared."""
        there = {in_order(seed)[0] for seed in self.seeds.get(arm, {})}
        missing = [f"'{short(task)}'" for task in self.schema.tasks if task not in there]
        if missing:
            text = f"there are no rows for task {' and '.join(missing[:NAMED])} of arm '{arm}'"
            text += f" and {len(missing) - NAMED} tasks more" if len(missing) > NAMED else ""
            advice = f"add them, with values or `{DIVERGED}`"
            self._add(1, 1, text, "rows of every task of the claim, for each arm", advice)

    def _without(self, arm: str, seed: SeedKey, name: str, values: Mapping[str, float]) -> None:
        row = min(self.first[arm, seed, other] for other in values)
        text = f"row {row}: seed {seed} of arm '{arm}' has no value of measurement '{name}'"
        advice = f"add its row, with the value or `{DIVERGED}`"
        self._add(row, 1, text, "the same seeds for every measurement of an arm", advice)

    def _ordered(self) -> None:
        """No two seeds of an arm came at the same time, for then they have no order."""
        for arm, times in self.times.items():
            earlier: dict[float, SeedKey] = {}
            for seed, time in times.items():
                same = earlier.setdefault(time, seed)
                if same != seed:
                    row = self.seeds[arm][seed]
                    text = f"row {row}: seeds {same} and {seed} of arm '{arm}' came together"
                    expected = f"another '{self.schema.order}' for each seed of an arm"
                    self._add(row, 1, text, expected, "write which came first")

    def _add(self, row: int, column: int, mistake: str, expected: str, advice: str) -> None:
        self.mistakes.add(row, column, mistake, expected, advice)
