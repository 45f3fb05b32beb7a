"""With what runs are trained: one record for every command that trains."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repro.execution.choice import EngineName
from repro.store import RunStore


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where things are, and with what runs are trained; no number changes beyond round-off.

    ``engine`` is how replicates are trained, as ``execute`` says; ``workers`` None is one a core.
    ``allow_code`` imports what configurations name of others, `use: module:object`.
    ``limit`` is how many seconds a run may take.
    """

    store: RunStore
    data: Path | None = None
    device: str = "auto"
    engine: EngineName = "auto"
    workers: int | None = None
    allow_code: bool = False
    limit: float | None = None
