"""A defect of the program: status 70, the claim named, and the reports of the others written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner, Result

import repro.judging.assemble
import repro.judging.design_power
import repro.judging.judge
import repro.report.write
import repro.specs.load
import repro.specs.scaled
from repro.cli import app
from repro.errors import StoreError
from repro.workflows.verify import Verified
from tests.faults.tables import FAMILY, table_claim

STAGES = {
    "judging": (repro.judging.judge, "judge_claim"),
    "document": (repro.judging.assemble, "document_of"),
    "writing": (repro.report.write, "rendered"),
}


def crashing(monkeypatch: pytest.MonkeyPatch, stage: str, error: Exception, of: str) -> None:
    """Let one stage raise ``error`` for one claim."""
    module, name = STAGES[stage]
    function: Callable[..., Any] = getattr(module, name)

    def crash(one: Any, *arguments: Any, **how: Any) -> Any:
        claim = one if hasattr(one, "id") else one.claim
        if claim.id == of:
            raise error
        return function(one, *arguments, **how)

    monkeypatch.setattr(module, name, crash)


def verify(folder: Path, *more: str) -> Result:
    """`repro verify` of the claims of a folder."""
    places = ["--reports", str(folder / "reports"), "--store", str(folder / "store")]
    return CliRunner().invoke(app, ["verify", str(folder), *places, *more])


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("victim", ["first", "second"])
def test_a_claim_that_crashes_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, victim: str
) -> None:
    """Reports, index, summary and JSON of the other claim are there, and name the crash."""
    for name in ("first", "second"):
        table_claim(tmp_path, name)
    other = "second" if victim == "first" else "first"
    crashing(monkeypatch, stage, KeyError("curve"), victim)
    done = verify(tmp_path, "--json", "--summary", str(tmp_path / "summary.md"))
    assert done.exit_code == 70, done.output
    assert f"{victim} (quick): repro itself failed: KeyError in " in done.stderr
    assert "Traceback" not in done.stderr
    failed = tmp_path / "reports" / victim / "quick" / "failed.txt"
    assert f"the traceback is in {failed}" in done.stderr
    assert "Traceback (most recent call last)" in failed.read_text()
    assert [one["claim"]["id"] for one in json.loads(done.stdout)] == [other]
    folder = tmp_path / "reports" / other / "quick"
    assert {each.name for each in folder.iterdir()} == {
        "report.json", "report.html", "report.pdf", "junit.xml", "values.csv",
    }  # fmt: skip
    index = (tmp_path / "reports" / "index.html").read_text()
    assert "Not judged" in index
    assert f"{victim}/quick/failed.txt" in index
    assert f"{other}/quick/report.html" in index
    text = (tmp_path / "summary.md").read_text()
    assert f"### Not judged\n\n- **{victim} (quick).** repro itself failed: KeyError" in text
    assert f"({other})" in text
    suite = ET.parse(failed.with_name("junit.xml")).getroot()[0]
    assert (suite.get("name"), suite.get("errors"), suite.get("tests")) == (
        f"{victim}.quick",
        "1",
        "1",
    )


def test_after_a_crash_an_older_report_is_not_shown_as_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index names the failure instead of the older report; a sound verify takes it back."""
    table_claim(tmp_path, "first")
    assert verify(tmp_path).exit_code == 0
    with monkeypatch.context() as patch:
        patch.setenv("REPRO_CACHE", "/dev/null")  # else the older report is still valid
        crashing(patch, "judging", ZeroDivisionError("x"), "first")
        assert verify(tmp_path).exit_code == 70
    index = tmp_path / "reports" / "index.html"
    assert "0 verdicts" in index.read_text()
    assert "first/quick/failed.txt" in index.read_text()
    assert verify(tmp_path).exit_code == 0
    assert "1 verdict: 1 CONFIRMED" in index.read_text()
    assert not (tmp_path / "reports" / "first" / "quick" / "failed.txt").exists()


