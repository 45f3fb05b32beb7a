"""Output layers and trunks of a user's own: tried before any task, and said once if wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from repro.digest import file_digest
from repro.errors import DataError, OwnPartError
from repro.running.engine import RunOptions, SerialEngine
from repro.running.execute import execute
from repro.running.grouping import Task
from repro.running.pool import WorkerLostError
from repro.store.run_store import RunStore
from repro.trainers.dialog.spec import (
    DialogCorpus,
    DialogRecipe,
    DialogTrainingSpec,
    Seq2Seq,
    SplitResponses,
)
from repro.trainers.language_model.spec import Digests, Model, Own, TrainingSpec
from repro.trainers.run import PlannedRun, RunSpec
from tests.running.stand_ins import Work, trained
from tests.running.tiny import TEST, tiny_plan, tiny_run
from tests.store.filled import put_run

pytestmark = pytest.mark.usefixtures("_quick")

MODULE = """
from repro.trainers.language_model.output.layer import SoftmaxOutput


class Plain(SoftmaxOutput):
    def __init__(self, vocabulary, embedding_size, context_size, dtype):
        super().__init__(vocabulary, embedding_size, dtype)


class Odd(Plain):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.weight = None
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of a user's, where Python finds it."""
    path = tmp_path / "python" / "parts_of_mine.py"
    path.parent.mkdir()
    path.write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(path.parent)
    yield path
    sys.modules.pop("parts_of_mine", None)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The configurations whose models were built."""
    from repro.trainers.language_model import training as either

    real, seen = either.build, []

    def build(training: Any) -> Any:
        seen.append(training)
        return real(training)

    monkeypatch.setattr(either, "build", build)
    return seen


def part(module: Path, name: str = "Plain", **changes: Any) -> Own:
    version = f"sha256:{file_digest(module)[:16]}"
    return Own.model_validate({"use": f"parts_of_mine:{name}", "version": version, **changes})


def plan_of(
    *parts: Own, replicates: int = 3, rates: dict[str, float] | None = None, **changes: Any
) -> list[PlannedRun]:
    """An arm for each output layer."""
    plan = []
    for own in parts:
        training = TrainingSpec.of(tiny_run())
        model = Model(**{**dict(training.model), "output": own, **changes})
        recipe = training.recipe.model_copy(update={"learning_rates": rates})
        training = TrainingSpec(model=model, corpus=training.corpus, recipe=recipe)
        plan += [
            PlannedRun(
                run=tiny_run(number).model_copy(update={"training": training}), measurements=(TEST,)
            )
            for number in range(replicates)
        ]
    return plan


def lost_engine(error: Exception) -> Executor:
    """One that answers every trial with ``error``, and does its tasks."""

    class Lost(SerialEngine):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            if fn.__name__ != "mistake":
                return super().submit(fn, *args, **kwargs)
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    return Lost()


def run_here(plan: list[PlannedRun], store: RunStore) -> Any:
    return execute(plan, RunOptions(store, engine=SerialEngine(), device="cpu", allow_code=True))


def test_a_mistake_in_one_arm_is_said_before_the_other_is_trained(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path
) -> None:
    """Once for all seeds, as a mistake in a configuration: nothing was run."""
    tasks = work(trained)
    plan = [*tiny_plan(3, epochs=9), *plan_of(part(module, parameters=5))]
    with pytest.raises(OwnPartError) as caught:
        run_here(plan, store)
    assert str(caught.value).count("parts_of_mine:Plain: it has 0 parameters") == 1
    assert isinstance(caught.value, DataError)
    assert caught.value.exit_code == 2
    assert tasks == []
    assert not store.folder(plan[0].run.key).exists()


def test_every_mistake_is_said(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path
) -> None:
    """Those of several arms with a blank line between; the same one only once."""
    work(trained)
    wrong, odd = part(module, parameters=5), part(module, "Odd")
    plan = [*plan_of(wrong, odd, part(module)), *plan_of(wrong, hidden_size=9)]
    with pytest.raises(OwnPartError) as caught:
        run_here(plan, store)
    found = str(caught.value).split("\n\n")
    assert sorted(each.partition(": ")[0] for each in found) == [
        "parts_of_mine:Odd",
        "parts_of_mine:Plain",
    ]
    assert all("  to do: " in each for each in found)


def test_a_rate_of_a_part_that_is_not_there(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path
) -> None:
    """Which names a user's own part has is known when it is built, and said then."""
    tasks = work(trained)
    with pytest.raises(OwnPartError, match=r"that is trained is named 'output\.slope'"):
        run_here(plan_of(part(module), rates={"output.slope": 0.5}), store)
    assert tasks == []
    run_here(plan_of(part(module), rates={"output.bias": 0.5}), store)
    assert len(tasks) == 3


