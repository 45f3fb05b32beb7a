"""Results of lm-eval: what it wrote, and what it never would."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evidence.test_imports import claim, read, refused, unpacked

FIXTURE = "lm_eval-0.4.13.tar.gz"

ACCURACY = {"sums": {0: 0.375, 1: 0.25, 2: 0.75}, "products": {0: 0.25, 1: 0.375, 2: 0.5}}
"""As the table says that lm-eval printed; its model answers by the seed alone."""


def results(
    folder: Path, where: str, number: str = "acc,none", path: str = "ARM/**/*.json"
) -> Path:
    imports = f'{{from: lm_eval, path: "lm_eval/{path}", where: {{{where}}}}}'
    return claim(folder, imports, f'"{number}"')


@pytest.mark.parametrize("task", ACCURACY)
def test_a_task_of_an_evaluation(tmp_path: Path, task: str) -> None:
    """The seed is the one that was given on the command line."""
    unpacked(tmp_path, FIXTURE)
    found, lost = read(results(tmp_path, f"task: {task}, model_source: dummy"))
    assert found == {"mixup": ACCURACY[task], "plain": ACCURACY[task]}
    assert lost == {"mixup": {}, "plain": {}}


def test_names_in_a_path_are_fields(tmp_path: Path) -> None:
    unpacked(tmp_path, FIXTURE)
    path = results(tmp_path, "task: sums, arm: ARM", path="{arm}/seed_{seed}/*/*.json")
    assert read(path)[0]["plain"] == ACCURACY["sums"]


def test_two_tasks_are_not_one_run(tmp_path: Path) -> None:
    """Without a task there are two runs with one seed."""
    unpacked(tmp_path, FIXTURE)
    said = refused(results(tmp_path, "model_source: dummy"))
    assert "two runs have seed 0" in said
    assert "task products" in said


def test_a_metric_that_is_not_there_is_a_missing_run(tmp_path: Path) -> None:
    unpacked(tmp_path, FIXTURE)
    _, lost = read(results(tmp_path, "task: sums", "acc_norm,none"))
    assert lost["mixup"] == {0: "missing", 1: "missing", 2: "missing"}


def test_a_folder_of_a_seed_without_results_is_a_missing_run(tmp_path: Path) -> None:
    unpacked(tmp_path, FIXTURE)
    (tmp_path / "lm_eval" / "plain" / "seed_9").mkdir()
    path = results(tmp_path, "task: sums", path="ARM/seed_{seed}/*/*.json")
    path.write_text(
        path.read_text().replace("where: {task: sums}", "where: {task: sums}, seed: seed")
    )
    assert read(path)[1]["plain"] == {9: "missing"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "holds what is no JSON"),
        ('{"acc": 1}', "has no results of tasks"),
        ('{"results": {"sums": 1}, "config": {"random_seed": 0}}', ""),
    ],
)
def test_what_is_no_result(tmp_path: Path, text: str, said: str) -> None:
    for arm in ("mixup", "plain"):
        file = tmp_path / "lm_eval" / arm / "results.json"
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    path = results(tmp_path, "task: sums")
    if said:
        assert said in refused(path)
    else:
        assert read(path)[1]["mixup"] == {0: "missing"}
