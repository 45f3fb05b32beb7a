"""What the last step of an epoch does to the validation that follows it: published code.

    python -m benchmarks.equivalence.last_step --references FOLDER --data DATA --seed 3

An epoch's last window is what is left of the text, often a few words, and its step has the rate
of the length that was drawn. Prints, for each epoch, how long that window is, and the validation
perplexity before and after its step.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.equivalence.runs import begin, training_spec
from repro.trainers.language_model.corpus import CorpusData, load_corpus
from repro.trainers.language_model.spec import TrainingSpec


def main(arguments: Sequence[str] | None = None) -> int:
    """One published training, an epoch a line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.equivalence.last_step")
    parser.add_argument("--references", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    spec = training_spec()
    corpus = load_corpus(spec.corpus, given.data)
    for length, before, after in last_steps(given.seed, spec, corpus, given.references):
        print(f"seed {given.seed}, last window {length}: {before:.2f} -> {after:.2f}", flush=True)
    return 0


def last_steps(
    seed: int, spec: TrainingSpec, corpus: CorpusData, root: Path
) -> Iterator[tuple[int, float, float]]:
    """Of each epoch: steps of its last window, validation perplexity before and after it."""
    published = begin(seed, spec, corpus, root)
    get_batch = published.namespace["get_batch"]
    seen: list[tuple[int, float]] = []

    def perplexity() -> float:
        found = math.exp(published.evaluate(published.namespace["val_data"]))
        published.model.train()
        return found

    def watching(source: Tensor, start: int, *rest: Any, **named: Any) -> tuple[Tensor, Tensor]:
        data, targets = get_batch(source, start, *rest, **named)
        training = source is published.namespace["train_data"]
        if training and start + len(data) >= len(source) - 2:  # a rest of one step is left out
            seen.append((len(data), perplexity()))
        return data, targets

    published.namespace["get_batch"] = watching
    for _ in range(spec.recipe.epochs):
        published.train()
        length, before = seen[-1]
        yield length, before, perplexity()


if __name__ == "__main__":
    sys.exit(main())
