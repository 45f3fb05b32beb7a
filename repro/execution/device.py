"""Which device to train on. It is provenance: no part of the key of any run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from repro.errors import DeviceError

Device = Literal["cpu", "cuda"]

_PROBE = "import torch, sys; sys.exit(0 if torch.cuda.is_available() else 3)"


def resolve_device(wanted: str = "auto") -> Device:
    """``cpu`` or ``cuda`` for ``auto``, ``cpu`` or ``cuda``; imports no torch here.

    A machine without an NVIDIA driver is told apart by a look at its files; only where there is
    one, a short-lived process asks torch. Raises DeviceError if what is asked for is not there.
    """
    if wanted not in {"auto", "cpu", "cuda"}:
        raise DeviceError(f"device '{wanted}' is unknown\n  expected: auto, cpu or cuda")
    if wanted == "cpu":
        return "cpu"
    if has_driver() and torch_sees_gpu():
        return "cuda"
    if wanted == "cuda":
        raise DeviceError(
            "device 'cuda': no GPU is there that torch can use\n"
            "  expected: an NVIDIA driver, CUDA_VISIBLE_DEVICES not empty, and a CUDA build of "
            "torch\n  to do: use --device cpu or --device auto"
        )
    return "cpu"


def has_driver() -> bool:
    """Whether an NVIDIA driver is there and its devices are not hidden."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in {"", "-1"}:
        return False
    driver = Path("/proc/driver/nvidia/version").exists() or Path("/dev/nvidiactl").exists()
    return driver or shutil.which("nvidia-smi") is not None


def torch_sees_gpu() -> bool:
    """Whether torch, in a process of its own, can use CUDA."""
    try:
        command = [sys.executable, "-W", "ignore", "-c", _PROBE]
        done = subprocess.run(command, check=False, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
