"""Tests of the store."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    """No power cut is tested here, and waiting for the disk takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
