"""A report that is still valid is neither judged nor drawn again; any other is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repro import kept
from repro.judging import assemble
from repro.judging.document import Document
from repro.report import formats, write
from repro.report.unchanged import OfOthersError, facts
from repro.report.write import write_index
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.workflows.verify import Options, verify_claims

CLAIM = """schema: 1
id: better
title: The changed program has a lower loss
source: {own: "Ours, to be judged twice."}
arms:
  changed: {label: changed, table: values.csv}
  baseline: {label: baseline, table: values.csv}
design: independent
seeds: {min: 5, plan: 5}
measurements:
  loss: {kind: reported, label: loss, better: lower}
expectations:
  - id: lower
    kind: difference
    measurement: loss
    of: [changed, baseline]
    direction: lower
    smallest_effect: {abs: 0.01, why: "a hundredth matters here"}
"""
TRAINED = """configuration:
  trainer: command
  command: [python, train.py, --seed, "{seed}", "{args}"]
  files: [train.py]
  results: {stdout: "loss (?P<loss>[0-9.]+)"}
"""


def table(difference: float = 0.1) -> str:
    arms = (("changed", 1 - difference), ("baseline", 1.0))
    rows = (f"{a},{seed},loss,{mean + seed * seed / 997}" for a, mean in arms for seed in range(5))
    return "arm,seed,measurement,value\n" + "\n".join(rows) + "\n"


class Project:
    """A claim with its table, verified as often as is asked, and what was made each time."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.claim, self.table = folder / "better.claim.yaml", folder / "values.csv"
        self.claim.write_text(CLAIM)
        self.table.write_text(table())
        self.reports = folder / "reports"
        self.report = self.reports / "better" / "declared"
        self.options = Options(
            RunStore(folder / "store"), reports=self.reports, train=False, command="repro verify x"
        )
        self.done: list[str] = []
        for module, name in ((assemble, "document_of"), (formats, "rendered")):
            self._count(module, name, monkeypatch)
        self._nights = iter(range(1, 30))
        monkeypatch.setattr("repro.judging.claim_parts.now", self._now)
        monkeypatch.setattr("repro.report.unchanged.now", self._now)

    def _count(self, module: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        real = getattr(module, name)

        def counted(*given: Any, **more: Any) -> Any:
            self.done.append(name)
            return real(*given, **more)

        monkeypatch.setattr(module, name, counted)
        if name == "rendered":
            monkeypatch.setattr("repro.report.write.rendered", counted)

    def _now(self) -> str:
        return f"2026-11-{next(self._nights):02}T00:00:00+00:00"

    def verify(self, **changes: Any) -> Document:
        self.done.clear()
        claim = load_claim(self.claim)
        verified = verify_claims([claim], replace(self.options, **changes))
        assert not verified.failures
        assert not verified.stopped
        return verified.documents[0]

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.report.iterdir()}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose claim was verified once."""
    made = Project(tmp_path, monkeypatch)
    made.verify()
    assert made.done == ["document_of", "rendered"]
    return made


def test_a_report_that_is_still_valid_is_kept_with_its_date(project: Project) -> None:
    """Nothing is judged or drawn; its JSON alone says when it was checked, each time."""
    before, page = project.files(), project.reports / "index.html"
    page.unlink()
    project.verify()
    document = project.verify()
    assert project.done == []
    after = project.files()
    said, first = json.loads(after.pop("report.json")), json.loads(before.pop("report.json"))
    assert after == before
    assert said == document.model_dump(mode="json", by_alias=True)
    assert first["provenance"].pop("checked") == ""
    assert first["provenance"]["created"] < said["provenance"].pop("checked") < project._now()
    assert said == first
    assert "better" in page.read_text()


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def forged(project: Project) -> None:
    """A report that says something else, and a note that has its digest."""
    rewrite(project.report / "report.json", "CONFIRMED", "CONTRADICTED")
    (note,) = (project.reports.parent / "cache").glob("report-*")
    rewrite(note, '"kept": {', '"kept": {"report.json": "forged", ')


def behind_a_link(project: Project) -> None:
    """The page, though of the same content."""
    (project.report / "report.html").rename(project.report / "moved")
    (project.report / "report.html").symlink_to("moved")


CHANGES: dict[str, Callable[[Project], object]] = {
    "a value": lambda p: p.table.write_text(table(0.2)),
    "a limit": lambda p: rewrite(p.claim, "abs: 0.01", "abs: 0.02"),
    "a label": lambda p: rewrite(p.claim, "label: changed", "label: new"),
    "a title": lambda p: rewrite(p.claim, "a lower loss", "less loss"),
    "its page edited": lambda p: rewrite(p.report / "report.html", "CONFIRMED", "TRIVIAL"),
    "its document edited": lambda p: rewrite(p.report / "report.json", "CONFIRMED", "TRIVIAL"),
    "a forged note": forged,
    "its PDF gone": lambda p: (p.report / "report.pdf").unlink(),
    "a page behind a link": behind_a_link,
    "a failure since": lambda p: (p.report / "failed.txt").write_text("stopped"),
    "nothing kept": lambda p: shutil.rmtree(p.table.parent / "cache"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changed_is_judged_again(change: str, project: Project) -> None:
    """And the report is that of a first verification, of the next date."""
    before = project.verify()
    CHANGES[change](project)
    after = project.verify()
    assert project.done == ["document_of", "rendered"]
    assert after.provenance.created > before.provenance.created
    assert Document.model_validate_json((project.report / "report.json").read_bytes()) == after
    assert not (project.report / "report.html").is_symlink()
    project.verify()
    assert project.done == []


@pytest.mark.parametrize("facts", ["code", "command", "processor", "cores", "scipy"])
def test_what_else_a_report_depends_on(
    facts: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own code with its libraries, the command, and the machine."""
    changes: dict[str, Any] = {}
    if facts == "code":
        monkeypatch.setattr(kept, "code", lambda: "another")
    elif facts == "command":
        changes = {"command": "repro verify y"}
    elif facts == "scipy":
        monkeypatch.setattr("repro.judging.claim_parts.package_version", lambda name: name)
    else:
        other = {"cores": 99, "processor": "another"}[facts]
        monkeypatch.setattr(f"repro.judging.claim_parts.{facts}", lambda: other)
    project.verify(**changes)
    assert "rendered" in project.done


