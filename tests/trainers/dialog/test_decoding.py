"""Beam search against searches that are too slow to be used."""

from itertools import product

import pytest
import torch

from repro.trainers.dialog.corpus import batch_of, packed
from repro.trainers.dialog.model import Response, respond
from repro.trainers.dialog.spec import Beam
from tests.trainers import small
from tests.trainers.dialog import tiny

START, END = tiny.BEGIN, tiny.END
WORDS = range(tiny.V)
SPLIT = tiny.random_split()
OUTPUTS = {"softmax": small.SOFTMAX, "moc": small.MOC, "mos": small.MOS}


def encoded(model, number=4):
    with torch.no_grad():
        return model.encode(batch_of(SPLIT, [SPLIT.examples[number]]))


@torch.no_grad()
def scored(model, begin, words):
    """Log-probability of each of some predicted words, by teacher forcing."""
    inputs = packed([torch.tensor([START, *words[:-1]])])
    log_p = model.output.log_probabilities(model.write(inputs, begin)[0]).squeeze(0)
    return log_p[range(len(words)), list(words)]


def response(model, begin, predicted):
    complete = predicted[-1] == END
    words = predicted[:-1] if complete else predicted
    return Response(tuple(words), scored(model, begin, predicted).sum().item(), complete)


def assert_same(ours, theirs):
    assert [(r.words, r.complete) for r in ours] == [(r.words, r.complete) for r in theirs]
    assert [r.score for r in ours] == pytest.approx([r.score for r in theirs], rel=1e-10)


def slow_beam(model, begin, beam):
    """The same rule, hypothesis by hypothesis, each read again from its beginning."""
    live: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    found: list[tuple[int, ...]] = []
    for _ in range(beam.longest):
        grown = [
            ((*words, word), response(model, begin, (*words, word)).score)
            for words, _ in live
            for word in WORDS
        ]
        grown = sorted(grown, key=lambda pair: -pair[1])[: beam.size - len(found)]
        found += [words for words, _ in grown if words[-1] == END]
        live = [(words, score) for words, score in grown if words[-1] != END]
    results = [response(model, begin, words) for words in [*found, *(words for words, _ in live)]]
    return sorted(results, key=lambda result: -result.score)[: beam.kept]


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_beam_that_holds_everything_finds_the_best_of_all(name):
    """With as many hypotheses as there are sequences of 3 words the search is exhaustive."""
    model = tiny.built(OUTPUTS[name])
    begin = encoded(model)
    everything = {
        words[: words.index(END) + 1] if END in words else words
        for words in product(WORDS, repeat=3)
    }
    best = sorted(
        (response(model, begin, words) for words in everything), key=lambda one: -one.score
    )
    beam = Beam(size=tiny.V**3, longest=3, kept=5)
    assert_same(respond(model, begin, beam, start=START, end=END), best[:5])


@pytest.mark.parametrize("number", [1, 4, 9])
def test_a_narrow_beam_is_the_one_that_the_rule_describes(number):
    """An implementation without batches finds the same responses with the same scores."""
    model, beam = tiny.built(small.MOS), Beam(size=4, longest=5, kept=3)
    begin = encoded(model, number)
    found = respond(model, begin, beam, start=START, end=END)
    assert_same(found, slow_beam(model, begin, beam))
    assert [r.score for r in found] == sorted((r.score for r in found), reverse=True)


def test_a_beam_of_one_is_greedy():
    """Each word is the most probable one after those before it."""
    model = tiny.built()
    begin = encoded(model)
    words: list[int] = []
    while len(words) < 6 and END not in words:
        words.append(max(WORDS, key=lambda word: scored(model, begin, [*words, word])[-1].item()))
    found = respond(model, begin, Beam(size=1, longest=6, kept=5), start=START, end=END)
    assert_same(found, [response(model, begin, tuple(words))])


def test_a_wider_beam_is_better_here():
    """The greedy response is not the best one, so that the search has something to find."""
    model = tiny.built()
    begin = encoded(model)
    greedy, wide = (
        respond(model, begin, Beam(size=size, longest=6, kept=1), start=START, end=END)[0]
        for size in (1, 50)
    )
    assert wide.score > greedy.score + 0.1


def test_scores_are_the_sums_of_teacher_forcing():
    """The score of each response is that of reading it, </s> included where it has one."""
    model = tiny.built(small.MOS)
    with torch.no_grad():
        model.output.bias[END] = 0.6
    begin = encoded(model)
    found = respond(model, begin, Beam(size=10, longest=4, kept=10), start=START, end=END)
    assert {result.complete for result in found} == {True, False}
    for result in found:
        predicted = [*result.words, END] if result.complete else result.words
        assert result.score == pytest.approx(scored(model, begin, predicted).sum().item())
        assert len(predicted) == 4 or (result.complete and len(predicted) < 4)


def test_no_response_is_longer_than_allowed_and_no_more_are_kept():
    """A model that never ends gives responses of the maximal length, incomplete."""
    model = tiny.built()
    with torch.no_grad():
        model.output.bias[END] = -1e4
    found = respond(model, encoded(model), Beam(size=4, longest=7, kept=2), start=START, end=END)
    assert [(len(result.words), result.complete) for result in found] == [(7, False)] * 2


def test_an_empty_response_is_a_response():
    """A model that ends at once gives no words, with the probability of </s>."""
    model = tiny.built()
    with torch.no_grad():
        model.output.bias[END] = 1e4
    found = respond(model, encoded(model), Beam(size=1), start=START, end=END)
    assert_same(found, [Response((), 0.0, complete=True)])
