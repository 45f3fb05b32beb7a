"""A store with one finished run in it, made without training."""

from __future__ import annotations

from typing import Any

import numpy as np

from repro.store.run_store import RunStore
from repro.trainers.run import RunSpec
from tests.running.tiny import RANK, TEST, tiny_run

RUN = tiny_run()
HISTORY: list[dict[str, bool | int | float | str | None]] = [
    {"epoch": 1, "train_loss": 3.5, "valid_loss": 0.1 + 0.2, "averaging": False, "tokens": 1996},
    {"epoch": 2, "train_loss": 3.25, "valid_loss": 3.0, "averaging": True, "tokens": 1996},
]
WEIGHTS: dict[str, np.ndarray[Any, Any]] = {
    "output.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
    "output.bias": np.array([np.pi, -0.0], dtype=np.float64),
}
DETAILS: dict[str, Any] = {
    "rows": 590,
    "columns": 30,
    "relative_threshold": 1.2e-5,
    "tenth": 8,
    "tenfold": 1,
    "tolerances": [1e-4, 1e-5],
    "curve": [1, 8],
    "known_rank": {"expected": 15, "measured": 15},
}
"""What a rank says beside its value."""

SPECTRUM = {"singular_values": np.array([3.0, 2.0, 1e-300])}


def put_run(store: RunStore, run: RunSpec = RUN) -> bool:
    """Commit a run."""
    return store.put_run(run, history=HISTORY, weights=WEIGHTS, best_epoch=2)


def put_measurements(store: RunStore, run: RunSpec = RUN) -> None:
    """Two measurements, one with an array."""
    store.put_measurement(run.key, TEST, value=49.125, details={"tokens": 299})
    store.put_measurement(run.key, RANK, value=8.0, details=DETAILS, arrays=SPECTRUM)


def fill(store: RunStore, run: RunSpec = RUN) -> RunStore:
    """A whole run."""
    put_run(store, run)
    put_measurements(store, run)
    store.put_provenance(run.key, {"training": {"seconds": 1.5}})
    return store
