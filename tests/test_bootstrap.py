"""`./dev` makes the environment: once, whoever starts it, and whenever it is killed."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bootstrap_checkout import DEV, Checkout, wait_until, words


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_second_start_installs_nothing(checkout: Checkout) -> None:
    """The environment is made once, and later starts say nothing about it."""
    _, _, first = checkout.run("verify")
    _, _, second = checkout.run("verify")
    assert "setting up .venv" in first
    assert second == ""
    assert checkout.installed() == [["-e", ".[library,lm]"]]


def test_running_installs_no_test_tools_and_testing_adds_them(checkout: Checkout) -> None:
    """The second stage is added to the first, not built from nothing."""
    checkout.run("verify")
    checkout.run("setup")
    assert checkout.installed() == [["-e", ".[library,lm]"], ["a-test-tool"]]
    assert checkout.journal.read_text().count("making the environment") == 1


def test_a_fresh_set_up_for_testing_installs_both_stages_at_once(checkout: Checkout) -> None:
    """Nobody waits for pip twice."""
    checkout.run("setup")
    checkout.run("verify")
    assert checkout.installed() == [["-e", ".[library,lm]", "a-test-tool"]]


def test_three_starts_at_once_install_once(checkout: Checkout) -> None:
    """One installs, two wait and say so, all three run."""
    checkout.hold.touch()
    started = [checkout.start("verify", str(n)) for n in range(3)]
    wait_until(lambda: sum("waiting: another" in one.err.read_text() for one in started) == 2)
    checkout.hold.unlink()
    ended = [one.end() for one in started]
    assert [status for status, _, _ in ended] == [0, 0, 0]
    assert [words(out)[-1] for _, out, _ in ended] == ["0", "1", "2"]
    assert checkout.installed() == [["-e", ".[library,lm]"]]


def test_a_killed_set_up_is_started_over_once_its_pip_has_ended(checkout: Checkout) -> None:
    """What `kill -9` leaves behind is neither used nor written to by two pips at once."""
    checkout.hold.touch()
    killed = checkout.start("verify")
    killed.until_it_says("pip")
    killed.kill()
    (checkout.venv / "half-written").touch()
    second = checkout.start("verify")
    second.until_it_says("waiting: another ./dev")
    assert len(checkout.installed()) == 1
    checkout.hold.unlink()
    assert second.end()[0] == 0
    assert len(checkout.installed()) == 2
    assert not (checkout.venv / "half-written").exists()


def test_a_killed_second_stage_leaves_the_first_usable(checkout: Checkout) -> None:
    """Running goes on as before; testing starts over."""
    checkout.run("verify")
    checkout.hold.touch()
    killed = checkout.start("setup")
    killed.until_it_says("pip")
    killed.kill()
    checkout.hold.unlink()
    assert checkout.run("verify")[0] == 0
    assert checkout.installed() == [["-e", ".[library,lm]"], ["a-test-tool"]]
    assert checkout.run("setup")[0] == 0
    assert checkout.installed()[2:] == [["-e", ".[library,lm]", "a-test-tool"]]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("constraints.txt", "a==1", "a==2"),
        ("hashes.txt", "a==1", "a==1 --hash"),
        ("pyproject.toml", "a-test-tool", "another-tool"),
    ],
)
def test_changed_requirements_build_the_environment_anew(
    checkout: Checkout, file: str, old: str, new: str
) -> None:
    """Nothing of the old environment stays."""
    checkout.run("verify")
    (checkout.venv / "old-package").touch()
    path = checkout.root / file
    path.write_text(path.read_text().replace(old, new))
    checkout.run("verify")
    assert len(checkout.installed()) == 2
    assert not (checkout.venv / "old-package").exists()


def test_what_tests_need_is_held_against_its_hashes_first(checkout: Checkout) -> None:
    """Apart from the rest: where one requirement has a hash, pip asks for one of every other."""
    checkout.run("setup")
    steps = [line for line in checkout.journal.read_text().splitlines() if " pip " in line]
    assert [" --require-hashes -r hashes.txt" in step for step in steps] == [True, False]


def test_a_changed_lint_rule_is_no_reason_to_install(checkout: Checkout) -> None:
    """Only the part of pyproject.toml that packaging reads counts."""
    checkout.run("verify")
    path = checkout.root / "pyproject.toml"
    path.write_text(path.read_text().replace("line-length = 100", "line-length = 90"))
    checkout.run("verify")
    assert len(checkout.installed()) == 1


def test_an_environment_is_not_replaced_under_a_running_program(checkout: Checkout) -> None:
    """A rebuild waits until the last program that runs from the environment has ended."""
    checkout.run("verify")
    checkout.hold.touch()
    running = checkout.start("verify")
    running.until_it_says("-m repro verify")
    (checkout.venv / "in-use").touch()
    (checkout.root / "constraints.txt").write_text("a==2\n")
    rebuilding = checkout.start("verify")
    rebuilding.until_it_says("a program still uses it")
    assert (checkout.venv / "in-use").exists()
    checkout.hold.unlink()
    assert running.end()[0] == rebuilding.end()[0] == 0
    assert not (checkout.venv / "in-use").exists()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("ERROR: Could not find a version (from versions: none)", "the package index is out of"),
        ("ERROR: No matching distribution found for a==1", "has no build for this Python"),
        ("PermissionError: [Errno 13] Permission denied: '/x'", "REPRO_VENV may name another"),
        ("something new", "exit status 1"),
    ],
)
def test_a_failed_installation_says_why_in_a_paragraph(
    checkout: Checkout, said: str, meant: str
) -> None:
    """The cause, what to do, and pip's own last words; no traceback, nothing taken for done."""
    warning = "WARNING: Location 'x' is ignored\n"
    status, out, err = checkout.run("verify", PIP_FAILS=warning + said)
    assert (status, out) == (1, "")
    assert meant in err
    assert f"  | {said}\n" in err
    assert "Traceback" not in err
    assert "WARNING" not in err
    assert not list(checkout.venv.glob(".stage-*"))
    assert checkout.run("verify")[0] == 0


