"""A trainer of others, from the claim file over a killed training to the report."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from repro.cli import app
from repro.errors import CodeError, DataError, SpecError
from repro.plugins import version_of
from repro.report.write import read_document
from repro.running.grouping import Task
from repro.running.worker import run_task
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.trainer import trainer_of
from tests.extension.trainer import LeastSquares, Line

USE = "tests.extension.trainer:LeastSquares"
CONFIGURATION = f"""schema: 1
title: a line through some points
source: "made for the tests"
trainer: {{use: "{USE}"}}
points: POINTS
slope: 2.0
noise: 0.5
"""
CLAIM = """schema: 1
id: lines
title: More points give a better slope
source: {paper: mine2026, citation: "made for the tests", locator: nowhere, quote: "for the tests"}
arms:
  many: {label: many points, configuration: mine/many}
  few: {label: few points, configuration: mine/few}
design: independent
seeds: {min: 5, plan: 8}
planned_sd: {error: {sd: 0.3, why: "made for the tests of this project"}}
measurements: {error: {use: "tests.extension.trainer:SlopeError", truth: 2.0}}
expectations:
  - id: better
    kind: difference
    measurement: error
    of: [many, few]
    direction: lower
    test: welch
scales: {quick: {notice: "Lines through points, for the tests."}}
"""
KILLED = """
import os, signal, sys
import tests.extension.trainer as stranger
real, done = stranger.LeastSquares.train, []
def train(self, batch, *args, **kwargs):
    if len(done) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(batch)
    return real(self, batch, *args, **kwargs)
stranger.LeastSquares.train = train
from repro.cli import app
app(sys.argv[1:])
"""


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    """A claim about two lines, and their configurations."""
    folder = tmp_path / "claims" / "configurations" / "mine"
    folder.mkdir(parents=True)
    for name, points in (("many", 400), ("few", 8)):
        text = CONFIGURATION.replace("POINTS", str(points))
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    path = tmp_path / "claims" / "lines.yaml"
    path.write_text(CLAIM, encoding="utf-8")
    return path


def arguments(command: str, claim: Path, *more: str) -> list[str]:
    folder = claim.parents[1]
    store = ["--store", str(folder / "store"), "--device", "cpu", "--allow-code"]
    return [command, str(claim), *store, *more]


def test_from_the_plan_over_a_kill_to_the_report(claim: Path, tmp_path: Path) -> None:
    """What was finished before the kill is kept, and the rest is done by the same command."""
    planned = CliRunner().invoke(app, arguments("plan", claim))
    assert planned.exit_code == 0, planned.output
    assert "16 runs, 16 to train or measure" in planned.output
    verify = arguments(
        "verify", claim, "--reports", str(tmp_path / "reports"), "--engine", "serial"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", KILLED, *verify], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    store = RunStore(tmp_path / "store")
    kept = {
        key: store.record(key) for key in sorted(store.keys()) if store.state(key) == "finished"
    }
    assert 0 < len(kept) < 16
    done = CliRunner().invoke(app, verify)
    assert done.exit_code == 0, done.output
    assert all(store.record(key) == record for key, record in kept.items())
    document = read_document(tmp_path / "reports" / "lines" / "quick" / "report.json")
    assert document.verdict.conclusion == "CONFIRMED"
    assert [len(arm.replicates) for arm in document.arms] == [8, 8]
    assert document.arms[0].training["trainer"] == {"use": USE, "version": version_of(USE)}
    page = (tmp_path / "reports" / "lines" / "quick" / "report.html").read_text(encoding="utf-8")
    assert USE in page


def test_its_code_needs_consent(claim: Path) -> None:
    """Nothing is imported before it is given; a configuration alone may name the trainer."""
    refused = CliRunner().invoke(app, [a for a in arguments("plan", claim) if a != "--allow-code"])
    assert refused.exit_code == 2
    names = f"{USE} and tests.extension.trainer:SlopeError are code from outside repro"
    assert (
        f"lines.yaml:6:45: {names}, yours or another's, which runs with your rights"
        in refused.stderr
    )
    reported = 'error: {kind: reported, better: lower, label: "error"}'
    text = CLAIM.replace('error: {use: "tests.extension.trainer:SlopeError", truth: 2.0}', reported)
    claim.write_text(text, encoding="utf-8")
    with pytest.raises(CodeError, match=f"lines.yaml:6:45: {USE} is code from outside repro"):
        load_claim(claim, "quick")
    claim.write_text(CLAIM, encoding="utf-8")
    with pytest.raises(CodeError, match="give --allow-code"):
        load_claim(claim, "quick")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("points: 8", "points: 1", "few.yaml:5:9: points"),
        ("points: 8", "pionts: 8", "pionts"),
        ("LeastSquares", "Nothing", "few.yaml:4"),
        (f'{{use: "{USE}"}}', "least_squares", "nothing of that name is in repro.trainers"),
    ],
)
def test_mistakes_are_at_their_place(claim: Path, old: str, new: str, said: str) -> None:
    """Its keys are checked as those of the built-in trainers are."""
    path = claim.parent / "configurations" / "mine" / "few.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(SpecError) as found:
        load_claim(claim, "quick", allow_code=True)
    assert said in str(found.value)


def test_a_run_without_weights_has_not_diverged(claim: Path, tmp_path: Path) -> None:
    """The record says how it ended, and names what it left; a changed file is found."""
    loaded = load_claim(claim, "quick", allow_code=True)
    planned = loaded.runs()[0]
    assert isinstance(planned.run.training, Line)
    assert isinstance(trainer_of(planned.run.training), LeastSquares)
    store = RunStore(tmp_path / "store")
    (outcome,) = run_task(Task((planned,), store.root, None, "cpu"))
    assert outcome.status == "trained", outcome.message
    record = store.record(planned.run.key)
    assert (record.state, record.diverged, record.has_weights) == ("finished", None, False)
    assert set(record.artefacts) == {"history.jsonl", "fit.json"}
    (store.folder(planned.run.key) / "fit.json").write_bytes(b"{}")
    with pytest.raises(Exception, match=r"fit\.json: has 2 bytes"):
        store.see(planned.run.key)


def test_its_version_is_part_of_the_key(claim: Path) -> None:
    """Another edition of the module is another run."""
    training = load_claim(claim, "quick", allow_code=True).runs()[0].run.training
    assert training.trainer is not None
    other = training.trainer.model_copy(update={"version": "2"})
    assert training.model_copy(update={"trainer": other}).digest() != training.digest()


def test_a_trainer_that_is_not_there_is_told(claim: Path) -> None:
    """The name of an entry point that nobody has installed."""
    with pytest.raises(DataError, match="nothing of that name"):
        trainer_of(Line.model_construct(trainer=None, built_in="nobody"))
