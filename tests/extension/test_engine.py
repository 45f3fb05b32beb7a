"""An engine of others: by `module:Class` with consent, or by an entry point."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from repro.cli import app
from repro.errors import ClaimError, CodeError
from repro.running.budget import TimeBudget
from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.running.preflight import lacking
from repro.store.run_store import RunStore
from tests.extension.engine import FreshProcesses
from tests.running.dask_cluster import plan_of, program, started

USE = "tests.extension.engine:FreshProcesses"


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "store")


def verify(folder: Path, *options: str) -> Result:
    claim = Path(__file__).parents[1] / "specs" / "good" / "table_claim.yaml"
    line = ["verify", str(claim), "--reports", str(folder / "reports"), "--no-train"]
    return CliRunner().invoke(app, [*line, "--store", str(folder / "store"), *options])


def test_it_does_the_tasks(store: RunStore, tmp_path: Path) -> None:
    """Two programs, each below another process; what was taken is in their provenance."""
    plan = plan_of(program(tmp_path / "code"), 2)
    done = execute(plan, RunOptions(store, engine=USE, device="cpu", workers=2, allow_code=True))
    assert len(done.trained) == 2
    assert len({process for _, process, _ in started(tmp_path / "code")}) == 2
    training: Any = store.provenance(plan[0].run.key)["training"]
    assert training["engine"]["why"] == f"the default on a CPU, given out by {USE}"


def test_what_it_is_asked_has_an_answer(store: RunStore, tmp_path: Path) -> None:
    """It needs nothing, works here, and nothing that it began can be ended or counted on."""
    plan = plan_of(program(tmp_path / "code"), 1)
    assert lacking(plan, RunOptions(store, engine=USE, allow_code=True)) == []
    limited = RunOptions(store, engine=USE, allow_code=True, limit=60.0)
    with pytest.raises(ClaimError, match="--limit: a run that an engine of fresh processes gives"):
        execute(plan, limited)
    with pytest.raises(ClaimError, match="--budget: when a run that an engine of fresh processes"):
        execute(plan, RunOptions(store, engine=USE, allow_code=True), budget=TimeBudget(60.0))
    with pytest.raises(ClaimError, match="--scheduler"):
        RunOptions(store, engine=USE, allow_code=True, scheduler="tcp://here:1")


def test_it_needs_consent(store: RunStore, tmp_path: Path) -> None:
    """Before anything is done, from a command and from Python."""
    refused = verify(tmp_path, "--engine", USE)
    assert refused.exit_code == 2
    assert f"--engine: {USE} is code from outside repro" in refused.stderr
    assert verify(tmp_path, "--engine", USE, "--allow-code").exit_code != 2
    with pytest.raises(CodeError):
        RunOptions(store, engine=USE)


def test_an_installed_package_needs_no_consent(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment is the user's own: the name of an entry point is enough."""
    point = EntryPoint("fresh", USE, "repro.engines")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: (point,))
    assert RunOptions(store, engine="fresh").engine_class is FreshProcesses


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("proceses", "did you mean 'processes'?"),
        ("no_such_module:X", "No module named 'no_such_module'"),
        ("tests.extension.report_format:plain", "this is no engine"),
    ],
)
def test_what_is_no_engine_is_refused(tmp_path: Path, name: str, said: str) -> None:
    """Before anything is done, with what to do."""
    refused = verify(tmp_path, "--engine", name, "--allow-code")
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert "to do: " in refused.stderr
    assert not (tmp_path / "reports").exists()
