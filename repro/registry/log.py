"""The log of one claim at one scale: registrations and looks, appended under a lock."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from repro.digest import canonical_json
from repro.errors import StoreError, StoreUnreachableError
from repro.files import sync_folder
from repro.schema.base import Spec
from repro.store.sealed import (
    JSON_LIMIT,
    damaged,
    make_folder,
    open_or_make,
    out_of_reach,
    parse_json,
    read_bytes,
)

Seen = Mapping[str, Mapping[int, JsonValue]]
"""What was looked at: for each arm, by replicate number, a value or several by name."""


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

    ``visible``: all its results were there already, whether or not a look is on record.
    """

    kind: Literal["registration"] = "registration"
    digest: str
    time: str
    fields: dict[str, JsonValue]
    visible: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """What one look saw and said; the log adds number and digests.

    ``digest`` is that of the claim's decisive fields, 64 hexadecimal digits.
    """

    claim_id: str
    scale: str
    digest: str
    values: Seen
    results: Mapping[str, Mapping[str, float | None]]
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
_DIGEST = re.compile(r"[0-9a-f]{64}")
BEFORE = "before"
_KEPT = "the ledger as it was written; it is append-only"
_ADVICE = "restore the file from a copy; to remove it would hide what was looked at"


@dataclass(frozen=True, slots=True)
class LogWriter:
    """An audit log that is open and locked."""

    path: Path
    handle: int
    content: bytes
    log: AuditLog

    @classmethod
    @contextmanager
    def open(cls, place: Path, claim_id: str, scale: str) -> Iterator[LogWriter]:
        """Wait for the lock, then read what is there; the file is made if it is missing.

        The folder that ``place`` is in, that of a store, has to be there.
        """
        path = log_path(place, claim_id, scale)
        make_folder(place)
        make_folder(path.parent)
        handle = open_or_make(path, os.O_APPEND)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            content = read_bytes(path) or b""
            yield cls(path, handle, content, parse(path, content))
        except OSError as error:
            raise out_of_reach(path, error) from error
        finally:
            os.close(handle)

    def append(self, entry: Look | Registration) -> None:
        """Write one line at the end, in one go, down to the disk."""
        close = b"\n" if self.content and not self.content.endswith(b"\n") else b""
        link = hashlib.sha256(self.content + close).hexdigest()
        line = encode(self.path, {**entry.model_dump(mode="json"), BEFORE: link})
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


def log_path(place: Path, claim_id: str, scale: str) -> Path:
    """Where the audit log of a claim at a scale is; StoreError for a name that could lead away."""
    for name in (claim_id, scale):
        if not _NAME.fullmatch(name):
            raise StoreError(
                f"{name[:80]!r} cannot name a ledger\n"
                "  expected: lower-case letters, digits and underscores, at most 64\n"
                "  to do: use the id of the claim and the name of its scale"
            )
    return place / claim_id / f"{scale}.jsonl"


def checked(digest: str) -> str:
    """The digest itself, or StoreError for anything else."""
    if not _DIGEST.fullmatch(digest):
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
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _bad(path, number, f"is not an entry: {where}: {first['msg']}") from error


def _bad(path: Path, number: int, mistake: str) -> StoreError:
    return damaged(Path(f"{path}:{number}"), mistake, _KEPT, _ADVICE)


def encode(path: Path, document: Mapping[str, Any]) -> bytes:
    """The document as one line of JSON; StoreError if it holds what JSON cannot."""
    try:
        return canonical_json(document).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        what = f"an entry cannot be written as JSON: {error}"
        raise damaged(
            path, what, "finite numbers, texts, lists and mappings", "leave it out"
        ) from error
