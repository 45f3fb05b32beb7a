"""Embeddings of the user: a text as word2vec and GloVe write it, or an array and its words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from repro.errors import EmbeddingsError
from repro.files import opened
from repro.schema.numbers import number_of
from repro.similarity.benchmarks import Benchmark, Pair, content_of

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


EXPECTED = "FILE.npy with --vocabulary, or a text with a word and its numbers on each line"
LARGEST_VOCABULARY = 2**31


class Embeddings(NamedTuple):
    """``words`` how many there are, ``size`` the length of a vector, and those asked for."""

    words: int
    size: int
    vectors: dict[str, Vector]


def read_embeddings(path: Path, vocabulary: Path | None, needed: Collection[str]) -> Embeddings:
    """The vectors of the ``needed`` words; of a word that comes twice, the first.

    A `.npy` is an array (V, E), and line i of ``vocabulary`` the word of row i. Any other file is
    a text: on each line a word and E numbers, after blanks; a first line of two whole numbers
    is the V and E of word2vec. Other words are not read, so that memory is that of the needed.

    Raises EmbeddingsError, which says where, for anything else.
    """
    if (path.suffix == ".npy") != (vocabulary is not None):
        what = "without --vocabulary" if vocabulary is None else "with --vocabulary"
        raise EmbeddingsError(
            f"{path}: {what}\n  expected: {EXPECTED}\n"
            "  to do: name the file with the words of the rows, one a line, for an array alone"
        )
    if vocabulary is None:
        return _of_text(path, frozenset(needed))
    return _of_array(path, vocabulary, frozenset(needed))


def _of_array(path: Path, vocabulary: Path, needed: frozenset[str]) -> Embeddings:
    try:
        with opened(path), np.errstate(over="ignore"):
            array = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # a header may hold anything
        why = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise EmbeddingsError(
            f"{path}: cannot be read: {why}\n  expected: a file that numpy.save wrote\n"
            "  to do: check the path, and write the file again if it is damaged"
        ) from error
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "fiu":
        size = " x ".join(map(str, array.shape)) or "a single number"
        raise EmbeddingsError(
            f"{path}: an array of {size}, type {array.dtype}\n"
            "  expected: numbers, a row per word\n  to do: save the embeddings, (V, E)"
        )
    expected = "the words of the rows, one a line"
    content = content_of(vocabulary, LARGEST_VOCABULARY, EmbeddingsError, expected)
    lines = content.decode("utf-8", errors="replace").removesuffix("\n").split("\n")
    words = [line.strip() for line in lines]
    if len(words) != len(array):
        raise EmbeddingsError(
            f"{vocabulary}: {len(words):,} words, and {path} has {len(array):,} rows\n"
            "  expected: as many words as rows\n  to do: give the words of this array"
        )
    vectors: dict[str, Vector] = {}
    for row, word in enumerate(words):
        if word in needed and word not in vectors:
            vectors[word] = np.asarray(array[row], dtype=np.float64)
    return Embeddings(len(words), array.shape[1], vectors)


def _of_text(path: Path, needed: frozenset[str]) -> Embeddings:
    """Line by line, as bytes: a word may have any, and only needed numbers are read."""
    try:
        with opened(path) as stream:
            return _of_lines(path, iter(stream), {word.encode(): word for word in needed})
    except OSError as error:
        raise EmbeddingsError(
            f"{path}: cannot be read: {error.strerror or error}\n  expected: {EXPECTED}\n"
            "  to do: check the path"
        ) from error


def _of_lines(path: Path, lines: Iterator[bytes], needed: dict[bytes, str]) -> Embeddings:
    first = next(lines, b"").split()
    stated = _counts(first)
    size = stated.size if stated else len(first) - 1
    if size < 1:
        raise _misread(path, 1, "no word with numbers", EXPECTED)
    numbered = enumerate((line.split() for line in lines), start=2)
    vectors: dict[str, Vector] = {}
    words, last = 0, 1
    for last, fields in numbered if stated else chain([(1, first)], numbered):
        if not fields:
            continue
        words += 1
        word = needed.get(fields[0])
        if word is None or word in vectors or len(fields) > size + 1:  # a word may hold blanks
            continue
        if len(fields) <= size:
            mistake = f"{number_of(len(fields) - 1, 'number')} after '{word}'"
            raise _misread(path, last, mistake, f"{size:,}, as on the first line")
        vectors[word] = _vector(path, last, fields)
    if stated and words != stated.words:
        mistake = f"{words:,} words, and the first line says {stated.words:,}"
        raise _misread(path, last, mistake, "a whole file")
    return Embeddings(words, size, vectors)


class _Counts(NamedTuple):
    words: int
    size: int


def _counts(fields: list[bytes]) -> _Counts | None:
    """What the first line of word2vec says; None for any other line."""
    if len(fields) == 2 and all(field.isdigit() and len(field) < 16 for field in fields):
        return _Counts(int(fields[0]), int(fields[1]))
    return None


def _vector(path: Path, line: int, fields: list[bytes]) -> Vector:
    try:
        return np.array([float(field) for field in fields[1:]])
    except ValueError as error:
        word = fields[0].decode(errors="replace")
        raise _misread(path, line, f"'{word}' has what is no number", "numbers") from error


def _misread(path: Path, line: int, mistake: str, expected: str) -> EmbeddingsError:
    return EmbeddingsError(
        f"{path}:{line}:1: {mistake}\n  expected: {expected}\n"
        "  to do: correct the line, or write the file again"
    )
