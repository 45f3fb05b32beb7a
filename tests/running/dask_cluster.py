"""A dask cluster of separate processes, and an execution on it as a program of its own.

Its runs are those of a program that says when it starts, and that waits while there is a file
`hold`, so that a test knows what is going on at the moment of an accident.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from repro.digest import file_digest
from repro.errors import ReproError
from repro.running import dask_engine
from repro.running.engine import RunOptions
from repro.running.execute import execute
from repro.running.progress import Reporter
from repro.store.run_store import RunStore
from repro.trainers.command.spec import CommandTraining, Resources, Results
from repro.trainers.measurement import Reported
from repro.trainers.run import PlannedRun, RunSpec
from tests.running.processes import alive, until

PROGRAM = """
import json, os, random, sys, time
from pathlib import Path
seed, out = int(sys.argv[1]), Path(sys.argv[2])
with open("started", "a") as log:
    log.write(f"{seed} {os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES', '')}\\n")
while seed and os.path.exists("hold"):
    time.sleep(0.02)
out.joinpath("results.json").write_text(json.dumps({"error": random.Random(seed).gauss(2, 0.1)}))
print("seed", seed)
"""
ERROR = Reported.model_validate(
    {"kind": "reported", "label": "error", "better": "lower", "from": "error"}
)


def program(folder: Path) -> Path:
    """A folder with the program in it."""
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM, encoding="utf-8")
    return folder


def plan_of(folder: Path, count: int, gpus: int = 0) -> list[PlannedRun]:
    """The first runs of a program; the first of them waits for nothing."""
    training = CommandTraining(
        command=(sys.executable, "train.py", "{seed}", "{out}"),
        files=("train.py",),
        results=Results(file="{out}/results.json"),
        resources=Resources(memory="100 MB", gpus=gpus),
        digests={"train.py": file_digest(folder / "train.py")},
        folder=str(folder),
    )
    runs = [RunSpec(training=training, replicate=number) for number in range(count)]
    return [PlannedRun(run=run, measurements=(ERROR,)) for run in runs]


def started(folder: Path) -> list[tuple[int, int, str]]:
    """The seed, the process and the GPU of each start of the program so far."""
    log = folder / "started"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    fields = [line.split(" ") for line in lines]
    return [(int(seed), int(process), gpu) for seed, process, gpu in fields]


def left_in(store: RunStore, plan: list[PlannedRun]) -> dict[str, bytes]:
    """Every byte that a verdict may depend on, of complete runs."""
    found: dict[str, bytes] = {}
    for planned in plan:
        folder = store.folder(planned.run.key)
        paths = [path for path in folder.rglob("*") if path.is_file()]
        found |= {
            f"{planned.run.key}/{path.relative_to(folder)}": path.read_bytes()
            for path in paths
            if path.name not in {"provenance.json", ".lock"}
        }
    return found


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}


class Cluster:
    """A scheduler and workers, each a process; all are ended with the test."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.file = folder / "scheduler.json"
        self._log = (folder / "dask.log").open("ab")
        self._scratch = str(folder)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.start_scheduler(**variables)

    def start_scheduler(self, **variables: str) -> None:
        """Start one, which writes the file again."""
        self.file.unlink(missing_ok=True)
        line = ["--scheduler-file", str(self.file), "--host", "127.0.0.1", "--port", "0"]
        self._scheduler = self._start("scheduler", [*line, "--no-dashboard"], **variables)
        assert until(lambda: self.file.exists() and self.file.read_text(), 60)

    def kill_scheduler(self) -> None:
        self._scheduler.kill()
        self._scheduler.wait()

    def worker(self, *options: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start one of one thread; it joins in its own time."""
        line = ["--scheduler-file", str(self.file), "--nthreads", "1", "--no-nanny"]
        line += ["--no-dashboard", "--memory-limit", "0", "--local-directory", self._scratch]
        return self._start("worker", [*line, *options], **variables)

    def _start(self, kind: str, line: list[str], **variables: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"distributed.cli.dask_{kind}", *line],
            env=environment(**variables),
            stdout=self._log,
            stderr=self._log,
        )
        self._processes.append(process)
        return process

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        self._log.close()


@contextmanager
def cluster_in(folder: Path, **variables: str) -> Iterator[Cluster]:
    cluster = Cluster(folder, **variables)
    try:
        yield cluster
    finally:
        cluster.close()


class Session:
    """An execution of the first ``count`` runs of a program, as a process."""

    _all: ClassVar[list[subprocess.Popen[str]]] = []

    def __init__(self, store: Path, folder: Path, count: int, **options: Any) -> None:
        arguments = json.dumps([str(store), str(folder), count, options])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.running.dask_cluster", arguments],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

        self._all.append(self.process)

    @classmethod
    def end_all(cls) -> None:
        """Kill those that still run."""
        while cls._all:
            with cls._all.pop() as process:
                process.kill()

    def end(self) -> tuple[int, Any, str]:
        """Its status, what became of the runs, and what was told."""
        output, errors = self.process.communicate(timeout=120)
        return self.process.returncode, json.loads(output or "null"), errors

    def told_until(self, word: str) -> str:
        """What is told up to the line with a word."""
        assert self.process.stderr is not None
        told = ""
        while word not in told:
            line = self.process.stderr.readline()
            assert line, f"it ended without {word!r}: {told}"
            told += line
        return told

    def interrupt(self) -> None:
        """Ctrl-C, which the terminal sends to every process of the session."""
        os.killpg(self.process.pid, signal.SIGINT)


def all_below(process: int) -> list[int]:
    """The processes that a process has started, and those that these have."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    found, new = set[int](), {process}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return sorted(found)


def all_dead(processes: list[int], seconds: float = 10) -> bool:
    return until(lambda: not any(alive(each) for each in processes), seconds)


def main(arguments: str) -> int:
    """The process of a session."""
    store, folder, count, options = json.loads(arguments)
    dask_engine.ABSENT_SECONDS = options.pop("patience", 60)
    plan = plan_of(Path(folder), count, options.pop("gpus", 0))
    try:
        done = execute(
            plan,
            RunOptions(RunStore(store), device="cpu", allow_code=True, **options),
            report=Reporter(),
        )
    except KeyboardInterrupt:
        return 130
    except ReproError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(json.dumps(asdict(done)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
