"""Our side: the product's own training and evaluation, and the machine's own product."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from benchmarks.speed.metronome import Metronome
from benchmarks.speed.shapes import random_corpus, random_words, run_of, training
from repro.trainers.devices import numerics
from repro.trainers.language_model.evaluation import mean_loss
from repro.trainers.language_model.model import LanguageModel
from repro.trainers.language_model.randomness import Streams, initialise
from repro.trainers.language_model.training import train

CPU = torch.device("cpu")
EVALUATED_WINDOWS = 3
EVALUATION_BATCH = 10


@contextmanager
def computing(threads: int) -> Iterator[None]:
    """As a worker computes, but with so many threads."""
    with numerics("cpu"):
        torch.set_num_threads(threads)
        yield


def training_steps(metronome: Metronome, *, threads: int, **what: Any) -> None:
    """``train`` as it is: a step is what lies between two of its reports of progress."""
    spec = training(**what)
    with computing(threads):
        train(
            [run_of(spec)],
            random_corpus(spec),
            device=CPU,
            folders=[None],
            progress=lambda _: metronome.tick(),
        )


def evaluation(metronome: Metronome, *, threads: int, **what: Any) -> None:
    """``mean_loss`` of a short text."""
    spec = training(**what)
    words = random_words(evaluated_words(), spec.corpus.vocabulary, seed=1)
    model = LanguageModel(spec.model, spec.corpus.vocabulary)
    initialise(model, Streams(run_of(spec)))
    with computing(threads):
        while True:
            metronome.tick()
            mean_loss(model, words, EVALUATION_BATCH)


def evaluated_words() -> int:
    """Words of the text that is evaluated."""
    return EVALUATION_BATCH * (1 + EVALUATED_WINDOWS * 70)


def product(metronome: Metronome, *, threads: int, size: int, bf16: bool = False) -> None:
    """One product of two square matrices: the machine's limit."""
    torch.set_num_threads(threads)
    dtype = torch.bfloat16 if bf16 else torch.float32
    a, b, c = (torch.rand(size, size).to(dtype) for _ in range(3))
    while True:
        metronome.tick()
        torch.mm(a, b, out=c)
