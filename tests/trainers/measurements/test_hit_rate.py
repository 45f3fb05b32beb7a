"""How often the true next word is among the k most probable, against numpy on the held matrix."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from scipy.stats import rankdata

from repro.specs.configuration import read_sheet
from repro.trainers.language_model.corpus import CorpusData, load_corpus
from repro.trainers.language_model.evaluation import OnText
from repro.trainers.language_model.measurements import model_hits
from repro.trainers.language_model.measurements.hit_rate import HitRate, HitRateDetails
from repro.trainers.language_model.spec import TrainingSpec
from repro.trainers.measurement import Measured
from tests.trainers import small

CPU = torch.device("cpu")
CORPUS = small.random_corpus(vocabulary=30, tokens=203)

# facts.md 5.1: the word to predict and its place in the test text of Penn Treebank, by context.
CONTEXTS = {
    "YC1": ("the preceding week 's total of N", "tons", 2700),
    "YC2": ("boston san francisco and chicago rarely top $ N", "a", 21300),
    "YC3": ("as the days go by the south", "african", 82040),
    "YC4": ("unusually large bets that a takeover would succeed and", "ual", 478),
    "YC5": ("to life <unk> in the first place for sabotage and", "conspiracy", 82205),
    "YC6": ("since last december but acknowledged that huge government", "subsidies", 63609),
    "O1": ("indiana ohio and michigan <eos> the population of all four", "states", 32603),
    "O2": ("supplemental spending bill <eos> the deficit reduction", "bill", 36509),
    "O3": ("earlier this year because it pulled entirely out of", "stocks", 38890),
    "O4": ("vice president at charles <unk> corp. says schwab", "customers", 46198),
    "O5": ("we 've created a condition where without", "incentives", 54702),
    "O6": ("short-term workers and cause <unk> among permanent", "workers", 57173),
    "R1": ("a small profit for the period <eos> revenue is", "expected", 18782),
    "R2": ("from a negative $ N million as of sept. N thus bringing", "centrust", 28690),
    "R3": ("with american airlines ual inc 's united airlines and", "usair", 48746),
    "R4": ("and <unk> iii are all affiliated and hold a combined", "stake", 65255),
    "R5": ("prime rate <eos> N N N <eos> the base", "rate", 41649),
    "R6": ("have shown that even <unk> who start with few", "skills", 58545),
}


def subject_of(output: str = "mos", corpus: CorpusData = CORPUS) -> OnText:
    model = small.built(small.model(small.OUTPUTS[output]), 30).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(15)
    return OnText(None, model, (), 1, corpus, CPU)


def taken(subject: OnText, **settings: Any) -> Measured:
    return HitRate.model_validate_json(json.dumps(settings)).measure(subject)


def reference(subject: OnText, streams: int) -> tuple[np.ndarray, np.ndarray]:
    """The place of each true word by scipy's ranks, and where it stands in the text."""
    rows = torch.cat(list(subject.log_probabilities("test", streams))).numpy()
    text = subject.corpus.test.numpy()
    length = len(text) // streams
    places = [b * length + t + 1 for t in range(length - 1) for b in range(streams)]
    ranks = np.stack([rankdata(-row, method="ordinal") for row in rows])
    return ranks[np.arange(len(rows)), text[places]] - 1, np.array(places)


@pytest.mark.parametrize("streams", [1, 4])
@pytest.mark.parametrize("k", [1, 5, 29])
def test_every_context_counts_once(k: int, streams: int, monkeypatch) -> None:
    monkeypatch.setattr("repro.trainers.language_model.evaluation.CHUNK_BYTES", 30 * 8 * 17)
    subject = subject_of()
    found, _ = reference(subject, streams)
    measured = taken(subject, k=k, batch_size=streams)
    assert measured.value == np.mean(found < k)
    assert measured.details == {"contexts": len(found), "hits": np.sum(found < k)}
    assert measured.arrays["hits"].tolist() == (found < k).tolist()


