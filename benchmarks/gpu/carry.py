"""A checkpoint small enough to be carried: ``python -m benchmarks.gpu.carry pack FOLDER OUT``.

Weights are rounded to bfloat16, so a training that goes on from what was carried is not the run
that was begun, bit for bit or otherwise. It is exploratory: its run has a key of its own (see
``carried``), which no store knows, and the checkpoint of the one is refused by the other.

Upper and lower bytes are compressed apart from each other: signs and exponents repeat
themselves, mantissas do not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from benchmarks.gpu.carried import NOTE, Origin, carried_key, origin_of, write_origin
from repro.errors import StoreError
from repro.trainers.language_model.checkpoint import (
    FILE_NAME,
    Checkpoint,
    EpochRecord,
    Weights,
    load_checkpoint,
    save_checkpoint,
)

MANIFEST: Final = "manifest.json"
GROUPS: Final = ("weights", "average", "best")
PART_BYTES: Final = 16 * 2**20
TRIP_BYTES: Final = 64 * 2**20
TRIP_PARTS: Final = 5
"""Of the eight files that may come back, one is the manifest and two are the evidence."""


def pack(folder: Path, out: Path, groups: Sequence[str] = GROUPS) -> list[Path]:
    """Write the checkpoint in ``folder`` to ``out``: a manifest and parts of at most 16 MiB.

    Only these ``groups`` of weights; one that equals an earlier one is only named. Returns the
    files. Raises StoreError when there is no checkpoint, or when it is too large for one trip.
    """
    seal, checkpoint, origin = _opened(folder)
    content, index = _encoded(checkpoint, groups)
    pieces = [content[at : at + PART_BYTES] for at in range(0, len(content), PART_BYTES)]
    if len(pieces) > TRIP_PARTS or len(content) > TRIP_BYTES - 2**20:
        raise StoreError(
            f"{len(content) / 2**20:.1f} MiB do not fit in one trip of {TRIP_BYTES // 2**20} MiB\n"
            "  to do: carry them one by one, with --part weights, then --part average, then --part "
            "best"
        )
    out.mkdir(parents=True, exist_ok=True)
    parts = [(out / f"{groups[0]}-{n:02d}.part", piece) for n, piece in enumerate(pieces)]
    for path, piece in parts:
        path.write_bytes(piece)
    manifest = {
        "format": 1,
        "note": NOTE,
        "run": origin.run,
        "carried": [*origin.carried, seal],
        "state": _state(checkpoint),
        "groups": index,
        "parts": [[path.name, len(piece), _sha256(piece)] for path, piece in parts],
    }
    path = out / MANIFEST
    path.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return [path, *(path for path, _ in parts)]


def unpack(packs: Sequence[Path], folder: Path) -> str:
    """Make a checkpoint in ``folder`` of packs of one checkpoint; returns the key of its run.

    Raises StoreError when a part is missing or damaged, when packs do not belong together, when
    weights that the training needs are in none of them, or when the folder holds a checkpoint.
    """
    if (folder / FILE_NAME).exists():
        raise StoreError(f"{folder} holds a checkpoint already\n  to do: name another folder")
    manifests = [_manifest(each) for each in packs]
    first = manifests[0]
    if any((m["run"], m["carried"]) != (first["run"], first["carried"]) for m in manifests):
        raise StoreError(
            "the packs are of different checkpoints\n  to do: name packs that were made of one"
        )
    found: dict[str, Weights] = {}
    twins: dict[str, str] = {}
    for each, manifest in zip(packs, manifests, strict=True):
        own, named = _groups(each, manifest)
        found |= own
        twins |= named
    for group, twin in twins.items():
        found[group] = {name: tensor.clone() for name, tensor in found.get(twin, {}).items()}
    origin = Origin(first["run"], tuple(first["carried"]))
    key = carried_key(origin)
    save_checkpoint(_checkpoint(key, first["state"], found), folder)
    write_origin(origin, folder)
    return key


def _encoded(checkpoint: Checkpoint, groups: Sequence[str]) -> tuple[bytes, dict[str, Any]]:
    """The compressed planes of these groups one after the other, and where each is."""
    content, index = bytearray(), {}
    for group in groups:
        weights: Weights = getattr(checkpoint, group)
        twin = _twin(checkpoint, group)
        planes = [] if twin or not weights else _planes(weights)
        index[group] = {
            "same_as": twin,
            "tensors": [[n, list(t.shape), str(t.dtype)] for n, t in sorted(weights.items())],
            "planes": [len(plane) for plane in planes],
        }
        content += b"".join(planes)
    return bytes(content), index


def _opened(folder: Path) -> tuple[str, Checkpoint, Origin]:
    """The seal of the checkpoint in a folder, the checkpoint, and where it comes from."""
    path = folder / FILE_NAME
    try:
        with safe_open(path, "pt") as file:
            header: dict[str, str] = file.metadata()
        key, seal = json.loads(header["state"])["run_key"], header["sha256"]
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path}: there is no checkpoint that can be read ({error})") from error
    checkpoint, note = load_checkpoint(folder, key)
    if checkpoint is None:
        raise StoreError(note or f"{path} has gone")
    return seal, checkpoint, origin_of(folder) or Origin(key, ())


def _twin(checkpoint: Checkpoint, group: str) -> str | None:
    """An earlier group with the same tensors: the best weights are often the last average."""
    own: Weights = getattr(checkpoint, group)
    for other in GROUPS[: GROUPS.index(group)]:
        theirs: Weights = getattr(checkpoint, other)
        if own and own.keys() == theirs.keys() and all(map(torch.equal, *_paired(own, theirs))):
            return other
    return None


def _paired(one: Weights, two: Weights) -> tuple[list[Tensor], list[Tensor]]:
    return list(one.values()), [two[name] for name in one]


def _planes(weights: Weights) -> list[bytes]:
    """Upper and lower bytes of all entries in bfloat16, compressed."""
    flat = torch.cat([tensor.bfloat16().flatten() for _, tensor in sorted(weights.items())])
    bits = flat.view(torch.int16).numpy().view(np.uint16)
    return [_compressed((bits >> 8).astype(np.uint8)), _compressed(bits.astype(np.uint8))]


def _compressed(plane: np.ndarray) -> bytes:
    """By the frequency of the bytes alone: there are no repeated sequences to be found."""
    machine = zlib.compressobj(strategy=zlib.Z_HUFFMAN_ONLY)
    return machine.compress(plane.tobytes()) + machine.flush()


def _state(checkpoint: Checkpoint) -> dict[str, Any]:
    names = ("best_epoch", "diverged", "averaging", "average_steps", "late_factor")
    history = [asdict(record) for record in checkpoint.history]
    return {"history": history, **{name: getattr(checkpoint, name) for name in names}}


def _checkpoint(key: str, state: Mapping[str, Any], found: Mapping[str, Weights]) -> Checkpoint:
    needed = {"weights": True, "average": state["average_steps"], "best": state["best_epoch"]}
    lacking = [group for group, need in needed.items() if need and not found.get(group)]
    if lacking:
        raise StoreError(
            f"no pack holds {' or '.join(lacking)}, which the training needs to go on\n"
            "  to do: name the packs of all parts of the checkpoint"
        )
    history = tuple(EpochRecord(**record) for record in state["history"])
    groups: dict[str, Any] = {group: found.get(group, {}) for group in GROUPS}
    return Checkpoint(run_key=key, **{**state, "history": history}, **groups)


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{folder / MANIFEST} cannot be read: {error}") from error
    return manifest


def _groups(folder: Path, manifest: Mapping[str, Any]) -> tuple[dict[str, Weights], dict[str, str]]:
    """The weights in a pack, and the groups that equal another."""
    content = b"".join(_part(folder, *part) for part in manifest["parts"])
    found, twins, at = {}, {}, 0
    for group, index in manifest["groups"].items():
        ends = np.cumsum([at, *index["planes"]]).tolist()
        planes = [content[start:end] for start, end in pairwise(ends)]
        at = ends[-1]
        if index["same_as"]:
            twins[group] = index["same_as"]
        elif planes:
            found[group] = _weights(planes, index["tensors"])
    return found, twins


def _part(folder: Path, name: str, size: int, sha256: str) -> bytes:
    path = folder / Path(name).name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: a part is missing\n  to do: carry it again") from error
    if len(content) != size or _sha256(content) != sha256:
        raise StoreError(
            f"{path} is damaged: it is not the {size:,} bytes that {MANIFEST} states\n"
            "  to do: carry it again"
        )
    return content


def _weights(planes: Sequence[bytes], tensors: Sequence[Sequence[Any]]) -> Weights:
    upper, lower = (np.frombuffer(zlib.decompress(plane), np.uint8) for plane in planes)
    bits = (upper.astype(np.uint16) << 8) | lower
    flat = torch.from_numpy(bits.view(np.int16)).view(torch.bfloat16)
    pieces = flat.split([int(np.prod(shape)) for _, shape, _ in tensors])
    return {
        name: piece.to(getattr(torch, dtype.removeprefix("torch."))).view(shape)
        for piece, (name, shape, dtype) in zip(pieces, tensors, strict=True)
    }


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Packs or unpacks, and says what it wrote."""
    given = _parser().parse_args(arguments)
    try:
        if given.verb == "unpack":
            print(f"run {unpack(given.packs, given.folder)}\n{NOTE}")
            return 0
        for path in pack(given.folder, given.out, given.part or GROUPS):
            print(f"{path}: {path.stat().st_size / 2**20:.2f} MiB")
    except StoreError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.carry", description="A checkpoint in a few small files."
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack", help="a checkpoint to parts", description=NOTE)
    packing.add_argument("folder", type=Path, help="that holds the checkpoint")
    packing.add_argument("out", type=Path, help="where manifest and parts are written")
    packing.add_argument("--part", nargs="+", choices=GROUPS, help="only these weights")
    unpacking = verbs.add_parser("unpack", help="parts to a checkpoint", description=NOTE)
    unpacking.add_argument("packs", type=Path, nargs="+", help="folders with a manifest")
    unpacking.add_argument("folder", type=Path, help="where the checkpoint is written")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
