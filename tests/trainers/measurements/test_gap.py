"""The generalisation gap follows from two perplexities of one mode."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from repro.trainers.language_model.corpus import load_corpus
from repro.trainers.language_model.evaluation import OnText
from repro.trainers.language_model.measurements.perplexity import (
    GapDetails,
    GeneralisationGap,
    Perplexity,
)
from repro.trainers.language_model.spec import MoS
from repro.trainers.measurement import Measured, Split, with_sources
from tests.trainers.measurements.test_perplexity import HISTORY
from tests.trainers.measurements.test_rank import CORPUS, CPU, model_of


def test_it_is_the_difference() -> None:
    spec = GeneralisationGap(split="valid", batch_size=4)
    held_out, training = Measured(95.5, {"tokens": 10}), Measured(80.25, {"tokens": 90})
    assert spec.derive(held_out, training) == Measured(15.25, {"held_out": 95.5, "training": 80.25})


def test_its_perplexities_have_dropout_off() -> None:
    """Both in mode evaluation, and in as many streams; they come before it, each once."""
    spec = GeneralisationGap(batch_size=4)
    test, train = spec.sources
    assert test == Perplexity(split="test", batch_size=4)
    assert train == Perplexity(split="train", batch_size=4)
    assert {test.mode, train.mode} == {"evaluation"}
    assert with_sources([spec, train]) == (test, train, spec)


def test_labels() -> None:
    assert GeneralisationGap().label == "generalisation gap, test minus training perplexity"
    assert GeneralisationGap(split="valid").label == (
        "generalisation gap, validation minus training perplexity"
    )


def test_a_gap_that_is_not_the_difference_is_damage() -> None:
    details = GapDetails(held_out=9.5, training=8.25)
    assert details.contradiction(1.25) == ""
    assert details.contradiction(1.0) == "a gap of 1, of perplexities that differ by 1.25"


def test_it_is_that_of_the_plain_formula() -> None:
    """exp of the mean loss of every predicted token of each split, in one stream."""
    model, corpus = model_of(MoS(components=3)), load_corpus(CORPUS, None)
    subject = OnText(None, model, HISTORY, 2, corpus, CPU)
    spec = GeneralisationGap()

    def perplexity(split: Split) -> float:
        text = corpus.split(split)[:, None]
        with torch.no_grad():
            context, _, _ = model(text[:-1], model.zero_state(1))
            log_p = model.output.log_probabilities(context).double()
        return math.exp(F.nll_loss(log_p.flatten(0, 1), text[1:].flatten()))

    found = spec.derive(*(each.measure(subject) for each in spec.sources))
    assert found.value == pytest.approx(perplexity("test") - perplexity("train"), rel=1e-4)
