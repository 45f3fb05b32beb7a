"""`repro new --command` for programs that take seeds and arguments in ways of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repro.specs.load import load_claims
from repro.trainers.command.spec import CommandTraining
from tests.commands import repro

GIVEN = ("--by", "0.1", "--why", "as much as can be felt", "--own", "we want to know it")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REPRO_STORE", str(tmp_path / "store"))
    Path("train.py").write_text("print(1)\n")
    Path("sim").write_text('#!/bin/sh\necho "error: 1.$1"\n')
    Path("sim").chmod(0o755)


def written(command: str, *more: str) -> tuple[str, CommandTraining]:
    """What was said, and the program of the claim, whose arms are told apart by `kind`."""
    asked = ("--command", command, "--better", "lower", "--measure", "error", *GIVEN, *more)
    done = repro("new", *asked)
    assert done.returncode == 0, done.stderr
    file = Path("lower_error.claim.yaml")
    text = file.read_text(encoding="utf-8")
    assert repro("new", *asked).returncode == 0  # the same again
    for value in ("old", "new"):
        text = text.replace("args: {}", f"args: {{kind: {value}}}", 1)
        text = text.replace("kind: null", f"kind: {value}", 1)
    file.write_text(text)
    (claim,) = load_claims(file)
    training = claim.run("changed", 3).training
    assert isinstance(training, CommandTraining)
    return done.stdout, training


@pytest.mark.parametrize("program", ["./sim", "sh sim", "sh ./sim"])
def test_a_program_in_this_folder_is_named_as_a_file(program: str) -> None:
    """As a claim names it: without './', which no list of files has."""
    _, training = written(f"{program} {{seed}} {{kind}}")
    assert set(training.digests) == {"sim"}
    tried = repro("try", "lower_error.claim.yaml", "--allow-code")
    assert (tried.returncode, "error = 1" in tried.stdout) == (0, True)


def test_a_program_that_lies_elsewhere_is_no_file_of_the_claim(tmp_path: Path) -> None:
    _, training = written(f"{tmp_path}/sim train.py {{seed}} {{kind}}")
    assert set(training.digests) == {"train.py"}


def test_a_variable_before_the_program_is_set_by_env() -> None:
    said, training = written("SEED={seed} KIND={kind} sh sim")
    assert training.command[:3] == ("env", "SEED={seed}", "KIND={kind}")
    assert "'env' stands before the variables" in said
    assert training.style == "flags"
    assert repro("try", "lower_error.claim.yaml", "--allow-code").returncode == 0


@pytest.mark.parametrize(
    ("command", "style"),
    [
        ("python train.py seed={seed} hydra.run.dir={out}", "hydra"),
        ("python train.py +trainer.seed={seed}", "hydra"),
        ("env SEED={seed} python train.py", "flags"),
        ("python train.py --seed={seed}", "equals"),
        ("python train.py --seed={seed} --lr 1", "equals"),
        ("python train.py --seed {seed} --lr=1", "flags"),
    ],
)
def test_arguments_are_written_as_the_command_writes_its_own(command: str, style: str) -> None:
    said, training = written(command)
    assert training.style == style
    assert (" name=value" in said) == (style == "hydra")
    assert ("--name=value" in said) == (style == "equals")


@pytest.mark.parametrize(
    ("file", "declared"),
    [
        ("{out}/all_results.json", '{file: "{out}/all_results.json"}'),
        ("{out}/lightning_logs/version_0/metrics.csv", "reduce: last"),
        ("{out}/log.jsonl", '{jsonl: "{out}/log.jsonl"}'),
    ],
)
def test_where_the_program_leaves_its_numbers_can_be_said(file: str, declared: str) -> None:
    said, training = written("python train.py --seed {seed} --out {out}", "--results", file)
    assert f"its results are read from {file}, as 'error'" in said
    assert declared in Path("lower_error.claim.yaml").read_text(encoding="utf-8")
    assert file in (training.results.file, training.results.csv, training.results.jsonl)


def test_what_it_prints_can_be_said_too() -> None:
    """Although the command has `{out}`."""
    said, training = written("sh sim {seed} {out}", "--results", "stdout")
    assert "its results are read from the lines of its output that have 'error'" in said
    assert training.results.stdout is not None


def test_a_tracker_can_be_said_too() -> None:
    _, training = written("sh sim {seed} {out}", "--results", "tensorboard:{out}/logs")
    assert training.results.tensorboard == "{out}/logs"


# a command that is run once

TRAINS = """
import json, os, sys
open("begun", "a").write(sys.argv[1] + chr(10))
print("step 1 error: 2.5, val loss 3.5")
if len(sys.argv) > 2:
    with open(os.path.join(sys.argv[2], "all_results.json"), "w") as file:
        json.dump({"eval_error": 1.5, "error": 1.25}, file)
