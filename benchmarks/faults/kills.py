"""Kills `repro verify` at random and at chosen moments, and sees that nothing is lost or left.

A chain is a number of kills of the same command on one store, and the command once more. Its
reports must then be those of a run that nobody disturbed, but for their provenance. After every
kill no process may live on, and after the last command no temporary file be left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).parents[2]
SEED: Final = 20_261_126
TOKEN: Final = "REPRO_KILLS_TOKEN"  # noqa: S105 - a name
AT: Final = "REPRO_KILLS_AT"
COUNTED: Final = "REPRO_KILLS_COUNTED"
ORPHANS_S: Final = 60.0
MINUTE_S: Final = 61.0

VICTIM = """
import os, signal, sys
at, counted = int(os.environ.pop("REPRO_KILLS_AT")), os.environ.pop("REPRO_KILLS_COUNTED")
calls = 0
def called():
    global calls
    calls += 1
    if calls == at:
        os.kill(os.getpid(), signal.SIGKILL)
def after(function):
    def wrapped(*arguments, **how):
        found = function(*arguments, **how)
        called()
        return found
    return wrapped
for name in ("fsync", "replace", "rename", "mkdir", "unlink", "rmdir"):
    setattr(os, name, after(getattr(os, name)))
import atexit
atexit.register(lambda: open(counted, "w").write(str(calls)))
from repro.cli import main
main()
"""
"""`repro`, killed right after so many of its calls that change the disk."""

TABLE = """schema: 1
id: {id}
title: The new way is better than the old one
source: {{own: "made for the kill loop"}}
arms:
  a: {{label: "the new way", table: {id}.csv}}
  b: {{label: "the old way", table: {id}.csv}}
design: independent
seeds: {{min: 3, plan: 5}}
measurements: {{score: {{kind: reported, label: score, better: higher}}}}
expectations:
  - {{id: higher, kind: difference, measurement: score, of: [a, b], direction: higher}}
"""

COMMAND = f"""schema: 1
id: command
title: A program that prints a lower error
source: {{own: "made for the kill loop"}}
configuration:
  trainer: command
  command: [{sys.executable}, train.py, --seed, "{{seed}}", "{{args}}", --out, "{{out}}"]
  files: [train.py]
  results: {{file: "{{out}}/results.json"}}
  resources: {{minutes: 2, memory: 50 MB}}
arms:
  a: {{label: A, args: {{error: 2.0}}}}
  b: {{label: B, args: {{error: 3.0}}}}
design: independent
seeds: {{values: [1, 2, 3]}}
measurements: {{error: {{kind: reported, from: error, label: error, better: lower}}}}
expectations:
  - {{id: lower, kind: difference, measurement: error, of: [a, b], direction: lower}}
"""

PROGRAM = """import argparse, json, random, subprocess, sys, time
from pathlib import Path
parser = argparse.ArgumentParser()
for name in ("seed", "error", "out"):
    parser.add_argument(f"--{name}")
