"""Programs that misbehave, and edits meanwhile: no number counts that is not of the run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from repro.errors import SpecError
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.run import Keyed, RunSpec
from tests.commands import repro
from tests.trainers.command.toy import (
    LEAVES,
    PROGRAM,
    attempt,
    change,
    mistakes,
    program,
    report,
    verify,
)


@pytest.fixture
def folder(folder: Path) -> Path:
    """A claim of two arms with three seeds, its program beside it."""
    change(folder, "[1337, 42, 7, 8, 9]", "[1, 2, 3]")
    return folder


def forced(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """A verdict in this process, which starts the programs itself."""
    return verify(folder, "--force", "--engine", "serial", *more)


def store(folder: Path) -> RunStore:
    return RunStore(folder / "store")


def stored(folder: Path) -> list[str]:
    return list(store(folder).keys())


def states(folder: Path) -> list[str]:
    return sorted(store(folder).state(key) for key in stored(folder))


def left_over(folder: Path) -> list[str]:
    return [path.name for path in (folder / "store").rglob("checkpoint*")]


# edits while runs are made

EDITS = "Path('train.py').write_text(Path('train.py').read_text() + '# more\\n')\n"


def test_a_run_whose_file_was_edited_meanwhile_is_not_stored(folder: Path) -> None:
    """Nor is any after it, until the command is given again: then they are other runs."""
    program(folder, LEAVES.replace("print(", "if seed == 2: " + EDITS + "print("))
    done = forced(folder)
    assert done.returncode == 5
    assert "train.py: the file is not as it was when the claim was read" in done.stderr
    assert "give the same command again" in done.stderr
    assert len(states(folder)) > states(folder).count("finished")
    program(folder, LEAVES)
    assert "6 runs trained or measured" in forced(folder).stdout


def test_an_edit_that_is_taken_back_while_a_program_runs_is_seen(folder: Path) -> None:
    """The content is the same before and after; what ran is not known."""
    back = "text = Path('train.py').read_text(); Path('train.py').write_text(text)\n"
    program(folder, LEAVES.replace("print(", "if seed == 2: time.sleep(0.01); " + back + "print("))
    program(folder, "import time\n" + (folder / "code" / "train.py").read_text(encoding="utf-8"))
    done = forced(folder)
    assert "train.py: the file was written while the program ran" in done.stderr
    assert "4 runs trained or measured" in done.stdout


def test_a_file_that_is_put_back_with_its_old_times_is_seen(folder: Path) -> None:
    """When its place on the disk changed last is set by nobody."""
    back = (
        "stat = os.stat('train.py'); text = Path('train.py').read_text(); "
        "Path('train.py').write_text(text); "
        "os.utime('train.py', ns=(stat.st_atime_ns, stat.st_mtime_ns))\n"
    )
    program(folder, LEAVES.replace("print(", "if seed == 2: time.sleep(0.01); " + back + "print("))
    program(folder, "import time\n" + (folder / "code" / "train.py").read_text(encoding="utf-8"))
    done = forced(folder)
    assert "train.py: the file was written while the program ran" in done.stderr


# what is left on the disk


def test_what_a_failed_run_has_left_is_removed(folder: Path) -> None:
    """A program that fills the disk takes it from nobody else."""
    program(folder, LEAVES + "\n(out / 'large').write_bytes(bytes(9)); sys.exit(1)")
    forced(folder)
    assert left_over(folder) == []
    change(folder, "  keep:", "  resume: true\n  keep:")
    forced(folder)
    assert set(left_over(folder)) == {"checkpoint-out"}


GONE = "shutil.rmtree(out)"
LINKED = "Path('elsewhere').mkdir(exist_ok=True); out.symlink_to(Path('elsewhere').resolve())"
LOCKED = "(out / 'a' / 'b').mkdir(parents=True); (out / 'a').chmod(0); sys.exit(3)"
SPOILS = [
    f"{GONE}; out.write_text('x')",
    f"{GONE}; out.symlink_to('/nowhere')",
    f"{GONE}; {LINKED}",
    GONE,
    LOCKED,
]


@pytest.mark.parametrize(
    "spoils",
    SPOILS,
    ids=["a file", "a link to nothing", "a link to a folder", "nothing", "a locked folder"],
)
@pytest.mark.parametrize("resume", ["false", "true"])
def test_a_spoilt_folder_fails_its_run_alone(folder: Path, spoils: str, resume: str) -> None:
    """And not the execution, as if the store were out of reach; another attempt begins again."""
    spoilt = f"\nimport shutil\nif seed == 2:\n    {spoils}\n"
    program(folder, LEAVES + spoilt)
    change(folder, "  keep:", f"  resume: {resume}\n  keep:")
    done = forced(folder)
    assert done.returncode == 5
    assert "out of reach" not in done.stderr
    assert "4 runs trained or measured" in done.stdout
    assert "4 reused" in forced(folder).stdout
    program(folder, LEAVES)
    assert "6 runs trained or measured" in forced(folder).stdout


def test_folders_without_end_fail_their_run_alone_at_most(folder: Path) -> None:
    """To look for what is kept in them recurses too deep, in some versions of Python."""
    deeper = "\n    for _ in range(1800): os.mkdir('a'); os.chdir('a')\n"
    program(folder, LEAVES + "\nif seed == 2:\n    os.chdir(out)" + deeper)
    change(folder, 'keep: ["*.png"]', 'keep: ["**/*.png"]')
    done = forced(folder)
    assert "RecursionError" not in done.stderr
    assert re.search("[46] runs trained or measured", done.stdout)
    assert left_over(folder) == []


def test_results_are_not_read_through_a_link(folder: Path) -> None:
    """A folder in `{out}` that leads elsewhere holds what anybody left there."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "r.json").write_text('{"eval.error": 1}')
    program(folder, PROGRAM + f"\n(out / 'last').symlink_to({str(elsewhere)!r})\n")
    change(folder, "{out}/results.json", "{out}/last/r.json")
    assert "it leads out of the folder of the run" in forced(folder).stderr


