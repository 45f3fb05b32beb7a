"""One claim that uses all seven packages of this folder at once, from its plan to its report."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from repro.cli import app
from repro.errors import RuleError
from repro.judging.document import Document
from repro.plugins import version_of
from repro.report.write import read_document
from repro.specs.load import load_claim
from repro.store.run_store import RunStore

TINY = Path(__file__).parents[1] / "end_to_end" / "claims" / "configurations" / "tiny"
OUTPUT = "tests.extension.output_layer:Cubic"
TRAINER = "tests.extension.trainer:LeastSquares"
ERROR = "tests.extension.trainer:SlopeError"
ENTROPY = "tests.extension.measurement:MeanEntropy"
KIND = "tests.extension.expectation:MedianAtMostKind"
SOURCE = "tests.extension.evidence:JsonLines"
READER = "tests.extension.reader:IniRuns"
FORMAT = "tests.extension.report_format:PLAIN"
CUBIC = (
    f'{{kind: own, use: "{OUTPUT}", version: "{version_of(OUTPUT)}", options: {{strength: 0.1}}}}'
)
LINE = f"""schema: 1
title: a line through some points
source: "made for the tests"
trainer: {{use: "{TRAINER}"}}
points: 400
slope: 2.0
noise: 0.5
"""
CLAIM = f"""schema: 1
id: all_seven
title: A bent logit, a line and a log are as they were said to be
source: {{paper: mine2026, citation: "for the tests", locator: nowhere, quote: "for the tests"}}
arms:
  cubic: {{label: Cubic, configuration: mine/cubic}}
  softmax: {{label: Softmax, configuration: mine/softmax}}
  line: {{label: the line, configuration: mine/line}}
  logged: {{label: the log, evidence: {{use: "{SOURCE}", file: logged.jsonl}}}}
  kept: {{label: the file, import: {{from: "{READER}", path: kept.ini}}}}
design: independent
seeds: {{min: 5, plan: 5}}
measurements:
  entropy: {{use: "{ENTROPY}", split: valid}}
  error: {{use: "{ERROR}", truth: 2.0}}
expectations:
  - id: as_undecided
    kind: equivalence
    measurement: entropy
    of: [cubic, softmax]
    margin: {{abs: 2, why: "made for the tests of this project"}}
  - id: less_than_logged
    kind: difference
    measurement: entropy
    of: [cubic, logged]
    direction: lower
  - id: less_than_kept
    kind: difference
    measurement: entropy
    of: [cubic, kept]
    direction: lower
  - id: straight
    use: "{KIND}"
    measurement: error
    of: [line]
    at_most: 1
scales: {{quick: {{notice: "Tiny models and a line, for the tests of this project."}}}}
"""
CONSENT = "read it, and if you trust it, give --allow-code (Python: allow_code=True)"
WATCHED = """
import sys
import typer.testing
from repro.cli import app
done = typer.testing.CliRunner().invoke(app, sys.argv[1:])
print(done.stderr)
print("imported:", [name for name in sys.modules if name.startswith("tests.extension.")])
sys.exit(done.exit_code)
"""


def written(folder: Path) -> Path:
    """The claim, its configurations, and what is logged."""
    mine = folder / "configurations" / "mine"
    mine.mkdir(parents=True)
    softmax = (TINY / "softmax.yaml").read_text(encoding="utf-8")
    assert "{kind: softmax}" in softmax
    texts = {
        mine / "softmax.yaml": softmax,
        mine / "cubic.yaml": softmax.replace("{kind: softmax}", CUBIC),
        mine / "line.yaml": LINE,
        folder / "all_seven.claim.yaml": CLAIM,
        folder / "logged.jsonl": "\n".join(
            json.dumps({"seed": seed, "entropy": 9 + seed / 100}) for seed in range(5)
        ),
        folder / "kept.ini": "\n".join(
            f"[run {seed}]\nseed = {seed}\nentropy = {9.003 + seed / 70}\nerror = 0.{seed + 1}"
            for seed in range(5)
        ),
    }
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return folder / "all_seven.claim.yaml"


def arguments(command: str, claim: Path, *more: str) -> list[str]:
    folder = claim.parent
    return [command, str(claim), "--store", str(folder / "store"), "--device", "cpu", *more]


def verify(claim: Path) -> Result:
    more = ("--reports", str(claim.parent / "reports"), "--format", FORMAT, "--workers", "1")
    return CliRunner().invoke(app, arguments("verify", claim, *more, "--allow-code"))


def plan(claim: Path) -> str:
    done = CliRunner().invoke(app, arguments("plan", claim, "--allow-code"))
    assert done.exit_code == 0, done.output
    return done.output


def report(claim: Path) -> tuple[Document, Path]:
    folder = claim.parent / "reports" / "all_seven" / "quick"
    return read_document(folder / "report.json"), folder


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The claim, planned, trained and judged."""
    claim = written(tmp_path_factory.mktemp("seven"))
    assert "15 runs, 15 to train or measure" in plan(claim)
    done = verify(claim)
    assert done.exit_code == 0, done.output
    return claim


