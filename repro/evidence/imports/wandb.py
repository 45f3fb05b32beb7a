"""Weights & Biases: runs that were recorded offline, from the files `run-*.wandb`.

Written after the layout of wandb 0.31.0 (blocks of LevelDB's log, with Record messages), without
it. Fields are `config.NAME`, `group`, `name`, `project`, `job_type` and `id`. A CSV that its page
exports is read as ``from: files`` with ``each: row``.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from repro.errors import DataError
from repro.evidence.imports.importer import FilesRead, FoundRun, RunEnd, Stepped
from repro.evidence.imports.wire import Value, message, number, text
from repro.schema.messages import Words
from repro.series import Record, Row, flat, numbers_in

HEADER: Final = b":W&B\xe1\xbe\x00"
BLOCK_HEADER, BLOCK = 7, 32_768
FULL, FIRST, LAST = 1, 2, 4

HISTORY, SUMMARY, CONFIG, RUN, EXIT = 2, 3, 5, 17, 18
UPDATE, REMOVE = 1, 2
KEY, NESTED_KEY, JSON = 1, 2, 16
NAMES: Final = {1: "id", 3: "project", 6: "group", 7: "job_type", 8: "name"}
CONFIG_OF_RUN, SUMMARY_OF_RUN = 4, 5

_TIME = re.compile(r"[0-9]{8}_[0-9]{6}")


class Wandb(Stepped):
    """The folder `wandb`, or one above it. ``seed`` is a field, such as `config.seed`."""

    from_: Literal["wandb"] = Field(alias="from")
    seed: str = "config.seed"

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By the time in the names of their folders."""
        place = self.place(root)
        files = sorted(place.rglob("run-*.wandb"), key=_began) if place.is_dir() else [place]
        if not files:
            raise DataError(f"{place}: no file run-*.wandb is there\n  to do: check `path`")
        for file in files:
            told = _told(digests.read(file, root), file)
            name = file.relative_to(root).as_posix()
            yield FoundRun(name, told.fields, told.all_rows, told.state)


def _began(file: Path) -> tuple[str, Path]:
    """The time in the name of its folder, such as `offline-run-20261123_073504-a85ti8c3`."""
    found = _TIME.search(file.parent.name)
    return (found[0] if found else ""), file


@dataclass(slots=True)
class _Told:
    """What the records of a run have told so far.

    One that never said how it ended is still running, or was killed.
    """

    said: Record = field(default_factory=dict)
    config: Record = field(default_factory=dict)
    summary: Record = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    state: RunEnd = "running"

    def hear(self, record: dict[int, list[Value]]) -> None:
        """One more record."""
        for run in map(message, record.get(RUN, ())):
            self.said |= {name: text(run[key][0]) for key, name in NAMES.items() if key in run}
            for content in run.get(CONFIG_OF_RUN, ()):
                _update(self.config, message(content))
            for content in run.get(SUMMARY_OF_RUN, ()):
                _update(self.summary, message(content))
        for content in record.get(CONFIG, ()):
            _update(self.config, message(content))
        for content in record.get(SUMMARY, ()):
            _update(self.summary, message(content))
        for history in record.get(HISTORY, ()):
            self.rows.append(numbers_in(dict(flat(_items(message(history).get(UPDATE, []))))))
        for ended in record.get(EXIT, ()):
            status = number(message(ended).get(1, [0])[0])
            self.state = "failed" if status else "finished"

    @property
    def fields(self) -> Record:
        return {**self.said, **{f"config.{key}": value for key, value in self.config.items()}}

    @property
    def all_rows(self) -> list[Row]:
        """Those that were logged, and one of the numbers that the summary alone has."""
        logged = {name for row in self.rows for name in row}
        alone = {
            name: value
            for name, value in numbers_in(self.summary).items()
            if name not in logged and not name.startswith("_")
        }
        return [*self.rows, alone] if alone else self.rows


def _told(content: bytes, file: Path) -> _Told:
    if not content.startswith(HEADER):
        raise DataError(
            f"{file}: is no record of a run of wandb\n"
            "  expected: a file run-ID.wandb of an offline run\n  to do: check `path`"
        )
    told = _Told()
    for record in _records(content, file):
        try:
            told.hear(message(record))
        except (ValueError, RecursionError) as error:
            raise DataError(f"{file}: cannot be read as a record of wandb: {error}") from error
    return told


def _records(content: bytes, file: Path) -> Iterator[bytes]:
    """The records in the blocks, each part with a checksum; the last one may be cut off."""
    at, parts = len(HEADER), b""
    while at + BLOCK_HEADER <= len(content):
        left = BLOCK - at % BLOCK
        if left < BLOCK_HEADER:
            at += left
            continue
        check, length, sort = struct.unpack_from("<IHB", content, at)
        start = at + BLOCK_HEADER
        if start + length > len(content):
            return
        part = content[start : start + length]
        if zlib.crc32(part, zlib.crc32(bytes([sort]))) != check:
            raise DataError(
                f"{file}: is damaged: the record at byte {at:,} has another checksum\n"
                "  expected: the file as wandb left it\n  to do: copy it anew"
            )
        parts = part if sort in (FULL, FIRST) else parts + part
        at = start + length
        if sort in (FULL, LAST):
            yield parts


def _update(known: Record, change: dict[int, list[Value]]) -> None:
    """Values that are set anew, or taken away, with all that stood below their names."""
    items = _items(change.get(UPDATE, []))
    for name in (*items, *_names(change.get(REMOVE, []))):
        for key in [each for each in known if each == name or each.startswith(f"{name}.")]:
            del known[key]
    known |= flat(items)


def _names(items: list[Value]) -> Iterator[str]:
    """Those of keys in keys as dotted paths."""
    for each in items:
        item = message(each)
        yield ".".join(text(part) for part in item.get(NESTED_KEY, []) or item.get(KEY, []))


def _items(items: list[Value]) -> dict[str, Any]:
    """Values by their names."""
    found: dict[str, Any] = {}
    for each, name in zip(items, _names(items), strict=True):
        item = message(each)
        if name and JSON in item:
            found[name] = json.loads(text(item[JSON][0]))
    return found


# what the pages of Weights & Biases export as CSV


_ENDS = ("__MIN", "__MAX")
_CHART = re.compile(r".+ - .+")
_RUNS = frozenset({"Name", "State", "Created", "Runtime", "Sweep", "Notes", "User", "Tags"})


def wandb_export(names: Collection[str]) -> Words | None:
    """What a CSV of these columns is that the pages of W&B export, and how it is imported.

    None for the columns of any other table.
    """
    ended = [name for name in names if name.endswith(_ENDS)]
    runs = "Name" in names and (len(_RUNS.intersection(names)) >= 3 or ended)
    if runs:
        mistake = "this is a table of runs that W&B exported: a run per row"
        advice = (
            "give each arm `import: {from: files, path: FILE.csv, each: row, "
            "where: {Group: ...}, seed: seed}`, and the measurement `from: COLUMN`"
        )
        return mistake, "arm,seed,measurement,value", advice
    if ended and any(_CHART.fullmatch(name.removesuffix(end)) for name in ended for end in _ENDS):
        mistake = "this is a chart that W&B exported: a column per run, and a row per step"
        advice = (
            'give each arm `import: {from: files, path: FILE.csv, columns: "RUN-{seed} - METRIC"}` '
            "with the names of its runs, and the measurement `from: value`"
        )
        return mistake, "a row per run, or arm,seed,measurement,value", advice
    return None
