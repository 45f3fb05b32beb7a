"""What `REPRO_ALLOW_CODE_IN` trusts is what really lies in its folders, every file of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from tests.commands import repro
from tests.trainers.command.toy import CLAIM, LEAVES

CONFIGURATION = dedent(CLAIM[CLAIM.index("  trainer: command") : CLAIM.index("arms:")])
NAMED = (
    CLAIM.replace(CLAIM[CLAIM.index("configuration:") : CLAIM.index("arms:")], "")
    .replace(
        "adam: {label: Adam, args:", "adam: {label: Adam, configuration: e/q, override: {args:"
    )
    .replace("optimizer: adam}}", "optimizer: adam}}}")
    .replace("{label: AdamW, args:", "{label: AdamW, configuration: e/q, override: {args:")
    .replace("optimizer: adamw}}", "optimizer: adamw}}}")
)


class World:
    """A trusted folder with a claim and its program, and one beside it that nobody trusts."""

    def __init__(self, at: Path) -> None:
        self.at, self.mark = at, at / "mark"
        self.trusted, self.evil = at / "trusted", at / "evil"
        self.claim = self.trusted / "a.claim.yaml"
        self.write("trusted/a.claim.yaml", CLAIM)
        self.write("trusted/code/train.py", LEAVES)
        self.hostile = f"from pathlib import Path\nPath({str(self.mark)!r}).touch()\n"
        for name in ("train.py", "helper.py", "own/__init__.py"):
            self.write(f"evil/code/{name}", self.hostile + LEAVES)
        self.write("evil/code/go", f"#!/bin/sh\ntouch {self.mark}\n").chmod(0o755)

    def write(self, name: str, text: str) -> Path:
        path = self.at / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def change(self, old: str, new: str) -> None:
        text = self.claim.read_text(encoding="utf-8")
        assert old in text
        self.claim.write_text(text.replace(old, new), encoding="utf-8")

    def link(self, name: str, to: str) -> Path:
        path = self.at / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(self.at / to)
        return path

    def command(self, *line: str) -> None:
        """Another command line, in place of `python train.py`."""
        self.change(f"[{sys.executable}, train.py,", f"[{', '.join(line)},")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def claim_by_link(world: World) -> str:
    world.claim = world.link("evil/a.claim.yaml", "trusted/a.claim.yaml")
    return "evil/code/train.py"


def folder_by_link(world: World) -> str:
    world.write("evil/a.claim.yaml", CLAIM)
    world.claim = world.link("trusted/sub", "evil") / "a.claim.yaml"
    return "evil/a.claim.yaml"


def configuration_above(world: World) -> str:
    world.write(".git/HEAD", "")
    text = CONFIGURATION.replace("workdir: code", "workdir: .")
    world.write("configurations/e/q.yaml", f"schema: 1\ntitle: t\nsource: made for tests\n{text}")
    world.write("configurations/e/train.py", world.hostile + LEAVES)
    world.claim.write_text(NAMED, encoding="utf-8")
    return "configurations/e/train.py"


def configuration_above_without_a_program(world: World) -> str:
    """Its program is one that PATH has, and what it does stands on its line."""
    configuration_above(world)
    file = world.at / "configurations/e/q.yaml"
    text = file.read_text(encoding="utf-8").replace(
        f"[{sys.executable}, train.py,", f'[sh, -c, "touch {world.mark}",'
    )
    file.write_text(text.replace("files: [train.py]", "files: [q.yaml]"), encoding="utf-8")
    return "configurations/e/q.yaml"


def program_by_link(world: World) -> str:
    world.link("trusted/code/run.py", "evil/code/train.py")
    world.command(sys.executable, "run.py")
    return "trusted/code/run.py"


def executable_by_link(world: World) -> str:
    world.link("trusted/code/go", "evil/code/go")
    world.command("./go")
    return "trusted/code/go"


def program_in_a_shell_line(world: World) -> str:
    world.link("trusted/code/go", "evil/code/go")
    world.command("sh", "-c", '"exec ./go"')
    return "trusted/code/go"


def program_elsewhere(world: World) -> str:
    world.command(sys.executable, "../../evil/code/train.py")
    return "evil/code/train.py"


def program_from_the_root(world: World) -> str:
    world.command(sys.executable, str(world.evil / "code/train.py"))
    return "evil/code/train.py"


def value_of_an_option(world: World) -> str:
    world.command(sys.executable, "train.py", "--seeds=../../evil/code/helper.py")
    return "evil/code/helper.py"


def program_by_a_path_of_the_claim(world: World) -> str:
    world.command("go")
    world.change("  trainer: command", "  trainer: command\n  environment: {PATH: ../../evil/code}")
    return "evil/code/go"


def module_by_a_variable(world: World) -> str:
    world.write("trusted/code/train.py", f"import own\n{LEAVES}")
    world.change(
        "  trainer: command", "  trainer: command\n  environment: {PYTHONPATH: ../../evil/code}"
    )
    return "evil/code"


def script_by_a_variable(world: World) -> str:
    world.command("bash", "-c", '"true"')
    world.change(
        "  trainer: command",
        f"  trainer: command\n  environment: {{BASH_ENV: {world.evil}/code/go}}",
    )
    return "evil/code/go"


def module_by_link(world: World) -> str:
    world.link("trusted/code/helper.py", "evil/code/helper.py")
    world.write("trusted/code/train.py", f"import helper\n{LEAVES}")
    return "trusted/code/helper.py"


def package_by_link(world: World) -> str:
    world.link("trusted/code/own", "evil/code/own")
    world.write("trusted/code/train.py", f"import own\n{LEAVES}")
    return "trusted/code/own"


def workdir_by_link(world: World) -> str:
    (world.trusted / "code/train.py").unlink()
    (world.trusted / "code").rmdir()
    world.link("trusted/code", "evil/code")
    return "there is no folder 'code' below that of this file"


def file_by_link(world: World) -> str:
    (world.trusted / "code/train.py").unlink()
    world.link("trusted/code/train.py", "evil/code/train.py")
    return "'train.py' leads out"


OUTSIDE = (
    claim_by_link,
    folder_by_link,
    configuration_above,
    configuration_above_without_a_program,
    program_by_link,
    executable_by_link,
    program_in_a_shell_line,
    program_elsewhere,
    program_from_the_root,
    value_of_an_option,
    program_by_a_path_of_the_claim,
    module_by_a_variable,
    script_by_a_variable,
    module_by_link,
    package_by_link,
    workdir_by_link,
    file_by_link,
)


@pytest.mark.parametrize("shape", OUTSIDE)
def test_what_lies_outside_is_not_run(
    world: World, monkeypatch: pytest.MonkeyPatch, shape: Callable[[World], str]
) -> None:
    """One sentence names the file, whatever leads to it."""
    named = shape(world)
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(world.trusted))
    places = ("--store", str(world.at / "store"), "--reports", str(world.at / "reports"))
    for line in (("verify", *places), ("try",)):
        done = repro(*line, "--device", "cpu", world.claim)
        assert done.returncode == 2
        assert not world.mark.exists()
        assert named in done.stderr
    assert not (world.at / "store").exists()
    if shape not in (workdir_by_link, file_by_link):
        (said,) = done.stderr.splitlines()
        assert f"{named} lies outside the folders of REPRO_ALLOW_CODE_IN" in said


@pytest.mark.parametrize("shape", [claim_by_link, configuration_above, executable_by_link])
def test_the_option_is_a_yes_to_all_that_was_named(
    world: World, monkeypatch: pytest.MonkeyPatch, shape: Callable[[World], str]
) -> None:
    shape(world)
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(world.trusted))
    repro("try", world.claim, "--device", "cpu", "--allow-code")
    assert world.mark.exists()


def test_a_claim_that_is_a_link_out_of_the_folder_that_is_given_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the files are that it names; the file itself may be given."""
    claim = claim_by_link(world)
    assert claim
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(world.at))
    done = repro("check", world.evil)
    assert done.returncode == 2
    assert f"{world.claim}:1:1: a link that leads out of the folder" in done.stderr
    assert repro("check", world.claim).returncode == 0


