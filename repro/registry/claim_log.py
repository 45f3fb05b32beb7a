"""The log of one claim at one scale: what was declared, what was looked at, and when.

A log holds registrations of the claim's decisive fields and looks at results, one JSON object a
line, in the order in which they happened: so *edited after results were visible* is a matter of
lines, not of clocks. Looks with one digest of the decisive fields are one process, which never
resets; an edit starts another and the earlier ones stay.

Nothing is ever rewritten. A line goes down in one write under a lock, is flushed to the disk,
and carries the digest of everything before it, so that a changed or removed line is noticed. A
line that a crash cut short is kept, reported and passed over.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from repro.digest import canonical_json
from repro.digest import digest as digest_of
from repro.errors import StoreError, StoreUnreachableError
from repro.files import sync_folder
from repro.machine import now
from repro.schema.base import Spec
from repro.store.sealed import (
    JSON_LIMIT,
    KEY,
    damaged,
    is_folder,
    make_folder,
    open_or_make,
    out_of_reach,
    parse_json,
    read_bytes,
)

Seen = Mapping[str, Mapping[int, JsonValue]]
"""What was looked at: for each arm, by replicate number, a value or several by name."""

Numbers = Mapping[str, Mapping[str, float | None]]
"""The numbers that a look reported, for each expectation by name."""


class SeenArm(Spec):
    """Which replicates of an arm were looked at, and the digest of their values."""

    replicates: tuple[int, ...]
    sha256: str


class Look(Spec):
    """One look: ``number`` counts from 1 within its process, ``time`` is provenance only.

    ``planned`` is how many replicates each arm had by then, those that diverged included;
    ``results`` holds, for each expectation, the numbers that were reported (e, p).
    """

    kind: Literal["look"] = "look"
    digest: str
    number: Annotated[int, Field(ge=1)]
    time: str
    arms: dict[str, SeenArm]
    results: dict[str, dict[str, float | None]]
    conclusion: str
    version: str
    planned: Annotated[int, Field(ge=0)] = 0

    @property
    def n(self) -> dict[str, int]:
        """The number of replicates in each arm."""
        return {name: len(arm.replicates) for name, arm in self.arms.items()}


class Registration(Spec):
    """The decisive fields of a claim as declared at this point of the log.

    ``visible``: results were there already, whether or not a look is on record: of some test that
    decides, those of at least one seed of every arm.
    """

    kind: Literal["registration"] = "registration"
    digest: str
    time: str
    fields: dict[str, JsonValue]
    visible: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """What one look saw and said; the log adds number and digests."""

    digest: str
    values: Seen
    results: Numbers
    conclusion: str
    version: str
    time: str = ""
    planned: int = 0


@dataclass(frozen=True, slots=True)
class RegistrationVersion:
    """A registration as it follows the one before it.

    ``changed`` are the dotted paths of the fields that differ; ``looks_before`` says how many
    looks at results, of whatever process, had been taken by then.
    """

    registration: Registration
    changed: tuple[str, ...]
    looks_before: int

    @property
    def late(self) -> bool:
        """Whether results were visible by then."""
        return self.looks_before > 0 or self.registration.visible


@dataclass(frozen=True, slots=True)
class AuditLog:
    """All that an audit log holds; ``torn`` names lines (file:line) that a crash cut short."""

    entries: tuple[Look | Registration, ...] = ()
    torn: tuple[str, ...] = ()

    @property
    def processes(self) -> dict[str, tuple[Look, ...]]:
        """The looks of each process, by the digest of the decisive fields, in order."""
        found: dict[str, tuple[Look, ...]] = {}
        for entry in self.entries:
            if isinstance(entry, Look):
                found[entry.digest] = (*found.get(entry.digest, ()), entry)
        return found


@dataclass(frozen=True, slots=True)
class History:
    """The looks of the present process, and those of the processes of other versions."""

    looks: tuple[Look, ...]
    others: Mapping[str, tuple[Look, ...]]
    torn: tuple[str, ...]


_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
BEFORE = "before"
_KEPT = "the log as it was written; it is append-only"
_ADVICE = "restore the file from a copy; to remove it would hide what was looked at"


ROUND_OFF = 1e-9
"""Relative; numbers that lie no further apart are one number on two machines."""


@dataclass(frozen=True, slots=True)
class ClaimLog:
    """The audit log of a claim at a scale, below the folder ``place``.

    Whatever reads it raises StoreError, naming file and line, for a line that is no entry or that
    does not follow what is before it, and for names that could lead away.
    """

    place: Path
    claim_id: str
    scale: str

    @property
    def path(self) -> Path:
        for name in (self.claim_id, self.scale):
            if not _NAME.fullmatch(name):
                raise StoreError(
                    f"{name[:80]!r} cannot name a log\n"
                    "  expected: lower-case letters, digits and underscores, at most 64\n"
                    "  to do: use the id of the claim and the name of its scale"
                )
        return self.place / self.claim_id / f"{self.scale}.jsonl"

    def read(self) -> AuditLog:
        """All entries; empty when there are none."""
        path = self.path
        if not (is_folder(self.place) and is_folder(path.parent)):
            return AuditLog()
        return parse(path, read_bytes(path) or b"")

    def history(self, digest: str) -> History:
        """The looks of the process with this digest, and of all others, oldest first."""
        log = self.read()
        others = log.processes
        return History(others.pop(_checked(digest), ()), others, log.torn)

    def registrations(self) -> tuple[RegistrationVersion, ...]:
        """Every registration in order, with what changed and how many looks came before it."""
        return _edits(self.read().entries)

    def unwritten(
        self, digest: str, fields: Mapping[str, JsonValue], *, visible: bool = False
    ) -> tuple[RegistrationVersion, ...]:
        """The registrations as they would be with this one, where it cannot be written."""
        given = {"digest": _checked(digest), "fields": dict(fields), "visible": visible}
        declared = _made(self.path, Registration, time=now(), **given)
        return _edits((*self.read().entries, declared))

    def register(
        self, digest: str, fields: Mapping[str, JsonValue], *, visible: bool = False
    ) -> None:
        """Append the decisive fields of the claim, unless they are what was last registered.

        ``visible``: as in Registration.
        """
        with self._open() as writer:
            made = [each for each in writer.log.entries if isinstance(each, Registration)]
            if not made or made[-1].digest != _checked(digest):
                given = {"digest": digest, "fields": dict(fields), "visible": visible}
                writer.append(_made(self.path, Registration, time=now(), **given))

    def record(self, entry: Entry) -> Look:
        """Append a look and return it; a look that only repeats the last is not written again.

        A repeat says the same of the same up to round-off, by the same version of the program.
        ``StoreError`` if a value that an earlier look of this process saw is now another one or
        gone, and for values that cannot be recorded.
        """
        with self._open() as writer:
            looks = writer.log.processes.get(_checked(entry.digest), ())
            for look in looks:
                _compare(writer.path, look, entry.values)
            look = _made(
                writer.path,
                Look,
                digest=entry.digest,
                number=len(looks) + 1,
                time=entry.time or now(),
                arms={name: _arm(writer.path, seen) for name, seen in entry.values.items()},
                results={name: dict(each) for name, each in entry.results.items()},
                conclusion=entry.conclusion,
                version=entry.version,
                planned=entry.planned,
            )
            if looks and _repeats(look, looks[-1]):
                return looks[-1]
            writer.append(look)
            return look

    def copy_to(self, place: Path) -> None:
        """Bring it to another place, line by line as it was written.

        ``StoreError`` if it was tampered with, or if another history is there already.
        """
        if not self.read().entries:
            return
        content = read_bytes(self.path) or b""
        with ClaimLog(place, self.claim_id, self.scale)._open() as writer:  # noqa: SLF001 - its own
            if not (content.startswith(writer.content) or writer.content.startswith(content)):
                mistake = f"holds another history than {self.path}"
                advice = "export to another folder"
                raise damaged(writer.path, mistake, "the same history, or none", advice)
            writer.write(content[len(writer.content) :])

    @contextmanager
    def _open(self) -> Iterator[LogWriter]:
        """Lock the file, made if it is missing, and read it; the store has to be there."""
        path = self.path
        make_folder(self.place)
        make_folder(path.parent)
        handle = open_or_make(path, os.O_APPEND)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            content = read_bytes(path) or b""
            yield LogWriter(path, handle, content, parse(path, content))
        except OSError as error:
            raise out_of_reach(path, error) from error
        finally:
            os.close(handle)


@dataclass(frozen=True, slots=True)
class LogWriter:
    """An audit log that is open and locked."""

    path: Path
    handle: int
    content: bytes
    log: AuditLog

    def append(self, entry: Look | Registration) -> None:
        """Write one line at the end, in one go, down to the disk."""
        close = b"\n" if self.content and not self.content.endswith(b"\n") else b""
        link = hashlib.sha256(self.content + close).hexdigest()
        line = _encode(self.path, {**entry.model_dump(mode="json"), BEFORE: link})
        self.write(close + line + b"\n")

    def write(self, data: bytes) -> None:
        """Write whole lines at the end."""
        if len(self.content) + len(data) > JSON_LIMIT:
            raise damaged(self.path, "is full", f"at most {JSON_LIMIT:,} bytes", "take fewer looks")
        if os.write(self.handle, data) != len(data):
            raise StoreUnreachableError(
                f"{self.path}: the line could not be written whole\n  to do: free some space"
            )
        os.fsync(self.handle)
        sync_folder(self.path.parent)


def _checked(digest: str) -> str:
    """The digest itself, or StoreError for anything else."""
    if not KEY.fullmatch(digest):
        raise StoreError(f"{digest[:80]!r} is no digest: 64 hexadecimal digits")
    return digest


def parse(path: Path, content: bytes) -> AuditLog:
    """The entries of an audit log, each of which must follow exactly what is before it.

    A line that cannot be read was torn by a crash if it is unfinished, or if a later entry
    follows it, for then it was so when that entry was written. Any other is an error.
    """
    lines = content.split(b"\n")
    unfinished = bool(lines[-1])
    entries: list[Look | Registration] = []
    torn: list[int] = []
    unread: dict[int, StoreError] = {}
    before = hashlib.sha256()
    for number, line in enumerate(lines if unfinished else lines[:-1], start=1):
        try:
            entry, link = _entry(path, number, line)
        except StoreError as error:
            unread[number] = error
        else:
            if link != before.hexdigest():
                raise next(iter(unread.values()), _bad(path, number, "does not follow the others"))
            torn += unread
            unread = {}
            entries.append(entry)
        before.update(line + b"\n")
    if unread and not unfinished:
        raise next(iter(unread.values()))
    return AuditLog(tuple(entries), tuple(f"{path}:{number}" for number in [*torn, *unread]))


_ENTRY: TypeAdapter[Look | Registration] = TypeAdapter(
    Annotated[Look | Registration, Field(discriminator="kind")]
)


def _entry(path: Path, number: int, line: bytes) -> tuple[Look | Registration, str]:
    """One line as an entry, with the digest that it gives of everything before it."""
    try:
        document = parse_json(path, line)
    except StoreError as error:
        raise _bad(path, number, "is not a line of JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get(BEFORE), str):
        raise _bad(path, number, "is not an entry")
    link = str(document.pop(BEFORE))
    try:
        return _ENTRY.validate_json(json.dumps(document)), link
    except ValidationError as error:
        raise _bad(path, number, f"is not an entry: {_first(error)}") from error


def _bad(path: Path, number: int, mistake: str) -> StoreError:
    return damaged(Path(f"{path}:{number}"), mistake, _KEPT, _ADVICE)


def _encode(path: Path, document: Mapping[str, Any]) -> bytes:
    """The document as one line of JSON; StoreError if it holds what JSON cannot."""
    try:
        return canonical_json(document).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        mistake = f"an entry cannot be written as JSON: {error}"
        expected = "finite numbers, texts, lists and mappings"
        raise damaged(path, mistake, expected, "leave it out") from error


def _edits(entries: Sequence[Look | Registration]) -> tuple[RegistrationVersion, ...]:
    edits: list[RegistrationVersion] = []
    looks = 0
    for entry in entries:
        if isinstance(entry, Look):
            looks += 1
            continue
        before = edits[-1].registration.fields if edits else entry.fields
        edits.append(RegistrationVersion(entry, tuple(_changes(before, entry.fields)), looks))
    return tuple(edits)


Made = TypeVar("Made", Look, Registration)


def _made(path: Path, kind: type[Made], **fields: Any) -> Made:
    """An entry of these fields, or what is wrong with one of them."""
    try:
        return kind(**fields)
    except ValidationError as error:
        mistake = f"an entry cannot be written: {_first(error)}"
        raise damaged(path, mistake, "finite numbers and texts", "leave it out") from error


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _repeats(look: Look, last: Look) -> bool:
    """Whether a look says again what the last one said: all but number and time is the same."""
    known = {"number": last.number, "time": last.time, "results": last.results}
    return look.model_copy(update=known) == last and (
        look.results.keys() == last.results.keys()
        and all(
            numbers.keys() == last.results[name].keys()
            and all(_close(value, last.results[name][key]) for key, value in numbers.items())
            for name, numbers in look.results.items()
        )
    )


def _close(first: float | None, other: float | None) -> bool:
    if first is None or other is None:
        return first is other
    return math.isclose(first, other, rel_tol=ROUND_OFF)


def _arm(path: Path, values: Mapping[int, JsonValue]) -> SeenArm:
    numbers = tuple(sorted(values))
    listed = [[number, values[number]] for number in numbers]
    return SeenArm(
        replicates=numbers, sha256=hashlib.sha256(_encode(path, {"values": listed})).hexdigest()
    )


def _compare(path: Path, look: Look, values: Seen) -> None:
    """What an earlier look saw must still be what is there."""
    for name, arm in look.arms.items():
        now = values.get(name, {})
        gone = [number for number in arm.replicates if number not in now]
        how = f"replicate {gone[0]} is gone" if gone else "a value is another one"
        if gone or _arm(path, {number: now[number] for number in arm.replicates}) != arm:
            mistake = f"look {look.number} saw other values of arm {name!r}: {how}"
            expected = "every value that was looked at, unchanged; new ones may only be added"
            advice = "restore the runs or results as they were looked at"
            raise damaged(path, mistake, expected, advice)


def _changes(before: JsonValue, after: JsonValue, path: str = "") -> Iterator[str]:
    """The dotted paths at which two documents differ; list places count from 0."""
    if isinstance(before, list) and isinstance(after, list):
        before, after = ({str(place): x for place, x in enumerate(xs)} for xs in (before, after))
        keys: Sequence[str] = sorted(before.keys() | after.keys(), key=int)
    elif isinstance(before, dict) and isinstance(after, dict):
        keys = sorted(before.keys() | after.keys())
    else:
        if digest_of([before]) != digest_of([after]):
            yield path
        return
    for key in keys:
        here = f"{path}.{key}" if path else key
        if key in before and key in after:
            yield from _changes(before[key], after[key], here)
        else:
            yield here
