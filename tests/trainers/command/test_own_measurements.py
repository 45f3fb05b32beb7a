"""Measurements of a user's own, on what was kept of a program's run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trainers.command.toy import attempt, change, report, verify, worst_class

KEPT_LENGTH = """
from typing import ClassVar
from repro.extend import Measured, Measurement

class Length(Measurement):
    trainers: ClassVar = ("command",)
    label: ClassVar = "size of the figure"
    kind: str = "length"
    name: str

    def measure(self, run):
        return Measured(float(len(run.read(self.name))))
"""


def test_a_measurement_of_others_on_what_was_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not kept is told with the line to add."""
    (folder / "lengths_of_files.py").write_text(KEPT_LENGTH, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    new = "length: {use: 'lengths_of_files:Length', name: plot.png}\n  error: {kind"
    change(folder, "error: {kind", new)
    done = attempt(folder, "--allow-code")
    assert done.returncode == 0, done.stderr
    assert "length: size of the figure = 10.00" in done.stdout
    change(folder, "name: plot.png", "name: weights.bin")
    done = attempt(folder, "--allow-code")
    assert done.returncode == 5
    assert "'weights.bin' was not kept of the run" in done.stderr
    assert "add it to `keep`" in done.stderr


def test_a_function_measures_what_was_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In ten lines, and no class."""
    worst_class(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    done = attempt(folder, "--allow-code")
    assert done.returncode == 0, done.stderr
    assert "length: size of the figure = 10.0" in done.stdout
    assert verify(folder).returncode == 0
    (adam, _) = report(folder)["arms"]
    assert {run["values"]["length"] for run in adam["replicates"]} == {10.0}
    assert "10 reused" in verify(folder).stdout


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("absent", "'weights.bin' was not kept of the run"),
        ("text", "functions_of_files:text: it gave 'a lot', which is no number"),
        ("never", "Adam, seed 1337: diverged"),
        ("nothing", "functions_of_files:nothing"),
    ],
)
def test_a_function_that_gives_no_number(
    folder: Path, monkeypatch: pytest.MonkeyPatch, function: str, said: str
) -> None:
    worst_class(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    change(folder, "functions_of_files:length", f"functions_of_files:{function}")
    done = attempt(folder, "--allow-code")
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_function_needs_consent_and_its_keys(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worst_class(folder)
    monkeypatch.syspath_prepend(str(folder))
    assert "functions_of_files:length" in attempt(folder).stderr
    change(folder, ", better: higher, digits: 1", "")
    done = attempt(folder, "--allow-code")
    assert done.returncode == 2
    assert "missing key" in done.stderr
