"""Logits that were rounded are told from honest ones by the differences within a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import logsumexp

from repro.rank.rounded import precision_of, rounded, telling_rows

Rows = np.ndarray[Any, np.dtype[np.floating[Any]]]


def logits(words: int, scale: float, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    left = torch.randn(max(300, 4000 // words), 30, generator=generator, dtype=torch.float64)
    right = torch.randn(words, 30, generator=generator, dtype=torch.float64)
    return left @ right.T * (scale / 30**0.5)


def tf32(values: torch.Tensor) -> torch.Tensor:
    """float32 with 10 bits."""
    whole = values.float().numpy().view(np.uint32) + np.uint32(1 << 12)
    return torch.from_numpy((whole & np.uint32(0xFFFFE000)).view(np.float32))


ROUNDING = {
    "float16": lambda x: x.half().float(),
    "bfloat16": lambda x: x.bfloat16().float(),
    "TF32": tf32,
}


@pytest.mark.parametrize("words", [5, 50, 200, 1000, 10_000])
@pytest.mark.parametrize("scale", [0.5, 2.0, 8.0])
@pytest.mark.parametrize("name", ROUNDING)
def test_logits_of_half_precision_are_rounded(name: str, scale: float, words: int) -> None:
    """Few words and many, whether the normaliser was float32 or float64."""
    coarse = ROUNDING[name](logits(words, scale, 3))
    for dtype in (torch.float32, torch.float64):
        rows = torch.log_softmax(coarse.to(dtype), dim=-1).numpy()
        assert rounded(telling_rows(rows)[0]), (name, scale, words, dtype)


SEEDS = {5: 3, 20: 3, 50: 3, 200: 3, 1000: 1, 10_000: 1}
"""Words -> draws: where rows are long, one has values enough."""


@pytest.mark.parametrize(
    ("words", "seed"), [(words, seed) for words, n in SEEDS.items() for seed in range(n)]
)
@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 4.0, 30.0])
def test_honest_rows(seed: int, scale: float, words: int) -> None:
    """Flat and steep, float32 and float64, with a constant and as mixtures."""
    exact = logits(words, scale, seed)
    for dtype, name in ((torch.float32, "float32"), (torch.float64, "float64")):
        first, other = exact.to(dtype), exact.flip(0).to(dtype)
        plain = torch.log_softmax(first, dim=-1)
        mixed = torch.log((torch.softmax(first, -1) + torch.softmax(other, -1)) / 2 + 1e-30)
        constant = torch.log(torch.softmax(first, dim=-1) + 1e-8)
        offset = (first - 90).sub((first - 90).logsumexp(-1, keepdim=True))
        for rows in (plain, mixed, constant, offset):
            taken = telling_rows(rows.numpy())[0]
            assert rounded(taken) == ""
            assert precision_of(taken) == name


@pytest.mark.parametrize("words", [20, 300, 5000])
def test_logits_of_float32_under_a_normaliser_of_float64(words: int) -> None:
    held = logits(words, 3.0, 1).float().double().numpy()
    rows = held - logsumexp(held, axis=1, keepdims=True)
    taken = telling_rows(rows)[0]
    assert rounded(taken) == ""
    assert precision_of(taken) == "float32"


@pytest.mark.parametrize("scale", [10.0, 20.0, 40.0])
def test_very_steep_rows_with_a_constant_are_not_rounded(scale: float) -> None:
    """Thousands of entries lie next to log(1e-8), as close as float32 allows."""
    for words in (1000, 10_000):
        rows = torch.log(torch.softmax(logits(words, scale, 2).float(), dim=-1) + 1e-8).numpy()
        assert [rounded(row) for row in rows[:50]] == [""] * 50
