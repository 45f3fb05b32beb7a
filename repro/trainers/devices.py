"""The device and the numerics of a process that trains: threads, determinism, precision."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from repro.errors import DeviceError
from repro.machine import forget_peak_memory, peak_memory
from repro.trainers.trainer import Device, Facts, facts

if TYPE_CHECKING:
    import torch
    from torch import Tensor

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


def visible_gpus() -> list[str]:
    """The GPUs that this process may use: as CUDA_VISIBLE_DEVICES says, or all."""
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    if shown is not None:
        return [name.strip() for name in shown.split(",") if name.strip() not in ("", "-1")]
    return [line.strip() for line in asked_of_driver("index")]


def free_on_gpus() -> float:
    """Bytes that are free on the fullest of the GPUs that this process may use; 0: nobody says."""
    told = dict(line.split(", ") for line in asked_of_driver("index,memory.free"))
    mebibytes = [told.get(gpu, "").removesuffix(" MiB") for gpu in visible_gpus()]
    return min((2.0**20 * int(each) for each in mebibytes if each.isdecimal()), default=0.0)


def shared_by_mps() -> bool:
    """Whether NVIDIA's MPS runs here: kernels of several processes then run side by side."""
    place = os.environ.get("CUDA_MPS_PIPE_DIRECTORY") or "/tmp/nvidia-mps"  # noqa: S108 - NVIDIA's
    return Path(place, "control").exists()


def asked_of_driver(fields: str) -> list[str]:
    """What the driver says of its GPUs, one a line; nothing where there is none."""
    line = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]
    with suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(line, capture_output=True, text=True, timeout=30, check=True)
        return found.stdout.splitlines()
    return []


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


def pinned(block: Tensor) -> Tensor:
    """The same in memory that a device copies from by itself; as it is where there is none."""
    try:
        return block.pin_memory()
    except (
        RuntimeError
    ):  # what torch says where it knows no accelerator, or has no such memory left
        return block


def moved(block: Tensor, device: torch.device) -> Tensor:
    """A block of the CPU on a device, by a copy for which the host does not wait."""
    return block if device.type == "cpu" else pinned(block).to(device, non_blocking=True)


def forget_peak(device: Device) -> None:
    """Let the peak of memory be that from now on."""
    if device == "cuda":
        import torch  # noqa: PLC0415 - to resolve a device none is needed

        torch.cuda.reset_peak_memory_stats()
    else:
        forget_peak_memory()


def peak_of(device: Device) -> int:
    """Bytes that tensors on the GPU held at most since then, or on a CPU this process."""
    if device == "cuda":
        import torch  # noqa: PLC0415 - as above

        return torch.cuda.max_memory_allocated()
    return peak_memory()


PACKAGES = ("repro-verdict", "torch", "numpy", "scipy", "safetensors")


@contextmanager
def numerics(device: Device) -> Iterator[Facts]:
    """Compute reproducibly inside, as before outside; gives the facts for the provenance.

    One thread and deterministic algorithms on the CPU, because sums differ between numbers of
    threads; on CUDA, where some have no deterministic form, they are off. No TF32, but in
    the training steps of a recipe that declares it. Raises DeviceError when CUDA is asked for
    and is not there.
    """
    import torch  # noqa: PLC0415 - to resolve a device none is needed

    if device == "cuda" and not torch.cuda.is_available():
        raise DeviceError("device 'cuda': torch sees no GPU\n  to do: use --device cpu")
    threads = torch.get_num_threads()
    deterministic = torch.get_deterministic_debug_mode()
    filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    tf32 = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    try:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        # use_deterministic_algorithms does the same, but imports torch's compiler: 2 s per process
        torch.set_deterministic_debug_mode("error" if device == "cpu" else "default")
        if device == "cpu":
            torch.set_num_threads(1)
            torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        settings = {
            "device": device,
            "threads": torch.get_num_threads(),
            "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
            "tf32": torch.backends.cuda.matmul.allow_tf32,
        }
        name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
        yield facts(PACKAGES, settings, name)
    finally:
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(deterministic)
        torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = tf32
