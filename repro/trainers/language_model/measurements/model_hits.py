"""Places of the true next words among all words, most probable first, and the hit rate of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from repro.errors import DataError
from repro.trainers.language_model.corpus import batchify
from repro.trainers.language_model.evaluation import rows_of
from repro.trainers.language_model.measurements.model_kl import Rows, gathered
from repro.trainers.language_model.randomness import philox
from repro.trainers.measurement import Measured, Split

if TYPE_CHECKING:
    from repro.trainers.language_model.evaluation import OnText

SHOWN = 12
"""Words of a context that are shown."""


@dataclass(frozen=True, slots=True)
class Text:
    """A split that a model reads in parallel streams."""

    subject: OnText
    split: Split
    streams: int

    @property
    def tokens(self) -> Tensor:
        return self.subject.corpus.split(self.split)

    @property
    def length(self) -> int:
        """How many words each stream has; those left over are not read."""
        return len(self.tokens) // self.streams

    def gathered(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """Contexts (n, D) of sorted rows, and the words (n,) after them."""
        return gathered(self.subject.contexts(self.split, self.streams), rows)

    def decoded(self, contexts_ND: Tensor) -> Iterator[Tensor]:
        """Blocks (rows, V) of log-probabilities."""
        return rows_of(self.subject.model.output, [contexts_ND.unsqueeze(0)])


def over_contexts(text: Text, k: int, contexts: int | None, seed: int) -> Measured:
    """The share of hits over so many contexts, or over all, facts, and a 0 or 1 for each context.

    In the order of reading: step by step, and within a step stream by stream.
    """
    total = text.subject.rows(text.split, text.streams)
    if contexts is None:
        chunks = text.subject.log_probabilities(text.split, text.streams)
        words_N = batchify(text.tokens, text.streams)[1:].flatten()
    else:
        contexts_ND, words_N = text.gathered(drawn_contexts(total, contexts, seed))
        chunks = text.decoded(contexts_ND)
    return _measured(places_of(chunks, words_N) < k, total, {})


def drawn_contexts(rows: int, contexts: int, seed: int) -> Rows:
    """So many different ones (n,) of ``rows`` rows, in ascending order."""
    generator = philox({"purpose": "contexts", "seed": seed})
    return np.sort(generator.permutation(rows)[:contexts])


def places_of(chunks: Iterable[Tensor], words_N: Tensor) -> Tensor:
    """How many words come before each word (N,), by log-probabilities in blocks (rows, V).

    0 is the most probable word. Equally probable ones come in the order of the vocabulary.
    DataError for what is no probability.
    """
    found, start = [], 0
    for chunk_NV in chunks:
        # NaN is neither above nor below any word, so that each would come first
        wrong_N = (chunk_NV.isnan() | (chunk_NV == math.inf)).any(dim=1).cpu()
        if wrong_N.any():
            raise DataError(
                f"context {start + int(wrong_N.int().argmax()) + 1:,}: the model gives some word a "
                "log-probability that is no number\n  expected: log-probabilities below infinity\n"
                "  to do: make the output layer return log-probabilities that do not overflow"
            )
        here_N1 = words_N[start : start + len(chunk_NV)].to(chunk_NV.device).unsqueeze(1)
        start += len(chunk_NV)
        word_N1 = chunk_NV.gather(1, here_N1)
        earlier_NV = torch.arange(chunk_NV.shape[1], device=chunk_NV.device) < here_N1
        before_NV = (chunk_NV > word_N1) | ((chunk_NV == word_N1) & earlier_NV)
        found.append(before_NV.sum(dim=1).cpu())
    return torch.cat(found)


def at_places(text: Text, k: int, at: Sequence[int], rows: Sequence[int]) -> Measured:
    """The same over the contexts ``rows``, whose next words stand ``at`` these places of the text.

    In their order; the facts have what was read before each place, and the k most probable words.
    """
    tokens, words = text.tokens, text.subject.corpus.words
    distinct, order = np.unique(np.array(rows, dtype=np.int64), return_inverse=True)
    contexts_ND, words_N = text.gathered(distinct)
    order_N = torch.from_numpy(order).to(contexts_ND.device)
    words_N, top, before = words_N[order_N], list[Any](), list[Tensor]()
    for chunk_NV in text.decoded(contexts_ND[order_N]):
        before.append(places_of([chunk_NV], words_N[len(top) : len(top) + len(chunk_NV)]))
        top += _most_probable(chunk_NV, k, words)
    before_N, facts = torch.cat(before), []
    for place, best, earlier in zip(at, top, before_N.tolist(), strict=True):
        first = max(place - place % text.length, place - SHOWN)
        *read, word = (words[number] for number in tokens[first : place + 1].tolist())
        fact = {"at": place, "context": " ".join(read), "word": word, "place": earlier + 1}
        facts.append({**fact, "top": best})
    return _measured(before_N < k, len(at), {"at": facts})


def _most_probable(
    chunk_NV: Tensor, k: int, words: tuple[str, ...]
) -> Iterator[list[dict[str, str | float]]]:
    """The k most probable words of each row, with their probabilities."""
    logs_NV, numbers_NV = chunk_NV.double().sort(dim=1, descending=True, stable=True)
    shares, numbers = logs_NV[:, :k].exp().tolist(), numbers_NV[:, :k].tolist()
    for row in zip(shares, numbers, strict=True):
        yield [{"word": words[n], "probability": p} for p, n in zip(*row, strict=True)]


def _measured(hit_N: Tensor, total: int, facts: dict[str, Any]) -> Measured:
    """The rate, and its standard error where ``total`` contexts are more than these."""
    n, hits = len(hit_N), int(hit_N.sum())
    rate = hits / n
    facts = {"contexts": n, "hits": hits, **facts}
    if 1 < n < total:
        facts["standard_error"] = math.sqrt(rate * (1 - rate) / (n - 1) * (1 - n / total))
    return Measured(rate, facts, {"hits": hit_N.to(torch.uint8).numpy()})
