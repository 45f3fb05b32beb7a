"""A verdict that changed overnight: seen in every place, on every sort of evidence, by a status."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from repro.errors import StoreUnreachableError
from repro.report.index import line
from repro.report.write import read_document
from tests.commands import repro
from tests.faults.tables import table_claim
from tests.trainers.command import toy

LOW = {"a": (88.2, 88.5, 88.0, 88.8, 88.4), "b": (88.1, 88.6, 87.9, 88.9, 88.3)}
"""Values of which nobody can tell which arm is higher."""

Verify = Callable[..., CompletedProcess[str]]
Scene = tuple[Verify, Callable[[], object], Path, str]
"""How it is verified, what changes, the folder of the report, and what is said of the change."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A claim on a table, which is written again."""
    del monkeypatch
    path = table_claim(tmp_path)
    why = "the values of five seeds of a were changed"
    return verify(path), lambda: table_claim(tmp_path, values=LOW), report_of("first"), why


def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A claim that reads a file for each run, of which one is written again."""
    del monkeypatch
    path = table_claim(tmp_path)
    text = path.read_text().replace(
        "table: first.csv", "import: {from: files, path: 'ARM/{seed}.json'}"
    )
    for arm, values in {"a": (91.2, 91.9, 91.4, 92.3, 91.7), "b": LOW["b"]}.items():
        text = text.replace("'ARM/", f"'runs/{arm}/", 1)
        Path("runs", arm).mkdir(parents=True)
        for seed, value in enumerate(values):
            Path("runs", arm, f"{seed}.json").write_text(json.dumps({"score": value}))
    path.write_text(text)

    def again() -> None:
        Path("runs/a/3.json").write_text(json.dumps({"score": 11.0}))

    return verify(path), again, report_of("first"), "the values of one seed of a were changed"


def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A claim that came with repro, of another place after each upgrade."""
    places = [tmp_path / "old", tmp_path / "new"]
    for place, values in zip(places, (None, LOW), strict=True):
        place.mkdir()
        table_claim(place, "shipped", values)
    at = iter(places)

    def upgrade() -> None:
        place = next(at)
        for module in ("repro.specs.claim_files", "repro.registry.verdicts"):
            monkeypatch.setattr(f"{module}.claims", lambda: place)

    upgrade()
    why = "the values of five seeds of a were changed"
    return verify(Path("shipped")), upgrade, report_of("shipped"), why


def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A program that is run, and edited."""
    del monkeypatch
    Path("code").mkdir()
    toy.program(tmp_path, toy.LEAVES)
    Path("a.claim.yaml").write_text(toy.CLAIM)
    edited = toy.LEAVES.replace("0.5 if given.optimizer", "0.0 if given.optimizer")

    def verified(*more: str) -> CompletedProcess[str]:
        return toy.verify(tmp_path, *more)

    why = "train.py was edited"
    return verified, lambda: toy.program(tmp_path, edited), report_of("adamw_better"), why


def verify(claim: Path) -> Verify:
    return lambda *more: repro("verify", claim, *more)


def report_of(name: str) -> Path:
    return Path("reports", name, "quick")


@pytest.mark.parametrize("scene", [table, imported, packaged, trained])
def test_a_flip_is_seen_in_every_place(
    scene: Callable[..., Scene], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First what it was and why it changed, with a status of its own; once, and not again."""
    verified, change, folder, why = scene(tmp_path, monkeypatch)
    assert verified().returncode == 0
    assert "Was" not in (folder / "report.html").read_text()
    change()
    done = verified("--format", "github", "--summary", "summary.md")
    assert done.returncode == 6, done.stdout + done.stderr
    document = read_document(folder / "report.json")
    now = document.verdict.conclusion
    assert now != "CONFIRMED"
    flip = line(document).flip
    assert flip.startswith("Was CONFIRMED on ")
    assert f", now {now}: " in flip
    assert why in flip
    annotation, first, second, *_ = done.stdout.splitlines()
    assert annotation.startswith("::error file=")
    assert flip in annotation
    assert first == f"{document.claim.id} (quick): {flip}"
    assert second.startswith(f"{document.claim.id} (quick): VALID, {now}")
    assert done.stdout.splitlines()[-1].startswith("status 6: ")
    assert flip in Path("summary.md").read_text().splitlines()[0].replace("\\", "")
    assert flip in (folder / "report.html").read_text()
    assert failures(folder) == [("FLIP", flip), *failures(folder)[1:]]
    before = (folder / "report.json").read_bytes()
    again = verified("--format", "github")
    assert again.returncode == (3 if now == "INCONCLUSIVE" else 1)
    assert "Was" not in again.stdout
    assert "Was" not in (folder / "report.html").read_text()
    assert (folder / "report.json").read_bytes() != before


