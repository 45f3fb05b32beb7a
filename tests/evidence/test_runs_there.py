"""Which of the runs that are there count, and what is said of the others."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from repro.judging.claim_parts import origins
from repro.judging.gather import gather, read_tables
from repro.report.write import read_document
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from tests.commands import repro
from tests.evidence.test_damaged_imports import board, scalar
from tests.evidence.test_imports import claim, files, read, refused, ungzipped, unpacked, written

ROWS = ", each: row, where: {arm: ARM}"


def said_there(path: Path) -> str:
    """What a report says of where its values are from."""
    loaded = load_claim(path, "paper")
    return " ".join(origins(loaded, gather(loaded, RunStore(path.parent / "store"))))


def test_runs_of_two_arms_are_counted_together(tmp_path: Path) -> None:
    rows = "".join(f"{arm},{seed},1\n" for arm in ("mixup", "plain", "x") for seed in (1, 2))
    written(tmp_path, "export.csv", f"arm,seed,error\n{rows}")
    path = files(tmp_path, "export.csv", "error", ROWS)
    assert "6 runs are there: 4 used, 2 of no arm." in said_there(path)


def test_runs_that_were_replaced_or_deleted_are_counted(tmp_path: Path) -> None:
    rows = "mixup,1,1\nmixup,1,2\nplain,1,3\nx,1,4\n"
    written(tmp_path, "export.csv", f"arm,seed,error\n{rows}")
    path = files(tmp_path, "export.csv", "error", f"{ROWS}, duplicates: last")
    expected = "4 runs are there: 2 used, 1 replaced by a later one of their seed, 1 of no arm."
    assert expected in said_there(path)


@pytest.mark.parametrize("place", ["mlflow.db", "mlruns"])
def test_deleted_runs_of_mlflow_are_counted(tmp_path: Path, place: str) -> None:
    ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
    unpacked(tmp_path, "mlruns-3.17.2.tar.gz")
    where = f"{{from: mlflow, path: {place}, where: {{tags.arm: ARM}}}}"
    path = claim(tmp_path, where, "test_error")
    assert "11 runs are there: 10 used, 1 deleted." in said_there(path)


def test_runs_of_a_deleted_experiment_are_deleted(tmp_path: Path) -> None:
    """Whatever is said of the runs themselves."""
    ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as db:
        db.execute("UPDATE experiments SET lifecycle_stage = 'deleted' WHERE name = 'cifar'")
        db.commit()
    said = refused(claim(tmp_path, "{from: mlflow, path: mlflow.db}", "test_error"))
    assert "none of 0 runs that are there is of this arm" in said


def test_a_deleted_experiment_in_a_folder_of_mlflow(tmp_path: Path) -> None:
    """It is put aside as a whole, with runs that say nothing of it."""
    unpacked(tmp_path, "mlruns-3.17.2.tar.gz")
    (tmp_path / "mlruns" / ".trash").mkdir(exist_ok=True)
    written(tmp_path, "mlruns/.trash/7/meta.yaml", "lifecycle_stage: deleted\n")
    written(tmp_path, "mlruns/.trash/7/a1b2/meta.yaml", "lifecycle_stage: active\nrun_id: a1b2\n")
    path = claim(tmp_path, "{from: mlflow, path: mlruns, where: {tags.arm: ARM}}", "test_error")
    assert "12 runs are there: 10 used, 2 deleted." in said_there(path)


def test_nothing_is_said_where_all_are_used(tmp_path: Path) -> None:
    written(tmp_path, "1/r.json", {"error": 2})
    assert "are there" not in said_there(files(tmp_path, "{seed}/r.json", "error"))


def test_every_file_has_its_digest_in_the_report(tmp_path: Path) -> None:
    for arm in ("mixup", "plain"):
        for seed in (1, 2):
            written(tmp_path, f"{arm}/{seed}/r.json", {"error": seed})
    path = files(tmp_path, "ARM/{seed}/r.json", "error")
    done = repro("verify", path, "--store", tmp_path / "s", "--reports", tmp_path / "r")
    assert done.returncode == 0, done.stderr
    report = tmp_path / "r/mixup_better/paper/report.json"
    first, second = (arm["table"]["files"] for arm in json.loads(report.read_text())["arms"])
    assert list(first) == ["mixup/1/r.json", "mixup/2/r.json"]
    assert first["mixup/1/r.json"] == second["plain/1/r.json"] != first["mixup/2/r.json"]
    assert read_document(report).arms[0].table is not None
    assert "Files that were read" in report.with_suffix(".html").read_text()


def test_a_folder_without_its_file_is_a_missing_run(tmp_path: Path) -> None:
    for seed in (1, 2):
        written(tmp_path, f"runs/seed_{seed}/r.json", {"error": seed})
    written(tmp_path, "runs/seed_3/log.txt", "killed")
    written(tmp_path, "runs/seed_old/log.txt", "no run")
    found, lost = read(files(tmp_path, "runs/seed_{seed}/r.json", "error"))
    assert found["mixup"] == {1: 1.0, 2: 2.0}
    assert lost["mixup"] == {3: "missing"}


def test_a_folder_whose_file_beside_it_says_the_seed(tmp_path: Path) -> None:
    """As of a run of Lightning that was killed before its first epoch."""
    written(tmp_path, "logs/version_0/metrics.csv", "step,val\n1,5\n")
    for version in (0, 1):
        written(tmp_path, f"logs/version_{version}/hparams.yaml", f"seed: {version}\n")
    more = ", fields: hparams.yaml"
    found, lost = read(files(tmp_path, "logs/version_*/metrics.csv", "val", more))
    assert found["mixup"] == {0: 5.0}
    assert lost["mixup"] == {1: "missing"}


def test_a_folder_without_events_is_a_missing_run(tmp_path: Path) -> None:
    path = board(tmp_path, scalar(2.0))
    board(tmp_path, run="2")
    found, lost = read(path)
    assert (found["mixup"], lost["mixup"]) == ({1: 2.0}, {2: "missing"})


def last(path: Path) -> Path:
    """The same claim, with the later of two runs."""
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('{seed}"}', '{seed}", duplicates: last}'), encoding="utf-8")
    return path


def test_two_runs_in_one_folder_of_events_are_told(tmp_path: Path) -> None:
    """The later one is shorter, and no value of the earlier one is its last."""
    first = b"".join(scalar(1.0 + step, step, time=10.0 + step) for step in range(4))
    second = b"".join(scalar(5.0 + step, step, time=20.0 + step) for step in range(2))
    path = board(tmp_path, second, first)
    said = refused(path)
    assert "tb/1: step 0 of 'error' is in events.out.tfevents.1 and in" in said
    assert "duplicates: last" in said
    assert read(last(path))[0]["mixup"] == {1: 6.0}
    assert "2 runs are there: 1 used, 1 replaced" in said_there(path)


def test_a_run_that_went_on_in_a_second_file(tmp_path: Path) -> None:
    first = scalar(1.0, 0, time=1.0) + scalar(2.0, 1, time=2.0)
    assert read(board(tmp_path, first, scalar(3.0, 2, time=3.0)))[0]["mixup"] == {1: 3.0}


def test_the_later_of_two_folders_of_events_by_their_times(tmp_path: Path) -> None:
    """Not the one whose name comes last."""
    board(tmp_path, scalar(1.0, time=50.0), run="a/1")
    board(tmp_path, scalar(2.0, time=10.0), run="b/1")
    where = '{from: tensorboard, path: "tb/*/{seed}", duplicates: last}'
    assert read(claim(tmp_path, where, "error"))[0]["mixup"] == {1: 1.0}


def test_the_later_of_two_results_of_lm_eval_by_their_dates(tmp_path: Path) -> None:
    for name, date, value in (("a", 200.5, 1), ("b", 100.5, 2)):
        config = {"random_seed": 1}
        results = {"results": {"t": {"acc": value}}, "date": date, "config": config}
        written(tmp_path, f"{name}/results.json", results)
    where = '{from: lm_eval, path: "*/results.json", duplicates: last}'
    assert read(claim(tmp_path, where, "acc"))[0]["mixup"] == {1: 1.0}


def test_the_later_of_two_runs_of_wandb_by_their_times(tmp_path: Path) -> None:
    """Wherever their folders are; one without a time is the first."""
    unpacked(tmp_path, "wandb-0.31.0-late.tar.gz")
    file = next(tmp_path.rglob("*gg5m7ago.wandb"))
    content = file.read_bytes()
    for folder in (
        "wandb/b/offline-run-20200101_000000-x",
        "wandb/a/offline-run-20300101_000000-x",
        "wandb/copied",
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "run-x.wandb").write_bytes(content)
    where = "{from: wandb, path: wandb, duplicates: last}"
    table = read_tables(load_claim(claim(tmp_path, where, "test_error"), "paper"))["mixup"]
    assert table.source.runs is not None
    assert "wandb/a/offline-run-20300101_000000-x/run-x.wandb" in table.source.runs.used
    assert len(table.source.runs.replaced) == 3


def test_the_later_of_two_files_is_by_name(tmp_path: Path) -> None:
    """The time of a file changes when it is copied."""
    for name, value, time in (("a", 1, 2_000_000_000), ("b", 2, 1_000_000_000)):
        written(tmp_path, f"{name}/1/r.json", {"error": value})
        os.utime(tmp_path / name / "1" / "r.json", (time, time))
    path = files(tmp_path, "*/{seed}/r.json", "error", ", duplicates: last")
    assert read(path)[0]["mixup"] == {1: 2.0}


@pytest.mark.parametrize("column", ["State", "state", "status"])
def test_a_row_that_says_how_its_run_ended(tmp_path: Path, column: str) -> None:
    """Whatever its last value was."""
    states = ("finished", "crashed", "running", "Failed", "preempted")
    rows = "".join(f"mixup,{seed},2.5,{state}\n" for seed, state in enumerate(states))
    written(tmp_path, "export.csv", f"arm,seed,error,{column}\n{rows}")
    found, lost = read(files(tmp_path, "export.csv", "error", ", each: row"))
    assert found["mixup"] == {0: 2.5}
    assert lost["mixup"] == {1: "diverged", 2: "missing", 3: "diverged", 4: "diverged"}


def test_a_state_that_no_run_has(tmp_path: Path) -> None:
    written(tmp_path, "export.csv", "seed,error,State\n1,2,finished\n2,3,lost\n")
    said = refused(files(tmp_path, "export.csv", "error", ", each: row"))
    assert "row 2, column State: 'lost' is no state of a run" in said


def test_a_column_of_other_states(tmp_path: Path) -> None:
    """As of a country."""
    written(tmp_path, "export.csv", "seed,error,state\n1,2,Ohio\n2,3,Utah\n")
    assert read(files(tmp_path, "export.csv", "error", ", each: row"))[0]["mixup"] == {1: 2, 2: 3}


def test_seeds_with_leading_zeros(tmp_path: Path) -> None:
    for seed in ("007", "010"):
        written(tmp_path, f"seed_{seed}/r.json", {"error": 2})
    assert read(files(tmp_path, "seed_{seed}/r.json", "error"))[0]["mixup"] == {7: 2.0, 10: 2.0}
    written(tmp_path, "seed_7/r.json", {"error": 2})
    assert "two runs have seed 7" in refused(files(tmp_path, "seed_{seed}/r.json", "error"))


def why(path: Path) -> str:
    (reason,) = set(read_tables(load_claim(path, "paper"))["mixup"].why["mixup"].values())
    return reason


def test_a_number_that_no_run_has_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    """In the verdict, too."""
    for seed in (1, 2):
        written(tmp_path, f"{seed}.csv", "step,error\n1,3\n2,4\n")
    path = files(tmp_path, "{seed}.csv", "eror", reduce=", reduce: last")
    assert why(path) == "no number 'eror', there are error, step"
    done = repro("verify", path, "--store", tmp_path / "s", "--reports", tmp_path / "r")
    assert "2 missing: no number 'eror', there are error, step" in done.stdout
    path = files(tmp_path, "{seed}.csv", "error", reduce=", reduce: {at: {steps: 2}}")
    assert why(path) == "no number 'steps', there are error, step"
    path = files(tmp_path, "{seed}.csv", "error", reduce=", reduce: {at: {step: 3}}")
    assert why(path) == "no row in which 'step' is 3"


def test_best_by_a_number_that_was_never_finite(tmp_path: Path) -> None:
    written(tmp_path, "1.csv", "error,valid\n1,nan\n2,nan\n")
    path = files(
        tmp_path, "{seed}.csv", "error", reduce=", reduce: {best_by: valid, better: lower}"
    )
    assert read(path)[1]["mixup"] == {1: "diverged"}


def test_what_diverged_in_one_number_has_diverged(tmp_path: Path) -> None:
    """Whatever else is missing."""
    written(tmp_path, "1/r.json", '{"error": NaN}')
    path = files(tmp_path, "{seed}/r.json", "error")
    text = path.read_text(encoding="utf-8")
    other = "  other: {kind: reported, from: x, label: other (%), better: lower}\n"
    path.write_text(text.replace("measurements:\n", f"measurements:\n{other}"), encoding="utf-8")
    assert read(path)[1]["mixup"] == {1: "diverged"}


def test_series_of_sacred(tmp_path: Path) -> None:
    series = {"steps": [0, 10], "timestamps": ["a", "b"], "values": [3.5, 2.5]}
    written(tmp_path, "1/metrics.json", {"val.loss": series, "lr": {"steps": [0], "values": [1]}})
    path = files(tmp_path, "{seed}/metrics.json", "val.loss", reduce=", reduce: {at: {step: 10}}")
    assert read(path)[0]["mixup"] == {1: 2.5}
