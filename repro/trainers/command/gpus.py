"""GPUs for a program: each belongs to one program at a time, on this machine.

A GPU is locked by its UUID, where the driver tells it: jobs of a cluster that have a GPU each may
all know theirs as number 0.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from repro.errors import DeviceError
from repro.files import try_lock
from repro.trainers.devices import asked_of_driver, visible_gpus

WAIT_S: Final = 1.0


class HeldGpus(NamedTuple):
    """GPUs that a run holds: the variable that shows them alone, and the handles of their locks."""

    variables: dict[str, str]
    locks: tuple[int, ...]


@contextmanager
def gpus_of_this_run(count: int) -> Iterator[HeldGpus]:
    """Hold so many GPUs inside.

    Whoever inherits their locks holds them, too. Waits until they are free. DeviceError where the
    machine has fewer.
    """
    if not count:
        yield HeldGpus({}, ())
        return
    names = visible_gpus()
    if len(names) < count:
        raise DeviceError(
            f"{count} GPUs for a run, and {len(names)} are here\n"
            "  to do: declare fewer in `resources`, or use another machine"
        )
    with ExitStack() as held:
        locks = _free(names, count, held)
        yield HeldGpus({"CUDA_VISIBLE_DEVICES": ",".join(locks)}, tuple(locks.values()))


def _identity(name: str, uuids: dict[str, str]) -> str:
    """What a GPU is locked by: ``name`` is its number, or its UUID or the beginning of that."""
    if name in uuids:
        return uuids[name]
    return next((uuid for uuid in uuids.values() if uuid.startswith(name)), name)


def _free(names: list[str], count: int, held: ExitStack) -> dict[str, int]:
    """GPUs that nobody holds, locked until ``held`` is closed, and the handles of their locks."""
    folder = Path(tempfile.gettempdir()) / f"repro-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    parts = [line.partition(",") for line in asked_of_driver("index,uuid")]
    uuids = {number.strip(): uuid.strip() for number, _, uuid in parts if uuid.strip()}
    while True:
        with ExitStack() as tried:
            found: dict[str, int] = {}
            for name in names:
                safe = "".join(c if c.isalnum() else "_" for c in _identity(name, uuids))
                flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
                handle = os.open(folder / safe, flags, 0o600)
                tried.callback(os.close, handle)
                if len(found) < count and try_lock(handle):
                    found[name] = handle
            if len(found) == count:
                held.push(tried.pop_all())
                return found
        time.sleep(WAIT_S)
