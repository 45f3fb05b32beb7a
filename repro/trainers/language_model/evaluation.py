"""Trained model + text -> losses and log-probabilities, with every dropout off.

All in the precision of the model's weights, whatever products it was trained by: rounding
logits or log-probabilities makes any matrix look like one of full rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from repro.trainers.language_model.corpus import batchify, windows_of
from repro.trainers.language_model.fused_loss import rows_per_chunk
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.precision import products_in

WINDOW = 70
"""Steps that are run at a time; the state is carried over, so numbers differ by round-off only."""

CHUNK_BYTES = 64 * 2**20
"""Size of the largest block of log-probabilities."""


def full_precision() -> AbstractContextManager[None]:
    """Products in the precision of their factors inside the block: no TF32, no bfloat16."""
    return products_in(None)


@torch.no_grad()
def mean_loss(model: LanguageModel, tokens: Tensor, batch_size: int) -> tuple[float, int]:
    """Mean negative log-likelihood in nats a predicted token, and how many were predicted.

    ``tokens`` (N,) are read in ``batch_size`` parallel streams from a zero state; the first
    word of each stream and the last N mod B words are not predicted. Sums are float64.
    Raises DataError when the text is too short for so many streams.
    """
    total, count = 0.0, 0
    with full_precision():
        for context_TBD, targets_TB in contexts(model, tokens, batch_size):
            total += float(model.loss(context_TBD, targets_TB)) * targets_TB.numel()
            count += targets_TB.numel()
    return total / count, count


def log_probability_rows(model: LanguageModel, tokens: Tensor, batch_size: int) -> Iterator[Tensor]:
    """Blocks (rows, V) of log-probabilities in nats, one row a predicted position.

    Every position comes exactly once: step by step, and within a step stream by stream.
    """
    return rows_of(model.output, (context for context, _ in contexts(model, tokens, batch_size)))


def rows_of(output: OutputLayer, contexts: Iterable[Tensor]) -> Iterator[Tensor]:
    """Blocks (rows, V) of log-probabilities in nats, one row a context of (T, B, D).

    A block holds CHUNK_BYTES at most (or one row). The work is done as blocks are asked for.
    """
    size = rows_per_chunk(max(output.weight.shape), CHUNK_BYTES // output.weight.element_size())
    waiting: list[Tensor] = []
    count = 0
    for context_TBD in contexts:
        waiting.append(context_TBD.flatten(0, 1))
        count += len(waiting[-1])
        if count >= size:
            rows_ND = torch.cat(waiting)
            count = len(rows_ND) % size
            full_ND, rest_ND = rows_ND.split([len(rows_ND) - count, count])
            yield from (_log_probabilities(output, block) for block in full_ND.split(size))
            waiting = [rest_ND]
    if count:
        yield _log_probabilities(output, torch.cat(waiting))


def contexts(
    model: LanguageModel, tokens: Tensor, batch_size: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Contexts (T, B, D) and the words (T, B) that follow them, window by window."""
    text_LB = batchify(tokens, batch_size).to(model.output.weight.device)
    state = model.zero_state(batch_size)
    for segment in windows_of(len(text_LB) - 1, WINDOW):
        with torch.no_grad(), full_precision():
            output = model(segment.inputs(text_LB), state)
        state = output.state
        yield output.context, segment.targets(text_LB)


def _log_probabilities(output: OutputLayer, rows_ND: Tensor) -> Tensor:
    with torch.no_grad(), full_precision():
        return output.log_probabilities(rows_ND.unsqueeze(1)).squeeze(1)


def evaluation_perplexity(
    model: LanguageModel, tokens: torch.Tensor, batch_size: int
) -> tuple[float, int]:
    """Perplexity of ``tokens`` (N,) with dropout off, and the number of tokens it is over.

    The mean is over predicted tokens. The reference code divides by one more a stream, which
    lowers the loss by a factor (L - 1) / L for streams of L tokens (facts.md 2.1: -0.03 on PTB).
    """
    loss, counted = mean_loss(model, tokens, batch_size)
    return math.exp(loss), counted
