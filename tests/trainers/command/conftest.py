"""A folder with a claim about a toy program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trainers.command.toy import CLAIM, LEAVES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A claim, its program beside it."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text(LEAVES, encoding="utf-8")
    (tmp_path / "a.claim.yaml").write_text(CLAIM, encoding="utf-8")
    return tmp_path