def test_the_real_pip_without_an_index_fails_clearly(checkout: Checkout) -> None:
    """Its own words appear, and the next start begins again."""
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    real = subprocess.run(
        [sys.executable, str(checkout.root / "dev"), "verify"],
        env={**os.environ, **nowhere, "REPRO_VENV": str(checkout.venv)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert real.returncode == 1
    assert "installing failed: the package index is out of reach" in real.stderr
    assert "hatchling" in real.stderr
    assert "Traceback" not in real.stderr
    assert not list(checkout.venv.glob(".stage-*"))


def test_a_folder_of_the_users_is_refused(checkout: Checkout) -> None:
    """REPRO_VENV may be mistyped: what ./dev did not make, it does not delete."""
    precious = checkout.elsewhere / "thesis.tex"
    precious.touch()
    status, _, err = checkout.run("verify", REPRO_VENV=str(checkout.elsewhere))
    assert status == 1
    assert "was not made by ./dev" in err
    assert precious.exists()


def test_an_old_python_is_told_what_is_needed(checkout: Checkout) -> None:
    """With no newer one on the machine, one sentence; read by interpreters as old as 3.7."""
    pretend = (
        "import os, runpy, sys; sys.version_info = (3, 9, 2); os.environ['PATH'] = ''; "
        "runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    old = subprocess.run(
        [sys.executable, "-c", pretend, str(checkout.root / "dev")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert old.returncode == 1
    assert old.stderr == "repro needs Python 3.11 or newer; this is Python 3.9.\n"


def test_old_interpreters_can_read_the_whole_file() -> None:
    """Its grammar is that of Python 3.7, so they reach the line that tells them."""
    assert ast.parse(DEV.read_text(encoding="utf-8"), feature_version=(3, 7)).body


def test_the_key_depends_on_the_place(checkout: Checkout) -> None:
    """A copied checkout does not run from the environment of the original."""
    checkout.run("verify")
    other = checkout.root.with_name("copy")
    checkout.root.rename(other)
    checkout.root, checkout.venv = other, other / ".venv"
    checkout.run("verify")
    assert len(checkout.installed()) == 2
