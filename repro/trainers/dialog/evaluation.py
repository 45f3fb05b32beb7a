"""What is measured on a dialog model: perplexity, rank, and BLEU of answers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

import torch
from torch import Tensor

from repro.trainers.dialog.corpus import BEGIN, END, DialogSplit, batch_of, in_order
from repro.trainers.dialog.model import DialogModel, Response, respond
from repro.trainers.language_model.evaluation import full_precision, rows_of
from repro.trainers.measurement import Split, Subject

if TYPE_CHECKING:
    from repro.trainers.dialog.spec import Beam
    from repro.trainers.language_model.measurements.perplexity import Perplexity


BATCH = 60
"""Responses that are read at a time; no number depends on it but by rounding."""


@torch.no_grad()
def mean_loss(model: DialogModel, split: DialogSplit, batch_size: int = BATCH) -> tuple[float, int]:
    """Mean negative log-likelihood in nats a predicted token, and how many were predicted.

    Every token of every response counts once, ``</s>`` too. Sums are float64.
    """
    total, count = 0.0, 0
    with full_precision():
        for context_1ND, targets_N in contexts(model, split, batch_size):
            loss = model.output.loss(context_1ND, targets_N.unsqueeze(0))
            total += float(loss) * len(targets_N)
            count += len(targets_N)
    return total / count, count


def contexts(
    model: DialogModel, split: DialogSplit, batch_size: int = BATCH
) -> Iterator[tuple[Tensor, Tensor]]:
    """Contexts (1, N, D) and the words (N,) that follow them, batch by batch."""
    here = split.to(model.output.weight.device)
    for examples in in_order(here.examples, batch_size):
        batch = batch_of(here, examples)
        with torch.no_grad(), full_precision():
            yield model(batch), batch.targets


@dataclass(frozen=True, slots=True)
class OnDialogs(Subject):
    """A dialog model, which reads the responses of a split one by one, whatever the streams."""

    def mean_loss(self, split: Split, streams: int = 1) -> tuple[float, int]:
        """Mean negative log-likelihood in nats a token of a response, and how many there are."""
        del streams
        return mean_loss(self.model, self.corpus.split(split))

    def log_probabilities(self, split: Split, streams: int = 1) -> Iterator[Tensor]:
        """Blocks (rows, V) of log-probabilities in nats, one row a predicted token."""
        del streams
        found = contexts(self.model, self.corpus.split(split))
        return rows_of(self.model.output, (context for context, _ in found))

    def rows(self, split: Split, streams: int = 1) -> int:
        """How many tokens are predicted."""
        del streams
        predicted: int = self.corpus.split(split).predicted
        return predicted

    def dynamic_perplexity(self, measurement: Perplexity) -> NoReturn:
        """Only a text is read word by word."""
        del measurement
        raise ValueError("there is no dynamic evaluation of a dialog model")

    def answered(self, split: Split, beam: Beam) -> Answered:
        """The answers to each context of a split, and the words of what was said."""
        part, words = self.corpus.split(split), tuple(self.corpus.words)
        return _answered(_sha256(self.model), self.model, part, beam, words)


Answered = list[tuple[list[Response], tuple[int, ...]]]


@lru_cache(maxsize=1)
def _answered(
    _weights: str, model: DialogModel, split: DialogSplit, beam: Beam, words: tuple[str, ...]
) -> Answered:
    """The answers to each context of a split, and the words of what was said.

    The last ones are kept for other orders and the other side, while ``_weights`` are the same.
    """
    here, start, end = split.to(model.output.weight.device), words.index(BEGIN), words.index(END)
    found = []
    for example in here.examples:
        with torch.no_grad(), full_precision():
            begin_1BD = model.encode(batch_of(here, [example]))
        answers = respond(model, begin_1BD, beam, start=start, end=end)
        found.append((answers, tuple(here.utterance(example.response)[1:-1].tolist())))
    return found


def _sha256(model: DialogModel) -> str:
    """SHA-256 of all weights."""
    summary = hashlib.sha256()
    for tensor in model.state_dict().values():
        summary.update(tensor.detach().cpu().numpy().tobytes())
    return summary.hexdigest()
