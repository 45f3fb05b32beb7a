"""Recording and reading looks and registrations: by place, and of a claim in its store."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import JsonValue, ValidationError

from repro.digest import digest as digest_of
from repro.machine import now
from repro.registry.log import (
    AuditLog,
    Entry,
    History,
    LogWriter,
    Look,
    Registration,
    RegistrationVersion,
    Seen,
    SeenArm,
    checked,
    encode,
    log_path,
    parse,
)
from repro.specs.claim import Claim
from repro.store.places import LEDGER, check_root
from repro.store.runs import RunStore
from repro.store.sealed import damaged, is_folder, read_bytes

Made = TypeVar("Made", Look, Registration)
Numbers = Mapping[str, Mapping[str, float | None]]

ROUND_OFF = 1e-9
"""Relative; numbers that lie no further apart are one number on two machines."""


@dataclass(frozen=True, slots=True)
class Past:
    """The registrations of a claim at a scale, and the looks of its processes.

    ``on_record`` False: the last registration could not be written down.
    """

    registrations: Sequence[RegistrationVersion]
    history: History
    on_record: bool = True


UNDECLARED = Past((), History((), {}, ()))
"""What is on record of a claim that is judged on a user's own results: nothing."""


@dataclass(frozen=True, slots=True)
class Registry:
    """The registrations and looks in one store. ``make`` False makes no store."""

    store: RunStore
    make: bool = True

    def writes(self, claim: Claim) -> bool:
        """Whether to write about a claim: a store that can only be read is judged all the same."""
        root = self.store.root
        if not root.exists():
            return self.make
        folder = root / LEDGER / claim.id
        places = (root, folder.parent, folder, folder / f"{claim.scale}.jsonl")
        return all(os.access(place, os.W_OK) for place in places if place.exists())

    def history(self, claim: Claim) -> History:
        """The looks at a claim at its scale."""
        check_root(self.store.root)
        return history(self._place, claim.id, claim.scale, claim.digest())

    def past(self, claim: Claim, *, visible: bool) -> Past:
        """What is on record about a claim at its scale.

        A declaration that could not be written is judged as if it had been, and said to be
        missing from the record; ``visible``: all its results are there already.
        """
        seen, digest = self.history(claim), claim.digest()
        made = registrations(self._place, claim.id, claim.scale)
        if not claim.trained or (made and made[-1].registration.digest == digest):
            return Past(made, seen)
        fields = claim.decisive_fields()
        declared = unwritten(self._place, claim.id, claim.scale, digest, fields, visible=visible)
        return Past(declared, seen, on_record=False)

    def register(self, claim: Claim, *, visible: bool) -> None:
        """Write down the decisive fields, before anything of them can be seen.

        ``visible``: all results of the claim are there already. A claim of which nothing is run
        was declared when its results existed, and is not registered.
        """
        if claim.trained and self.writes(claim):
            self.store.prepare()
            fields, digest = claim.decisive_fields(), claim.digest()
            register(self._place, claim.id, claim.scale, digest, fields, visible=visible)

    def record(self, claim: Claim, entry: Entry) -> None:
        """Write down a look at a claim whose evidence is valid, where it is watched.

        StoreError where a value that an earlier look saw has changed.
        """
        watched = claim.trained or claim.sequential is not None
        if watched and self.writes(claim):
            self.store.prepare()
            record(self._place, entry)

    @property
    def _place(self) -> Path:
        return self.store.root / LEDGER


def record(place: Path, entry: Entry) -> Look:
    """Append a look and return it; a look that only repeats the last one is not written again.

    A repeat saw the same and says the same up to round-off, by the same version of the program.
    What another version says of the same values is recorded as well.

    ``StoreError`` if a value that an earlier look of this process saw is now another one or
    gone, for names or values that cannot be recorded, and for a ledger that was tampered with.
    """
    with LogWriter.open(place, entry.claim_id, entry.scale) as writer:
        looks = writer.log.processes.get(checked(entry.digest), ())
        for look in looks:
            _compare(writer.path, look, entry.values)
        arms = {name: _arm(writer.path, values) for name, values in entry.values.items()}
        look = _made(
            writer.path,
            Look,
            digest=entry.digest,
            number=len(looks) + 1,
            time=entry.time or now(),
            arms=arms,
            results={name: dict(each) for name, each in entry.results.items()},
            conclusion=entry.conclusion,
            version=entry.version,
            planned=entry.planned,
        )
        if looks and _repeats(look, looks[-1]):
            return looks[-1]
        writer.append(look)
        return look


def register(
    place: Path,
    claim_id: str,
    scale: str,
    digest: str,
    fields: Mapping[str, JsonValue],
    *,
    visible: bool = False,
    time: str = "",
) -> None:
    """Append the decisive fields of a claim, unless they are what was last registered.

    ``visible``: all its results are there already.
    """
    with LogWriter.open(place, claim_id, scale) as writer:
        made = [each for each in writer.log.entries if isinstance(each, Registration)]
        if not made or made[-1].digest != checked(digest):
            made_now = _registration(writer.path, digest, fields, visible=visible, time=time)
            writer.append(made_now)


