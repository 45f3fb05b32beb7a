"""How well similarities of embeddings go with what people say: Spearman's correlation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from repro.errors import EmbeddingsError
from repro.similarity.benchmarks import Benchmark, Pair

Vector = np.ndarray[Any, np.dtype[Any]]

LEAST_PAIRS = 3
"""The correlation of two pairs is 1 or -1, whatever they are."""


class WordCorrelation(NamedTuple):
    """What embeddings have of a benchmark: its pairs, those that are covered, and rho of these.

    ``correlation`` is None where nothing can be said: of fewer than ``LEAST_PAIRS`` pairs, or of
    values that are all equal.
    """

    pairs: int
    covered: int
    correlation: float | None


def word_correlation(benchmark: Benchmark, vectors: Mapping[str, Vector]) -> WordCorrelation:
    """Spearman's correlation of cosines with scores, over the pairs that have both vectors.

    ``vectors`` (E,) by word; words of the benchmark are in lower case. Ties have their mean rank.
    As in Faruqui and Dyer 2014, a pair without a vector is left out. (The code of Parthiban et
    al. 2021 adds 1e-6 to both vectors whenever a pair is read; this does not.) EmbeddingsError for
    a vector without a direction.
    """
    covered = [pair for pair in benchmark.pairs if {pair.first, pair.second} <= vectors.keys()]
    return WordCorrelation(len(benchmark.pairs), len(covered), _spearman(covered, vectors))


def cosines(pairs: Sequence[Pair], vectors: Mapping[str, Vector]) -> Vector:
    """The cosine of each pair, (N,) float64, to 12 digits: what is equal but for round-off ties."""
    words = sorted({word for pair in pairs for word in (pair.first, pair.second)})
    directions = {word: _direction(word, vectors[word]) for word in words}
    found = [np.sum(directions[pair.first] * directions[pair.second]) for pair in pairs]
    return np.round(np.array(found, dtype=np.float64), 12)


def _direction(word: str, vector: Vector) -> Vector:
    """The vector divided by its length, which does not overflow."""
    values: Vector = np.asarray(vector, dtype=np.float64)
    largest = np.max(np.abs(values), initial=0.0)
    if not 0 < largest < np.inf:
        raise EmbeddingsError(
            f"the vector of '{word}' has no direction: its largest entry is {largest:g}\n"
            "  expected: finite numbers, not all 0\n  to do: correct it, or leave the word out"
        )
    values = values / largest
    direction: Vector = values / np.linalg.norm(values)
    return direction


def _spearman(pairs: Sequence[Pair], vectors: Mapping[str, Vector]) -> float | None:
    if len(pairs) < LEAST_PAIRS:
        return None
    scores, found = np.array([pair.score for pair in pairs]), cosines(pairs, vectors)
    if np.ptp(scores) == 0 or np.ptp(found) == 0:
        return None
    return float(spearmanr(scores, found).statistic)
