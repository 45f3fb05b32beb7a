"""Claims whose replicates are runs of a program: from the file to the verdict."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from repro.store.run_store import RunStore
from tests.trainers.command.toy import LEAVES, PROGRAM, attempt, change, program, report, verify


def test_a_program_is_run_for_every_seed_and_judged(folder: Path) -> None:
    """The seeds are those that are listed; nothing is run twice."""
    done = verify(folder)
    assert done.returncode == 0, done.stderr
    assert "VALID, CONFIRMED" in done.stdout
    assert "Test error (%): AdamW is" in done.stdout
    found = report(folder)
    (adam, _) = found["arms"]
    assert [each["number"] for each in adam["replicates"]] == [1337, 42, 7, 8, 9]
    assert adam["configuration"] == "a.claim.yaml"
    assert str(folder) not in json.dumps(found["arms"])
    again = verify(folder, code=False)
    assert "0 runs trained or measured, 10 reused" in again.stdout


def test_what_is_kept_of_a_run_and_what_goes(folder: Path) -> None:
    verify(folder)
    store = RunStore(folder / "store")
    keys = list(store.keys())
    assert len(keys) == 10
    for key in keys:
        names = {path.name for path in store.folder(key).rglob("*") if path.is_file()}
        assert {"results.json", "output.txt", "kept.json", "kept_0.png", "record.json"} <= names
        assert not any("weights" in name or "checkpoint" in name for name in names)
        assert store.files(key)["kept_0.png"] == b"not really"
        assert json.loads(store.files(key)["kept.json"]) == {"plot.png": "kept_0.png"}


def test_an_edit_makes_the_claim_stale_and_the_file_is_named(folder: Path) -> None:
    verify(folder)
    program(folder, LEAVES + "\n# edited")
    done = verify(folder, "--no-train")
    assert "STALE" in done.stdout
    assert "Adam: 5 of 5 runs were made before an edit of train.py" in done.stdout
    done = verify(folder)
    assert "VALID, CONFIRMED" in done.stdout
    assert "10 runs trained" in done.stdout


def test_another_argument_is_another_training_and_not_stale(folder: Path) -> None:
    verify(folder)
    change(folder, "{optimizer: adam}", "{optimizer: adam, mode: new}")
    done = verify(folder, "--no-train")
    assert "INCOMPLETE" in done.stdout


def test_a_new_label_takes_nothing_anew(folder: Path) -> None:
    verify(folder)
    change(folder, "test error (%)", "error of test")
    done = verify(folder, code=False)
    assert "10 reused" in done.stdout
    assert "Error of test: AdamW is" in done.stdout


def test_a_program_that_fails_is_told_with_the_end_of_its_output(folder: Path) -> None:
    """The other runs go on; it is tried again the next time."""
    program(folder, LEAVES.replace("out = Path", "assert seed != 42, 'bad luck'\nout = Path"))
    done = verify(folder)
    assert done.returncode == 5
    assert "the program ended with status 1" in done.stderr
    assert "| AssertionError: bad luck" in done.stderr
    assert "Adam: 4 of 5 seeds" in done.stdout
    assert "8 runs trained" in done.stdout


def test_results_that_are_missing_are_a_failure(folder: Path) -> None:
    program(folder, PROGRAM)
    done = verify(folder)
    assert "results.json: cannot be read: No such file or directory" in done.stderr
    assert "expected: the results of the run; {out} has no file in it" in done.stderr
    assert "| seed " in done.stderr


def test_a_number_of_another_name_is_told_with_those_that_are_there(folder: Path) -> None:
    change(folder, "from: eval.error", "from: eval.eror")
    done = verify(folder, "--engine", "processes")
    assert "did you mean 'eval.error'" in done.stderr
    change(folder, "from: eval.eror", "from: eval.error")
    done = verify(folder)
    assert re.search(r"[1-8] runs trained or measured, 0 reused, \d read from", done.stdout)
    assert "CONFIRMED" in done.stdout


def test_divergence_is_what_was_declared(folder: Path) -> None:
    """A status is a failure, unless it is declared a divergence; so is what is not finite."""
    program(folder, LEAVES.replace("out = Path", "assert seed != 42\nout = Path"))
    change(folder, "  keep:", "  diverged: [exit]\n  keep:")
    done = verify(folder)
    assert "INVALID" in done.stdout
    assert "Adam: 1 of 5 runs diverged; 0 allowed by `seeds: {diverged: invalid}`" in done.stdout
    program(folder, LEAVES.replace("noise = ", "noise = float('nan') if seed == 42 else "))
    done = verify(folder)
    assert "the program ended" not in done.stderr
    assert "results of the run: 'eval.error' is not finite" in done.stderr
    change(folder, "diverged: [exit]", "diverged: [not_finite]")
    assert "1 of 5 runs diverged" in verify(folder).stdout


def test_one_that_takes_too_long_has_failed_or_diverged(folder: Path) -> None:
    change(folder, "minutes: 1,", "minutes: 0.05,")
    change(folder, "[1337, 42, 7, 8, 9]", "[1, 2, 3]")
    program(
        folder,
        LEAVES.replace("out = Path", "import time; time.sleep(60 * (seed == 2))\nout = Path"),
    )
    done = verify(folder, "--force")
    assert "the program was not done after" in done.stderr
    assert "4 runs trained" in done.stdout


def test_a_program_that_resumes_finds_its_folder_again(folder: Path) -> None:
    once = "half = out / 'half'\nif not half.exists(): half.touch(); sys.exit(9)\n"
    program(folder, LEAVES.replace("print(", once + "print("))
    change(folder, "  keep:", "  resume: true\n  keep:")
    assert "ended with status 9" in verify(folder).stderr
    assert "VALID, CONFIRMED" in verify(folder).stdout


def test_one_that_does_not_begins_in_an_empty_folder(folder: Path) -> None:
    once = "half = out / 'half'\nif not half.exists(): half.touch(); sys.exit(9)\n"
    program(folder, LEAVES.replace("print(", once + "print("))
    assert "ended with status 9" in verify(folder).stderr
    assert "ended with status 9" in verify(folder).stderr


def test_a_program_that_ignores_its_seed_is_caught(folder: Path) -> None:
    program(folder, LEAVES.replace("{seed} {given", "{given"))
    done = verify(folder)
    assert "NOT-TESTED" in done.stdout
    assert "repeated values" in done.stdout


def test_a_series_in_the_output(folder: Path) -> None:
    steps = "for step in range(5): print(f'step {step} error {error + 4 - step:.4f}')\n"
    program(folder, PROGRAM + steps)
    change(
        folder, 'file: "{out}/results.json"', "stdout: 'step (?P<step>\\d+) error (?P<error>\\S+)'"
    )
    change(folder, "from: eval.error", "from: error, reduce: last")
    assert "VALID, CONFIRMED" in verify(folder).stdout
    means = [each["summaries"][0]["mean"] for each in report(folder)["arms"]]
    change(folder, "reduce: last", "reduce: {at: {step: 3}}")
    assert "VALID, CONFIRMED" in verify(folder).stdout
    later = [each["summaries"][0]["mean"] for each in report(folder)["arms"]]
    assert [b - a for a, b in zip(means, later, strict=True)] == pytest.approx([1, 1])


def test_a_series_without_a_reduction_is_refused(folder: Path) -> None:
    program(folder, PROGRAM + "for step in range(5): print(f'error {error:.4f}')\n")
    change(folder, 'file: "{out}/results.json"', "stdout: 'error (?P<error>\\S+)'")
    change(folder, "from: eval.error", "from: error")
    assert "5 values of 'error'" in verify(folder).stderr


def test_choosing_by_the_number_that_is_judged_is_a_flag(folder: Path) -> None:
    steps = "for step in range(5): print(f'step {step} error {error + step:.4f}')\n"
    program(folder, PROGRAM + steps)
    change(
        folder, 'file: "{out}/results.json"', "stdout: 'step (?P<step>\\d+) error (?P<error>\\S+)'"
    )
    change(folder, "from: eval.error", "from: error, reduce: {best_by: error, better: lower}")
    done = verify(folder)
    assert "chosen by itself" in done.stdout


def test_a_configuration_in_a_file_of_its_own(folder: Path) -> None:
    """Its program is found from where the file is."""
    text = (folder / "a.claim.yaml").read_text(encoding="utf-8")
    head, rest = text.split("configuration:\n")
    inline, arms = rest.split("arms:\n")
    lines = "\n".join(line.removeprefix("  ") for line in inline.splitlines())
    below = folder / "configurations" / "toy"
    below.mkdir(parents=True)
    own = f'schema: 1\ntitle: a toy\nsource: "our own notes"\nargs: {{mode: x}}\n{lines}\n'
    (below / "adam.yaml").write_text(own, encoding="utf-8")
    (folder / "code").rename(below / "code")
    arms = arms.replace(
        "args: {optimizer: adam}", "configuration: toy/adam, override: {args: {optimizer: adam}}"
    )
    arms = arms.replace(
        "args: {optimizer: adamw}", "configuration: toy/adam, override: {args: {optimizer: adamw}}"
    )
    (folder / "a.claim.yaml").write_text(f"{head}arms:\n{arms}", encoding="utf-8")
    assert "VALID, CONFIRMED" in verify(folder).stdout


DERIVED = """
  epochs: {kind: reported, from: epochs, label: epochs, better: lower}
  per_epoch: {kind: derived, ratio: [error, epochs], label: error per epoch, better: lower}
expectations:"""


def test_a_derived_number_is_tried_and_judged(folder: Path) -> None:
    """A formula is no measurement of a run: `try` computes it, and `verify` runs nothing again."""
    assert verify(folder).returncode == 0
    change(folder, "\nexpectations:", DERIVED)
    change(folder, "measurement: error", "measurement: per_epoch")
    change(folder, "abs: 0.1", "abs: 0.03")
    assert "per_epoch: error per epoch = 0.83\n" in attempt(folder, "--allow-code").stdout
    again = verify(folder)
    assert again.returncode == 0, again.stderr
    found = report(folder)
    for arm in found["arms"]:
        for run in arm["replicates"]:
            quotient = run["values"]["error"] / run["values"]["epochs"]
            assert run["values"]["per_epoch"] == pytest.approx(quotient, rel=1e-15)
    stored = [each for each in (folder / "store").rglob("*") if "derived" in each.name]
    assert not stored
