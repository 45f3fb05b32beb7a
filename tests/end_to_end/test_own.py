"""A stranger's road: a text of one's own, a trunk and an output layer of one's own, a verdict."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from repro.digest import file_digest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-layer.md"
LAYER = Path(__file__).parents[1] / "extension" / "output_layer.py"
CONFIGURATION = """schema: 1
title: own
source: "made for the tests"
{corpus}
model:
  embedding_size: 6
  hidden_size: 6
  context_size: 6
  layers: 1
  trunk: {{kind: own, use: "my_layers:Gru", version: "{version}", parameters: 252}}
  output: {{kind: own, use: "my_layers:Cubic", version: "{version}", options: {{strength: 0.1}}}}
recipe:
  {{epochs: 1, batch_size: 4, learning_rate: 1, window: {{base: 10}}, dropout: {{input: 0.1}}}}
"""
CLAIM = """schema: 1
id: own
title: A little dropout changes nothing
source: {paper: mine2026, citation: "made for the tests", locator: nowhere, quote: "for the tests"}
arms:
  a: {label: a, configuration: own/gru}
  b: {label: b, configuration: own/gru, override: {recipe: {dropout: {input: 0.2}}}}
design: independent
seeds: {min: 3, plan: 3}
measurements: {bits: {kind: perplexity, split: test, batch_size: 4, unit: bits}}
expectations:
  - id: same
    kind: equivalence
    measurement: bits
    of: [a, b]
    margin: {abs: 1, why: "made for the tests of this project"}
scales: {quick: {notice: "A tiny model for the tests."}}
"""


def repro(place: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """`python -m repro` with the user's folder where Python looks for modules."""
    paths = (str(place / "python"), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(
        [sys.executable, "-m", "repro", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=place,
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a text, and the docs' module."""
    chance = random.Random(5)
    (tmp_path / "data" / "letters").mkdir(parents=True)
    for split in ("train", "valid", "test"):
        text = "".join(chance.choices("abc ", weights=(4, 2, 1, 1), k=400))
        (tmp_path / "data" / "letters" / f"{split}.txt").write_text(text)
    (trunk,) = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    example = f"{LAYER.read_text(encoding='utf-8')}\n\n{trunk}"
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "my_layers.py").write_text(example, encoding="utf-8")
    (tmp_path / "own.yaml").write_text(CLAIM)
    return tmp_path


def test_own_text_trunk_and_output_layer_are_verified(place: Path) -> None:
    """What `repro corpus` prints goes into a configuration; edited, the module is refused.

    At once, as a mistake in a configuration. Without consent none of it is imported, and what is
    finished is judged without the module and without consent.
    """
    described = repro(place, "corpus", "data/letters", "--unit", "characters")
    assert "vocabulary: 4\n  tokens: {train: 400, valid: 400, test: 400}" in described.stdout
    module = place / "python" / "my_layers.py"
    version = f"sha256:{file_digest(module)[:16]}"
    (place / "configurations" / "own").mkdir(parents=True)
    text = CONFIGURATION.format(corpus=described.stdout, version=version)
    (place / "configurations" / "own" / "gru.yaml").write_text(text)
    verify = (
        "verify",
        "own.yaml",
        "--data",
        "data",
        "--device",
        "cpu",
        "--workers",
        "1",
        "--store",
    )
    code = (
        "own.yaml:6:32: arm a needs my_layers:{0}, which configurations/own/gru.yaml:{1} names: "
        "code from outside repro to be run here"
    )
    refused = repro(place, *verify, "store")
    assert (refused.returncode, refused.stdout) == (2, "")
    named = "own.yaml:6:32: my_layers:Gru and my_layers:Cubic are code from outside repro"
    assert named in refused.stderr
    assert "give --allow-code" in refused.stderr
    assert not (place / "store").exists()
    planned = repro(place, "plan", "own.yaml", "--store", "store")
    assert code.format("Gru", "20:27") in planned.stdout
    done = repro(place, *verify, "store", "--allow-code")
    assert "own (quick): VALID" in done.stdout, done.stderr
    said = done.stderr.splitlines()
    assert said[:2] == [
        f"running code from outside repro: my_layers:{each}" for each in ("Cubic", "Gru")
    ]
    report = json.loads((place / "reports" / "own" / "quick" / "report.json").read_text())
    assert report["arms"][1]["code"] == [
        {"use": f"my_layers:{each}", "version": version} for each in ("Gru", "Cubic")
    ]
    page = (place / "reports" / "own" / "quick" / "report.html").read_text()
    assert f"my_layers:Gru {version} (a, b); my_layers:Cubic {version} (a, b)" in page
    bits = [one["values"]["bits"] for one in report["arms"][0]["replicates"]]
    assert all(1.5 < each < 2.2 for each in bits)  # of four letters; the source has 1.75 bits
    module.write_text(module.read_text() + "# edited\n")
    refused = repro(place, *verify, "another_store", "--allow-code")
    assert refused.returncode == 2
    mistake = f"my_layers:Gru: its version here is sha256:{file_digest(module)[:16]}"
    arms = "own: arm a (own/gru), arm b (own/gru): "
    assert refused.stderr.count(arms + mistake) == refused.stderr.count(mistake) == 1
    assert "Traceback" not in refused.stderr + refused.stdout
    assert refused.stdout == ""
    module.unlink()
    again = repro(place, *verify, "store")
    assert (again.returncode, again.stdout.splitlines()[0]) == (
        done.returncode,
        done.stdout.splitlines()[0],
    )
