"""The machine of this process: processor, cores, memory, disk, installed packages, clock."""

from __future__ import annotations

import os
import platform
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Where Linux says how much processor time a container may have."""


NOT_INSTALLED = "not installed"
"""The version of a package that is not there."""


@cache
def package_version(package: str) -> str:
    """The version that is installed."""
    from importlib import metadata  # noqa: PLC0415 - `repro --help` needs no version

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED


@cache
def processor() -> str:
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
        names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        if name := next(names, ""):
            return name
    return platform.processor() or platform.machine()


def cores() -> int:
    """How many cores this process may use: affinity, and the quota of its container."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = QUOTA.read_text(encoding="ascii").split()
        count = min(count, -(-int(quota) // int(period)))
    return max(1, count)


def available_memory(
    system: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup/memory.max")
) -> float:
    """Bytes that processes may still take: what the kernel says, at most the container's limit."""
    found = [float("inf")]
    with suppress(OSError, ValueError):
        lines = system.read_text(encoding="ascii").splitlines()
        found += [1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvail")]
    with suppress(OSError, ValueError):
        found.append(float(group.read_text(encoding="ascii").replace("max", "inf")))
    return min(found)


def forget_peak_memory(resets: Path = Path("/proc/self/clear_refs")) -> None:
    """Let the peak of this process's memory be that from now on, where the kernel can."""
    with suppress(OSError):
        resets.write_text("5", encoding="ascii")


def peak_memory(status: Path = Path("/proc/self/status")) -> int:
    """Bytes that this process held at most since then; 0 where nobody can tell."""
    with suppress(OSError, ValueError):
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next((1024 * int(x.split()[1]) for x in lines if x.startswith("VmHWM:")), 0)
    return 0


def free_disk(place: Path) -> float:
    """Bytes that are free where a folder is, or would be; infinity where nobody can tell."""
    there = next((each for each in (place, *place.parents) if each.exists()), place)
    try:
        return float(shutil.disk_usage(there).free)
    except OSError:
        return float("inf")


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
