"""Language models are tested with one thread, as they are run; some have parts from outside."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.simulated_gpu import simulated_gpu
from tests.trainers.outside import example

WithGpu = Callable[[], AbstractContextManager[Any]]


@pytest.fixture(params=["simulated", pytest.param("real", marks=pytest.mark.gpu)])
def with_gpu(request: pytest.FixtureRequest) -> WithGpu:
    """Gives the block in which there is a GPU: a simulated one, and that of the machine."""
    return simulated_gpu if request.param == "simulated" else nullcontext


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
