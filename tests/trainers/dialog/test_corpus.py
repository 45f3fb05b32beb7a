"""Dialogs in memory."""

import hashlib
import json

import pytest

from repro.errors import DataError
from repro.trainers.dialog.corpus import Example, describe_dialogs, load_dialogs
from repro.trainers.dialog.spec import DialogCorpus

TEXTS = {"train": [["b a", "a", "c b", "a"], ["b"]], "valid": [["a z b"]], "test": [["c", "a a"]]}
SWDA = {
    "name": "swda",
    "vocabulary": 10_002,
    "sha256": {
        "train": "2b7e45a2f1ae006920116a510a7481c38cc3f6b1c9488d5f17cd4512e0484e13",
        "valid": "30f0bc80d831c653818934c9c39dd77c5bbe5b55aa475718f3133b24b39ead84",
        "test": "ea96d378cec5620d97c1d0beee3775af73b42b8f3a724f5c4925ffe1a73932bd",
    },
}
COUNTS = {
    None: {
        "responses": {"train": 192_390, "valid": 3_272, "test": 4_078},
        "tokens": {"train": 2_069_658, "valid": 36_608, "test": 42_777},
    },
    "unused": {
        "responses": {"train": 192_390 - 1_115, "valid": 3_272 - 21, "test": 4_078 - 19},
        "tokens": {"train": 2_059_243, "valid": 36_369, "test": 42_677},
    },
}


def content(dialogs):
    return "".join(
        json.dumps({"dialog": "1", "utterances": [["A", text, "x"] for text in texts]}) + "\n"
        for texts in dialogs
    ).encode()


def spec(**changes):
    values = {
        "name": "tiny",
        "vocabulary": 8,
        "responses": {"train": 5, "valid": 1, "test": 2},
        "tokens": {"train": 12, "valid": 4, "test": 5},
        "sha256": {k: hashlib.sha256(content(v)).hexdigest() for k, v in TEXTS.items()},
        **changes,
    }
    return DialogCorpus.model_validate_json(json.dumps({"kind": "dialog", **values}))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tiny").mkdir()
    for name, dialogs in TEXTS.items():
        (tmp_path / "tiny" / f"{name}.jsonl").write_bytes(content(dialogs))
    return tmp_path


def test_words_are_numbered_by_frequency(folder):
    """The marks count as words; of equally frequent ones the first to appear comes first."""
    words = load_dialogs(spec(), folder).words
    # <s> and </s> 7 times each, a and b 3 times each, <d> twice, c once
    assert words == ("<pad>", "<unk>", "<s>", "</s>", "b", "a", "<d>", "c")


def test_rare_words_are_unknown(folder):
    """A word outside the most frequent ones of train has the number of <unk>."""
    data = load_dialogs(spec(vocabulary=7), folder)
    assert data.vocabulary == 7
    assert "c" not in data.words
    assert data.valid.utterance(1).tolist() == [2, 5, 1, 4, 3]
    assert data.test.utterance(1).tolist() == [2, 1, 3]


def test_each_response_has_the_utterances_before_it(folder):
    """The context begins with the dialog at the earliest, and has so many utterances at most."""
    train = load_dialogs(spec(context=2), folder).split("train")
    assert train.examples == (
        Example(0, 1),
        Example(0, 2),
        Example(1, 3),
        Example(2, 4),
        Example(5, 6),
    )
    assert train.utterance(5).tolist() == [2, 6, 3]
    assert train.utterance(3).tolist() == [2, 7, 4, 3]
    assert train.predicted == 12


def test_the_last_utterance_of_a_dialog_can_be_left_unused(folder):
    """As in the code of Zhao et al. 2017: one response fewer a dialog."""
    texts = {"train": TEXTS["train"], "valid": [["a z b", "a"]], "test": TEXTS["test"]}
    (folder / "tiny" / "valid.jsonl").write_bytes(content(texts["valid"]))
    data = load_dialogs(
        spec(
            last="unused",
            responses={"train": 3, "valid": 1, "test": 1},
            tokens={"train": 8, "valid": 4, "test": 2},
            sha256={k: hashlib.sha256(content(v)).hexdigest() for k, v in texts.items()},
        ),
        folder,
    )
    assert [example.response for example in data.train.examples] == [1, 2, 3]


def test_utterances_are_cut_after_words_are_counted(folder):
    """A word that is cut away everywhere still has its number."""
    data = load_dialogs(spec(longest=3, tokens={"train": 10, "valid": 2, "test": 4}), folder)
    assert data.train.utterance(1).tolist() == [2, 4, 3]
    assert data.words[5] == "a"


