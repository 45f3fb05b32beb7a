"""What the store says about a run and its measurements: frozen records, and arrays as bytes."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
)

from repro.digest import digest
from repro.schema.base import Sha256, Spec
from repro.store.sealed import PROVENANCE, damaged
from repro.trainers.measurement import MeasurementSpec
from repro.trainers.table import Measurable

if TYPE_CHECKING:
    from numpy import ndarray

    Arrays = Mapping[str, ndarray[Any, Any]]


State = Literal["missing", "started", "finished", "diverged"]
Scalar = bool | int | float | str | None


class Artefact(Spec):
    """One file that belongs to a record: its SHA-256 and its size in bytes."""

    sha256: Sha256
    bytes: Annotated[int, Field(ge=0)]


SPEC, RECORD = "spec.json", "record.json"
PROGRESS, ERROR = "progress.json", "error.txt"
HISTORY, WEIGHTS = "history.jsonl", "model.safetensors"


def _not_reserved(name: str) -> str:
    if name in {SPEC, RECORD, PROVENANCE, PROGRESS, ERROR} or name.startswith("checkpoint"):
        raise ValueError(f"'{name}' is a file of the store itself")
    return name


FileName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9_]{0,63}\.[a-z0-9]{1,16}$"),
    AfterValidator(_not_reserved),
]
"""A file that a run leaves."""


class RunRecord(Spec):
    """What became of a run. Written last: a run is committed exactly if its record is there.

    ``best_epoch`` (from 1) is the epoch of the stored weights, ``epochs`` how many were trained,
    ``diverged`` the epoch in which the loss stopped being a number. ``without_weights``: it
    was exported without its files of weights and spectra, whose digests stay.
    """

    schema_version: Literal[1] = Field(default=1, alias="schema")
    key: Sha256
    state: Literal["finished", "diverged"]
    best_epoch: int | None
    epochs: Annotated[int, Field(ge=0)]
    diverged: int | None = None
    artefacts: dict[FileName, Artefact]
    without_weights: bool = False

    @property
    def has_weights(self) -> bool:
        """Whether it left weights, here or where it was exported from."""
        return WEIGHTS in self.artefacts

    @property
    def files(self) -> dict[str, Artefact]:
        """What it left beside history and weights."""
        return {n: each for n, each in self.artefacts.items() if n not in {HISTORY, WEIGHTS}}

    def measured_of(self) -> str:
        """The digest of what measurements are taken of: the weights, else all files together."""
        if self.has_weights:
            return self.artefacts[WEIGHTS].sha256
        return digest({name: each.sha256 for name, each in self.files.items()})

    def document(self) -> dict[str, JsonValue]:
        """The record as it is sealed and stored."""
        document: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=True)
        if not self.without_weights:
            del document["without_weights"]
        return document


class StoredMeasurement(Spec):
    """A number taken from a finished run, with what led to it; None: the run diverged in it.

    ``run`` and ``weights`` tie it to the run and to the weights that it was taken from;
    ``arrays`` is the file of larger results stored with it, such as a spectrum.
    """

    schema_version: Literal[1] = Field(default=1, alias="schema")
    run: Sha256
    weights: Sha256
    measurement: Measurable
    value: float | None
    details: dict[str, JsonValue]
    arrays: Artefact | None


class _Open(BaseModel):
    """A record that may say more than is known here."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)


class Settings(_Open):
    """How the process computed."""

    threads: int = 1


class EngineTaken(_Open):
    """How many runs were trained as one model."""

    together: Annotated[int, Field(ge=1)] = 1


class Circumstances(_Open):
    """When, on what and how long a run was trained, or a measurement taken."""

    seconds: Annotated[float, Field(ge=0)] = 0.0
    software: dict[str, str] = Field(default_factory=dict)
    settings: Settings = Settings()
    engine: EngineTaken = EngineTaken()
    machine: dict[str, str] = Field(default_factory=dict)


class TrainingSessions(Circumstances):
    """The last session says the machine; ``sessions_list`` names those before it as well.

    ``peak_memory`` is in bytes: of the process, on a GPU of the tensors there.
    """

    sessions_list: tuple[Circumstances, ...] = ()
    peak_memory: Annotated[int, Field(ge=0)] = 0


class RunProvenance(_Open):
    """The shape of provenance.json, as far as a report depends on it."""

    training: TrainingSessions = TrainingSessions()
    measurements: dict[str, Circumstances] = Field(default_factory=dict)


def dump_arrays(arrays: Arrays) -> bytes:
    """The arrays as one safetensors file; equal arrays give equal bytes."""
    import numpy as np  # noqa: PLC0415 - reading a number out of a store needs no numpy
    from safetensors.numpy import save  # noqa: PLC0415 - as above

    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()})


def load_arrays(path: Path, data: bytes) -> dict[str, ndarray[Any, Any]]:
    """The arrays in the bytes of a safetensors file."""
    from safetensors import SafetensorError  # noqa: PLC0415 - see dump_arrays
    from safetensors.numpy import load  # noqa: PLC0415 - as above

    try:
        return load(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise damaged(path, f"cannot be read: {error}", "a safetensors file") from error


def artefact(data: bytes) -> Artefact:
    """What a record says about a file of these bytes."""
    return Artefact(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))


def finite(row: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The row with None in the place of NaN and infinity, which JSON does not know."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


def wrong_detail(
    measurement: MeasurementSpec, value: float, details: Mapping[str, JsonValue]
) -> str:
    """The first thing that is wrong with the details of a measurement, by its name; or nothing.

    Details that are missing are no damage, nor are more than its kind knows: a newer version may
    say more.
    """
    if not details:
        return ""
    try:
        read = measurement.Details.model_validate_json(json.dumps(details))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(("details", *(str(part) for part in first["loc"])))
        return f"{place}: {first['msg'].removeprefix('Value error, ')}"
    except (ValueError, RecursionError) as error:
        return f"details: {error}"
    contradiction = read.contradiction(value)
    return f"value: {contradiction}" if contradiction else ""
