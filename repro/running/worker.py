"""One task in a process of its own: train what is not trained, measure what is not measured.

The lock of each run is held meanwhile; a run that another process holds is reported as busy at
once. What goes wrong in one run is an outcome, not an exception, and the others go on. Nothing
heavy is imported before something is left to do.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from repro.errors import (
    CorpusError,
    DataError,
    DeviceError,
    NotKeptError,
    ReproError,
    StoreError,
    StoreUnreachableError,
)
from repro.machine import now
from repro.running.grouping import Task
from repro.running.plan import has_diverged, is_complete, missing_measurements
from repro.store.run_store import OutputStore, RunStore
from repro.store.sealed import reaching
from repro.trainers.measurement import DivergedError, Measured
from repro.trainers.run import PlannedRun, RunSpec
from repro.trainers.table import Measurable
from repro.trainers.trainer import Facts, Finished, Progress, Trainer, trainer_of

Status = Literal[
    "trained",
    "read",
    "measured",
    "reused",
    "diverged",
    "busy",
    "failed",
    "not started",
    "postponed",
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one run; ``error`` is the class of what went wrong, ``message`` its text.

    One that is ``read`` was trained before, and what it left was recorded then.

    ``seconds`` are those of its task, in which ``together`` runs were trained as one model; the
    start of its process is no part of them.
    """

    key: str
    status: Status
    message: str = ""
    error: str = ""
    seconds: float = 0.0
    together: int = 1


def run_task(task: Task) -> tuple[Outcome, ...]:
    """Do a task; one outcome a run, in the order of the task."""
    store = RunStore(task.store, task.identity)
    outcomes: dict[str, Outcome] = {}
    with ExitStack() as locks:
        held = []
        for planned in task.runs:
            key = planned.run.key
            with _as_failure(store, [key], outcomes):
                if all(locks.enter_context(lock) for lock in _locks(store, planned.run)):
                    held.append(planned)
                else:
                    outcomes[key] = Outcome(key, "busy")
        if any(_is_work(store, planned) for planned in held):
            _warm_up(task)
        start = time.monotonic()
        _do(task, store, held, outcomes)
        seconds = time.monotonic() - start
    return tuple(replace(outcomes[planned.run.key], seconds=seconds) for planned in task.runs)


def _locks(store: RunStore, run: RunSpec) -> Iterator[AbstractContextManager[bool]]:
    """The locks of a run: its own, and that of what it is read from."""
    yield store.lock(run.key)
    source = trainer_of(run.training).source(run)
    if source is not None and store.committed(run.key) is None:
        yield OutputStore(store).lock(source.key)


def _is_work(store: RunStore, planned: PlannedRun) -> bool:
    """Whether torch is needed for a run; what is wrong with it is told when it is done."""
    try:
        return not is_complete(store, planned)
    except ReproError:
        return False


def _warm_up(task: Task) -> None:
    """Import what is heavy: the start of a process is no part of the time of its first run."""
    trainer = trainer_of(task.runs[0].run.training)
    lacks = (DeviceError, ImportError)  # met again, and told, when a run is trained
    with suppress(*lacks), trainer.numerics(task.device):  # torch imports its compiler for it
        pass


def _do(
    task: Task, store: RunStore, held: Sequence[PlannedRun], outcomes: dict[str, Outcome]
) -> None:
    """Train and measure the runs whose locks are held."""
    fresh: list[PlannedRun] = []
    old: list[PlannedRun] = []
    for planned in held:
        key = planned.run.key
        with _as_failure(store, [key], outcomes):
            (old if store.committed(key) else fresh).append(planned)
    for batch in _train(task, store, tuple(fresh), outcomes):
        for planned in batch:
            key = planned.run.key
            was_read = key in outcomes  # else it was trained now
            _finish(task, store, planned, outcomes, "read" if was_read else "trained")
            outcomes[key] = replace(outcomes[key], together=_together(task, batch))
    for planned in old:
        recorded = trainer_of(planned.run.training).source(planned.run) is not None
        _finish(task, store, planned, outcomes, "read" if recorded else "measured")


Batch = tuple[PlannedRun, ...]


def halves(batch: Batch) -> tuple[Batch, Batch]:
    """What is tried instead of a batch that failed here, or that killed its process."""
    middle = len(batch) // 2
    return batch[:middle], batch[middle:]


def _train(task: Task, store: RunStore, fresh: Batch, outcomes: dict[str, Outcome]) -> list[Batch]:
    """Train a batch; if that fails, each half of it, so that only the guilty run fails.

    So a batch that is too large for the memory of a device is trained in smaller ones. What a
    half has trained already it takes up from its checkpoints; what is committed is left as it is.
    """
    if not fresh:
        return []
    trial: dict[str, Outcome] = {}
    left = tuple(planned for planned in fresh if not store.committed(planned.run.key))
    if not left or _train_batch(task, store, left, trial):
        outcomes.update(trial)  # those that were read
        return [fresh]
    if len(fresh) == 1 or not _may_do_better(trial):
        outcomes.update(trial)
        return []
    return [batch for half in halves(fresh) for batch in _train(task, store, half, outcomes)]


