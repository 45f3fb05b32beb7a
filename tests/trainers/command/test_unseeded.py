"""Programs that take no seed: a variable, or runs that differ by chance alone."""

from __future__ import annotations

import json
from pathlib import Path

from repro.specs.load import load_claim
from tests.trainers.command.test_left import begun, verified
from tests.trainers.command.toy import change, mistakes, program

TRAINS = """
import json, os, random, sys
seed = os.environ.get("SEED")
with open("begun", "a") as begun:
    begun.write(f"{sys.argv[1]} {seed}\\n")
error = random.Random(seed).gauss(2.0, 0.1) + 0.5 * (sys.argv[1] == "adam")
print("error", error)
"""
"""A program that draws its own seed, unless a variable says it."""


def a_claim(folder: Path, *words: str) -> None:
    program(folder, TRAINS)
    change(folder, '--seed, "{seed}", "{args}", --out, "{out}"]', '"{optimizer}"]')
    change(folder, 'file: "{out}/results.json"', "stdout: 'error (?P<error>\\S+)'")
    change(folder, "from: eval.error", "from: error")
    change(folder, "[1337, 42, 7, 8, 9]", "[1, 2, 3]")
    for word in words:
        change(folder, "  keep:", f"  {word}\n  keep:")


def test_without_a_seed_the_ways_out_are_named(folder: Path) -> None:
    a_claim(folder)
    said = mistakes(folder)
    assert "the command does not use {seed}, so every run would be the same" in said
    assert '[env, "SEED={seed}", python, train.py]' in said
    assert "`unseeded: true`" in said


def test_a_variable_takes_the_seed(folder: Path) -> None:
    a_claim(folder)
    change(folder, "command: [", 'command: [env, "SEED={seed}", ')
    assert "(quick): VALID" in verified(folder).stdout
    assert sorted(begun(folder))[:3] == ["adam 1", "adam 2", "adam 3"]


def test_runs_without_a_seed_are_judged_and_told(folder: Path) -> None:
    """Each is made once, and none is made again for another reading."""
    a_claim(folder, "unseeded: true")
    done = verified(folder)
    assert "(quick): VALID" in done.stdout, done.stderr
    assert sorted(begun(folder)) == 3 * ["adam None"] + 3 * ["adamw None"]
    page = (folder / "reports/adamw_better/quick/report.html").read_text(encoding="utf-8")
    assert "the runs of Adam and AdamW take no seed: they differ by chance alone" in page
    change(folder, "'error (?P<error>", "'error +(?P<error>")
    assert "6 runs read from what the program left" in verified(folder).stdout


def test_runs_without_a_seed_are_no_pairs(folder: Path) -> None:
    a_claim(folder, "unseeded: true")
    change(folder, "design: independent", "design: paired")
    said = mistakes(folder)
    assert "arm 'adam' takes no seed, so no run of another arm shares anything" in said
    assert "write `design: independent`" in said


def test_a_seed_is_there_or_not(folder: Path) -> None:
    a_claim(folder, "unseeded: true")
    change(folder, "command: [", 'command: [env, "SEED={seed}", ')
    assert "the command uses {seed}, and its runs are said to have none" in mistakes(folder)


def test_arguments_with_an_equals_sign(folder: Path) -> None:
    """`--name=value`, which is all that some programs take; a list in brackets."""
    a_claim(folder, "unseeded: true", "style: equals")
    change(folder, '"{optimizer}"]', '"{args}"]')
    change(folder, "{optimizer: adam}", "{optimizer: adam, amp: true, sizes: [1, 2]}")
    claim = load_claim(folder / "a.claim.yaml", "quick", allow_code=True)
    shown = json.dumps(claim.arms["adam"].configuration.training().shown)  # type: ignore[union-attr]
    assert "--optimizer=adam --amp=true '--sizes=[1,2]'" in shown
