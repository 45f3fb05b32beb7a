"""For each cause of evidence that cannot be used: the advice is on it, and works when followed."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from repro.store.run_store import RunStore
from tests.trainers.command.toy import LEAVES, change, program, report, verify

ALIKE = LEAVES.replace('f"{seed} {given.optimizer}"', 'f"{seed}"').replace('== "adam"', '== "x"')
NO_NUMBER = LEAVES.replace(
    "out = Path", "error = float('nan') if seed == 42 else error\nout = Path"
)


def advised(folder: Path) -> list[tuple[str, str | None]]:
    """What the report says would change the verdict: each step, and its command."""
    return [(step["text"], step["command"]) for step in report(folder)["changes"]]


def validity(folder: Path) -> str:
    return str(report(folder)["verdict"]["validity"])


def followed(folder: Path, command: str | None) -> str:
    """The validity after the command that is advised, with the places of this test."""
    assert command is not None
    words = shlex.split(command)
    assert words[:2] == ["repro", "verify"]
    verify(folder, *words[3:], code=False)
    return validity(folder)


def test_a_store_that_is_not_there_is_named(folder: Path) -> None:
    """INCOMPLETE for want of a store says so, and not that seeds are missing."""
    verify(folder)
    nowhere = folder / "nowhere"
    done = verify(folder, "--no-train", "--store", str(nowhere))
    assert validity(folder) == "INCOMPLETE"
    said = f"There is no store at {nowhere}: name the store that has the runs with --store, or "
    assert advised(folder)[0][0].startswith(said)
    assert f"  to do: {said}" in done.stdout
    assert not nowhere.exists()
    verify(folder, "--no-train", "--store", str(folder / "store"))
    assert validity(folder) == "VALID"


def test_missing_seeds_are_trained(folder: Path) -> None:
    """A program that failed for one seed: once it is corrected, the command trains the rest."""
    program(folder, LEAVES.replace("out = Path", "assert seed != 42\nout = Path"))
    verify(folder)
    assert validity(folder) == "INCOMPLETE"
    ((text, command),) = advised(folder)
    assert text.startswith("Train the seeds that are missing")
    program(folder, LEAVES)
    assert followed(folder, command) == "VALID"


@pytest.mark.parametrize("undo", [True, False])
def test_an_edit_is_undone_or_the_runs_are_trained_again(folder: Path, *, undo: bool) -> None:
    """STALE after an edit: both ways that are offered end it, and undoing it trains nothing."""
    verify(folder)
    program(folder, f"{LEAVES}\n# edited")
    verify(folder, "--no-train")
    assert validity(folder) == "STALE"
    ((text, command),) = advised(folder)
    assert "undo the edit, and the runs that are there count" in text
    if undo:
        program(folder, LEAVES)
        verify(folder, "--no-train")
        assert validity(folder) == "VALID"
    else:
        assert followed(folder, command) == "VALID"


def test_a_damaged_run_is_removed_and_trained_again(folder: Path) -> None:
    """INVALID for a file that is not what was stored: the folder to remove is named."""
    verify(folder)
    store = RunStore(folder / "store")
    key = next(iter(store.keys()))
    record = store.folder(key) / "record.json"
    record.write_bytes(record.read_bytes()[:-20])
    done = verify(folder)
    assert validity(folder) == "INVALID"
    ((text, command),) = advised(folder)
    assert text == f"Remove {store.folder(key)} (its run is then trained again)."
    assert f"to do: {text.removesuffix('.')}: repro verify a.claim.yaml" in done.stdout
    shutil.rmtree(store.folder(key))
    assert followed(folder, command) == "VALID"


def test_arms_that_ran_alike_name_the_argument_that_is_not_read(folder: Path) -> None:
    """INVALID for copied arms: no control failed, and pairing them is no way out."""
    program(folder, ALIKE)
    verify(folder)
    found = report(folder)["verdict"]
    assert found["validity"] == "INVALID"
    assert [flag["kind"] for flag in found["flags"]] == ["one arm copied from another"]
    ((text, command),) = advised(folder)
    assert text == (
        "Adam and AdamW ran alike: find out why the program does not read "
        "`--optimizer adam` and `--optimizer adamw`."
    )
    assert command is None
    program(folder, LEAVES)
    verify(folder)
    assert validity(folder) == "VALID"


def test_a_policy_is_offered_for_a_run_that_diverged(folder: Path) -> None:
    """INVALID for a divergence: the policy that its rules allow, which gives a verdict."""
    change(folder, "results: {file", "diverged: [not_finite]\n  results: {file")
    program(folder, NO_NUMBER)
    verify(folder)
    assert validity(folder) == "INVALID"
    ((text, command),) = advised(folder)
    assert text == (
        "Say in `seeds: {diverged: ...}` what a run that diverges counts: `exclude<=1` leaves up "
        "to 1 of each arm out, with `min: 4`."
    )
    assert command is None
    change(folder, "8, 9]}", "8, 9], diverged: exclude<=1, min: 4}")
    verify(folder)
    assert validity(folder) == "VALID"


def test_no_policy_is_offered_that_the_rules_refuse(folder: Path) -> None:
    """All five diverged: there is nothing to leave out."""
    change(folder, "results: {file", "diverged: [not_finite]\n  results: {file")
    program(folder, LEAVES.replace("out = Path", "error = float('nan')\nout = Path"))
    verify(folder)
    assert advised(folder)[0][0].startswith("Find out why they diverged: no policy allows for so")


def test_each_remedy_is_said_once(folder: Path) -> None:
    """Both arms diverged: one step, as both ask for the same."""
    change(folder, "results: {file", "diverged: [not_finite]\n  results: {file")
    program(folder, NO_NUMBER)
    done = verify(folder)
    assert done.stdout.count("to do: ") == 1
    assert json.dumps(report(folder)["verdict"]).count("of 5 runs diverged") >= 2
