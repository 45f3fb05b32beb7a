"""How the process computes while it trains or measures: threads, determinism, precision."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch

from repro.errors import DeviceError
from repro.machine import package_version, processor

Facts = dict[str, dict[str, str | int | bool]]
PACKAGES = ("repro-verdict", "torch", "numpy", "scipy", "safetensors")


@contextmanager
def numerics(device: Literal["cpu", "cuda"]) -> Iterator[Facts]:
    """Compute reproducibly inside, as before outside; gives the facts for the provenance.

    One thread and deterministic algorithms on the CPU, because sums differ between numbers of
    threads; on CUDA, where some have no deterministic form, they are off. No TF32, but in
    the training steps of a recipe that declares it. Raises DeviceError when CUDA is asked for
    and is not there.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise DeviceError("device 'cuda': torch sees no GPU\n  to do: use --device cpu")
    threads = torch.get_num_threads()
    deterministic = torch.are_deterministic_algorithms_enabled()
    only_warned = torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    tf32 = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    try:
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.use_deterministic_algorithms(device == "cpu")
        if device == "cpu":
            torch.set_num_threads(1)
            torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        yield _facts(device)
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(deterministic, warn_only=only_warned)
        torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = tf32


def _facts(device: str) -> Facts:
    """What was used, apart from where."""
    software = {name: package_version(name) for name in PACKAGES}
    return {
        "software": {"python": platform.python_version(), **software},
        "settings": {
            "device": device,
            "threads": torch.get_num_threads(),
            "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
            "tf32": torch.backends.cuda.matmul.allow_tf32,
        },
        "machine": {
            "host": platform.node(),
            "platform": f"{platform.system()} {platform.machine()}",
            "processor": processor(),
            "device": torch.cuda.get_device_name() if device == "cuda" else "CPU",
        },
    }