def lies_there(world: World) -> str:
    return str(world.trusted)


def with_a_slash(world: World) -> str:
    return f"{world.trusted}/"


def with_dots(world: World) -> str:
    return f"{world.evil}/../trusted"


def in_one_above(world: World) -> str:
    return f"/nowhere:{world.at}"


def by_a_link(world: World) -> str:
    return str(world.link("alias", "trusted"))


def claim_in_a_link_to_it(world: World) -> str:
    world.claim = world.link("alias", "trusted") / "a.claim.yaml"
    return str(world.trusted)


def link_within(world: World) -> str:
    world.write("trusted/lib/helper.py", "")
    world.link("trusted/code/helper.py", "trusted/lib/helper.py")
    return str(world.trusted)


def link_to_data(world: World) -> str:
    world.write("scratch/data.csv", "1")
    world.link("trusted/code/data", "scratch")
    return str(world.trusted)


def environment_beside_it(world: World) -> str:
    (world.trusted / "code/.venv/bin").mkdir(parents=True)
    world.write("trusted/code/.venv/pyvenv.cfg", "")
    (world.trusted / "code/.venv/bin/python").symlink_to(sys.executable)
    world.change(sys.executable, ".venv/bin/python")
    return str(world.trusted)


def configuration_in_a_trusted_project(world: World) -> str:
    configuration_above(world)
    world.write("configurations/e/train.py", LEAVES)
    return f"{world.at}/configurations:{world.trusted}"


