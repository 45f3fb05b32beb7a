"""Lines of JSON -> tokens of utterances."""

import json
from pathlib import Path

import pytest

from repro.errors import DataError
from repro.trainers.dialog.corpus import cut, dialogs_of, tokens_of

GOOD = {"dialog": "1", "utterances": [["A", "Uh-huh.", "b"], ["B", "I'd say so", "sd"]]}


def lines(*documents, end="\n"):
    return "\n".join(json.dumps(document) for document in documents).encode() + end.encode()


def read(content):
    return list(dialogs_of(content, Path("swda/train.jsonl")))


def test_tokens_are_those_of_the_published_example():
    """NLTK documents its WordPunct tokeniser by this text and these tokens."""
    text = "Good muffins cost $3.88\nin New York.  Please buy me\ntwo of them.\n\nThanks."
    tokens = "good muffins cost $ 3 . 88 in new york . please buy me two of them . thanks ."
    assert tokens_of(text) == tokens.split()


def test_marks_cannot_be_said():
    """Text that looks like a mark becomes several tokens, none of which is one."""
    tokens = tokens_of("<s> </s> <d> <unk> <pad>")
    assert " ".join(tokens) == "< s > </ s > < d > < unk > < pad >"


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_dialog_opens_with_an_utterance_of_its_own(end):
    """Each line is a dialog; what follows the last line's end is none."""
    dialog = [
        ["<s>", "<d>", "</s>"],
        ["<s>", "uh", "-", "huh", ".", "</s>"],
        ["<s>", "i", "'", "d", "say", "so", "</s>"],
    ]
    assert read(lines(GOOD, GOOD, end=end)) == [dialog, dialog]


def test_only_line_feeds_end_a_line():
    """A line separator inside a text is a blank of that text."""
    document = {**GOOD, "utterances": [["A", "a\u2028b\x0bc", "x"]]}
    content = json.dumps(document, ensure_ascii=False).encode()
    assert read(content)[0][1] == ["<s>", "a", "b", "c", "</s>"]


@pytest.mark.parametrize(
    ("longest", "expected"), [(9, "<s> a b c </s>"), (5, "<s> a b c </s>"), (4, "<s> a b </s>")]
)
def test_a_cut_utterance_keeps_its_end(longest, expected):
    """An utterance of more tokens keeps the first ones and </s>, and one that fits all."""
    assert " ".join(cut(["<s>", "a", "b", "c", "</s>"], longest)) == expected


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"utterances": [["A", "\xff", "x"]]}', "not JSON"),
        (b'{"utterances": ' + b"1" * 5000 + b"}", "not JSON"),
        (b"[" * 100_000, "lists in lists"),
        (b"[]", "no list of utterances"),
        (b"null", "no list of utterances"),
        (b"{}", "no list of utterances"),
        (b'{"utterances": {"a": 1}}', "no list of utterances"),
        (b'{"utterances": ["text"]}', "utterance 1 is not three texts"),
        (b'{"utterances": [["A", "b", "c"], ["A", "b"]]}', "utterance 2 is not three texts"),
        (b'{"utterances": [["A", null, "c"]]}', "utterance 1 is not three texts"),
    ],
)
def test_a_line_that_is_no_dialog_is_named(line, what):
    """The message has file and line, what is wrong, what was expected and what to do."""
    with pytest.raises(DataError) as caught:
        read(lines(GOOD) + line + b"\n" + lines(GOOD))
    message = str(caught.value)
    assert message.startswith("swda/train.jsonl:2: ")
    assert what in message
    assert "\n  expected: a line {" in message
    assert "\n  to do: " in message
