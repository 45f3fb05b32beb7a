"""The process that reads the files of trackers: one after the other, each within its limits.

`main` is run by `python -I -S`. A request is a line of JSON, `{"kind": ..., "seconds": ...,
"parts": {ENDING: BYTES}}`, and those bytes; the answer is a line of JSON. More seconds of computing
end the process, by SIGXCPU.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import struct
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from repro.results.inside import Refused, eval_logs, events, wandb_records
from repro.results.inside.tables import mlflow, names, trackio

MEMORY: Final = 4_000_000_000
"""Bytes."""

ANSWER: Final = 256_000_000
"""Bytes of the values in a file."""

READERS: Final[Mapping[str, Callable[[Mapping[str, bytes], Path], Any]]] = {
    "events": events.read,
    "inspect": eval_logs.read,
    "inspect samples": eval_logs.samples,
    "mlflow": mlflow,
    "tables": names,
    "trackio": trackio,
    "wandb": wandb_records.read,
}


def main(folder: str) -> None:
    """Answer requests until there are no more; databases are put into the folder."""
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 1_000_000_000}
    if sys.platform == "linux":  # elsewhere it counts what no program asked for
        limits[resource.RLIMIT_AS] = MEMORY
    for kind, most in limits.items():
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))
    confine(Path(folder))
    gc.disable()  # which would look at every list of a long file, over and over
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        parts = {end: sys.stdin.buffer.read(size) for end, size in request["parts"].items()}
        _limit_time(request["seconds"])
        sys.stdout.write(f"{_answer(READERS[request['kind']], parts, Path(folder))}\n")
        sys.stdout.flush()


def _answer(
    reader: Callable[[Mapping[str, bytes], Path], Any], parts: Mapping[str, bytes], folder: Path
) -> str:
    """What a file holds in JSON, or why it is not read."""
    try:
        found = json.dumps({"found": reader(parts, folder)}, default=str)
        if len(found) <= ANSWER:
            return found
        words = (f"holds {len(found):,} bytes of values", f"at most {ANSWER:,}", "")
    except Refused as refused:
        words = refused.words
    except MemoryError:
        words = (f"needs more than {MEMORY:,} bytes of memory", "a file that needs less", "")
    except Exception as error:  # noqa: BLE001 - whatever a stranger's file does, it is told
        words = (f"cannot be read: {type(error).__name__}: {error}"[:400], "", "")
    return json.dumps({"refused": words})


def _limit_time(seconds: int) -> None:
    """So many from now on."""
    seconds += int(time.process_time()) + 1
    with suppress(ValueError, OSError):
        resource.setrlimit(
            resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1])
        )


CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of system calls, the same on every machine."""

ASK_VERSION: Final = 1
BENEATH: Final = 1
NO_NEW_PRIVILEGES: Final = 38

RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many rights on files a version of Landlock knows; later ones know 16."""

READ: Final = 0b1100
"""Of those: to read a file, and to list a folder."""

NETWORK, SCOPES = 0b11, 0b11
"""To bind and to connect; to reach sockets and processes outside."""


def confine(folder: Path) -> bool:
    """Give up for ever all but ``folder``; False where the system has no Landlock.

    Python's own library can still be read: some of it is imported when it is first used.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long

    def call(number: int, *arguments: int | bytes | None) -> int:
        typed = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
        return int(libc.syscall(ctypes.c_long(number), *typed))

    version = call(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1:
        return False
    files = (1 << RIGHTS.get(version, 16)) - 1
    handled = [files, *([NETWORK] if version >= 4 else []), *([SCOPES] if version >= 6 else [])]
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    rules = call(CREATE_RULESET, attributes, len(attributes), 0)
    if rules < 0:
        return False
    for place, rights in {folder: files, Path(os.__file__).parent: READ}.items():
        handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
        call(ADD_RULE, rules, BENEATH, struct.pack("=Qi", rights, handle), 0)
        os.close(handle)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    held = call(RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return held
