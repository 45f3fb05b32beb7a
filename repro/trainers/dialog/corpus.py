"""Dialogs: read from a file, numbered, and cut into batches of responses with their contexts.

Sequences are packed, never padded: no number depends on what else is in a batch.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from repro.errors import DataError
from repro.trainers.devices import moved
from repro.trainers.dialog.spec import LONGEST, DialogCorpus, SplitResponses, references_file
from repro.trainers.language_model.corpus import (
    SPLITS,
    Splits,
    bytes_of,
    check_count,
    checked_bytes,
    folder_of,
    named_after,
)
from repro.trainers.language_model.spec import Digests, SplitTokens
from repro.trainers.measurement import Split

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn.utils.rnn import PackedSequence

BEGIN, END, OPENING = "<s>", "</s>", "<d>"
"""Begin and end of an utterance; the word of the utterance that opens a dialog."""

Utterance = list[str]
_TOKEN = re.compile(r"\w+|[^\w\s]+")
_EXPECTED = '{"dialog": "...", "utterances": [["A", "text", "act"], ...]}'


def dialogs_of(content: bytes, path: Path) -> Iterator[list[Utterance]]:
    """The dialogs of a file, each with its opening utterance first; nothing is cut yet.

    Raises DataError with the line of the first dialog that is not one.
    """
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()  # what follows the last line's end is not a line
    for number, line in enumerate(lines, start=1):
        place = f"{path}:{number}"
        try:
            dialog = json.loads(line.decode("utf-8"))
        except RecursionError as error:
            raise _wrong(place, "lists in lists without end") from error
        except ValueError as error:  # bad UTF-8, bad JSON, or a number that is too long
            raise _wrong(place, f"not JSON: {error}") from error
        utterances = dialog.get("utterances") if isinstance(dialog, dict) else None
        if not isinstance(utterances, list):
            raise _wrong(place, "no list of utterances")
        texts = [
            _text(entry, position, place) for position, entry in enumerate(utterances, start=1)
        ]
        yield [[BEGIN, OPENING, END], *([BEGIN, *tokens_of(text), END] for text in texts)]


def tokens_of(text: str) -> list[str]:
    """Lower-case tokens: runs of word characters, and runs of what is neither word nor blank.

    No token has both a word character and a bracket, so that none is a mark.
    """
    return _TOKEN.findall(text.lower())


def cut(utterance: Utterance, longest: int) -> Utterance:
    """At most ``longest`` tokens: the first ones, and the end."""
    return utterance if len(utterance) <= longest else [*utterance[: longest - 1], END]


def _text(entry: Any, position: int, place: str) -> str:
    """The text of an entry [speaker, text, act]."""
    if isinstance(entry, list) and len(entry) == 3 and all(isinstance(x, str) for x in entry):
        text: str = entry[1]
        return text
    raise _wrong(place, f"utterance {position} is not three texts")


def _wrong(place: str, mistake: str) -> DataError:
    message = (
        f"{place}: {mistake}\n"
        f"  expected: a line {_EXPECTED}\n"
        "  to do: correct the line, and state the new digest of the file"
    )
    return DataError(message)


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
    folder = folder_of(spec.name, "jsonl", data)
    paths = {split: folder / f"{split}.jsonl" for split in SPLITS}
    dialogs = {
        split: list(dialogs_of(checked_bytes(path, getattr(spec.sha256, split)), path))
        for split, path in paths.items()
    }
    words = vocabulary_of(dialogs["train"], spec.vocabulary)
    check_count(folder, "distinct words", found=len(words), stated=spec.vocabulary)
    if not {BEGIN, END} <= set(words):
        raise DataError(
            f"{folder}: {BEGIN} and {END} are not among its {spec.vocabulary} most frequent words, "
            "and every response has them; state a larger vocabulary"
        )
    numbers = {word: number for number, word in enumerate(words)}
    result = {split: _numbered(dialogs[split], numbers, spec) for split in SPLITS}
    for split, part in result.items():
        stated = getattr(spec.responses, split)
        check_count(paths[split], "responses", found=len(part.examples), stated=stated)
        stated = getattr(spec.tokens, split)
        check_count(paths[split], "predicted tokens", found=part.predicted, stated=stated)
    return DialogData(result["train"], result["valid"], result["test"], words, data)


def describe_dialogs(folder: Path, *, last_unused: bool = False) -> DialogCorpus:
    """The specification of the dialogs in ``folder``; DataError where they cannot be a corpus.

    With the 10,000 most frequent words of train, and the default lengths of utterances and
    contexts; with ``last_unused`` the last utterance of a dialog is no response.
    """
    digests, lengths = {}, {}
    words: tuple[str, ...] = ()
    for split in SPLITS:
        path = folder / f"{split}.jsonl"
        content = bytes_of(path)
        dialogs = list(dialogs_of(content, path))
        words = words or vocabulary_of(dialogs, MOST_FREQUENT + 2)
        responses = (each for dialog in dialogs for each in dialog[1 : -1 if last_unused else None])
        lengths[split] = [len(cut(response, LONGEST)) - 1 for response in responses]
        digests[split] = hashlib.sha256(content).hexdigest()
        if not lengths[split]:
            raise DataError(f"{path}: there is no response in it\n  expected: dialogs")
    with named_after(folder) as name:
        return DialogCorpus(
            name=name,
            vocabulary=len(words),
            responses=SplitResponses(**{split: len(each) for split, each in lengths.items()}),
            tokens=SplitTokens(**{split: sum(each) for split, each in lengths.items()}),
            sha256=Digests(**digests),
            last="unused" if last_unused else None,
        )


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
    import torch  # noqa: PLC0415 - dialogs are counted without

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


@dataclass(frozen=True, eq=False)
class Batch:
    """B responses and what they answer."""

    utterances: PackedSequence
    """Words of the context utterances, U sequences, example after example."""
    dialogs: PackedSequence
    """Which of these utterances each of the B examples has, oldest first: their numbers."""
    inputs: PackedSequence
    """Words of the B responses from ``<s>`` on, without ``</s>``: N words."""
    targets: Tensor
    """(N,) the word after each of them, in the order of the packed inputs."""

    @property
    def tokens(self) -> int:
        """N, how many words are predicted."""
        return len(self.targets)

    def to(self, device: torch.device) -> Batch:
        """The same on a device, by one copy for which the host does not wait."""
        import torch  # noqa: PLC0415 - dialogs are counted without

        if device.type == "cpu":
            return self
        sequences = (self.utterances, self.dialogs, self.inputs)
        here = [*(getattr(each, part) for each in sequences for part in PARTS), self.targets]
        there = iter(moved(torch.cat(here), device).split([len(each) for each in here]))

        def one(sequences: PackedSequence) -> PackedSequence:
            return sequences._replace(**{part: next(there) for part in PARTS})

        return Batch(one(self.utterances), one(self.dialogs), one(self.inputs), next(there))


PARTS = ("data", "sorted_indices", "unsorted_indices")
"""What packed sequences have on their device; their ``batch_sizes`` stay on the CPU."""


def batch_of(split: DialogSplit, examples: Sequence[Example]) -> Batch:
    """The utterances of some examples, sorted and packed on the CPU."""
    import torch  # noqa: PLC0415 - dialogs are counted without

    contexts = [split.utterance(n) for first, end in examples for n in range(first, end)]
    responses = [split.utterance(example.response) for example in examples]
    sizes = [end - first for first, end in examples]
    return Batch(
        utterances=packed(contexts),
        dialogs=packed(torch.arange(len(contexts)).split(sizes)),
        inputs=packed([response[:-1] for response in responses]),
        targets=packed([response[1:] for response in responses]).data,
    )


def packed(sequences: Sequence[Tensor]) -> PackedSequence:
    """Sequences of unequal lengths, (L, ...) each, step by step without padding."""
    from torch.nn.utils.rnn import pack_sequence  # noqa: PLC0415 - dialogs are counted without

    return pack_sequence(list(sequences), enforce_sorted=False)


def shuffled(
    split: DialogSplit, batch_size: int, generator: np.random.Generator
) -> list[list[Example]]:
    """All examples once in a random order, ``batch_size`` at a time; the last are what is left."""
    order = [split.examples[number] for number in generator.permutation(len(split.examples))]
    return list(in_order(order, batch_size))


def in_order(examples: Sequence[Example], batch_size: int) -> Iterator[list[Example]]:
    """Cut examples into batches as they come."""
    for start in range(0, len(examples), batch_size):
        yield list(examples[start : start + batch_size])


Reference = tuple[int, ...]


def read_references(
    spec: DialogCorpus, split: Split, sha256: str, dialogs: DialogData
) -> list[list[Reference]]:
    """The references of each response, apart from what was said, in the order of the responses.

    A line of the file is a JSON list of texts, for one response; they become words as those of
    the corpus do, cut as long. Raises DataError for another file, number of lines or form.
    """
    name = references_file(split)
    path = folder_of(spec.name, "jsonl", dialogs.data) / name
    text = checked_bytes(path, sha256).decode("utf-8", errors="replace")
    lines = text.removesuffix("\n").split("\n")
    responses = len(dialogs.split(split).examples)
    check_count(path, "lines, one per response", found=len(lines), stated=responses)
    numbers = {word: number for number, word in enumerate(dialogs.words)}

    def numbered(text: str) -> Reference:
        words = cut([BEGIN, *tokens_of(text), END], spec.longest)[1:-1]
        return tuple(numbers.get(word, numbers[UNKNOWN]) for word in words)

    return [
        [numbered(text) for text in _reference_texts(line, path, number)]
        for number, line in enumerate(lines, start=1)
    ]


def _reference_texts(line: str, path: Path, number: int) -> list[str]:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise DataError(
            f"{path}:{number}:1: no list of texts\n"
            '  expected: the other references of a response, ["yes .", "i think so"]\n'
            "  to do: correct the line, and state the new digest of the file"
        )
    return found
