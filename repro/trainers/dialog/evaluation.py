"""What is measured on a dialog model: perplexity, rank, and BLEU of answers."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from repro.trainers.dialog.corpus import BEGIN, END, DialogSplit, batch_of, in_order
from repro.trainers.dialog.model import DialogModel, Response, respond
from repro.trainers.dialog.spec import Smoothing
from repro.trainers.language_model.evaluation import full_precision, rows_of
from repro.trainers.language_model.measurements.rank import Spectrum, rank_of

if TYPE_CHECKING:
    from repro.trainers.dialog.spec import Beam
    from repro.trainers.measurement import Bleu


BATCH = 60
"""Responses that are read at a time; no number depends on it but by rounding."""


@torch.no_grad()
def mean_loss(model: DialogModel, split: DialogSplit, batch_size: int = BATCH) -> tuple[float, int]:
    """Mean negative log-likelihood in nats a predicted token, and how many were predicted.

    Every token of every response counts once, ``</s>`` too. Sums are float64.
    """
    total, count = 0.0, 0
    with full_precision():
        for context_1ND, targets_N in contexts(model, split, batch_size):
            loss = model.output.loss(context_1ND, targets_N.unsqueeze(0))
            total += float(loss) * len(targets_N)
            count += len(targets_N)
    return total / count, count


def contexts(
    model: DialogModel, split: DialogSplit, batch_size: int = BATCH
) -> Iterator[tuple[Tensor, Tensor]]:
    """Contexts (1, N, D) and the words (N,) that follow them, batch by batch."""
    here = split.to(model.output.weight.device)
    for examples in in_order(here.examples, batch_size):
        batch = batch_of(here, examples)
        with torch.no_grad(), full_precision():
            yield model(batch), batch.targets


Words = Sequence[Hashable]


K = 5.0
"""The constant of smoothing 4, set empirically (Chen and Cherry 2014)."""


class PrecisionRecall(NamedTuple):
    """Mean BLEU of several responses to one context, from 0 to 1."""

    precision: float
    recall: float


def precision_recall(
    hypotheses: Sequence[Words], references: Sequence[Words], order: int, smoothing: Smoothing
) -> PrecisionRecall:
    """BLEU of each hypothesis against each reference, summed up over one and over the other.

    Precision is the mean over hypotheses of the best reference's BLEU, recall the mean over
    references of the best hypothesis's. With one reference that is the mean and the maximum over
    hypotheses, as in the code of Zhao et al. 2017: there recall is never below precision.
    """
    scores = [[bleu(h, [r], order, smoothing) for r in references] for h in hypotheses]
    best_references = [max(row) for row in scores]
    best_hypotheses = [max(column) for column in zip(*scores, strict=True)]
    return PrecisionRecall(_mean(best_references), _mean(best_hypotheses))


def bleu(hypothesis: Words, references: Sequence[Words], order: int, smoothing: Smoothing) -> float:
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
    return math.exp(penalty + _mean([math.log(precision) for precision in precisions]))


def smoothed_precisions(
    hypothesis: Words, references: Sequence[Words], order: int, smoothing: Smoothing
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


def matched(hypothesis: Words, references: Sequence[Words], n: int) -> int:
    """How many n-grams match, each no more often than in the reference that has it most often."""
    most: Counter[tuple[Hashable, ...]] = Counter()
    for reference in references:
        most |= _ngrams(reference, n)
    return (_ngrams(hypothesis, n) & most).total()


def _ngrams(words: Words, n: int) -> Counter[tuple[Hashable, ...]]:
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


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def dialog_perplexity(model: DialogModel, split: DialogSplit) -> tuple[float, int]:
    """Perplexity of a split's responses, ``</s>`` included, and the number of tokens it is over."""
    loss, counted = mean_loss(model, split)
    return math.exp(loss), counted


def dialog_rank(
    model: DialogModel, split: DialogSplit, first: int | None = None
) -> tuple[float, dict[str, Any], Spectrum]:
    """Press rank over the predicted tokens of a split's responses, or over the ``first`` of them.

    Facts and singular values as of ``measure_rank``; DataError if there are fewer.
    """
    rows = rows_of(model.output, (context for context, _ in contexts(model, split)))
    return rank_of(rows, model.output, split.predicted, first)


def dialog_bleu(
    measurement: Bleu, model: DialogModel, split: DialogSplit, words: Sequence[str]
) -> tuple[float, dict[str, Any]]:
    """Mean over a split's responses, and facts: both sides, and what was answered.

    An unknown word is a word like any other, in answers and references.
    """
    scores: list[PrecisionRecall] = []
    complete: list[float] = []
    lengths: list[int] = []
    weights = _sha256(model)
    for answers, reference in _answered(weights, model, split, measurement.beam, tuple(words)):
        found = [answer.words for answer in answers]
        order, smoothing = measurement.order, measurement.smoothing
        scores.append(precision_recall(found, [reference], order, smoothing))
        complete += [answer.complete for answer in answers]
        lengths += [len(answer) for answer in found]
    sides = {
        side: statistics.fmean(getattr(score, side) for score in scores)
        for side in ("precision", "recall")
    }
    details = {
        **sides,
        "responses": len(scores),
        "answers": len(lengths),
        "mean_length": statistics.fmean(lengths),
        "complete": statistics.fmean(complete),
    }
    return sides[measurement.side], details


@lru_cache(maxsize=1)
def _answered(
    _weights: str, model: DialogModel, split: DialogSplit, beam: Beam, words: tuple[str, ...]
) -> list[tuple[list[Response], tuple[int, ...]]]:
    """The answers to each context of a split, and the words of what was said.

    The last ones are kept for other orders and the other side, while ``_weights`` are the same.
    """
    here, start, end = split.to(model.output.weight.device), words.index(BEGIN), words.index(END)
    found = []
    for example in here.examples:
        with torch.no_grad(), full_precision():
            begin_1BD = model.encode(batch_of(here, [example]))
        answers = respond(model, begin_1BD, beam, start=start, end=end)
        found.append((answers, tuple(here.utterance(example.response)[1:-1].tolist())))
    return found


def _sha256(model: DialogModel) -> str:
    """SHA-256 of all weights."""
    summary = hashlib.sha256()
    for tensor in model.state_dict().values():
        summary.update(tensor.detach().cpu().numpy().tobytes())
    return summary.hexdigest()