def test_a_member_of_a_family_that_crashes_counts_as_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other is judged among two members, of which one found nothing."""
    for name in ("first", "second"):
        table_claim(tmp_path, name, more=FAMILY)
    crashing(monkeypatch, "judging", ValueError("x"), "first")
    assert verify(tmp_path).exit_code == 70
    report = json.loads((tmp_path / "reports" / "second" / "quick" / "report.json").read_text())
    assert [(one["claim"], one["judged"]) for one in report["family"]["members"]] == [
        ("first", False), ("second", True),
    ]  # fmt: skip


def test_evidence_that_cannot_be_used_stops_its_claim_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user can fix keeps its own status, and is no crash."""
    for name in ("first", "second"):
        table_claim(tmp_path, name)
    crashing(monkeypatch, "judging", StoreError("record.json: is damaged"), "first")
    done = verify(tmp_path)
    assert done.exit_code == 4
    assert "first (quick): record.json: is damaged" in done.stderr
    assert "repro itself failed" not in done.output
    assert (tmp_path / "reports" / "second" / "quick" / "report.html").exists()


def test_the_traceback_is_shown_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """REPRO_DEBUG=1 prints what a developer needs."""
    table_claim(tmp_path)
    crashing(monkeypatch, "judging", KeyError("curve"), "first")
    monkeypatch.setenv("REPRO_DEBUG", "1")
    assert "Traceback (most recent call last)" in verify(tmp_path).stderr


def test_a_crash_of_any_command_is_status_70(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no command expects is named by class, place and text, and is no verdict."""

    def crash(*_: object) -> None:
        raise RuntimeError("boom\n::error::forged")

    monkeypatch.setattr("repro.workflows.doctor.examine", crash)
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 70
    assert "repro itself failed: RuntimeError in repro/" in done.stderr
    assert not any(line.strip().startswith("::") for line in done.stderr.splitlines())
    assert "REPRO_DEBUG=1" in done.stderr
    assert "Traceback" not in done.output


def test_a_plan_names_the_claim_that_crashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And plans the others."""
    for name in ("first", "second"):
        table_claim(tmp_path, name)
    real = repro.judging.design_power.design_parts

    def crash(claim: Any) -> Any:
        if claim.id == "first":
            raise OverflowError("x")
        return real(claim)

    monkeypatch.setattr("repro.judging.design_power.design_parts", crash)
    done = CliRunner().invoke(app, ["plan", str(tmp_path), "--store", str(tmp_path / "store")])
    assert done.exit_code == 70
    assert "first (quick): repro itself failed: OverflowError" in done.stderr
    assert "second (quick)" in done.stdout


def crashing_load(monkeypatch: pytest.MonkeyPatch, of: str) -> None:
    """Let loading meet a defect at one claim."""
    scale_claim = repro.specs.scaled.scale_claim

    def crash(document: Any, file: Any, *arguments: Any) -> Any:
        if file.id == of:
            raise KeyError("eror")
        return scale_claim(document, file, *arguments)

    monkeypatch.setattr(repro.specs.load, "scale_claim", crash)


@pytest.mark.parametrize("command", ["verify", "plan", "check"])
def test_a_claim_that_cannot_be_loaded_takes_no_other_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Status 70, its file, and what is said of the other as ever."""
    for name in ("first", "second"):
        table_claim(tmp_path, name)
    crashing_load(monkeypatch, "first")
    places = ["--reports", str(tmp_path / "reports")] if command == "verify" else []
    store = [] if command == "check" else ["--store", str(tmp_path / "store")]
    done = CliRunner().invoke(app, [command, str(tmp_path), *places, *store])
    assert done.exit_code == 70, done.output
    assert f"{tmp_path / 'first.yaml'}: repro itself failed: KeyError in " in done.stderr
    assert "second" in done.stdout
    if command == "verify":
        assert "second (quick): VALID" in done.stdout


@pytest.mark.parametrize("command", ["verify", "audit", "try", "gate"])
def test_a_crash_in_loading_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Where a command is about one claim too."""
    table_claim(tmp_path, "first")
    crashing_load(monkeypatch, "first")
    file = tmp_path / "first.yaml"
    done = CliRunner().invoke(app, [command, str(file)])
    assert done.exit_code == 70
    assert f"{file}: repro itself failed: KeyError in " in done.stderr


@pytest.mark.parametrize("counted", ["trained", "reused", "missing", "damaged", "read"])
def test_runs_are_told_of_although_no_report_could_be_written(counted: str) -> None:
    """A claim that stopped has no document, and what was trained for it is not nothing."""
    counts: Any = {"trained": 0, "reused": 0, "missing": 0, counted: 6}
    assert Verified((), **counts).of_runs
    assert not Verified((), **{**counts, counted: 0}).of_runs
