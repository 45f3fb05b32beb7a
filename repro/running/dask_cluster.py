"""A dask cluster: where its scheduler is, what its workers offer; or one of this machine."""

from __future__ import annotations

import json
import logging
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from repro.errors import EngineError
from repro.trainers.trainer import Device

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

LOOK_SECONDS: Final = 0.25
NOTICE_SECONDS: Final = 5.0

ANSWER_SECONDS: Final = 10.0
"""How long a scheduler may take to say who its workers are."""

APPEAR_SECONDS = 30.0
"""How long the file of a scheduler that is just being started is waited for."""

SETTLE_SECONDS = 10.0
"""How long no worker may have joined before tasks are made.

On GPUs the number of workers says how many models the replicates are parted into.
"""

SETTLE_CPU_SECONDS: Final = 2.0
"""The same where a run is a task in any case, and workers say only whether memory is asked for."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a worker has: threads, and the resources that it was started with."""

    threads: int
    resources: Mapping[str, float]

    def has(self, needs: Mapping[str, float]) -> bool:
        """Whether it has all that a task asks for."""
        return all(self.resources.get(name, 0.0) >= amount for name, amount in needs.items())

    def tasks(self, device: Device) -> int:
        """How many tasks it does at a time, each with a GPU of its own where they need one."""
        gpus = int(self.resources.get("GPU", 0))
        return min(self.threads, gpus) if device == "cuda" else self.threads


def offers_of(client: Client) -> list[Offer] | None:
    """What each worker offers that is connected now; None where the scheduler does not say."""
    try:
        scheduler: Any = client.scheduler
        found = client.sync(scheduler.identity, n_workers=-1, callback_timeout=ANSWER_SECONDS)
        workers = found["workers"].values()
        return [Offer(int(each["nthreads"]), dict(each["resources"])) for each in workers]
    except Exception:  # noqa: BLE001 - such as a scheduler that has gone: that is told elsewhere
        return None


def settled(client: Client, device: str, say: Callable[[str], None]) -> list[Offer]:
    """What the workers offer, once there is one and no other has joined for a while."""
    began = since = time.monotonic()
    quiet = SETTLE_CPU_SECONDS if device == "cpu" else SETTLE_SECONDS
    offers: list[Offer] = []
    while True:
        found, now = offers_of(client), time.monotonic()
        if found is not None and len(found) != len(offers):
            offers, since = found, now
        if offers and now - since >= quiet:
            return offers
        if not offers and now - began > NOTICE_SECONDS:
            say(f"{NO_WORKER}: waiting for one")
        time.sleep(LOOK_SECONDS)


NO_WORKER: Final = "no dask worker is connected"


def lack_of(offers: list[Offer], needs: Mapping[str, float]) -> str:
    """Why no worker can do a task that asks for ``needs``; or nothing."""
    if not offers:
        return NO_WORKER
    if any(each.has(needs) for each in offers):
        return ""
    shown = " ".join(f"{name}={amount:g}" for name, amount in needs.items())
    return f"no dask worker was started with --resources '{shown}'"


def address_of(scheduler: str) -> str:
    """The address that is meant, or that is in the file that is meant. EngineError for neither."""
    path = Path(scheduler)
    try:
        if path.is_file():
            return str(json.loads(path.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError, TypeError):
        raise EngineError(
            f"--scheduler {scheduler}: this file names no scheduler\n"
            "  expected: the file of `dask scheduler --scheduler-file FILE`"
        ) from None
    if re.fullmatch(r"([a-z]+://)?[^/\s]+:[0-9]+", scheduler):
        return scheduler
    raise EngineError(
        f"--scheduler {scheduler}: there is no such file, and this is no address\n"
        "  expected: tcp://HOST:PORT, tls://HOST:PORT, or the file of "
        "`dask scheduler --scheduler-file FILE`"
    )


def await_address(scheduler: str, say: Callable[[str], None]) -> None:
    """Wait while the file of a scheduler that is just being started is not there, or not whole.

    EngineError for what names no scheduler, and where the file does not come.
    """
    deadline = time.monotonic() + APPEAR_SECONDS
    while True:
        try:
            address_of(scheduler)
        except EngineError:
            if not _may_appear(scheduler) or time.monotonic() > deadline:
                raise
            say(f"no scheduler has written {scheduler} yet: waiting up to {APPEAR_SECONDS:.0f} s")
            time.sleep(LOOK_SECONDS)
        else:
            return


def _may_appear(scheduler: str) -> bool:
    """Whether it is the path of a file that is absent, or that is being written."""
    with suppress(OSError, ValueError):
        path = Path(scheduler)
        if path.is_file():
            return not path.read_text(encoding="utf-8").rstrip().endswith("}")
        return ("/" in scheduler or bool(path.suffix)) and path.parent.is_dir()
    return False


def quieten() -> None:
    """Tracebacks that dask logs while it reconnects are no news: what matters is told here.

    So is which versions differ, of those that matter.
    """
    from distributed.versions import VersionMismatchWarning  # noqa: PLC0415 - sets levels, too

    warnings.filterwarnings("ignore", category=VersionMismatchWarning)
    for name in [*logging.Logger.manager.loggerDict]:
        if name.split(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


QUIET: Final[dict[str, Any]] = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
"""What dask measures of itself, which takes 3 % of a core per process, is left out."""


@contextmanager
def local_cluster(workers: int) -> Iterator[LocalCluster]:
    """Worker processes of one thread each, at the loopback address."""
    import dask  # noqa: PLC0415 - an extra
    from distributed import LocalCluster  # noqa: PLC0415 - an extra

    with (
        dask.config.set(QUIET),
        tempfile.TemporaryDirectory(prefix="repro-dask-", ignore_cleanup_errors=True) as folder,
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address=None,
            local_directory=folder,
            silence_logs=logging.CRITICAL + 1,
        ) as cluster,
    ):
        yield cluster
