"""A source of evidence of others: read with consent, told in the report, part of the digest."""

from __future__ import annotations

import csv
import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from repro.cli import app
from repro.errors import CodeError, DataError, SpecError
from repro.judging.gather import read_tables
from repro.report.write import read_document
from repro.specs.load import load_claim

USE = "tests.extension.evidence:JsonLines"
GOOD = Path(__file__).parents[1] / "specs" / "good"


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    """The claim on a table, its numbers in a file of JSON lines for each arm."""
    with (GOOD / "table_claim.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    for arm in ("new", "old"):
        seeds: dict[int, dict[str, float]] = {}
        for row in rows:
            if row["arm"] == arm:
                seeds.setdefault(int(row["seed"]), {})[row["measurement"]] = float(row["value"])
        lines = [json.dumps({"seed": seed, **values}) for seed, values in seeds.items()]
        (tmp_path / f"{arm}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return written(tmp_path, f'evidence: {{use: "{USE}", file: NAME.jsonl}}')


def written(folder: Path, evidence: str) -> Path:
    """The claim with this for the evidence of each arm."""
    text = (GOOD / "table_claim.yaml").read_text(encoding="utf-8")
    for arm in ("new", "old"):
        named = evidence.replace("NAME", arm)
        text = text.replace(
            f"label: {arm.title()}, table: table_claim.csv", f"label: {arm}, {named}"
        )
    (folder / "jsonl.claim.yaml").write_text(text, encoding="utf-8")
    return folder / "jsonl.claim.yaml"


def verify(claim: Path, *more: str) -> Result:
    places = ["--reports", str(claim.parent / "reports"), "--store", str(claim.parent / "store")]
    return CliRunner().invoke(app, ["verify", str(claim), *places, *more])


def test_it_is_read_with_consent_alone(claim: Path) -> None:
    """Without it exit 2, a sentence and no report; with it what the table says."""
    refused = verify(claim)
    assert refused.exit_code == 2
    assert f"jsonl.claim.yaml:11:37: {USE} is code from outside repro" in refused.stderr
    assert (
        "code from outside repro, yours or another's, which runs with your rights" in refused.stderr
    )
    assert not (claim.parent / "reports").exists()
    done = verify(claim, "--allow-code")
    assert "CONFIRMED" in done.stdout
    report = claim.parent / "reports" / "table_claim" / "paper"
    document = read_document(report / "report.json")
    assert [arm.evidence for arm in document.arms] == ["JSON lines", "JSON lines"]
    assert "JSON lines" in (report / "report.html").read_text(encoding="utf-8")
    assert [arm.table.file for arm in document.arms if arm.table] == ["new.jsonl", "old.jsonl"]
    plain = read_tables(load_claim(GOOD / "table_claim.yaml", "paper"))
    ours = read_tables(load_claim(claim, "paper", allow_code=True))
    for arm in ("new", "old"):
        assert ours[arm].values[arm] == plain[arm].values[arm]


def test_what_it_declares_and_its_version_are_in_the_digest(claim: Path) -> None:
    """Another file is another claim; where the claim lies makes no difference."""
    first = load_claim(claim, "paper", allow_code=True)
    identity = first.arms["new"].identity()["evidence"]
    assert identity["use"] == USE
    assert identity["file"] == "new.jsonl"
    assert identity["version"].startswith("sha256:")
    (claim.parent / "third.jsonl").write_bytes((claim.parent / "new.jsonl").read_bytes())
    other = claim.read_text(encoding="utf-8").replace("file: new.jsonl", "file: third.jsonl")
    claim.write_text(other, encoding="utf-8")
    assert load_claim(claim, "paper", allow_code=True).digest() != first.digest()


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ('evidence: {use: "%s", file: gone.jsonl}', "there is no log 'gone.jsonl'"),
        ('evidence: {use: "%s", flie: NAME.jsonl}', "flie"),
        ('evidence: {use: "%s", file: 3}', "evidence.file"),
        ('evidence: {use: "%s", file: NAME.jsonl, version: "1"}', "is here, not 1"),
        ('table: x.csv, evidence: {use: "%s", file: NAME.jsonl}', "one kind of evidence"),
        ("evidence: {use: 'no_such:Source'}", "No module named 'no_such'"),
        ("evidence: {use: 'json:loads'}", "this is no source of evidence"),
    ],
)
def test_mistakes_have_their_place(claim: Path, evidence: str, said: str) -> None:
    """File, line and column of each, as of what is built in."""
    file = written(claim.parent, evidence % USE if "%s" in evidence else evidence)
    with pytest.raises(SpecError) as caught:
        load_claim(file, "paper", allow_code=True)
    assert any(said in str(problem) for problem in caught.value.problems)
    assert {problem.place.line for problem in caught.value.problems} <= {11, 12}


def test_consent_comes_first(claim: Path) -> None:
    """Nothing is imported to find out that something is wrong."""
    file = written(claim.parent, "evidence: {use: 'no_such:Source'}")
    with pytest.raises(CodeError):
        load_claim(file, "paper")


def test_a_source_that_fails_is_named(claim: Path) -> None:
    """Whatever it raises, with the arm."""
    (claim.parent / "old.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"arm old: its source cannot be read: JSONDecodeError"):
        read_tables(load_claim(claim, "paper", allow_code=True))


def test_an_installed_package_adds_a_name(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`kind` is the name of an entry point, and needs no consent."""
    point = EntryPoint("json_lines", USE, "repro.evidence")
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda *, group: (point,) if group == "repro.evidence" else (),
    )
    file = written(claim.parent, "evidence: {kind: json_lines, file: NAME.jsonl}")
    arm = load_claim(file, "paper").arms["new"]
    assert arm.identity()["evidence"]["use"] == USE
