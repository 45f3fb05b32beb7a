"""A configuration of a command: its command line, its identity, and what it cannot mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from repro.digest import digest
from repro.trainers.command.spec import CommandTraining
from repro.trainers.run import RunSpec

OUT = Path("/runs/1")
BASE: dict[str, Any] = {
    "command": ["python", "train.py", "--seed", "{seed}", "{args}", "--out", "{out}"],
    "files": ["train.py"],
    "results": {"file": "{out}/results.json"},
}


def spec(**changes: Any) -> CommandTraining:
    return CommandTraining.model_validate_json(json.dumps({**BASE, **changes}))


def line(**changes: Any) -> list[str]:
    return spec(**changes).arguments(7, OUT)


def test_arguments_are_flags() -> None:
    """Numbers as Python writes them; a switch that is off is left out; a list follows its name."""
    args = {"lr": 0.001, "opt": "adam w", "amp": True, "ema": False, "sizes": [1, 2]}
    assert line(args=args) == [
        *("python", "train.py", "--seed", "7", "--lr", "0.001", "--opt", "adam w", "--amp"),
        *("--sizes", "1", "2", "--out", "/runs/1"),
    ]


def test_arguments_in_the_style_of_hydra() -> None:
    args = {"optim.lr": 0.001, "amp": True, "ema": False, "sizes": [1, 2]}
    assert line(args=args, style="hydra")[4:8] == [
        *("optim.lr=0.001", "amp=true", "ema=false", "sizes=[1,2]"),
    ]


def test_an_argument_that_is_named_is_not_among_the_others() -> None:
    """Braces that are doubled are braces; text around a placeholder stays."""
    command = ["./run", "{seed}", "b={bias}", "{{bias}}", "{args}", "lr={lr}-{bias}"]
    assert line(command=command, args={"bias": True, "lr": 0.1, "k": 3}) == [
        *("./run", "7", "b=true", "{bias}", "--k", "3", "lr=0.1-true"),
    ]


def test_a_value_is_never_read_as_a_placeholder_or_by_a_shell() -> None:
    args = {"text": "{seed}; rm -rf $HOME"}
    assert line(args=args)[4:6] == ["--text", "{seed}; rm -rf $HOME"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"args": {"a b": 3}}, "pattern"),
        ({"command": []}, "at least 1"),
        ({"files": ["/etc/passwd"]}, "pattern"),
        ({"files": ["../secret"]}, "pattern"),
        ({"keep": ["../*"]}, "pattern"),
        ({"results": {}}, "results are in one place"),
        ({"results": {"file": "a", "csv": "b"}}, "results are in one place"),
        ({"results": {"stdout": "("}}, "stdout is no regular expression"),
        ({"results": {"stdout": "loss (.*)"}}, "stdout names no number"),
        ({"results": {"log": "{out}/a.log", "pattern": "loss (.*)"}}, "pattern names no number"),
        ({"results": {"log": "{out}/a.log"}}, "log and pattern go together"),
        ({"results": {"file": "{out}/a", "pattern": "(?P<a>x)"}}, "log and pattern go together"),
        ({"diverged": ["whim"]}, "whim"),
        ({"resources": {"memory": "lots"}}, "pattern"),
        ({"digests": {"train.py": "x"}}, "pattern"),
    ],
)
def test_what_no_configuration_can_mean(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        spec(**changes)
    assert said in str(refused.value).replace("Input should be", "whim")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"command": ["x", "{args}"]}, "the command does not use {seed}"),
        ({"command": ["{args}", "{seed}"]}, "the command begins with its arguments"),
        ({"command": ["x", "{seed}"], "args": {"k": 1}}, "the command uses neither {args} nor {k}"),
        ({"files": []}, "no files are named"),
        ({"command": ["x", "{sed}"]}, "{sed} stands for nothing"),
        ({"command": ["x", "{seed}", "--{args}"]}, "{args} stands for several arguments"),
        ({"args": {"seed": 3}}, "an argument cannot be called seed"),
        ({"results": {"file": "{lr}/a"}}, "{lr} stands for nothing"),
        ({"results": {"file": "{args}"}}, "{args} stands for several arguments"),
        ({"results": {"file": "r.json"}}, "'r.json' is not below the folder of the run"),
        ({"results": {"csv": "{out}/../r.csv"}}, "is not below the folder of the run"),
        ({"files": ["src/**.py"]}, "'src/**.py': ** is by itself between two /"),
        ({"keep": ["**"]}, "'**': ** is by itself between two /"),
        ({"results": {"csv": "{out}/r.csv"}, "resume": True}, "a program that resumes may write"),
        ({"resume": {"step": "epoch"}}, "the results are no series in a file"),
    ],
)
def test_settings_that_lead_nowhere(changes: dict[str, Any], said: str) -> None:
    assert [words[0] for _, words in spec(**changes).mistakes() if said in words[0]]


@pytest.mark.parametrize(
    "changes",
    [
        {"args": {"lr": 0.1}},
        {"resume": True},
        {"resume": True, "results": {"stdout": "(?P<a>x)"}},
        {"resume": {"step": "epoch"}, "results": {"csv": "{out}/{lr}/r.csv"}, "args": {"lr": 1}},
        {"files": ["src/**/*.py", "**/a.py"]},
    ],
)
def test_a_sound_configuration_has_no_mistakes(changes: dict[str, Any]) -> None:
    assert not list(spec(**changes).mistakes())


def test_what_is_shown_is_what_would_be_run_on_one_line() -> None:
    """With the seed and the folder left open, and the variables that are declared."""
    shown = spec(args={"lr": 0.1, "text": "a\nb"}, environment={"K": "x y"}).shown
    assert shown == (
        r"K='x y' python train.py --seed '{seed}' --lr 0.1 --text 'a\nb' --out '{out}'"
    )


def test_a_limit_that_decides_a_divergence_is_part_of_the_identity() -> None:
    """Only there: all other keys are what they were."""
    limits = [{"minutes": 1.0}, {"minutes": 60.0}, {}]
    timed = [spec(diverged=["timeout"], resources=each) for each in limits]
    assert len({each.digest() for each in timed}) == 3
    assert len({spec(resources=each).digest() for each in limits}) == 1
    memory = spec(diverged=["timeout"], resources={"minutes": 1.0, "memory": "3 GB", "gpus": 2})
    assert memory.digest() == timed[0].digest()
    again = CommandTraining.model_validate_json(json.dumps(timed[0].identity()))
    assert again.digest() == timed[0].digest()


def test_runs_from_before_it_was_are_older_ones() -> None:
    """So a claim that has only them is STALE, and says so."""
    timed = spec(diverged=["timeout"], resources={"minutes": 1.0})
    (older,) = RunSpec(training=timed, replicate=3).older_keys()
    before = {"schema": 1, "replicate": 3, "root": 0, "streams": "independent"}
    identity = {name: each for name, each in timed.identity().items() if name != "resources"}
    assert older == digest({**before, "training": identity})
    assert not list(RunSpec(training=spec(), replicate=3).older_keys())


def digests(**files: str) -> dict[str, str]:
    return {name: digit * 64 for name, digit in files.items()}


def test_the_identity_is_what_numbers_depend_on() -> None:
    """Not the place, the resources, or the patterns by which the same files were found."""
    base = spec(digests=digests(a="1"))
    assert base.digest() == spec(digests=digests(a="1"), workdir="code", folder="/x").digest()
    same = {"resources": {"gpus": 2}, "resume": True, "files": ["*.py"]}
    assert base.digest() == spec(digests=digests(a="1"), **same).digest()
    others: list[dict[str, Any]] = [
        {"args": {"lr": 1}},
        {"command": ["a", "{seed}"]},
        {"environment": {"A": "1"}},
        {"keep": ["a.png"]},
        {"diverged": ["exit"]},
        {"results": {"csv": "{out}/results.json"}},
        {"digests": digests(a="2")},
    ]
    found = {spec(**{"digests": digests(a="1"), **each}).digest() for each in others}
    assert len({base.digest(), *found}) == 8


def test_an_identity_can_be_read_as_a_training() -> None:
    """As a store does with the specification of a run."""
    base = spec(digests=digests(a="1"), args={"lr": 0.1})
    again = CommandTraining.model_validate_json(json.dumps(base.identity()))
    assert again.digest() == base.digest()


def test_edited_files_are_named_where_nothing_else_differs() -> None:
    now = spec(digests=digests(a="1", b="2", d="4"))
    before = spec(digests=digests(a="1", b="3", c="4"))
    assert now.edited(before.identity()) == ("b", "c", "d")
    assert now.edited(now.identity()) == ()
    assert now.edited(spec(digests=digests(a="2"), args={"lr": 1}).identity()) == ()
    assert now.edited({"model": "another trainer's"}) == ()
