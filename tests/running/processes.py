"""Looking at processes and waiting for things to happen."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def alive(process: int) -> bool:
    """Whether a process is there and is not merely waiting to be buried."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def until(condition: Callable[[], object], seconds: float = 20.0) -> bool:
    """Wait for a condition; whether it came true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
