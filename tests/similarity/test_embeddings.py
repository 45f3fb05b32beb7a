"""Embeddings of the user's own: word2vec's text, GloVe's, and an array with its words."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from repro.errors import EmbeddingsError
from repro.similarity.embeddings import read_embeddings

WORDS = ("the", "cat", "tiger", "the")
VECTORS = np.array([[0.25, -1.0], [1e-3, 2.0], [3.0, 4.5], [9.0, 9.0]])
LINES = [f"{word} {x:g} {y:g}" for word, (x, y) in zip(WORDS, VECTORS, strict=True)]


def text(folder: Path, *lines: str) -> Path:
    file = folder / "vectors.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def array(folder: Path, values: object = VECTORS, words: str = "\n".join(WORDS)) -> Path:
    np.save(folder / "vectors.npy", np.asarray(values))
    (folder / "words.txt").write_text(words + "\n", encoding="utf-8")
    return folder / "vectors.npy"


def test_the_three_forms_are_the_same_embeddings(tmp_path: Path) -> None:
    """Of a word that comes twice the first counts; other words are not read."""
    needed = {"the", "tiger", "dog"}
    glove = read_embeddings(text(tmp_path, *LINES), None, needed)
    word2vec = read_embeddings(text(tmp_path, "4 2", *LINES, ""), None, needed)
    numpy = read_embeddings(array(tmp_path), tmp_path / "words.txt", needed)
    for found in (glove, word2vec, numpy):
        assert (found.words, found.size) == (4, 2)
        assert set(found.vectors) == {"the", "tiger"}
        np.testing.assert_array_equal(found.vectors["the"], VECTORS[0])
        np.testing.assert_array_equal(found.vectors["tiger"], VECTORS[2])


def test_a_word_may_hold_blanks_and_any_bytes(tmp_path: Path) -> None:
    """GloVe has `. . .`, and words that are no UTF-8."""
    file = tmp_path / "glove.txt"
    file.write_bytes(b"cat 1 2\nat name@domain.com 5 6\n\xff\xfe 7 8\nat 3 4\n")
    found = read_embeddings(file, None, {"at", "cat"})
    assert found.words == 4
    np.testing.assert_array_equal(found.vectors["at"], [3.0, 4.0])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["cat 1 2", "the 1"], r"vectors\.txt:2:1: 1 number after 'the'\n  expected: 2"),
        (["cat 1 2", "the 1 x"], r"vectors\.txt:2:1: 'the' has what is no number"),
        (["3 2", "cat 1 2", "the 1 2"], r"vectors\.txt:3:1: 2 words, and the first line says 3"),
        (["9" * 5000 + " 2 3", "cat 1"], r"vectors\.txt:2:1: 1 number after 'cat'"),
        (["9" * 15 + " 2", "cat 1 2"], r"1 words, and the first line says 999,999,999,999,999"),
        (["cat"], r"vectors\.txt:1:1: no word with numbers"),
        ([""], r"vectors\.txt:1:1: no word with numbers"),
    ],
)
def test_a_line_of_another_form(lines: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingsError, match=message):
        read_embeddings(text(tmp_path, *lines), None, {"the", "cat"})


def test_numbers_of_thousands_of_digits_are_no_counts(tmp_path: Path) -> None:
    """They are a word with its number, as in a text of GloVe."""
    found = read_embeddings(text(tmp_path, "9" * 5000 + " 2", "cat 1"), None, {"cat"})
    assert (found.words, found.size) == (2, 1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(3), "an array of 3, type float64"),
        (np.zeros((0, 3)), "an array of 0 x 3, type float64"),
        (np.zeros((4, 2), dtype=complex), "an array of 4 x 2, type complex128"),
        (np.zeros((5, 2)), r"words\.txt: 4 words, and .* has 5 rows"),
    ],
)
def test_an_array_that_is_no_embeddings(values: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingsError, match=message):
        read_embeddings(array(tmp_path, values), tmp_path / "words.txt", {"the"})


def test_the_words_go_with_an_array_alone(tmp_path: Path) -> None:
    file = array(tmp_path)
    with pytest.raises(EmbeddingsError, match=r"vectors\.npy: without --vocabulary"):
        read_embeddings(file, None, {"the"})
    with pytest.raises(EmbeddingsError, match=r"vectors\.txt: with --vocabulary"):
        read_embeddings(text(tmp_path, *LINES), tmp_path / "words.txt", {"the"})


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing, no array, pickled objects."""
    words = tmp_path / "words.txt"
    with pytest.raises(EmbeddingsError, match=r"none\.txt: cannot be read: No such file"):
        read_embeddings(tmp_path / "none.txt", None, {"the"})
    with pytest.raises(EmbeddingsError, match=r"none\.npy: cannot be read: No such file"):
        read_embeddings(tmp_path / "none.npy", words, {"the"})
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}]), allow_pickle=True)
    (tmp_path / "bad.npy").write_bytes(pickled.getvalue())
    with pytest.raises(EmbeddingsError, match=r"bad\.npy: cannot be read"):
        read_embeddings(tmp_path / "bad.npy", words, {"the"})
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999999999, 2)}"
    for content in (b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00" + bytes([len(header), 0]) + header):
        (tmp_path / "bad.npy").write_bytes(content)
        with pytest.raises(EmbeddingsError, match=r"bad\.npy: cannot be read"):
            read_embeddings(tmp_path / "bad.npy", words, {"the"})
    with pytest.raises(EmbeddingsError, match=r"words\.txt: cannot be read: No such file"):
        read_embeddings(array(tmp_path), tmp_path / "gone" / "words.txt", {"the"})
