"""Provenance: everything in a report that derives from time or machine."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from repro.evidence import Evidence, Replicate
from repro.machine import cores, now, package_version, processor
from repro.report.machine import Provenance

PACKAGES = ("torch", "numpy", "scipy", "statsmodels", "pandas", "matplotlib", "typst", "pydantic")


def collect(evidence: Evidence, command: str) -> Provenance:
    """Facts about this judging and about the runs it judged."""
    runs = [one for one in _every(evidence) if one.provenance]
    training = [_part(one.provenance, "training") for one in runs]
    threads = {int(_part(t, "settings").get("threads", 1)) for t in training}
    return Provenance(
        created=now(),
        repro_version=package_version("repro-verdict"),
        python=platform.python_version(),
        packages={name: package_version(name) for name in PACKAGES},
        platform=platform.platform(terse=True),
        processor=processor(),
        cores=cores(),
        devices=tuple(sorted({_device(t) for t in training})),
        threads_per_run=max(threads, default=1),
        run_seconds={one.key: _seconds(one.provenance) for one in runs},
        command=command,
        code_revision=revision(Path(__file__).parents[2]),
        without_weights=len({one.key for one in _every(evidence) if one.without_weights}),
    )


def revision(checkout: Path) -> str:
    """The commit of a checkout, with `+` where its files were changed; else nothing."""
    git = shutil.which("git")
    if git is None or not (checkout / ".git").exists():
        return ""
    command = [
        git,
        "-C",
        str(checkout),
        "describe",
        "--always",
        "--abbrev=12",
        "--dirty=+",
        "--exclude=*",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _every(evidence: Evidence) -> Iterator[Replicate]:
    return chain.from_iterable(evidence.arms.values())


def _part(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = document.get(name)
    return part if isinstance(part, Mapping) else {}


def _device(training: Mapping[str, Any]) -> str:
    """Where one run was trained, and with which torch: `CPU, AMD EPYC, torch 2.13.0`."""
    machine, software = _part(training, "machine"), _part(training, "software")
    names = [machine.get("device"), machine.get("processor")]
    if "torch" in software:
        names.append(f"torch {software['torch']}")
    return ", ".join(str(name) for name in names if name) or "unknown"


def _seconds(provenance: Mapping[str, Any]) -> float:
    """What the run cost, training and measuring together: its share where runs were one model."""
    training, measured = _part(provenance, "training"), _part(provenance, "measurements")
    sessions = training.get("sessions_list") or [training]
    parts = [*sessions, *(_part(measured, name) for name in measured)]
    return round(sum(_share(part) for part in parts), 1)


def _share(part: Mapping[str, Any]) -> float:
    return float(part.get("seconds", 0.0)) / int(_part(part, "engine").get("together", 1))
