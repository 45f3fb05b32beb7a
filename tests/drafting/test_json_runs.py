"""`repro compare` of one JSON file: what is read of it, and that one run is none to compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repro.report.write import read_document
from repro.results.json_runs import runs_in_json
from tests.commands import repro
from tests.drafting.test_compare import EFFECT, MIXUP, PLAIN, VALUES

BOTH = {"mixup": MIXUP, "plain": PLAIN}

RUNS = [{"method": arm, "seed": seed, "test": {"error": value}} for arm, seed, value in VALUES]
ROWS = [{"method": arm, "seed": seed, "error": value} for arm, seed, value in VALUES]

SHAPES: dict[str, tuple[Any, str]] = {
    "a list": (RUNS, "a list of runs"),
    "a list inside": ({"made": "2024", "runs": ROWS}, "a list of runs, 'runs'"),
    "lists by arm": (
        {arm: [{"seed": s, "error": v} for a, s, v in VALUES if a == arm] for arm in BOTH},
        "a list of runs per arm",
    ),
    "values by arm": ({arm: list(values) for arm, values in BOTH.items()}, "a list of values"),
    "values by arm and seed": (
        {arm: {str(s): v for s, v in enumerate(values)} for arm, values in BOTH.items()},
        "an object per arm, with its seeds",
    ),
    "numbers by arm and seed": (
        {
            arm: {f"seed_{s}": {"error": v, "epoch": 3} for s, v in enumerate(values)}
            for arm, values in BOTH.items()
        },
        "an object per arm, with its seeds",
    ),
    "columns": ({key: [each[key] for each in ROWS] for key in ROWS[0]}, "a list per column"),
    "columns of pandas": (
        {key: {str(n): each[key] for n, each in enumerate(ROWS)} for key in ROWS[0]},
        "an object per column",
    ),
    "rows of pandas": ({str(n): each for n, each in enumerate(ROWS)}, "an object per row"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_verdict(shape: str) -> None:
    """Said is what was read, and the claim that is written reads it again."""
    document, words = SHAPES[shape]
    Path("results.json").write_text(json.dumps(document))
    done = repro("compare", "results.json", "--better", "lower", "--by", "0.3")
    assert done.returncode == 0, done.stderr
    assert f"read: a JSON file: {words}" in done.stdout
    assert "read: n, the seeds per arm: mixup 5, plain 5" in done.stdout
    judged = read_document(Path("reports/mixup_vs_plain/declared/report.json"))
    assert judged.results[0].effect == pytest.approx(EFFECT, abs=1e-12)
    assert repro("verify", "mixup_vs_plain.claim.yaml").returncode == 0


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"error": 4.2, "loss": 1.0}, "with the numbers error, loss"),
        ({"loss": [3.0, 2.0, 1.0], "val_loss": [3.0, 2.5, 2.0]}, "one JSON file is one run"),
        ({"log_history": [{"loss": 2.0, "step": 1}, {"loss": 1.0, "step": 2}]}, "is one run"),
        ({"loss": {"steps": [0, 1], "values": [3.1, 2.9], "timestamps": []}}, "numbers step, loss"),
        ([{"name": {"name": "exact_match", "split": "test"}, "mean": 0.5}], "exact_match.test"),
        ({"mixup": 4.2, "plain": 4.9}, "with the numbers mixup, plain"),
        ([], "one JSON file is one run"),
        (3, "one JSON file is one run"),
    ],
    ids=lambda each: json.dumps(each)[:40] if not isinstance(each, str) else "",
)
def test_one_run_is_refused_with_what_is_in_it(document: Any, words: str) -> None:
    """Epochs are no seeds; and the folder that may hold the others is named."""
    Path("runs").mkdir()
    for name in ("a.json", "b.json"):
        Path("runs", name).write_text(json.dumps(document))
    done = repro("compare", "runs/a.json", "--better", "lower")
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert "1 more .json lie beside it" in done.stderr
    assert "to do: give the folder with the files of all runs, such as runs" in done.stderr


@pytest.mark.parametrize("document", [[1.0, 1.2, 1.1], {"loss": [1.0, 1.2, 1.1]}])
def test_a_list_of_numbers_may_be_of_runs_or_of_steps(document: Any) -> None:
    Path("loss.json").write_text(json.dumps(document))
    for asked in (("compare", "loss.json", "--better", "lower"), ("noise", "loss.json")):
        done = repro(*asked)
        assert (done.returncode, "with the columns seed and the number" in done.stderr) == (2, True)


def test_the_folder_that_is_named_has_other_runs() -> None:
    for seed in range(2):
        Path(f"runs/mixup/{seed}").mkdir(parents=True)
        Path(f"runs/mixup/{seed}/result.json").write_text('{"error": 4.2}')
    done = repro("compare", "runs/mixup/0/result.json", "--better", "lower")
    assert done.stderr.rstrip().endswith("such as runs/mixup")


def test_a_list_that_names_no_arm_says_what_it_has() -> None:
    Path("results.json").write_text(json.dumps([{"seed": s, "error": v} for _, s, v in VALUES]))
    done = repro("compare", "results.json", "--better", "lower")
    assert (done.returncode, "tells the arms apart" in done.stderr) == (2, True)


def test_runs_are_numbered_from_1() -> None:
    Path("results.json").write_text(json.dumps(ROWS))
    _, runs = runs_in_json(Path("results.json"))
    assert [run.place for run in runs] == [f"run {n}" for n in range(1, len(ROWS) + 1)]


def test_columns_of_a_series_are_no_arms() -> None:
    """Nor are they in a CSV, as a trainer's logger writes it."""
    rows = [f"{epoch},{2 / (epoch + 1)},{3 / (epoch + 1)}" for epoch in range(5)]
    Path("history.csv").write_text("\n".join(("epoch,loss,val_loss", *rows)))
    done = repro("compare", "history.csv", "--better", "lower")
    assert (done.returncode, "the series of one run" in done.stderr) == (2, True), done.stdout


def test_one_list_of_values_with_its_seeds_is_runs() -> None:
    document = {"seeds": [4, 7, 9, 11], "pass_rates": [0.9, 0.75, 0.8, 0.85], "mean": 0.825}
    Path("runs.json").write_text(json.dumps({**document, "model": "m"}))
    done = repro("compare", "runs.json", "--at-least", "0.5")
    assert "read: a JSON file: a list of values with the list 'seeds'" in done.stdout, done.stderr
    assert "the number 'pass_rates'" in done.stdout
    assert "n, the seeds per arm: runs 4" in done.stdout
    for arm in ("ours", "base"):
        Path("out").mkdir(exist_ok=True)
        Path("out", f"{arm}.json").write_text(json.dumps(document))
    done = repro("compare", "out", "--better", "higher")
    assert "base 4, ours 4" in done.stdout, done.stderr
