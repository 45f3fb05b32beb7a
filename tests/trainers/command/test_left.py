"""What a finished program left is read again, and the program is not: wrong first."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repro.errors import NotKeptError, ReadingError, StoreError
from repro.specs.load import load_claim
from repro.store.run_store import OutputStore, RunStore
from repro.trainers.command.left import Left, ProgramRun
from tests.commands import repro
from tests.edits import changed
from tests.trainers.command.toy import CLAIM, REPORTED, attempt, change, program, verify

STARTS = """
import argparse, json, os, random, sys
from pathlib import Path
given = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:])
seed, out = int(given["seed"]), Path(given["out"])
with open("begun", "a") as begun:
    begun.write(f"{given['optimizer']} {seed}\\n")
error = 2 + random.Random(f"{seed} {given['optimizer']}").gauss(0, 0.1)
error += 0.5 * (given["optimizer"] == "adam")
"""
"""A program that takes `--name=value` alone, and says in a file that it was begun."""

LOOP = STARTS + "for step in range(3): print(f'step {step} val_loss: {error + 2 - step:.4f}')\n"
FILE = STARTS + "(out / 'all_results.json').write_text(json.dumps({'eval_error': error}))\n"
TABLE = STARTS + (
    "rows = ''.join(f'{n};{error + 2 - n:.4f}\\n' for n in range(3))\n"
    "(out / 'metrics.csv').write_text('epoch;val_error\\n' + rows)\n"
)

COMMAND = '--seed={seed}", "--optimizer={optimizer}", "--out={out}"]'


@pytest.fixture
def folder(folder: Path) -> Path:
    """A claim of two arms with three seeds, its program beside it."""
    change(folder, '--seed, "{seed}", "{args}", --out, "{out}"]', f'"{COMMAND}')
    change(folder, "[1337, 42, 7, 8, 9]", "[1, 2, 3]")
    return folder


def begun(folder: Path) -> list[str]:
    return (folder / "code" / "begun").read_text(encoding="utf-8").splitlines()


def verified(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return verify(folder, "--force", "--engine", "serial", *more)


def outputs(folder: Path) -> OutputStore:
    return OutputStore(RunStore(folder / "store"))


JSON = 'file: "{out}/results.json"'


@pytest.mark.parametrize(
    ("text", "results", "wrong", "said", "right"),
    [
        (
            LOOP,
            "stdout: 'val_loss: (?P<val_loss>\\S+)'",
            "from: val_loss",
            "3 values of 'val_loss'",
            "from: val_loss, reduce: last",
        ),
        (
            FILE,
            'file: "{out}/all_results.json"',
            "from: eval.error",
            "eval_error",
            "from: eval_error",
        ),
        (
            TABLE,
            'csv: "{out}/metrics.csv"',
            "from: val_error",
            "3 values of 'val_error'",
            "from: val_error, reduce: {at: {epoch: 2}}",
        ),
    ],
    ids=["no reduction", "another name", "a series"],
)
def test_a_wrong_measurement_costs_no_training(
    folder: Path, text: str, results: str, wrong: str, said: str, right: str
) -> None:
    """The first run that ends is told with what is there, and no other is begun.

    Nothing was judged, so nobody has seen a value: the correction is no second choice.
    """
    program(folder, text)
    change(folder, JSON, results)
    change(folder, "from: eval.error", wrong)
    done = verified(folder)
    assert done.returncode == 5
    assert said in done.stderr
    assert "AdamW, seed 1 and 2 more: not started: of the first run of this program" in done.stderr
    assert begun(folder) == ["adam 1"]
    change(folder, wrong, right)
    done = verified(folder)
    assert "(quick): VALID" in done.stdout, done.stderr
    assert "after results were visible" not in done.stdout
    assert "5 runs trained or measured, 0 reused, 1 read from what" in done.stdout
    assert sorted(begun(folder)) == sorted({*begun(folder)})
    assert len(begun(folder)) == 6
    change(folder, "direction: lower", "direction: higher")
    assert "after results were visible" in verified(folder).stdout


def test_workers_begin_nothing_more_once_a_run_cannot_be_read(folder: Path) -> None:
    """Two workers, two programs: neither takes up another before its first one is read."""
    program(folder, FILE)
    change(folder, JSON, 'file: "{out}/all_results.json"')
    change(folder, "[1, 2, 3]", "[1, 2, 3, 4, 5, 6, 7, 8]")
    done = verify(folder, "--engine", "processes", "--workers", "2")
    assert "no number 'eval.error'" in done.stderr
    assert 1 <= len(begun(folder)) <= 2


@pytest.mark.parametrize(
    ("text", "results", "measured", "found"),
    [
        (LOOP, "stdout: '(?P<val_loss>\\S+) nats'", "val_loss, reduce: last", "val_loss"),
        (FILE, 'file: "{out}/results.json"', "eval_error", "'all_results.json': eval_error"),
        (TABLE, 'jsonl: "{out}/metrics.csv"', "val_error, reduce: last", "epoch, val_error"),
    ],
    ids=["a pattern", "a file", "a form"],
)
def test_wrong_results_cost_no_training(
    folder: Path, text: str, results: str, measured: str, found: str
) -> None:
    """With what is read another run is meant: it is read from what the program left."""
    right = {
        LOOP: "stdout: 'val_loss: (?P<val_loss>\\S+)'",
        FILE: 'file: "{out}/all_results.json"',
        TABLE: 'csv: "{out}/metrics.csv"',
    }
    program(folder, text)
    change(folder, "from: eval.error", f"from: {measured}")
    change(folder, JSON, right[text])
    assert "6 runs trained or measured" in verified(folder).stdout
    change(folder, right[text], results)
    done = verified(folder)
    assert done.returncode == 5
    assert re.search(rf"found: in [^\n]*{re.escape(found)}", done.stderr), done.stderr
    assert "not started" in done.stderr
    change(folder, results, right[text].replace("(?P<", " *(?P<"))
    done = verified(folder)
    told = "read from what the program left; nothing was trained"
    again = "0 runs trained or measured, 6 reused"
    assert (f"6 runs {told}" if text is LOOP else again) in done.stdout
    assert len(begun(folder)) == 6


def test_a_first_run_that_cannot_be_read_is_kept_with_those_that_run_beside_it(
    folder: Path,
) -> None:
    """Workers are not held back: what they have begun ends, and is read as well."""
    program(folder, FILE.replace("error = 2", "import time; time.sleep(1)\nerror = 2"))
    change(folder, "[1, 2, 3]", str([*range(6)]))
    change(folder, "from: eval.error", "from: eval_error")
    done = verify(folder, "--force", "--engine", "processes", "--workers", "2")
    assert done.returncode == 5
    first = len(begun(folder))
    assert first <= 4
    change(folder, JSON, 'file: "{out}/all_results.json"')
    done = verify(folder, "--force", "--engine", "processes", "--workers", "2")
    assert f"{12 - first} runs trained or measured, 0 reused, {first} read" in done.stdout
    assert len(begun(folder)) == 12


def test_wrong_again_begins_no_further_run(folder: Path) -> None:
    """What is there is read first; while it cannot be, nothing new is begun."""
    program(folder, FILE)
    change(folder, "from: eval.error", "from: eval_error")
    for name in ("a.json", "b.json"):
        change(
            folder,
            JSON if name == "a.json" else "a.json",
            JSON.replace("results", "a") if name == "a.json" else name,
        )
        done = verify(folder, "--force", "--engine", "processes", "--workers", "2")
        assert done.returncode == 5
        if name == "a.json":
            first = begun(folder)
    assert begun(folder) == first


def test_a_kept_file_is_read_of_what_was_left(folder: Path) -> None:
    """Another `keep` is another run; text is kept unasked, a large file only if it is named."""
    more = "(out / 'notes.txt').write_text('a')\n(out / 'model.bin').write_bytes(bytes(9))\n"
    program(folder, FILE + more)
    change(folder, JSON, 'file: "{out}/all_results.json"')
    change(folder, "from: eval.error", "from: eval_error")
    assert "6 runs trained or measured" in verified(folder).stdout
    change(folder, '["*.png"]', '["*.txt"]')
    assert "6 runs read from what the program left" in verified(folder).stdout
    assert len(begun(folder)) == 6
    change(folder, '["*.txt"]', '["*.bin"]')
    assert "6 runs trained or measured" in verified(folder).stdout
    assert len(begun(folder)) == 12


def test_an_output_that_is_too_long_is_searched_while_it_is_printed(folder: Path) -> None:
    """Its middle is not kept: another pattern needs the program again."""
    many = "\nfor n in range(170): print(100_000 * 'x')\n"
    program(folder, LOOP + many)
    change(folder, JSON, "stdout: 'val_loss: (?P<val_loss>\\S+)'")
    change(folder, "from: eval.error", "from: val_loss, reduce: last")
    assert "6 runs trained or measured" in verified(folder).stdout
    change(folder, "val_loss: (", "loss: (")
    assert "6 runs trained or measured" in verified(folder).stdout
    assert len(begun(folder)) == 12


def test_a_program_that_is_killed_is_run_again(folder: Path) -> None:
    """Only what has ended well is recorded."""
    ends = "os.kill(os.getpid(), 9 * (seed == 2 and len(open('begun').readlines()) < 6))\n"
    program(folder, FILE + ends)
    change(folder, JSON, 'file: "{out}/all_results.json"')
    change(folder, "from: eval.error", "from: eval_error")
    assert "was killed by SIGKILL" in verified(folder).stderr
    first = len(begun(folder))
    verified(folder)
    assert len(begun(folder)) > first


def test_what_ended_and_was_not_recorded_is_recorded_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `kill -9`, or on a full disk, between the end of a program and its record."""
    program(folder, FILE)
    change(folder, JSON, 'file: "{out}/all_results.json"')
    change(folder, "from: eval.error", "from: eval_error")
    real = OutputStore.put

    def full(self: OutputStore, program: ProgramRun, files: dict[str, bytes]) -> None:
        raise OSError(28, "No space left on device", str(self.root))

    monkeypatch.setattr(OutputStore, "put", full)
    assert "No space left on device" in verified(folder).stderr
    (first,) = begun(folder)
    monkeypatch.setattr(OutputStore, "put", real)
    assert "6 runs trained or measured" in verified(folder).stdout
    assert len(begun(folder)) == 6
    assert begun(folder).count(first) == 1
    assert list((folder / "store").rglob("checkpoint*")) == []


