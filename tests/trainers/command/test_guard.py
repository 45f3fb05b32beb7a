"""Nothing of a program is left, whatever becomes of the worker that started it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repro.files import try_lock
from repro.trainers.command import process
from tests.running.processes import alive, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")

SLEEP = (
    "import os, pathlib, time; pathlib.Path({name!r}).write_text(str(os.getpid())); time.sleep(600)"
)

ESCAPES = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", {code!r}], start_new_session=True, env={{}})
time.sleep({seconds})
"""
"""A program with a child that has neither its group nor its environment."""

WORKER = """
import json, os, sys
from pathlib import Path
from repro.files import try_lock
from repro.trainers.command import process
process.run(
    json.loads(sys.argv[1]), folder=Path("."), environment=dict(os.environ), mark=sys.argv[2],
    seconds=None, on_line=lambda line: None,
)
"""


def number(path: Path) -> int:
    """The process that has written its number there."""
    assert until(lambda: path.exists() and path.read_text() != "")
    return int(path.read_text())


def escaping(folder: Path, seconds: float) -> tuple[list[str], Path]:
    place = folder / "child"
    code = SLEEP.format(name=str(place))
    return [sys.executable, "-c", ESCAPES.format(code=code, seconds=seconds)], place


def run(line: list[str], folder: Path, seconds: float | None = 60) -> process.Ended:
    return process.run(
        line,
        folder=folder,
        environment=dict(os.environ),
        mark=f"{os.getpid()}-guard",
        seconds=seconds,
        on_line=lambda _: None,
    )


@pytest.mark.parametrize("seconds", [60, 3], ids=["ends", "takes too long"])
def test_a_child_that_has_left_group_and_environment_is_ended(
    tmp_path: Path, seconds: float
) -> None:
    line, place = escaping(tmp_path, 2 if seconds == 60 else 600)
    ended = run(line, tmp_path, seconds)
    assert ended.timed_out == (seconds == 3)
    assert not alive(number(place))


def test_nothing_outlives_a_worker_that_is_killed(tmp_path: Path) -> None:
    """Neither what a shell started nor what has left its group and environment."""
    line, escaped = escaping(tmp_path, 600)
    inner = tmp_path / "inner"
    script = tmp_path / "run.sh"
    child = [sys.executable, "-c", SLEEP.format(name=str(inner))]
    script.write_text(f"{shlex.join(child)} &\n{shlex.join(line)}\n", encoding="utf-8")
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, json.dumps(["bash", str(script)]), f"{os.getpid()}-w"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
    )
    found = [number(inner), number(escaped)]
    assert all(map(alive, found))
    worker.kill()
    worker.wait()
    assert until(lambda: not any(map(alive, found)))


def test_another_store_is_another_mark(tmp_path: Path) -> None:
    """What is marked for one is left alone by what is killed for another."""
    line = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]
    with subprocess.Popen(
        line, env={**os.environ, process.MARK: "key-one"}, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        process.kill_marked("key-two")
        time.sleep(0.1)
        assert other.poll() is None
        process.kill_marked("key-one")
        assert other.wait(10) == -signal.SIGKILL


def test_a_guard_that_is_killed_takes_its_program_along(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal, time; pathlib.Path('up').write_text(str(os.getpid()));"
        "os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)"
    )
    ended = run([sys.executable, "-c", code], tmp_path)
    assert ended.status == -signal.SIGKILL
    assert not alive(number(tmp_path / "up"))


def test_signals_are_as_any_program_has_them(tmp_path: Path) -> None:
    """A worker ignores Ctrl-C; what it starts does not, nor does that block anything."""
    code = (
        "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler,"
        "signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, signal.pthread_sigmask(0, ()))"
    )
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ended = run([sys.executable, "-c", code], tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.output == b"True True set()\n"


def test_a_lock_is_held_until_nothing_is_left(tmp_path: Path) -> None:
    """A GPU is free when what used it is gone, and not when the worker is that started it."""
    lock = tmp_path / "lock"
    line, escaped = escaping(tmp_path, 600)
    code = WORKER.replace("mark=sys.argv[2]", "mark=sys.argv[2], locks=[handle]").replace(
        "process.run(",
        "handle = os.open('lock', os.O_CREAT | os.O_RDWR)\nassert try_lock(handle)\nprocess.run(",
    )
    code = f"from repro.files import try_lock\n{code}"
    worker = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(line), f"{os.getpid()}-l"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
    )
    child = number(escaped)
    worker.kill()
    worker.wait()
    with lock.open() as handle:
        assert until(lambda: try_lock(handle.fileno()))
        assert not alive(child)


HEIRS = """
import os, time
end = time.monotonic() + 12
for _ in range(4):
    if os.fork():
        continue
    os.setsid()
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
"""
"""Processes that live on in a child of a child, each gone before it can be looked at."""


def test_processes_that_fork_and_end_in_turn_are_ended(tmp_path: Path) -> None:
    """In haste: what looks for them now and then hardly ever meets one, and gives up."""
    begun = time.monotonic()
    run([sys.executable, "-c", HEIRS], tmp_path)
    assert time.monotonic() - begun < 8


STOPS = (
    "import os, pathlib, signal, time; pathlib.Path('up').write_text(str(os.getpid()));"
    "os.kill(os.getppid(), signal.SIGSTOP); time.sleep(600)"
)
STOPS_AGAIN = STOPS.replace(
    "time.sleep(600)", "\nwhile True: os.kill(os.getppid(), signal.SIGSTOP)"
)


def test_a_guard_that_is_stopped_goes_on(tmp_path: Path) -> None:
    """The limit of the program is kept, though the program has stopped what keeps it."""
    begun = time.monotonic()
    ended = run([sys.executable, "-c", STOPS], tmp_path, 2)
    assert ended.timed_out
    assert time.monotonic() - begun < process.GRACE_S
    assert not alive(number(tmp_path / "up"))


def test_a_guard_that_is_stopped_over_and_over_keeps_no_program_beyond_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for it for ever, and it is no run that has ended well."""
    monkeypatch.setattr(process, "LATE_S", 1.0)
    monkeypatch.setattr(process, "GRACE_S", 1.0)
    ended = run([sys.executable, "-c", STOPS_AGAIN], tmp_path, 2)
    assert ended.timed_out
    program = number(tmp_path / "up")
    assert until(lambda: not alive(program), 2)  # its kill comes with the death of the guard


def test_a_guard_that_is_stopped_ends_with_its_worker(tmp_path: Path) -> None:
    """Neither it nor its program is left when the worker is killed."""
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER, json.dumps([sys.executable, "-c", STOPS]), "mark-w"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
    )
    program = number(tmp_path / "up")
    guard = int(Path(f"/proc/{program}/stat").read_text().rpartition(")")[2].split()[1])
    worker.kill()
    worker.wait()
    assert until(lambda: not alive(program) and not alive(guard))
