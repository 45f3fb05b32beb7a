"""What training reports; and all that affects its continuation, in one file.

A safetensors file: the raw weights, their running mean, the best weights, what the optimiser
remembers, and in its header the rest as JSON with a SHA-256 over everything. Random streams need
no state (see ``randomness``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Self, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from repro.digest import canonical_json
from repro.errors import StoreError
from repro.files import opened, write_atomically
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Finished

M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """One finished epoch, of fine-tuning too; losses in nats per token."""

    epoch: int
    train_loss: float
    """Before each update, dropout on, without penalties, every token with equal weight; of the
    weights that are trained, never of their average."""
    valid_loss: float
    """The loss of the averaged weights when ``averaging``, dropout off."""
    averaging: bool
    tokens: int
    """Predicted training tokens."""
    window_loss: float | None = None
    """As ``train_loss``, but every window (of dialogs: every step) with equal weight, whatever its
    length; None in a history that is older than this number."""


@dataclass(frozen=True, eq=False)
class TrainedRun(Generic[M]):
    """One replicate after training.

    ``diverged`` is the epoch in which a loss no longer had a finite perplexity; it is not in the
    history, and ``model`` holds the best weights before it. ``best_epoch`` 0: it is untrained.
    """

    run: RunSpec
    model: M
    history: tuple[EpochRecord, ...]
    best_epoch: int
    diverged: int | None = None
    notes: tuple[str, ...] = ()

    def finished(self) -> Finished:
        """What is stored of it; the weights of one that diverged are not kept."""
        rows = tuple(asdict(record) for record in self.history)
        if self.diverged is not None:
            return Finished(self.run, rows, diverged=self.diverged, notes=self.notes)
        state = self.model.state_dict()
        weights = {name: tensor.detach().cpu().numpy() for name, tensor in state.items()}
        best = self.best_epoch
        return Finished(self.run, rows, weights, best_epoch=best, notes=self.notes)


FILE_NAME = "checkpoint.safetensors"
DAMAGED_NAME = "checkpoint.damaged"

# What reading bytes that are no checkpoint raises; of these, none comes from the disk.
_DAMAGE = (
    SafetensorError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    AssertionError,
    OverflowError,
    RuntimeError,
)

Weights = dict[str, Tensor]

GROUPS = ("weights", "average", "best", "optimiser")
"""The groups of tensors in the file, by the names that they have in a `Checkpoint`."""


class CheckpointState(BaseModel):
    """What the header says: its seal proves that nothing changed since, not that it was right."""

    model_config = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=True
    )

    format: Literal[1]
    run_key: str
    history: tuple[EpochRecord, ...]
    best_epoch: Annotated[int, Field(ge=0)]
    diverged: int | None
    averaging: bool
    """Whether the switch to averaging has happened."""
    average_steps: Annotated[int, Field(ge=0)]
    late_factor: float | None = None
    """Factor of the rates of the last averaged step, where the next one is to take it."""
    optimiser_steps: Annotated[int, Field(ge=0)] | None = None
    """Of how many steps ``optimiser`` is."""

    @model_validator(mode="after")
    def _epochs_are_counted(self) -> Self:
        epochs = len(self.history)
        if [record.epoch for record in self.history] != list(range(1, epochs + 1)):
            raise ValueError("its epochs are not numbered from 1")
        if self.best_epoch > epochs:
            raise ValueError("its best epoch is not in its history")
        if self.diverged not in {None, epochs + 1}:
            raise ValueError("it diverged in an epoch that does not follow its history")
        return self


class Checkpoint(CheckpointState):
    """The state of one training at the end of an epoch."""

    format: Literal[1] = 1
    weights: Weights
    average: Weights = {}
    best: Weights = {}
    optimiser: Weights = {}
    """What an optimiser remembers, if it does: running means of gradients."""


def save_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Replace the checkpoint in ``folder``, which is made if need be. Raises OSError.

    What ``folder`` is in has to be there: a store that vanishes in mid-run is not made again.
    """
    tensors = fetched(
        {
            f"{group}/{name}": tensor.detach()
            for group in GROUPS
            for name, tensor in getattr(checkpoint, group).items()
        }
    )
    header = set(CheckpointState.model_fields)
    state = canonical_json(checkpoint.model_dump(mode="json", include=header))
    content = save(tensors, {"state": state, "sha256": sha256_of(state, tensors)})
    folder.mkdir(exist_ok=True)
    write_atomically(folder / FILE_NAME, content)


