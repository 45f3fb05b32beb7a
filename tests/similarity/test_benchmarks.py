"""The benchmarks of word similarity: their files, and how many pairs a corpus covers."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from repro.errors import DataError, EmbeddingsError
from repro.similarity.benchmarks import (
    BENCHMARKS,
    Pair,
    known_benchmark,
    lacking,
    own_benchmark,
)
from repro.similarity.embeddings import word_correlation
from repro.trainers.language_model.corpus import describe, load_corpus

PUBLISHED = Path(__file__).parents[2] / "claims/published/parthiban2021_similarity_ptb.csv"

TABLE_13 = {  # Parthiban et al. 2021, Supplement: pairs, and those that PTB and WikiText-2 lack
    "ws_353": (353, 116, 48),
    "ws_353_sim": (203, 66, 28),
    "ws_353_rel": (252, 80, 28),
    "rg_65": (65, 55, 20),
    "mc_30": (30, 21, 4),
    "mturk_287": (287, 146, 106),
    "mturk_771": (771, 346, 99),
    "men": (3000, 1952, 863),
    "yp_130": (130, 65, 43),
    "verb_143": (144, 9, 0),
    "rw_stanford": (2034, 1889, 1605),
    "simverb_3500": (3500, 1746, 1080),
    "simlex_999": (999, 424, 106),
}


def test_they_are_those_of_the_printed_scores() -> None:
    """Ids and order are those of the table from which Figure 4 is counted."""
    with PUBLISHED.open(encoding="utf-8") as stream:
        assert [row["id"] for row in csv.DictReader(stream)] == list(BENCHMARKS) == list(TABLE_13)


@pytest.mark.data
@pytest.mark.parametrize(("corpus", "column"), [("ptb", 1), ("wt2", 2)])
def test_coverage_is_that_of_table_13(corpus: str, column: int, data_dir: Path) -> None:
    """Every count of the supplement's Table 13, exactly, by the vocabularies of the corpora."""
    words = load_corpus(describe(data_dir / corpus), data_dir).words
    vectors = dict(zip(words, np.random.default_rng(1).normal(size=(len(words), 3)), strict=True))
    found = {
        name: word_correlation(known_benchmark(name, data_dir), vectors) for name in BENCHMARKS
    }
    assert {name: each.pairs for name, each in found.items()} == {
        name: counts[0] for name, counts in TABLE_13.items()
    }
    assert {name: each.pairs - each.covered for name, each in found.items()} == {
        name: counts[column] for name, counts in TABLE_13.items()
    }


def test_words_are_put_in_lower_case_and_blank_lines_left_out(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_bytes(b"Jerusalem\tIsrael\t8.46\r\n\r\ntiger  cat 7.35")
    found = own_benchmark(file)
    assert found.label == "mine"
    assert found.pairs == (Pair("jerusalem", "israel", 8.46), Pair("tiger", "cat", 7.35))
    assert found.words == {"jerusalem", "israel", "tiger", "cat"}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"a b 1\na b\n", 2),
        (b"a b 1 2\n", 1),
        (b"\na b much\n", 2),
        (b"a b nan\n", 1),
        (b"a b 1\n\xff b 1\n", 2),
    ],
)
def test_a_line_of_another_form_is_told_with_its_place(
    content: bytes, line: int, tmp_path: Path
) -> None:
    file = tmp_path / "mine.txt"
    file.write_bytes(content)
    with pytest.raises(EmbeddingsError, match=rf"mine\.txt:{line}:1: .*\n  expected: `word word"):
        own_benchmark(file)


def test_a_known_benchmark_is_its_file_and_no_other(tmp_path: Path) -> None:
    """Without a folder, without the file, and with another file: each is told."""
    with pytest.raises(DataError, match=r"set REPRO_DATA .* wordsim/EN-RG-65\.txt"):
        known_benchmark("rg_65", None)
    folder = tmp_path / "wordsim"
    folder.mkdir()
    with pytest.raises(DataError, match=r"EN-RG-65\.txt: cannot be read: No such file"):
        known_benchmark("rg_65", tmp_path)
    (folder / "EN-RG-65.txt").write_text("gem jewel 3.94\n")
    with pytest.raises(DataError, match=r"is not the file of RG-65"):
        known_benchmark("rg_65", tmp_path)
    assert "\n" not in lacking("rg_65", tmp_path)
    assert lacking("rg_65", tmp_path).endswith("to do: restore the original")
