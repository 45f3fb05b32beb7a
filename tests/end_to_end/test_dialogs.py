"""Dialogs of one's own: a corpus that is described, two output layers, a verdict."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

CONFIGURATION = """schema: 1
title: echo
source: "made for the tests"
{corpus}
model:
  kind: seq2seq
  embedding_size: 4
  utterance_size: 4
  dialog_size: 6
  context_size: 6
  output: {{kind: softmax}}
recipe: {{epochs: 6, batch_size: 10, optimiser: {{kind: adam, learning_rate: 0.05}}}}
"""
CLAIM = """schema: 1
id: echo
title: A mixture answers as well as Softmax
source: {paper: mine2026, citation: "made for the tests", locator: nowhere, quote: "for the tests"}
arms:
  softmax: {label: Softmax, configuration: own/echo}
  mos:
    label: MoS
    configuration: own/echo
    override: {model: {output: {kind: mos, components: 2}}}
design: independent
comparable: {same: [corpus, precision, epochs, averaging, schedule]}
seeds: {min: 3, plan: 3}
measurements:
  perplexity: {kind: perplexity, split: test}
  seen: {kind: perplexity, split: train, mode: training}
  rank: {kind: rank, split: test}
  bleu:
    kind: bleu
    order: 1
    side: recall
    smoothing: add_one
    beam: {size: 3, longest: 5, kept: 2}
expectations:
  - id: as_good
    kind: equivalence
    measurement: perplexity
    of: [mos, softmax]
    margin: {abs: 5, why: "made for the tests of this project"}
  - id: answers
    kind: bound
    measurement: bleu
    of: [softmax]
    at_least: {value: 0.1, why: "made for the tests of this project"}
  - id: low_rank
    kind: bound
    measurement: rank
    of: [softmax]
    at_most: {value: structural, why: "no more than the structure of a Softmax allows"}
combine: {all: [as_good, answers, low_rank]}
canaries:
  - {id: low_rank_arms, kind: rank_bound, measurement: rank, arms: [softmax]}
  - {id: known_matrix, kind: known_rank, measurement: rank}
scales: {quick: {notice: "A tiny model for the tests."}}
"""


def repro(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m repro` with one thread."""
    return subprocess.run(
        [sys.executable, "-m", "repro", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        cwd=place,
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with dialogs in which the first word of what was said is said again."""
    chance = random.Random(3)
    (tmp_path / "data" / "echo").mkdir(parents=True)
    for split, count in (("train", 40), ("valid", 6), ("test", 6)):
        lines = []
        for _ in range(count):
            said = [chance.choice("abcde") for _ in range(2)]
            texts = [" ".join(said), said[0], said[0]]
            lines.append({"dialog": "1", "utterances": [["A", text, "x"] for text in texts]})
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (tmp_path / "data" / "echo" / f"{split}.jsonl").write_text(text)
    described = repro(tmp_path, "corpus", "data/echo")
    assert "responses: {train: 120, valid: 18, test: 18}" in described.stdout, described.stderr
    (tmp_path / "configurations" / "own").mkdir(parents=True)
    configuration = CONFIGURATION.format(corpus=described.stdout)
    (tmp_path / "configurations" / "own" / "echo.yaml").write_text(configuration)
    (tmp_path / "echo.yaml").write_text(CLAIM)
    return tmp_path


VERIFY = ("verify", "echo.yaml", "--data", "data", "--store", "store", "--device", "cpu")


def test_dialogs_of_ones_own_are_verified(place: Path) -> None:
    """Perplexity, rank and BLEU of two output layers come to a verdict; then a file is changed."""
    done = repro(place, *VERIFY, "--workers", "1")
    assert "echo (quick): VALID" in done.stdout, done.stdout + done.stderr
    report = json.loads((place / "reports" / "echo" / "quick" / "report.json").read_text())
    for arm in report["arms"]:
        for one in arm["replicates"]:
            values = one["values"]
            assert 1 < values["perplexity"] < 10  # of ten words, most of which can be known
            assert 0.1 < values["bleu"] <= 1
            assert 1 <= values["rank"] <= 10
    assert all(canary["state"] == "passed" for canary in report["canaries"])
    (place / "data" / "echo" / "test.jsonl").write_text("{}\n")
    refused = repro(place, *VERIFY, "--workers", "1", "--store", "another_store")
    assert refused.returncode == 5
    assert "test.jsonl is another file: its SHA-256 begins with" in refused.stderr
    assert "Traceback" not in refused.stderr + refused.stdout