given = parser.parse_args()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
time.sleep(0.3)
child.kill()
error = float(given.error) + random.Random(f"{given.seed} {given.error}").gauss(0, 0.1)
(Path(given.out) / "results.json").write_text(json.dumps({"error": error}))
"""


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill: after so many calls that change the disk, or so many seconds; of all, or one."""

    calls: int
    seconds: float
    group: bool
    hit: bool
    orphans: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Kills of a command, and what was wrong after it was given once more; nothing, it is hoped."""

    kills: tuple[Kill, ...]
    wrong: tuple[str, ...]


class Scene:
    """A folder with claims, where a command is given, and what a whole run of it leaves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.claims = folder / "claims"
        self.claims.mkdir(parents=True)
        for number in range(2):
            name = f"table_{number}"
            (self.claims / f"{name}.claim.yaml").write_text(TABLE.format(id=name))
            chance = random.Random(number)
            rows = [
                f"{arm},{seed},score,{level + chance.gauss(0, 1):.3f}"
                for arm, level in (("a", 90), ("b", 85))
                for seed in range(5)
            ]
            text = "\n".join(["arm,seed,measurement,value", *rows])
            (self.claims / f"{name}.csv").write_text(f"{text}\n")
        (self.claims / "command.claim.yaml").write_text(COMMAND)
        (self.claims / "train.py").write_text(PROGRAM)
        begun = time.monotonic()
        if self.finish("whole", counted=folder / "counted"):
            raise RuntimeError((folder / "whole.log").read_text())
        self.seconds = time.monotonic() - begun
        self.calls = int((folder / "counted").read_text())
        self.reports = self.documents("whole")

    def start(
        self, name: str, calls: int = 0, counted: Path = Path(os.devnull)
    ) -> tuple[subprocess.Popen[bytes], str]:
        """The command at the store and reports of ``name``, in a session of its own."""
        token = secrets.token_hex(16)
        places = ["--store", f"{name}/store", "--reports", f"{name}/reports"]
        line = ["verify", "claims", *places, "--device", "cpu", "--workers", "2", "--allow-code"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            TOKEN: token,
            AT: str(calls),
            COUNTED: str(counted),
        }
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", VICTIM, *line],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return process, token

    def finish(self, name: str, counted: Path = Path(os.devnull)) -> int:
        """Give the command and let it end; its status."""
        process, _ = self.start(name, counted=counted)
        return process.wait()

    def kill(self, name: str, chance: random.Random) -> Kill:
        """Give the command and kill it; what lives on after a while is counted, and ended."""
        calls = chance.randint(1, self.calls) if chance.random() < 0.5 else 0
        seconds = 0.0 if calls else chance.uniform(0, self.seconds)
        group = not calls and chance.random() < 0.5
        process, token = self.start(name, calls)
        try:
            process.wait(None if calls else seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
            process.wait()
        orphans = _living(token)
        return Kill(calls, seconds, group, process.returncode == -signal.SIGKILL, orphans)

    def chain(self, number: int, seed: int, kills: int) -> Chain:
        """Some kills of the command on a new store, and what is wrong after one more command."""
        name = f"chain_{number}"
        chance = random.Random(f"{seed} {number}")
        done = tuple(self.kill(name, chance) for _ in range(kills))
        _age(self.folder / name)
        status = self.finish(name)
        wrong = [f"{each.orphans} processes lived on" for each in done if each.orphans]
        wrong += [] if status == 0 else [f"status {status} at the end"]
        found = self.documents(name)
        wrong += [
            f"{each}: another report"
            for each in self.reports
            if found.get(each) != self.reports[each]
        ]
        wrong += [f"{path} is left" for path in _left(self.folder / name)]
        if not wrong:
            shutil.rmtree(self.folder / name)
        return Chain(done, tuple(wrong))

    def documents(self, name: str) -> dict[str, Any]:
        """Every report without its provenance, by its place."""
        found: dict[str, Any] = {}
        root = self.folder / name / "reports"
        for path in sorted(root.rglob("report.json")):
            document = json.loads(path.read_text())
            del document["provenance"]
            found[str(path.relative_to(root))] = document
            missing = {"report.html", "report.pdf", "junit.xml"} - {
                p.name for p in path.parent.iterdir()
            }
            found.update({f"{path.relative_to(root)}, {each}": "missing" for each in missing})
        return found


def _living(token: str) -> int:
    """How many processes with a token in their environment are alive when a while is over."""
    mark, end = f"{TOKEN}={token}".encode(), time.monotonic() + ORPHANS_S
    while (found := list(_marked(mark))) and time.monotonic() < end:
        time.sleep(0.05)
    for number in found:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return len(found)


def _marked(mark: bytes) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            dead = b") Z" in (folder / "stat").read_bytes()
            if not dead and mark in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)


def _age(folder: Path) -> None:
    """Let what is left be as old as if more than a minute had passed."""
    then = time.time() - MINUTE_S
    for path in folder.rglob(".*"):
        os.utime(path, (then, then), follow_symlinks=False)


def _left(folder: Path) -> list[Path]:
    """Temporary files, and what only an unfinished run has."""
    patterns = ("*.tmp", "*.part", "checkpoint*", "progress.json", "error.txt")
    return [path for pattern in patterns for path in folder.rglob(pattern)]


def chains(folder: Path, number: int, kills: int, seed: int) -> tuple[Scene, list[Chain]]:
    """So many chains of so many kills each."""
    scene = Scene(folder)
    return scene, [scene.chain(each, seed, kills) for each in range(number)]


def main(arguments: Sequence[str]) -> int:
    """Runs the chains, prints what was wrong, and may publish the result; 1 if anything was."""
    from benchmarks.levels.publish import RESULTS, surroundings

    parser = argparse.ArgumentParser("benchmarks.faults kills", description=__doc__)
    parser.add_argument("--chains", type=int, default=40)
    parser.add_argument("--kills", type=int, default=4, help="kills of each chain")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--publish", action="store_true", help="write benchmarks/results")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        scene, done = chains(Path(folder) / "scene", given.chains, given.kills, given.seed)
    kills = [kill for each in done for kill in each.kills]
    wrong = [line for each in done for line in each.wrong]
    document = {
        "command": " ".join(["python -m benchmarks.faults kills", *arguments]),
        **surroundings(),
        "seed": given.seed,
        "chains": len(done),
        "kills": len(kills),
        "hit": sum(kill.hit for kill in kills),
        "after a chosen call": sum(kill.hit and kill.calls > 0 for kill in kills),
        "calls of an undisturbed command": scene.calls,
        "orphans": sum(kill.orphans for kill in kills),
        "wrong": wrong,
        "every kill": [asdict(kill) for kill in kills],
    }
    print(*(wrong or ["nothing was lost or left"]), sep="\n")
    print(f"{document['hit']} of {len(kills)} kills hit, in {len(done)} chains")
    if given.publish:
        path = RESULTS / f"kills-{document['date']}.json"
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 1 if wrong else 0
