"""What this process may use of the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from repro import machine


def test_available_memory_is_that_of_the_container(tmp_path: Path) -> None:
    """The smaller of what the kernel says and what the control group allows."""
    system, group = tmp_path / "meminfo", tmp_path / "memory.max"
    assert machine.available_memory(system, group) == float("inf")
    system.write_text("MemTotal: 9000 kB\nMemAvailable:   4000 kB\n")
    assert machine.available_memory(system, group) == 4000 * 1024
    group.write_text("max\n")
    assert machine.available_memory(system, group) == 4000 * 1024
    group.write_text("1000000\n")
    assert machine.available_memory(system, group) == 1_000_000


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("150000 100000", 2),
        ("100000 100000", 1),
        ("max 100000", 8),
        ("1 0", 8),
        ("", 8),
        ("x y", 8),
    ],
)
def test_a_container_has_the_cores_of_its_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, cores: int
) -> None:
    """The quota of a control group, rounded up, where it is less than the processors."""
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(machine, "QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert machine.cores() == cores


def test_the_room_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    """That of the disk where it would be made."""
    assert 0 < machine.free_disk(tmp_path / "not" / "yet") < float("inf")


PEAKS = """
from repro import machine
machine.forget_peak_memory()
before = machine.peak_memory()
held = bytearray(200_000_000)
held[::4096] = b"x" * len(held[::4096])
del held
after = machine.peak_memory()
machine.forget_peak_memory()
print(before, after, machine.peak_memory())
"""
"""In a process of its own: what other tests left behind may be let go at any moment."""


def test_the_peak_of_memory_is_that_since_it_was_forgotten() -> None:
    """200 MB that are held and let go count, until they are forgotten."""
    command = [sys.executable, "-c", PEAKS]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, after, forgotten = map(int, printed.split())
    if not before:
        pytest.skip("this kernel tells no peak of memory")
    assert after - before > 150_000_000
    assert forgotten - before < 150_000_000


def test_a_kernel_that_tells_no_peak(tmp_path: Path) -> None:
    machine.forget_peak_memory(tmp_path / "no" / "clear_refs")
    assert machine.peak_memory(tmp_path / "status") == 0
    (tmp_path / "status").write_text("Name: x\nVmHWM:\t  2048 kB\n")
    assert machine.peak_memory(tmp_path / "status") == 2048 * 1024
