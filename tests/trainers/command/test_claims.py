"""Claims whose replicates are runs of a program: from the file to the verdict."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from repro.errors import SpecError
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from tests.commands import repro

PROGRAM = """
import argparse, json, os, random, sys
from pathlib import Path
parser = argparse.ArgumentParser()
for name in ("seed", "out", "optimizer", "mode"):
    parser.add_argument(f"--{name}")
given = parser.parse_args()
seed = int(given.seed)
noise = random.Random(f"{seed} {given.optimizer}").gauss(0, 0.1)
error = 2.0 + noise + (0.5 if given.optimizer == "adam" else 0.0)
out = Path(given.out)
print("seed", seed)
"""

LEAVES = (
    PROGRAM
    + """
(out / "results.json").write_text(json.dumps({"eval": {"error": error}, "epochs": 3}))
(out / "plot.png").write_bytes(b"not really")
(out / "weights.bin").write_bytes(bytes(1000))
"""
)

REPORTED = "kind: reported, from: eval.error, label: test error (%), better: lower"

CLAIM = f"""
schema: 1
id: adamw_better
title: AdamW is better than Adam on a toy
source:
  paper: ours
  citation: "our own notes, 2026"
  locator: "page 1"
  quote: "AdamW is better than Adam."
configuration:
  trainer: command
  command: [{sys.executable}, train.py, --seed, "{{seed}}", "{{args}}", --out, "{{out}}"]
  workdir: code
  files: [train.py]
  results: {{file: "{{out}}/results.json"}}
  keep: ["*.png"]
  resources: {{minutes: 1, memory: 100 MB}}
arms:
  adam: {{label: Adam, args: {{optimizer: adam}}}}
  adamw: {{label: AdamW, args: {{optimizer: adamw}}}}
design: independent
seeds: {{values: [1337, 42, 7, 8, 9]}}
measurements:
  error: {{kind: reported, from: eval.error, label: test error (%), better: lower}}
expectations:
  - id: better
    kind: difference
    measurement: error
    of: [adamw, adam]
    direction: lower
    smallest_effect: {{abs: 0.1, why: "a tenth is the least that matters"}}
scales:
  quick:
    notice: "A toy that shows how a command is run, and nothing else."
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A claim, its program beside it."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(LEAVES, encoding="utf-8")
    (tmp_path / "a.claim.yaml").write_text(CLAIM, encoding="utf-8")
    return tmp_path


def program(folder: Path, text: str) -> None:
    (folder / "code" / "train.py").write_text(text, encoding="utf-8")


def change(folder: Path, old: str, new: str) -> None:
    path = folder / "a.claim.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def verify(folder: Path, *more: str, code: bool = True) -> CompletedProcess[str]:
    consent = ["--allow-code"] if code else []
    places = ["--store", str(folder / "store"), "--reports", str(folder / "reports")]
    return repro("verify", folder / "a.claim.yaml", *places, "--device", "cpu", *consent, *more)


def report(folder: Path) -> dict[str, Any]:
    path = folder / "reports/adamw_better/quick/report.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def mistakes(folder: Path) -> str:
    with pytest.raises(SpecError) as refused:
        load_claim(folder / "a.claim.yaml", "quick")
    return str(refused.value)


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
    assert "0 runs trained or measured, 10 as they were" in again.stdout


def test_without_consent_nothing_is_run(folder: Path) -> None:
    """One sentence, with the command that would be run."""
    done = verify(folder, code=False)
    assert done.returncode == 2
    assert not (folder / "store").exists() or not list(RunStore(folder / "store").keys())
    (said,) = done.stderr.strip().splitlines()
    for optimizer in ("adam", "adamw"):
        assert f"train.py --seed '{{seed}}' --optimizer {optimizer} --out '{{out}}'" in said
    assert "--allow-code" in said


@pytest.mark.parametrize("below", ["", "/.."], ids=["the folder", "one above"])
def test_a_folder_may_be_trusted_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    """The program is named all the same, and an edit changes nothing about it."""
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", f"/nowhere:{folder}{below}")
    done = verify(folder, code=False)
    assert done.returncode == 0, done.stderr
    assert "running code of others: " in done.stderr
    program(folder, LEAVES + "\n# edited")
    assert "10 runs trained" in verify(folder, code=False).stdout