def test_a_corpus_is_read_once(folder):
    """A second request returns the same object."""
    assert load_dialogs(spec(), folder) is load_dialogs(spec(), folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocabulary": 9}, "8 distinct words, and the corpus specification states 9"),
        (
            {"responses": {"train": 5, "valid": 2, "test": 2}},
            r"valid\.jsonl: 1 responses, and the corpus specification states 2",
        ),
        (
            {"tokens": {"train": 12, "valid": 4, "test": 6}},
            r"test\.jsonl: 5 predicted tokens, and the corpus specification states 6",
        ),
    ],
)
def test_stated_counts_are_checked(folder, changes, message):
    """Counts that a plan relied on must be those of the files."""
    with pytest.raises(DataError, match=message):
        load_dialogs(spec(**changes), folder)


def test_no_data_folder():
    """Without a folder the message names the variable and the files."""
    with pytest.raises(DataError, match=r"REPRO_DATA .* tiny/train\.jsonl"):
        load_dialogs(spec(), None)


def test_another_file_and_a_missing_one(folder):
    """A file with other bytes is refused before it is read, and a missing one is named."""
    path = folder / "tiny" / "test.jsonl"
    path.write_bytes(b"{")
    with pytest.raises(DataError, match="is not the file that the corpus names"):
        load_dialogs(spec(), folder)
    path.unlink()
    with pytest.raises(DataError, match=r"cannot read .*test\.jsonl"):
        load_dialogs(spec(), folder)


@pytest.mark.data
@pytest.mark.parametrize("last", COUNTS)
def test_switchboard(last, data_dir):
    """1,115, 21 and 19 dialogs of 192,390, 3,272 and 4,078 utterances, as their digests say."""
    data = load_dialogs(spec(**SWDA, **COUNTS[last], last=last), data_dir)
    dialogs = [
        sum(
            first == number - 1
            and data.split(name).utterance(first).tolist()[1:2] == [data.words.index("<d>")]
            for first, number in data.split(name).examples
        )
        for name in ("train", "valid", "test")
    ]
    assert dialogs == [1_115, 21, 19]
    longest = max(
        end - begin for begin, end in zip(data.train.bounds, data.train.bounds[1:], strict=False)
    )
    assert longest == 40
    assert max(number - first for first, number in data.train.examples) == 9


def test_a_vocabulary_without_the_marks_is_refused(folder):
    """Every response begins and ends with a mark, so both must be among the words."""
    (folder / "tiny" / "train.jsonl").write_bytes(content([["a a b b c c d d"] * 5]))
    digest = hashlib.sha256((folder / "tiny" / "train.jsonl").read_bytes()).hexdigest()
    digests = {**spec().sha256.model_dump(), "train": digest}
    with pytest.raises(DataError, match=r"<s> and </s> are not among its 6 most frequent words"):
        load_dialogs(spec(vocabulary=6, sha256=digests), folder)


def test_a_description_is_what_is_read(folder):
    """What `repro corpus` prints is accepted when the files are read, and has their counts."""
    found = describe_dialogs(folder / "tiny")
    assert found == spec()
    assert len(load_dialogs(found, folder).words) == 8


@pytest.mark.data
@pytest.mark.parametrize("last", COUNTS)
def test_switchboard_is_described_as_its_configurations_have_it(last, data_dir):
    """With the last utterance of a dialog unused, as in the papers' code, or used."""
    found = describe_dialogs(data_dir / "swda", last_unused=last == "unused")
    assert found == spec(**SWDA, **COUNTS[last], last=last)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("valid", b"", r"valid\.jsonl: there is no response in it"),
        ("test", content([[]]), r"test\.jsonl: there is no response in it"),
        ("train", b"{}\n", r"train\.jsonl:1: no list of utterances"),
        ("train", b'{"utterances": [["A", 5, "x"]]}\n', "utterance 1 is not three texts"),
        ("test", b"\xff\n", r"test\.jsonl:1: not JSON"),
    ],
)
def test_files_without_dialogs_are_not_described(folder, name, text, message):
    """The message names the file, and the line of what is no dialog."""
    (folder / "tiny" / f"{name}.jsonl").write_bytes(text)
    with pytest.raises(DataError, match=message):
        describe_dialogs(folder / "tiny")


def test_a_folder_has_a_name_that_a_corpus_can_have(folder):
    """Its name is that of the corpus."""
    with pytest.raises(DataError, match="a corpus cannot be called 'Tiny'"):
        describe_dialogs((folder / "tiny").rename(folder / "Tiny"))
