"""Replicates in parts: how many may be one model, and which runs belong together."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.running.grouping import MOST_TOGETHER, Group, grouped, task_memory
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.language_model.spec import Own, TrainingSpec
from repro.trainers.run import PlannedRun
from repro.trainers.trainer import PROCESS_MEMORY, replicate_memory
from tests.running.replicates import group_of
from tests.running.tiny import RANK, TEST, tiny_run
from tests.store.filled import put_run

PLENTY = 1e15
CLAIM = Path(__file__).parents[2] / "claims" / "mos_rank.yaml"


@pytest.mark.parametrize(
    ("replicates", "at_once", "together", "sizes"),
    [
        (10, 2, 5, [5, 5]),
        (5, 2, 3, [3, 2]),
        (2, 2, 1, [1, 1]),
        (3, 8, 1, [1, 1, 1]),
        (10, 1, 10, [10]),
        (MOST_TOGETHER + 1, 1, 9, [9, 8]),
        (40, 1, 14, [14, 13, 13]),
    ],
)
def test_replicates_are_parted_evenly(
    replicates: int, at_once: int, together: int, sizes: list[int]
) -> None:
    """No process is left without work, none has more than one run more than another."""
    group = group_of(replicates)
    assert group.together(at_once, PLENTY) == together
    parts = group.parts(together)
    assert [len(part) for part in parts] == sizes
    assert sorted(each.run.replicate for part in parts for each in part) == list(range(replicates))


def test_memory_bounds_a_batch() -> None:
    """As many replicates as fit beside the process itself, one at least."""
    group = group_of(10)
    each = replicate_memory(group.runs[0].run.training)
    assert group.together(1, PROCESS_MEMORY + 5.5 * each) == 5
    assert group.together(1, PROCESS_MEMORY + 3.5 * each) == 3
    assert group.together(1, 0.0) == 1
    assert task_memory(group.runs[:4]) == pytest.approx(PROCESS_MEMORY + 4 * each)


def paper_run(arm: str, replicate: int = 0) -> PlannedRun:
    """A run on Penn Treebank at the size of the papers, of which nothing is measured."""
    runs = load_claim(CLAIM, "paper").runs()
    run = [each.run for each in runs if each.arm.startswith(f"{arm} ")][replicate]
    return PlannedRun(run=run, measurements=())


def test_a_loss_on_a_gpu_holds_its_logits_once_a_process() -> None:
    """Logits and their log-softmax, 4 bytes each, for half as many tokens again as a step has.

    MoS: 12 x 70 tokens x 1.5 x 15 softmaxes x 10,000 words are more than the 2 x 2^26 of a chunk.
    Softmax: 20 x 70 tokens x 1.5 x 10,000 words.
    """
    for arm, logits in (("MoS", 2**27), ("Softmax", 21_000_000)):
        run = paper_run(arm)
        assert task_memory([run], "cuda") - task_memory([run]) == pytest.approx(2 * 4 * logits)
    group = Group(tuple(paper_run("MoS", each) for each in range(5)))
    room = PROCESS_MEMORY + 5.5 * replicate_memory(group.runs[0].run.training)
    assert (group.together(1, room), group.together(1, room, "cuda")) == (5, 3)


def test_a_ranked_run_needs_its_matrices_once() -> None:
    """However many are trained together, they are measured one after the other."""
    corpus = TrainingSpec.of(tiny_run()).corpus.model_copy(update={"vocabulary": 10_000})
    training = tiny_run().training.model_copy(update={"corpus": corpus})
    run = tiny_run().model_copy(update={"training": training})
    ranked = PlannedRun(run=run, measurements=(RANK,))
    assert task_memory([ranked] * 4) == task_memory([ranked])


def test_a_trunk_of_ones_own_is_trained_alone() -> None:
    """Replicates of it have no batched recurrence."""
    trunk = Own(use="my_trunks:Mine", version="1")
    run = tiny_run()
    model = TrainingSpec.of(run).model.model_copy(update={"trunk": trunk})
    training = run.training.model_copy(update={"model": model})
    planned = PlannedRun(run=run.model_copy(update={"training": training}), measurements=())
    assert Group((planned,) * 6).together(1, PLENTY) == 1


def test_groups_differ_in_the_replicate_alone(tmp_path: Path) -> None:
    """Another configuration, root or pairing is another group; what is trained is in none."""
    store = RunStore(tmp_path / "runs")
    runs = [tiny_run(number) for number in range(3)]
    runs += [tiny_run(epochs=7), tiny_run().model_copy(update={"root": 1})]
    runs += [tiny_run().model_copy(update={"streams": "paired"})]
    plan = [PlannedRun(run=run, measurements=(TEST,)) for run in runs]
    put_run(store, runs[1])
    groups, trained = grouped(plan, store)
    assert [len(group.runs) for group in groups] == [2, 1, 1, 1]
    assert trained == [(plan[1],)]
