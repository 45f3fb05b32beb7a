"""What a worker writes about a run besides its numbers: progress and provenance."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from repro.errors import StoreError
from repro.machine import now
from repro.store.runs import RunStore
from repro.trainers.measurement import measurement_key
from repro.trainers.run import PlannedRun
from repro.trainers.table import Measurable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repro.trainers.trainer import Facts, Progress


INTERVAL = 2.0


class Ledger:
    """Progress for whoever watches, at most every two seconds; provenance for good."""

    def __init__(self, store: RunStore, planned: PlannedRun, facts: Facts) -> None:
        self._store = store
        self._key = planned.run.key
        self._facts = facts
        self._written = float("-inf")
        self._start = time.monotonic()
        self._started = now()
        self._before: dict[str, Any] = {}
        self._earlier: list[dict[str, Any]] = []
        self._from_epoch: int | None = None

    def begin_training(self) -> None:
        """Training starts, or goes on where an earlier session was cut off."""
        self._before = self._store.progress(self._key) or {}
        self._earlier = self._earlier_sessions()
        self._start, self._started = time.monotonic(), now()
        self._write({"phase": "training", **_kept(self._before)}, force=True)

    def training(self, state: Progress) -> None:
        """Training tells where it is."""
        if self._from_epoch is None:
            self._from_epoch = state.epoch
            self._keep({"sessions_list": self._all_sessions()}, {}, durable=False)
        document = {
            "phase": "training",
            "epoch": state.epoch,
            "epochs": state.epochs,
            "step": state.step,
            "steps": state.steps,
            "tokens_done": state.tokens_done,
            "tokens_in_all": state.tokens_in_all,
        }
        self._write(document)

    def end_training(self, notes: Sequence[str] = ()) -> None:
        """The run is committed: say how it was trained."""
        facts: dict[str, Any] = {
            "started": str(self._before.get("started") or self._started),
            "seconds": round(self._seconds(), 3),
            "sessions": self._sessions(),
            "sessions_list": self._all_sessions(),
            "notes": list(notes),
            **self._facts,
        }
        self._keep(facts, {})

    def begin_measurement(self, measurement: Measurable) -> None:
        """Notes that a measurement starts."""
        self._start, self._started = time.monotonic(), now()
        name = measurement_key(measurement)
        document = {"phase": "measuring", "measurement": name, "label": measurement.label}
        self._write(document, force=True)

    def end_measurement(self, measurement: Measurable) -> None:
        """A measurement is stored: say how it was taken."""
        document: dict[str, Any] = {"training": {}, "measurements": {}}
        document.update(self._store.provenance(self._key))
        seconds = round(time.monotonic() - self._start, 3)
        taken = {"started": self._started, "seconds": seconds, **self._facts}
        measured = {**document["measurements"], measurement_key(measurement): taken}
        self._keep(document["training"], measured)

    def _keep(
        self, training: dict[str, Any], measurements: dict[str, Any], *, durable: bool = True
    ) -> None:
        """Write the provenance; if that cannot be, the numbers are as good without it.

        What is written again at the end of training need not survive a power cut before it.
        """
        document: dict[str, Any] = {"schema": 1, "training": training, "measurements": measurements}
        with suppress(StoreError):
            self._store.put_provenance(self._key, document, durable=durable)

    def _earlier_sessions(self) -> list[dict[str, Any]]:
        """Those that were cut off; the last of them left its time in the progress only."""
        training: Any = self._store.provenance(self._key).get("training") or {}
        sessions = [dict(each) for each in training.get("sessions_list", ())]
        if sessions:
            known = sum(_number(each.get("seconds")) for each in sessions[:-1])
            seconds = max(0.0, _number(self._before.get("seconds")) - known)
            sessions[-1]["seconds"] = round(seconds, 3)
        return sessions

    def _all_sessions(self) -> list[dict[str, Any]]:
        """One entry a session: from which epoch it trained, on what, and how long."""
        this = {
            "from_epoch": self._from_epoch,
            "started": self._started,
            "seconds": round(time.monotonic() - self._start, 3),
            **self._facts,
        }
        return [*self._earlier, this]

    def _write(self, document: dict[str, Any], *, force: bool = False) -> None:
        now = time.monotonic()
        if not force and now - self._written < INTERVAL:
            return
        self._written = now
        session = {
            "started": self._before.get("started") or self._started,
            "seconds": round(self._seconds(), 3),
            "sessions": self._sessions(),
        }
        with suppress(StoreError):  # a disk that is full is told by the next checkpoint
            self._store.put_progress(self._key, {**document, **session})

    def _seconds(self) -> float:
        return _number(self._before.get("seconds")) + time.monotonic() - self._start

    def _sessions(self) -> int:
        return int(_number(self._before.get("sessions"))) + 1


def _kept(before: dict[str, Any]) -> dict[str, Any]:
    """How far the earlier session said it was: a reader sees no step back."""
    names = ("epoch", "epochs", "step", "steps", "tokens_done", "tokens_in_all")
    return {name: before[name] for name in names if name in before}


def _number(value: object) -> float:
    """A number from a file that anybody may have written."""
    if isinstance(value, int | float) and 0 <= value < 1e12:
        return float(value)
    return 0.0
