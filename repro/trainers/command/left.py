"""What a finished program left, as one record: its output, its files, and how it ended.

Nothing of a claim is read here: what is judged is read from the record, as often as that takes.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self

from repro.digest import digest
from repro.errors import NotKeptError, StoreError, printable
from repro.files import leads_out, read_bytes
from repro.results.series import Row
from repro.trainers.command.attempts import LARGEST
from repro.trainers.command.spec import TRACKERS, CommandTraining, Results, filled
from repro.trainers.run import RunSpec

INDEX: Final = "left.json"
OUTPUT: Final = "output.txt"

MOST_KEPT: Final = 200
KEPT_BYTES: Final = 64_000_000
"""What `keep` takes."""

TEXT_BYTES: Final = 16_000_000
"""Bytes of the text, and of the files of trackers, that are kept of a run unasked."""

MOST_TEXTS: Final = 1_000
MOST_FILES: Final = 10_000
"""Of so many files at most the content, and the names, are kept unasked."""

EVENTS: Final = "*tfevents*"

OF_DATABASE: Final = ("", "-wal", "-journal")
"""How the files of a database end."""

OF_TRACKERS: Final = (EVENTS, "*.wandb", "*.db", "*.db-wal", "*.sqlite", "*.sqlite3")

PROGRAM: Final[tuple[str, ...]] = (
    "command",
    "args",
    "style",
    "environment",
    "digests",
    "resources",
)
"""The fields of an identity on which it depends what a program does."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A program with its arguments and a seed, whatever is read of what it leaves."""

    training: Mapping[str, Any]
    seed: int
    root: int

    @classmethod
    def of(cls, run: RunSpec) -> Self:
        """What is run for a run."""
        whole = CommandTraining.of(run).identity()
        training: dict[str, Any] = {name: whole[name] for name in PROGRAM if name in whole}
        return cls(training, run.replicate, run.root)

    def identity(self) -> dict[str, Any]:
        """The document that is hashed into the key."""
        return {"schema": 1, "program": self.training, "seed": self.seed, "root": self.root}

    @property
    def key(self) -> str:
        return digest(self.identity())


@dataclass(slots=True)
class Left:
    """What a program left when it ended well.

    ``output`` is what it printed, ``whole`` unless it is cut. ``files`` are those of ``{out}``
    whose content is kept, ``sizes`` the bytes of all, ``links`` what was no plain file there.
    ``unkept`` says why a file that was asked for is not kept. ``rows`` were found while it printed
    by the pattern ``sought``, or ``trouble`` was. ``again``: it was cut off and went on, with
    ``cuts`` in the file ``series``; it has not written the files ``earlier`` since.
    """

    output: bytes = b""
    whole: bool = True
    files: dict[str, bytes] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    unkept: dict[str, str] = field(default_factory=dict)
    sought: str | None = None
    rows: list[Row] | None = None
    trouble: str = ""
    again: bool = False
    series: str = ""
    cuts: list[list[Any]] = field(default_factory=list)
    earlier: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        """All but the contents, as JSON."""
        return {name: value for name, value in asdict(self).items() if name not in _CONTENTS}

    def record(self) -> dict[str, bytes]:
        """The files of its record, by their names there."""
        stored = {name: f"left_{n}.{ending(name)}" for n, name in enumerate(self.files)}
        index = {**self.facts(), "stored": stored}
        return {
            INDEX: json.dumps(index, sort_keys=True).encode("ascii"),
            OUTPUT: self.output or b"\n",
            **{stored[name]: content for name, content in self.files.items()},
        }

    @classmethod
    def of(cls, record: Mapping[str, bytes]) -> Self:
        """What a record holds; StoreError for one of another shape."""
        try:
            index = json.loads(record[INDEX])
            stored: dict[str, str] = index.pop("stored")
            files = {_inside(name): record[kept] for name, kept in stored.items()}
            left = cls(output=record[OUTPUT], files=files, **index)
            for name in left.sizes:
                _inside(name)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(f"what a program left is not recorded as it should be: {error}") from (
                error
            )
        return left

    @contextmanager
    def unpacked(self) -> Iterator[Path]:
        """A folder as ``{out}`` was, while within; files whose content is not kept are empty."""
        with tempfile.TemporaryDirectory(prefix="repro-left-") as name:
            out = Path(name) / "out"
            out.mkdir()
            for path in (*self.sizes, *self.files):
                (out / path).parent.mkdir(parents=True, exist_ok=True)
                (out / path).write_bytes(self.files.get(path, b""))
            yield out

    def require(self, name: str) -> None:
        """NotKeptError for a file that was there, and whose content is not kept."""
        if name in self.files or name not in {*self.sizes, *self.unkept}:
            return
        why = self.unkept.get(name, f"it has {self.sizes.get(name, 0):,} bytes")
        raise NotKeptError(
            f"{printable(name)}: its content was not kept: {why}\n"
            f"  expected: what `results` and `keep` name, and {TEXT_BYTES / 1e6:.0f} MB of text\n"
            "  to do: give the same command again, which runs the program again, or read another"
        )


