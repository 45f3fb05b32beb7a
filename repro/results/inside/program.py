"""The process that reads the files of trackers: one after the other, each within its limits.

`main` is run by `python -I -S`. A request is a line of JSON, `{"kind": ..., "seconds": ...,
"parts": {ENDING: BYTES}}`, and those bytes; the answer is a line of JSON. More seconds of computing
end the process, by SIGXCPU.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from repro.results.inside import Refused, eval_logs, events, wandb_records
from repro.results.inside.landlock import confine
from repro.results.inside.tables import mlflow, names, trackio

MEMORY: Final = 4_000_000_000
"""Bytes."""

ANSWER: Final = 256_000_000
"""Bytes of the values in a file."""

READERS: Final[Mapping[str, Callable[[Mapping[str, bytes], Path], Any]]] = {
    "events": events.read,
    "inspect": eval_logs.read,
    "mlflow": mlflow,
    "tables": names,
    "trackio": trackio,
    "wandb": wandb_records.read,
}


def main(folder: str) -> None:
    """Answer requests until there are no more; databases are put into the folder."""
    _limit()
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


def _limit() -> None:
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 1_000_000_000}
    if sys.platform == "linux":  # elsewhere it counts what no program asked for
        limits[resource.RLIMIT_AS] = MEMORY
    for kind, most in limits.items():
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


def _limit_time(seconds: int) -> None:
    """So many from now on."""
    seconds += int(time.process_time()) + 1
    with suppress(ValueError, OSError):
        resource.setrlimit(
            resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1])
        )
