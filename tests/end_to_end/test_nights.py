"""Nights as cron gives them: `repro verify FOLDER --nightly`, again and again.

In this process, which takes a second less each time; ``test_verify`` gives the same command as a
user does.
"""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.commands import repro
from tests.end_to_end.test_verify import CLAIMS, command, copy_shorter

NIGHTLY = Path(__file__).parent / "nightly"


def run(place: Path, *arguments: str | Path) -> CompletedProcess[str]:
    """Verify on the CPU, with store and reports below ``place``."""
    return repro(*command(place, *arguments, "--engine", "serial")[3:])


def claims(place: Path) -> Path:
    """The nightly claims, beside the configurations that they name."""
    folder = place / "claims"
    if not folder.exists():
        copy_shorter(NIGHTLY, folder)
    return folder


def night(place: Path, *more: str) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """Status, and the documents of the sequential claim and of the control."""
    done = run(place, claims(place), *more)
    assert "Traceback" not in done.stderr
    documents = [
        json.loads((place / "reports" / name / "quick" / "report.json").read_text(encoding="utf-8"))
        for name in ("tiny_nightly", "tiny_control")
    ]
    return done.returncode, *documents


def seeds(document: dict[str, Any]) -> list[int]:
    """The numbers of the replicates of the last arm."""
    return [one["number"] for one in document["arms"][1]["replicates"]]


def test_two_nights_and_a_day(tmp_path: Path) -> None:
    """A pair more and fresh controls on the second night; by day the same again, and no look."""
    _, first, control = night(tmp_path, "--nightly")
    assert seeds(first) == [0, 1, 2, 3]
    assert seeds(control) == [5000, 5001, 5002]
    status, second, control = night(tmp_path, "--nightly")
    more = first["sequential"][0]["stop"] == "go on"
    assert seeds(second) == list(range(5 if more else 4))
    assert seeds(control) == [5003, 5004, 5005]
    assert control["control"]["nights"] == 2
    log = (tmp_path / "store" / "looks" / "tiny_nightly" / "quick.jsonl").read_bytes()
    assert log.count(b'"kind":"look"') == 1 + more
    again, day, by_day = night(tmp_path)
    assert again == status
    assert day["verdict"] == second["verdict"]
    assert seeds(by_day) == seeds(control)
    kept = tmp_path / "store" / "looks" / "tiny_nightly" / "quick.jsonl"
    assert kept.read_bytes() == log


def test_a_design_that_cannot_decide_trains_nothing(tmp_path: Path) -> None:
    """Status 2 with what would do, and no store; with --force it is run."""
    folder = claims(tmp_path)
    text = (CLAIMS / "tiny_fair.yaml").read_text(encoding="utf-8")
    weak = "planned_sd: {test_perplexity: {sd: 9, why: 'made for this test'}}\nmeasurements:"
    path = folder / "tiny_fair.yaml"
    path.write_text(text.replace("measurements:", weak, 1), encoding="utf-8")
    done = run(tmp_path, path)
    assert done.returncode == 2
    assert "tiny_fair.yaml: 'not_better': 3 replicates give non-superiority a power of" in (
        done.stderr
    )
    assert "--force" in done.stderr
    assert not (tmp_path / "store").exists()
    forced = run(tmp_path, path, "--force")
    assert forced.returncode in (0, 1, 3)
    assert "forced design" in forced.stdout


def test_a_budget_carries_runs_over_to_the_next_night(tmp_path: Path) -> None:
    """What does not fit is no failure: INCOMPLETE, and said on stderr, in report and summary."""
    claim, summary = claims(tmp_path) / "tiny_nightly.yaml", tmp_path / "summary.md"
    done = run(tmp_path, claim, "--budget", "0.001s", "--summary", summary)
    assert done.returncode == 3
    assert "left for the next time: " in done.stderr
    assert "not started: the budget of" in done.stderr
    folder = tmp_path / "reports" / "tiny_nightly" / "quick"
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["verdict"]["validity"] == "INCOMPLETE"
    assert "the budget of" in " ".join(report["provenance"]["postponed"])
    text = summary.read_text(encoding="utf-8")
    assert "### Left for the next time\n\n- " in text
    assert text.index("Left for the next time") > text.index("### Not as expected")
    assert "INCOMPLETE" in text
    second = run(tmp_path, claim, "--budget", "1h")
    assert second.returncode in (0, 1, 3)
    assert "left for" not in second.stderr
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["verdict"]["validity"] == "VALID"
    assert report["provenance"]["postponed"] == []


def test_a_budget_that_is_no_time(tmp_path: Path) -> None:
    """A message with an example, and nothing is made."""
    done = run(tmp_path, claims(tmp_path), "--budget", "2 days")
    assert done.returncode == 2
    assert "--budget: '2 days' is no time" in done.stderr
    assert not (tmp_path / "reports").exists()
