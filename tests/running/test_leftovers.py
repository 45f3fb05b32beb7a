"""What a worker leaves about a run besides its numbers, and what it finds of earlier ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from repro.running.engine import RunOptions, SerialEngine
from repro.running.execute import execute
from repro.running.grouping import Task
from repro.running.worker import Outcome, RunLog
from repro.store.run_store import RunStore
from repro.trainers.devices import numerics
from repro.trainers.run import PlannedRun
from tests.running.doing import do
from tests.running.programs import programs
from tests.running.stand_ins import Work, trained
from tests.running.tiny import TEST, TRAIN, tiny_plan, tiny_run
from tests.store.filled import put_run


def test_what_killed_writes_left_is_gone_when_training_begins(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Temporary files of an earlier process do not pile up, the checkpoint itself stays."""
    (planned,) = tiny_plan()
    folder = store.working_folder(planned.run)
    for name in (".checkpoint.safetensors.77", ".checkpoint.safetensors.0a.tmp", ".spec.tmp"):
        (folder / name).write_text("half")
    (folder / "checkpoint.damaged").write_text("kept")
    seen: list[str] = []

    def train(*_: Any, **__: Any) -> None:
        seen.extend(path.name for path in folder.iterdir())
        raise ZeroDivisionError

    monkeypatch.setattr("repro.trainers.language_model.training.train", train)
    do(store, planned)
    assert sorted(seen) == [".lock", "checkpoint.damaged", "progress.json", "spec.json"]


def test_the_checkpoint_goes_with_the_commit(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed while it measures leaves no checkpoint behind."""

    def measure(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "repro.trainers.language_model.measurements.perplexity.Perplexity.measure", measure
    )
    (planned,) = tiny_plan()
    with pytest.raises(KeyboardInterrupt):
        do(store, planned)
    assert store.state(planned.run.key) == "finished"
    assert not list(store.folder(planned.run.key).glob("*checkpoint*"))


def test_an_unreadable_checkpoint_is_the_stores(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails while a checkpoint is read costs no epoch: the file stays as it is."""
    (planned,) = tiny_plan()
    checkpoint = store.working_folder(planned.run) / "checkpoint.safetensors"
    checkpoint.write_text("whole")

    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("repro.trainers.language_model.checkpoint.opened", fail)
    (outcome,) = do(store, planned)
    assert outcome.error == "StoreUnreachableError"
    assert checkpoint.read_text() == "whole"


def test_every_session_says_where_it_trained(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that went on elsewhere names both machines, and from which epoch each trained."""
    planned = PlannedRun(run=tiny_run(epochs=4), measurements=(TEST,))
    real = RunLog.training

    def training(self: RunLog, state: Any) -> None:
        real(self, state)
        if state.epoch == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunLog, "training", training)
        patch.setattr("platform.node", lambda: "first")
        with pytest.raises(KeyboardInterrupt):
            do(store, planned)
    monkeypatch.setattr("platform.node", lambda: "second")
    do(store, planned)
    last: Any = store.provenance(planned.run.key)["training"]
    sessions = last["sessions_list"]
    assert [each["machine"]["host"] for each in sessions] == ["first", "second"]
    assert [each["from_epoch"] for each in sessions] == [1, 3]
    assert last["sessions"] == 2
    for name in ("machine", "software", "settings"):
        assert last[name] == sessions[1][name]
    assert last["started"] == sessions[0]["started"]
    assert last["seconds"] == pytest.approx(sum(each["seconds"] for each in sessions), abs=0.01)


@pytest.mark.parametrize("text", ["", "[]", "folder"])
def test_damaged_provenance_stops_no_measurement(store: RunStore, text: str) -> None:
    """A number is stored and the run is done, whatever lies in the place of the provenance."""
    run = tiny_run()
    do(store, PlannedRun(run=run, measurements=(TEST,)))
    path = store.folder(run.key) / "provenance.json"
    path.unlink()
    path.mkdir() if text == "folder" else path.write_text(text)
    (outcome,) = do(store, PlannedRun(run=run, measurements=(TEST, TRAIN)))
    assert outcome.status == "measured"


def test_progress_that_cannot_be_written_stops_nothing(store: RunStore) -> None:
    """A folder in the place of progress.json is no reason not to train."""
    (planned,) = tiny_plan()
    (store.working_folder(planned.run) / "progress.json").mkdir()
    assert [outcome.status for outcome in do(store, planned)] == ["trained"]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_deterministic_algorithms_depend_on_the_device_alone(
    monkeypatch: pytest.MonkeyPatch, device: Any
) -> None:
    """Whatever the caller has set, it is on for the CPU, off for CUDA, and put back."""
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "none")
    try:
        torch.use_deterministic_algorithms(mode=True, warn_only=True)
        with numerics(device):
            assert torch.are_deterministic_algorithms_enabled() == (device == "cpu")
            assert not torch.is_deterministic_algorithms_warn_only_enabled()
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled()
    finally:
        torch.use_deterministic_algorithms(mode=False)


def test_numerics_are_put_back(store: RunStore) -> None:
    """In one's own process the task leaves torch as it was."""
    import torch

    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    do(store, *tiny_plan())
    assert before == (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled())


def test_what_a_killed_process_left_is_tidied(store: RunStore) -> None:
    """A complete run with a checkpoint loses it, unless another process holds the run."""
    (planned,) = plan = tiny_plan()
    put_run(store, planned.run)
    for measurement in planned.measurements:
        store.put_measurement(planned.run.key, measurement, value=2.0)
    checkpoint = store.folder(planned.run.key) / "checkpoint.safetensors"
    checkpoint.write_text("")
    with store.lock(planned.run.key):
        assert execute(plan, store).reused == (planned.run.key,)
        assert checkpoint.exists()
    assert execute(plan, store).reused == (planned.run.key,)
    assert not checkpoint.exists()


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize(("resume", "stays"), [(False, {2}), (True, {0, 1, 2})])
def test_what_killed_programs_left_goes_before_any_is_begun(
    store: RunStore,
    work: Callable[[Work], list[Task]],
    resume: bool,
    stays: set[int],
) -> None:
    """A disk that they have filled would stop the others; what another process has is left."""
    plan = programs(3, resume=resume)
    outs = [store.working_folder(each.run) / "checkpoint-out" for each in plan]
    for out in outs:
        out.mkdir()
        (out / "large").write_bytes(bytes(9))
    seen: list[set[int]] = []

    def function(task: Task) -> tuple[Outcome, ...]:
        seen.append({number for number, out in enumerate(outs) if out.exists()})
        return trained(task)

    work(function)
    with store.lock(plan[2].run.key):
        execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu", allow_code=True))
    assert seen[0] == stays
