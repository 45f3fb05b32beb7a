"""Every kind of output layer: what its specification says of it is what its module is."""

from __future__ import annotations

from typing import get_args

import pytest
import torch

from repro.trainers.language_model.spec import Output
from tests.trainers import small

OUTPUTS = pytest.mark.parametrize("output", small.OUTPUTS.values(), ids=small.OUTPUTS)


def test_every_kind_is_among_the_small_ones():
    """A kind that is added to the specifications is added to what the tests run over."""
    union, _ = get_args(Output)
    kinds = {get_args(kind.model_fields["kind"].annotation)[0] for kind in get_args(union)}
    assert {output["kind"] for output in small.OUTPUTS.values()} == kinds - {"own"}


@OUTPUTS
def test_the_module_is_that_of_its_kind(output):
    """No kind falls through to another's module, and its parameters are counted."""
    spec = small.model(output)
    built = small.built(spec, 30)
    assert type(built.output).__name__.lower() == f"{output['kind']}output"
    assert spec.parameters(30) == sum(tensor.numel() for tensor in built.state_dict().values())


@OUTPUTS
def test_the_rank_is_the_stated_bound_or_above_it(output):
    """A bound is reached by 60 contexts; without one the rank is above that of Softmax."""
    spec = small.model(output)
    generator, layer = torch.Generator().manual_seed(3), small.built(spec, 30).output
    contexts_N1D = torch.randn(60, 1, 6, generator=generator, dtype=torch.float64) * 3
    with torch.no_grad():
        layer.bias.normal_(generator=generator)  # 0 at first, where the bound is not reached
        matrix = layer.log_probabilities(contexts_N1D).squeeze(1)
    rank = int(torch.linalg.matrix_rank(matrix, rtol=1e-11))
    assert rank == 8 if spec.rank_bound() == 8 else rank > 8
