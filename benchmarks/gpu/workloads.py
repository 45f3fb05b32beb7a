"""What is timed on a GPU: the papers' configurations over random words, and their goals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from benchmarks.speed.rows import Goal
from benchmarks.speed.shapes import CONFIGURATIONS, QUIET_DROPOUT, random_words
from repro.specs.configuration import read_sheet
from repro.trainers.language_model.corpus import CorpusData
from repro.trainers.language_model.recipe import Products
from repro.trainers.language_model.spec import TrainingSpec

REPLICATES: Final = 10
TEN_GOAL: Final = Goal(aim=12.0, at_most=True)
PRECISIONS: Final[tuple[Products | None, ...]] = (None, "tf32", "bf16")
TINY_MODEL: Final = {"embedding_size": 6, "hidden_size": 8, "context_size": 6, "layers": 2}
TINY_TOKENS: Final = {"train": 800, "valid": 100, "test": 100}
TINY_WORDS, TINY_BATCH, TINY_WINDOW, TINY_COMPONENTS = 48, 4, 10, 3


@dataclass(frozen=True)
class Workload:
    """A paper's training: where it is written down, and the goal of an epoch in seconds."""

    title: str
    configuration: str
    goal: Goal


WORKLOADS: Final = {
    "ptb_softmax": Workload(
        "PTB, Softmax", "merity2018/ptb/softmax.yaml", Goal(aim=2.5, at_most=True)
    ),
    "ptb_mos": Workload("PTB, MoS K = 15", "yang2018/ptb/mos.yaml", Goal(aim=5.0, at_most=True)),
    "wt2_mos": Workload("WT2, MoS K = 15", "yang2018/wt2/mos.yaml", Goal(aim=30.0, at_most=True)),
}


def specification(
    name: str, products: Products | None = None, *, tiny: bool = False, dropout: bool = True
) -> TrainingSpec:
    """The paper's recipe with these products; ``tiny`` shrinks all sizes and nothing else."""
    sheet = read_sheet(CONFIGURATIONS / WORKLOADS[name].configuration)
    assert sheet.configuration is not None, sheet.problems
    document = sheet.configuration.training().model_dump(mode="json", exclude_none=True)
    if products is not None:
        document["recipe"]["products"] = products
    if not dropout:
        document["recipe"]["dropout"] = QUIET_DROPOUT
    if tiny:
        _shrink(document)
    return TrainingSpec.model_validate_json(json.dumps(document))


def _shrink(document: dict[str, Any]) -> None:
    model, recipe = document["model"], document["recipe"]
    model |= TINY_MODEL
    if "components" in model["output"]:
        model["output"]["components"] = TINY_COMPONENTS
    document["corpus"] |= {"vocabulary": TINY_WORDS, "tokens": TINY_TOKENS}
    recipe |= {"batch_size": TINY_BATCH, "valid_batch_size": TINY_BATCH}
    recipe["window"] |= {"base": TINY_WINDOW, "max_delta": 8}
    if "small_batch_size" in recipe:
        recipe["small_batch_size"] = TINY_BATCH // 2


@lru_cache(maxsize=1)
def corpus_of(spec: TrainingSpec) -> CorpusData:
    """Random words, as many in each split as the corpus has: the windows are the papers'."""
    words, tokens = spec.corpus.vocabulary, spec.corpus.tokens
    counts = (tokens.train, tokens.valid, tokens.test)
    texts = (random_words(count, words, seed) for seed, count in enumerate(counts))
    train, valid, test = texts
    return CorpusData(train, valid, test, tuple(map(str, range(words))))


def epoch_tokens(spec: TrainingSpec) -> int:
    """Predicted tokens of one epoch."""
    batch = spec.recipe.batch_size
    return (spec.corpus.tokens.train // batch - 1) * batch
