"""A run that goes on from rounded weights: exploratory, with a key of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from repro.digest import digest
from repro.trainers.run import RunSpec

ORIGIN: Final = "carried.json"
NOTE: Final = (
    "These weights were rounded to bfloat16 to be carried. A training that goes on from them is "
    "exploratory: it is not the run that was begun, it has another key, and its numbers belong in "
    "no store of runs."
)


@dataclass(frozen=True)
class Origin:
    """The key of the run that was begun, and the seals of the checkpoints that were carried."""

    run: str
    carried: tuple[str, ...]


class CarriedRun(RunSpec):
    """The run, continued from weights that were carried; all its streams are those of the run."""

    carried: tuple[str, ...]

    def identity(self, revisions: Mapping[str, int] | None = None) -> dict[str, Any]:
        """What was begun and what was carried: no run of the product has such an identity."""
        return _identity(Origin(digest(super().identity(revisions)), self.carried))


def carried_key(origin: Origin) -> str:
    """The key of the ``CarriedRun`` of this origin; of none but the run itself, its own."""
    return digest(_identity(origin)) if origin.carried else origin.run


def continued(run: RunSpec, folder: Path) -> RunSpec:
    """The run that a folder's checkpoint belongs to: ``run``, or what was carried of it."""
    origin = origin_of(folder)
    if origin is None:
        return run
    values = {name: getattr(run, name) for name in RunSpec.model_fields}
    return CarriedRun(**values, carried=origin.carried)


def origin_of(folder: Path) -> Origin | None:
    """Where the checkpoint in a folder was carried from; None where it was not."""
    try:
        document = json.loads((folder / ORIGIN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return Origin(document["run"], tuple(document["carried"]))


def write_origin(origin: Origin, folder: Path) -> None:
    """Beside the checkpoint."""
    document = {"note": NOTE, **asdict(origin)}
    (folder / ORIGIN).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _identity(origin: Origin) -> dict[str, Any]:
    return {"carried": list(origin.carried), "run": origin.run}
