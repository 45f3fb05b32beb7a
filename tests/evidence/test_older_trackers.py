"""Runs that earlier versions of the trackers recorded."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.evidence.test_imports import claim, read, refused, ungzipped, unpacked, values
from tests.evidence.test_runs_there import said_there

LAST = ", reduce: last"


@pytest.mark.parametrize("last", [2, 3])
def test_runs_of_wandb_0_16(tmp_path: Path, last: int) -> None:
    """Before its service was written again."""
    unpacked(tmp_path, "wandb-0.16.6.tar.gz")
    where = f"where: {{group: ARM, config.opt.lr: 0.1}}, complete: {{_step: {last}}}"
    found, lost = read(
        claim(tmp_path, f"{{from: wandb, path: wandb, {where}}}", "val.error", more=LAST)
    )
    for arm in ("mixup", "plain"):
        expected = {seed: values(arm, seed)[2] for seed in range(2) if last == 2}
        assert found[arm] == pytest.approx(expected)
        assert lost[arm] == ({} if last == 2 else {0: "diverged", 1: "diverged"})


def test_runs_of_mlflow_2_9(tmp_path: Path) -> None:
    """Below a run that is no replicate; a run of an experiment that was deleted is deleted."""
    ungzipped(tmp_path, "mlflow-2.9.2.db.gz", "mlflow.db")
    where = "where: {experiment: cifar, tags.arm: ARM}"
    path = claim(tmp_path, f"{{from: mlflow, path: mlflow.db, {where}}}", "val.error", more=LAST)
    found, _ = read(path)
    for arm in ("mixup", "plain"):
        assert found[arm] == pytest.approx({seed: values(arm, seed)[2] for seed in range(2)})
    assert "6 runs are there: 4 used, 1 deleted, 1 of no arm." in said_there(path)


def test_a_project_of_trackio_that_keeps_no_configurations(tmp_path: Path) -> None:
    """As of 0.2.8, whose only table is this one: a run has its name, which may be the seed."""
    with closing(sqlite3.connect(tmp_path / "mixup.db")) as db:
        db.execute(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, "
            "run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL)"
        )
        rows = [
            (str(seed), step, f'{{"val": {5 - step + seed}}}') for seed in (1, 2) for step in (0, 1)
        ]
        db.executemany("INSERT INTO metrics VALUES (NULL, '2026-11-24', ?, ?, ?)", rows)
        db.commit()
    path = claim(tmp_path, "{from: trackio, path: mixup.db, seed: name}", "val", more=LAST)
    assert read(path)[0]["mixup"] == {1: 5.0, 2: 6.0}
    said = refused(claim(tmp_path, "{from: trackio, path: mixup.db}", "val", more=LAST))
    assert "has no field 'config.seed' for its seed\n  expected: name" in said
