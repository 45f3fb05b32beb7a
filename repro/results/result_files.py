"""Files: JSON, JSON lines, CSV, and logs by a pattern; what a run is stands in its path, or inside.

So read is what Hugging Face's Trainer, Lightning, Keras, lm-eval, sacred and most scripts leave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from repro.errors import DataError
from repro.files import MAX_BYTES
from repro.results.file_forms import HELM_INSTANCES, HELM_SPEC, ways_of_files
from repro.results.forms import FoundRun, ResultsThere, RunEnd, Way
from repro.results.importer import FilesRead, Stepped
from repro.results.inside import scalars
from repro.results.json_runs import instances_of_helm, known_form
from repro.results.paths import ColumnPattern, PathPattern, column_expression, matching
from repro.results.pattern_rows import PatternRows
from repro.results.readings import (
    EXPECTED_STATES,
    STATE_COLUMNS,
    STATES,
    RunState,
    loop_advice,
    short,
    state_of,
)
from repro.results.run_fields import ENDS, WORST_FIRST
from repro.results.series import (
    FORMS,
    LARGEST,
    NumberName,
    Record,
    Row,
    TextForm,
    form_of,
    numbers_in,
    records_in,
    series_of,
)
from repro.results.wandb import wandb_export
from repro.schema.base import BesideName
from repro.schema.messages import choose
from repro.schema.yaml import parse_document

LONGEST_LINE: Final = 10_000
"""Characters of a line that a pattern is searched in."""


class RunInFile(NamedTuple):
    """A run in a file: where it is there, what is said of it, and its numbers in rows."""

    where: str
    said: Record
    rows: list[Row]
    state: RunEnd = "finished"


class Files(Stepped):
    """A file per run, with ``each: row`` a run per row of a file, with ``columns`` one per column.

    In ``path`` `{seed}` and other names in braces stand for a part of a name that is a field of
    the run; `*` and `**` for any. ``pattern`` reads logs: its named groups are the numbers of a
    line. ``rows`` is the path of a list in JSON, such as `log_history`. ``fields`` is a file
    beside each, in JSON or YAML, that says more of the run, such as `hparams.yaml` or
    `.hydra/config.yaml`.
    ``columns`` is what the columns of a CSV are named that hold a run each, such as
    `{arm}-{seed} - error`: its numbers are called `value`, and the first column is its step.
    """

    item: ClassVar[str] = "instance_id"

    from_: Literal["files"] = Field(alias="from")
    path: PathPattern
    pattern: Annotated[str, Field(max_length=1_000)] | None = None
    rows: NumberName | None = None
    each: Literal["file", "row"] = "file"
    columns: ColumnPattern | None = None
    fields: BesideName | None = None

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.pattern is not None:
            try:
                groups = re.compile(self.pattern).groupindex
            except re.error as error:
                raise ValueError(f"pattern is no regular expression: {error}") from None
            if not groups:
                raise ValueError("pattern names no number: write it as (?P<loss>...)")
        if self.columns is not None and (self.pattern or self.rows or self.each == "row"):
            raise ValueError("columns, pattern, rows and each: row are four ways to read a file")
        if self.columns is not None and FORMS.get(PurePosixPath(self.path).suffix.lower()) != "csv":
            raise ValueError("columns are those of a .csv or .tsv")
        return self

    @classmethod
    def ways(cls, there: ResultsThere) -> Iterator[Way]:
        """Of files of numbers and of logs, where a run is a file, or a part of one."""
        yield from ways_of_files(there, cls)

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By path; a folder of a run that lacks its file is a run without numbers."""
        for path, said, empty in matching(root, self.path, self.seed, beside=self.fields):
            name = path.relative_to(root).as_posix()
            folder = path if empty else path.parent
            if empty and (self.each == "row" or self.columns is not None):
                continue
            beside = self._beside(folder, root, digests)
            if empty:
                yield FoundRun(name, {**beside, **said}, [])
                continue
            text = _text(digests.read(path, root), path)
            ended = _sacred_end(path, root, text, digests)
            for each in self._read(path, text, digests.said):
                fields = {**each.said, **beside, **said}
                yield FoundRun(f"{name}{each.where}", fields, each.rows, ended or each.state)

    def items(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """The instances of HELM, by `instance_id`; they lie in the folder of each run."""
        if self.fields != HELM_SPEC:
            return
        for path, said, empty in matching(root, self.path, self.seed, beside=self.fields):
            file = (path if empty else path.parent) / HELM_INSTANCES
            fields = {**self._beside(file.parent, root, digests), **said}
            of_scenario = (f"{v}" for k, v in fields.items() if k.startswith("scenario_spec."))
            fields["task"] = " ".join(of_scenario)
            text, name = _text(digests.read(file, root), file), file.relative_to(root).as_posix()
            try:
                for item, row in instances_of_helm(text):
                    yield FoundRun(f"{name}, {item}", {**fields, "instance_id": item}, [row])
            except ValueError as error:
                raise _unread(file, error) from error

    def _beside(self, folder: Path, root: Path, digests: FilesRead) -> dict[str, Any]:
        if self.fields is None:
            return {}
        beside = folder / self.fields
        in_yaml = beside.suffix in (".yaml", ".yml")
        text = _text(digests.read(beside, root, MAX_BYTES if in_yaml else LARGEST), beside)
        if in_yaml:
            return dict(scalars(parse_document(text, str(beside)).data))
        return _in_every(_records(text, "file", beside))

    def _read(self, path: Path, text: str, told: dict[str, None]) -> Iterator[RunInFile]:
        """The runs in a file; ``told`` takes what is to be said of how it was read."""
        if self.pattern is not None:
            yield RunInFile("", {}, _rows_with(self.pattern, text, path))
            return
        form = form_of(path.name, text)
        if form is None:
            raise DataError(
                f"{path}: of a form that is not known\n  expected: {', '.join(FORMS)}\n"
                "  to do: add `pattern` to read it line by line"
            )
        known = _known(text, path) if form == "file" and self.rows is None else None
        if known is not None:
            yield RunInFile("", {}, known)
            return
        records = _records(text, form, path, told)
        if self.columns is not None:
            yield from _runs_in_columns(records, column_expression(self.columns), path)
        elif self.each == "row":
            yield from _runs_in_rows(records, path)
        elif self.rows is not None:
            yield RunInFile(
                "", records[0] if records else {}, _rows_inside(records, self.rows, path)
            )
        else:
            if form == "csv":
                found = wandb_export(records[0].keys() if records else ())
                if found is not None:
                    mistake, expected, advice = found
                    raise DataError(f"{path}: {mistake}\n  expected: {expected}\n  to do: {advice}")
            said = {} if form == "csv" else _in_every(records)
            yield RunInFile("", said, _series(records, path))


SACRED_ENDS: Mapping[str, RunEnd] = {
    "COMPLETED": "finished",
    "RUNNING": "running",
    "QUEUED": "running",
}
"""What `run.json` of sacred says of a run; any other word is that of one that was lost."""


def _sacred_end(path: Path, root: Path, text: str, digests: FilesRead) -> RunEnd | None:
    """How a run of sacred ended, by the file beside its metrics; None for any other run."""
    beside = path.with_name("run.json")
    written = '"steps"' in text or text.strip() == "{}"
    if path.name != "metrics.json" or not written or not beside.is_file():
        return None
    found = _records(_text(digests.read(beside, root), beside), "file", beside)
    said = _in_every(found).get("status")
    return SACRED_ENDS.get(str(said), "failed") if isinstance(said, str) else None


def _in_every(records: list[Record]) -> Record:
    """What all rows of a run say alike: of a single one, all."""
    said = dict(records[0]) if records else {}
    for record in records[1:]:
        said = {name: value for name, value in said.items() if record.get(name) == value}
    return said


def _series(records: list[Record], path: Path) -> list[Row]:
    try:
        return series_of(records)
    except ValueError as error:
        raise _unread(path, error) from error


def _rows_with(pattern: str, text: str, path: Path) -> list[Row]:
    """The rows in the lines of a log."""
    with PatternRows(pattern) as search:
        for number, line in enumerate(text.splitlines(), start=1):
            if len(line) > LONGEST_LINE:
                raise DataError(
                    f"{path}:{number}: a line of {len(line):,} characters\n"
                    f"  expected: at most {LONGEST_LINE:,}\n  to do: break it, or leave it out"
                )
            search(line)
        try:
            return search.rows
        except DataError as error:
            raise DataError(f"{path}: {error}") from error


def _rows_inside(records: list[Record], name: str, path: Path) -> list[Row]:
    """The rows of a list that stands inside of JSON."""
    found = records[0].get(name) if records else None
    if not isinstance(found, list):
        raise DataError(f"{path}: there is no list '{name}' in it")
    return _series([dict(scalars(each)) for each in found if isinstance(each, dict)], path)


def _runs_in_rows(records: list[Record], path: Path) -> Iterator[RunInFile]:
    """A run per row, which may say in a column how it ended."""
    names = dict.fromkeys(name for record in records for name in record)
    columns = [
        name
        for name in names
        if name.casefold() in STATE_COLUMNS
        and any(state_of(record.get(name, "")) for record in records)
    ]
    for number, record in enumerate(records, start=1):
        said = (_state(record, name, path, number) for name in columns)
        worst = min(said, key=WORST_FIRST.index, default=WORST_FIRST[-1])
        yield RunInFile(f", row {number}", record, [numbers_in(record)], ENDS[worst])


def _state(record: Record, name: str, path: Path, number: int) -> RunState:
    found = state_of(record.get(name, ""))
    if found is None:
        text = short(str(record.get(name, "")))
        other = f"{choose(text, STATES)}, or leave that column out if it says something else"
        raise DataError(
            f"{path}, row {number}, column {name}: '{text}' is no state of a run\n"
            f"  expected: {EXPECTED_STATES}\n  to do: {loop_advice([text], path) or other}"
        )
    return found


def _runs_in_columns(records: list[Record], expected: str, path: Path) -> Iterator[RunInFile]:
    """A run for every column that has such a name; what it has no value of is not its step.

    DataError for a row that ends before one of them.
    """
    names = list(dict.fromkeys(name for record in records for name in record))
    for place, record in enumerate(records, start=1):
        if len(record) < len(names):
            raise DataError(
                f"{path}, row {place}: ends before the column '{short(names[len(record)])}'\n"
                "  expected: a cell for each column, which may be empty\n"
                "  to do: complete the row, or leave it out"
            )
    for name in names[1:]:
        if found := re.fullmatch(expected, name):
            both = ({names[0]: each[names[0]], "value": each[name]} for each in records)
            rows = [row for row in map(numbers_in, both) if "value" in row]
            yield RunInFile(f", column '{name}'", dict(found.groupdict()), rows)


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        mistake = f"{path}: is not UTF-8 text: byte {error.start}"
        raise DataError(f"{mistake}\n  expected: UTF-8\n  to do: save it as UTF-8") from error


def _known(text: str, path: Path) -> list[Row] | None:
    try:
        return known_form(text)
    except ValueError as error:
        raise _unread(path, error) from error


def _records(
    text: str, form: TextForm, path: Path, said: dict[str, None] | None = None
) -> list[Record]:
    try:
        return records_in(text, form, said=said)
    except ValueError as error:
        raise _unread(path, error) from error


def _unread(path: Path, error: ValueError) -> DataError:
    return DataError(f"{path}: cannot be read: {error}\n  to do: fix the file")
