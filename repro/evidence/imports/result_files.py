"""Files: JSON, JSON lines, CSV, and logs by a pattern; what a run is stands in its path, or inside.

So read is what Hugging Face's Trainer, Lightning, Keras, lm-eval, sacred and most scripts leave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from repro.errors import DataError
from repro.evidence.imports.importer import (
    ColumnPattern,
    FilesRead,
    FoundRun,
    Importer,
    PathPattern,
    column_expression,
    matching,
)
from repro.evidence.wandb_export import wandb_export
from repro.schema.base import FileName
from repro.schema.yaml import parse_document
from repro.series import Form, Heard, NumberName, Record, Row, flat, numbers_in, records_in

FORMS: dict[str, Form] = {
    ".json": "file",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


class Files(Importer):
    """A file per run, with ``each: row`` a run per row of a file, with ``columns`` one per column.

    In ``path`` `{seed}` and other names in braces stand for a part of a name that is a field of
    the run; `*` and `**` for any. ``pattern`` reads logs: its named groups are the numbers of a
    line. ``rows`` is the path of a list in JSON, such as `log_history`. ``fields`` is a file
    beside each, in JSON or YAML, that says more of the run, such as `hparams.yaml`.
    ``columns`` is what the columns of a CSV are named that hold a run each, such as
    `{arm}-{seed} - error`: its numbers are called `value`, and the first column is its step.
    """

    from_: Literal["files"] = Field(alias="from")
    path: PathPattern
    pattern: Annotated[str, Field(max_length=1_000)] | None = None
    rows: NumberName | None = None
    each: Literal["file", "row"] = "file"
    columns: ColumnPattern | None = None
    fields: FileName | None = None

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

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By path."""
        for path, said in matching(root, self.path):
            text = _text(digests.read(path, root), path)
            beside = self._beside(path, root, digests)
            name = path.relative_to(root).as_posix()
            for where, fields, rows in self._read(path, text):
                yield FoundRun(f"{name}{where}", {**fields, **beside, **said}, rows)

    def _beside(self, path: Path, root: Path, digests: FilesRead) -> dict[str, Any]:
        if self.fields is None:
            return {}
        beside = path.with_name(self.fields)
        text = _text(digests.read(beside, root), beside)
        if beside.suffix in (".yaml", ".yml"):
            return dict(flat(parse_document(text, str(beside)).data))
        return _records(text, "file", beside)[0]

    def _read(self, path: Path, text: str) -> Iterator[tuple[str, Record, list[Row]]]:
        """The runs in a file: where each is, what is said of it, and its numbers in rows."""
        if self.pattern is not None:
            heard = Heard(self.pattern)
            for line in text.splitlines():
                heard(line)
            yield "", {}, heard.rows
            return
        form = FORMS.get(path.suffix.lower())
        if form is None:
            raise DataError(
                f"{path}: of a form that is not known\n  expected: {', '.join(FORMS)}\n"
                "  to do: add `pattern` to read it line by line"
            )
        records = _records(text, form, path)
        if self.columns is not None:
            yield from _runs_in_columns(records, column_expression(self.columns))
            return
        if form == "csv" and self.each == "file":
            _no_export(records, path)
        if self.each == "row":
            for number, record in enumerate(records, start=1):
                yield f", row {number}", record, [numbers_in(record)]
        elif self.rows is not None:
            listed = records[0].get(self.rows) if records else None
            if not isinstance(listed, list):
                raise DataError(f"{path}: there is no list '{self.rows}' in it")
            inside = (dict(flat(each)) for each in listed if isinstance(each, dict))
            yield "", records[0], [numbers_in(each) for each in inside]
        else:
            said = records[0] if form == "file" else {}
            yield "", said, [numbers_in(each) for each in records]


def _runs_in_columns(
    records: list[Record], expected: str
) -> Iterator[tuple[str, Record, list[Row]]]:
    """A run for every column that has such a name; what it has no value of is not its step."""
    names = list(records[0]) if records else []
    for name in names[1:]:
        if found := re.fullmatch(expected, name):
            both = ({names[0]: each[names[0]], "value": each[name]} for each in records)
            rows = [row for row in map(numbers_in, both) if "value" in row]
            yield f", column '{name}'", dict(found.groupdict()), rows


def _no_export(records: list[Record], path: Path) -> None:
    """DataError for a CSV of W&B, whose rows or columns are runs: it is not the file of one run."""
    found = wandb_export(records[0].keys() if records else ())
    if found is not None:
        mistake, expected, advice = found
        raise DataError(f"{path}: {mistake}\n  expected: {expected}\n  to do: {advice}")


def _text(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is no UTF-8 text: byte {error.start}") from error


def _records(text: str, form: Form, path: Path) -> list[Record]:
    try:
        return records_in(text, form)
    except ValueError as error:
        raise DataError(f"{path}: cannot be read: {error}\n  to do: mend the file") from error
