"""Trained model + text -> losses and log-probabilities, and what a measurement can ask of a text.

With every dropout off, and all in the precision of the model's weights, whatever products it was
trained by: rounding logits or log-probabilities makes any matrix look like one of full rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NoReturn

import torch
from torch import Tensor

from repro.trainers.language_model.corpus import batchify, windows_of
from repro.trainers.language_model.fused_loss import rows_per_chunk
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.precision import products_in
from repro.trainers.measurement import Split, Subject

WINDOW = 70
"""Steps that are run at a time; the state is carried over, so numbers differ by round-off only."""

CHUNK_BYTES = 64 * 2**20
"""Size of the largest block of log-probabilities."""


def full_precision() -> AbstractContextManager[None]:
    """Products in the precision of their factors inside the block: no TF32, no bfloat16."""
    return products_in(None)


def mean_loss(model: LanguageModel, tokens: Tensor, batch_size: int) -> tuple[float, int]:
    """Mean negative log-likelihood in nats a predicted token, and how many were predicted.

    ``tokens`` (N,) are read in ``batch_size`` parallel streams from a zero state; the first word of
    each stream and the last N mod B words are not predicted. The reference code divides by one more
    a stream (-0.03 in perplexity on PTB). DataError for a text too short for so many streams.
    """
    return loss_over(model.output, contexts(model, tokens, batch_size))


@torch.no_grad()
def loss_over(
    output: OutputLayer, predictions: Iterable[tuple[Tensor, Tensor]]
) -> tuple[float, int]:
    """Mean loss over contexts (T, B, D) and the words (T, B) after them, and how many there are.

    Every word counts once; sums are float64.
    """
    total, count = torch.zeros((), dtype=torch.float64, device=output.weight.device), 0
    with full_precision():
        for context_TBD, targets_TB in predictions:
            total += output.loss(context_TBD, targets_TB).double() * targets_TB.numel()
            count += targets_TB.numel()
    return float(total) / count, count


def log_probability_rows(
    model: LanguageModel, tokens: Tensor, batch_size: int, start: int = 0
) -> Iterator[Tensor]:
    """Blocks (rows, V) of log-probabilities in nats, one row a predicted position.

    Every position from row ``start`` comes exactly once: step by step, and within a step stream by
    stream.
    """
    found = contexts(model, tokens, batch_size)
    return rows_of(model.output, (context for context, _ in found), start)


def rows_of(output: OutputLayer, contexts: Iterable[Tensor], start: int = 0) -> Iterator[Tensor]:
    """Blocks (rows, V) of log-probabilities in nats, one row per context of (T, B, D).

    Rows before ``start`` are left out; the others have the same bits as with them. A block holds
    CHUNK_BYTES at most (or one row). The work is done as blocks are asked for.
    """
    size = rows_per_chunk(max(output.weight.shape), CHUNK_BYTES // output.weight.element_size())
    end = 0
    for block_ND in _blocks(contexts, size):
        end += len(block_ND)
        if end > start:
            left_out = max(start - end + len(block_ND), 0)
            yield _log_probabilities(output, block_ND)[left_out:]


def _blocks(contexts: Iterable[Tensor], size: int) -> Iterator[Tensor]:
    """The contexts (T, B, D) as blocks (``size``, D), the last one shorter."""
    waiting: list[Tensor] = []
    count = 0
    for context_TBD in contexts:
        waiting.append(context_TBD.flatten(0, 1))
        count += len(waiting[-1])
        if count >= size:
            rows_ND = torch.cat(waiting)
            count = len(rows_ND) % size
            full_ND, rest_ND = rows_ND.split([len(rows_ND) - count, count])
            yield from full_ND.split(size)
            waiting = [rest_ND]
    if count:
        yield torch.cat(waiting)


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


@dataclass(frozen=True, slots=True)
class OnText(Subject):
    """A language model that reads the splits of its text in parallel streams."""

    def mean_loss(self, split: Split, streams: int = 1) -> tuple[float, int]:
        return mean_loss(self.model, self.corpus.split(split), streams)

    def contexts(self, split: Split, streams: int = 1) -> Iterator[tuple[Tensor, Tensor]]:
        """Contexts (T, B, D) and the words (T, B) that follow them, window by window."""
        return contexts(self.model, self.corpus.split(split), streams)

    def log_probabilities(self, split: Split, streams: int = 1, start: int = 0) -> Iterator[Tensor]:
        """Blocks (rows, V), from row ``start``."""
        return log_probability_rows(self.model, self.corpus.split(split), streams, start)

    def rows(self, split: Split, streams: int = 1) -> int:
        """How many tokens are predicted."""
        return (len(self.corpus.split(split)) // streams - 1) * streams

    def answered(self, *_: object) -> NoReturn:
        """Only a dialog model answers."""
        raise ValueError("a language model answers nothing: it has no BLEU")
