"""Corpora in memory."""

import hashlib
import json
import os
import random
from pathlib import Path

import pytest
import torch

from repro.errors import DataError
from repro.trainers.language_model.corpus import LARGEST, batchify, bytes_of, describe, load_corpus
from repro.trainers.language_model.spec import TextCorpus
from tests.trainers import small

TEXTS = {"train": "a b a\n\nc\n", "valid": "b d\n", "test": "a e"}
KNOWN = {
    "ptb": {
        "vocabulary": 10_000,
        "tokens": {"train": 929_589, "valid": 73_760, "test": 82_430},
        "sha256": {
            "train": "fcea919f6cf83f35d4d00c6cbf08040d13d4155226340912e2fef9c9c4102cbf",
            "valid": "c9fe6985fe0d4ccb578183407d7668fc6066c20700cb4cf87d8ff1cc34df1bf2",
            "test": "dd65dff31e70846b2a6030a87482edcd5d199130cdcfa1f3dccbb033728deee0",
        },
    },
    "wt2": {
        "vocabulary": 33_278,
        "tokens": {"train": 2_088_628, "valid": 217_646, "test": 245_569},
        "sha256": {
            "train": "9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f",
            "valid": "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
            "test": "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
        },
    },
}


def text_corpus(**changes):
    values = {
        "kind": "text",
        "name": "tiny",
        "vocabulary": 6,
        "tokens": {"train": 7, "valid": 3, "test": 3},
        "sha256": {k: hashlib.sha256(v.encode()).hexdigest() for k, v in TEXTS.items()},
    }
    return TextCorpus.model_validate_json(json.dumps({**values, **changes}))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tiny").mkdir()
    for split, text in TEXTS.items():
        (tmp_path / "tiny" / f"{split}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def test_words_are_numbered_by_first_appearance_and_lines_end_in_eos(folder):
    """Every line gives one <eos>, an empty line and a last line without an end too."""
    corpus = load_corpus(text_corpus(), folder)
    assert corpus.words == ("a", "b", "<eos>", "c", "d", "e")
    assert corpus.train.tolist() == [0, 1, 0, 2, 2, 3, 2]
    assert corpus.split("valid").tolist() == [1, 4, 2]
    assert corpus.split("test").tolist() == [0, 5, 2]
    assert corpus.vocabulary == 6


def test_a_corpus_is_read_once(folder):
    """A second request returns the same object."""
    assert load_corpus(text_corpus(), folder) is load_corpus(text_corpus(), folder)


def test_no_data_folder(folder):
    """Without a folder the message names the variable and the files."""
    with pytest.raises(DataError, match=r"REPRO_DATA .* tiny/train\.txt"):
        load_corpus(text_corpus(), None)


def test_a_missing_file(folder):
    """A missing file is named with its full path, and what to set."""
    path = folder / "tiny" / "valid.txt"
    path.unlink()
    with pytest.raises(DataError) as caught:
        load_corpus(text_corpus(), folder)
    assert str(path) in str(caught.value)
    assert "REPRO_DATA" in str(caught.value)


def test_another_file(folder):
    """A file with other bytes is refused with both digests."""
    (folder / "tiny" / "test.txt").write_text("a f")
    with pytest.raises(DataError) as caught:
        load_corpus(text_corpus(), folder)
    message = str(caught.value)
    assert str(folder / "tiny" / "test.txt") in message
    assert text_corpus().sha256.test in message
    assert hashlib.sha256(b"a f").hexdigest() in message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary": 7}, "6 distinct words, and the corpus specification states 7"),
        (
            {"tokens": {"train": 7, "valid": 4, "test": 3}},
            "3 tokens, and the corpus specification states 4",
        ),
    ],
)
def test_stated_counts_are_checked(folder, changes, message):
    """Counts that a plan relied on must be those of the files."""
    with pytest.raises(DataError, match=message):
        load_corpus(text_corpus(**changes), folder)


def test_characters_are_numbered_by_first_appearance(folder):
    """Each character of the files is a token, blanks and the ends of lines too, and no other."""
    spec = text_corpus(unit="characters", vocabulary=7, tokens={"train": 9, "valid": 4, "test": 3})
    corpus = load_corpus(spec, folder)
    assert corpus.words == ("a", " ", "b", "\n", "c", "d", "e")
    for split, text in TEXTS.items():
        numbers = getattr(corpus, split).tolist()
        assert "".join(corpus.words[number] for number in numbers) == text
    assert spec.label == "tiny, 7 characters"
    assert text_corpus().label == "tiny, 6 words"


