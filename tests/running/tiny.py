"""Runs that take a blink: fifty words, two thousand tokens, two epochs."""

from __future__ import annotations

from typing import Literal

from repro.trainers.language_model.measurements.perplexity import Perplexity
from repro.trainers.language_model.measurements.rank import Rank
from repro.trainers.language_model.recipe import Recipe, WindowLength
from repro.trainers.language_model.spec import (
    Model,
    MoS,
    Softmax,
    SplitTokens,
    SyntheticCorpus,
    TrainingSpec,
)
from repro.trainers.run import PlannedRun, RunSpec

TEST = Perplexity(split="test")
VALID = Perplexity(split="valid")
TRAIN = Perplexity(split="train", mode="training")
RANK = Rank()


def tiny_run(
    replicate: int = 0,
    *,
    epochs: int = 2,
    tokens: int = 2000,
    learning_rate: float = 2.0,
    precision: Literal["float32", "float64"] = "float32",
    components: int = 0,
) -> RunSpec:
    """A run of the smallest of models; a mixture if it has components."""
    output = MoS(components=components) if components else Softmax()
    training = TrainingSpec(
        model=Model(embedding_size=6, hidden_size=8, context_size=6, layers=1, output=output),
        corpus=SyntheticCorpus(
            vocabulary=50,
            dimension=6,
            components=2,
            sharpness=2.0,
            tokens=SplitTokens(train=tokens, valid=300, test=300),
        ),
        recipe=Recipe(
            epochs=epochs,
            batch_size=4,
            learning_rate=learning_rate,
            window=WindowLength(base=10),
            precision=precision,
        ),
    )
    return RunSpec(training=training, replicate=replicate)


def tiny_plan(replicates: int = 1, *, epochs: int = 2, tokens: int = 2000) -> list[PlannedRun]:
    """Some replicates, with all kinds of measurements."""
    return [
        PlannedRun(
            run=tiny_run(replicate, epochs=epochs, tokens=tokens), measurements=(TEST, TRAIN, RANK)
        )
        for replicate in range(replicates)
    ]
