"""The stats of HELM: what its own classes wrote, and names that are there twice."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.evidence.test_imports import files, read, refused, unpacked, written

FIXTURE = "helm-0.5.16.tar.gz"
RUN = "helm/runs/ARM/made:subject=sums,seed={seed},model=made_ARM/stats.json"


def accuracies(arm: str, split: int) -> dict[int, float]:
    """What the script of the README answered; ``split`` is the place among the three."""
    found = {}
    for seed in range(3):
        generator = random.Random(f"{arm}{seed}")
        shift = {"mixup": 0.2, "plain": 0.0}[arm]
        answers = [generator.random() < 0.5 + shift for _ in range(40)]
        found[seed] = sum(answers) / len(answers) - split / 10
    return found


@pytest.mark.parametrize(
    ("name", "split"),
    [("exact_match.train", 0), ("exact_match.test", 1), ("exact_match.test.typos.worst", 2)],
)
def test_a_metric_of_a_split_and_a_perturbation(tmp_path: Path, name: str, split: int) -> None:
    unpacked(tmp_path, FIXTURE)
    found, lost = read(files(tmp_path, RUN, name))
    for arm in ("mixup", "plain"):
        assert found[arm] == pytest.approx(accuracies(arm, split))
    assert lost == {"mixup": {}, "plain": {}}


@pytest.mark.parametrize("name", ["logprob.test", "no_references.test"])
def test_what_is_not_finite_or_of_no_instance_is_missing(tmp_path: Path, name: str) -> None:
    """HELM leaves it out, so that nobody can tell a divergence."""
    unpacked(tmp_path, FIXTURE)
    found, lost = read(files(tmp_path, RUN, name))
    assert found["mixup"] == {}
    assert set(lost["mixup"].values()) == {"missing"}


def test_two_stats_of_one_name_are_refused(tmp_path: Path) -> None:
    stat = {"name": {"name": "exact_match", "split": "test"}, "mean": 0.5}
    written(tmp_path, "1/stats.json", json.dumps([stat, {**stat, "mean": 0.75}]))
    said = refused(files(tmp_path, "{seed}/stats.json", "exact_match.test"))
    assert "1/stats.json: cannot be read: 'exact_match.test' stands there twice" in said
