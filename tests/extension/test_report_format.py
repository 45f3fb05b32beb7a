"""A report format of others: by `module:object` with consent, or by an entry point."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from repro.cli import app
from repro.errors import DataError
from repro.report.formats import ReportFormat, rendered
from repro.report.write import document_text, read_document
from tests.extension.report_format import PLAIN, plain

USE = "tests.extension.report_format:PLAIN"
CLAIM = Path(__file__).parents[1] / "specs" / "good" / "table_claim.yaml"
SAMPLE = next(Path(__file__).parents[2].glob("reports/sample/*/*/report.json"))


def test_verify_writes_it_beside_the_others(tmp_path: Path) -> None:
    """From a claim file to its text, with consent; all else is written too."""
    arguments = ["verify", str(CLAIM), "--reports", str(tmp_path / "reports")]
    arguments += ["--store", str(tmp_path / "store"), "--no-train", "--format", USE]
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == 2
    assert f"--format: {USE} is code from outside repro" in refused.stderr
    assert "--allow-code" in refused.stderr
    assert not (tmp_path / "reports").exists()
    CliRunner().invoke(app, [*arguments, "--allow-code"])
    (text,) = tmp_path.glob("reports/*/*/verdict.txt")
    document = read_document(text.with_name("report.json"))
    assert text.read_bytes() == plain(document)
    assert (text.parent / "report.html").exists()


def test_report_renders_it_again(tmp_path: Path) -> None:
    """From a report.json; the files are named on stdout."""
    arguments = ["report", str(SAMPLE), "--to", str(tmp_path), "--format", USE, "--allow-code"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert str(tmp_path / "verdict.txt") in done.output
    assert (tmp_path / "verdict.txt").read_bytes() == plain(read_document(SAMPLE))
    assert (tmp_path / "report.json").read_text() == document_text(read_document(SAMPLE))


def test_an_installed_package_needs_no_consent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment is the user's own: the name of an entry point is enough."""
    point = EntryPoint("plain", USE, "repro.report_formats")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: (point,))
    arguments = ["report", str(SAMPLE), "--to", str(tmp_path), "--format", "plain"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "verdict.txt").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plian", "nothing of that name is in repro.report_formats"),
        ("no_such_module:X", "No module named 'no_such_module'"),
        ("tests.extension.report_format:plain", "is no ReportFormat, but function"),
        ("repro.report.junit:JUNIT", "cannot write 'junit.xml'"),
    ],
)
def test_what_is_no_format_is_refused(tmp_path: Path, name: str, said: str) -> None:
    """Before anything is written, with what to do."""
    arguments = ["report", str(SAMPLE), "--to", str(tmp_path), "--format", name, "--allow-code"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "to do: " in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_format_that_fails_is_named() -> None:
    """Whatever it raises, and what is no bytes."""

    def broken(document: object) -> bytes:
        raise KeyError("nothing")

    document = read_document(SAMPLE)
    with pytest.raises(DataError, match=r"x\.txt: KeyError: 'nothing'"):
        rendered(document, [ReportFormat("x.txt", broken)])
    with pytest.raises(DataError, match=r"x\.txt: its format makes str, no bytes"):
        rendered(document, [ReportFormat("x.txt", lambda _: "text")])  # type: ignore[arg-type, return-value]
    assert PLAIN.file == "verdict.txt"
