"""A corpus in memory: word numbers of files or of a synthetic language, windows of an epoch.

Of the synthetic language everything is known: probabilities, entropy, true rank. torch is imported
by what gives tensors, so that `repro corpus` counts a text without it.

Version 1 of the generator makes a `SyntheticCorpus`: the vectors B(v) are standard normal in
``dimension`` dimensions, and the matrices R_k normal of variance 1 / dimension, so that the
products A_k(w) . B(v) / sqrt(dimension) have standard deviation 1. One topic alone would have
log-probabilities of rank dimension + 2; the logarithm of the mixture has (nearly) full rank. The
vectors serve for reading and for predicting, as a tied embedding does, so that a small model can
learn something from a short text. Each split is a walk of its own that starts in the
stationary distribution.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from repro.errors import DataError
from repro.files import NotRegularError, TooLargeError, read_bytes
from repro.trainers.language_model.recipe import WindowLength
from repro.trainers.language_model.spec import (
    Corpus,
    Digests,
    SplitTokens,
    SyntheticCorpus,
    TextCorpus,
)
from repro.trainers.measurement import Split

if TYPE_CHECKING:
    from torch import Tensor

Matrix = npt.NDArray[np.float64]
ZIPF_OFFSET = 10
LONGEST_ITERATION = 10_000


@lru_cache(maxsize=2)
def log_conditional_matrix(spec: SyntheticCorpus) -> Matrix:
    """Logarithm of P*(next | word), (V, V) float64, read-only; finite for every sharpness."""
    from repro.trainers.language_model.randomness import philox  # noqa: PLC0415 - has torch

    generator = philox(_identity(spec, "language"))
    words_VE = generator.standard_normal((spec.vocabulary, spec.dimension))
    log_frequency_V = -np.log(np.arange(spec.vocabulary) + ZIPF_OFFSET)
    # sharpness / sqrt(dimension), times the 1 / sqrt(dimension) of R_k
    scale = spec.sharpness / spec.dimension
    mixture_VV = np.full((spec.vocabulary, spec.vocabulary), -np.inf)
    for _ in range(spec.components):
        map_EE = generator.standard_normal((spec.dimension, spec.dimension))
        topic_VV = _normalised(scale * (words_VE @ map_EE @ words_VE.T) + log_frequency_V)
        mixture_VV = np.logaddexp(mixture_VV, topic_VV)
    mixture_VV = _normalised(mixture_VV)
    mixture_VV.setflags(write=False)
    return mixture_VV


def conditional_matrix(spec: SyntheticCorpus) -> Matrix:
    """P*(next | word), (V, V) float64; each row sums to 1."""
    return np.exp(log_conditional_matrix(spec))


def stationary_distribution(spec: SyntheticCorpus) -> Matrix:
    """Long-run frequency of each word, (V,): the fixed point of q = q P*, by iteration.

    Raises DataError for a language that (nearly) falls apart, or goes round in a circle.
    """
    conditional_VV = conditional_matrix(spec)
    q_V = np.full(spec.vocabulary, 1 / spec.vocabulary)
    for _ in range(LONGEST_ITERATION):
        following_V = q_V @ conditional_VV
        following_V /= following_V.sum()
        if np.abs(following_V - q_V).sum() < 1e-14:
            return q_V
        q_V = following_V
    raise DataError(
        f"{spec.label}: its long-run frequencies do not settle in {LONGEST_ITERATION:,} steps\n"
        "  expected: a language in which every word leads to every other soon enough\n"
        "  to do: lower corpus.sharpness, or take more components"
    )


def entropy_perplexity(spec: SyntheticCorpus) -> float:
    """Exponential of the entropy rate: the least perplexity that any model can have."""
    expected_V = (conditional_matrix(spec) * log_conditional_matrix(spec)).sum(axis=1)
    return float(np.exp(-stationary_distribution(spec) @ expected_V))


def sample_text(spec: SyntheticCorpus, split: Split) -> npt.NDArray[np.int64]:
    """The words of one split: for each, the inverse of the cumulative distribution at a uniform."""
    from repro.trainers.language_model.randomness import philox  # noqa: PLC0415 - has torch

    cumulative_VV = np.cumsum(conditional_matrix(spec), axis=1)
    cumulative_VV[:, -1] = 1.0
    start_V = np.cumsum(stationary_distribution(spec))
    start_V[-1] = 1.0
    uniforms = philox(_identity(spec, split)).random(getattr(spec.tokens, split)).tolist()
    rows = list(cumulative_VV)
    row, text = start_V, []
    for u in uniforms:
        word = int(row.searchsorted(u, side="right"))
        text.append(word)
        row = rows[word]
    return np.array(text, dtype=np.int64)


def _normalised(log_VV: Matrix) -> Matrix:
    """Rows shifted so that their exponentials sum to 1."""
    peak_V1 = log_VV.max(axis=1, keepdims=True)
    shifted: Matrix = log_VV - peak_V1
    shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted


def _identity(spec: SyntheticCorpus, purpose: str) -> dict[str, object]:
    """What a stream of the generator is keyed by: neither sharpness nor lengths redraw it."""
    keyed = {"generator", "seed", "vocabulary", "dimension", "components"}
    return {"language": spec.model_dump(include=keyed), "purpose": purpose}


SPLITS: tuple[Split, ...] = ("train", "valid", "test")
END_OF_SENTENCE = "<eos>"

LARGEST = 16 * 2**30
"""Bytes of the largest file of a corpus; One Billion Word's has a quarter of it."""

