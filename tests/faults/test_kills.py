"""A command that is killed at chosen calls and random moments loses and leaves nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.faults.kills import SEED, chains

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")


def test_kills_lose_nothing_and_leave_nothing(tmp_path: Path) -> None:
    """The long loop is `python -m benchmarks.faults kills`."""
    _, (chain,) = chains(tmp_path / "scene", 1, 3, SEED)
    assert sum(kill.hit for kill in chain.kills) >= 1
    assert chain.wrong == ()
