"""The process in which a pattern is searched in lines: it may take for ever, and is then ended.

A program of its own, on the standard library alone: `python -I -S pattern_search.py JOB`, whose job
is a pattern, seconds, and a number of lines, in JSON. Its input are the lines. When that ends it
writes the named groups of each line that has the pattern, of one more than so many lines at most;
or, after so many seconds of computing, in which line it was. A search that cannot be interrupted is
killed by the system soon after.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from types import FrameType
from typing import Any, Final

TO_TELL_S: Final = 30
"""Seconds of computing from then on, in which the answer is written."""


class _SlowError(Exception):
    """The seconds are over."""


def _slow(number: int, frame: FrameType | None) -> None:
    del frame
    signal.signal(number, signal.SIG_IGN)
    raise _SlowError


def main(pattern: str, seconds: int, most: int) -> None:
    """Read lines to their end, and answer."""
    sought = re.compile(pattern)
    signal.signal(signal.SIGXCPU, _slow)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    end = seconds + TO_TELL_S
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, end if hard < 0 else min(end, hard)))
    rows: list[dict[str, Any]] = []
    line = 0
    try:
        for line, content in enumerate(sys.stdin.buffer, start=1):  # noqa: B007 - told if slow
            found = sought.search(content.decode("utf-8", "replace").removesuffix("\n"))
            if found and len(rows) <= most:
                rows.append(found.groupdict())
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        answer: dict[str, Any] = {"rows": rows}
    except _SlowError:
        answer = {"slow": line}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