def test_a_folder_that_is_trusted_says_nothing_of_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor of one whose name begins alike, nor of a claim that is given beside one of it."""
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(folder / "code"))
    assert verify(folder, code=False).returncode == 2
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(folder)[:-1])
    assert verify(folder, code=False).returncode == 2
    mine = folder / "mine"
    mine.mkdir()
    (mine / "b.claim.yaml").write_text(CLAIM.replace("id: adamw", "id: b_adamw"), encoding="utf-8")
    (folder / "code").rename(mine / "code")
    (folder / "code").symlink_to(mine / "code")
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(mine))
    done = verify(folder, str(mine / "b.claim.yaml"), code=False)
    assert done.returncode == 2


def test_a_link_in_a_trusted_folder_leads_to_no_consent(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = folder / "trusted"
    trusted.mkdir()
    (trusted / "a.claim.yaml").symlink_to(folder / "a.claim.yaml")
    (trusted / "code").mkdir()
    (trusted / "code" / "train.py").write_text(LEAVES, encoding="utf-8")
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(trusted))
    assert verify(trusted, code=False).returncode == 2


def test_a_trusted_folder_is_named_from_the_root(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", ".")
    done = verify(folder, code=False)
    assert done.returncode == 2
    assert "REPRO_ALLOW_CODE_IN: '.' is another folder wherever" in done.stderr


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
    assert "10 as they were" in done.stdout
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
    done = verify(folder)
    assert "did you mean 'eval.error'" in done.stderr
    change(folder, "from: eval.eror", "from: eval.error")
    done = verify(folder)
    assert "10 runs trained or measured" in done.stdout
    assert "CONFIRMED" in done.stdout


def test_divergence_is_what_was_declared(folder: Path) -> None:
    """A status is a failure, unless it is declared a divergence; so is what is not finite."""
    program(folder, LEAVES.replace("out = Path", "assert seed != 42\nout = Path"))
    change(folder, "  keep:", "  diverged: [exit]\n  keep:")
    done = verify(folder)
    assert "INVALID" in done.stdout
    assert "Adam: 1 of 5 runs diverged; 0 allowed" in done.stdout
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


@pytest.mark.parametrize(
    ("old", "new", "place", "said"),
    [
        ("workdir: code", "workdir: cod", "13:3", "there is no folder 'cod'"),
        ("workdir: code", "workdir: ..", "13:3", "there is no folder '..'"),
        ("files: [train.py]", "files: [trian.py]", "14:11", "no file 'trian.py'"),
        ("files: [train.py]", "files: [x, '../a.claim.yaml']", "14:14", "files"),
        ("{optimizer: adam}", "{seed: 3}", "19:", "cannot be called seed"),
        (', "{args}"', "", "", "the command uses neither {args} nor {optimizer}"),
        ("[1337, 42, 7, 8, 9]", "[1337, 42, 42]", "", "seed 42 is listed twice"),
        ("args: {optimizer: adam}", "configuration: x/y, args: {a: 1}", "", "one kind of evidence"),
        ("from: eval.error, ", "", "", "does not say which number of arm"),
        ("configuration:\n", "other:\n", "", "other"),
        (REPORTED, "kind: perplexity, split: test", "", "a program, which has no perplexity"),
    ],
)  # fmt: skip
def test_mistakes_have_their_place(folder: Path, old: str, new: str, place: str, said: str) -> None:
    change(folder, old, new)
    text = mistakes(folder)
    assert said in text
    assert f"a.claim.yaml:{place}" in text


def test_args_without_a_configuration(folder: Path) -> None:
    text = (folder / "a.claim.yaml").read_text(encoding="utf-8")
    head, rest = text.split("configuration:\n")
    (folder / "a.claim.yaml").write_text(f"{head}arms:{rest.split('arms:')[1]}", encoding="utf-8")
    assert "the claim holds no configuration" in mistakes(folder)


def test_a_link_out_of_the_folder_is_no_file_of_the_program(folder: Path) -> None:
    (folder / "code" / "secret.py").symlink_to("/etc/passwd")
    change(folder, "files: [train.py]", 'files: ["*.py"]')
    assert "leads out" in mistakes(folder)


def attempt(folder: Path, *more: str) -> CompletedProcess[str]:
    return repro("try", folder / "a.claim.yaml", "--device", "cpu", *more)


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


def test_nothing_is_tried_without_consent_or_an_arm(folder: Path) -> None:
    assert attempt(folder).returncode == 2
    done = attempt(folder, "--arm", "sgd", "--allow-code")
    assert done.returncode == 2
    assert "arm 'sgd' is not trained here\n  expected: an arm that is: adam, adamw" in done.stderr


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


def worst_class(folder: Path, name: str = "functions_of_files") -> None:
    """A function beside the claim, and a measurement by it in place of the number."""
    text = (
        "import math\nfrom pathlib import Path\n"
        "def length(folder: Path) -> int:\n    return len((folder / 'plot.png').read_bytes())\n"
        "def absent(folder):\n    return (folder / 'weights.bin').read_bytes()\n"
        "def text(folder):\n    return 'a lot'\n"
        "def never(folder):\n    return math.nan\n"
    )
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    own = f"use: '{name}:length', label: size of the figure, better: higher, digits: 1"
    change(folder, "error: {kind", f"length: {{{own}}}\n  error: {{kind")


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
    assert "10 as they were" in verify(folder).stdout


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


def test_a_trusted_folder_is_trusted_by_every_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by `verify` alone; a run that is named by its key is of no folder."""
    worst_class(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    verify(folder)
    place = ["--store", str(folder / "store")]
    claim = str(folder / "a.claim.yaml")
    key = next(iter(RunStore(folder / "store").keys()))
    by_code = ["--measurement", "{use: 'functions_of_files:length', label: size, better: higher}"]
    lines = [["measure", claim, *place], ["runs", "check", claim, *place], ["audit", claim]]
    for line in lines:
        assert "--allow-code" in repro(*line).stderr
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(folder))
    for line in lines:
        assert "--allow-code" not in repro(*line).stderr
    for subject in (key, claim):
        assert "--allow-code" in repro("measure", subject, *place, *by_code).stderr


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
