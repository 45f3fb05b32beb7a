"""Log-probabilities of a Softmax of the papers' size: contexts at random, the rank known.

Logits of d = 400 dimensions and a bias, minus their normaliser, all in float32: rank d + 2. They
come block by block, each from a seed of its own, so that a reading may begin anywhere.

    repro rank benchmarks.rank.rows:wikitext2 --counts --checkpoint FOLDER

`wikitext2_with_constant` is the same after log(p + 1e-8), as the published code takes it: such rows
have no low rank, whatever the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

Rows = np.ndarray[Any, np.dtype[np.float32]]

DIMENSIONS: Final = 400
BLOCK: Final = 1024
SEED: Final = 2018

PENN_TREEBANK: Final = (82_429, 10_000)
WIKITEXT2: Final = (245_568, 33_278)
"""Predicted words of the whole test set, and words of the vocabulary."""


def penn_treebank(start: int = 0) -> Iterator[Rows]:
    """As many rows and columns as Penn Treebank's test set has."""
    return softmax(*PENN_TREEBANK, start)


def wikitext2(start: int = 0) -> Iterator[Rows]:
    """As many rows and columns as WikiText-2's test set has."""
    return softmax(*WIKITEXT2, start)


def wikitext2_with_constant(start: int = 0) -> Iterator[Rows]:
    """The same with a constant inside the logarithm."""
    return with_constant(wikitext2(start))


def with_constant(blocks: Iterable[Rows]) -> Iterator[Rows]:
    """log(p + 1e-8) of log-probabilities log p."""
    return (np.log(np.exp(block) + np.float32(1e-8)) for block in blocks)


def softmax(
    rows: int, columns: int, start: int = 0, dimensions: int = DIMENSIONS
) -> Iterator[Rows]:
    """Blocks (?, columns) of log-probabilities, from row ``start``."""
    words = np.random.default_rng([SEED, columns])
    weight = words.standard_normal((dimensions, columns), dtype=np.float32) * np.float32(0.1)
    bias = words.standard_normal(columns, dtype=np.float32)
    for first in range(start - start % BLOCK, rows, BLOCK):
        generator = np.random.default_rng([SEED, columns, first])
        size = (min(BLOCK, rows - first), dimensions)
        logits = generator.standard_normal(size, dtype=np.float32) @ weight
        logits += bias
        peak = logits.max(axis=1, keepdims=True)
        logits -= peak
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        yield logits[max(start - first, 0) :]
