"""What does without torch: programs are run, results imported, corpora counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import yaml

CLAIM = """
schema: 1
id: adamw_better
title: AdamW is better than Adam on a toy
source: {own: "a toy that shows what is run"}
SIDES
design: independent
seeds: {values: [1, 2, 3, 4, 5]}
measurements:
  error: {kind: reported, from: error, label: test error, better: lower}
expectations:
  - id: better
    kind: difference
    measurement: error
    of: [adamw, adam]
    direction: lower
    smallest_effect: {abs: 0.1, why: "a tenth is the least that matters"}
"""

TRAINED = """
configuration:
  trainer: command
  command: [python, train.py, "{seed}", "{bias}", "{out}"]
  files: [train.py]
  results: {file: "{out}/results.json"}
  resources: {minutes: 1, memory: 100 MB}
arms:
  adam: {label: Adam, args: {bias: 0.5}}
  adamw: {label: AdamW, args: {bias: 0.0}}
"""

IMPORTED = """
arms:
  adam: {label: Adam, import: {from: files, path: "out/adam_{seed}/results.json"}}
  adamw: {label: AdamW, import: {from: files, path: "out/adamw_{seed}/results.json"}}
"""

TEXT = "one two\nthree two\n"

PROGRAM = """
import json, random, sys
from pathlib import Path
seed, bias, out = int(sys.argv[1]), float(sys.argv[2]), Path(sys.argv[3])
error = 2 + bias + random.Random(f"{seed} {bias}").gauss(0, 0.1)
out.joinpath("results.json").write_text(json.dumps({"error": error}))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder, and in it a torch that cannot be imported, here and by every process below."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    missing = "raise ModuleNotFoundError('No module named torch', name='torch')\n"
    (hidden / "torch.py").write_text(missing, encoding="ascii")
    return tmp_path


def repro(place: Path, *arguments: str | Path) -> CompletedProcess[str]:
    """The command in a process of its own."""
    path = os.pathsep.join([str(place / "hidden"), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, "-m", "repro", *map(str, arguments)],
        cwd=place,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def verify(place: Path, sides: str, *more: str) -> CompletedProcess[str]:
    (place / "a.claim.yaml").write_text(CLAIM.replace("SIDES", sides), encoding="utf-8")
    places = ["--store", "store", "--reports", "reports", "--device", "cpu"]
    return repro(place, "verify", "a.claim.yaml", *places, *more)


def test_a_program_is_run_and_judged(place: Path) -> None:
    """By processes of a pool, in which torch cannot be imported either."""
    (place / "train.py").write_text(PROGRAM, encoding="utf-8")
    done = verify(place, TRAINED, "--allow-code")
    assert done.returncode == 0, done.stderr
    assert "adamw_better: VALID, CONFIRMED" in done.stdout
    assert "10 runs trained or measured" in done.stdout


def test_results_are_imported_and_judged(place: Path) -> None:
    for arm, bias in (("adam", 0.5), ("adamw", 0.0)):
        for seed in range(1, 6):
            folder = place / "out" / f"{arm}_{seed}"
            folder.mkdir(parents=True)
            found = {"error": 2 + bias + 0.01 * seed}
            (folder / "results.json").write_text(json.dumps(found), encoding="utf-8")
    done = verify(place, IMPORTED)
    assert done.returncode == 0, done.stderr
    assert "VALID, CONFIRMED" in done.stdout


@pytest.mark.parametrize(("unit", "vocabulary"), [("words", 4), ("characters", len(set(TEXT)))])
def test_a_text_is_counted(place: Path, unit: str, vocabulary: int) -> None:
    folder = place / "mine"
    folder.mkdir()
    for split in ("train", "valid", "test"):
        (folder / f"{split}.txt").write_text(TEXT, encoding="utf-8")
    done = repro(place, "corpus", folder, "--unit", unit)
    assert done.returncode == 0, done.stderr
    found = yaml.safe_load(done.stdout)["corpus"]
    assert (found["name"], found["vocabulary"]) == ("mine", vocabulary)


def test_dialogs_are_counted(place: Path) -> None:
    folder = place / "talk"
    folder.mkdir()
    dialog = {"dialog": "1", "utterances": [["A", "how are you", "q"], ["B", "fine", "a"]]}
    for split in ("train", "valid", "test"):
        (folder / f"{split}.jsonl").write_text(json.dumps(dialog) + "\n", encoding="utf-8")
    done = repro(place, "corpus", folder)
    assert done.returncode == 0, done.stderr
    found = yaml.safe_load(done.stdout)["corpus"]
    assert (found["kind"], found["responses"]["train"]) == ("dialog", 2)