def test_a_kept_file_that_cannot_be_read_fails_its_run_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_bytes(path: Path, limit: int, *, follow: bool) -> bytes:
        seed = path.parent / "seed"
        if path.name == "plot.png" and "2" in seed.read_text(encoding="utf-8"):
            raise PermissionError(13, "Permission denied", str(path))
        return path.read_bytes()

    monkeypatch.setattr("repro.trainers.command.left.read_bytes", read_bytes)
    program(folder, LEAVES + "\n(out / 'seed').write_text(str(seed))")
    done = forced(folder)
    assert done.stderr.count("plot.png: its content was not kept: Permission denied") >= 2
    assert "out of reach" not in done.stderr
    assert "4 runs trained or measured" in done.stdout


# results elsewhere


@pytest.mark.parametrize(
    "path",
    ["results.json", "{out}.json", "{out}/../r.json", "/srv/r.json", "{optimizer}/{out}/r.json"],
)
def test_results_are_below_the_folder_of_the_run(folder: Path, path: str) -> None:
    """Elsewhere runs would overwrite each other's, and find those of another day."""
    change(folder, '"{out}/results.json"', json.dumps(path))
    said = mistakes(folder)
    assert f"'{path}' is not below the folder of the run" in said
    assert 'expected: a path such as "{out}/r.json"' in said


def test_an_argument_cannot_lead_out_of_it(folder: Path) -> None:
    change(folder, "args: {optimizer: adam}", "args: {optimizer: ../..}")
    change(folder, '"{out}/results.json"', '"{out}/{optimizer}/r.json"')
    assert "is not below the folder of the run" in mistakes(folder)


@pytest.mark.parametrize("pattern", ["src/**.py", "**", "a/**", "x**/y", "**x/y"])
@pytest.mark.parametrize("key", ["files: [train.py]", 'keep: ["*.png"]'])
def test_two_stars_stand_alone(folder: Path, pattern: str, key: str) -> None:
    """Other patterns are an error in some versions of Python, and something else in others."""
    name = key.partition(":")[0]
    change(folder, key, f"{name}: [{json.dumps(pattern)}]")
    assert f"'{pattern}': ** is by itself between two /" in mistakes(folder)


def test_a_folder_is_below_the_claim(folder: Path) -> None:
    for path in ("/etc", str(folder / "code")):
        text = (folder / "a.claim.yaml").read_text(encoding="utf-8")
        change(folder, "workdir: code", f"workdir: {path}")
        assert f"there is no folder '{path}' below that of this file" in mistakes(folder)
        (folder / "a.claim.yaml").write_text(text, encoding="utf-8")


