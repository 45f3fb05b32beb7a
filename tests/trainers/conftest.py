"""Language models are tested with one thread, as they are run; some have parts from outside."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from tests.trainers.outside import example


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Writes ``my_layers``, the docs' example and a text after it, where Python finds it."""

    def written(text: str) -> Path:
        path = tmp_path / "outside" / "my_layers.py"
        path.parent.mkdir()
        path.write_text(example() + text, encoding="utf-8")
        monkeypatch.syspath_prepend(path.parent)
        return path

    yield written
    sys.modules.pop("my_layers", None)
