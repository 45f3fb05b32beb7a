"""Devices and engines by name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from repro.errors import DeviceError
from repro.execution import device, engine
from repro.execution.pool import ProcessPool
from tests.execution import calls


def test_cpu_is_always_there() -> None:
    """Nothing is looked for."""
    assert device.resolve_device("cpu") == "cpu"


@pytest.mark.parametrize(
    ("driver", "torch", "found"), [(False, True, "cpu"), (True, False, "cpu"), (True, True, "cuda")]
)
def test_auto_takes_the_gpu_when_there_is_one(
    monkeypatch: pytest.MonkeyPatch, *, driver: bool, torch: bool, found: str
) -> None:
    """A driver and a torch that can use it are both needed."""
    monkeypatch.setattr(device, "has_driver", lambda: driver)
    monkeypatch.setattr(device, "torch_sees_gpu", lambda: torch)
    assert device.resolve_device("auto") == found
    if found == "cuda":
        assert device.resolve_device("cuda") == "cuda"
    else:
        with pytest.raises(DeviceError, match="--device cpu"):
            device.resolve_device("cuda")


def test_an_unknown_device() -> None:
    """The known ones are named."""
    with pytest.raises(DeviceError, match="auto, cpu or cuda"):
        device.resolve_device("tpu")


@pytest.mark.parametrize("hidden", ["", "-1"])
def test_hidden_gpus_are_not_there(monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    """CUDA_VISIBLE_DEVICES hides them."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert not device.has_driver()


def test_looking_for_a_device_imports_no_torch() -> None:
    """On a machine without a driver the answer takes no second."""
    code = (
        "import sys\n"
        "from repro.execution.device import resolve_device\n"
        "resolve_device('auto')\n"
        "print('torch' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_the_serial_engine_runs_here() -> None:
    """Each call is done when submit returns; its exception is in the future."""
    with engine.engine("serial") as executor:
        assert executor.submit(calls.process).result() == os.getpid()
        future = executor.submit(calls.refuse, "no")
        assert isinstance(future.exception(), ValueError)


def test_one_worker_a_core_and_one_a_gpu() -> None:
    """Unless it is said otherwise."""
    for name, workers, expected in (
        ("cpu", None, engine.cores()),
        ("cuda", None, 1),
        ("cpu", 3, 3),
        ("cuda", 2, 2),
    ):
        pool = engine.engine("processes", workers=workers, device=name)
        assert isinstance(pool, ProcessPool)
        assert pool._workers == expected
        pool.terminate()


@pytest.mark.parametrize(
    ("text", "cores"),
    [("max 100000", 8), ("200000 100000", 2), ("150000 100000", 2), ("", 8), ("x y", 8)],
)
def test_the_quota_of_a_container(tmp_path: Path, text: str, cores: int) -> None:
    """A control group that allows two cores makes two workers; no limit leaves all."""
    (tmp_path / "cpu.max").write_text(text)
    assert engine._quota(tmp_path / "cpu.max", 8) == cores
    assert engine._quota(tmp_path / "absent", 8) == 8
