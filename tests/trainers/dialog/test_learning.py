"""A model learns what can only be known from the context."""

import math

import numpy as np
import pytest
import torch

from repro.trainers.dialog.corpus import batch_of, shuffled
from repro.trainers.dialog.model import respond
from repro.trainers.dialog.spec import Beam
from repro.trainers.dialog.training import AdamOptimiser, mean_loss
from repro.trainers.language_model.randomness import Streams
from tests.trainers import small
from tests.trainers.dialog import tiny

FIRST = tiny.OPENING + 1
KINDS = tiny.V - FIRST


def dialogs(count, seed):
    """What is answered is the first word of what was said; only the answer is a response."""
    generator = np.random.default_rng(seed)
    said = [
        generator.integers(FIRST, tiny.V, generator.integers(2, 5)).tolist() for _ in range(count)
    ]
    whole = tiny.split([[words, words[:1]] for words in said])
    answers = [example for example in whole.examples if example.response % 3 == 2]
    return type(whole)(whole.tokens, whole.bounds, tuple(answers))


@pytest.mark.parametrize("output", [small.SOFTMAX, small.MOC, small.MOS])
def test_the_first_word_of_the_context_is_answered(output):
    """Far better than knowing how often words occur, and than knowing that one word is said."""
    sizes = {"embedding_size": 12, "utterance_size": 12, "dialog_size": 24, "context_size": 24}
    model, streams = tiny.built(output, torch.float32, **sizes), Streams(small.run())
    optimiser = AdamOptimiser(model, tiny.recipe(optimiser={"kind": "adam", "learning_rate": 0.02}))
    train, test = dialogs(400, seed=1), dialogs(100, seed=2)
    for epoch in range(1, 6):
        for examples in shuffled(train, 20, streams.open("batch_order", epoch)):
            model.loss(batch_of(train, examples)).backward()
            optimiser.step()
    unigram = math.log(2) + math.log(KINDS) / 2
    blind = math.log(KINDS) / 2
    loss, count = mean_loss(model, test)
    assert count == 200
    assert loss < 0.1 * blind < 0.1 * unigram
    example = test.examples[0]
    with torch.no_grad():
        begin = model.encode(batch_of(test, [example]))
    best = respond(model, begin, Beam(), start=tiny.BEGIN, end=tiny.END)[0]
    assert best.words == (int(test.utterance(example.response)[1]),)