@pytest.mark.parametrize("streams", [1, 4])
def test_drawn_contexts_are_some_of_all(streams: int) -> None:
    """The same ones for another model, each once, and with the error of drawing them."""
    subject = subject_of()
    found, _ = reference(subject, streams)
    rows = model_hits.drawn_contexts(len(found), 60, 3)
    assert len(set(rows)) == 60
    assert rows.tolist() == sorted(rows)
    measured = taken(subject, k=5, contexts=60, seed=3, batch_size=streams)
    hits = found[rows] < 5
    assert measured.arrays["hits"].tolist() == hits.tolist()
    assert measured.value == hits.mean()
    error = hits.std(ddof=1) / math.sqrt(60) * math.sqrt(1 - 60 / len(found))
    assert measured.details["standard_error"] == pytest.approx(error, rel=1e-12)
    other = subject_of("softmax")
    there, _ = reference(other, streams)
    again = taken(other, k=5, contexts=60, seed=3, batch_size=streams)
    assert again.arrays["hits"].tolist() == (there[rows] < 5).tolist()


def test_rates_of_drawn_contexts_scatter_by_their_standard_error() -> None:
    """Over 300 seeds: around the rate of all contexts, by one standard error."""
    subject = subject_of()
    rate = taken(subject, k=8).value
    assert 0.1 < rate < 0.9
    draws = [taken(subject, k=8, contexts=100, seed=seed) for seed in range(300)]
    scores = np.array([(draw.value - rate) / draw.details["standard_error"] for draw in draws])
    assert abs(scores.mean()) < 4 / math.sqrt(300)
    assert scores.std() == pytest.approx(1, abs=4 / math.sqrt(600))


def test_drawn_contexts_are_uniform_and_pinned() -> None:
    counts = np.zeros(50)
    for seed in range(2000):
        counts[model_hits.drawn_contexts(50, 10, seed)] += 1
    assert abs(counts - 400).max() < 5 * math.sqrt(400 * 0.8)
    assert model_hits.drawn_contexts(82_429, 5000, 0)[:3].tolist() == PINNED
    assert model_hits.drawn_contexts(7, 7, 1).tolist() == list(range(7))


PINNED = [6, 18, 30]


