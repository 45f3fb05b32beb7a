"""A claim about a toy program, and what tests do with it: change, verify, try."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from repro.errors import SpecError
from repro.specs.load import load_claim
from tests.commands import repro
from tests.edits import changed

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


def program(folder: Path, text: str) -> None:
    (folder / "code" / "train.py").write_text(text, encoding="utf-8")


def change(folder: Path, old: str, new: str) -> None:
    changed(folder / "a.claim.yaml", old, new)


def verify(folder: Path, *more: str, code: bool = True) -> CompletedProcess[str]:
    """In this process, unless ``more`` names an engine: each worker costs an import of repro."""
    consent = ["--allow-code"] if code else []
    here = ("--device", "cpu", "--engine", "serial")
    places = ["--store", str(folder / "store"), "--reports", str(folder / "reports")]
    return repro("verify", folder / "a.claim.yaml", *places, *here, *consent, *more)


def report(folder: Path) -> dict[str, Any]:
    path = folder / "reports/adamw_better/quick/report.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def mistakes(folder: Path) -> str:
    with pytest.raises(SpecError) as refused:
        load_claim(folder / "a.claim.yaml", "quick")
    return str(refused.value)


def attempt(folder: Path, *more: str) -> CompletedProcess[str]:
    return repro("try", folder / "a.claim.yaml", "--device", "cpu", *more)


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
