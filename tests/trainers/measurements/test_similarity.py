"""Word similarity of a language model: the kernel's numbers, of the embeddings that it reads."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from pydantic import ValidationError

from repro.errors import DataError
from repro.running.engine import RunOptions
from repro.running.grouping import Task
from repro.running.preflight import lacking
from repro.running.worker import run_task
from repro.similarity import benchmarks
from repro.similarity.benchmarks import BENCHMARKS, Known, known_benchmark
from repro.similarity.embeddings import word_correlation
from repro.store.run_store import RunStore
from repro.trainers.dialog.spec import DialogTrainingSpec
from repro.trainers.language_model.corpus import CorpusData, describe, load_corpus
from repro.trainers.language_model.evaluation import OnText
from repro.trainers.language_model.measurements.similarity import SimilarityDetails, WordSimilarity
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.spec import TextCorpus, TrainingSpec
from repro.trainers.run import PlannedRun, RunSpec
from tests.running.tiny import tiny_run
from tests.trainers import small

CPU = torch.device("cpu")
TEXT = "the cat saw a Tiger , and the tiger saw the lion and a car on the train\n"
PAIRS = "cat tiger 9\nCat car 1\nTiger lion 8.5\ntiger train 2\nlion unicorn 7\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a corpus, and a benchmark of four covered pairs in the place of RG-65."""
    (tmp_path / "zoo").mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / "zoo" / f"{split}.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "wordsim").mkdir()
    known = dict(BENCHMARKS)
    for name, each in BENCHMARKS.items():
        (tmp_path / "wordsim" / each.file).write_text(PAIRS, encoding="utf-8")
        digest = hashlib.sha256(PAIRS.encode()).hexdigest()
        known[name] = Known(each.label, each.file, digest)
    monkeypatch.setattr(benchmarks, "BENCHMARKS", known)
    return tmp_path


def subject_of(data: Path, **changes: Any) -> OnText:
    """A model on the corpus, its weights drawn."""
    corpus = load_corpus(describe(data / "zoo"), data)
    model = LanguageModel(small.model(**changes), corpus.vocabulary, torch.float32)
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(generator=generator)
    return OnText(None, model, (), 0, corpus, CPU)


def test_the_names_are_those_of_the_benchmarks() -> None:
    field = WordSimilarity.model_fields["benchmark"].annotation
    assert get_args(field) == ("mean", *BENCHMARKS)


@pytest.mark.parametrize("decoder", [None, "free"])
def test_it_is_of_the_matrix_that_the_model_reads(decoder: str | None, data: Path) -> None:
    """The decoder's where it is tied, else the embedding's own; words are those of the corpus."""
    subject = subject_of(data, **({"decoder": decoder} if decoder else {}))
    matrix = subject.model.output.weight if decoder is None else subject.model.embedding.weight
    vectors = dict(zip(subject.corpus.words, matrix.detach().double().numpy(), strict=True))
    expected = word_correlation(known_benchmark("rg_65", data), vectors)
    found = WordSimilarity(benchmark="rg_65").measure(subject)
    assert (found.value, found.details) == (expected.correlation, {"pairs": 5, "covered": 4})


def test_the_mean_is_over_all_benchmarks(data: Path) -> None:
    subject = subject_of(data)
    alone = WordSimilarity(benchmark="men").measure(subject)
    found = WordSimilarity(benchmark="mean").measure(subject)
    assert found.value == pytest.approx(alone.value)
    assert (found.details["pairs"], found.details["covered"]) == (65, 52)
    assert list(found.details["benchmarks"]) == list(BENCHMARKS)
    assert found.details["benchmarks"]["men"]["correlation"] == alone.value


def test_too_few_covered_pairs_are_told(data: Path) -> None:
    subject = subject_of(data)
    words = tuple(word if word != "lion" else "puma" for word in subject.corpus.words)
    words = tuple(word if word != "train" else "bus" for word in words)
    nothing = torch.zeros(0)
    fewer = OnText(
        None, subject.model, (), 0, CorpusData(nothing, nothing, nothing, words, data), CPU
    )
    with pytest.raises(DataError, match="2 of the 5 pairs of MEN are of words that the model"):
        WordSimilarity(benchmark="men").measure(fewer)


def on(corpus: Any) -> TrainingSpec:
    return TrainingSpec(model=small.model(), corpus=corpus, recipe=small.recipe())


def test_only_a_text_of_words_has_it(data: Path) -> None:
    """Neither a synthetic language nor characters have the words of the benchmarks."""
    spec, text = WordSimilarity(benchmark="men"), describe(data / "zoo")
    assert isinstance(text, TextCorpus)
    assert list(spec.unsuited(on(text), "it")) == []
    characters = on(describe(data / "zoo", "characters"))
    for training in (on(small.corpus()), characters):
        ((key, (mistake, *_)),) = spec.unsuited(training, "the arm mos")
        assert key == "kind"
        assert mistake.startswith("the arm mos reads ")
        assert mistake.endswith(": the benchmarks are of English words")


def test_dialogs_have_none() -> None:
    assert DialogTrainingSpec.built_in not in WordSimilarity.trainers


def test_missing_files_are_told_before_training(tmp_path: Path) -> None:
    """One line for however many runs, and the measurement's, not the corpus's."""
    run = tiny_run()
    planned = [
        PlannedRun(
            run=run.model_copy(update={"replicate": replicate}),
            measurements=(WordSimilarity(benchmark="men"),),
        )
        for replicate in range(3)
    ]
    (line,) = lacking(planned, RunOptions(RunStore(tmp_path / "store")))
    assert line == (
        "needs the pairs of MEN: set REPRO_DATA to the folder that has wordsim/EN-MEN-TR-3k.txt"
    )
    (line,) = lacking(planned, RunOptions(RunStore(tmp_path / "store"), data=tmp_path))
    assert "EN-MEN-TR-3k.txt: cannot be read: No such file or directory" in line


def test_a_run_is_trained_and_measured_with_its_data(data: Path, tmp_path: Path) -> None:
    """A worker finds the pairs where the corpus is; a run that is stored is not trained again."""
    recipe = small.recipe(batch_size=1, valid_batch_size=1, epochs=1)
    training = TrainingSpec(model=small.model(), corpus=describe(data / "zoo"), recipe=recipe)
    planned = PlannedRun(
        run=RunSpec(training=training, replicate=0), measurements=(WordSimilarity(benchmark="men"),)
    )
    store = RunStore(tmp_path / "store")
    (outcome,) = run_task(Task((planned,), store.root, data, "cpu"))
    assert outcome.status == "trained", outcome
    stored = store.measurement(planned.run.key, planned.measurements[0])
    assert stored is not None
    assert stored.value is not None
    assert -1 <= stored.value <= 1
    assert stored.details == {"pairs": 5, "covered": 4}


def test_labels_and_keys() -> None:
    assert WordSimilarity(benchmark="ws_353_sim").label == "word similarity, WS-353-SIM"
    assert WordSimilarity(benchmark="mean").label == "word similarity, mean of 13 benchmarks"
    keys = {WordSimilarity(benchmark=name).key for name in ("mean", *BENCHMARKS)}  # type: ignore[arg-type]
    assert len(keys) == 14


def test_details_that_contradict_each_other() -> None:
    with pytest.raises(ValidationError, match="covered: 6 of 5 pairs"):
        SimilarityDetails(pairs=5, covered=6)
    assert SimilarityDetails(pairs=5, covered=4).contradiction(1.5) == "a correlation of 1.5"
    assert SimilarityDetails(pairs=5, covered=4).contradiction(-0.2) == ""
