"""The files of offline runs of Weights & Biases: blocks of LevelDB's log, with Record messages."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from repro.results.inside import Refused, numbers, refuse_many, scalars, settings
from repro.results.inside.wire import Value, message, number, text

HEADER: Final = b":W&B\xe1\xbe\x00"
BLOCK_HEADER, BLOCK = 7, 32_768
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4

HISTORY, SUMMARY, CONFIG, RUN, EXIT = 2, 3, 5, 17, 18
UPDATE, REMOVE = 1, 2
KEY, NESTED_KEY, JSON = 1, 2, 16
NAMES: Final = {1: "id", 3: "project", 6: "group", 7: "job_type", 8: "name"}
CONFIG_OF_RUN, SUMMARY_OF_RUN = 4, 5


def read(parts: Mapping[str, bytes], folder: Path) -> Any:
    """What a run told of itself: fields, configuration, summary, rows, and how it ended."""
    del folder
    if not parts[""].startswith(HEADER):
        raise Refused(
            "is no record of a run of wandb",
            "a file run-ID.wandb of an offline run",
            "check `path`",
        )
    told = _Told()
    for record in _records(parts[""]):
        try:
            told.hear(message(record))
        except (ValueError, RecursionError) as error:
            raise Refused(f"cannot be read as a record of wandb: {error}") from error
    return told.answer()


@dataclass(slots=True)
class _Known:
    """Values by dotted names; one that is set again, or taken away, takes all below it along.

    A node for each part of a name: what is below it, and at None its own name and value.
    """

    top: dict[str | None, Any] = field(default_factory=dict)

    def change(self, changes: Mapping[int, list[Value]]) -> Collection[str]:
        """Make changes; the names of what is new."""
        items = _items(changes.get(UPDATE, []))
        for name in (*items, *map(_name, map(message, changes.get(REMOVE, [])))):
            *above, last = name.split(".")
            node: Any = self.top
            for part in above:
                node = node.get(part, {})
            node.pop(last, None)
        new = dict(scalars(items))
        for name, value in new.items():
            node = self.top
            for part in name.split("."):
                node = node.setdefault(part, {})
            node[None] = (name, value)
        return new

    @property
    def values(self) -> dict[str, Any]:
        found, ahead = {}, [self.top]
        while ahead:
            node = ahead.pop()
            if None in node:
                name, value = node[None]
                found[name] = value
            ahead += reversed([below for part, below in node.items() if part is not None])
        return found


@dataclass(slots=True)
class _Told:
    """What the records of a run have told so far.

    One that never said how it ended is still running, or was killed.
    """

    said: dict[str, str] = field(default_factory=dict)
    config: _Known = field(default_factory=_Known)
    summary: _Known = field(default_factory=_Known)
    rows: list[dict[str, Any]] = field(default_factory=list)
    state: str = "running"
    names: set[str] = field(default_factory=set)

    def hear(self, record: dict[int, list[Value]]) -> None:
        for run in map(message, record.get(RUN, ())):
            self.said |= {name: text(run[key][0]) for key, name in NAMES.items() if key in run}
            for content in run.get(CONFIG_OF_RUN, ()):
                self._named(self.config.change(message(content)))
            for content in run.get(SUMMARY_OF_RUN, ()):
                self._named(self.summary.change(message(content)))
        for content in record.get(CONFIG, ()):
            self._named(self.config.change(message(content)))
        for content in record.get(SUMMARY, ()):
            self._named(self.summary.change(message(content)))
        for history in record.get(HISTORY, ()):
            self.rows.append(numbers(_items(message(history).get(UPDATE, []))))
            self._named(self.rows[-1])
        for ended in record.get(EXIT, ()):
            status = number(message(ended).get(1, [0])[0])
            self.state = "failed" if status else "finished"

    def _named(self, names: Collection[str]) -> None:
        self.names.update(names)
        refuse_many(self.names)

    def answer(self) -> dict[str, Any]:
        config, summary = settings(self.config.values), numbers(self.summary.values)
        rest = {"said": self.said, "rows": self.rows, "state": self.state}
        return {"config": config, "summary": summary, **rest}


def _records(content: bytes) -> Iterator[bytes]:
    """The records in the blocks, each part with a checksum; the last one may be cut off.

    A part that is not the last fills its block.
    """
    at = len(HEADER)
    parts: list[bytes] = []
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
            raise _damaged(at, "has another checksum")
        if sort in (FIRST, MIDDLE) and length != left - BLOCK_HEADER:
            raise _damaged(at, "goes on before its block is full")
        if sort in (FULL, FIRST):
            parts.clear()
        parts.append(part)
        at = start + length
        if sort in (FULL, LAST):
            yield b"".join(parts)


def _damaged(at: int, why: str) -> Refused:
    mistake = f"is damaged: the record at byte {at:,} {why}"
    return Refused(mistake, "the file as wandb left it", "copy it again")


def _name(item: Mapping[int, list[Value]]) -> str:
    """The dotted path of a key in keys."""
    return ".".join(text(part) for part in item.get(NESTED_KEY, []) or item.get(KEY, []))


def _items(items: list[Value]) -> dict[str, Any]:
    """The JSON values in items of a record, by their dotted names."""
    refuse_many(items)
    found: dict[str, Any] = {}
    for item in map(message, items):
        if JSON in item and (name := _name(item)):
            found[name] = json.loads(text(item[JSON][0]))
    return found
