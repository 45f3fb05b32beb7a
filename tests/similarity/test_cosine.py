"""Spearman's correlation of cosines with scores, against pandas, a closed form, and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from repro.errors import EmbeddingsError
from repro.similarity.benchmarks import Benchmark, Pair
from repro.similarity.embeddings import Vector, cosines, word_correlation


def random_benchmark(seed: int, pairs: int = 60) -> tuple[Benchmark, dict[str, Vector]]:
    """Pairs of 40 words, with scores that tie."""
    generator = np.random.default_rng(seed)
    vectors = {f"w{i}": generator.normal(size=7) for i in range(40)}
    drawn = generator.integers(40, size=(pairs, 2))
    scores = generator.integers(10, size=pairs)
    both = zip(drawn, scores, strict=True)
    return Benchmark(
        "random", tuple(Pair(f"w{a}", f"w{b}", float(score)) for (a, b), score in both)
    ), vectors


@pytest.mark.parametrize("seed", range(5))
def test_it_is_that_of_pandas_with_ties(seed: int) -> None:
    """Mean ranks of ties in the scores; pandas has code of its own."""
    benchmark, vectors = random_benchmark(seed)
    found = word_correlation(benchmark, vectors)
    frame = pd.DataFrame(benchmark.pairs)
    frame["cosine"] = [
        vectors[a] @ vectors[b] / (np.linalg.norm(vectors[a]) * np.linalg.norm(vectors[b]))
        for a, b, _ in benchmark.pairs
    ]
    frame["cosine"] = frame["cosine"].round(12)  # a pair that is drawn twice ties
    expected = frame["score"].corr(frame["cosine"], method="spearman")
    assert found.correlation == pytest.approx(expected, abs=1e-12)


def test_without_ties_it_is_the_closed_form() -> None:
    """1 - 6 sum d² / (n (n² - 1)): angles of 10, 20, 40 and 80 degrees, two ranks exchanged."""
    angles = np.radians([10.0, 20.0, 40.0, 80.0])
    vectors = {f"w{i}": np.array([np.cos(a), np.sin(a)]) for i, a in enumerate(angles)}
    vectors["x"] = np.array([3.0, 0.0])
    pairs = [Pair("x", f"w{i}", score) for i, score in enumerate([9.0, 2.0, 5.0, 1.0])]
    found = word_correlation(Benchmark("four", tuple(pairs)), vectors)
    assert cosines(pairs, vectors) == pytest.approx(np.cos(angles))
    assert (found.pairs, found.covered) == (4, 4)
    assert found.correlation == pytest.approx(1 - 6 * 2 / (4 * 15))


def test_pairs_without_a_vector_are_left_out() -> None:
    benchmark, vectors = random_benchmark(1)
    del vectors["w3"]
    rest = tuple(pair for pair in benchmark.pairs if "w3" not in pair)
    assert len(rest) < len(benchmark.pairs)
    found = word_correlation(benchmark, vectors)
    assert found == word_correlation(Benchmark("rest", rest), vectors)._replace(pairs=60)


def test_lengths_of_vectors_are_nothing() -> None:
    """Not even where their squares leave float64."""
    benchmark, vectors = random_benchmark(2)
    scaled = {word: vector * 10.0 ** (40 * i - 300) for i, (word, vector) in
              enumerate(list(vectors.items())[:14])}  # fmt: skip
    assert word_correlation(benchmark, {**vectors, **scaled}).correlation == pytest.approx(
        word_correlation(benchmark, vectors).correlation
    )


def test_what_has_no_correlation() -> None:
    """Two pairs, equal scores, equal cosines."""
    vectors = {"a": np.array([1.0, 0.0]), "b": np.array([0.0, 1.0]), "c": np.array([1.0, 1.0])}
    both = [Pair("a", "b", 1.0), Pair("a", "c", 2.0)]
    assert word_correlation(Benchmark("two", tuple(both)), vectors) == (2, 2, None)
    equal = [*both, Pair("b", "c", 3.0)]
    flat = tuple(pair._replace(score=1.0) for pair in equal)
    assert word_correlation(Benchmark("flat", flat), vectors) == (3, 3, None)
    same = tuple(Pair("a", "b", float(score)) for score in range(4))
    assert word_correlation(Benchmark("same", same), vectors) == (4, 4, None)


@pytest.mark.parametrize("entry", [0.0, np.nan, np.inf])
def test_a_vector_without_a_direction_is_named(entry: float) -> None:
    pairs = tuple(Pair("a", "b", float(score)) for score in range(3))
    vectors = {"a": np.array([1.0, 2.0]), "b": np.full(2, entry)}
    with pytest.raises(EmbeddingsError, match="the vector of 'b' has no direction"):
        word_correlation(Benchmark("three", pairs), vectors)