Ids = np.ndarray[Any, np.dtype[np.int64]]
Content = TypeVar("Content")


@dataclass(frozen=True, eq=False)
class Splits(Generic[Content]):
    """The three splits of a corpus, and the words that its numbers stand for, in that order.

    ``data`` is the folder of $REPRO_DATA, where measurements may have files of their own.
    """

    train: Content
    valid: Content
    test: Content
    words: tuple[str, ...]
    data: Path | None = None

    @property
    def vocabulary(self) -> int:
        """V, the number of distinct words."""
        return len(self.words)

    def split(self, name: Split) -> Content:
        """One split by its name."""
        content: Content = getattr(self, name)
        return content


class CorpusData(Splits["Tensor"]):
    """Word numbers of each split, 1-D int64."""


@lru_cache(maxsize=2)
def load_corpus(spec: Corpus, data: Path | None) -> CorpusData:
    """Read (or sample) a corpus; the last two are kept.

    ``data`` is the folder of $REPRO_DATA; a synthetic corpus does not need it. Words are numbered
    by first appearance in train, then valid, then test. Raises DataError when a file is missing or
    is not what ``spec`` states.
    """
    if isinstance(spec, SyntheticCorpus):
        import torch  # noqa: PLC0415 - a text is counted without

        train, valid, test = (torch.from_numpy(sample_text(spec, split)) for split in SPLITS)
        width = len(str(spec.vocabulary - 1))
        words = tuple(f"w{number:0{width}d}" for number in range(spec.vocabulary))
        return CorpusData(train, valid, test, words)
    return _read_text(spec, data)


def batchify(tokens: Tensor, batch_size: int) -> Tensor:
    """Cut (N,) tokens into ``batch_size`` equal columns (L, B), dropping the last N mod B.

    Raises DataError when a column would hold no pair of a word and its successor.
    """
    length = len(tokens) // batch_size
    if length < 2:
        raise DataError(
            f"{len(tokens)} tokens in {batch_size} parallel streams leave {length} a stream, and "
            "a prediction needs 2; choose a smaller batch or a longer text"
        )
    return tokens[: length * batch_size].view(batch_size, length).t().contiguous()


def folder_of(name: str, ending: str, data: Path | None) -> Path:
    """Where the files of a corpus are; DataError where no data folder is given."""
    if data is None:
        first, *others = (f"{split}.{ending}" for split in SPLITS)
        raise DataError(
            f"corpus '{name}' is read from files, and no data folder is given; set "
            f"REPRO_DATA to the folder that holds {name}/{first}, {' and '.join(others)}"
        )
    return data / name


def _read_text(spec: TextCorpus, data: Path | None) -> CorpusData:
    import torch  # noqa: PLC0415 - a text is counted without

    folder = folder_of(spec.name, "txt", data)
    if spec.sha256 is None:
        raise DataError(
            f"corpus '{spec.name}' does not say which files it is\n"
            "  expected: the SHA-256 of each file\n"
            f"  to do: write under corpus what `repro corpus` prints of {folder}"
        )
    numbers: dict[str, int] = {}
    texts = []
    for split in SPLITS:
        path = folder / f"{split}.txt"
        text = _text(path, checked_bytes(path, getattr(spec.sha256, split)))
        ids = _numbered(text, spec.unit, numbers)
        check_count(path, "tokens", found=len(ids), stated=getattr(spec.tokens, split))
        texts.append(torch.from_numpy(ids))
    unit = f"distinct {spec.unit or 'words'}"
    check_count(folder, unit, found=len(numbers), stated=spec.vocabulary)
    train, valid, test = texts
    return CorpusData(train, valid, test, tuple(numbers), data)


def describe(folder: Path, unit: Literal["characters"] | None = None) -> TextCorpus:
    """The specification of the corpus in ``folder``; DataError where it cannot be one."""
    numbers: dict[str, int] = {}
    tokens, digests = {}, {}
    for split in SPLITS:
        path = folder / f"{split}.txt"
        try:
            content = _content(path)
        except OSError as error:
            raise DataError(
                f"cannot read {path}: {error.strerror}\n"
                "  expected: a folder that holds train.txt, valid.txt and test.txt\n"
                "  to do: give the path of that folder"
            ) from error
        tokens[split] = len(_numbered(_text(path, content), unit, numbers))
        digests[split] = hashlib.sha256(content).hexdigest()
        if not tokens[split]:
            raise DataError(f"{path}: there is nothing in it\n  expected: a text")
    with named_after(folder) as name:
        return TextCorpus(
            name=name,
            vocabulary=len(numbers),
            tokens=SplitTokens(**tokens),
            sha256=Digests(**digests),
            unit=unit,
        )


