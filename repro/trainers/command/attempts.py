"""A run that was cut off and goes on in its folder: what of its earlier attempts counts.

A file of results is removed before another attempt, which has to write its own. A series goes on:
where an attempt was cut off is noted beside ``{out}``, and rows that a later attempt has taken back
are left out. A row is taken back where the later attempt has its step, or an earlier one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from repro.files import leads_out, read_bytes, write_atomically
from repro.results.series import Row

CUTS: Final = "checkpoint-attempts.json"
"""The cuts of a series, in the folder of its run; removed with the other checkpoints."""

LARGEST: Final = 64_000_000
"""Bytes of a file of results."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a series was cut off: after so many bytes, of this SHA-256; ``whole`` are its lines."""

    whole: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Attempts:
    """Whether a run goes on from an earlier attempt, and where its series was cut off so far."""

    again: bool = False
    cuts: tuple[Cut, ...] = ()

    def parts(self, content: bytes) -> Iterator[bytes]:
        """What each attempt has written; one part where the program has started its file over.

        Half a line, with which an attempt was cut off, is left out.
        """
        start = 0
        for cut in self.cuts:
            if cut.bytes >= start and _digest(content[: cut.bytes]) == cut.sha256:
                whole = content[cut.bytes : cut.bytes + 1] in (b"", b"\n", b"\r")
                yield content[start : cut.bytes if whole else max(start, cut.whole)]
                start = cut.bytes
        yield content[start:]


def begun(out: Path, folder: Path, results: Path | None, *, series: bool) -> Attempts:
    """Begin another attempt in ``out``: ``results`` is where its results will be, if in a file."""
    if not any(out.iterdir()):
        with suppress(FileNotFoundError):
            (folder / CUTS).unlink()
        return Attempts()
    if results is None:
        return Attempts(again=True)
    if not series:
        with suppress(FileNotFoundError):
            if not leads_out(results, out):
                results.unlink()
        return Attempts(again=True)
    cuts: tuple[Cut, ...] = ()
    with suppress(OSError, ValueError, TypeError):
        cuts = tuple(Cut(*each) for each in json.loads((folder / CUTS).read_bytes()))
    with suppress(FileNotFoundError):
        content = read_bytes(results, LARGEST, follow=False)
        whole = content.rfind(b"\n") + 1
        cuts = (*cuts, Cut(whole, len(content), _digest(content)))
    documents = [[cut.whole, cut.bytes, cut.sha256] for cut in cuts]
    write_atomically(folder / CUTS, json.dumps(documents).encode("ascii"), durable=False)
    return Attempts(again=True, cuts=cuts)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def joined(parts: Sequence[Sequence[Row]], step: str) -> list[Row]:
    """The rows of one training, from those of its attempts."""
    rows: list[Row] = []
    for part in parts:
        first = min((_number(row, step, math.inf) for row in part), default=math.inf)
        places = enumerate(rows)
        end = next((at for at, row in places if _number(row, step, -math.inf) >= first), len(rows))
        rows = [*rows[:end], *part]
    return rows


def _number(row: Row, step: str, otherwise: float) -> float:
    found: Any = row.get(step)
    return otherwise if found is None else float(found)
