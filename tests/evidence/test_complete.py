"""A run whose series ends before the step that is declared was not finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import ReproError
from repro.judging.assemble import check_claim
from repro.judging.gather import gather, read_tables
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from tests.evidence.test_imports import claim, files, read, refused, ungzipped, unpacked, written

LAST = ", reduce: last"
TO_2 = ", complete: {step: 2}"


def log(folder: Path, seed: int, steps: int) -> None:
    """A log of JSON lines, whose value is 5 at step 0 and falls by 1 at each."""
    lines = (f'{{"step": {step}, "val": {5 - step}}}\n' for step in range(steps))
    written(folder, f"{seed}/log.jsonl", "".join(lines))


def test_a_log_that_ends_early_is_a_divergence(tmp_path: Path) -> None:
    """Its last value is not quietly the result of the run."""
    for seed, steps in ((1, 3), (2, 2), (3, 4)):
        log(tmp_path, seed, steps)
    found, lost = read(files(tmp_path, "{seed}/log.jsonl", "val", TO_2, LAST))
    assert (found["mixup"], lost["mixup"]) == ({1: 3.0, 3: 2.0}, {2: "diverged"})
    assert read(files(tmp_path, "{seed}/log.jsonl", "val", "", LAST))[0]["mixup"][2] == 4.0


def test_the_verdict_says_how_far_it_got(tmp_path: Path) -> None:
    for seed, steps in ((1, 3), (2, 2), (3, 2)):
        log(tmp_path, seed, steps)
    loaded = load_claim(files(tmp_path, "{seed}/log.jsonl", "val", TO_2, LAST), "paper")
    verdict = check_claim(loaded, gather(loaded, RunStore(tmp_path / "store"))).verdict
    assert verdict.validity == "INVALID"
    assert (
        "with mixup: 2 of 3 runs diverged; 0 allowed by `seeds: {diverged: invalid}` "
        "(2 diverged: 'val' ends at step 1, and `complete` says 2)" in verdict.validity_reason
    )


@pytest.mark.parametrize("reduction", ["first", "{best_by: val, better: lower}", "{at: {step: 1}}"])
def test_no_reduction_takes_a_run_that_ended_early(tmp_path: Path, reduction: str) -> None:
    log(tmp_path, 1, 3)
    log(tmp_path, 2, 2)
    found, lost = read(files(tmp_path, "{seed}/log.jsonl", "val", TO_2, f", reduce: {reduction}"))
    assert (set(found["mixup"]), lost["mixup"]) == ({1}, {2: "diverged"})


def test_it_is_the_series_that_is_measured_that_has_to_get_there(tmp_path: Path) -> None:
    """Trackers count batches for one number and epochs for another under one name."""
    written(tmp_path, "1/log.csv", "step,loss,val\n1,9,4\n2,8,3\n")
    written(tmp_path, "2/log.csv", "step,loss,val\n1,9,4\n900,8,\n")
    found, lost = read(files(tmp_path, "{seed}/log.csv", "val", TO_2, LAST))
    assert (found["mixup"], lost["mixup"]) == ({1: 3.0}, {2: "diverged"})


def test_a_run_that_ended_before_its_first_value(tmp_path: Path) -> None:
    """One that got there, and lacks the number all the same, is missing as ever."""
    written(tmp_path, "1/log.csv", "step,loss,val\n1,9,4\n2,8,3\n")
    written(tmp_path, "2/log.csv", "step,loss,val\n1,9,\n")
    written(tmp_path, "3/log.csv", "step,loss,val\n1,9,\n2,9,\n")
    found, lost = read(files(tmp_path, "{seed}/log.csv", "val", TO_2, LAST))
    assert (found["mixup"], lost["mixup"]) == ({1: 3.0}, {2: "diverged", 3: "missing"})


def test_a_step_that_is_not_there_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "1/log.csv", "epoch,val\n1,4\n2,3\n")
    said = refused(files(tmp_path, "{seed}/log.csv", "val", TO_2, LAST))
    assert "1/log.csv" in said
    assert "no number 'step' stands beside 'val'" in said
    assert "expected: epoch" in said


def test_trackers_with_steps(tmp_path: Path) -> None:
    """Each fixture has the steps 0, 1 and 2; the numbers that are logged once have no series."""
    ungzipped(tmp_path, "mlflow-3.17.2.db.gz", "mlflow.db")
    ungzipped(tmp_path, "trackio-0.43.0.db.gz", "p.db")
    for name in ("mlruns-3.17.2", "tensorboard-2.21.0", "wandb-0.31.0"):
        unpacked(tmp_path, f"{name}.tar.gz")
    mlflow = "where: {tags.arm: ARM, experiment: cifar, name: ARM-1}"
    for where, name, step in (
        (f"from: mlflow, path: mlflow.db, {mlflow}", "val_error", "step"),
        (f"from: mlflow, path: mlruns, {mlflow}", "val_error", "step"),
        ('from: tensorboard, path: "tb/ARM/seed{seed}"', "val/error", "step"),
        ("from: wandb, path: wandb, where: {group: ARM}", "val.error", "_step"),
        ("from: trackio, path: p.db, where: {group: ARM}", "val_error", "step"),
    ):
        for last, state in ((2, "finished"), (3, "diverged")):
            imports = f"{{{where}, complete: {{{step}: {last}}}}}"
            found, lost = read(claim(tmp_path, imports, name, more=LAST))
            assert bool(found["mixup"]) == (state == "finished"), where
            assert bool(lost["mixup"]) == (state == "diverged"), where
            assert set(lost["plain"].values()) <= {"diverged"}


def test_a_run_that_is_still_running_stays_missing(tmp_path: Path) -> None:
    unpacked(tmp_path, "wandb-0.31.0.tar.gz")
    for file in tmp_path.rglob("run-*.wandb"):
        file.write_bytes(file.read_bytes()[:-40])
    imports = "{from: wandb, path: wandb, where: {group: ARM}, complete: {_step: 9}}"
    _, lost = read(claim(tmp_path, imports, "val.error", more=LAST))
    assert lost["mixup"] == {0: "missing", 1: "missing"}


def test_numbers_without_a_series_are_not_asked_how_far_they_got(tmp_path: Path) -> None:
    """A declaration that could change nothing is refused."""
    log(tmp_path, 1, 3)
    with pytest.raises(ReproError) as error:
        load_claim(files(tmp_path, "{seed}/log.jsonl", "val", TO_2), "paper")
    said = str(error.value)
    assert "a.claim.yaml:7:88: arms.mixup.import.complete:" in said
    assert "arm 'mixup' says at which step a series is complete, and no measurement has one" in said
    assert "add `reduce: last` to the measurement, or leave `complete` out" in said


@pytest.mark.parametrize(
    "written_as", ["{}", "{step: 0}", "{step: 1, epoch: 2}", "3000", "{step: .nan}"]
)
def test_what_is_no_step_is_refused(tmp_path: Path, written_as: str) -> None:
    log(tmp_path, 1, 3)
    more = f", complete: {written_as}"
    with pytest.raises(ReproError, match=r"a.claim.yaml:7:\d\d: .*(complete|finite number)"):
        load_claim(files(tmp_path, "{seed}/log.jsonl", "val", more, LAST), "paper")


def test_evaluations_without_steps_have_no_such_key(tmp_path: Path) -> None:
    imports = '{from: inspect, path: "{seed}.eval", complete: {step: 2}}'
    with pytest.raises(ReproError, match="complete"):
        read_tables(load_claim(claim(tmp_path, imports, "match.accuracy", more=LAST), "paper"))
