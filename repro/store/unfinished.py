"""An unfinished run on the way to another store: its checkpoint, exact, in parts of a stated size.

What comes in is foreign: the manifest is sealed and names each part by its digest, names lead to no
other folder, and a part that is missing, damaged or of another checkpoint is refused by its name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
)

from repro.digest import digest
from repro.errors import StoreError
from repro.machine import available_memory
from repro.store.artefacts import SPEC, RunProvenance
from repro.store.places import make_run_folder
from repro.store.reading import StoreReader
from repro.store.run_store import RunStore, busy
from repro.store.sealed import (
    damaged,
    exists,
    is_folder,
    make_folder,
    parse_json,
    read_bytes,
    read_sealed,
    seal,
    write_atomically,
)

MANIFEST: Final = "manifest.json"
CHECKPOINT: Final = "checkpoint.safetensors"
PART_BYTES: Final = 16_000_000
LARGEST_HEADER: Final = 10_000_000
LARGEST: Final = 2**34
"""Bytes of a checkpoint: with the average and the best, that of a model of 1.4 billion weights."""

MOST_PARTS: Final = 100_000
IN_MEMORY: Final = 3.0
"""Copies of a checkpoint that are held while it is compared with its model."""

Session = Literal["started", "seconds", "sessions"]
"""What is carried of a run's progress."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class CutPart(BaseModel):
    """A file of the parts."""

    model_config = ConfigDict(strict=True, extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[0-9]{4,6}\.part$")]
    size: Annotated[int, Field(ge=1, le=LARGEST)]
    digest: Digest

    @classmethod
    def named(cls, number: int) -> str:
        """The name of a part; no two parts have one."""
        return f"{number:04}.part"


class Manifest(BaseModel):
    """What the parts are of: ``spec`` is the specification of the run, as its store has it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    version: Literal[1] = 1
    run: Digest
    spec: str
    epochs: Annotated[int, Field(ge=0)]
    digest: Digest
    parts: Annotated[list[CutPart], Field(min_length=1, max_length=MOST_PARTS)]
    provenance: dict[str, JsonValue] = {}
    """The sessions that trained it so far, with the machine and the versions of each."""
    progress: dict[Session, JsonValue] = {}
    """When they began, how long they took, and how many there were."""


def write_parts(store: StoreReader, key: str, to: Path, size: int = PART_BYTES) -> int:
    """Cut a run's checkpoint into a new folder below ``to``; how many parts, 0 without one.

    The checkpoint is read in one piece, as training replaces it in one: training may go on.
    StoreError where parts of the run are there already.
    """
    content = read_bytes(store.folder(key) / CHECKPOINT, LARGEST)
    if content is None:
        return 0
    store.check_spec(key)
    epochs = _epochs(store.folder(key) / CHECKPOINT, content)
    folder = to / key
    if exists(folder):
        raise damaged(folder, "is there already", "no parts of this run", "name another folder")
    if len(content) > MOST_PARTS * size:
        what = f"would be cut into {-(-len(content) // size):,} parts of {size:,} bytes"
        raise damaged(folder, what, f"at most {MOST_PARTS:,}", "cut larger parts (--part-size)")
    make_folder(folder)
    parts = []
    for number, at in enumerate(range(0, len(content), size)):
        piece, name = content[at : at + size], CutPart.named(number)
        write_atomically(folder / name, piece)
        parts.append(CutPart(name=name, size=len(piece), digest=_digest(piece)))
    spec = (read_bytes(store.folder(key) / SPEC) or b"").decode("ascii")
    told = store.progress(key) or {}
    manifest = Manifest(
        run=key,
        spec=spec,
        epochs=epochs,
        digest=_digest(content),
        parts=parts,
        provenance=store.provenance(key),
        progress={name: told[name] for name in get_args(Session) if name in told},
    )
    write_atomically(folder / MANIFEST, seal(manifest.model_dump(mode="json")))
    return len(parts)


def folders_of_parts(place: Path) -> Iterator[Path]:
    """The folders of parts at or below a place; of some the manifest may be missing."""
    for folder in (place, *sorted(place.iterdir())):
        if folder.is_symlink() or not folder.is_dir():
            continue
        if exists(folder / MANIFEST) or any(folder.glob("*.part")):
            yield folder


Unfit = Callable[[bytes, int, Callable[[], bytes]], str]
"""What is wrong with a checkpoint for the specification; empty: nothing.

It is given the specification, how many bytes there are said to be, and what reads them.
"""


def take_parts(folder: Path, store: RunStore, unfit: Unfit) -> tuple[str, bool]:
    """Put the checkpoint in a folder of parts into the store: its run, False if that is as far.

    A finished run is kept, and so is a checkpoint of as many epochs or more. StoreError for parts
    that are not whole or ``unfit``, and where the run is being trained.
    """
    manifest = _manifest(folder)
    key, spec = manifest.run, manifest.spec.encode("utf-8")
    if not spec.isascii() or digest(parse_json(folder / MANIFEST, spec)) != key:
        raise damaged(folder / MANIFEST, "its specification is of another run", f"that of {key}")
    joined = cache(partial(_joined, folder, manifest))
    if why := unfit(spec, sum(part.size for part in manifest.parts), joined):
        raise damaged(folder, why, f"a checkpoint of run {key}", "export the run again")
    content = joined()
    if manifest.epochs != _epochs(folder / MANIFEST, content):
        raise damaged(folder / MANIFEST, "states other epochs than its parts have", "the same")
    with store.lock(key) as held:
        if not held:
            raise busy(store, key)
        if store.committed(key) is not None:
            return key, False
        place = make_run_folder(store.root, key, store.prepare())
        if _epochs_here(place / CHECKPOINT) >= manifest.epochs:
            return key, False
        write_atomically(place / SPEC, spec)
        write_atomically(place / CHECKPOINT, content)
        store.put_provenance(key, manifest.provenance)
        store.put_progress(key, {str(n): v for n, v in manifest.progress.items()})
    return key, True


def _manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    document = read_sealed(path)
    if document is None:
        raise damaged(path, "is missing", "the manifest of these parts", "bring this file too")
    try:
        RunProvenance.model_validate_json(json.dumps(document.get("provenance", {})))
        return Manifest.model_validate_json(json.dumps(document))
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "it"
        message = f"{where}: {error.errors()[0]['msg']}"
        raise damaged(path, message, "a manifest of parts") from error


def _joined(folder: Path, manifest: Manifest) -> bytes:
    """All parts in their order, each compared with its digest."""
    size, free = sum(part.size for part in manifest.parts), available_memory()
    if not is_folder(folder) or size > LARGEST:
        raise damaged(folder, "is too large", f"at most {LARGEST:,} bytes", "export it again")
    if IN_MEMORY * size > free:
        what = f"takes {IN_MEMORY * size:,.0f} bytes of memory to import, of which {free:,.0f} are"
        raise damaged(folder, f"{what} free", "enough memory", "import it on a larger machine")
    content = bytearray()
    for number, part in enumerate(manifest.parts):
        path = folder / part.name
        if part.name != CutPart.named(number):
            raise damaged(path, "is not the next part", CutPart.named(number), "export it again")
        piece = read_bytes(path, part.size)
        if piece is None:
            raise damaged(path, "is missing", "every part", "bring this part too")
        if _digest(piece) != part.digest:
            what = "is damaged, or of another checkpoint"
            raise damaged(path, what, f"the SHA-256 {part.digest}", "bring this part again")
        content += piece
    _check_names(folder, manifest)
    if _digest(content) != manifest.digest:
        raise damaged(folder, "its parts are mixed", "those of one export", "export it again")
    return bytes(content)


def _check_names(folder: Path, manifest: Manifest) -> None:
    """StoreError for a part that the manifest does not name: of another export, or of none."""
    named = {part.name for part in manifest.parts}
    for path in sorted(folder.glob("*.part")):
        if path.name not in named:
            advice = "bring the manifest of all parts, or leave this file out"
            raise damaged(path, "is not named by the manifest", "the parts of one export", advice)


def _epochs_here(path: Path) -> int:
    """How many epochs a checkpoint of the store has; -1 without one, or if it is damaged."""
    content = read_bytes(path, LARGEST)
    with suppress(StoreError):
        return -1 if content is None else _epochs(path, content)
    return -1


def _epochs(path: Path, content: bytes) -> int:
    """How many epochs a checkpoint has, in its header alone."""
    try:
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + min(length, LARGEST_HEADER)])
        return len(json.loads(header["__metadata__"]["state"])["history"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path, "is not a checkpoint", "a checkpoint of a training") from error


def _digest(data: bytes | bytearray) -> str:
    return hashlib.sha256(data).hexdigest()