def test_what_leads_out_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has consented yet."""
    read: list[Path] = []

    def file_digest(path: Path) -> str:
        read.append(path)
        return "0" * 64

    monkeypatch.setattr("repro.trainers.command.code_files.file_digest", file_digest)
    (folder / "code" / "core").symlink_to("/proc/self/environ")
    change(folder, "files: [train.py]", "files: [train.py, core]")
    assert "'core' leads out" in mistakes(folder)
    assert read == []


# numbers that are not finite


def test_a_number_that_nobody_measures_may_be_what_it_likes(folder: Path) -> None:
    program(folder, LEAVES.replace('"epochs": 3', '"epochs": 3, "grad_norm": float("nan")'))
    done = forced(folder)
    assert "6 runs trained or measured" in done.stdout
    assert "(quick): VALID" in done.stdout


def test_one_that_is_measured_is_a_divergence(folder: Path) -> None:
    """What was kept of the run stays, and the same command makes nothing again."""
    program(folder, LEAVES.replace("noise = ", "noise = float('nan') if seed == 2 else "))
    done = forced(folder)
    assert "Adam: 1 of 3 runs diverged" in done.stdout
    assert states(folder) == ["finished"] * 6
    again = forced(folder)
    assert "Adam: 1 of 3 runs diverged" in again.stdout
    assert "0 runs trained or measured, 6 reused" in again.stdout
    told_of = [each["state"] for each in report(folder)["arms"][0]["replicates"]]
    assert told_of == ["finished", "excluded", "finished"]
    told = repro("measure", folder / "a.claim.yaml", "--store", folder / "store")
    assert told.stdout.count("test error (%): ") == 4
    assert told.stderr.count("diverged: ") == 2


def test_what_one_claim_does_not_measure_another_may(folder: Path) -> None:
    """The same runs: they diverged for the claim that measures the number, and for no other."""
    bad = 'float("nan") if seed == 2 else 1.0 + noise'
    program(folder, LEAVES.replace('"epochs": 3', f'"norm": {bad}'))
    other = (folder / "a.claim.yaml").read_text(encoding="utf-8")
    other = other.replace("id: adamw_better", "id: norms").replace("from: eval.error", "from: norm")
    (folder / "b.claim.yaml").write_text(other, encoding="utf-8")
    done = forced(folder, str(folder / "b.claim.yaml"))
    (mine, norms) = re.findall(r"^(?:adamw_better|norms) \(.*?\): (\w+)", done.stdout, re.MULTILINE)
    assert (mine, norms) == ("VALID", "INVALID")
    assert "Adam: 1 of 3 runs diverged" in done.stdout


@pytest.mark.parametrize("ends", ["noise = float('nan') #", "sys.exit(4)\nnoise = "])
def test_a_run_that_is_tried_and_diverges(folder: Path, ends: str) -> None:
    program(folder, LEAVES.replace("noise = ", ends))
    change(folder, "  keep:", "  diverged: [exit, not_finite]\n  keep:")
    done = attempt(folder, "--allow-code")
    assert done.returncode == 0, done.stderr
    assert "Adam, seed 1: diverged" in done.stdout


def test_a_series_is_chosen_by_a_number_that_is_never_finite(folder: Path) -> None:
    """The run diverged; the claim is judged all the same."""
    valid = 'float("nan") if seed == 2 else step'
    steps = f"for step in range(3): print(f'v={{{valid}}} error {{error:.4f}}')\n"
    program(folder, PROGRAM + steps)
    change(folder, 'file: "{out}/results.json"', "stdout: 'v=(?P<v>\\S+) error (?P<error>\\S+)'")
    change(folder, "from: eval.error", "from: error, reduce: {best_by: v, better: lower}")
    assert "Adam: 1 of 3 runs diverged" in forced(folder).stdout


def test_the_output_of_a_divergence_is_kept(folder: Path) -> None:
    program(folder, LEAVES.replace("out = Path", "print('boom', seed); sys.exit(3)\nout = Path"))
    change(folder, "  keep:", "  diverged: [exit]\n  keep:")
    forced(folder)
    outputs = {store(folder).files(key)["output.txt"] for key in stored(folder)}
    assert outputs == {b"boom 1\n", b"boom 2\n", b"boom 3\n"}


# limits


def test_a_longer_limit_makes_divergences_anew(folder: Path) -> None:
    """Where to be over it is a divergence, the limit is part of what a run is."""
    change(folder, "minutes: 1,", "minutes: 0.01,")
    change(folder, "  keep:", "  diverged: [timeout]\n  keep:")
    program(folder, LEAVES.replace("out = Path", "import time; time.sleep(1)\nout = Path"))
    assert "3 of 3 runs diverged" in forced(folder).stdout
    change(folder, "minutes: 0.01,", "minutes: 1,")
    assert "6 runs trained or measured" in forced(folder).stdout


# resuming


def test_a_file_of_an_attempt_that_was_killed_does_not_count(folder: Path) -> None:
    """The attempt that ends well writes its own results, or has none."""
    twice = "half = out / 'half'\nfirst = not half.exists(); half.touch()\n"
    ends = "\nif first: sys.exit(9)\n"
    once = LEAVES.replace("(out /", "if first: (out /", 1).replace("print(", twice + "print(", 1)
    program(folder, once + ends)
    change(folder, "  keep:", "  resume: true\n  keep:")
    assert "ended with status 9" in forced(folder).stderr
    done = forced(folder)
    assert "results.json: cannot be read: No such file or directory" in done.stderr
    assert "0 runs trained" in done.stdout


STEPS = """
done = out / "done"
first = not done.exists()
with open(out / "log.jsonl", "a") as log:
    for step in (range(1, 6) if first else range(4, 9)):
        if first and step == 3:
            done.write_text("checkpoint")
        row = {"step": step, "error": error + (-1 if first and step > 3 else 1 / step)}
        log.write(json.dumps(row) + chr(10)); log.flush()