def test_a_process_that_is_killed_while_it_records_loses_nothing(folder: Path) -> None:
    program(folder, FILE)
    change(folder, JSON, 'file: "{out}/all_results.json"')
    change(folder, "from: eval.error", "from: eval_error")
    halts = (
        "import sys, time\nfrom repro.store.run_store import OutputStore\n"
        "OutputStore.put = lambda *_: (open('here', 'w').close(), time.sleep(60))\n"
        "from repro.cli import main\nmain()\n"
    )
    line = ["verify", "a.claim.yaml", "--store", "store", "--reports", "reports", "--force"]
    line += ["--engine", "serial", "--device", "cpu", "--allow-code"]
    with subprocess.Popen([sys.executable, "-c", halts, *line], cwd=folder) as killed:
        deadline = time.monotonic() + 60
        while not (folder / "here").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(killed.pid, signal.SIGKILL)
    assert len(begun(folder)) == 1
    assert "6 runs trained or measured" in verified(folder).stdout
    assert len(begun(folder)) == 6


def test_two_claims_that_read_a_program_otherwise_start_it_once(folder: Path) -> None:
    program(folder, FILE + "print('error:', error)\n")
    change(folder, JSON, 'file: "{out}/all_results.json"')
    change(folder, "from: eval.error", "from: eval_error")
    other = (folder / "a.claim.yaml").read_text(encoding="utf-8")
    (folder / "b.claim.yaml").write_text(
        other.replace("id: adamw_better", "id: printed").replace(
            'file: "{out}/all_results.json"', "stdout: 'error: (?P<eval_error>\\S+)'"
        ),
        encoding="utf-8",
    )
    done = verified(folder, str(folder / "b.claim.yaml"))
    assert done.stdout.count("(quick): VALID") == 2
    assert "6 runs trained or measured, 0 reused, 6 read" in done.stdout
    assert len(begun(folder)) == 6


