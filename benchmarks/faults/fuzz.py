"""How the work of every loader grows with its input: as the input does, and no faster.

Work is counted in lines of Python, which are the same on every machine, at sizes n, 2n and 4n; and
in seconds of computing at larger ones, for what libraries in C do. A refusal is an answer as well.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final, TypeVar

from benchmarks.faults.shapes import SHAPES, Work
from repro.errors import ReproError
from repro.results.inside import Refused

Number = TypeVar("Number", int, float)

RESULTS: Final = Path(__file__).parents[1] / "results"
LINES_AT: Final = 250
SECONDS_AT: Final = 25_000
LIMIT: Final = 10
"""Seconds of computing for any of these inputs."""


def answered(work: Work) -> str:
    """What became of an input: read, or refused in words."""
    try:
        work()
    except (ReproError, Refused, ValueError) as error:
        return str(error) or type(error).__name__
    return ""


def lines_of(work: Work) -> int:
    """The lines of Python that reading an input takes."""
    count = 0

    def line(frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        answered(work)
    finally:
        sys.settrace(before)
    return count


def counted(name: str, seed: int, n: int = LINES_AT) -> list[int]:
    """Lines at n, 2n and 4n, of the shape that a seed gives."""
    _with(name, seed, n, lines_of)  # which imports what is imported when it is first used
    return [_with(name, seed, size, lines_of) for size in (n, 2 * n, 4 * n)]


def timed(name: str, seed: int, size: int) -> float | None:
    """Seconds of computing; None for more than `LIMIT`."""
    return _apart(partial(_with, name, seed, size, _seconds))


def _with(name: str, seed: int, size: int, measure: Callable[[Work], Number]) -> Number:
    with TemporaryDirectory() as folder:
        place = Path(folder) / "in"
        place.mkdir()
        return measure(SHAPES[name](size, Random(f"{name} {seed}"), place))


def _seconds(work: Work) -> float:
    """Of this process and of those that it has ended, within the limit."""
    began, _, hard = time.process_time(), *resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(began) + 1 + LIMIT, hard))
    children = os.times()
    answered(work)
    after = os.times()
    below = after.children_user + after.children_system
    return time.process_time() - began + below - children.children_user - children.children_system


def _apart(measure: Callable[[], float]) -> float | None:
    """A measure taken in a process of its own; None where that met its limit."""
    read, write = os.pipe()
    if not (process := os.fork()):
        try:
            os.write(write, str(measure()).encode("ascii"))
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        content = stream.read()
    _, status = os.waitpid(process, 0)
    if os.waitstatus_to_exitcode(status) == -signal.SIGXCPU:
        return None
    return float(content)


def growth(counts: Sequence[float]) -> float:
    """The power of the size that the last doubling grew with."""
    return math.log2(counts[-1] / counts[-2]) if counts[-2] else 0.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every shape with several seeds, and write the worst of each."""
    parser = argparse.ArgumentParser(prog="benchmarks.faults fuzz", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--size", type=int, default=SECONDS_AT)
    parser.add_argument(
        "--publish", action="store_true", help="write results/faults-fuzz-DATE.json"
    )
    given = parser.parse_args(arguments)
    rows = [_row(name, given.seeds, given.size) for name in SHAPES]
    if given.publish:
        today = datetime.now(UTC).date().isoformat()
        head = {
            "date": today,
            "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores",
            "seeds": given.seeds,
            "limit_seconds": LIMIT,
        }
        text = ",\n  ".join(json.dumps(row) for row in rows)
        head_text = json.dumps(head)[:-1]
        path = RESULTS / f"faults-fuzz-{today}.json"
        path.write_text(f'{head_text}, "rows": [\n  {text}\n]}}\n', encoding="utf-8")
    return int(any(None in row["seconds"] for row in rows))


def _row(name: str, seeds: int, size: int) -> dict[str, Any]:
    """The seed by which the lines of a shape grow most, and the longest of all times."""
    lines = max((counted(name, seed) for seed in range(seeds)), key=growth)
    sizes = [size, 2 * size, 4 * size]
    seconds = [_longest([timed(name, seed, each) for seed in range(seeds)]) for each in sizes]
    print(f"{name}: lines {lines}, power {growth(lines):.2f}; seconds {seconds}", flush=True)
    return {
        "shape": name,
        "lines_at": [LINES_AT * times for times in (1, 2, 4)],
        "lines": lines,
        "power": round(growth(lines), 2),
        "seconds_at": sizes,
        "seconds": seconds,
    }


def _longest(seconds: Sequence[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return round(max(known), 3) if len(known) == len(seconds) else None