if first:
    sys.exit(9)
"""


def test_rows_that_were_taken_back_do_not_count(folder: Path) -> None:
    """The best row would be one of the trajectory that was given up."""
    program(folder, PROGRAM + STEPS)
    change(folder, 'file: "{out}/results.json"', 'jsonl: "{out}/log.jsonl"')
    change(folder, "from: eval.error", "from: error, reduce: {best_by: error, better: lower}")
    change(folder, "  keep:", "  resume: true\n  keep:")
    said = mistakes(folder)
    assert "a program that resumes may write rows again" in said
    assert "expected: resume: {step: NAME}" in said
    change(folder, "resume: true", "resume: {step: step}")
    assert "ended with status 9" in forced(folder).stderr
    assert "6 runs trained or measured" in forced(folder).stdout
    rows = json.loads(store(folder).files(stored(folder)[0])["results.json"])
    assert [row["step"] for row in rows["rows"]] == [*range(1, 9)]
    assert "mixed" not in rows
    assert left_over(folder) == []


def test_of_what_was_printed_only_the_last_value_is_there(folder: Path) -> None:
    once = (
        "half = out / 'half'\nif not half.exists(): half.touch(); print('error 1'); sys.exit(9)\n"
    )
    program(folder, PROGRAM + once + "for step in range(3): print(f'error {error + 2 - step:.4f}')")
    change(folder, 'file: "{out}/results.json"', "stdout: 'error (?P<error>\\S+)'")
    change(folder, "from: eval.error", "from: error, reduce: {best_by: error, better: lower}")
    change(folder, "  keep:", "  resume: true\n  keep:")
    assert "ended with status 9" in forced(folder).stderr
    assert "what it printed before is not there" in forced(folder).stderr
    change(folder, "reduce: {best_by: error, better: lower}", "reduce: last")
    assert "(quick): VALID" in forced(folder).stdout


# beginning and consent


def test_a_program_that_cannot_be_started_is_tried_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other seed would do better; the other arm is tried, for it may be another program."""
    script = folder / "code" / "train.py"
    program(folder, "#!/no/such/interpreter\n" + LEAVES)
    script.chmod(0o755)
    text = (folder / "a.claim.yaml").read_text(encoding="utf-8")
    line = re.sub(r"command: \[[^,]*, train.py,", "command: [./train.py,", text)
    (folder / "a.claim.yaml").write_text(line, encoding="utf-8")
    begun: list[Keyed] = []
    real = RunStore.working_folder

    def working_folder(self: RunStore, run: Keyed) -> Path:
        begun.append(run)
        return real(self, run)

    monkeypatch.setattr(RunStore, "working_folder", working_folder)
    done = forced(folder)
    assert done.returncode == 5
    assert "./train.py: cannot be started: No such file or directory" in done.stderr
    assert len([run for run in begun if isinstance(run, RunSpec)]) <= 2


