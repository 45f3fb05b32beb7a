"""A program is run to its end, and nothing of it is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repro.trainers.command import process

PYTHON = sys.executable
WAIT = "import time; print('up', flush=True); time.sleep(600)"
CHILD_OF_ITS_OWN = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {WAIT!r}], start_new_session=True,
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(child.pid, flush=True)
"""


def run(
    folder: Path, code: str, seconds: float | None = 60, mark: str = "k"
) -> tuple[process.Ended, list[str]]:
    lines: list[str] = []
    ended = process.run(
        [PYTHON, "-c", code],
        folder=folder,
        environment=dict(os.environ),
        mark=f"{os.getpid()}-{mark}",
        seconds=seconds,
        on_line=lines.append,
    )
    return ended, lines


def alive(number: int) -> bool:
    """Whether a process runs; a zombie that waits for its parent does not."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_what_it_prints_and_how_it_ends(tmp_path: Path) -> None:
    """Errors are part of the output; it runs in its folder, and reads nothing."""
    code = "import os, sys; print(os.getcwd()); print('bad', file=sys.stderr); print(input())"
    ended, lines = run(tmp_path, code)
    assert (ended.status, ended.timed_out) == (1, False)
    assert ended.words == "ended with status 1"
    assert {str(tmp_path), "bad"} <= set(lines)
    assert b"EOFError" in ended.output


def test_one_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    ended, _ = run(tmp_path, WAIT, 2)
    assert ended.timed_out
    assert re.fullmatch(r"was not done after 0\.\d+ minutes, and was killed", ended.words)
    assert ended.seconds < 30


def test_one_that_does_not_want_to_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_S", 1.0)
    stubborn = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAIT}"
    ended, _ = run(tmp_path, stubborn, 2)
    assert ended.timed_out


def test_a_signal_is_named(tmp_path: Path) -> None:
    ended, _ = run(tmp_path, "import os; os.kill(os.getpid(), 9)")
    assert ended.words == "was killed by SIGKILL"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
def test_what_it_started_in_a_session_of_its_own_ends_with_it(tmp_path: Path) -> None:
    ended, lines = run(tmp_path, CHILD_OF_ITS_OWN)
    assert ended.status == 0
    assert not alive(int(lines[0]))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
def test_what_an_earlier_attempt_left_ends_before_the_next(tmp_path: Path) -> None:
    mark = f"{os.getpid()}-twice"
    line = [PYTHON, "-c", WAIT]
    left = subprocess.Popen(
        line, env={**os.environ, process.MARK: mark}, stdout=subprocess.PIPE, start_new_session=True
    )
    with left:
        assert left.stdout is not None
        left.stdout.readline()
        ended, _ = run(tmp_path, "print(1)", mark="twice")
        assert left.wait(10) == -signal.SIGKILL
    assert ended.status == 0


@pytest.mark.skipif(sys.platform != "linux", reason="asked of the kernel of Linux")
def test_it_ends_with_the_worker_that_started_it(tmp_path: Path) -> None:
    code = f"""
import os, sys
from pathlib import Path
from repro.trainers.command import process
process.run(
    [sys.executable, "-c", "import os; print(os.getpid(), flush=True); {WAIT}"],
    folder=Path("."), environment=dict(os.environ), mark="parent", seconds=None,
    on_line=lambda line: print(line, flush=True),
)
"""
    line = [PYTHON, "-c", code]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        number = int(worker.stdout.readline())
        assert alive(number)
        worker.kill()
        worker.wait()
        deadline = time.monotonic() + 20
        while alive(number) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not alive(number)


def test_the_beginning_and_the_end_of_a_long_output_are_kept(tmp_path: Path) -> None:
    ended, lines = run(tmp_path, "for i in range(200_000): print(f'line {i:06}')")
    assert len(lines) == 200_000
    assert ended.output.startswith(b"line 000000\n")
    assert ended.output.endswith(b"line 199999\n")
    assert b" bytes left out]" in ended.output
    assert len(ended.output) < process.HEAD_BYTES + process.TAIL_BYTES + 1000


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    ended, lines = run(tmp_path, "print('x' * 3_000_000)")
    assert max(map(len, lines)) <= process.LONGEST_LINE
    assert len(ended.output) < process.HEAD_BYTES + process.TAIL_BYTES + process.LONGEST_LINE


def test_output_that_is_no_text_is_kept_as_it_is(tmp_path: Path) -> None:
    ended, lines = run(tmp_path, "import sys; sys.stdout.buffer.write(b'a\\xff\\n')")
    assert ended.output == b"a\xff\n"
    assert lines == ["a\N{REPLACEMENT CHARACTER}"]


@pytest.mark.parametrize(
    ("line", "said"),
    [(["no-such-program"], "No such file or directory"), (["a\0b"], "embedded null byte")],
)
def test_a_program_that_cannot_be_started(tmp_path: Path, line: list[str], said: str) -> None:
    with pytest.raises(process.NotStartedError, match=said):
        process.run(
            line,
            folder=tmp_path,
            environment={},
            mark="none",
            seconds=1,
            on_line=lambda _: None,
        )
