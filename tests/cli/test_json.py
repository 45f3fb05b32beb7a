"""`--json` everywhere: stdout is one document, whatever comes of the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repro.cli import app
from repro.store.run_store import RunStore
from tests.commands import repro
from tests.drafting.test_new import GIVEN, RUNS, TABLE
from tests.specs.test_scales import put
from tests.tuning import searches
from tests.workflows.test_gate import claim

BAD = Path(__file__).parents[1] / "specs" / "bad" / "negative_margin.yaml"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPRO_STORE", str(tmp_path / "store"))


def said(*arguments: str | Path, status: int = 0) -> Any:
    """The document on stdout."""
    done = repro(*arguments, "--json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def test_every_command_has_it() -> None:
    """But `schema`, which prints nothing else."""
    (runs,) = app.registered_groups
    assert runs.typer_instance is not None
    commands = [*app.registered_commands, *runs.typer_instance.registered_commands]
    without = {each.callback.__name__ for each in commands if each.callback} - {
        each.callback.__name__
        for each in commands
        if each.callback and "json" in each.callback.__annotations__
    }
    assert without == {"schema"}


@pytest.mark.parametrize(
    "arguments",
    [
        *((name, BAD) for name in ("verify", "plan", "gate", "try", "measure")),
        ("compare", "none.csv", "--better", "lower"),
        ("new", "--from", "none.csv", "--better", "lower"),
        ("tune", BAD),
        ("report", BAD),
        ("rank", "none.npy"),
        ("similarity", "none.txt"),
        ("audit", "none.csv"),
        ("corpus", "none"),
        ("runs", "check", BAD),
        ("runs", "export", BAD, "--to", "elsewhere"),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:2])).replace(str(BAD), "FILE"),
)
def test_what_stops_a_command_is_an_object(arguments: tuple[str | Path, ...]) -> None:
    """With the status, and the message that stderr has."""
    done = repro(*arguments, "--json")
    found = json.loads(done.stdout)
    assert found["status"] == done.returncode > 1
    assert found["error"].splitlines()[0] in done.stderr
    first = found["problems"][0]
    assert first["what"]
    assert first["to_do"] or "to do" not in done.stderr
    if BAD in arguments and arguments[0] != "report":
        assert (first["file"], first["line"] > 0, bool(first["what"])) == (str(BAD), True, True)


def test_code_without_consent_is_an_object(tmp_path: Path) -> None:
    """A gate that has run nothing has no word; and what is refused leaves nothing behind."""
    file = claim(tmp_path, 1.0)
    lines = file.read_text(encoding="utf-8").splitlines()
    (place,) = (n for n, line in enumerate(lines, 1) if line.startswith("  candidate: "))
    found = said("gate", file, status=2)
    assert "--allow-code" in found["error"]
    assert "word" not in found
    there = set(Path().rglob("*"))
    for command in ("verify", "gate", "try"):
        found = said(command, file, status=2)
        problem = found["problems"][0]
        assert (problem["file"], problem["line"]) == (str(file), place)
        assert "code from outside repro" in problem["what"]
        assert "--allow-code" in problem["to_do"]
    assert set(Path().rglob("*")) == there


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "--nope"), "No such option: --nope"),
        (("compare",), "Missing argument"),
        (("compare", "x.csv"), "Invalid value for --better: needed"),
        (("compare", "x.csv", "--better", "nope"), "'nope' is not one of"),
        (("verify", "x.yaml", "--workers", "0"), "greater than or equal to 1"),
        (("runs", "export"), "Missing option '--to'"),
    ],
)
def test_a_mistake_in_the_arguments_is_an_object(arguments: tuple[str, ...], words: str) -> None:
    """Wherever `--json` stands; and stderr is as it is without."""
    before = [each for each in arguments if each in ("verify", "compare", "runs", "export")]
    for line in ((*arguments, "--json"), (*before, "--json", *arguments[len(before) :])):
        done = repro(*line)
        found = json.loads(done.stdout)
        assert found["status"] == done.returncode == 2
        (problem,) = found["problems"]
        assert words in problem["what"] == found["error"]
        assert "--help" in problem["to_do"]
        assert "Usage: " in done.stderr
    assert repro(*arguments).stdout == ""


@pytest.mark.parametrize("arguments", [("zzz",), ("runs", "zzz")])
def test_a_command_that_is_none_is_an_object(arguments: tuple[str, ...]) -> None:
    done = repro(*arguments, "--json")
    found = json.loads(done.stdout)
    assert (found["error"], found["status"]) == ("No such command 'zzz'.", 2)
    assert "No such command" in done.stderr


def test_a_crash_and_an_interruption_are_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, status in ((ZeroDivisionError("none"), 70), (KeyboardInterrupt(), 130)):

        def failing(*_: Any, raised: BaseException = error, **__: Any) -> Any:
            raise raised

        monkeypatch.setattr("repro.workflows.doctor.examine", failing)
        found = said("doctor", status=status)
        assert (found["status"], bool(found["error"])) == (status, True)


def test_new_says_what_is_open() -> None:
    Path("results.csv").write_text(TABLE)
    Path("train.py").write_text("print(1)\n")
    found = said("new", "--from", "results.csv", "--better", "lower")
    assert found["files"] == ["b_vs_base.claim.yaml"]
    assert "seeds by the field 'seed'" in found["read"]
    assert {each["file"] for each in found["to_fill_in"]} == {"b_vs_base.claim.yaml"}
    found = said("new", "--command", RUNS, "--better", "lower", *GIVEN)
    assert found["files"] == ["lower_value.claim.yaml"]


def test_plan_and_try(tmp_path: Path) -> None:
    """The runs and designs; the numbers of one run."""
    file = claim(tmp_path, 1.0)
    planned = said("plan", file, "--allow-code")
    assert (planned["missing"], len(planned["runs"])) == (10, 10)
    assert {each["state"] for each in planned["runs"]} == {"missing"}
    (each,) = planned["claims"]
    assert (each["claim"], each["designs"][0]["expectation"]) == ("candidate", "better")
    tried = said("try", file, "--allow-code", "--arm", "baseline")
    assert tried["values"].keys() == {"error"} == tried["left"].keys()
    assert (tried["failures"], tried["diverged"]) == ([], False)


def test_report_and_runs(tmp_path: Path) -> None:
    repro("verify", put(tmp_path))
    (report,) = Path("reports").rglob("report.json")
    found = said("report", report)
    assert str(report.with_name("report.html")) in found["files"]
    RunStore(tmp_path / "store").prepare()
    found = said("runs", "check")
    assert found == {"read": 0, "unfinished": 0, "damages": [], "outputs": 0}
    found = said("runs", "export", "--to", "copy")
    assert (found["to"], found["copied"]) == ("copy", 0)


def test_doctor_and_corpus(tmp_path: Path) -> None:
    for split in ("train", "valid", "test"):
        Path(f"{split}.txt").write_text("a b a\n")
    assert said("corpus", tmp_path)["corpus"]["vocabulary"] > 1
    done = repro("doctor", "--json")
    assert {"state", "what", "to_do"} == json.loads(done.stdout)["found"][0].keys()


def test_tune_says_what_it_would_try(tmp_path: Path) -> None:
    found = said("tune", searches.written(tmp_path), "--dry-run")
    assert found["runs"] == found["settings"] * found["seeds"]
