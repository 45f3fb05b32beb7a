"""BLEU: how much the answers of a dialog model share with what was said."""

from __future__ import annotations

import math
import statistics
import warnings
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from repro.errors import DataError
from repro.files import mismatch
from repro.machine import package_version
from repro.schema.base import Sha256
from repro.schema.messages import Words
from repro.trainers.base import STEP
from repro.trainers.dialog.spec import Beam, Score, Smoothing, Tokens, references_file
from repro.trainers.measurement import NAMES, Details, Measured, MeasurementSpec, Natural, Split

Share = Annotated[float, Field(ge=0, le=1)]


class BleuDetails(Details):
    """Both sides of a BLEU, and what it is the mean of."""

    precision: Share | None = None
    recall: Share | None = None
    responses: Natural | None = None
    answers: Natural | None = None


class Bleu(MeasurementSpec):
    """Mean BLEU of what a dialog model answers, from 0 to 1, over the responses of a split.

    n-grams up to ``order``, of the words of the corpus, marks left out. The answers are those
    that a ``beam`` search keeps, and what was said is their reference: ``precision`` is the mean
    over the answers, ``recall`` the best of them, so it is never below precision.

    ``references`` is the SHA-256 of a file with more of them, `<corpus>/<split>.references.jsonl`:
    ``precision`` is then the mean over the answers of the best reference, and ``recall`` the mean
    over the references of the best answer (Zhao et al. 2017). ``library: nltk`` takes NLTK's BLEU
    of an answer and a reference, whose smoothing 7 is not that of Chen and Cherry 2014.
    """

    trainers: ClassVar[tuple[str, ...]] = ("dialog",)
    better: ClassVar[Literal["lower", "higher"]] = "higher"
    digits: ClassVar[int] = 3
    Details: ClassVar[type[Details]] = BleuDetails

    kind: Literal["bleu"] = "bleu"
    split: Split = "test"
    order: Annotated[int, Field(ge=1, le=4)]
    side: Literal["precision", "recall"]
    smoothing: Smoothing
    beam: Beam = Beam()
    references: Sha256 | None = None
    library: Literal["nltk"] | None = None

    @property
    def label(self) -> str:
        several = "" if self.references is None else ", several references"
        by = "" if self.library is None else ", by NLTK"
        return f"{NAMES[self.split]} BLEU-{self.order} {self.side}{several}{by}"

    def measure(self, subject: Any) -> Measured:
        """Mean over a split's responses; an unknown word is a word like any other."""
        score = self._score()
        precisions, recalls = [], []
        found = []
        answered = subject.answered(self.split, self.beam)
        more = self._more(subject, len(answered))
        for (answers, said), others in zip(answered, more, strict=True):
            scores = [[score(each.words, meant) for meant in (said, *others)] for each in answers]
            precisions.append(statistics.fmean(map(max, scores)))
            recalls.append(statistics.fmean(map(max, zip(*scores, strict=True))))
            found += answers
        sides = {"precision": statistics.fmean(precisions), "recall": statistics.fmean(recalls)}
        details: dict[str, Any] = {
            **sides,
            "responses": len(recalls),
            "answers": len(found),
            "mean_length": statistics.fmean(len(answer.words) for answer in found),
            "complete": statistics.fmean(answer.complete for answer in found),
        }
        if self.library is not None:
            details["library"] = f"{self.library} {package_version(self.library)}"
        return Measured(sides[self.side], details)

    def _score(self) -> Score:
        """BLEU of an answer against one reference."""
        if self.library is None:
            return lambda answer, meant: bleu(answer, [meant], self.order, self.smoothing)
        return score_by_nltk(self.order, self.smoothing)

    def _more(self, subject: Any, responses: int) -> Sequence[Sequence[Tokens]]:
        """The references of each response, apart from what was said."""
        if self.references is None:
            return [()] * responses
        from repro.trainers.dialog.corpus import read_references  # noqa: PLC0415 - torch

        corpus = subject.run.training.corpus
        return read_references(corpus, self.split, self.references, subject.corpus)

    def lacking(self, training: Any, data: Path | None) -> str:
        if self.library is not None and find_spec(self.library) is None:
            return f"the package {self.library}: pip install 'repro-verdict[{self.library}]'"
        if self.references is None or data is None:
            return ""  # without a folder the corpus is missing, which is told
        where = data / training.corpus.name / references_file(self.split)
        wrong = mismatch(where, self.references)
        return f"the references of {self.label}: {wrong}" if wrong else ""

    def unsuited(self, training: Any, whose: str) -> Iterator[tuple[str, Words]]:
        if training.trained_by not in self.trainers:
            mistake = f"{whose} is {training.noun}, and only a dialog model answers"
            yield (
                "kind",
                (mistake, "perplexity or rank", "measure something else, or name other arms"),
            )

    def same_elsewhere(self, other: MeasurementSpec) -> bool:
        """All but the split is equal, and neither was trained on."""
        if not isinstance(other, Bleu):
            return False
        held_out = "train" not in (self.split, other.split)
        return held_out and self.model_copy(update={"split": other.split}) == other

    def cost(self, training: Any) -> float:
        """Beam search decodes for each hypothesis and prediction, whatever was said."""
        step = 2.0 * self.beam.size * training.decoded_weights + STEP / 3
        return training.responses(self.split) * self.beam.longest * step

    def shares_work(self, other: MeasurementSpec) -> bool:
        """With every other BLEU of the same answers."""
        return isinstance(other, Bleu) and (other.split, other.beam) == (self.split, self.beam)


