"""Dialogs in memory: numbered words, and which utterances each response answers."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from repro.errors import DataError
from repro.lm.corpus import SPLITS, Splits, bytes_of, check_count, checked_bytes, named_after
from repro.lm.dialog.text import BEGIN, END, Utterance, cut, dialogs_of
from repro.specs.corpus import Digests, SplitTokens
from repro.specs.dialog import LONGEST, DialogCorpus, SplitResponses

MOST_FREQUENT = 10_000

PAD, UNKNOWN = "<pad>", "<unk>"
"""Words 0 and 1. No sequence is ever padded here: the first keeps the papers' vocabulary."""


class Example(NamedTuple):
    """A response and its context, as numbers of utterances of one split."""

    first: int
    """The first utterance of the context; the last is the one before the response."""
    response: int


@dataclass(frozen=True, eq=False)
class DialogSplit:
    """All utterances of a split one after the other, dialog after dialog."""

    tokens: Tensor
    """Word numbers of all utterances, 1-D int64."""
    bounds: tuple[int, ...]
    """Where in ``tokens`` each utterance begins, and where the last one ends."""
    examples: tuple[Example, ...]

    def utterance(self, number: int) -> Tensor:
        """The words of one utterance, from ``<s>`` to ``</s>``."""
        return self.tokens[self.bounds[number] : self.bounds[number + 1]]

    def to(self, device: torch.device) -> DialogSplit:
        """The same split with its words on a device."""
        return replace(self, tokens=self.tokens.to(device))

    @property
    def predicted(self) -> int:
        """How many tokens its responses have, ``</s>`` included and ``<s>`` not."""
        return sum(
            self.bounds[example.response + 1] - self.bounds[example.response] - 1
            for example in self.examples
        )


class DialogData(Splits[DialogSplit]):
    """The three splits of a corpus of dialogs."""


@lru_cache(maxsize=2)
def load_dialogs(spec: DialogCorpus, data: Path | None) -> DialogData:
    """Read a corpus of dialogs below ``data``, the folder of $REPRO_DATA; the last two are kept.

    Raises DataError when a file is missing or is not what ``spec`` states.
    """
    if data is None:
        message = (
            f"corpus '{spec.name}' is read from files, and no data folder is given; set "
            f"REPRO_DATA to the folder that holds {spec.name}/train.jsonl, valid.jsonl and "
            "test.jsonl"
        )
        raise DataError(message)
    folder = data / spec.name
    paths = {split: folder / f"{split}.jsonl" for split in SPLITS}
    dialogs = {
        split: list(dialogs_of(checked_bytes(path, getattr(spec.sha256, split)), path))
        for split, path in paths.items()
    }
    words = vocabulary_of(dialogs["train"], spec.vocabulary)
    check_count(folder, "distinct words", found=len(words), stated=spec.vocabulary)
    if not {BEGIN, END} <= set(words):
        message = (
            f"{folder}: {BEGIN} and {END} are not among its {spec.vocabulary} most frequent words, "
            "and every response has them; state a larger vocabulary"
        )
        raise DataError(message)
    numbers = {word: number for number, word in enumerate(words)}
    result = {split: _numbered(dialogs[split], numbers, spec) for split in SPLITS}
    for split, part in result.items():
        stated = getattr(spec.responses, split)
        check_count(paths[split], "responses", found=len(part.examples), stated=stated)
        stated = getattr(spec.tokens, split)
        check_count(paths[split], "predicted tokens", found=part.predicted, stated=stated)
    return DialogData(**result, words=words)


def describe_dialogs(folder: Path, *, last_unused: bool = False) -> DialogCorpus:
    """The specification of the dialogs in ``folder``: their counts and digests.

    With the 10,000 most frequent words of train, and as long utterances and contexts as a
    corpus has by default; with ``last_unused`` the last utterance of a dialog is no response.
    Raises DataError when a file is missing, holds no dialogs, or has no response, and when the
    folder's name is not one that a corpus can have.
    """
    found, digests = {}, {}
    for split in SPLITS:
        path = folder / f"{split}.jsonl"
        content = bytes_of(path)
        found[split] = list(dialogs_of(content, path))
        digests[split] = hashlib.sha256(content).hexdigest()
        if all(len(_responses(dialog, last_unused=last_unused)) == 0 for dialog in found[split]):
            raise DataError(f"{path}: there is no response in it\n  expected: dialogs")
    lengths = {
        split: [
            len(cut(one, LONGEST)) - 1
            for dialog in dialogs
            for one in _responses(dialog, last_unused=last_unused)
        ]
        for split, dialogs in found.items()
    }
    with named_after(folder) as name:
        return DialogCorpus(
            name=name,
            vocabulary=len(vocabulary_of(found["train"], MOST_FREQUENT + 2)),
            responses=SplitResponses(**{split: len(each) for split, each in lengths.items()}),
            tokens=SplitTokens(**{split: sum(each) for split, each in lengths.items()}),
            sha256=Digests(**digests),
            last="unused" if last_unused else None,
        )


def _responses(dialog: list[Utterance], *, last_unused: bool) -> list[Utterance]:
    """Every utterance but the opening one, and but the last if that is unused."""
    return dialog[1:-1] if last_unused else dialog[1:]


def vocabulary_of(dialogs: Iterable[list[Utterance]], size: int) -> tuple[str, ...]:
    """``<pad>``, ``<unk>`` and the most frequent tokens, the more frequent ones first.

    ``size`` words in all, or fewer when there are no more; of equally frequent ones the earlier.
    """
    counts = Counter(
        token for dialog in dialogs for utterance in dialog for token in utterance
    )  # counts of equal size stay in the order of first appearance
    return (PAD, UNKNOWN, *(token for token, _ in counts.most_common(size - 2)))


def _numbered(
    dialogs: list[list[Utterance]], numbers: dict[str, int], spec: DialogCorpus
) -> DialogSplit:
    utterances = [cut(utterance, spec.longest) for dialog in dialogs for utterance in dialog]
    unknown = numbers[UNKNOWN]
    tokens = [numbers.get(token, unknown) for utterance in utterances for token in utterance]
    return DialogSplit(
        tokens=torch.tensor(tokens, dtype=torch.int64),
        bounds=tuple(accumulate(map(len, utterances), initial=0)),
        examples=tuple(_examples(map(len, dialogs), spec)),
    )


def _examples(lengths: Iterable[int], spec: DialogCorpus) -> Iterable[Example]:
    """Every utterance but the opening one (and the last, if unused) as a response."""
    for begin, end in pairwise(accumulate(lengths, initial=0)):
        last = end - 1 if spec.last == "unused" else end
        for response in range(begin + 1, last):
            yield Example(max(begin, response - spec.context), response)
