"""A rank of rounded log-probabilities is refused; an honest one never is."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from repro.errors import DataError
from repro.rank.rounded import rounded as sign_of
from repro.trainers.language_model.measurements.model_rank import refuse_rounded


def rounded(row: Tensor) -> str:
    """The kernel's sign, of a tensor."""
    return sign_of(row.numpy())


def logits(words: int, *, seed: int = 0, scale: float = 4.0) -> Tensor:
    """Logits (20, V) of a model of 42 dimensions."""
    generator = torch.Generator().manual_seed(seed)
    left = torch.randn(20, 42, generator=generator)
    right = torch.randn(words, 42, generator=generator)
    return left @ right.T * (scale / 42**0.5)


@pytest.mark.parametrize("words", [300, 1_000, 10_000, 33_278])
@pytest.mark.parametrize("scale", [0.001, 0.01, 0.1, 4.0, 20.0])
def test_honest_rows_are_not_rounded(words: int, scale: float) -> None:
    """Float32 and float64, few words and many, flat and steep."""
    for dtype in (torch.float32, torch.float64):
        rows = F.log_softmax(logits(words, scale=scale).to(dtype), dim=-1)
        assert [rounded(row) for row in rows] == [""] * 20


@pytest.mark.parametrize(
    ("coarse", "name"), [(torch.bfloat16, "bfloat16"), (torch.float16, "float16")]
)
def test_rounded_log_probabilities_are_refused(coarse: torch.dtype, name: str) -> None:
    """They equal their own rounding, in whatever precision they are held."""
    rows = F.log_softmax(logits(1_000), dim=-1).to(coarse)
    for dtype in (torch.float32, torch.float64):
        with pytest.raises(DataError, match=f"were rounded to {name}"):
            list(refuse_rounded([rows.to(dtype)]))


@pytest.mark.parametrize("words", [1_000, 10_000])
def test_rounded_logits_are_refused(words: int) -> None:
    """Their normaliser shifts them off every grid, but equal logits stay equal."""
    rows = F.log_softmax(logits(words).bfloat16().float(), dim=-1)
    assert not torch.equal(rows.bfloat16().float(), rows)
    assert "distinct values" in rounded(rows[0])


def test_clipped_logits_are_no_rounding() -> None:
    """A value that a layer gives to many words is no sign."""
    clipped = logits(10_000).clamp(-3.0, 3.0)
    rows = F.log_softmax(clipped, dim=-1)
    assert [rounded(row) for row in rows] == [""] * 20


def test_chunks_pass_as_they_are() -> None:
    """Nothing is changed and nothing is lost."""
    rows = F.log_softmax(logits(1_000), dim=-1)
    passed = torch.cat(list(refuse_rounded(rows.split(7))))
    assert torch.equal(passed, rows)
