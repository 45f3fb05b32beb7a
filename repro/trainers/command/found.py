"""The numbers that can be read of what a program left, whatever a claim asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from repro.errors import DataError, printable
from repro.results.series import FORMS, Row, rows_in
from repro.trainers.command.left import Left
from repro.trainers.command.trackers import tracked

MOST_PLACES, MOST_NAMES, LONGEST_NAME = 6, 12, 80
LARGEST: Final = 4_000_000
"""Bytes of a file, or of an output, that is looked through."""

NUMBER: Final = r"[-+]?(?:\d+[.,]?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)\b"
_SAID: Final = re.compile(
    rf"(?<![\w./-])([A-Za-z_][\w./@-]{{0,79}})['\"]?\s{{0,9}}[:=]\s{{0,9}}({NUMBER})(?![\w/:])"
)
_BESIDE: Final = re.compile(
    r"(?<![\w./-])((?:[A-Za-z_]\w{0,39} )?[A-Za-z_]\w{0,39})\s{1,9}([-+]?\d+\.\d+)(?![\w/:])"
)
"""`name: 1` or `name=1`, and `val loss 1.5`."""


_MLRUNS: Final = re.compile(r"(?:.*/)?mlruns(?=/)")


class NumbersThere(NamedTuple):
    """Where numbers are: the key of `results` for it, the path in ``{out}``, and their rows."""

    form: str
    path: str
    rows: list[Row]

    @property
    def names(self) -> list[str]:
        """The names of the numbers."""
        return list(dict.fromkeys(name for row in self.rows for name in row))


def places(left: Left) -> Iterator[NumbersThere]:
    """Every file whose form is known by its name and that has numbers; then the output."""
    for path, content in left.files.items():
        form = FORMS.get(PurePosixPath(path).suffix.lower())
        if form is None or len(content) > LARGEST:
            continue
        with suppress(ValueError):
            rows = rows_in(content.decode("utf-8-sig"), form)
            if any(rows):
                yield NumbersThere(form, path, rows)
    yield from _tracked(left)
    said: list[Row] = []
    for line in left.output[:LARGEST].decode("utf-8", "replace").splitlines():
        pairs = [pair for said_so in (_SAID, _BESIDE) for pair in said_so.findall(line[:2_000])]
        found = {name: _number(text) for name, text in pairs}
        if found:
            said.append(found)
    if said:
        yield NumbersThere("stdout", "", said)


def _tracked(left: Left) -> Iterator[NumbersThere]:
    """What trackers wrote, each where it has one run."""
    names = [*left.files]
    found = [("tensorboard", ".")] if any("tfevents" in name for name in names) else []
    found += [("wandb", ".")] if any(name.endswith(".wandb") for name in names) else []
    found += [("mlflow", m[0]) for m in map(_MLRUNS.match, names) if m]
    found += [(form, n) for n in names if n.endswith(".db") for form in ("mlflow", "trackio")]
    if not found:
        return
    with left.unpacked() as out:
        for form, path in dict.fromkeys(found):
            with suppress(DataError):
                yield NumbersThere(form, path, tracked(form, out / path, out))


def _number(text: str) -> float | None:
    number = float(text.replace(",", "."))
    return number if abs(number) < float("inf") else None


def said_of(left: Left) -> str:
    """What is there, in further lines of a message."""
    told = []
    for place in list(places(left))[:MOST_PLACES]:
        names = [printable(name[:LONGEST_NAME]) for name in place.names]
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        where = f"'{printable(place.path[:LONGEST_NAME])}'" if place.path else "the output"
        told.append(f"\n  found: in {where}: {', '.join(names[:MOST_NAMES])}{more}")
    return "".join(told)