def _may_do_better(trial: dict[str, Outcome]) -> bool:
    """Whether the failure of a batch may be that of some runs in it, or of their number."""
    hopeless = {kind.__name__ for kind in (CorpusError, DeviceError, StoreUnreachableError)}
    return not any(outcome.error in hopeless for outcome in trial.values())


def _together(task: Task, batch: Batch) -> int:
    return len(batch) if task.choice.engine == "batched" else 1


def _train_batch(task: Task, store: RunStore, batch: Batch, outcomes: dict[str, Outcome]) -> bool:
    """Train and commit some runs; whether that was done. Those that were read are noted."""
    runs = [planned.run for planned in batch]
    keys = [run.key for run in runs]
    with _as_failure(store, keys, outcomes):
        trainer, together = trainer_of(runs[0].training), _together(task, batch)
        with trainer.numerics(task.device) as settings:
            facts = {**settings, "engine": task.choice.facts(together)}
            folders = [store.working_folder(run) for run in runs]
            logs = {planned.run.key: RunLog(store, planned, facts) for planned in batch}
            corpus = _corpus(task, batch[0])
            for key in keys:
                store.sweep(key)
            for log in logs.values():
                log.begin_training()
            trainer.forget_peak(task.device)
            train = partial(
                trainer.train,
                corpus=corpus,
                device=task.device,
                progress=lambda state: logs[state.run_key].training(state),
                together=together > 1,
            )
            with reaching(folders[0]):  # a checkpoint that cannot be written
                trained, read = _trained(store, trainer, runs, folders, train)
        peak = trainer.peak(task.device)
        for result in trained:
            logs[result.run.key].end_training(result.notes, peak)
            _put(store, result)
        outcomes.update({key: Outcome(key, "read") for key in read})
        return True
    return False


def _trained(
    store: RunStore,
    trainer: Trainer[Any],
    runs: Sequence[RunSpec],
    folders: Sequence[Path],
    train: Callable[..., Sequence[Finished]],
) -> tuple[Sequence[Finished], list[str]]:
    """Train runs, or read them from what is recorded; the keys of these, too.

    What a training leaves is recorded before anything is read of it.
    """
    outputs = OutputStore(store)
    found: list[Finished] = []
    read: list[str] = []
    for run, folder in zip(runs, folders, strict=True):
        source = trainer.source(run)
        if source is None:
            return train(runs, folders=folders), []
        with suppress(NotKeptError):
            if outputs.committed(source.key) is not None:
                found.append(trainer.read(run, outputs.files(source.key)))
                read.append(run.key)
                continue
        place = outputs.take_over(folder, source)
        outputs.sweep(source.key)
        (left,) = train([run], folders=[place])
        if left.diverged is None:
            outputs.put(source, left.files)
            left = trainer.read(run, outputs.files(source.key))
        found.append(left)
    return found, read


def _corpus(task: Task, planned: PlannedRun) -> Any:
    """What a run reads; what is wrong with it is wrong for every run of it."""
    training = planned.run.training
    try:
        return trainer_of(training).load(training, task.data)
    except DataError as error:
        raise CorpusError(str(error)) from error


def _put(store: RunStore, trained: Finished) -> None:
    store.put_run(
        trained.run,
        history=trained.history,
        weights=trained.weights,
        files=trained.files,
        best_epoch=trained.best_epoch,
        diverged=trained.diverged,
    )
    store.drop_checkpoint(trained.run.key)


def _finish(
    task: Task, store: RunStore, planned: PlannedRun, outcomes: dict[str, Outcome], doing: Status
) -> None:
    """Measure a committed run, unless it diverged, and tidy up its folder.

    ``doing``: it was `trained` or `read` just now, or is only `measured`, or `read`, if need be.
    """
    key = planned.run.key
    with _as_failure(store, [key], outcomes):
        if store.state(key) == "diverged":
            outcomes[key] = Outcome(key, "diverged")
        else:
            measured = bool(missing_measurements(store, planned))
            if measured:
                _measure(task, store, planned)
            fresh = doing == "trained" or key in outcomes
            done = doing if measured or fresh else "reused"
            outcomes[key] = Outcome(key, "diverged" if has_diverged(store, planned) else done)
        store.tidy(key)


def _measure(task: Task, store: RunStore, planned: PlannedRun) -> None:
    """Take the missing measurements, always of what is stored, whoever trained it."""
    run, key = planned.run, planned.run.key
    trainer = trainer_of(run.training)
    with trainer.numerics(task.device) as settings:
        log = RunLog(store, planned, settings)

        @cache
        def measurer() -> Callable[[Measurable], Measured]:
            return trainer.measurer(_stored(store, run), _corpus(task, planned), task.device)

        for measurement in missing_measurements(store, planned):
            log.begin_measurement(measurement)
            try:
                if sources := measurement.sources:
                    measured = measurement.derive(*(_taken(store, key, each) for each in sources))
                else:
                    measured = measurer()(measurement)
            except DivergedError:
                store.put_measurement(key, measurement, value=None)
            else:
                store.put_measurement(
                    key,
                    measurement,
                    value=measured.value,
                    details=measured.details,
                    arrays=measured.arrays,
                )
            log.end_measurement(measurement)


