"""Folders as the programs of other people leave them, read by `repro compare`."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import yaml

from repro.specs.load import load_claims
from tests.commands import repro

LEFT = "all_results.json"


def accuracy(arm: str, seed: int) -> float:
    return {"1e-3": 0.85, "1e-4": 0.8}[arm] + random.Random(f"{arm}{seed}").gauss(0, 0.01)


def runs(template: str, crashed: tuple[str, int] | None = None) -> None:
    """A folder per run; one that crashed has a log and no results."""
    for arm in ("1e-3", "1e-4"):
        for seed in range(5):
            folder = Path(template.format(arm=arm, seed=seed))
            folder.mkdir(parents=True)
            if (arm, seed) == crashed:
                (folder / "train.log").write_text("Killed\n")
            else:
                (folder / LEFT).write_text(json.dumps({"acc": accuracy(arm, seed)}))


@pytest.mark.parametrize(
    ("template", "arms"),
    [
        ("runs/lr{arm}-seed{seed}", "lr1e-3 5, lr1e-4 5"),
        ("runs/lr{arm}_s{seed}", "lr1e-3 5, lr1e-4 5"),
        ("runs/lr={arm},seed={seed}", "lr=1e-3 5, lr=1e-4 5"),
        ("runs/{seed}-lr{arm}", "lr1e-3 5, lr1e-4 5"),
        ("runs/lr_{arm}/seed_{seed}", "lr_1e-3 5, lr_1e-4 5"),
        ("runs/{arm}/{seed}", "1e-3 5, 1e-4 5"),
    ],
)
def test_an_arm_is_called_by_the_whole_number_in_its_path(template: str, arms: str) -> None:
    runs(template)
    done = repro("compare", "runs", "--better", "higher", "--json")
    assert f"read: n, the seeds per arm: {arms}\n" in done.stderr
    (claim,) = load_claims([Path()])
    assert claim.expectations[0].direction == "different"  # type: ignore[attr-defined]
    assert json.loads(done.stdout)["verdict"]["conclusion"] == "CONFIRMED"


@pytest.mark.parametrize("template", ["runs/lr={arm}/{seed}", "runs/lr={arm}/seed_{seed}"])
def test_a_run_that_left_no_results_is_missing(template: str) -> None:
    """Without a verdict: what is left of an arm flatters it."""
    runs(template, crashed=("1e-4", 2))
    done = repro("compare", "runs", "--better", "higher")
    assert "lr=1e-4 4 (and 1 missing)" in done.stdout
    assert "INCOMPLETE" in done.stdout
    assert done.returncode == 3


def with_settings(folder: Path, settings: str, arm: str, seed: int) -> None:
    """A run whose settings lie beside its results, its arm and its seed among them."""
    beside = folder / settings
    beside.parent.mkdir(parents=True)
    beside.write_text(f"optim:\n  lr: {float(arm)}\nseed: {seed}\n")
    if (arm, seed) != ("1e-4", 4):  # which was killed
        table = f"epoch,train_loss,val_acc\n0,,{accuracy(arm, seed)}\n1,0.3,\n"
        (folder / "metrics.csv").write_text(table)


@pytest.mark.parametrize(
    ("template", "settings"),
    [
        ("results/lightning_logs/version_{number}", "hparams.yaml"),
        ("results/multirun/2026-01-01/10-00-00/{number}", ".hydra/config.yaml"),
        ("results/outputs/2026-01-{day:02}/{hour:02}-{number:02}-07", ".hydra/config.yaml"),
    ],
)
def test_settings_beside_the_results_tell_the_arms_apart(template: str, settings: str) -> None:
    """Of Lightning, and of hydra, whose folders are named by the time."""
    every = [(arm, seed) for arm in ("1e-3", "1e-4") for seed in range(5)]
    for number, (arm, seed) in enumerate(every):
        folder = Path(template.format(number=number, day=1 + number // 6, hour=number // 2))
        with_settings(folder, settings, arm, seed)
    done = repro("compare", "results", "--better", "higher", "--arm", "optim.lr")
    assert f"settings from the file {settings} beside each" in done.stdout
    assert "read: seeds by the field 'seed'" in done.stdout
    assert "0.001 5, 0.0001 4 (and 1 missing)" in done.stdout
    assert "INCOMPLETE" in done.stdout
    claim = yaml.safe_load(next(Path().glob("*.claim.yaml")).read_text())
    assert {arm["import"]["fields"] for arm in claim["arms"].values()} == {settings}


def test_a_pattern_is_no_path() -> None:
    runs("runs/lr={arm}/{seed}")
    done = repro("compare", f"runs/*/*/{LEFT}", "--better", "higher")
    assert done.returncode == 2
    assert "to do: give the folder above, runs" in done.stderr
