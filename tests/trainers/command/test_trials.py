"""`repro try`: one run of a program, of which nothing is kept."""

from __future__ import annotations

import re
from pathlib import Path

from tests.trainers.command.toy import LEAVES, PROGRAM, attempt, change, program


def test_one_run_can_be_tried(folder: Path) -> None:
    """It says what the program left, by the names that `from` takes; nothing is kept."""
    before = sorted(folder.rglob("*"))
    done = attempt(folder, "--arm", "adamw", "--seed", "5", "--allow-code")
    assert done.returncode == 0, done.stderr
    assert "AdamW, seed 5" in done.stderr
    left, taken = r"  epochs = 3\n  eval.error = 2.0\d+\n", r"error: test error \(%\) = 2.0\d\n"
    assert re.search(left + taken, done.stdout)
    assert sorted(folder.rglob("*")) == before


def test_a_run_that_is_tried_and_fails(folder: Path) -> None:
    program(folder, "print('no'); raise SystemExit(3)")
    done = attempt(folder, "--allow-code")
    assert done.returncode == 5
    assert "the program ended with status 3\n  | no" in done.stderr


def test_a_name_that_is_wrong_is_told_with_the_numbers_that_are_there(folder: Path) -> None:
    change(folder, "from: eval.error", "from: loss")
    done = attempt(folder, "--allow-code")
    assert done.returncode == 5
    assert "no number 'loss'\n  expected: epochs, eval.error" in done.stderr
    assert re.search(
        r"claim\.yaml:\d+:\d+: measurements\.error: the results of the run", done.stderr
    )


def test_a_series_without_a_choice_is_told_with_the_line_of_its_measurement(folder: Path) -> None:
    """The message said what to add to the measurement, and not where that stands."""
    claim = folder / "a.claim.yaml"
    lines = claim.read_text(encoding="utf-8").split("\n")
    line = next(n for n, text in enumerate(lines, start=1) if "from: eval.error" in text)
    column = lines[line - 1].index("error:") + 1
    rows = "".join(f'{{"error": {error}}}\\n' for error in (3, 2, 1))
    program(folder, f"{PROGRAM}(out / 'results.json').write_text('{rows}')")
    change(folder, "file: ", "jsonl: ")
    change(folder, "from: eval.error", "from: error")
    done = attempt(folder, "--allow-code")
    assert done.returncode == 5
    assert f"{claim.name}:{line}:{column}: measurements.error: " in done.stderr
    assert "3 values of 'error'\n  expected: one, or `reduce`" in done.stderr


def test_nothing_is_tried_without_consent_or_an_arm(folder: Path) -> None:
    assert attempt(folder).returncode == 2
    done = attempt(folder, "--arm", "sgd", "--allow-code")
    assert done.returncode == 2
    assert "arm 'sgd' is not trained here\n  expected: an arm that is: adam, adamw" in done.stderr


def test_a_name_that_the_program_wrote_forges_no_line(folder: Path) -> None:
    program(folder, LEAVES.replace('"epochs": 3', '"x\\nerror: test error (%)": 0.01'))
    done = attempt(folder, "--allow-code")
    assert "  x\\nerror: test error (%) = 0.01\n" in done.stdout
