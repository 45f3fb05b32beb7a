"""Which device to train on. It is provenance: no part of the key of any run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from repro.errors import DeviceError

Device = Literal["cpu", "cuda"]

NOTICE_SECONDS = 2.0
PROBE_SECONDS = 120.0
_NOTICE = "looking for a GPU that torch can use (--device cpu does without)"
_PROBE = (
    "import json, sys\n"
    "sys.path[:] = json.loads(sys.argv[1])\n"
    "import torch\n"
    "sys.exit(0 if torch.cuda.is_available() else 3)\n"
)


def resolve_device(device: str = "auto", say: Callable[[str], None] = lambda _: None) -> Device:
    """``cpu`` or ``cuda`` for ``auto``, ``cpu`` or ``cuda``; imports no torch here.

    A machine without an NVIDIA driver is told apart by a look at its files; only where there is
    one, a short-lived process asks torch; ``say`` is told if that takes long. Raises DeviceError
    if what is asked for is not there, or if torch gives no answer.
    """
    if device not in {"auto", "cpu", "cuda"}:
        raise DeviceError(f"device '{device}' is unknown\n  expected: auto, cpu or cuda")
    if device == "cpu":
        return "cpu"
    if has_driver():
        notice = threading.Timer(NOTICE_SECONDS, say, [_NOTICE])
        notice.daemon = True
        notice.start()
        try:
            if torch_sees_gpu():
                return "cuda"
        finally:
            notice.cancel()
    if device == "cuda":
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
    """Whether torch, in a process of its own, can use CUDA; DeviceError if it does not say."""
    command = [sys.executable, "-P", "-W", "ignore", "-c", _PROBE, json.dumps(sys.path)]
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=PROBE_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise DeviceError(
            f"device: torch did not say in {PROBE_SECONDS:.0f} s whether it can use the GPU whose "
            "driver is here\n  to do: use --device cpu, or try again when the machine is less busy"
        ) from error
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0