@contextmanager
def named_after(folder: Path) -> Iterator[str]:
    """The name of a folder, for a corpus; DataError where a corpus cannot have it."""
    name = folder.resolve().name
    try:
        yield name
    except ValidationError as error:
        raise DataError(
            f"a corpus cannot be called '{name}'\n"
            "  expected: lower-case letters, digits and underscores\n  to do: rename the folder"
        ) from error


def checked_bytes(path: Path, expected: str) -> bytes:
    """The bytes of a file whose SHA-256 is ``expected``; DataError if it is not there or is not."""
    content = bytes_of(path)
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise DataError(
            f"{path} is not the file that the corpus names\n"
            f"  expected SHA-256 {expected}\n"
            f"  found    SHA-256 {found}\n"
            "  to do: restore the original file, or declare this one as another corpus"
        )
    return content


def bytes_of(path: Path) -> bytes:
    """The bytes of a file; DataError if it cannot be read, or is no file of a text's size."""
    try:
        return _content(path)
    except OSError as error:
        raise DataError(
            f"cannot read {path}: {error.strerror}; put the file there, or set REPRO_DATA to "
            f"the folder that holds {path.parent.name}/{path.name}"
        ) from error


def _content(path: Path) -> bytes:
    """The bytes of a regular file; neither a pipe nor a device is waited for."""
    try:
        return read_bytes(path, LARGEST)
    except NotRegularError as error:
        raise DataError(f"{path} is not a regular file\n  expected: a text") from error
    except TooLargeError as error:
        message = f"{path} has {error.size:,} bytes\n  expected: at most {LARGEST:,}"
        raise DataError(message) from error


def _text(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{path} is no text in UTF-8: {error.reason} at byte {error.start:,}"
        raise DataError(message) from error


def _numbered(text: str, unit: str | None, numbers: dict[str, int]) -> Ids:
    """The numbers (N,) of the tokens of a text; new ones are added to ``numbers`` as they come."""
    if unit is None:
        words = (numbers.setdefault(word, len(numbers)) for word in _words(text))
        return np.fromiter(words, dtype=np.int64)
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    used = [chr(code) for code in np.flatnonzero(np.bincount(codes))]
    for character in sorted(set(used) - set(numbers), key=text.index):
        numbers[character] = len(numbers)
    number_of = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
    for character in used:
        number_of[ord(character)] = numbers[character]
    return number_of[codes]


def _words(text: str) -> Iterator[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()  # what follows the last line's end is not a line
    for line in lines:
        yield from line.split()
        yield END_OF_SENTENCE


def check_count(path: Path, unit: str, *, found: int, stated: int) -> None:
    """Raise DataError if a corpus has another number of something than its specification states."""
    if found != stated:
        raise DataError(
            f"{path}: {found} {unit}, and the corpus specification states {stated}; "
            "correct the specification"
        )


SHORT_WINDOWS = 0.05
DEVIATION = 5.0
SHORTEST = 5


@dataclass(frozen=True, slots=True)
class Segment:
    """Steps ``start`` to ``start + length`` of a text; each predicts the word after it."""

    start: int
    length: int
    rate: float = 1.0
    """Factor of the learning rate."""

    def inputs(self, text_LB: Tensor) -> Tensor:
        """(T, B) words to read."""
        return text_LB[self.start : self.start + self.length]

    def targets(self, text_LB: Tensor) -> Tensor:
        """(T, B) words to predict: the inputs one step later."""
        return text_LB[self.start + 1 : self.start + 1 + self.length]


def windows_of(steps: int, length: int) -> list[Segment]:
    """Cut ``steps`` predictions into windows of one length; the last is what is left."""
    return [Segment(start, min(length, steps - start)) for start in range(0, steps, length)]


def draw_windows(steps: int, window: WindowLength, generator: np.random.Generator) -> list[Segment]:
    """The training windows of an epoch; the last is what is left, however short.

    Every token is used, where the papers' code drops a rest of one step. The last rate follows
    the length that there is, or, with ``last_rate: drawn``, the length that was drawn.
    """
    if not window.random:
        return windows_of(steps, window.base)
    result = []
    start = 0
    while start < steps:
        drawn = draw_length(window, generator)
        length = min(drawn, steps - start)
        counted = drawn if window.last_rate == "drawn" else length
        result.append(Segment(start, length, counted / window.base))
        start += length
    return result


def draw_length(window: WindowLength, generator: np.random.Generator) -> int:
    """The papers' random length: normal around base, or base / 2 in one case of twenty."""
    centre = window.base / 2 if generator.random() < SHORT_WINDOWS else window.base
    length = max(SHORTEST, int(generator.normal(centre, DEVIATION)))
    return length if window.max_delta is None else min(length, window.base + window.max_delta)
