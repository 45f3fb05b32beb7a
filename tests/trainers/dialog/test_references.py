"""BLEU against several references, and by NLTK."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import statistics
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from repro.errors import DataError
from repro.trainers.dialog.bleu import Bleu, bleu, score_by_nltk
from repro.trainers.dialog.corpus import DialogData, read_references
from repro.trainers.dialog.spec import Smoothing
from tests.trainers.dialog import tiny

WORDS = ("<pad>", "<unk>", "<s>", "</s>", "<d>", "yes", "no", "i", "think", "so", ".")
SPLIT = tiny.random_split(3)
RESPONSES = len(SPLIT.examples)
CORPUS = SimpleNamespace(name="talk", longest=5)


def written(folder: Path, *lines: object) -> str:
    """Lines of a file of references for the test split; gives its SHA-256."""
    (folder / "talk").mkdir(exist_ok=True)
    content = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    (folder / "talk" / "test.references.jsonl").write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def read(folder: Path, sha256: str) -> list[list[tuple[int, ...]]]:
    dialogs = DialogData(SPLIT, SPLIT, SPLIT, WORDS, folder)
    return read_references(CORPUS, "test", sha256, dialogs)  # type: ignore[arg-type]


def test_texts_become_words_as_those_of_the_corpus(tmp_path: Path) -> None:
    """In lower case, cut, unknown words as one; a response may have no further reference."""
    rest: list[list[str]] = [[]] * (RESPONSES - 2)
    sha256 = written(tmp_path, ["Yes, yes.", "I think so. No!"], ["no"], *rest)
    found = read(tmp_path, sha256)
    assert len(found) == RESPONSES
    assert found[0] == [(5, 1, 5), (7, 8, 9)]  # five tokens with both marks
    assert found[1:3] == [[(6,)], []]


@pytest.mark.parametrize("line", ["yes", [1], {"a": "b"}])
def test_a_line_of_another_form_is_told(line: object, tmp_path: Path) -> None:
    sha256 = written(tmp_path, ["yes"], line, *[[]] * (RESPONSES - 2))
    with pytest.raises(DataError, match=r"test\.references\.jsonl:2:1: no list of texts"):
        read(tmp_path, sha256)


def test_another_file_and_too_few_lines_are_told(tmp_path: Path) -> None:
    sha256 = written(tmp_path, ["yes"])
    with pytest.raises(DataError, match="1 lines, one per response"):
        read(tmp_path, sha256)
    with pytest.raises(DataError, match="is not the file that the corpus names"):
        read(tmp_path, "0" * 64)


def subject(folder: Path, answers: list[list[list[int]]], said: list[tuple[int, ...]]) -> Any:
    """A model whose answers are given."""
    found = [
        ([SimpleNamespace(words=tuple(words), complete=True) for words in each], reference)
        for each, reference in zip(answers, said, strict=True)
    ]
    split = SimpleNamespace(examples=[None] * len(answers))
    return SimpleNamespace(
        answered=lambda *_: found,
        run=SimpleNamespace(training=SimpleNamespace(corpus=CORPUS)),
        corpus=DialogData(split, split, split, WORDS, folder),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("side", ["precision", "recall"])
def test_each_answer_has_its_best_reference_and_each_reference_its_best_answer(
    side: Literal["precision", "recall"], tmp_path: Path
) -> None:
    """By the definition of Zhao et al. 2017; precision may then be above recall."""
    answers = [[[5, 10], [6, 6]], [[7, 8, 9]]]
    said = [(5, 10), (6,)]
    sha256 = written(tmp_path, ["i think so", "no ."], ["i think so ."])
    spec = Bleu(order=1, side=side, smoothing="none", references=sha256)
    found = spec.measure(subject(tmp_path, answers, said))
    references = [[(5, 10), (7, 8, 9), (6, 10)], [(6,), (7, 8, 9)]]

    def one(i: int) -> float:
        table = [[bleu(a, [r], 1, "none") for r in references[i]] for a in answers[i]]
        sides = table if side == "precision" else list(zip(*table, strict=True))
        return statistics.fmean(map(max, sides))

    assert found.value == pytest.approx(statistics.fmean([one(0), one(1)]), rel=1e-15)
    assert found.details["precision"] > found.details["recall"]
    alone = spec.model_copy(update={"references": None})
    one_reference = alone.measure(subject(tmp_path, answers, said)).details
    assert one_reference["precision"] < one_reference["recall"]
    assert alone.key != spec.key


def test_labels() -> None:
    spec = Bleu(order=2, side="recall", smoothing="add_one", references="a" * 64, library="nltk")
    assert spec.label == "test BLEU-2 recall, several references, by NLTK"


def test_missing_references_are_told_before_training(tmp_path: Path) -> None:
    training = SimpleNamespace(corpus=CORPUS)
    sha256 = written(tmp_path, ["yes"])
    spec = Bleu(order=1, side="recall", smoothing="none", references=sha256)
    assert spec.lacking(training, tmp_path) == ""
    assert spec.lacking(training, None) == ""
    (tmp_path / "talk" / "test.references.jsonl").unlink()
    told = spec.lacking(training, tmp_path)
    assert told.startswith("the references of test BLEU-1 recall, several references: ")
    assert "cannot be read (No such file or directory)" in told


def test_without_nltk_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before training, and where it is measured all the same."""
    monkeypatch.setattr("repro.trainers.dialog.bleu.find_spec", lambda _: None)
    spec = Bleu(order=1, side="recall", smoothing="none", library="nltk")
    assert spec.lacking(None, None) == "the package nltk: pip install 'repro-verdict[nltk]'"
    monkeypatch.setitem(sys.modules, "nltk", None)
    monkeypatch.delitem(sys.modules, "nltk.translate.bleu_score", raising=False)
    with pytest.raises(DataError, match=r"to do: pip install 'repro-verdict\[nltk\]'"):
        score_by_nltk(1, "none")


def pairs(seed: int, count: int) -> list[tuple[list[int], list[int]]]:
    """Answers of 1 to 8 words, and references."""
    draw = random.Random(seed)
    return [
        tuple([draw.randrange(6) for _ in range(draw.randrange(1, 9))] for _ in range(2))  # type: ignore[misc]
        for _ in range(count)
    ]


@pytest.mark.parametrize("smoothing", ["none", "add_one"])
def test_nltk_has_the_same_numbers(smoothing: Smoothing) -> None:
    """Of every order; where NLTK is installed."""
    pytest.importorskip("nltk", reason="no NLTK: pip install 'repro-verdict[nltk]'")
    for order, (answer, meant) in itertools.product((1, 2, 3, 4), pairs(1, 300)):
        found = score_by_nltk(order, smoothing)(answer, meant)
        assert found == pytest.approx(bleu(answer, [meant], order, smoothing), abs=1e-12)
    assert score_by_nltk(2, smoothing)([], [1]) == 0


def test_nltks_smoothing_7_is_another() -> None:
    """It fills zeros otherwise, and gives an answer without a common word nothing."""
    pytest.importorskip("nltk", reason="no NLTK: pip install 'repro-verdict[nltk]'")
    score = score_by_nltk(1, "chen_cherry_7")
    assert score([4], [2]) == 0
    assert bleu([4], [[2]], 1, "chen_cherry_7") == pytest.approx(1 / 3)
