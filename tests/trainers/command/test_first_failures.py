"""A program that fails with whatever seed is not run with all of them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.trainers.command.toy import LEAVES, PROGRAM, change, program, verify

TELLS = "open('begun', 'a').write(f'{given.optimizer} {given.seed}\\n')\n"
"""A line in a file beside the program, once for each run that was begun."""


def begun(folder: Path) -> list[str]:
    return sorted((folder / "code" / "begun").read_text(encoding="utf-8").splitlines())


def test_a_slip_in_a_program_costs_two_runs_of_each_arm(folder: Path) -> None:
    """What is not started is told once an arm, and the same command makes all of it."""
    slip = LEAVES.replace("out = Path", TELLS + "given.sede\nout = Path")
    program(folder, slip)
    done = verify(folder, "--engine", "serial")
    assert done.returncode == 5
    assert begun(folder) == ["adam 1337", "adam 42", "adamw 1337", "adamw 42"]
    assert done.stderr.count("| AttributeError: ") == 1
    (adam, adamw) = [line for line in done.stderr.splitlines() if line.startswith("failed: ")][-2:]
    assert adam.startswith("failed: Adam, seed 7 and 2 more: not started: the first runs of this")
    assert adamw.startswith("failed: AdamW, seed 7 and 2 more: not started: the first runs of this")
    assert "INCOMPLETE" in done.stdout
    assert "0 runs trained or measured, 0 reused, 10 missing" in done.stdout
    program(folder, slip.replace("sede", "seed"))
    assert "10 runs trained or measured" in verify(folder).stdout


def test_workers_that_have_gone_on_meanwhile_are_the_last(folder: Path) -> None:
    """Each of the two may have begun one more when the second failure is told."""
    program(folder, LEAVES.replace("out = Path", TELLS + "sys.exit(1)\nout = Path"))
    change(folder, "[1337, 42, 7, 8, 9]", str(list(range(12))))
    done = verify(folder, "--engine", "processes", "--workers", "2")
    assert done.returncode == 5
    assert 4 <= len(begun(folder)) <= 8
    assert done.stderr.count("more: not started: ") == 2


def test_seeds_that_always_fail_keep_no_other_from_its_turn(folder: Path) -> None:
    """The same command begins with those that were not started."""
    program(folder, LEAVES.replace("out = Path", "assert seed not in {1337, 42}\nout = Path"))
    assert "0 runs trained" in verify(folder, "--engine", "serial").stdout
    assert "6 runs trained" in verify(folder, "--engine", "serial").stdout


def test_seeds_that_fail_later_stop_nothing(folder: Path) -> None:
    """A program that has worked is not what is wrong."""
    program(folder, LEAVES.replace("out = Path", TELLS + "assert seed < 100\nout = Path"))
    change(folder, "[1337, 42, 7, 8, 9]", "[7, 8, 9]")
    verify(folder, "--force")
    change(folder, "[7, 8, 9]", "[101, 102, 103, 104, 7, 8, 9]")
    verify(folder, "--engine", "serial")
    assert len(begun(folder)) == 14


def test_the_same_failure_is_told_once(folder: Path) -> None:
    """With the number of runs and their seeds, and what each printed last in the words of one."""
    program(folder, PROGRAM + "\nraise RuntimeError(f'no data for {seed}')\n")
    done = verify(folder, "--workers", "1")
    assert done.returncode == 5
    told = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    assert len(told) == 3
    runs = re.fullmatch(
        r"failed: ([0-9]) runs [(](.*)[)]: the program ended with status 1", told[0]
    )
    assert runs is not None
    assert len(re.findall("[0-9]+", runs[2])) == int(runs[1]) >= 4
    assert runs[2].count("Adam, seeds 1337, 42") == runs[2].count("AdamW, seeds 1337, 42") == 1
    assert done.stderr.count("RuntimeError: no data for") == 1


def test_a_seed_that_is_in_a_message_by_chance_makes_no_other_failure(folder: Path) -> None:
    """`line 1 column 1` is no matter of the seed 1."""
    program(folder, PROGRAM + "\n(out / 'results.json').write_text('no JSON')\n")
    change(folder, "[1337, 42, 7, 8, 9]", "[1, 2, 3, 4, 5]")
    done = verify(folder, "--workers", "2")
    assert done.stderr.count("\nfailed: ") - done.stderr.count("more: not started: ") == 1


def test_other_failures_are_told_apart(folder: Path) -> None:
    """By what is said last: a division by zero is no missing file."""
    wrong = "1 / 0 if given.optimizer == 'adam' else open('/nowhere')"
    program(folder, PROGRAM + f"\n{wrong}\n")
    done = verify(folder, "--workers", "1")
    assert done.stderr.count("ZeroDivisionError: division by zero") == 1
    assert done.stderr.count("FileNotFoundError: ") == 1


def test_the_folder_of_a_run_is_told_by_its_placeholder(folder: Path) -> None:
    """Its path is as long as the run's key, and gone by then."""
    program(folder, PROGRAM)
    done = verify(folder, "--workers", "1")
    assert "{out}/results.json: cannot be read: No such file or directory" in done.stderr
    assert "checkpoint-out" not in done.stderr
