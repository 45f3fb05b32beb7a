"""What the store says about a run: plain frozen records, read back as strictly as claims are."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from repro.specs.base import Spec
from repro.specs.measurement import Measurable

State = Literal["missing", "started", "finished", "diverged"]
Scalar = bool | int | float | str | None
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Artefact(Spec):
    """One file that belongs to a record: its SHA-256 and its size in bytes."""

    sha256: Sha256
    bytes: Annotated[int, Field(ge=0)]


class RunRecord(Spec):
    """What became of a run. Written last: a run is committed exactly if its record is there.

    ``best_epoch`` (from 1) is the epoch of the stored weights, ``epochs`` how many were trained,
    ``diverged`` the epoch in which the loss stopped being a number. ``without_weights``: it
    was exported without its files of weights and spectra; absent when it was not. Their digests
    stay: what was measured is tied to the weights that it was measured of.
    """

    schema_version: Literal[1] = Field(default=1, alias="schema")
    key: Sha256
    state: Literal["finished", "diverged"]
    best_epoch: int | None
    epochs: Annotated[int, Field(ge=0)]
    diverged: int | None = None
    artefacts: dict[str, Artefact]
    without_weights: bool = False

    def document(self) -> dict[str, JsonValue]:
        """The record as it is sealed and stored."""
        document: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=True)
        if not self.without_weights:
            del document["without_weights"]
        return document


class StoredMeasurement(Spec):
    """A number taken from a finished run, with what led to it.

    ``run`` and ``weights`` tie it to the run and to the weights that it was taken from;
    ``arrays`` is the file of larger results beside it, such as a spectrum.
    """

    schema_version: Literal[1] = Field(default=1, alias="schema")
    run: Sha256
    weights: Sha256
    measurement: Measurable
    value: float
    details: dict[str, JsonValue]
    arrays: Artefact | None


class _Open(BaseModel):
    """A record that may say more than is known here."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)


class Settings(_Open):
    """How the process computed."""

    threads: int = 1


class Engine(_Open):
    """How many runs were trained as one model."""

    together: Annotated[int, Field(ge=1)] = 1


class Circumstances(_Open):
    """When, on what and how long a run was trained, or a measurement taken."""

    seconds: Annotated[float, Field(ge=0)] = 0.0
    software: dict[str, str] = Field(default_factory=dict)
    settings: Settings = Settings()
    engine: Engine = Engine()
    machine: dict[str, str] = Field(default_factory=dict)


class Training(Circumstances):
    """The last session says the machine; ``sessions_list`` names those before it as well."""

    sessions_list: tuple[Circumstances, ...] = ()


class RunProvenance(_Open):
    """The shape of provenance.json, as far as a report depends on it."""

    training: Training = Training()
    measurements: dict[str, Circumstances] = Field(default_factory=dict)