def test_a_table_that_is_as_before_but_one_is_judged_again(project: Project) -> None:
    """The report that is there is of the value between: what came back is a change too."""
    first = project.table.read_text()
    project.table.write_text(table(0.2))
    project.verify()
    project.table.write_text(first)
    project.verify()
    assert project.done == ["document_of", "rendered"]


def test_another_folder_of_reports_has_its_own(project: Project, tmp_path: Path) -> None:
    """What is kept is about one folder, and never written to another."""
    project.verify(reports=tmp_path / "others")
    assert project.done == ["document_of", "rendered"]


def test_who_wants_no_report_wants_the_verdict(project: Project) -> None:
    """It is judged, whatever report is there."""
    project.verify(write=False)
    assert project.done == ["document_of"]


def test_what_is_watched_is_judged_and_not_drawn_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs are looked at each time; a document that differs in its date alone is that report."""
    (project.claim.parent / "train.py").write_text("print('loss 0.5')")
    project.claim.write_text(
        CLAIM.replace("table: values.csv", "args: {x: 1}", 1)
        .replace("table: values.csv", "args: {x: 2}")
        .replace("kind: reported,", "kind: reported, from: loss, reduce: last,")
        + TRAINED
    )
    first = project.verify()
    assert project.done == ["document_of", "rendered"]
    again = project.verify()
    assert project.done == ["document_of"]
    assert again.provenance.checked > first.provenance.created
    assert again == first.model_copy(update={"provenance": again.provenance})


class Other:
    """A value of somebody else's code."""


def test_what_is_of_others_is_never_kept() -> None:
    """No digest tells all of it."""
    for value in (Other(), {"a": Other()}, (Other(),), object()):
        with pytest.raises(OfOthersError):
            facts(value)


def test_facts_tell_apart_what_differs() -> None:
    """Text from numbers, kinds from each other, and the order of what has one."""
    values = [1, 1.0, "1", True, None, (1,), ((1,),), {"a": 1}, {1: "a"}, {"b": 1, "a": 1}]
    values += [{"a": 1, "b": 1}, frozenset("ab"), 0.1 + 0.2, 0.3, float("nan"), Path("1")]
    assert len({json.dumps(facts(value)) for value in values}) == len(values)
    assert facts(frozenset("ab")) == facts(frozenset("ba"))


def test_the_index_reads_what_was_changed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line of a report is kept by its content; a damaged or forged one is read again."""
    page, path = project.reports / "index.html", project.report / "report.json"
    before, read = page.read_text(), list[Path]()
    real = write.read_document

    def reading(path: Path) -> Document:
        read.append(path)
        return real(path)

    monkeypatch.setattr(write, "read_document", reading)
    write_index(project.reports)
    assert (page.read_text(), read) == (before, [])
    rewrite(path, "a lower loss", "less loss")
    write_index(project.reports)
    assert "less loss" in page.read_text()
    (note,) = (project.reports.parent / "cache").glob("lines-*")
    rewrite(note, "less loss", "no loss")
    write_index(project.reports)
    assert "no loss" not in page.read_text()
    assert read == [path, path]
    path.write_text("{")
    write_index(project.reports)
    assert "less loss" not in page.read_text()
