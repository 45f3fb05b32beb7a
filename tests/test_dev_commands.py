"""`./dev` runs commands: repro's, the gate, pytest and any program of the environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bootstrap_checkout import DEV, Checkout, words


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_command_runs_where_the_user_is_with_the_users_arguments(checkout: Checkout) -> None:
    """Paths mean what they mean to the user, and the package comes from the environment."""
    status, out, _ = checkout.run("verify", "claims/a b.yaml", "--scale", "quick")
    assert status == 0
    assert out.split()[1] == str(checkout.elsewhere)
    assert " ".join(words(out)) == "-P -m repro verify claims/a b.yaml --scale quick"


def test_the_command_replaces_the_bootstrap(checkout: Checkout) -> None:
    """It has the process id that was started, so Ctrl-C and kill reach it."""
    started = checkout.start("verify")
    _, out, _ = started.end()
    assert int(out.split()[0]) == started.process.pid


def test_exec_runs_the_environments_programs_first(checkout: Checkout) -> None:
    """`./dev exec tool` is the environment's tool, with its exit status."""
    checkout.run("setup")
    tool = checkout.venv / "bin" / "tool"
    tool.write_text("#!/bin/sh\necho own $1; exit 7\n")
    tool.chmod(0o755)
    assert checkout.run("exec", "tool", "x")[:2] == (7, "own x\n")
    assert checkout.run("exec", "no-such-tool")[0] == 127
    assert checkout.run("exec")[0] == 2


def tools(checkout: Checkout, failing: Sequence[str] = ()) -> None:
    """Stand-ins for the tools of the gate, which print their arguments."""
    checkout.run("setup")
    for name in ("ruff", "mypy", "lint-imports", "deptry", "sphinx-build", "pytest"):
        tool = checkout.venv / "bin" / name
        tool.write_text(f'#!/bin/sh\necho {name} "$PWD" "$@"\nexit {int(name in failing)}\n')
        tool.chmod(0o755)


def test_the_gate_runs_every_step_even_after_a_failure(checkout: Checkout) -> None:
    """Each step's result is listed, and one failure fails the whole."""
    tools(checkout, failing=["mypy"])
    status, out, _ = checkout.run("test")
    results = [line.split()[:-2] for line in out.split("== result\n")[1].splitlines()]
    assert status == 1
    assert results == [
        ["ruff", "check", "ok"],
        ["ruff", "format", "ok"],
        ["mypy", "FAILED", "(1)"],
        ["lint-imports", "ok"],
        ["deptry", "ok"],
        ["docs", "ok"],
        ["pytest", "ok"],
    ]


def test_the_gate_passes_if_every_step_does(checkout: Checkout) -> None:
    """`lint` is the same without pytest; both work on the checkout, wherever they are started."""
    tools(checkout)
    assert checkout.run("test")[0] == 0
    status, out, _ = checkout.run("lint")
    assert status == 0
    assert "== pytest" not in out
    assert f"mypy {checkout.root}\n" in out


def test_the_programs_of_the_gate_compile_once(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Python is told to keep no bytecode the gate keeps it all the same: it is quicker."""
    tools(checkout)
    tool = checkout.venv / "bin" / "pytest"
    tool.write_text('#!/bin/sh\necho "bytecode: ${PYTHONDONTWRITEBYTECODE-kept}"\n')
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "bytecode: kept" in checkout.run("test")[1]


def test_arguments_of_test_go_to_pytest_with_paths_as_the_user_sees_them(
    checkout: Checkout,
) -> None:
    """A path is made absolute, with its test; the word after -k is none, though it may look it."""
    tools(checkout)
    (checkout.elsewhere / "test_a.py").touch()
    _, out, _ = checkout.run("test", "test_a.py::test_b", "-k", "test_a.py", "-x")
    path = checkout.elsewhere / "test_a.py"
    assert out == f"pytest {checkout.root} {path}::test_b -k test_a.py -x\n"


def test_the_readme_of_the_script_names_every_command() -> None:
    """The head of ./dev lists the commands that it treats apart."""
    head = DEV.read_text(encoding="utf-8").split('"""')[1]
    assert all(
        f"./dev {name}" in head for name in ("verify", "test", "lint", "docs", "exec", "setup")
    )
