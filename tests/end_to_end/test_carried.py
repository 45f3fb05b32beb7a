"""A run that is begun on one machine and ends on another: the end of benchmarks/gpu.md, small."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from repro.running.budget import TimeBudget
from repro.running.worker import number
from repro.store.run_store import RunStore
from repro.workflows import verify
from tests.commands import repro

ROOT = Path(__file__).parents[2]
EPOCHS = 60
CLAIM = f"""schema: 1
id: tiny
title: A tiny Softmax has a finite perplexity
source: {{own: "made to be carried; nothing is claimed"}}
arms:
  softmax:
    label: Softmax
    configuration: quick/softmax
    override:
      corpus: {{vocabulary: 50, tokens: {{train: 2000, valid: 300, test: 400}}}}
      model: {{embedding_size: 6, hidden_size: 6, context_size: 6}}
      recipe: {{epochs: {EPOCHS}, batch_size: 10}}
design: independent
seeds: {{min: 2, plan: 2}}
measurements:
  test: {{kind: perplexity, split: test, batch_size: 10}}
expectations:
  - {{id: finite, kind: bound, measurement: test, of: [softmax],
     at_most: {{value: 1000, why: "twenty times the vocabulary"}}}}
scales: {{quick: {{notice: "A tiny model, to be carried."}}}}
"""

# a sitecustomize.py: who trains tells every step, and waits in the third epoch to be ended
STANDS_STILL = """
import time
from repro.running import worker
worker.INTERVAL, told = 0.0, worker.RunLog.training
def training(log, state):
    told(log, state)
    if state.epoch > 2:
        time.sleep(300)
worker.RunLog.training = training
"""


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "claims/configurations/quick", tmp_path / "configurations/quick")
    path = tmp_path / "tiny.claim.yaml"
    path.write_text(CLAIM, encoding="utf-8")
    return path


def test_a_claim_that_was_begun_elsewhere_is_judged_as_one_that_never_stopped(
    claim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`verify --budget`, `runs export --unfinished`, `runs import`, and `verify` again."""
    stores = {name: RunStore(tmp_path / name) for name in ("first", "second", "whole")}

    def verified(name: str, *more: str) -> tuple[int, str]:
        places = ("--store", tmp_path / name, "--reports", tmp_path / f"{name} reports")
        common = ("--scale", "quick", "--device", "cpu", "--engine", "processes", "--workers", "1")
        done = repro("verify", claim, *common, *places, *more)
        return done.returncode, done.stdout + done.stderr

    def clock() -> float:
        """It stands still until the third epoch, and then the budget is over."""
        store = stores["first"]
        told = [store.progress(key) or {"epoch": 0} for key in store.keys()]  # noqa: SIM118
        epochs = [number(each["epoch"]) for each in told]
        return 1e4 if max(epochs, default=0.0) > 2 else 0.0

    with monkeypatch.context() as patched:
        patched.setattr(verify, "TimeBudget", lambda seconds: TimeBudget(seconds, clock))
        (tmp_path / "start").mkdir()
        (tmp_path / "start" / "sitecustomize.py").write_text(STANDS_STILL, encoding="utf-8")
        paths = [str(tmp_path / "start"), *filter(None, [os.environ.get("PYTHONPATH")])]
        patched.setenv("PYTHONPATH", os.pathsep.join(paths))
        said = verified("first", "--budget", "8min")[1]
    assert "it goes on from its checkpoint the next time" in said
    to = tmp_path / "carried"
    export = ("runs", "export", claim, "--scale", "quick", "--unfinished", "--part-size", "4kB")
    done = repro(*export, "--to", to, "--store", tmp_path / "first")
    assert done.stdout == f"1 unfinished run exported in parts to {to}\n"
    (key,) = stores["first"].keys()
    assert len(list((to / key).glob("*.part"))) > 1
    again = repro(*export, "--to", to, "--store", tmp_path / "first")
    assert (again.returncode, "name another folder" in again.stderr) == (4, True)
    done = repro("runs", "import", to, "--store", tmp_path / "second")
    assert done.stdout == "1 run imported, 1 unfinished\n"
    assert "CONFIRMED" in verified("second")[1]
    assert "CONFIRMED" in verified("whole")[1]
    assert stores["second"].record(key) == stores["whole"].record(key)
    assert len(stores["second"].history(key)) == EPOCHS
    training: Any = stores["second"].provenance(key)["training"]
    assert training["sessions"] == 2
