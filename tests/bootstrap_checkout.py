"""For the tests of `./dev`: a small project, with a stand-in for what takes a minute, pip.

The stand-in makes an environment whose `python -m repro` prints where and as what it runs, and
keeps a journal of installations. Locks, stamps, waiting and clean-up are the real ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

DEV = Path(__file__).parents[1] / "dev"

PYPROJECT = """
[build-system]
requires = ["hatchling"]
[project]
name = "small"
[dependency-groups]
dev = ["a-test-tool"]
[tool.ruff]
line-length = 100
"""

# Runs ./dev with `run`, the one function that starts programs during set-up, replaced.
DRIVER = """
import importlib.machinery, importlib.util, os, pathlib, subprocess, sys, time

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("dev", sys.argv[1])
dev = importlib.util.module_from_spec(importlib.util.spec_from_loader("dev", loader))
loader.exec_module(dev)
journal = pathlib.Path(os.environ["JOURNAL"])

def run(doing, command, held):
    with journal.open("a") as file:
        file.write(" ".join([doing, *map(str, command[1:])]) + "\\n")
    if doing == "making the environment":
        (dev.VENV / "bin").mkdir()
        pathlib.Path(dev.PYTHON).symlink_to(os.environ["STAND_IN"])
    if doing == "installing":
        subprocess.run([os.environ["STAND_IN"], "pip"], pass_fds=(held,), check=True, stdout=2)
        if os.environ.get("PIP_FAILS"):
            raise dev.SetupError(dev.explain("installing", 1, os.environ["PIP_FAILS"]))

dev.run = run
try:
    sys.exit(dev.main(*sys.argv[2:]))
except dev.SetupError as error:
    sys.exit(f"repro: {error}")
"""

STAND_IN = """#!/bin/sh
echo "$$ $PWD $*"
while test -e "$HOLD"; do sleep 0.02; done
"""


class Started:
    """A ./dev that has been started, perhaps not the only one."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.out, self.err = (folder.parent / f"{id(self)}.{end}" for end in ("out", "err"))
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=out, stderr=err
            )

    def until_it_says(self, text: str) -> None:
        """Wait for some words, on stdout or stderr."""
        wait_until(lambda: text in self.out.read_text() + self.err.read_text())

    def kill(self) -> None:
        """`kill -9`: the process itself, not what it has started."""
        self.process.kill()
        self.process.wait()

    def end(self) -> tuple[int, str, str]:
        """Wait for the end: exit status, stdout, stderr."""
        status = self.process.wait(timeout=60)
        return status, self.out.read_text(), self.err.read_text()


class Checkout:
    """A folder with ./dev, and the means to start it."""

    def __init__(self, root: Path) -> None:
        self.root = root / "checkout"
        self.venv = self.root / ".venv"
        self.journal = root / "journal"
        self.hold = root / "hold"  # while it exists, pip and the command take their time
        self.elsewhere = root / "elsewhere"
        for folder in (self.root, self.elsewhere):
            folder.mkdir()
        self.stand_in = root / "python"
        self.stand_in.write_text(STAND_IN)
        self.stand_in.chmod(0o755)
        self.driver = root / "driver.py"
        self.driver.write_text(DRIVER)
        (self.root / "dev").write_text(DEV.read_text(encoding="utf-8"))
        (self.root / "pyproject.toml").write_text(PYPROJECT)
        for name in ("constraints.txt", "hashes.txt"):
            (self.root / name).write_text("a==1\n")

    def start(self, *arguments: str, **environment: str) -> Started:
        """Start ./dev from a folder that is not the checkout."""
        command = [sys.executable, str(self.driver), str(self.root / "dev"), *arguments]
        inherited = {name: value for name, value in os.environ.items() if name != "REPRO_VENV"}
        own = {
            "JOURNAL": str(self.journal),
            "STAND_IN": str(self.stand_in),
            "HOLD": str(self.hold),
        }
        return Started(command, self.elsewhere, {**inherited, **own, **environment})

    def run(self, *arguments: str, **environment: str) -> tuple[int, str, str]:
        """Start ./dev and wait for its end: exit status, stdout, stderr."""
        return self.start(*arguments, **environment).end()

    def installed(self) -> list[list[str]]:
        """The packages of each installation so far."""
        lines = self.journal.read_text().splitlines() if self.journal.exists() else []
        installs = [line for line in lines if line.startswith("installing")]
        return [line.split(" constraints.txt ")[1].split() for line in installs]


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for a condition, for at most half a minute."""
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def words(out: str) -> list[str]:
    """What the stand-in was called with, after its process id and its folder."""
    return out.split()[2:]