def failures(folder: Path) -> list[tuple[str | None, str | None]]:
    found = ET.parse(folder / "junit.xml").getroot().iter("failure")
    return [(each.get("type"), each.get("message")) for each in found]


def test_a_comparison_that_flips(tmp_path: Path) -> None:
    """The same path with new rows is the same claim; what it plans now is no cause of its own."""
    del tmp_path
    rows = ["1,90.1,92.3", "2,90.4,92.1", "3,90.0,92.6", "4,90.3,92.2"]
    write = Path("mine.csv").write_text
    write("\n".join(("seed,base,ours", *rows)))
    given = ("compare", "mine.csv", "--better", "higher", "--by", "0.2", "--format", "github")
    assert repro(*given).returncode == 0
    write("\n".join(("seed,base,ours", *rows, "5,90.1,80.3", "6,90.2,92.4")))
    done = repro(*given)
    assert done.returncode == 6
    assert "now INCONCLUSIVE: two seeds were added.\n" in done.stdout
    assert done.stdout.startswith("::error file=ours_vs_base.claim.yaml,line=1,title=ours_vs_base")
    table = repro("history", "ours_vs_base.claim.yaml").stdout.splitlines()
    assert [" ".join(row.split()[2:3]) for row in table[2:]] == ["CONFIRMED", "INCONCLUSIVE"]
    assert table[-1].endswith("two seeds were added")


def test_what_is_expected_is_no_failure(tmp_path: Path) -> None:
    """A flip to what the file expects is told, and ends with 0."""
    path = table_claim(tmp_path, values=LOW)
    assert repro("verify", path).returncode == 3
    table_claim(tmp_path)
    done = repro("verify", path, "--format", "github")
    assert done.returncode == 0
    assert done.stdout.startswith("::notice file=")
    assert "Was INCONCLUSIVE on" in done.stdout
    assert failures(report_of("first")) == []


def test_only_what_changed_is_kept(tmp_path: Path) -> None:
    """Not the same again, nor what is judged without training, nor a report rendered again."""
    path = table_claim(tmp_path)
    for _ in range(2):
        repro("verify", path)
    table_claim(tmp_path, values=LOW)
    assert repro("verify", path, "--no-train").returncode == 6
    repro("report", report_of("first"))
    assert len(kept()) == 1
    repro("verify", path)
    assert [entry["conclusion"] for entry in kept()] == ["CONFIRMED", "INCONCLUSIVE"]


def kept() -> list[dict[str, Any]]:
    (file,) = Path("store/verdicts").glob("*/*.jsonl")
    return [json.loads(row) for row in file.read_text().splitlines()]


def test_one_id_in_two_folders_is_two_claims(tmp_path: Path) -> None:
    """They share a store, and not their history."""
    for name, values in (("one", None), ("other", LOW)):
        (tmp_path / name).mkdir()
        path = table_claim(tmp_path / name, values=values)
        assert repro("verify", path, "--reports", name).returncode != 6
    assert len(list(Path("store/verdicts").iterdir())) == 2


