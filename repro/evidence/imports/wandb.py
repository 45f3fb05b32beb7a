"""Weights & Biases: runs that were recorded offline, from the files `run-*.wandb`.

Written after the layout of wandb 0.31.0 (blocks of LevelDB's log, with Record messages), without
it. Fields are `config.NAME`, `group`, `name`, `project`, `job_type` and `id`. A CSV that its page
exports is read as ``from: files`` with ``each: row``.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from repro.errors import DataError
from repro.evidence.imports.importer import FilesRead, FoundRun, Importer
from repro.evidence.imports.wire import Value, message, number, text
from repro.series import Record, Row, flat, numbers_in

HEADER: Final = b":W&B"
HEADER_BYTES, BLOCK = 7, 32_768
FULL, FIRST, LAST = 1, 2, 4

HISTORY, RUN, EXIT = 2, 17, 18
ITEMS: Final = 1
KEY, NESTED_KEY, JSON = 1, 2, 16
NAMES: Final = {1: "id", 3: "project", 6: "group", 7: "job_type", 8: "name"}
CONFIG: Final = 4


class Wandb(Importer):
    """The folder `wandb`, or one above it. ``seed`` is a field, such as `config.seed`."""

    from_: Literal["wandb"] = Field(alias="from")
    seed: str = "config.seed"

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By the time in the names of their folders."""
        place = self.place(root)
        files = sorted(place.rglob("run-*.wandb")) if place.is_dir() else [place]
        if not files:
            raise DataError(f"{place}: no file run-*.wandb is there\n  to do: check `path`")
        for file in files:
            yield _run(digests.read(file, root), file)


def _run(content: bytes, file: Path) -> FoundRun:
    """One that never said how it ended is still running, or was killed."""
    if not content.startswith(HEADER):
        raise DataError(f"{file}: is no record of a run of wandb\n  to do: check `path`")
    fields: dict[str, Any] = {}
    rows: list[Row] = []
    state: Literal["finished", "failed", "running"] = "running"
    try:
        for record in _records(content):
            found = message(record)
            for run in found.get(RUN, ()):
                fields |= _said(message(run))
            for history in found.get(HISTORY, ()):
                items = _items(message(history).get(ITEMS, []))
                rows.append(numbers_in(dict(flat(items))))
            for ended in found.get(EXIT, ()):
                status = number(message(ended).get(1, [0])[0])
                state = "failed" if status else "finished"
    except ValueError as error:
        raise DataError(f"{file}: cannot be read as a record of wandb: {error}") from error
    return FoundRun(file.parent.name, fields, rows, state)


def _records(content: bytes) -> Iterator[bytes]:
    """The records in the blocks; the last one may be cut off."""
    at, parts = HEADER_BYTES, b""
    while at + HEADER_BYTES <= len(content):
        left = BLOCK - at % BLOCK
        if left < HEADER_BYTES:
            at += left
            continue
        _, length, sort = struct.unpack_from("<IHB", content, at)
        at += HEADER_BYTES
        if at + length > len(content):
            return
        parts = (
            content[at : at + length] if sort in (FULL, FIRST) else parts + content[at:][:length]
        )
        at += length
        if sort in (FULL, LAST):
            yield parts


def _said(run: dict[int, list[Value]]) -> Record:
    said: Record = {name: text(run[key][0]) for key, name in NAMES.items() if key in run}
    for config in run.get(CONFIG, ()):
        values = _items(message(config).get(ITEMS, []))
        said |= {f"config.{key}": value for key, value in flat(values)}
    return said


def _items(items: list[Value]) -> dict[str, Any]:
    """Values by their names; those of keys in keys by dotted paths."""
    found: dict[str, Any] = {}
    for each in items:
        item = message(each)
        names = [text(part) for part in item.get(NESTED_KEY, []) or item.get(KEY, [])]
        if names and JSON in item:
            found[".".join(names)] = json.loads(text(item[JSON][0]))
    return found