_CONTENTS: Final = {"output", "files"}


def _inside(name: str) -> str:
    """The name of a file in a folder; ValueError for one that leads out."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"'{printable(name)}' is no name of a file in {{out}}")
    return name


def gathered(left: Left, spec: CommandTraining, values: Mapping[str, Any]) -> None:
    """Add to ``left`` what is in ``{out}``: what the configuration names first, then text."""
    out = Path(values["out"])
    plain = _plain_files(out, left)
    named = Path(filled(spec.results.path, values)) if spec.results.path else None
    if named is not None:
        prefix = named.relative_to(out).as_posix() if named.is_relative_to(out) else ""
        inside = [name for name in plain if taken(spec.results, name, prefix)]
        _keep(left, out, inside, LARGEST, "`results` take")
    asked = (found for pattern in spec.keep for found in sorted(out.glob(pattern)))
    matched = dict.fromkeys(found.relative_to(out).as_posix() for found in asked)
    wanted = [name for name in matched if name in plain]
    _keep(left, out, wanted[:MOST_KEPT], KEPT_BYTES, "`keep` keeps")
    limit = f"`keep` keeps at most {MOST_KEPT} files of {KEPT_BYTES / 1e6:.0f} MB together"
    left.unkept |= dict.fromkeys(wanted[MOST_KEPT:], limit)
    _keep_text(left, out, plain)
    for name in [*plain][:MOST_FILES]:
        left.sizes[name] = plain[name]


def taken(results: Results, name: str, place: str) -> bool:
    """Whether a file of ``{out}`` is read of results that are at ``place`` there."""
    return needed(results.form, name, place) if results.form in TRACKERS else name == place


def needed(form: str, name: str, place: str) -> bool:
    """Whether a file of ``{out}`` is read of results in a ``place`` there; `.` is all of it."""
    last = name.rpartition("/")[2]
    if name in {place + ending for ending in OF_DATABASE}:
        return True
    if place != "." and not name.startswith(f"{place}/"):
        return False
    if form == "mlflow":
        return "/artifacts/" not in name
    return fnmatch(last, EVENTS if form == "tensorboard" else "*.wandb")


def _plain_files(out: Path, left: Left) -> dict[str, int]:
    """The bytes of each plain file, by its path; what is a link, or no file, is noted."""
    found: dict[str, int] = {}
    for at, folders, names in os.walk(out):
        for name in (*folders, *names):
            path = Path(at, name)
            try:
                status = path.lstat()
            except OSError:
                continue
            inside = path.relative_to(out).as_posix()
            if stat.S_ISREG(status.st_mode):
                found[inside] = status.st_size
            elif not stat.S_ISDIR(status.st_mode) and len(left.links) < MOST_FILES:
                left.links.append(inside)
    return dict(sorted(found.items()))


def _keep(left: Left, out: Path, names: list[str], most: int, what: str) -> None:
    """Keep files that are asked for, as far as they are not too large together."""
    for name in names:
        if name in left.files:
            most -= len(left.files[name])
            continue
        path = out / name
        try:
            content = None if path.stat().st_size > most else read_bytes(path, most, follow=False)
        except OSError as error:
            left.unkept[name] = error.strerror or str(error)
            continue
        if content is None or leads_out(path, out):
            left.unkept[name] = f"{what} at most {most / 1e6:.0f} MB together"
            continue
        left.files[name] = content
        most -= len(content)


def _keep_text(left: Left, out: Path, plain: Mapping[str, int]) -> None:
    """Keep text and what trackers write, the smallest files first."""
    room, texts = TEXT_BYTES, 0
    for name in sorted(plain, key=lambda each: (plain[each], each)):
        if name in left.files or name in left.unkept:
            continue
        if plain[name] > room or texts >= MOST_TEXTS:
            break
        try:
            content = read_bytes(out / name, room, follow=False)
        except OSError:
            continue
        tracker = any(fnmatch(name.rpartition("/")[2], each) for each in OF_TRACKERS)
        if tracker or b"\0" not in content:
            left.files[name] = content
            room, texts = room - len(content), texts + 1


def ending(name: str) -> str:
    """The ending of a file's name, as far as a store takes it."""
    found = Path(name).suffix[1:].lower()
    return found if found.isascii() and found.isalnum() and len(found) <= 16 else "bin"