def test_any_character_is_one_token(tmp_path):
    """Characters beyond 16 bits count once; the reference is a plain loop."""
    text = "".join(random.Random(3).choices("aé😀漢\t\n", k=500))
    (tmp_path / "wide").mkdir()
    for split in TEXTS:
        (tmp_path / "wide" / f"{split}.txt").write_bytes(text[len(split) :].encode())
    spec = describe(tmp_path / "wide", "characters")
    numbers: dict[str, int] = {}
    expected = [numbers.setdefault(each, len(numbers)) for each in text[5:]]
    corpus = load_corpus(spec, tmp_path)
    assert corpus.train.tolist() == expected
    assert corpus.words == tuple(numbers)


@pytest.mark.parametrize("unit", [None, "characters"])
def test_what_is_described_is_what_is_loaded(folder, unit):
    """The description of a folder is the specification by which it is read."""
    found = describe(folder / "tiny", unit)
    counts = {"vocabulary": 7, "tokens": {"train": 9, "valid": 4, "test": 3}} if unit else {}
    assert found == text_corpus(**counts, **({"unit": unit} if unit else {}))
    assert load_corpus(found, folder).vocabulary == found.vocabulary


def test_a_corpus_without_digests_is_not_read(folder):
    """Whatever lies in its place would be trained on; the message says what prints them."""
    blank = text_corpus().model_copy(update={"sha256": None})
    with pytest.raises(DataError, match=r"does not say which files it is\n.*\n.*`repro corpus`"):
        load_corpus(blank, folder)


def test_options_of_a_text_that_are_absent_are_not_in_the_identity():
    """Without a unit the document is that of a version that knew words only."""
    document = text_corpus().model_dump(mode="json", exclude_none=True)
    assert sorted(document) == ["kind", "name", "sha256", "tokens", "vocabulary"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there is nothing in it"),
        (b"ab\xff", "no text in UTF-8: invalid start byte at byte 2"),
    ],
)
def test_what_cannot_be_described(folder, content, message):
    """An empty file and one that is no text are named."""
    path = folder / "tiny" / "valid.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        describe(folder / "tiny")
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_missing_from_what_is_described(folder):
    """The folder is the one that was given; $REPRO_DATA has no part in it."""
    (folder / "tiny" / "test.txt").unlink()
    with pytest.raises(DataError, match="expected: a folder that holds") as caught:
        describe(folder / "tiny")
    assert str(caught.value).startswith(f"cannot read {folder / 'tiny' / 'test.txt'}: No such file")
    assert "REPRO_DATA" not in str(caught.value)


def test_a_folder_whose_name_no_corpus_can_have(folder):
    """A corpus is called like its folder, in a path and in a page."""
    with pytest.raises(DataError, match="a corpus cannot be called 'My text'"):
        describe((folder / "tiny").rename(folder / "My text"))


def test_a_synthetic_corpus_needs_no_folder():
    """A synthetic corpus has the stated sizes and words of equal length."""
    corpus = load_corpus(small.corpus(), None)
    assert [len(corpus.split(name)) for name in ("train", "valid", "test")] == [600, 120, 150]
    assert corpus.words[:2] == ("w00", "w01")
    assert int(corpus.train.max()) < corpus.vocabulary == 30


def test_batchify_cuts_into_columns():
    """Column b holds the b-th part of the text; what does not fill the columns is dropped."""
    expected = torch.tensor([[0, 3], [1, 4], [2, 5]])
    assert torch.equal(batchify(torch.arange(7), 2), expected)


def test_batchify_refuses_a_text_without_predictions():
    """Columns of one word predict nothing."""
    with pytest.raises(DataError, match="4 tokens in 3 parallel streams leave 1 a stream"):
        batchify(torch.arange(4), 3)


@pytest.mark.data
@pytest.mark.parametrize("name", KNOWN)
def test_the_papers_corpora(name, data_dir):
    """PTB and WikiText-2 have the digests, token counts and vocabularies of the papers."""
    spec = TextCorpus.model_validate_json(json.dumps({"kind": "text", "name": name, **KNOWN[name]}))
    corpus = load_corpus(spec, data_dir)
    assert corpus.vocabulary == spec.vocabulary
    assert {"<eos>", "<unk>"} <= set(corpus.words)


@pytest.mark.parametrize("kind", ["pipe", "device", "huge", "folder"])
def test_what_is_no_text_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    """A pipe hangs, /dev/zero never ends and a sparse file fills the memory: none is read."""
    path = tmp_path / "train.txt"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "huge":
            with path.open("wb") as stream:
                stream.truncate(LARGEST + 1)
        case _:
            path.mkdir()
    with pytest.raises(DataError, match=r"train\.txt"):
        describe(tmp_path)
    with pytest.raises(DataError, match=r"train\.txt"):
        bytes_of(path)