def test_the_whole_line_and_the_variables_are_shown_first(folder: Path) -> None:
    """On one line, whatever is in it."""
    change(folder, "  keep:", '  environment: {LEVEL: "a b"}\n  keep:')
    change(folder, "{optimizer: adam}", '{optimizer: "x\\nrunning code from outside repro: ls"}')
    (said,) = verify(folder, "--force", code=False).stderr.strip().splitlines()
    assert "LEVEL='a b' " in said
    assert "train.py --seed '{seed}' --optimizer adamw --out '{out}'" in said
    assert r"x\nrunning code from outside repro: ls" in said


def test_a_placeholder_may_be_the_program(folder: Path) -> None:
    text = (folder / "a.claim.yaml").read_text(encoding="utf-8")
    python = re.search(r"command: \[([^,]*), train.py,", text)
    assert python is not None
    text = text.replace(f"[{python[1]}, train.py,", '["{python}", train.py,')
    text = text.replace("files:", f"args: {{python: {python[1]}}}\n  files:", 1)
    (folder / "a.claim.yaml").write_text(text, encoding="utf-8")
    assert "6 runs trained or measured" in forced(folder).stdout


@pytest.mark.parametrize("name", ["a:b:c", "m:C.Inner", "a b:c", "os:"])
def test_a_trainer_of_no_name_is_a_mistake(folder: Path, name: str) -> None:
    change(folder, "trainer: command", f"trainer: {json.dumps(name)}")
    done = verify(folder, code=False)
    assert done.returncode == 2
    assert f"'{name}' is no trainer" in done.stderr
    assert "expected: language_model, dialog, command, or `module:object`" in done.stderr


def test_a_large_seed(folder: Path) -> None:
    change(folder, "[1, 2, 3]", "[20240601, 4294967295, 3]")
    assert "6 runs trained or measured" in forced(folder).stdout
    numbers = [each["number"] for each in report(folder)["arms"][0]["replicates"]]
    assert numbers == [20240601, 4294967295, 3]
    change(folder, "4294967295", "4294967296")
    with pytest.raises(SpecError):
        load_claim(folder / "a.claim.yaml", "quick")


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def notes(folder: Path) -> set[str]:
    """What is noted of the commit beside each run."""
    found: list[Any] = [store(folder).provenance(key)["training"] for key in stored(folder)]
    return {note for each in found for note in each["notes"] if "commit" in note}


def test_the_commit_is_noted(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", "code", "a.claim.yaml")
    git(folder, "commit", "-qm", "first")
    forced(folder)
    (note,) = notes(folder)
    assert re.fullmatch(r"The folder of the program is at git commit [0-9a-f]{40}\.", note)
    program(folder, LEAVES + "# edited")
    forced(folder)
    assert any(each.endswith("-dirty.") for each in notes(folder))


def test_without_git_nothing_is_noted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("GIT_DIR", str(folder / "nowhere"))
    assert "6 runs trained or measured" in forced(folder).stdout
    assert notes(folder) == set()


def test_a_trial_leaves_a_verification_alone(folder: Path) -> None:
    """Both run the same thing at the same time, each in its own store."""
    slow = "import time; (out / 'up').touch(); time.sleep(8 * ('slow' in given.out))\n"
    program(folder, LEAVES + slow)
    line = ["-m", "repro", "try", str(folder / "a.claim.yaml"), "--device", "cpu", "--allow-code"]
    environment = {**os.environ, "TMPDIR": str(folder / "slow")}
    (folder / "slow").mkdir()
    with subprocess.Popen(
        [sys.executable, *line], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as trial:
        deadline = time.monotonic() + 60
        while not list((folder / "slow").rglob("up")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert "6 runs trained or measured" in forced(folder).stdout
        output, _ = trial.communicate(timeout=60)
    assert trial.returncode == 0, output