@pytest.mark.parametrize("streams", [1, 4])
def test_given_places_in_their_order(streams: int) -> None:
    """Each with what was read before it and the most probable words, by numpy."""
    subject = subject_of()
    found, places = reference(subject, streams)
    rows = torch.cat(list(subject.log_probabilities("test", streams))).exp().numpy()
    at = [int(places[7]), int(places[150]), int(places[3])]
    measured = taken(subject, k=3, at=at, batch_size=streams)
    expected = [int(found[n]) for n in (7, 150, 3)]
    assert measured.arrays["hits"].tolist() == [int(place < 3) for place in expected]
    assert measured.value == np.mean(np.array(expected) < 3)
    text, words = subject.corpus.test.tolist(), subject.corpus.words
    length = len(text) // streams
    for fact, n, place in zip(measured.details["at"], (7, 150, 3), expected, strict=True):
        assert fact["at"] == places[n]
        assert fact["word"] == words[text[places[n]]]
        assert fact["place"] == place + 1
        start = max(places[n] // length * length, places[n] - 12)
        assert fact["context"] == " ".join(words[w] for w in text[start : places[n]])
        best = np.argsort(-rows[n], kind="stable")[:3]
        assert [one["word"] for one in fact["top"]] == [words[w] for w in best]
        assert [one["probability"] for one in fact["top"]] == pytest.approx(rows[n][best])


def test_equally_probable_words_come_in_the_order_of_the_vocabulary() -> None:
    rows = torch.tensor([[0.0, 1.0, 1.0, 1.0]]).repeat(4, 1)
    assert model_hits.places_of([rows[:3], rows[3:]], torch.arange(4)).tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "greater than or equal to 1"),
        ({"k": 5, "contexts": 9, "at": [3]}, "drawn, or given by `at`"),
        ({"k": 5, "seed": 3}, "seed changes nothing"),
        ({"k": 5, "at": [3, 3]}, "a place is given twice"),
        ({"k": 5, "at": [0]}, "greater than or equal to 1"),
        ({"k": 5, "at": []}, "at least 1 item"),
    ],
)
def test_settings_without_a_meaning(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        HitRate.model_validate_json(json.dumps(settings))


@pytest.mark.parametrize(
    ("settings", "mistake", "expected"),
    [
        ({"k": 30}, "k is 30, and arm a has a vocabulary of 30", "less than 30"),
        ({"k": 5, "contexts": 150}, "contexts is 150, and the test split of arm a has 149",
         "at most 149"),
        ({"k": 5, "at": (7, 150)}, "at has 150, and arm a predicts no such word",
         "places from 1 to 149"),
        ({"k": 5, "at": (37,), "batch_size": 4}, "at has 37, and arm a predicts no such word",
         "places from 1 to 147, but for the first word of each stream, every 37"),
        ({"k": 5, "at": (149,), "batch_size": 4}, "at has 149,", "places from 1 to 147, but"),
        ({"k": 5, "at": (149,), "contexts": None}, "", ""),
        ({"k": 29, "contexts": 149}, "", ""),
    ],
)  # fmt: skip
def test_what_a_text_has_not_is_refused(settings, mistake: str, expected: str) -> None:
    """A text of 150 words in the vocabulary of 30."""
    found = list(HitRate(**settings).unsuited(small.run().training, "arm a"))
    assert [words[0].startswith(mistake) for _, words in found] == [True] * bool(mistake)
    assert [words[1].startswith(expected) for _, words in found] == [True] * bool(mistake)


def test_labels_details_and_keys() -> None:
    every, drawn = HitRate(k=5), HitRate(k=5, contexts=5000, split="valid")
    assert every.label == "test top-5 hit rate"
    assert drawn.label == "validation top-5 hit rate (5,000 contexts)"
    assert HitRate(k=5, at=(2700, 478)).label == "test top-5 hit rate (2 given contexts)"
    assert len({every.key, drawn.key, HitRate(k=6).key, HitRate(k=5, at=(478,)).key}) == 4
    assert every.same_elsewhere(HitRate(k=5, split="valid"))
    assert not every.same_elsewhere(HitRate(k=6, split="valid"))
    assert not every.same_elsewhere(HitRate(k=5, split="train"))
    details = HitRateDetails(contexts=8, hits=6)
    assert details.contradiction(0.75) == ""
    assert details.contradiction(0.5) == "a hit rate of 0.5 with 6 hits in 8 contexts"


def test_the_page_lists_the_places_of_the_papers_contexts() -> None:
    """docs/reference/measurements.md, six by six."""
    page = (Path(__file__).parents[3] / "docs/reference/measurements.md").read_text("utf-8")
    places = [at for *_, at in CONTEXTS.values()]
    for six in (places[:6], places[6:12], places[12:]):
        assert f"| `{six}` |" in page


PTB = Path(os.environ.get("REPRO_DATA", "/nowhere")) / "ptb" / "test.txt"


@pytest.mark.skipif(not PTB.is_file(), reason="no Penn Treebank in REPRO_DATA")
def test_the_eighteen_contexts_of_the_papers_stand_where_we_say() -> None:
    """In the test text with its <eos>: the context before each place, and the word at it."""
    sheet = read_sheet(Path(__file__).parents[3] / "claims/configurations/bench/mos.yaml")
    assert sheet.configuration is not None
    training = sheet.configuration.training()
    assert isinstance(training, TrainingSpec)
    corpus = load_corpus(training.corpus, PTB.parents[1])
    for context, word, at in CONTEXTS.values():
        *read, there = (corpus.words[n] for n in corpus.test[at - 12 : at + 1].tolist())
        assert there == word
        assert " ".join(read).endswith(context) or context.endswith(" ".join(read))
    every = HitRate(k=5, at=tuple(at for *_, at in CONTEXTS.values()))
    assert list(every.unsuited(training, "bench")) == []
