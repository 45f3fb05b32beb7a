"""What a claim came to, at a scale, whenever that changed: one JSON object a line, append-only.

STORE/verdicts/ID-DIGEST/SCALE.jsonl, where DIGEST is that of the place of the claim file (of a
packaged claim its name), so that claims of one id in two folders have two histories, and a table
that is written again has one. A line that cannot be read, torn by a crash or of a newer version,
is passed over.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from repro.digest import canonical_json
from repro.errors import StoreUnreachableError
from repro.files import claims, resolved, sync_folder, try_lock
from repro.registry.verdicts import VerdictEntry, changes
from repro.store.places import VERDICTS
from repro.store.run_store import RunStore
from repro.store.sealed import (
    JSON_LIMIT,
    damaged,
    make_folder,
    open_or_make,
    out_of_reach,
    read_bytes,
)

SHOWN = 14
"""So many verdicts of the past a report holds."""

PATIENCE_SECONDS = 10.0
"""For another process that writes the same history; then it is not kept, and a note says so."""


def since(before: Sequence[VerdictEntry], entry: VerdictEntry) -> VerdictEntry:
    """The verdict with what was changed since the last of those before it."""
    changed = changes(before[-1], entry) if before else ()
    return entry.model_copy(update={"changed": changed})


def identity(file: str, results: Path | None = None) -> str:
    """What tells a claim from others of its id: where its file lies, and results of the user's own.

    A claim that came with repro is the same wherever that is installed.
    """
    place, packaged = resolved(Path(file)), resolved(claims())
    inside = place.is_relative_to(packaged)
    parts = ["packaged", place.relative_to(packaged).as_posix()] if inside else [str(place)]
    return "\n".join([*parts, *([] if results is None else [str(resolved(results))])])


@dataclass(frozen=True, slots=True)
class VerdictLog:
    """The history of one claim at one scale in a store; ``of`` is its ``identity``."""

    store: RunStore
    claim: str
    scale: str
    of: str

    @property
    def path(self) -> Path:
        digest = hashlib.sha256(self.of.encode(errors="surrogateescape")).hexdigest()[:16]
        return self.store.root / VERDICTS / f"{self.claim}-{digest}" / f"{self.scale}.jsonl"

    def read(self) -> tuple[VerdictEntry, ...]:
        """All verdicts that can be read, oldest first; StoreError where the file cannot be."""
        return _entries(read_bytes(self.path) or b"")

    def prepare(self) -> None:
        """Make the file where there is none; StoreError where it cannot be written."""
        self.store.prepare()
        with self._opened():
            pass

    def keep(self, entry: VerdictEntry) -> None:
        """Append a verdict with what was changed, unless it says what the last one does.

        StoreError where it cannot be written.
        """
        self.store.prepare()
        with self._opened() as handle:
            self._lock(handle)
            content = read_bytes(self.path) or b""
            before = _entries(content)
            if before and entry.says(before[-1]):
                return
            line = canonical_json(since(before, entry).model_dump(mode="json")).encode("ascii")
            whole = (b"\n" if content and not content.endswith(b"\n") else b"") + line + b"\n"
            if len(content) + len(whole) > JSON_LIMIT:
                raise damaged(self.path, "is full", f"at most {JSON_LIMIT:,} bytes")
            if os.write(handle, whole) != len(whole):
                raise StoreUnreachableError(f"{self.path}: the line could not be written whole")
            os.fsync(handle)
            sync_folder(self.path.parent)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The file, made if it is missing, for writing at its end."""
        make_folder(self.path.parent.parent)
        make_folder(self.path.parent)
        handle = open_or_make(self.path, os.O_APPEND)
        try:
            yield handle
        except OSError as error:
            raise out_of_reach(self.path, error) from error
        finally:
            os.close(handle)

    def _lock(self, handle: int) -> None:
        """Hold the file until it is closed; StoreUnreachableError where another process does."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not try_lock(handle):
            if time.monotonic() > deadline:
                raise StoreUnreachableError(f"{self.path}: it cannot be locked")
            time.sleep(0.01)


def _entries(content: bytes) -> tuple[VerdictEntry, ...]:
    """The lines that are entries."""
    found = []
    for line in content.split(b"\n"):
        try:
            found.append(VerdictEntry.model_validate_json(line))
        except ValidationError:
            continue
    return tuple(found)
