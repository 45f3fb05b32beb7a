"""TensorBoard: the event files of a run's folder.

Written after the layout of tensorboard 2.21.0 (TFRecord frames of Event messages), without it. A
scalar may be a plain value, as torch writes it, or a tensor, as TensorFlow and Keras do.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from pydantic import Field

from repro.errors import DataError
from repro.evidence.imports.importer import FilesRead, FoundRun, Points, Stepped, rows_of
from repro.evidence.imports.paths import PathPattern, matching_folders, seed_in
from repro.evidence.imports.wire import Value, finite, message, number, raw, real, signed, text

EVENT_TIME, EVENT_STEP, EVENT_SUMMARY = 1, 2, 5
SUMMARY_VALUE: Final = 1
TAG, SIMPLE_VALUE, TENSOR = 1, 2, 8
DTYPE, CONTENT = 1, 4
KINDS: Final = {1: ("<f", 5), 2: ("<d", 6), 3: ("<i", 7), 9: ("<q", 10)}
"""dtype -> how its bytes are read, and the field of its values."""


class TensorBoard(Stepped):
    """A folder per run; `{seed}` and other names in braces in ``path`` are fields of it."""

    from_: Literal["tensorboard"] = Field(alias="from")
    path: PathPattern

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By path; the event files of a folder are one after the other."""
        for folder, said, _ in matching_folders(root, self.path):
            paths = sorted(folder.glob("*tfevents*"))
            if not paths and seed_in(said.get(self.seed, "")) is None:
                continue
            files = [_events(digests.read(path, root), path) for path in paths]
            files.sort(key=lambda each: (each.began, each.name))
            place = folder.relative_to(root).as_posix()
            points = self._points(folder, files)
            digests.replaced |= {f"{place}/{each.name}" for each in files if each.replaced}
            ended = max((each.ended for each in files), default=None)
            yield FoundRun(place, said, rows_of(points), when=ended)

    def _points(self, folder: Path, files: list[_Events]) -> Points:
        """The scalars of all files; of two that hold the same step, what the later one says."""
        for number_, later in enumerate(files):
            for earlier in files[:number_]:
                shared = earlier.places & later.places
                if not shared:
                    continue
                if self.duplicates is None:
                    tag, step = min(shared)
                    raise DataError(
                        f"{folder}: step {step} of '{tag}' is in {earlier.name} and in "
                        f"{later.name}\n  expected: the events of one run\n  to do: give each run "
                        "a folder, or write `duplicates: last` to take the later one"
                    )
                earlier.cut(min(step for step, _, _ in later.scalars))
        points: Points = {}
        for each in files:
            for step, tag, value in each.scalars:
                points.setdefault(tag, []).append((step, value))
        return points


class Scalar(NamedTuple):
    """The value of a tag at a step."""

    step: int
    tag: str
    value: float | None


@dataclass(slots=True)
class _Events:
    """What a file of events holds; a later run may have replaced all of it."""

    name: str
    began: float = 0.0
    ended: float = 0.0
    scalars: list[Scalar] = field(default_factory=list)
    replaced: bool = False

    @property
    def places(self) -> set[tuple[str, int]]:
        return {(each.tag, each.step) for each in self.scalars}

    def cut(self, step: int) -> None:
        """Leave out what came at this step and after it, as a run that went on from there does."""
        self.scalars = [each for each in self.scalars if each.step < step]
        self.replaced = not self.scalars


def _events(content: bytes, file: Path) -> _Events:
    """The scalars of a file; its end may be cut off. DataError where it is damaged."""
    found = _Events(file.name)
    times = []
    for frame in _frames(content, file):
        try:
            event = message(frame)
            step = signed(event.get(EVENT_STEP, [0]))[-1]
            if EVENT_TIME in event and math.isfinite(time := real("<d", event[EVENT_TIME][-1])):
                times.append(time)
            for summary in event.get(EVENT_SUMMARY, ()):
                for value in message(summary).get(SUMMARY_VALUE, ()):
                    found.scalars += _scalar(step, message(value))
        except (ValueError, IndexError) as error:
            raise DataError(f"{file}: is no file of events: {error}") from error
    if times:
        found.began, found.ended = times[0], max(times)
    return found


def _frames(content: bytes, file: Path) -> Iterator[bytes]:
    """The records, whose lengths and contents have checksums; the last one may be cut off."""
    at = 0
    while at + 12 <= len(content):
        length, check = struct.unpack_from("<QI", content, at)
        if masked(content[at : at + 8]) != check:
            raise _damaged(file, at)
        end = at + 12 + length
        if end + 4 > len(content):
            return
        frame = content[at + 12 : end]
        if struct.pack("<I", masked(frame)) != content[end : end + 4]:
            raise _damaged(file, at)
        yield frame
        at = end + 4


def _damaged(file: Path, at: int) -> DataError:
    return DataError(
        f"{file}: is damaged: the record at byte {at:,} has another checksum\n"
        "  expected: the file as TensorBoard's writer left it\n  to do: copy it anew"
    )


def _scalar(step: int, value: dict[int, list[Value]]) -> Iterator[Scalar]:
    tag = text(value.get(TAG, [b""])[0])
    if SIMPLE_VALUE in value:
        yield Scalar(step, tag, finite(real("<f", value[SIMPLE_VALUE][0])))
    elif TENSOR in value:
        numbers = _numbers(message(value[TENSOR][0]))
        if len(numbers) == 1:
            yield Scalar(step, tag, finite(numbers[0]))


def _numbers(tensor: dict[int, list[Value]]) -> list[float]:
    """The numbers in a tensor; none where it is of another kind, or has more bytes than one."""
    layout, values = KINDS.get(number(tensor.get(DTYPE, [0])[0]), ("", 0))
    if not layout:
        return []
    content, found = raw(tensor.get(CONTENT, [b""])[0]), tensor.get(values, [])
    if not content and layout in ("<i", "<q"):
        return [float(each) for each in signed(found)]
    content = content or b"".join(map(raw, found))
    return [real(layout, content)] if len(content) == struct.calcsize(layout) else []


CRC_POLYNOMIAL: Final = 0x82F63B78
CRC_BITS: Final = 0xFFFFFFFF


@cache
def _checksums() -> tuple[int, ...]:
    """The checksum of every single byte."""
    found = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (CRC_POLYNOMIAL if value & 1 else 0)
        found.append(value)
    return tuple(found)


def crc32c(content: bytes) -> int:
    """CRC-32C, by Castagnoli's polynomial."""
    table, value = _checksums(), CRC_BITS
    for byte in content:
        value = table[(value ^ byte) & 255] ^ (value >> 8)
    return value ^ CRC_BITS


def masked(content: bytes) -> int:
    """The checksum that stands beside a record: CRC-32C, rotated and shifted by a constant."""
    value = crc32c(content)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & CRC_BITS