"""


@pytest.mark.parametrize(
    ("command", "measure", "place"),
    [
        ("python train.py {seed} {out}", "eval_error", "{out}/all_results.json"),
        ("python train.py {seed}", "error", "the lines of its output that have 'error'"),
        (
            "python train.py {seed} {out}",
            "val loss",
            "the lines of its output that have 'val loss'",
        ),
    ],
)
def test_a_command_that_is_run_once_says_where_its_numbers_are(
    command: str, measure: str, place: str
) -> None:
    Path("train.py").write_text(TRAINS)
    asked = ("--command", command, "--better", "lower", "--measure", measure, *GIVEN, "--try")
    done = repro("new", *asked)
    assert done.returncode == 0, done.stderr
    assert "the command was run once, with the seed 0: " in done.stdout
    assert f"its results are read from {place}" in done.stdout
    assert Path("begun").read_text() == "0\n"


@pytest.mark.parametrize(
    ("command", "measure", "said"),
    [
        ("python train.py {seed} {out}", "bleu", "expected: eval_error, error, val loss"),
        ("python train.py {seed} {out}", "eval_eror", "did you mean 'eval_error'?"),
        ("python train.py {seed} {lr}", "error", "cannot be run while {lr} has no value"),
        ("python gone.py {seed}", "error", "the program ended with status 2"),
        ("gone {seed}", "error", "gone: cannot be started"),
    ],
)
def test_a_command_that_is_run_once_and_does_not_help(
    command: str, measure: str, said: str
) -> None:
    """Nothing is written; what is there is said."""
    Path("train.py").write_text(TRAINS)
    asked = ("--command", command, "--better", "lower", "--measure", measure, *GIVEN, "--try")
    done = repro("new", *asked)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(Path().glob("*.yaml"))


def test_without_a_seed_both_ways_are_advised() -> None:
    """A variable that the program reads, or runs that are said to have no seed."""
    asked = ("--command", "python train.py", "--better", "lower", "--measure", "error", *GIVEN)
    done = repro("new", *asked)
    assert done.returncode == 2
    assert "SEED={seed} python train.py" in done.stderr
    assert "--unseeded" in done.stderr
    _, training = written("python train.py", "--unseeded")
    assert training.unseeded


def test_results_are_those_of_a_program() -> None:
    Path("results.csv").write_text("arm,seed,error\na,0,1\n")
    asked = ("--from", "results.csv", "--results", "{out}/r.json", "--better", "lower")
    done = repro("new", *asked)
    assert done.returncode == 2
    assert "leave out --from or --results" in done.stderr


def test_claims_of_two_programs_are_two_claims(tmp_path: Path) -> None:
    """In one store, with one measurement: neither is an edit of the other after its results."""
    for folder in ("mine", "yours"):
        place = tmp_path / folder
        place.mkdir()
        (place / "run.sh").write_text(f'echo "error: $1.$2"  # {folder}\n')
        asked = ("--command", "sh run.sh {kind} {seed}", "--better", "lower", "--out", place)
        repro("new", *asked, "--measure", "error", *GIVEN)
        file = place / "lower_error.claim.yaml"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("null", "1", 1).replace("null", "2", 1))
        done = repro("verify", file, "--allow-code")
        assert "VALID, CONFIRMED" in done.stdout
        assert "after results" not in done.stdout


def test_a_small_number_is_not_shown_as_none() -> None:
    """By `repro try`, whatever the digits of the measurement are."""
    Path("sim").write_text('echo "error: 8.8651e-04"\n')
    written("sh sim {seed} {kind}")
    tried = repro("try", "lower_error.claim.yaml", "--allow-code")
    assert "\nerror: error = 0.000887\n" in tried.stdout


def test_an_edit_after_results_is_named_with_what_to_do_about_another_claim() -> None:
    """In the report: a reader may never have seen the claim that had the id before."""
    Path("sim").write_text('[ $2 = new ] && echo "error: 1.$1" || echo "error: 2.$1"\n')
    written("sh sim {seed} {kind}")
    file = Path("lower_error.claim.yaml")
    repro("verify", file, "--allow-code")
    file.write_text(file.read_text(encoding="utf-8").replace("plan: 5", "plan: 6"))
    done = repro("verify", file, "--allow-code", "--json")
    flags = {each["kind"]: each["text"] for each in json.loads(done.stdout)["verdict"]["flags"]}
    said = flags["declared after results were visible"]
    assert "changed after results were visible (seeds.plan)" in said
    assert "give this one an id of its own" in said
