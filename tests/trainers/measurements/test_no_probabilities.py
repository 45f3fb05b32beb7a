"""What is no probability has no place among the words, and no divergence is below 0."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from repro.errors import DataError
from repro.trainers.language_model.measurements.model_hits import places_of
from repro.trainers.language_model.measurements.model_kl import over_drawn_pairs


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_model_that_gives_no_numbers_has_no_hit_rate(value: float) -> None:
    rows = torch.log_softmax(torch.randn(5, 9), dim=-1)
    rows[3, 2] = value
    with pytest.raises(DataError, match="context 4: the model gives some word"):
        places_of([rows[:2], rows[2:]], torch.zeros(5, dtype=torch.long))


def test_a_word_without_any_probability_comes_last() -> None:
    rows = torch.tensor([[-1.0, -math.inf, -0.5]])
    assert places_of([rows], torch.tensor([1])).tolist() == [2]


class Unnormalised(nn.Module):
    """Log-probabilities whose sums are 1 but for round-off, a little more each."""

    weight = torch.zeros(4, 1)

    def log_probabilities(self, context_TBD: torch.Tensor) -> torch.Tensor:
        return math.log(0.25) + 1e-7 * context_TBD.expand(-1, -1, 4)


def test_the_mean_over_drawn_pairs_is_not_below_0_by_round_off() -> None:
    contexts = torch.tensor([[[0.0]], [[1.0]]], dtype=torch.float64)
    pairs = np.array([[0, 1], [0, 1]])
    given = [(contexts, torch.zeros(2, 1, dtype=torch.long))]
    found = over_drawn_pairs(given, Unnormalised(), 2, pairs)  # type: ignore[arg-type]
    assert found.value == 0
    assert found.arrays["divergences"].max() < 0
