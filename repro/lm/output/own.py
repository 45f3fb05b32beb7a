"""A user's own output layer, from outside this package."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from repro.lm.output.base import OutputLayer
from repro.lm.own import (
    blaming,
    check_gradients,
    check_parameters,
    check_tensor,
    in_both_modes,
    make,
    on_trial,
    wrong,
)
from repro.lm.regularisation import QUIET
from repro.specs.model import Own

TRIED_SHAPE = (3, 2)
"""Steps and streams of the contexts that a layer is tried with."""

LARGEST_ERROR = 0.01
"""Nats by which a distribution may miss a sum of 1, as log(p + 1e-8) does by its epsilons."""


def own_output(
    spec: Own, vocabulary: int, embedding_size: int, context_size: int, dtype: torch.dtype
) -> OutputLayer:
    """The layer that ``spec`` names, called with these sizes and its options; it is not filled.

    Raises DataError when it is not there, is no output layer, is not what ``spec`` states, has
    a decoder of another size or learning rates of what it has not, or, tried on a few contexts,
    gives no finite log-probabilities of the right shape that sum to 1, a loss that is not the
    mean of those of the targets or not the same twice, or one that does not train all of it.
    """
    layer: OutputLayer = make(spec, OutputLayer, vocabulary, embedding_size, context_size, dtype)  # type: ignore[type-abstract]
    _check_decoder(spec, layer, vocabulary, embedding_size)
    check_parameters(spec, layer, shared=layer.weight.numel() + layer.bias.numel())
    _check_rates(spec, layer)
    _try(spec, on_trial(spec, layer), vocabulary, context_size)
    return layer


def _check_decoder(spec: Own, layer: OutputLayer, vocabulary: int, size: int) -> None:
    """Raise DataError unless the decoder has the sizes that the embedding is to have too."""
    for name, shape in {"weight": (vocabulary, size), "bias": (vocabulary,)}.items():
        found = tuple(getattr(layer, name).shape)
        if found != shape:
            what = f"its {name} has the shape {found}"
            raise wrong(spec, what, f"{shape}: the vocabulary, and the embedding size of a matrix")


def _check_rates(spec: Own, layer: OutputLayer) -> None:
    """Raise DataError for a rate of nothing that is trained, or one that is no number above 0."""
    with blaming(spec, "its learning_rates() fails"):
        rates: Any = layer.learning_rates()
    if not isinstance(rates, Mapping):
        what = f"its learning_rates is a {type(rates).__name__}"
        raise wrong(spec, what, "a mapping from names of parameters to numbers")
    trained = [name for name, parameter in layer.named_parameters() if parameter.requires_grad]
    for name, rate in rates.items():
        if not any(f"{parameter}.".startswith(f"{name}.") for parameter in trained):
            what = f"its learning_rates has '{name}', which is no parameter that is trained"
            raise wrong(spec, what, f"one of {', '.join(trained)}, or its beginning up to a dot")
        if not isinstance(rate, int | float) or not 0 < rate < math.inf:
            raise wrong(spec, f"the learning rate of {name} is {rate!r}", "a number above 0")


def _try(spec: Own, layer: OutputLayer, vocabulary: int, context_size: int) -> None:
    steps, streams = TRIED_SHAPE
    context_TBD = torch.linspace(-1, 1, steps * streams * context_size, dtype=layer.weight.dtype)
    context_TBD = context_TBD.view(steps, streams, context_size).requires_grad_()
    targets_TB = torch.arange(steps * streams).view(steps, streams) % vocabulary
    logp_TBV = in_both_modes(
        spec, layer, "its log_probabilities", lambda: _distributions(spec, layer, context_TBD)
    )
    loss = in_both_modes(
        spec, layer, "its loss", lambda: _loss(spec, layer, context_TBD, targets_TB), 1e-6
    )
    expected = -float(logp_TBV.gather(-1, targets_TB.unsqueeze(-1)).mean())
    found = float(loss.detach())
    if abs(found - expected) > LARGEST_ERROR * max(1.0, expected):
        what = f"its loss is {found:.4g}, and its log-probabilities give {expected:.4g}"
        raise wrong(spec, what, "the mean negative log-probability of the targets, in nats")
    check_gradients(spec, layer, loss, context_TBD)


def _loss(spec: Own, layer: OutputLayer, context_TBD: Tensor, targets_TB: Tensor) -> Tensor:
    """The layer's loss as a training step asks for it, checked."""
    with blaming(spec, "it has no loss of contexts, targets and a regularisation"):
        loss = layer.loss(context_TBD, targets_TB, QUIET)
    check_tensor(spec, "its loss", loss, (), layer.weight)
    return loss


@torch.no_grad()
def _distributions(spec: Own, layer: OutputLayer, context_TBD: Tensor) -> Tensor:
    """The layer's log-probabilities (T, B, V), checked."""
    with blaming(spec, "it has no log-probabilities of contexts"):
        logp_TBV = layer.log_probabilities(context_TBD)
    shape = (*context_TBD.shape[:2], len(layer.weight))
    check_tensor(spec, "its log_probabilities", logp_TBV, shape, layer.weight)
    if float(logp_TBV.logsumexp(-1).abs().max()) > LARGEST_ERROR:
        raise wrong(spec, "its probabilities do not sum to 1", "log-probabilities, in nats")
    return logp_TBV
