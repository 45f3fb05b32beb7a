"""Dialogs and dialog models small enough to be trained in a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from repro.trainers.dialog.corpus import DialogSplit, Example
from repro.trainers.dialog.model import DialogModel
from repro.trainers.dialog.spec import DialogRecipe, Seq2Seq
from repro.trainers.language_model.randomness import Streams, initialise
from tests.trainers import small

V = 12
BEGIN, END, OPENING = 2, 3, 4
"""Numbers of <s>, </s> and <d>; the words of the tests' dialogs are the numbers above."""


def seq2seq(output: dict[str, Any] = small.SOFTMAX, **changes: Any) -> Seq2Seq:
    sizes = {"embedding_size": 6, "utterance_size": 5, "dialog_size": 7, "context_size": 8}
    return Seq2Seq.model_validate_json(json.dumps({**sizes, "output": output, **changes}))


def recipe(**changes: Any) -> DialogRecipe:
    return DialogRecipe.model_validate_json(json.dumps({"epochs": 1, **changes}))


def built(
    output: dict[str, Any] = small.SOFTMAX, dtype: torch.dtype = torch.float64, **changes: Any
) -> DialogModel:
    """A model with the initial values of replicate 0, its two matrices of words scaled up.

    So that it prefers some words to others, and that few steps are enough to learn something.
    """
    model = DialogModel(seq2seq(output, **changes), V, dtype)
    initialise(model, Streams(small.run()))
    with torch.no_grad():
        model.embedding.weight.mul_(10)
        model.output.weight.mul_(10)
    return model


def split(dialogs: Sequence[Sequence[Sequence[int]]], context: int = 9) -> DialogSplit:
    """Dialogs of words without marks; every utterance of each is a response."""
    utterances: list[list[int]] = []
    examples: list[Example] = []
    for dialog in dialogs:
        first = len(utterances)
        utterances += [[BEGIN, *words, END] for words in ([OPENING], *dialog)]
        numbers = range(first + 1, len(utterances))
        examples += [Example(max(first, number - context), number) for number in numbers]
    return DialogSplit(
        tokens=torch.tensor([word for utterance in utterances for word in utterance]),
        bounds=tuple(accumulate(map(len, utterances), initial=0)),
        examples=tuple(examples),
    )


def random_split(dialogs: int = 4, utterances: int = 5, longest: int = 6) -> DialogSplit:
    """Utterances of no to ``longest`` words each."""
    generator = np.random.default_rng(7)
    return split(
        [
            [
                generator.integers(OPENING + 1, V, generator.integers(longest + 1)).tolist()
                for _ in range(utterances)
            ]
            for _ in range(dialogs)
        ],
        context=3,
    )
