"""GPUs for a program: each belongs to one program at a time, on this machine."""

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
    line = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    with suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(line, capture_output=True, text=True, timeout=30, check=True)
        return found.stdout.split()
    return []


def _free(names: list[str], count: int, held: ExitStack) -> list[str]:
    """GPUs that nobody holds, locked until ``held`` is closed."""
    folder = Path(tempfile.gettempdir()) / f"repro-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    while True:
        with ExitStack() as tried:
            found: list[str] = []
            for name in names:
                safe = "".join(c if c.isalnum() else "_" for c in name)
                flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
                handle = os.open(folder / safe, flags, 0o600)
                tried.callback(os.close, handle)
                if len(found) < count and try_lock(handle):
                    found.append(name)
            if len(found) == count:
                held.push(tried.pop_all())
                return found
        time.sleep(WAIT_S)