def test_the_configurations_of_mistakes_are_known(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path
) -> None:
    """So that a caller can say which arms they concern."""
    work(trained)
    plan = [*plan_of(part(module, parameters=5)), *plan_of(part(module), replicates=1)]
    with pytest.raises(OwnPartError) as caught:
        run_here(plan, store)
    assert caught.value.found == {plan[0].run.training.digest(): str(caught.value)}


@pytest.mark.parametrize("absent", ["nobody_has_this:Part", "parts_of_mine:Part"])
def test_a_trunk_that_is_not_there(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path, absent: str
) -> None:
    """Trunks are tried as well as output layers."""
    tasks = work(trained)
    trunk = part(module, use=absent)
    with pytest.raises(OwnPartError, match=f"^{absent}: "):
        run_here(plan_of(part(module), trunk=trunk), store)
    assert tasks == []


def test_an_output_layer_of_a_dialog_model(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path
) -> None:
    """Dialog models have one too."""
    tasks = work(trained)
    training = DialogTrainingSpec(
        model=Seq2Seq(
            embedding_size=6,
            utterance_size=5,
            dialog_size=7,
            context_size=6,
            output=part(module, parameters=5),
        ),
        corpus=DialogCorpus(
            name="nowhere",
            vocabulary=12,
            responses=SplitResponses(train=9, valid=9, test=9),
            tokens=TrainingSpec.of(tiny_run()).corpus.tokens,
            sha256=Digests(train="0" * 64, valid="0" * 64, test="0" * 64),
        ),
        recipe=DialogRecipe(epochs=1),
    )
    run = RunSpec(training=training, replicate=0)
    with pytest.raises(OwnPartError, match="it has 0 parameters"):
        run_here([PlannedRun(run=run, measurements=())], store)
    assert tasks == []


def test_each_configuration_is_built_once(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path, built: list[Any]
) -> None:
    """Whatever the number of seeds; one without a part of a user's own is not built at all."""
    tasks = work(trained)
    own = plan_of(part(module))
    done = run_here([*tiny_plan(2), *own], store)
    assert len(done.trained) == len(tasks) == 5
    assert built == [own[0].run.training]


def test_what_is_trained_already_needs_no_module(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path, built: list[Any]
) -> None:
    """Finished runs are reused, diverged ones left; only a measurement is a task, as ever."""
    tasks = work(trained)
    plan = plan_of(part(module, use="nobody_has_this:Part"))
    for planned in plan[:2]:
        put_run(store, planned.run)
    store.put_measurement(plan[0].run.key, TEST, value=2.0)
    store.put_run(plan[2].run, history=[], weights=None, best_epoch=None, diverged=1)
    done = run_here(plan, store)
    assert (done.reused, done.diverged) == ((plan[0].run.key,), (plan[2].run.key,))
    assert [task.runs for task in tasks] == [(plan[1],)]
    assert built == []


def test_parts_that_cannot_be_tried_are_left_to_their_tasks(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path
) -> None:
    """Where a worker has no torch, each run says so by itself."""
    tasks = work(trained)
    execute(
        plan_of(part(module)),
        RunOptions(
            store, engine=lost_engine(ImportError("no torch")), device="cpu", allow_code=True
        ),
    )
    assert len(tasks) == 3


def test_a_part_that_kills_its_process(store: RunStore, module: Path) -> None:
    """Said before the other arms are trained for days, as any other mistake."""
    module.write_text("import os\nos._exit(7)\n", encoding="utf-8")
    with pytest.raises(OwnPartError, match=r"^parts_of_mine:Plain: .*ended with status 7"):
        execute(plan_of(part(module)), RunOptions(store, workers=1, device="cpu", allow_code=True))


def test_a_trial_that_is_killed_is_left_to_the_tasks(
    store: RunStore, work: Callable[[Work], list[Task]], module: Path
) -> None:
    """For want of memory, say, which a single model may have later."""
    killed = WorkerLostError("its process was killed 3 times", killed=True)
    tasks = work(trained)
    execute(
        plan_of(part(module)),
        RunOptions(store, engine=lost_engine(killed), device="cpu", allow_code=True),
    )
    assert len(tasks) == 3


def test_workers_try_them(store: RunStore, module: Path) -> None:
    """In a process of their own, where they would be trained."""
    plan = plan_of(part(module, parameters=5))
    with pytest.raises(OwnPartError, match="it has 0 parameters"):
        execute(plan, RunOptions(store, workers=1, device="cpu", allow_code=True))
    assert "parts_of_mine" not in sys.modules