def _taken(store: RunStore, key: str, measurement: Measurable) -> Measured:
    """What another measurement left in the store; StoreError where it is not there."""
    stored = store.measurement(key, measurement)
    if stored is None:
        raise StoreError(f"{store.folder(key)}: '{measurement.label}' was not measured")
    if stored.value is None:
        raise DivergedError(f"'{measurement.label}' has no value")
    return Measured(stored.value, stored.details, store.arrays(key, measurement))


def _stored(store: RunStore, run: RunSpec) -> Finished:
    """What training left of a run."""
    record = store.record(run.key)
    return Finished(
        run,
        history=store.history(run.key),
        weights=store.weights(run.key) if record.has_weights else None,
        files=store.files(run.key),
        best_epoch=record.best_epoch,
        place=store.place_to_measure(run.key),
    )


@contextmanager
def _as_failure(
    store: RunStore, keys: Sequence[str], outcomes: dict[str, Outcome]
) -> Iterator[None]:
    """Turn an exception into the outcome of the runs concerned, its traceback into error.txt."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - whatever it is, the other runs go on
        kind = type(error).__name__
        message = str(error) if isinstance(error, ReproError) else f"{kind}: {error}"
        text = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n{traceback.format_exc()}"
        for key in keys:
            told = message.replace(f"{store.folder(key)}/checkpoint-out", "{out}")
            outcomes[key] = Outcome(key, "failed", told, kind)
            with suppress(ReproError):
                store.put_error(key, text)


INTERVAL = 2.0

PLACES = ("epoch", "epochs", "step", "steps", "tokens_done", "tokens_in_all")
"""What training tells of where it is."""


class RunLog:
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
        kept = {name: self._before[name] for name in PLACES if name in self._before}
        self._write({"phase": "training", **kept}, force=True)  # a reader sees no step back

    def training(self, state: Progress) -> None:
        if self._from_epoch is None:
            self._from_epoch = state.epoch
            sessions = self._all_sessions()  # written again at the end, so not durable
            self._keep({"sessions_list": sessions}, {}, durable=False)
        self._write({"phase": "training", **{name: getattr(state, name) for name in PLACES}})

    def end_training(self, notes: Sequence[str] = (), peak_memory: int = 0) -> None:
        """The run is committed: say how it was trained."""
        told: dict[str, Any] = {"sessions_list": self._all_sessions(), "notes": list(notes)}
        told |= {"peak_memory": peak_memory} if peak_memory else {}
        self._keep({**self._session(), **told, **self._facts}, {})

    def begin_measurement(self, measurement: Measurable) -> None:
        self._start, self._started = time.monotonic(), now()
        name = measurement.key
        document = {"phase": "measuring", "measurement": name, "label": measurement.label}
        self._write(document, force=True)

    def end_measurement(self, measurement: Measurable) -> None:
        """A measurement is stored: say how it was taken."""
        document: dict[str, Any] = {"training": {}, "measurements": {}}
        document.update(self._store.provenance(self._key))
        seconds = round(time.monotonic() - self._start, 3)
        taken = {"started": self._started, "seconds": seconds, **self._facts}
        measured = {**document["measurements"], measurement.key: taken}
        self._keep(document["training"], measured)

    def _keep(
        self, training: dict[str, Any], measurements: dict[str, Any], *, durable: bool = True
    ) -> None:
        """Write the provenance; if that cannot be, the numbers are as good without it."""
        document: dict[str, Any] = {"schema": 1, "training": training, "measurements": measurements}
        with suppress(StoreError):
            self._store.put_provenance(self._key, document, durable=durable)

    def _earlier_sessions(self) -> list[dict[str, Any]]:
        """Those that were cut off; the last of them left its time in the progress only."""
        training: Any = self._store.provenance(self._key).get("training") or {}
        sessions = [dict(each) for each in training.get("sessions_list", ())]
        if sessions:
            known = sum(number(each.get("seconds")) for each in sessions[:-1])
            seconds = max(0.0, number(self._before.get("seconds")) - known)
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
        moment = time.monotonic()
        if not force and moment - self._written < INTERVAL:
            return
        self._written = moment
        with suppress(StoreError):  # a disk that is full is told by the next checkpoint
            self._store.put_progress(self._key, {**document, **self._session()})

    def _session(self) -> dict[str, Any]:
        """When training began first, how long it took so far, and in how many sessions."""
        before = number(self._before.get("seconds"))
        return {
            "started": str(self._before.get("started") or self._started),
            "seconds": round(before + time.monotonic() - self._start, 3),
            "sessions": int(number(self._before.get("sessions"))) + 1,
        }


def number(value: object) -> float:
    """A number from a file that anybody may have written."""
    return float(value) if isinstance(value, int | float) and 0 < value < 1e18 else 0.0
