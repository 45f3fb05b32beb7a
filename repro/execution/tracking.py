"""How far an execution is, read from what the workers leave in the store: any engine will do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repro.specs.measurement import measurement_key
from repro.specs.run import PlannedRun
from repro.store import RunStore
from repro.store.work import Cost, remaining


@dataclass(frozen=True, slots=True)
class Running:
    """One run that is being worked on: its number in the execution, and what it is doing."""

    key: str
    number: int
    doing: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An execution at one moment. ``left`` is in seconds, None while nobody can tell."""

    done: int
    total: int
    fraction: float
    elapsed: float
    left: float | None
    running: tuple[Running, ...]


class Tracker:
    """Weighs what is done against what is to be done."""

    def __init__(
        self, store: RunStore, runs: Sequence[PlannedRun], clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._clock = clock
        self._costs = {planned.run.key: remaining(store, planned) for planned in runs}
        wanted = [measurement for planned in runs for measurement in planned.measurements]
        self._labels = {measurement_key(each): each.label for each in wanted}
        self._numbers = {key: number for number, key in enumerate(self._costs, start=1)}
        self._ended: set[str] = set()
        self._start = clock()
        self._working: tuple[float, float] | None = None
        self._left_behind = {key: store.progress(key) for key in self._costs}
        self._first = {key: self._share(key)[0] for key in self._costs}

    def end(self, key: str) -> int:
        """A run is over, however it ended; gives how many are."""
        self._ended.add(key)
        return len(self._ended)

    def snapshot(self) -> Snapshot:
        """Look at the store."""
        now = self._clock()
        shares = {key: self._share(key) for key in self._costs if key not in self._ended}
        total = sum(each.total for each in self._costs.values()) or 1.0
        open_work = sum(self._costs[key].total * (1 - share) for key, (share, _) in shares.items())
        before = sum(each.total * self._first[key] for key, each in self._costs.items())
        worked = total - open_work - before
        running = [
            Running(key, self._numbers[key], doing) for key, (_, doing) in shares.items() if doing
        ]
        if self._working is None and (running or self._ended):
            self._working = (now, worked)  # until then processes were started
        return Snapshot(
            len(self._ended),
            len(self._costs),
            1 - open_work / total,
            now - self._start,
            self._left(now, worked, open_work, 0.005 * total),
            tuple(running),
        )

    def _left(self, now: float, worked: float, open_work: float, least: float) -> float | None:
        """Seconds that the rest takes at the speed so far; the start of processes is no work."""
        if self._working is None:
            return None
        since, before = self._working
        spent, done = now - since, worked - before
        return open_work * spent / done if done > least and spent > 0 else None

    def _share(self, key: str) -> tuple[float, str]:
        """How much of a run is done, and what it is doing, if it is doing something."""
        progress, work = self._store.progress(key), self._costs[key]
        if progress is None or work.total == 0:
            return 0.0, ""
        share, doing = self._read(progress, work)
        return share, "" if progress == self._left_behind[key] else doing

    def _read(self, progress: Mapping[str, Any], work: Cost) -> tuple[float, str]:
        if progress.get("phase") == "measuring":
            name = str(progress.get("measurement"))
            return self._measured(work, name), f"measuring {self._labels.get(name, '')}".rstrip()
        done, in_all = _count(progress, "tokens_done"), _count(progress, "tokens_in_all")
        share = min(1.0, done / in_all) * work.training / work.total if in_all else 0.0
        doing = "starting"
        if "epoch" in progress:
            doing = f"epoch {_count(progress, 'epoch'):.0f}/{_count(progress, 'epochs'):.0f}"
        return share, doing

    @staticmethod
    def _measured(work: Cost, current: str) -> float:
        """Measurements are taken in their order: those before the current one are done."""
        names = list(work.measurements)
        before = names[: names.index(current)] if current in names else []
        return (work.training + sum(work.measurements[name] for name in before)) / work.total


def _count(progress: Mapping[str, Any], name: str) -> float:
    """A number from a file that anybody may have written."""
    value = progress.get(name)
    return float(value) if isinstance(value, int | float) and 0 < value < 1e18 else 0.0
