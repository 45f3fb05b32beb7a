"""What a program leaves is removed, whatever it is, and nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from repro.files import remove


def nested(folder: Path, depth: int) -> None:
    """Folders in each other, too many to be walked by recursion, and too long for a path."""
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("a" * 50, dir_fd=handle)
        inner = os.open("a" * 50, os.O_RDONLY, dir_fd=handle)
        os.close(os.open("file", os.O_CREAT, dir_fd=inner))
        os.close(handle)
        handle = inner
    os.close(handle)


def test_folders_that_are_nested_without_end_are_removed(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    nested(tmp_path / "out", 2 * sys.getrecursionlimit())
    remove(tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("depth", [0, 2000])
def test_no_link_is_followed(tmp_path: Path, depth: int) -> None:
    """Neither one in the place of the folder nor one inside."""
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "precious").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(kept)
    nested(tmp_path / "out", depth)
    (tmp_path / "direct").symlink_to(kept)
    for name in ("out", "direct"):
        remove(tmp_path / name)
    assert [path.name for path in tmp_path.rglob("*")] == ["kept", "precious"]


def test_folders_without_permissions_are_removed(tmp_path: Path) -> None:
    (tmp_path / "out" / "a" / "b").mkdir(parents=True)
    (tmp_path / "out" / "a").chmod(0)
    remove(tmp_path / "out")
    assert not (tmp_path / "out").exists()
