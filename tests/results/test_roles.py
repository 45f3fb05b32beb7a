"""What a column is, by its name and by its values."""

from __future__ import annotations

import pytest

from repro.results.readings import state_of
from repro.results.roles import (
    NAMES,
    Role,
    cells_by_arm,
    is_index,
    is_regular,
    labelled,
    recurs,
    role_of,
    said_seed,
    seed_number,
    surest,
)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *((name, "seed") for name in ("Seed", "# seed", "params.seed", "random-state", "run_id")),
        *((name, "arm") for name in ("classifier", "clf", "framework", "agent", "policy")),
        *((name, "arm") for name in ("system", "approach", "model_name", "optimizer.name")),
        *((name, "task") for name in ("dataset", "dataset_name", "datasetName", "env_id")),
        *((name, "task") for name in ("task_id", "scene", "subject", "project", "dataset.name")),
        *((name, "item") for name in ("episode", "trial", "doc_id", "question_id", "sample_id")),
        *((name, "fold") for name in ("fold", "cv_split", "fold_idx", "Outer Fold")),
        *((name, "step") for name in ("epoch", "step", "iteration", "global_step")),
        *((name, "state") for name in ("State", "status")),
        *((name, "index") for name in ("idx", "#", "Unnamed: 0")),
        *((name, "measure") for name in ("val/loss", "test_accuracy", "reward")),
        *((name, None) for name in ("gpu", "lr_schedule", "run_name", "maze_size", "id")),
    ],
)
def test_a_name_says_what_a_column_is(name: str, role: Role | None) -> None:
    assert role_of(name) == role


def test_every_name_stands_in_the_table_once() -> None:
    names = [name for each in NAMES.values() for name in each]
    assert len(set(names)) == len(names)
    assert {name: role_of(name) for name in names} == {
        name: role for role, each in NAMES.items() for name in each
    }


def test_the_surest_name_is_the_first() -> None:
    assert surest(["name", "gpu", "clf", "method"], "arm") == ["method", "clf", "name"]


@pytest.mark.parametrize(
    ("cell", "number", "said"),
    [("3", 3, None), ("3.0", 3, None), ("seed_3", 3, 3), ("Run 12", 12, 12), ("fold_2", 2, None)],
)
def test_the_number_of_a_seed(cell: str, number: int, said: int | None) -> None:
    assert (seed_number(cell), said_seed(cell)) == (number, said)
    assert seed_number("3.5") is None


def test_a_label_may_name_arm_and_seed() -> None:
    found = [labelled(each) for each in ("Baseline (Seed 1)", "lion-run_03", "Defended 25%")]
    assert found == [("Baseline", 1), ("lion", 3), None]
    assert labelled("seed_1") is None


def test_the_numbers_of_rows_are_an_index_in_any_order() -> None:
    assert is_index(["2", "0", "1"])
    assert is_index(["1.0", "2.0", "3.0"])
    assert not any(map(is_index, (["0", "0", "1"], ["5", "6", "7"], ["0.5", "1"], ["0"])))


def test_settings_are_evenly_spaced_or_grow_by_one_factor() -> None:
    assert is_regular([30, 10, 20, 40])
    assert is_regular([8, 16, 32, 64])
    assert not is_regular([4.21, 4.35, 4.18, 4.29])
    assert not is_regular([1, 1, 1, 1])


def test_what_the_arms_share_tells_rows_apart() -> None:
    def shared(a: list[object], b: list[object]) -> bool:
        fields = [{"x": value} for value in (*a, *b)]
        return recurs(cells_by_arm(["a"] * len(a) + ["b"] * len(b), fields, "x"), 2)

    assert shared([0, 1, 2], [2, 1, 0])
    assert shared(["p", "q"], ["p", "q", "r"])
    assert shared([0.1, 0.2], [0.2, 0.1])
    assert not shared([0.1, 0.2], [0.2, 0.3])  # another measure
    assert not shared([0, 1, 2], [3, 4, 5])  # the number of a row
    assert not shared([5, 5], [5, 5])  # one setting


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("finished", "COMPLETE TERMINATED COMPLETED FINISHED finished ok success done succeeded"),
        ("diverged", "FAIL PRUNED ERROR OUT_OF_MEMORY TIMEOUT NODE_FAIL CANCELLED FAILED KILLED"),
        ("diverged", "PREEMPTED crashed crash error failure timeout oom diverged"),
        ("missing", "RUNNING WAITING PENDING SCHEDULED running preempting PAUSED SUSPENDED"),
        (None, "keep discard Ohio baseline stopped 0"),
    ],
)
def test_the_words_of_trackers_and_schedulers_are_states(state: str | None, words: str) -> None:
    assert {state_of(word) for word in words.split()} == {state}
    assert state_of("Out of memory") == "diverged"
