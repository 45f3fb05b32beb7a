"""An installed package adds five parts by their names, and `python -m repro verify` finds them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from repro.judging.document import Document
from repro.report.write import read_document

HERE = Path(__file__).parent
PARTS = ("evidence", "expectation", "report_format", "trainer")
ENTRY_POINTS = """[repro.evidence]
json_lines = stranger.evidence:JsonLines
[repro.expectations]
median_at_most = stranger.expectation:MedianAtMostKind
[repro.measurements]
slope_error = stranger.trainer:SlopeError
[repro.report_formats]
plain = stranger.report_format:PLAIN
[repro.trainers]
least_squares = stranger.trainer:LeastSquares
"""
CONFIGURATION = """schema: 1
title: a line through some points
source: "made for the tests"
trainer: least_squares
points: 400
slope: 2.0
noise: 0.5
"""
CLAIM = """schema: 1
id: installed
title: A line and a log are as they were said to be
source: {paper: mine2026, citation: "for the tests", locator: nowhere, quote: "for the tests"}
arms:
  line: {label: the line, configuration: mine/line}
  logged: {label: the log, evidence: {kind: json_lines, file: logged.jsonl}}
design: independent
seeds: {min: 5, plan: 5}
measurements: {error: {kind: slope_error, truth: 2.0}}
expectations:
  - {id: trained, kind: median_at_most, measurement: error, of: [line], at_most: 1}
  - {id: read, kind: median_at_most, measurement: error, of: [logged], at_most: 1}
scales: {quick: {notice: "A line and a log, for the tests of this project."}}
"""


def install(site: Path) -> None:
    """A folder as `pip install --target` leaves it: a package, and what is known of it."""
    package, facts = site / "stranger", site / "stranger-2.5.dist-info"
    package.mkdir(parents=True)
    facts.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    for part in PARTS:
        text = (HERE / f"{part}.py").read_text(encoding="utf-8")
        text = text.replace("tests.extension.trainer:LeastSquares", "least_squares")
        (package / f"{part}.py").write_text(text, encoding="utf-8")
    texts = {
        "METADATA": "Metadata-Version: 2.1\nName: stranger\nVersion: 2.5\n",
        "entry_points.txt": ENTRY_POINTS,
        "RECORD": "".join(f"stranger/{part}.py,,\n" for part in ("__init__", *PARTS)),
    }
    for name, text in texts.items():
        (facts / name).write_text(text, encoding="utf-8")


def verify(folder: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Without `--allow-code`: who installs a package has consented."""
    known = (*map(str, paths), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, known))}
    options = "--store store --reports reports --device cpu --engine serial --format plain"
    line = [sys.executable, "-m", "repro", "verify", "installed.claim.yaml", *options.split()]
    return subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A claim that names nothing but entry points."""
    folder = tmp_path_factory.mktemp("installed")
    install(folder / "site")
    (folder / "configurations" / "mine").mkdir(parents=True)
    rows = (json.dumps({"seed": seed, "error": seed / 100}) for seed in range(5))
    for name, text in {
        "configurations/mine/line.yaml": CONFIGURATION,
        "installed.claim.yaml": CLAIM,
        "logged.jsonl": "\n".join(rows),
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def document(place: Path) -> Document:
    """The verdict of a process that finds the package on its path."""
    done = verify(place, place / "site")
    assert done.returncode == 0, done.stderr
    return read_document(place / "reports" / "installed" / "quick" / "report.json")


def test_each_part_has_the_version_of_its_package(document: Document) -> None:
    """In the training, in what judged, and in the claim's own words."""
    assert document.verdict.conclusion == "CONFIRMED"
    line, logged = document.arms
    assert line.training["trainer"] == {"use": "least_squares", "version": "2.5"}
    assert logged.table is not None
    assert logged.table.file == "logged.jsonl"
    judged_by = "stranger.expectation:MedianAtMostKind, version 2.5"
    assert [result.details["judged_by"] for result in document.results] == [judged_by] * 2
    assert [part.kind for part in document.measurements] == ["slope_error"]


def test_its_format_is_written_too(document: Document, place: Path) -> None:
    text = (place / "reports" / "installed" / "quick" / "verdict.txt").read_text(encoding="utf-8")
    assert document.claim.title in text


def test_without_the_package_its_names_are_unknown(place: Path) -> None:
    """As any other name that leads nowhere, at its place."""
    done = verify(place)
    assert done.returncode == 2, done.stdout
    assert "installed.claim.yaml:" in done.stderr
    assert "median_at_most" in done.stderr