def test_another_design_or_divergence_reads_the_same_program(folder: Path) -> None:
    """A program knows its seed alone."""
    program(folder, FILE)
    change(folder, JSON, 'file: "{out}/all_results.json"')
    change(folder, "from: eval.error", "from: eval_error")
    verified(folder)
    change(folder, "design: independent", "design: paired")
    assert "6 runs read from what the program left" in verified(folder).stdout
    change(folder, "  keep:", "  diverged: [exit, not_finite]\n  keep:")
    assert "6 runs read from what the program left" in verified(folder).stdout
    assert len(begun(folder)) == 6


# records that are damaged, or hostile


def recorded(folder: Path) -> str:
    program(folder, FILE)
    change(folder, JSON, 'file: "{out}/all_results.json"')
    change(folder, "from: eval.error", "from: eval_error")
    verified(folder)
    return next(outputs(folder).keys())


def test_a_damaged_record_is_found_and_never_read(folder: Path) -> None:
    key = recorded(folder)
    (folder / "store/outputs" / key[:2] / key / "left.json").write_text("{}")
    done = repro("runs", "check", "--store", folder / "store")
    assert done.returncode == 4
    assert "what 6 programs left" in done.stdout
    assert f"remove {folder / 'store/outputs' / key[:2] / key}" in done.stdout
    changed(folder / "a.claim.yaml", '["*.png"]', '["*.txt"]')
    done = verified(folder)
    assert "left.json: has 2 bytes" in done.stderr
    assert "5 runs read from what the program left" in done.stdout


