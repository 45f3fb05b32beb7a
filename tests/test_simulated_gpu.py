"""The simulated GPU of the tests: what makes its host wait, what does not, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from repro.trainers.dialog.corpus import packed
from repro.trainers.dialog.model import Gru
from tests.simulated_gpu import GPU, simulated_gpu

Case = Callable[[torch.Tensor], Any]

WAITS: dict[str, Case] = {
    "item": lambda m: m[0, 0].item(),
    "float": lambda m: float(m.sum()),
    "if": lambda m: bool(m.sum() > 0),
    "tolist": lambda m: m.tolist(),
    "to the host": lambda m: m.cpu(),
    "from pageable memory": lambda _: torch.ones(2).to(GPU),
    "from pageable memory, not blocking": lambda _: torch.ones(2).to(GPU, non_blocking=True),
    "pinned and blocking": lambda _: torch.ones(2).pin_memory().to(GPU),
    "copy_": lambda m: m.copy_(torch.zeros(3, 4)),
    "a list": lambda m: m[[0, 1]],
    "an index of the CPU": lambda m: m[torch.tensor([0, 1])],
    "tensor": lambda _: torch.tensor([1.0, 2.0], device="cuda"),
    "as_tensor": lambda _: torch.as_tensor([1.0, 2.0], device=GPU),
    "new_tensor": lambda m: m.new_tensor([1.0, 2.0]),
    "nonzero": lambda m: m.nonzero(),
    "where": lambda m: torch.where(m > 0),
    "a mask": lambda m: m[m > 0],
    "writing many by a mask": lambda m: m.__setitem__(m > 0, torch.ones(12, device=GPU)),
    "masked_select": lambda m: m.masked_select(m > 0),
    "unique": lambda m: m.unique(),
    "unique_consecutive": lambda m: m.unique_consecutive(),
    "bincount": lambda m: m.long().flatten().bincount(),
    "repeat_interleave": lambda m: m.repeat_interleave(torch.ones(3, device=GPU).long(), dim=0),
    "equal": lambda m: torch.equal(m, m),
    "allclose": lambda m: torch.allclose(m, m),
}

NO_WAITS: dict[str, Case] = {
    "pinned": lambda _: torch.ones(2).pin_memory().to(GPU, non_blocking=True),
    "made there": lambda _: torch.full((2,), 1.0, device="cuda"),
    "by slices": lambda m: m[1:, 2],
    "by an index": lambda m: m[torch.zeros(2, dtype=torch.int64, device=GPU)],
    "one number by a mask": lambda m: m.__setitem__(m > 0, 2.0),
    "masked_fill": lambda m: m.masked_fill(m > 0, 2.0),
    "a number of the CPU": lambda m: m * torch.tensor(2.0),
    "sums": lambda m: (m @ m.T).sum().double().sqrt(),
}


@pytest.fixture
def waits():
    with simulated_gpu() as counted:
        yield counted


@pytest.mark.parametrize("name", WAITS)
def test_the_host_waits_once(name, waits):
    there = torch.ones(3, 4, device=GPU)
    WAITS[name](there)
    assert sum(waits.values()) == 1


@pytest.mark.parametrize("name", NO_WAITS)
def test_the_host_does_not_wait(name, waits):
    there = torch.ones(3, 4, device=GPU)
    NO_WAITS[name](there)
    assert sum(waits.values()) == 0


def test_the_way_back_through_a_mask_waits_too(waits):
    there = torch.ones(3, 4, device=GPU, requires_grad=True)
    there[there.detach() > 0].sum().backward()
    assert waits == {"a mask as an index": 2}


def test_numbers_are_those_of_the_cpu(waits):
    x = torch.linspace(-1, 1, 12).view(3, 4)
    there = x.to(GPU)
    assert there.device == GPU
    assert there[there > 0].tolist() == x[x > 0].tolist()
    assert torch.tensor([3, 1], device="cuda").tolist() == [3, 1]
    assert there.new_tensor([2.5]).tolist() == [2.5]


REFUSED: dict[str, Case] = {
    "sum": lambda m: m + torch.ones(3, 4),
    "product": torch.nn.Linear(4, 2),
    "cat": lambda m: torch.cat([m, torch.ones(3, 4)]),
    "lookup": lambda m: torch.nn.functional.embedding(torch.tensor([0, 1]), m),
    "index_select": lambda m: m.index_select(0, torch.tensor([0])),
    "an index of the device into the CPU": lambda m: torch.ones(4)[m[0].long()],
}


@pytest.mark.parametrize("name", REFUSED)
def test_mixed_devices_are_refused(name, waits):
    there = torch.ones(3, 4, device=GPU)
    with pytest.raises(RuntimeError, match=r"on the same device|of the CPU"):
        REFUSED[name](there)


def test_numpy_is_refused(waits):
    with pytest.raises(TypeError, match="to numpy"):
        torch.ones(2, device=GPU).numpy()


def test_what_is_refused_names_the_line_of_the_product(waits):
    """The nearest one; and so does a wait."""
    gru = Gru(3, 2, torch.float32)
    with pytest.raises(RuntimeError, match=r"^repro/trainers/dialog/model\.py:\d+: .*same device"):
        gru(packed([torch.ones(2, 3)]), torch.zeros(1, 1, 2, device=GPU))
