"""The wire format of protocol buffers: what a message holds, by the numbers of its fields."""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from collections.abc import Iterator

Value = bytes | int

SIGN = 1 << 63


def fields_of(content: bytes) -> Iterator[tuple[int, Value]]:
    """Number and value of each field, in order; ValueError for anything but a message."""
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        sort, size = key & 7, 0
        if sort == 0:
            value, at = _varint(content, at)
            yield key >> 3, value
            continue
        if sort == 2:
            size, at = _varint(content, at)
        elif sort in (1, 5):
            size = 8 if sort == 1 else 4
        else:
            raise ValueError(f"a field of the sort {sort}")
        if at + size > len(content):
            raise ValueError("a field that ends after its message")
        yield key >> 3, content[at : at + size]
        at += size


def message(content: Value) -> dict[int, list[Value]]:
    """The values of each field."""
    found: dict[int, list[Value]] = defaultdict(list)
    for field, value in fields_of(raw(content)):
        found[field].append(value)
    return found


def number(value: Value) -> int:
    """A whole number; ValueError for bytes."""
    if isinstance(value, bytes):
        raise ValueError("bytes in the place of a number")  # noqa: TRY004 - content, not type
    return value


def raw(value: Value) -> bytes:
    """Bytes; ValueError for a number."""
    if isinstance(value, int):
        raise ValueError("a number in the place of bytes")  # noqa: TRY004
    return value


def text(value: Value) -> str:
    return raw(value).decode("utf-8", "replace")


def real(layout: str, value: Value) -> float:
    """A number of a fixed size; ValueError for another size."""
    content = raw(value)
    if len(content) != struct.calcsize(layout):
        raise ValueError(f"{len(content)} bytes in the place of a number")
    return float(struct.unpack(layout, content)[0])


def signed(values: list[Value]) -> list[int]:
    """Whole numbers with their signs, whether or not they are packed."""
    found: list[int] = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            each, at = _varint(value, at)
            found.append(each)
    return [each - 2 * SIGN if SIGN <= each < 2 * SIGN else each for each in found]


def finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _varint(content: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while at < len(content) and shift < 70:
        byte = content[at]
        at += 1
        found |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return found, at
    raise ValueError("a number without an end")
