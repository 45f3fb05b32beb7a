"""Files of reports are replaced in one step, and what a kill has left of a step is swept.

A write owns its temporary file by a lock, which the kernel takes back when its process ends
however that ends: so a file that nobody holds, and that is not of this minute, is rubbish.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from repro.files import try_lock, write_atomically

ENDING = ".part"

STALE_SECONDS = 60.0
"""Younger files are left alone: one is made a moment before it is locked."""

PATIENCE_SECONDS = 10.0
"""For another process that writes the same; a stopped one is not waited for longer."""


def replace(path: Path, content: bytes) -> Path:
    """Write a temporary sibling and put it in place of ``path`` in one step. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content, ending=ENDING)
    return path


def sweep(folder: Path) -> None:
    """Remove what writes of processes that were killed have left in a folder of reports."""
    for path in folder.glob(f".*{ENDING}"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime < STALE_SECONDS:
                continue
            handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if try_lock(handle):
                    path.unlink(missing_ok=True)
            finally:
                os.close(handle)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Do what reads all reports of a folder and writes their index, one process at a time.

    So the last index that is written has read every report that was there before it. Where
    folders cannot be locked, and after some seconds, it is done all the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not try_lock(handle) and time.monotonic() < deadline:
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)
