"""The checksum of TensorFlow's records: CRC-32C, rotated and shifted by a constant."""

from __future__ import annotations

from functools import cache
from typing import Final

POLYNOMIAL: Final = 0x82F63B78
ALL: Final = 0xFFFFFFFF


@cache
def _table() -> tuple[int, ...]:
    """The checksum of every single byte."""
    found = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (POLYNOMIAL if value & 1 else 0)
        found.append(value)
    return tuple(found)


def crc32c(content: bytes) -> int:
    """CRC-32C, by Castagnoli's polynomial."""
    table, value = _table(), ALL
    for byte in content:
        value = table[(value ^ byte) & 255] ^ (value >> 8)
    return value ^ ALL


def masked(content: bytes) -> int:
    """As it stands beside a record."""
    value = crc32c(content)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & ALL
