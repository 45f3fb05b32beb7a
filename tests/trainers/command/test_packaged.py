"""Claims that came with repro run without consent wherever they lie, and only as they came."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.command import packaged
from repro.trainers.command.one_run import line_of
from repro.trainers.command.packaged import packaged_folders
from repro.trainers.command.spec import CommandTraining
from repro.trainers.trainer import code_of, trainer_of
from tests.commands import repro
from tests.edits import changed

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "claims" / "library"
CLAIM = "amsgrad.claim.yaml"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A packaged claim and its program, copied elsewhere."""
    return Path(shutil.copytree(LIBRARY / "amsgrad", tmp_path / "mine", ignore=ignored()))


def ignored() -> Callable[..., set[str]]:
    return shutil.ignore_patterns("__pycache__")


def training(claim: Path) -> CommandTraining:
    found = next(iter(load_claim(claim, "quick").runs())).run.training
    assert isinstance(found, CommandTraining)
    return found


def asked_for(claim: Path) -> str | None:
    """What consent is asked for, by what it says; None where none is."""
    code = code_of(training(claim))
    return code["command"].use if code else None


def test_the_list_is_what_its_script_would_write() -> None:
    """After an edit of a claim or a program of the library: `python claims/library/packaged.py`."""
    spec = importlib.util.spec_from_file_location("packaged_claims", LIBRARY / "packaged.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert json.loads(script.WRITTEN.read_text(encoding="utf-8")) == script.document()


def test_every_program_of_the_library_is_on_the_list() -> None:
    named = {each.name for each in packaged_folders()}
    programs = {path.parent.relative_to(ROOT / "claims") for path in LIBRARY.glob("*/train.py")}
    assert named == {path.as_posix() for path in programs}


def test_a_copy_is_trusted_and_runs_with_the_python_of_repro(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no python is on the path too."""
    monkeypatch.setenv("PATH", str(copy))
    spec = training(copy / CLAIM)
    assert asked_for(copy / CLAIM) is None
    assert trainer_of(spec).uninstalled(spec) == ""
    assert line_of(spec, spec.command)[:3] == [sys.executable, "-P", "train.py"]


def test_what_a_program_of_the_library_imports_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told in one line before anything runs; a program of one's own is not read."""
    claim = LIBRARY / "lottery_ticket" / "lottery_ticket.claim.yaml"
    spec = training(claim)
    assert trainer_of(spec).uninstalled(spec) == ""

    def find_spec(name: str) -> object:
        return None if name in {"sklearn", "torch"} else importlib.util.find_spec(name)

    monkeypatch.setattr(packaged, "find_spec", find_spec)
    line = (
        "needs sklearn and torch, not installed beside repro: pip install 'repro-verdict[library]'"
    )
    assert trainer_of(spec).uninstalled(spec) == line
    places = ["--store", str(tmp_path / "store"), "--reports", str(tmp_path / "reports")]
    done = repro("verify", claim, *places, "--device", "cpu")
    assert (done.returncode, done.stderr) == (5, f"{line}\n")
    own = spec.model_copy(update={"args": {**spec.args, "more": 1}})
    assert trainer_of(own).uninstalled(own) == ""


def test_a_claim_elsewhere_may_run_a_copy_below_it(copy: Path) -> None:
    """With the same command; nothing else of the claim is run."""
    claim = copy.parent / "a.claim.yaml"
    (copy / CLAIM).rename(claim)
    changed(claim, "trainer: command", "trainer: command\n  workdir: mine")
    changed(claim, "value: 0.5,", "value: 0.6,")
    assert asked_for(claim) is None


def test_compiled_files_are_no_difference(copy: Path) -> None:
    """They are read only beside the source of a module that is imported, and there is none."""
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "json.cpython-311.pyc").write_bytes(b"hostile")
    assert asked_for(copy / CLAIM) is None


EDITS = {
    "the program": lambda at: changed(at / "train.py", "import json", "import json, os"),
    "a byte of it": lambda at: changed(at / "train.py", "    main()\n", "    main() \n"),
    "its line ends": lambda at: changed(at / "train.py", "\n", "\r\n"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_program_needs_consent(copy: Path, edit: Callable[[Path], Path]) -> None:
    edit(copy)
    assert "(train.py is not as it came with repro)" in str(asked_for(copy / CLAIM))


def environment(variable: str) -> Callable[[Path], Path]:
    return lambda at: changed(
        at / CLAIM, "  files:", f"  environment: {{{variable}: /tmp/evil}}\n  files:"
    )


SAYS_CLAIM = {
    "another argument": lambda at: changed(at / CLAIM, "train.py, --seed", "train.py, -x, --seed"),
    "a value": lambda at: changed(at / CLAIM, "args: {", "args: {steps: 9, "),
    "another program": lambda at: changed(at / CLAIM, "[python,", "[/bin/sh,"),
    "code on the line": lambda at: changed(at / CLAIM, "[python,", "[python, -c, 'print(1)',"),
    "a module": lambda at: changed(at / CLAIM, "[python,", "[python, -m, json.tool,"),
    "PYTHONPATH": environment("PYTHONPATH"),
    "LD_PRELOAD": environment("LD_PRELOAD"),
    "results": lambda at: changed(at / CLAIM, "{out}/results.json", "{out}/other.json"),
    "a margin": lambda at: changed(at / CLAIM, "value: 0.5,", "value: 0.6,"),
}


@pytest.mark.parametrize("edit", SAYS_CLAIM.values(), ids=SAYS_CLAIM)
def test_an_edited_claim_needs_consent(copy: Path, edit: Callable[[Path], Path]) -> None:
    edit(copy)
    assert f"({CLAIM} is not as it came with repro)" in str(asked_for(copy / CLAIM))


def test_a_hostile_command_beside_a_true_copy_needs_consent(copy: Path) -> None:
    """The claim lies above, so that every file in the program's folder is as it came."""
    claim = copy.parent / "a.claim.yaml"
    (copy / CLAIM).rename(claim)
    changed(claim, "trainer: command", "trainer: command\n  workdir: mine")
    changed(claim, "[python, train.py,", "[python, -c, 'print(1)',")
    assert "(the command or an argument is not as it came with repro)" in str(asked_for(claim))


def test_the_program_of_another_packaged_claim_needs_consent(copy: Path) -> None:
    """Each is known by itself; together they are not what came."""
    shutil.copy(LIBRARY / "unargmaxable" / "train.py", copy / "train.py")
    assert "is not as it came with repro)" in str(asked_for(copy / CLAIM))


@pytest.mark.parametrize(
    "name",
    ["json.py", "numpy.py", "random.pyc", "argparse.so", "json/__init__.py", "a/b/c.txt", ".env"],
)
def test_a_file_beside_the_program_needs_consent(copy: Path, name: str) -> None:
    """The program might import it, or read it."""
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    (copy / name).write_text("raise SystemExit('hostile')", encoding="utf-8")
    assert f"({name} is not as it came with repro)" in str(asked_for(copy / CLAIM))


def test_links_need_consent(copy: Path, tmp_path: Path) -> None:
    """To a folder that could be a package, and in the place of a file, whatever it leads to."""
    (tmp_path / "evil").mkdir()
    (copy / "torch").symlink_to(tmp_path / "evil")
    assert "(torch is not as it came with repro)" in str(asked_for(copy / CLAIM))
    (copy / "torch").unlink()
    (copy / "__pycache__").symlink_to(tmp_path / "evil")
    assert "(__pycache__ is not as it came with repro)" in str(asked_for(copy / CLAIM))
    (copy / "__pycache__").unlink()
    (copy / CLAIM).rename(tmp_path / CLAIM)
    (copy / CLAIM).symlink_to(tmp_path / CLAIM)
    assert f"({CLAIM} is not as it came with repro)" in str(asked_for(copy / CLAIM))


def test_a_link_to_the_packaged_claim_runs_what_lies_beside_the_link(tmp_path: Path) -> None:
    (tmp_path / "amsgrad.claim.yaml").symlink_to(LIBRARY / "amsgrad" / CLAIM)
    (tmp_path / "train.py").write_text("print('hostile')", encoding="utf-8")
    assert asked_for(tmp_path / CLAIM) is not None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_cannot_be_listed_needs_consent(copy: Path) -> None:
    """Python imports from one all the same, by name."""
    (copy / "numpy").mkdir(mode=0o111)
    try:
        assert "numpy is not as it came with repro)" in str(asked_for(copy / CLAIM))
    finally:
        (copy / "numpy").chmod(0o755)


def test_a_claim_of_ones_own_is_said_to_be_no_other(copy: Path) -> None:
    changed(copy / CLAIM, "id: amsgrad", "id: mine")
    (copy / "train.py").write_text("print(1)", encoding="utf-8")
    assert str(asked_for(copy / CLAIM)).startswith("python train.py --seed '{seed}'")
    assert "came with repro" not in str(asked_for(copy / CLAIM))


def verify(folder: Path) -> CompletedProcess[str]:
    places = ["--store", str(folder.parent / "store"), "--reports", str(folder.parent / "reports")]
    return repro("verify", folder / CLAIM, *places, "--device", "cpu")


HOSTILE = "import pathlib\npathlib.Path({there!r}).touch()\n"


def test_nothing_hostile_is_run(copy: Path, tmp_path: Path) -> None:
    """Refused in one sentence that names the file."""
    there = tmp_path / "hostile"
    (copy / "argparse.py").write_text(HOSTILE.format(there=str(there)), encoding="utf-8")
    refused = verify(copy)
    assert refused.returncode == 2
    (said,) = refused.stderr.strip().splitlines()
    assert said.count("(argparse.py is not as it came with repro)") == 2
    assert "are code from outside repro" in said
    assert "--allow-code" in said
    assert not list(RunStore(tmp_path / "store").keys())
    assert not there.exists()