def unwritten(
    place: Path,
    claim_id: str,
    scale: str,
    digest: str,
    fields: Mapping[str, JsonValue],
    *,
    visible: bool = False,
) -> tuple[RegistrationVersion, ...]:
    """The registrations as they would be with this one, where it cannot be written."""
    path = log_path(place, claim_id, scale)
    declared = _registration(path, checked(digest), fields, visible=visible)
    return _edits((*read(place, claim_id, scale).entries, declared))


def read(place: Path, claim_id: str, scale: str) -> AuditLog:
    """All entries about a claim at a scale; empty when there are none.

    ``StoreError``, naming file and line, for a line that is no entry or that does not follow
    what is before it.
    """
    path = log_path(place, claim_id, scale)
    if not (is_folder(place) and is_folder(path.parent)):
        return AuditLog()
    return parse(path, read_bytes(path) or b"")


def history(place: Path, claim_id: str, scale: str, digest: str) -> History:
    """The looks of the process with this digest, and of all others, oldest first."""
    log = read(place, claim_id, scale)
    others = log.processes
    looks = others.pop(checked(digest), ())
    return History(looks, others, log.torn)


def registrations(place: Path, claim_id: str, scale: str) -> tuple[RegistrationVersion, ...]:
    """Every registration in order, with what changed and how many looks came before it."""
    return _edits(read(place, claim_id, scale).entries)


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


def copy(source: Path, target: Path, claim_id: str, scale: str) -> None:
    """Bring the audit log of a claim at a scale to another place, line by line as it was written.

    ``StoreError`` if it was tampered with, or if another history is there already.
    """
    path = log_path(source, claim_id, scale)
    if not read(source, claim_id, scale).entries:
        return
    content = read_bytes(path) or b""
    with LogWriter.open(target, claim_id, scale) as writer:
        if not (content.startswith(writer.content) or writer.content.startswith(content)):
            what = f"holds another history than {path}"
            advice = "export to another folder"
            raise damaged(writer.path, what, "the same history, or none", advice)
        writer.write(content[len(writer.content) :])


def _registration(
    path: Path, digest: str, fields: Mapping[str, JsonValue], *, visible: bool, time: str = ""
) -> Registration:
    return _made(
        path,
        Registration,
        digest=digest,
        time=time or now(),
        fields=dict(fields),
        visible=visible,
    )


def _made(path: Path, kind: type[Made], **fields: Any) -> Made:
    """An entry of these fields, or what is wrong with one of them."""
    try:
        return kind(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = f"an entry cannot be written: {where}: {first['msg']}"
        raise damaged(path, what, "finite numbers and texts", "leave it out") from error


def _repeats(look: Look, last: Look) -> bool:
    """Whether a look says again what the last one said: all but number and time is the same."""
    known = {"number": last.number, "time": last.time, "results": last.results}
    return look.model_copy(update=known) == last and _alike(look.results, last.results)


def _alike(results: Numbers, others: Numbers) -> bool:
    """Whether results are the same up to round-off."""
    ours, theirs = _flat(results), _flat(others)
    return ours.keys() == theirs.keys() and all(_close(ours[one], theirs[one]) for one in ours)


def _flat(results: Numbers) -> dict[tuple[str, str], float | None]:
    return {(one, name): x for one, numbers in results.items() for name, x in numbers.items()}


def _close(first: float | None, other: float | None) -> bool:
    if first is None or other is None:
        return first is other
    return math.isclose(first, other, rel_tol=ROUND_OFF)


def _arm(path: Path, values: Mapping[int, JsonValue]) -> SeenArm:
    numbers = tuple(sorted(values))
    listed = [[number, values[number]] for number in numbers]
    return SeenArm(
        replicates=numbers, sha256=hashlib.sha256(encode(path, {"values": listed})).hexdigest()
    )


def _compare(path: Path, look: Look, values: Seen) -> None:
    """What an earlier look saw must still be what is there."""
    for name, arm in look.arms.items():
        now = values.get(name, {})
        gone = [number for number in arm.replicates if number not in now]
        what = f"replicate {gone[0]} is gone" if gone else "a value is another one"
        if gone or _arm(path, {number: now[number] for number in arm.replicates}) != arm:
            raise damaged(
                path,
                f"look {look.number} saw other values of arm {name!r}: {what}",
                "every value that was looked at, unchanged; new ones may only be added",
                "restore the runs or results as they were looked at",
            )


def _changes(before: JsonValue, after: JsonValue, path: str = "") -> Iterator[str]:
    """The dotted paths at which two documents differ; list places count from 0."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from _changed(before, after, key, path)
    elif isinstance(before, list) and isinstance(after, list):
        for place in range(max(len(before), len(after))):
            old, new = dict(enumerate(before)), dict(enumerate(after))
            yield from _changed(old, new, place, path)
    elif digest_of([before]) != digest_of([after]):
        yield path


def _changed(
    before: Mapping[Any, JsonValue], after: Mapping[Any, JsonValue], key: str | int, path: str
) -> Iterator[str]:
    here = f"{path}.{key}" if path else str(key)
    if key in before and key in after:
        yield from _changes(before[key], after[key], here)
    else:
        yield here
