"""The event files of TensorBoard: their scalars, step by step.

A scalar may be a plain value, as torch writes it, or a tensor, as TensorFlow and Keras do.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from repro.results.inside import Refused, refuse_many
from repro.results.inside.wire import Value, finite, message, number, raw, real, signed, text

EVENT_TIME, EVENT_STEP, EVENT_SUMMARY = 1, 2, 5
SUMMARY_VALUE: Final = 1
TAG, SIMPLE_VALUE, TENSOR = 1, 2, 8
DTYPE, CONTENT = 1, 4
KINDS: Final = {1: ("<f", 5), 2: ("<d", 6), 3: ("<i", 7), 9: ("<q", 10)}
"""dtype -> how its bytes are read, and the field of its values."""


def read(parts: Mapping[str, bytes], folder: Path) -> Any:
    """The scalars of a file, a column each of steps, tags and values; its end may be cut off.

    ``began`` and ``ended`` are the first and the latest time in it, in seconds.
    """
    del folder
    times, steps, tags, values = [], [], [], []
    for frame in _frames(parts[""]):
        try:
            event = message(frame)
            step = signed(event.get(EVENT_STEP, [0]))[-1]
            if EVENT_TIME in event and math.isfinite(time := real("<d", event[EVENT_TIME][-1])):
                times.append(time)
            for summary in event.get(EVENT_SUMMARY, ()):
                for each in message(summary).get(SUMMARY_VALUE, ()):
                    for tag, value in _scalar(message(each)):
                        steps.append(step)
                        tags.append(tag)
                        values.append(value)
        except (ValueError, IndexError) as error:
            raise Refused(f"is no file of events: {error}") from error
    places = {tag: place for place, tag in enumerate(dict.fromkeys(tags))}
    refuse_many(places)
    return {
        "began": times[0] if times else 0.0,
        "ended": max(times, default=0.0),
        "names": list(places),
        "steps": steps,
        "tags": [places[tag] for tag in tags],
        "values": values,
    }


def _frames(content: bytes) -> Iterator[bytes]:
    """The records, whose lengths and contents have checksums; the last one may be cut off."""
    at = 0
    while at + 12 <= len(content):
        length, check = struct.unpack_from("<QI", content, at)
        if masked(content[at : at + 8]) != check:
            raise _damaged(at)
        end = at + 12 + length
        if end + 4 > len(content):
            return
        frame = content[at + 12 : end]
        if struct.pack("<I", masked(frame)) != content[end : end + 4]:
            raise _damaged(at)
        yield frame
        at = end + 4


def _damaged(at: int) -> Refused:
    return Refused(
        f"is damaged: the record at byte {at:,} has another checksum",
        "the file as TensorBoard's writer left it",
        "copy it again",
    )


def _scalar(value: dict[int, list[Value]]) -> Iterator[tuple[str, float | None]]:
    tag = text(value.get(TAG, [b""])[0])
    if SIMPLE_VALUE in value:
        yield tag, finite(real("<f", value[SIMPLE_VALUE][0]))
    elif TENSOR in value:
        numbers = _numbers(message(value[TENSOR][0]))
        if len(numbers) == 1:
            yield tag, finite(numbers[0])


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
    """The checksum CRC-32C, by Castagnoli's polynomial, that each record of an event file has."""
    table, value = _checksums(), CRC_BITS
    for byte in content:
        value = table[(value ^ byte) & 255] ^ (value >> 8)
    return value ^ CRC_BITS


def masked(content: bytes) -> int:
    """The checksum that stands beside a record: CRC-32C, rotated and shifted by a constant."""
    value = crc32c(content)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & CRC_BITS
