"""TensorBoard: the event files of a run's folder.

Written after the layout of tensorboard 2.21.0 (TFRecord frames of Event messages), without it. A
scalar may be a plain value, as torch writes it, or a tensor, as TensorFlow and Keras do.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from pydantic import Field

from repro.errors import DataError
from repro.evidence.imports.importer import (
    FilesRead,
    FoundRun,
    Importer,
    PathPattern,
    Points,
    matching,
    rows_of,
)
from repro.evidence.imports.wire import finite, message, number

EVENT_STEP, EVENT_SUMMARY = 2, 5
SUMMARY_VALUE: Final = 1
TAG, SIMPLE_VALUE, TENSOR = 1, 2, 8
DTYPE, CONTENT = 1, 4
KINDS: Final = {1: ("<f", 5), 2: ("<d", 6), 3: ("<i", 7), 9: ("<q", 10)}
"""dtype -> how its bytes are read, and the field of its values."""


class TensorBoard(Importer):
    """A folder per run; `{seed}` and other names in braces in ``path`` are fields of it."""

    from_: Literal["tensorboard"] = Field(alias="from")
    path: PathPattern

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By path; the event files of a folder are one after the other."""
        for folder, said in matching(root, self.path, folders=True):
            files = sorted(folder.glob("*tfevents*"))
            points: Points = defaultdict(list)
            for file in files:
                for step, tag, value in _scalars(digests.read(file, root), file):
                    points[tag].append((step, value))
            if files:
                yield FoundRun(folder.relative_to(root).as_posix(), said, rows_of(points))


def _scalars(content: bytes, file: Path) -> Iterator[tuple[int, str, float | None]]:
    """Step, tag and value of every scalar in a file; its end may be cut off."""
    at = 0
    while at + 12 <= len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        record = content[at + 12 : at + 12 + length]
        at += 16 + length
        if len(record) < length:
            return
        try:
            event = message(record)
            step = number(event.get(EVENT_STEP, [0])[0])
            for summary in event.get(EVENT_SUMMARY, ()):
                for value in message(summary).get(SUMMARY_VALUE, ()):
                    yield from _scalar(step, message(value))
        except ValueError as error:
            raise DataError(f"{file}: is no file of events: {error}") from error


def _scalar(
    step: int, value: dict[int, list[bytes | int]]
) -> Iterator[tuple[int, str, float | None]]:
    tag = bytes(value.get(TAG, [b""])[0]).decode("utf-8", "replace")
    if SIMPLE_VALUE in value:
        (found,) = struct.unpack("<f", bytes(value[SIMPLE_VALUE][0]))
        yield step, tag, finite(found)
    elif TENSOR in value:
        tensor = message(value[TENSOR][0])
        layout, values = KINDS.get(number(tensor.get(DTYPE, [0])[0]), ("", 0))
        if layout:
            content = bytes(tensor.get(CONTENT, [b""])[0]) or _packed(
                tensor.get(values, []), layout
            )
            if len(content) == struct.calcsize(layout):
                yield step, tag, finite(struct.unpack(layout, content)[0])


def _packed(values: list[bytes | int], layout: str) -> bytes:
    """One value as bytes; those that are no fixed number of bytes come as whole numbers."""
    if len(values) != 1:
        return b""
    (only,) = values
    return struct.pack(layout, only) if isinstance(only, int) else only