def test_one_verdict_of_all_of_it(verified: Path) -> None:
    """Two kinds that are built in and one that is not, in one conjunction."""
    document, _ = report(verified)
    assert document.verdict.conclusion == "CONFIRMED"
    assert [(one.id, one.kind, one.conclusion) for one in document.results] == [
        ("as_undecided", "equivalence", "CONFIRMED"),
        ("less_than_logged", "difference", "CONFIRMED"),
        ("less_than_kept", "difference", "CONFIRMED"),
        ("straight", "median_at_most", "CONFIRMED"),
    ]


def test_each_arm_has_what_its_trainer_gives(verified: Path) -> None:
    """A line has no entropy, a language model no slope."""
    document, _ = report(verified)
    values = {
        arm.id: {key for run in arm.replicates for key in run.values} for arm in document.arms
    }
    assert values == {
        "cubic": {"entropy"},
        "softmax": {"entropy"},
        "line": {"error"},
        "logged": {"entropy"},
        "kept": {"entropy", "error"},
    }
    store = verified.parent / "store"
    assert len([*RunStore(store).keys()]) == 15
    assert len([*store.rglob("mean_entropy-*.json")]) == 10
    assert len([*store.rglob("slope_error-*.json")]) == 5


def test_the_report_names_all_seven(verified: Path) -> None:
    """By their names, in the document and on the page; the last has written its own file."""
    document, folder = report(verified)
    text = (folder / "report.json").read_text(encoding="utf-8")
    page = (folder / "report.html").read_text(encoding="utf-8")
    for name in (OUTPUT, TRAINER, KIND):
        assert name in text
        assert name in page
    assert [one.kind for one in document.measurements] == ["mean_entropy", "slope_error"]
    assert "ean entropy on the valid split" in page
    assert "error of the slope" in page
    for file in ("logged.jsonl", "kept.ini"):
        assert file in text
        assert file in page
    said = (folder / "verdict.txt").read_text(encoding="utf-8")
    assert "CONFIRMED" in said
    assert "lies" in said


def test_a_second_verify_trains_nothing(verified: Path) -> None:
    """All is found again by its key."""
    store = verified.parent / "store"
    before = {path: path.stat().st_mtime_ns for path in store.rglob("*.json")}
    assert "15 runs, 0 to train or measure" in plan(verified)
    done = verify(verified)
    assert done.exit_code == 0, done.output
    after = {path: path.stat().st_mtime_ns for path in store.rglob("*.json")}
    assert {path: after[path] for path in before} == before
    assert len([*RunStore(store).keys()]) == 15


@pytest.mark.parametrize("command", ["plan", "verify"])
def test_nothing_is_imported_without_consent(tmp_path: Path, command: str) -> None:
    """Exit 2, and one sentence with all that is named, by the claim and by its configurations."""
    claim = written(tmp_path)
    line = [sys.executable, "-c", WATCHED, *arguments(command, claim)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    names = f"{OUTPUT}, {TRAINER}, {SOURCE}, {READER}, {ENTROPY}, {ERROR} and {KIND}"
    (said,) = done.stdout.partition("\n\n")[0].splitlines()
    rights = "are code from outside repro, yours or another's, which runs with your rights: "
    assert f"{claim.name}:6:40: {names} {rights}" in said
    assert said.endswith(CONSENT)
    assert "imported: []" in done.stdout
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("of: [line]", "of: [cubic]"),
        ("of: [cubic, softmax]", "of: [cubic, line]"),
        (
            f'entropy: {{use: "{ENTROPY}", split: valid}}',
            "entropy: {kind: perplexity, split: valid}",
        ),
    ],
)
def test_what_an_arm_does_not_have_is_not_read_of_it(tmp_path: Path, old: str, new: str) -> None:
    """An expectation on such an arm is refused before anything is trained."""
    claim = written(tmp_path)
    text = claim.read_text(encoding="utf-8")
    assert old in text
    if "perplexity" in new:
        text = text.replace("of: [cubic, softmax]", "of: [softmax, line]")
    claim.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(RuleError, match=r"arm '(line|cubic)' is a .*, which has no"):
        load_claim(claim, "quick", allow_code=True)