def test_results_of_ones_own_have_a_history(tmp_path: Path) -> None:
    """Of the claim on these results; on others it is another one."""
    path, given = table_claim(tmp_path), ("--results", "mine.csv")
    shutil.copy("first.csv", "mine.csv")
    assert repro("verify", path, *given).returncode == 0
    table_claim(tmp_path, "mine", LOW)
    assert repro("verify", path, *given).returncode == 6
    assert len(json.loads(repro("history", path, *given, "--json").stdout)["scales"]["quick"]) == 2
    assert repro("history", path).stdout.startswith("first: no verdict on it is kept in ")


def test_a_store_that_cannot_be_written_is_noted(tmp_path: Path) -> None:
    """The verdict stands, a note says so, and the status is that of the verdict."""
    path = table_claim(tmp_path)
    repro("verify", path)
    (folder,) = Path("store/verdicts").iterdir()
    shutil.rmtree(folder)
    folder.write_text("a file in its place")
    done = repro("verify", path)
    assert done.returncode == 0
    assert "This verdict could not be kept: " in done.stderr
    history = read_document(report_of("first") / "report.json").provenance.history
    assert history is not None
    assert history.note in (report_of("first") / "report.html").read_text().replace("&#39;", "'")


def test_a_report_that_was_not_written_is_told_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A verdict is kept after its report, so that no flip is lost with a full disk."""
    path = table_claim(tmp_path)
    repro("verify", path)
    table_claim(tmp_path, values=LOW)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("repro.workflows.verify.write_files", full)
        assert repro("verify", path).returncode == 5
    assert repro("verify", path).returncode == 6


def test_the_difference_of_two_reports(tmp_path: Path) -> None:
    """0 where they say the same, whenever; 1 and each difference; 2 for what is no report."""
    path = table_claim(tmp_path)
    repro("verify", path, "--reports", "one")
    repro("verify", path, "--reports", "same")
    one, same = (Path(name, "first", "quick") for name in ("one", "same"))
    assert repro("diff", one, same).returncode == 0
    table_claim(tmp_path, values={**LOW, "b": (*LOW["b"], 88.0), "a": (*LOW["a"], 88.1)})
    repro("verify", path)
    done = repro("diff", one, report_of("first"))
    assert done.returncode == 1
    assert "verdict: conclusion CONFIRMED -> INCONCLUSIVE" in done.stdout
    assert "numbers: higher CONFIRMED +3.34" in done.stdout
    assert "evidence: one seed was added" in done.stdout
    assert "evidence: a, seed 0, score: 91.2 -> 88.2" in done.stdout
    assert "claim: what decides was changed" in done.stdout
    found = json.loads(repro("diff", one, report_of("first"), "--json").stdout)["differences"]
    assert {each["subject"] for each in found} >= {"verdict", "numbers", "evidence", "claim"}
    assert repro("diff", one, "first.csv").returncode == 2


def test_a_gate_says_what_it_was(tmp_path: Path) -> None:
    """In a line before the reason; its words keep their statuses."""
    path = table_claim(tmp_path)
    assert repro("gate", path).returncode == 0
    table_claim(tmp_path, values=LOW)
    done = repro("gate", path)
    assert done.returncode == 3
    assert done.stdout.startswith("Was CONFIRMED on ")
    assert "Was CONFIRMED on " in (report_of("first") / "report.html").read_text()
    assert len(kept()) == 2


def test_an_unchanged_verdict_needs_no_place_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that can only be read is not noted where there is nothing new to keep."""
    path = table_claim(tmp_path)
    repro("verify", path)

    def closed(*_: object) -> None:
        raise StoreUnreachableError("the store can only be read")

    monkeypatch.setattr("repro.registry.verdicts.VerdictLog.prepare", closed)
    assert "could not be kept" not in repro("verify", path).stderr
    table_claim(tmp_path, values=LOW)
    for _ in range(2):
        done = repro("verify", path)
        assert done.returncode == 6
        assert "This verdict could not be kept: the store can only be read" in done.stderr
