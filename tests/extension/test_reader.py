"""A reader of results in one file: `import: {from: ...}` with consent, and `repro compare`."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from repro.cli import app
from repro.errors import CodeError, DataError, SpecError
from repro.judging.gather import read_tables
from repro.report.write import read_document
from repro.specs.load import load_claim

USE = "tests.extension.reader:IniRuns"
CLAIM = """schema: 1
id: ini
title: Mixup lowers the error by more than 0.3 points
source: {own: "we train with mixup from now on, if it helps"}
arms:
  mixup: {label: with mixup, import: {from: "READER", path: runs.ini, where: {arm: mixup}}}
  plain: {label: without, import: {from: "READER", path: runs.ini, where: {arm: plain}}}
design: independent
seeds: {min: 5, plan: 5}
measurements: {error: {kind: reported, label: error (%), better: lower, digits: 2}}
expectations:
  - id: better
    kind: difference
    measurement: error
    of: [mixup, plain]
    direction: lower
    smallest_effect: {abs: 0.3, why: "what the paper calls a gain"}
"""
ERRORS = {"mixup": (4.21, 4.35, 4.18, 4.29, 4.24), "plain": (4.97, 5.08, 4.91, 5.03, 4.95)}


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    """A claim whose arms are read from a file of ten runs."""
    sections = (
        f"[{arm} {seed}]\narm = {arm}\nseed = {seed}\nerror = {error}\n"
        for arm, errors in ERRORS.items()
        for seed, error in enumerate(errors)
    )
    (tmp_path / "runs.ini").write_text("\n".join(sections), encoding="utf-8")
    return written(tmp_path, USE)


def written(folder: Path, reader: str, text: str = CLAIM) -> Path:
    file = folder / "ini.claim.yaml"
    file.write_text(text.replace("READER", reader), encoding="utf-8")
    return file


def run(command: str, what: Path, *more: str) -> Result:
    reports = ["--reports", str(what.parent / "reports")]
    return CliRunner().invoke(app, [command, str(what), *reports, *more])


def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a package had named the reader."""
    point = EntryPoint("ini", USE, "repro.importers")
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda *, group: (point,) if group == "repro.importers" else (),
    )


def test_an_arm_is_read_with_consent_alone(claim: Path) -> None:
    """Without it exit 2, a sentence and no report; with it every value, and the file's digest."""
    refused = run("verify", claim)
    assert refused.exit_code == 2
    assert f"ini.claim.yaml:6:45: {USE} is code from outside repro" in refused.stderr
    assert not (claim.parent / "reports").exists()
    done = run("verify", claim, "--allow-code")
    assert done.exit_code == 0, done.output
    document = read_document(claim.parent / "reports" / "ini" / "declared" / "report.json")
    assert document.verdict.conclusion == "CONFIRMED"
    values = {arm.id: [run.values["error"] for run in arm.replicates] for arm in document.arms}
    assert values == {arm: [*errors] for arm, errors in ERRORS.items()}
    assert [arm.table.file for arm in document.arms if arm.table] == ["runs.ini"] * 2


def test_the_reader_and_its_version_are_in_the_digest(claim: Path) -> None:
    first = load_claim(claim, allow_code=True)
    identity = first.arms["mixup"].identity()["import"]
    assert identity["from_"] == USE
    assert identity["version"].startswith("sha256:")
    written(claim.parent, USE, CLAIM.replace("where: {arm: plain}", "where: {arm: plian}"))
    assert load_claim(claim, allow_code=True).digest() != first.digest()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("path: runs.ini", "pth: runs.ini", "did you mean 'path'?"),
        ("path: runs.ini", "path: 3", "import.path"),
        ("path: runs.ini", 'path: runs.ini, version: "1"', "is here, not 1"),
        (USE, "no_such:Reader", "No module named 'no_such'"),
        (USE, "json:loads", "this is no reader of results"),
        (USE, "mlfow", "did you mean 'mlflow'?"),
    ],
)
def test_mistakes_have_their_place(claim: Path, old: str, new: str, said: str) -> None:
    """File, line and column of each, as of a reader that is built in."""
    claim.write_text(claim.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_claim(claim, allow_code=True)
    assert any(said in str(problem) for problem in caught.value.problems)
    assert {problem.place.line for problem in caught.value.problems} <= {6, 7}


def test_consent_comes_before_any_import(claim: Path) -> None:
    written(claim.parent, "no_such:Reader")
    with pytest.raises(CodeError):
        load_claim(claim)


def test_a_reader_that_fails_is_named(claim: Path) -> None:
    """Whatever it raises, with the arm."""
    (claim.parent / "runs.ini").write_text("no section", encoding="utf-8")
    with pytest.raises(DataError, match=r"arm mixup: its source cannot be read: Missing"):
        read_tables(load_claim(claim, allow_code=True))


def test_an_installed_package_adds_a_name(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever installs it has consented."""
    installed(monkeypatch)
    written(claim.parent, "ini")
    assert load_claim(claim).arms["mixup"].identity()["import"]["from_"] == USE


def test_compare_asks_a_reader_that_is_named(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With consent; the claim that it writes is read by the same reader."""
    monkeypatch.chdir(claim.parent)
    results = claim.with_name("runs.ini")
    options = ("--better", "lower", "--reader", USE)
    refused = run("compare", results, *options)
    assert refused.exit_code == 2
    assert f"--reader: {USE} is code from outside repro" in refused.stderr
    done = run("compare", results, *options, "--allow-code")
    assert done.exit_code == 0, done.output
    assert "an INI file, a section per run" in done.output
    written = load_claim(claim.with_name("mixup_vs_plain.claim.yaml"), allow_code=True)
    assert written.arms["mixup"].identity()["import"]["from_"] == USE
    document = read_document(claim.parent / "reports/mixup_vs_plain/declared/report.json")
    assert document.verdict.conclusion == "CONFIRMED"


def test_compare_asks_what_is_installed(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It recognises its own files: unasked, no consent, and by its own words."""
    monkeypatch.chdir(claim.parent)
    unknown = run("compare", claim.with_name("runs.ini"), "--better", "lower")
    assert "of a form that is not known" in unknown.output
    installed(monkeypatch)
    done = run("compare", claim.with_name("runs.ini"), "--better", "lower")
    assert done.exit_code == 0, done.output
    assert "an INI file, a section per run" in done.output


@pytest.mark.parametrize(
    ("reader", "said"),
    [
        ("mlfow", "did you mean 'mlflow'?"),
        ("json:loads", "this is no reader of results"),
        ("mlflow", "file is not a database"),
        (USE, "MissingSectionHeaderError"),
    ],
)
def test_compare_says_what_is_wrong_with_a_reader(
    claim: Path, monkeypatch: pytest.MonkeyPatch, reader: str, said: str
) -> None:
    monkeypatch.chdir(claim.parent)
    results = claim.with_name("other.ini")
    results.write_text("no section", encoding="utf-8")
    done = run("compare", results, "--better", "lower", "--reader", reader, "--allow-code")
    assert done.exit_code == 2
    assert said in done.output
