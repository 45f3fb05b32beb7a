"""All that affects the continuation of a training, in one file.

A safetensors file: the raw weights, their running mean, the best weights, and in its header the
rest as JSON with a SHA-256 over everything. Written to a sibling and moved into place, so a
reader meets the old file or the new one. Random streams need no state (see ``randomness``).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from repro.digest import canonical_json
from repro.errors import StoreError
from repro.lm.records import EpochRecord

FILE_NAME = "checkpoint.safetensors"
FORMAT = 1

Weights = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of one training at the end of an epoch."""

    run_key: str
    history: tuple[EpochRecord, ...]
    best_epoch: int
    diverged: int | None
    averaging: bool
    """Whether the switch to averaging has happened."""
    average_steps: int
    weights: Weights
    average: Weights = field(default_factory=dict)
    best: Weights = field(default_factory=dict)


def save_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Replace the checkpoint in ``folder``, which is made if need be. Raises OSError."""
    tensors = {
        f"{group}/{name}": tensor.detach().cpu().contiguous()
        for group in ("weights", "average", "best")
        for name, tensor in getattr(checkpoint, group).items()
    }
    state = canonical_json(
        {
            "format": FORMAT,
            "run_key": checkpoint.run_key,
            "history": [asdict(record) for record in checkpoint.history],
            "best_epoch": checkpoint.best_epoch,
            "diverged": checkpoint.diverged,
            "averaging": checkpoint.averaging,
            "average_steps": checkpoint.average_steps,
        }
    )
    content = save(tensors, {"state": state, "sha256": _sha256(state, tensors)})
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / FILE_NAME, content)


def load_checkpoint(folder: Path, run_key: str) -> tuple[Checkpoint | None, str | None]:
    """The checkpoint in ``folder`` and a note: (None, None) when there is none.

    A damaged file is no checkpoint, and the note says so. Raises StoreError when the
    checkpoint belongs to another run, because then the folder is not what its owner thinks.
    """
    path = folder / FILE_NAME
    if not path.exists():
        return None, None
    try:
        checkpoint = _read(path)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        return None, f"{path} is damaged ({error}); it is ignored and training starts anew"
    if checkpoint.run_key != run_key:
        message = (
            f"{path} belongs to another run\n"
            f"  expected run {run_key}\n  found    run {checkpoint.run_key}\n"
            "  to do: move it away; one folder holds one run"
        )
        raise StoreError(message)
    return checkpoint, None


def _read(path: Path) -> Checkpoint:
    with safe_open(path, framework="pt", device="cpu") as file:
        header = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dict
    text = header["state"]
    if _sha256(text, tensors) != header["sha256"]:
        message = "its content does not have the SHA-256 that it states"
        raise ValueError(message)
    state: dict[str, Any] = json.loads(text)
    if state.pop("format") != FORMAT:
        message = "it was written by another version"
        raise ValueError(message)
    history = tuple(EpochRecord(**record) for record in state.pop("history"))
    groups: dict[str, Weights] = {"weights": {}, "average": {}, "best": {}}
    for full_name, tensor in tensors.items():
        group, name = full_name.split("/", 1)
        groups[group][name] = tensor
    return Checkpoint(history=history, **{**state, **groups})


def _sha256(state: str, tensors: Mapping[str, Tensor]) -> str:
    summary = hashlib.sha256(state.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        summary.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        summary.update(tensor.numpy().tobytes())
    return summary.hexdigest()


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
