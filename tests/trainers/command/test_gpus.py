"""GPUs: each belongs to one program at a time."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

import pytest

from repro.errors import DeviceError
from repro.trainers.command import one_run
from repro.trainers.command.one_run import gpus_of_this_run
from repro.trainers.devices import visible_gpus


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(one_run, "WAIT_S", 0.02)


def test_none_is_asked_for() -> None:
    with gpus_of_this_run(0) as shown:
        assert shown == ({}, ())


def test_two_programs_have_different_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third waits until one is free."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5/x,7")
    seen: list[str] = []

    def third() -> None:
        with gpus_of_this_run(2) as shown:
            seen.append(shown.variables["CUDA_VISIBLE_DEVICES"])

    with gpus_of_this_run(1) as first:
        with gpus_of_this_run(1) as second:
            assert (first.variables, second.variables) == (
                {"CUDA_VISIBLE_DEVICES": "3"},
                {"CUDA_VISIBLE_DEVICES": "GPU-5/x"},
            )
            waiting = threading.Thread(target=third)
            waiting.start()
            waiting.join(0.2)
            assert seen == []
        waiting.join(10)
    assert seen == ["GPU-5/x,7"]


def driver(folder: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """Put a driver on the path that says this of its GPUs."""
    fake = folder / "nvidia-smi"
    fake.write_text(f"#!/bin/sh\ncat <<END\n{said}\nEND\n", encoding="ascii")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/bin{os.pathsep}/usr/bin")


def test_jobs_whose_gpus_have_the_same_number_do_not_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each job of a cluster sees its own GPU as number 0; the UUID tells them apart."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    driver(tmp_path, monkeypatch, "0, GPU-aaaa-1")
    shown: list[str] = []

    def same() -> None:
        with gpus_of_this_run(1) as devices:
            shown.append(devices.variables["CUDA_VISIBLE_DEVICES"])

    with gpus_of_this_run(1) as first:
        driver(tmp_path, monkeypatch, "0, GPU-bbbb-2")
        with gpus_of_this_run(1) as second:
            assert first.variables == second.variables == {"CUDA_VISIBLE_DEVICES": "0"}
        driver(tmp_path, monkeypatch, "3, GPU-aaaa-1")
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-aaaa")  # as CUDA takes it too
        waiting = threading.Thread(target=same)
        waiting.start()
        waiting.join(0.3)
        assert shown == []
    waiting.join(10)
    assert shown == ["GPU-aaaa"]


def test_more_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    with pytest.raises(DeviceError, match="2 GPUs for a run, and 1 are here"), gpus_of_this_run(2):
        pass


@pytest.mark.parametrize("shown", ["", "-1"])
def test_hidden_ones_are_not_there(monkeypatch: pytest.MonkeyPatch, shown: str) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", shown)
    assert visible_gpus() == []


def test_the_driver_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert visible_gpus() == []
    fake = tmp_path / "nvidia-smi"
    fake.write_text("#!/bin/sh\necho 0; echo 1\n", encoding="ascii")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    assert visible_gpus() == ["0", "1"]