K = 5.0
"""The constant of smoothing 4, set empirically (Chen and Cherry 2014)."""


def bleu(
    hypothesis: Tokens, references: Sequence[Tokens], order: int, smoothing: Smoothing
) -> float:
    """Brevity penalty times the geometric mean of n-gram precisions, n from 1 to ``order``.

    From 0 to 1. The penalty is exp(1 - r/c) for a hypothesis of c words that is shorter than r,
    the reference length nearest to c (of two the shorter). A hypothesis without words scores 0.
    Reference: Papineni et al. 2002.
    """
    if not hypothesis:
        return 0.0
    length = len(hypothesis)
    nearest = min((len(reference) for reference in references), key=lambda r: (abs(r - length), r))
    precisions = smoothed_precisions(hypothesis, references, order, smoothing)
    if min(precisions) == 0:
        return 0.0
    penalty = min(0.0, 1 - nearest / length)
    return math.exp(penalty + statistics.fmean([math.log(precision) for precision in precisions]))


def smoothed_precisions(
    hypothesis: Tokens, references: Sequence[Tokens], order: int, smoothing: Smoothing
) -> list[float]:
    """Share of the hypothesis's n-grams that match, n from 1 to ``order``, after smoothing.

    A hypothesis with fewer than n words has one n-gram for this purpose, and no match; none of
    the sources says what to do. No precision is above 1.
    """
    orders = range(1, order + 1)
    totals = [float(max(1, len(hypothesis) - n + 1)) for n in orders]
    matches = [float(matched(hypothesis, references, n)) for n in orders]
    if smoothing == "add_one":
        totals = [totals[0], *(total + 1 for total in totals[1:])]
        matches = [matches[0], *(match + 1 for match in matches[1:])]
    if smoothing == "chen_cherry_7":
        following = float(matched(hypothesis, references, order + 1))
        matches = _averaged(_filled(matches, len(hypothesis)), following)
    return [min(1.0, match / total) for match, total in zip(matches, totals, strict=True)]


def matched(hypothesis: Tokens, references: Sequence[Tokens], n: int) -> int:
    """How many n-grams match, each no more often than in the reference that has it most often."""
    most: Counter[tuple[Hashable, ...]] = Counter()
    for reference in references:
        most |= _ngrams(reference, n)
    return (_ngrams(hypothesis, n) & most).total()


def _ngrams(words: Tokens, n: int) -> Counter[tuple[Hashable, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _filled(matches: Sequence[float], length: int) -> list[float]:
    """Smoothing 4: the i-th zero becomes (ln(length) / K)^i, smaller for a short hypothesis."""
    result, count = [], 1.0
    for match in matches:
        if match == 0:
            count *= math.log(length) / K
        result.append(match or count)
    return result


def _averaged(matches: Sequence[float], following: float) -> list[float]:
    """Smoothing 5: m'_n = (m'_(n-1) + m_n + m_(n+1)) / 3 with m'_0 = m_1 + 1.

    ``following`` is the count of the order above the last. Smoothing 7 is 5 after 4.
    """
    result = [matches[0] + 1]
    for match, after in zip(matches, [*matches[1:], following], strict=True):
        result.append((result[-1] + match + after) / 3)
    return result[1:]


NLTK_METHODS: Final[dict[Smoothing, str]] = {
    "none": "method0",
    "add_one": "method2",
    "chen_cherry_7": "method7",
}
"""By the names of NLTK's SmoothingFunction.

Its method 7 fills the i-th order without a match with ln(length) / (2^i 5), where Chen and Cherry
2014 have (ln(length) / 5)^i, and gives an answer without a common word 0.
"""


def score_by_nltk(order: int, smoothing: Smoothing) -> Score:
    """NLTK's sentence BLEU, n-grams up to ``order`` alike, which the published code has.

    DataError where it is not installed: `pip install 'repro-verdict[nltk]'`.
    """
    try:
        from nltk.translate import bleu_score  # noqa: PLC0415 - optional
    except ImportError as error:
        raise DataError(
            f"BLEU by NLTK: {error}\n  expected: the package nltk\n"
            "  to do: pip install 'repro-verdict[nltk]', or leave `library` out"
        ) from error
    smooth = getattr(bleu_score.SmoothingFunction(), NLTK_METHODS[smoothing])
    weights = (1 / order,) * order

    def score(answer: Tokens, meant: Tokens) -> float:
        if not answer:
            return 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it warns of each order without a match
            return float(bleu_score.sentence_bleu([meant], answer, weights, smooth))

    return score