def fetched(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same on the CPU; those of a device by one copy for each type, and so in one wait.

    A device without room for a copy is waited for at each tensor.
    """
    found = dict(tensors)
    there = {name: tensor for name, tensor in tensors.items() if tensor.device.type != "cpu"}
    for dtype in {tensor.dtype for tensor in there.values()}:
        alike = {name: tensor for name, tensor in there.items() if tensor.dtype == dtype}
        with suppress(torch.OutOfMemoryError):
            flat = torch.cat([tensor.flatten() for tensor in alike.values()]).cpu()
            parts = flat.split([tensor.numel() for tensor in alike.values()])
            pairs = zip(alike.items(), parts, strict=True)
            found.update((name, part.view(tensor.shape)) for (name, tensor), part in pairs)
    return {name: tensor.cpu().contiguous() for name, tensor in found.items()}


def load_checkpoint(folder: Path, run_key: str) -> tuple[Checkpoint | None, str | None]:
    """The checkpoint in ``folder`` and a note: (None, None) when there is none.

    A damaged file is no checkpoint: it is moved aside, and the note says so. Raises OSError when
    the file cannot be read, because it may be whole, and StoreError when the checkpoint belongs
    to another run, because then the folder is not what its owner thinks.
    """
    path = folder / FILE_NAME
    try:
        with opened(path, follow=False) as stream:
            content = stream.read()
    except FileNotFoundError:
        return None, None
    try:
        checkpoint = _read(content)
    except _DAMAGE as error:
        aside = path.with_name(DAMAGED_NAME)
        path.replace(aside)
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return None, f"{path} is damaged ({reason}); it is now {aside.name}, training starts over"
    if checkpoint.run_key != run_key:
        raise StoreError(
            f"{path} belongs to another run\n"
            f"  expected run {run_key}\n  found    run {checkpoint.run_key}\n"
            "  to do: move it away; one folder holds one run"
        )
    return checkpoint, None


def unfit(content: bytes, run_key: str, weights: Mapping[str, Tensor] | None) -> str:
    """Why a file's content from elsewhere is not a checkpoint of this run; empty where it is.

    ``weights`` are those of its model, by name, where they are known: shapes and types must agree.
    """
    try:
        checkpoint = _read(content)
    except _DAMAGE as error:
        return f"is not a whole checkpoint ({str(error).partition(chr(10))[0]})"
    if checkpoint.run_key != run_key:
        return f"has a checkpoint of run {checkpoint.run_key}"
    if weights is None:
        return ""
    expected = {name: (each.shape, each.dtype) for name, each in weights.items()}
    found = {name: (each.shape, each.dtype) for name, each in checkpoint.weights.items()}
    shapes = {name: each.shape for name, each in weights.items()}
    others = {**checkpoint.average, **checkpoint.best}
    if found == expected and all(shapes.get(name) == each.shape for name, each in others.items()):
        return ""
    return "has a checkpoint with the weights of another model"


def _read(content: bytes) -> Checkpoint:
    """The checkpoint in a file's content; one of ``_DAMAGE`` if it is not whole."""
    tensors = load(content)  # it has looked at the length of the header
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])["__metadata__"]
    if sha256_of(header["state"], tensors) != header["sha256"]:
        raise ValueError("its content does not have the SHA-256 that it states")
    state = CheckpointState.model_validate_json(header["state"])
    groups: dict[str, Any] = {group: {} for group in GROUPS}
    for full_name, tensor in tensors.items():
        group, name = full_name.split("/", 1)
        groups[group][name] = tensor
    if bool(groups["best"]) != (state.best_epoch > 0):
        raise ValueError("its best weights and its best epoch do not belong together")
    if bool(groups["optimiser"]) and state.optimiser_steps is None:
        raise ValueError("its optimiser's moments are of an unknown number of steps")
    return Checkpoint(**dict(state), **groups)


def sha256_of(state: str, tensors: Mapping[str, Tensor]) -> str:
    summary = hashlib.sha256(state.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        summary.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        summary.update(tensor.numpy().tobytes())
    return summary.hexdigest()