def test_runs_are_exported_without_what_programs_left(folder: Path) -> None:
    recorded(folder)
    to = folder / "copy"
    done = repro("runs", "export", "--store", folder / "store", "--to", to)
    assert "6 runs exported" in done.stdout
    assert not (to / "outputs").exists()
    assert repro("runs", "check", "--store", to).stdout == "6 runs read, nothing is damaged\n"


@pytest.mark.parametrize("name", ["../../x", "/srv/x", "a/../../x", ""])
def test_a_record_that_leads_out_is_refused(name: str) -> None:
    left = Left(files={name: b"x"}, sizes={name: 1})
    with pytest.raises(StoreError, match="not recorded as it should be"):
        Left.of(left.record())


def test_links_and_pipes_are_not_kept(folder: Path) -> None:
    text = (
        FILE + "(out / 'x.json').symlink_to('/etc/passwd')\nos.mkfifo(out / 'y.json')\n"
        "(out / 'd').symlink_to('/etc')\n"
    )
    program(folder, text)
    change(folder, JSON, 'file: "{out}/d/passwd"')
    assert "it leads out of the folder of the run" in verified(folder).stderr
    (key,) = outputs(folder).keys()
    left = Left.of(outputs(folder).files(key))
    assert [*left.files] == ["all_results.json"]
    assert sorted(left.links) == ["d", "x.json", "y.json"]


def test_nothing_of_a_trial_is_kept_but_all_of_it_is_told(folder: Path) -> None:
    program(folder, FILE)
    change(folder, "from: eval.error", "from: eval_error")
    done = attempt(folder, "--allow-code")
    assert done.returncode == 5
    assert "results.json: cannot be read: No such file" in done.stderr
    assert "found: in 'all_results.json': eval_error" in done.stderr


def test_keys_of_runs_are_as_they_were(folder: Path) -> None:
    """What is recorded apart has a key of its own, in which nothing is that is only read."""
    program(folder, FILE)
    run = load_claim(folder / "a.claim.yaml", "quick", allow_code=True).run("adam", 1)
    assert "results" in run.identity()["training"]
    assert {*ProgramRun.of(run).identity()["program"]} == {"args", "command", "digests"}
    other = run.model_copy(update={"streams": "paired"})
    assert other.key != run.key
    assert ProgramRun.of(other).key == ProgramRun.of(run).key
    assert ProgramRun.of(run.model_copy(update={"root": 1})).key != ProgramRun.of(run).key
    assert issubclass(NotKeptError, ReadingError)
    assert REPORTED in CLAIM
