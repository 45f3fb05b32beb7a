"""What is printed: no claim, table or file name forges a line of it."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from repro.cli import app
from repro.errors import Place, Problem, SpecError, printable, printable_lines
from repro.running.progress import PlainReporter, Snapshot
from repro.specs.load import load_claims
from tests.faults.tables import table_claim

FORGED = "x\n::error::forged\n\x1b[2Jcleared\u009b1A\u202eturned\u200bhidden"
UNSEEN = ("\x1b", "\u009b", "\u202e", "\u200b", "\r")


def check(text: str) -> None:
    """Nothing of what was forged is seen as such."""
    assert not [each for each in UNSEEN if each in text]
    assert not [line for line in text.splitlines() if line.strip().startswith("::")]
    assert "##[" not in text


@given(st.text())
def test_a_printable_text_is_one_line_that_can_be_seen(text: str) -> None:
    """Every character of it is printable, or a blank that does not break."""
    shown = printable(text)
    assert all(each.isprintable() or each in "\u00a0\u2007\u202f" for each in shown)
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown
    if text.isprintable():
        assert shown == text


@given(st.lists(st.sampled_from(("::", "##[", "#", "[", " ", "\n", "\t", "error", *UNSEEN))))
def test_no_line_is_a_command(parts: list[str]) -> None:
    """However it is put together."""
    check(printable_lines("".join(parts)))


def test_problems_are_lines_of_their_own() -> None:
    """The file, what is wrong, what was expected and the advice."""
    problem = Problem(Place(FORGED, 1, 2), FORGED, FORGED, FORGED)
    assert len(str(problem).splitlines()) == 3
    check(str(problem))


@pytest.mark.parametrize(
    "line",
    [
        'alpha: "VALUE"',
        '"VALUE": 1',
        'design: "VALUE"',
        'combine: {all: ["VALUE"]}',
        'comparable: {same: ["VALUE"]}',
        'published: [{expectation: "VALUE", locator: "Table 1", arms: {}}]',
    ],
)
def test_a_claim_forges_no_line(tmp_path: Path, line: str) -> None:
    """Its values and keys are quoted on the line of the message."""
    path = table_claim(tmp_path)
    value = r"x\n::error::forged"  # the loader refuses the other characters
    key = line.partition(":")[0]
    kept = [each for each in path.read_text().splitlines() if not each.startswith(f"{key}:")]
    path.write_text("\n".join((*kept, line.replace("VALUE", value))), encoding="utf-8")
    done = CliRunner().invoke(app, ["plan", str(path)])
    assert done.exit_code == 2
    assert "forged" in done.stderr
    check(done.stderr)


def test_a_label_forges_no_line_of_the_verdict(tmp_path: Path) -> None:
    """Nor of a plan."""
    table_claim(tmp_path, label="::error::a lie")
    places = ["--store", str(tmp_path / "store")]
    done = CliRunner().invoke(
        app, ["verify", str(tmp_path), "--reports", str(tmp_path / "reports"), *places]
    )
    assert done.exit_code == 0, done.output
    assert "error::a lie" in done.output
    check(done.output)
    check(CliRunner().invoke(app, ["plan", str(tmp_path), *places]).output)


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes")
def test_a_file_name_forges_no_line(tmp_path: Path) -> None:
    """Names of files hold what their owners like."""
    path = tmp_path / "x\n::error::forged\x1b[2J.yaml"
    path.write_text("id: [\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["plan", str(path)])
    assert done.exit_code == 2
    check(done.stderr)


def test_progress_forges_no_line() -> None:
    """A run is called by the label of its arm."""
    stream = io.StringIO()
    reporter = PlainReporter({"key": FORGED}, stream)
    reporter.finished("key", "trained", _snapshot())
    assert len(stream.getvalue().splitlines()) == 1
    check(stream.getvalue())


def _snapshot() -> Snapshot:
    return Snapshot(1, 1, 1.0, 1.0, None, ())


@pytest.mark.parametrize("name", ["loop.yaml", "x" * 5000, "nul\0byte.yaml"])
def test_a_path_that_leads_nowhere_is_a_mistake(tmp_path: Path, name: str) -> None:
    """A loop of links, a name that no system has, a NUL: each is named, with status 2."""
    if name == "loop.yaml":
        (tmp_path / name).symlink_to(tmp_path / name)
    with pytest.raises(SpecError, match="cannot be read") as refused:
        load_claims(tmp_path / name)
    assert refused.value.exit_code == 2


def test_a_loop_of_links_takes_no_other_claim_with_it_in_silence(tmp_path: Path) -> None:
    """In a folder it is the mistake that is named."""
    table_claim(tmp_path)
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    done = CliRunner().invoke(app, ["plan", str(tmp_path)])
    assert done.exit_code == 2
    assert f"{tmp_path / 'loop.yaml'}:1:1: cannot be read" in done.stderr
    assert os.linesep in done.stderr