INSIDE = (
    lies_there,
    with_a_slash,
    with_dots,
    in_one_above,
    by_a_link,
    claim_in_a_link_to_it,
    link_within,
    link_to_data,
    environment_beside_it,
    configuration_in_a_trusted_project,
)


@pytest.mark.parametrize("shape", INSIDE)
def test_what_lies_inside_needs_no_option(
    world: World, monkeypatch: pytest.MonkeyPatch, shape: Callable[[World], str]
) -> None:
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", shape(world))
    done = repro("try", world.claim, "--device", "cpu")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("by_link", [False, True])
def test_a_module_that_is_imported_lies_inside_too(
    world: World, monkeypatch: pytest.MonkeyPatch, by_link: bool
) -> None:
    """Where Python finds it does not matter, and neither do its parents alone."""
    world.write("evil/path/measures/__init__.py", world.hostile)
    world.write("evil/path/measures/sizes.py", "def size(folder):\n    return 1.0\n")
    found = world.link("trusted/path", "evil/path") if by_link else world.evil / "path"
    monkeypatch.syspath_prepend(found)
    world.change(
        "error: {kind",
        "size: {use: 'measures.sizes:size', label: the size, better: lower}\n  error: {kind",
    )
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(world.trusted))
    for command in ("check", "plan", "try"):
        done = repro(command, world.claim)
        assert done.returncode == 2
        assert f"{found}/measures/__init__.py lies outside" in done.stderr
    assert not world.mark.exists()
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", f"{world.trusted}:{world.evil}/path")
    assert repro("check", world.claim).returncode == 0


def test_a_copy_of_a_packaged_claim_needs_no_folder_and_a_link_in_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packaged claims are known by their content; a file that is a link is not as it came."""
    library = Path(__file__).parents[3] / "claims" / "library" / "amsgrad"
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for file in library.glob("*.*"):
            (tmp_path / name / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("REPRO_ALLOW_CODE_IN", str(tmp_path / "one"))
    (tmp_path / "two" / "json.py").symlink_to(tmp_path / "one" / "train.py")
    done = repro("try", tmp_path / "two" / "amsgrad.claim.yaml")
    assert done.returncode == 2
    assert "two/amsgrad.claim.yaml lies outside" in done.stderr
