"""GPUs for a program: each belongs to one program at a time, on this machine.

A GPU is locked by its UUID, where the driver tells it: jobs of a cluster that have a GPU each may
all know theirs as number 0.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from repro.errors import DeviceError
from repro.files import try_lock

WAIT_S: Final = 1.0


@contextmanager
def gpus_of_this_run(count: int) -> Iterator[dict[str, str]]:
    """Hold so many GPUs inside; the variable that shows them, and no others, to a program.

    Waits until they are free. DeviceError where the machine has fewer.
    """
    if not count:
        yield {}
        return
    names = visible()
    if len(names) < count:
        raise DeviceError(
            f"{count} GPUs for a run, and {len(names)} are here\n"
            "  to do: declare fewer in `resources`, or use another machine"
        )
    with ExitStack() as held:
        yield {"CUDA_VISIBLE_DEVICES": ",".join(_free(names, count, held))}


def visible() -> list[str]:
    """The GPUs that this process may use: as CUDA_VISIBLE_DEVICES says, or all."""
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    if shown is not None:
        return [name.strip() for name in shown.split(",") if name.strip() not in ("", "-1")]
    return [line.strip() for line in _asked("index")]


def _asked(fields: str) -> list[str]:
    """What the driver says of its GPUs, one a line; nothing where there is none."""
    line = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]
    with suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(line, capture_output=True, text=True, timeout=30, check=True)
        return found.stdout.splitlines()
    return []


def _uuids() -> dict[str, str]:
    """The UUID of each GPU by its number, as far as the driver tells."""
    parts = [line.partition(",") for line in _asked("index,uuid")]
    return {number.strip(): uuid.strip() for number, _, uuid in parts if uuid.strip()}


def _identity(name: str, uuids: dict[str, str]) -> str:
    """What a GPU is locked by: ``name`` is its number, or its UUID or the beginning of that."""
    if name in uuids:
        return uuids[name]
    return next((uuid for uuid in uuids.values() if uuid.startswith(name)), name)


def _free(names: list[str], count: int, held: ExitStack) -> list[str]:
    """GPUs that nobody holds, locked until ``held`` is closed."""
    folder = Path(tempfile.gettempdir()) / f"repro-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    uuids = _uuids()
    while True:
        with ExitStack() as tried:
            found: list[str] = []
            for name in names:
                safe = "".join(c if c.isalnum() else "_" for c in _identity(name, uuids))
                flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
                handle = os.open(folder / safe, flags, 0o600)
                tried.callback(os.close, handle)
                if len(found) < count and try_lock(handle):
                    found.append(name)
            if len(found) == count:
                held.push(tried.pop_all())
                return found
        time.sleep(WAIT_S)
