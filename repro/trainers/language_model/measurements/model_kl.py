"""KL divergences of next-word distributions, in nats; sums are float64, on the model's device."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from repro.errors import DataError
from repro.trainers.language_model.corpus import (
    batchify,
    entropy_perplexity,
    log_conditional_matrix,
)
from repro.trainers.language_model.evaluation import rows_of
from repro.trainers.language_model.output.layer import OutputLayer
from repro.trainers.language_model.randomness import philox
from repro.trainers.language_model.spec import SyntheticCorpus
from repro.trainers.measurement import Measured

PAIRS_AT_ONCE = 1024

ROWS_AT_ONCE = 64
"""Rows that are held in float64: more would need more memory, and take longer."""


def divergences(log_p_NV: Tensor, log_q_NV: Tensor) -> Tensor:
    """KL(p || q) of each row, (N,) float64; a word that p gives no probability counts 0."""
    parts = zip(log_p_NV.split(ROWS_AT_ONCE), log_q_NV.split(ROWS_AT_ONCE), strict=True)
    found = []
    for log_p, log_q in parts:
        terms = log_p.double().exp() * (log_p.double() - log_q)
        found.append(torch.where(log_p > -math.inf, terms, 0.0).sum(dim=1))
    return torch.cat(found)


def drawn_pairs(rows: int, pairs: int, seed: int) -> Rows:
    """Two rows (pairs, 2) a pair, independent and uniform over ``rows``."""
    generator = philox({"purpose": "pairs of contexts", "seed": seed})
    return generator.integers(rows, size=(pairs, 2), dtype=np.int64)


def over_drawn_pairs(
    predictions: Iterable[tuple[Tensor, Tensor]], output: OutputLayer, rows: int, pairs: Rows
) -> Measured:
    """Mean KL(P(. | c) || P(. | c')) over ``pairs`` (n, 2) of rows c, c', facts, and each of them.

    ``predictions`` are contexts (T, B, D) and words (T, B) of ``rows`` rows in all. The standard
    error is that of the mean over the drawn pairs, around the mean over every pair. DataError where
    the mean is not finite.
    """
    distinct, place = np.unique(pairs, return_inverse=True)
    contexts_ND, _ = gathered(predictions, distinct)
    left_N, right_N = torch.from_numpy(place.reshape(pairs.shape)).to(contexts_ND.device).unbind(1)

    def decoded(places_N: Tensor) -> Iterator[Tensor]:
        parts = places_N.split(PAIRS_AT_ONCE)
        return rows_of(output, (contexts_ND[part].unsqueeze(0) for part in parts))

    both = zip(decoded(left_N), decoded(right_N), strict=True)
    found_N = torch.cat([divergences(log_p_NV, log_q_NV) for log_p_NV, log_q_NV in both])
    error = float(found_N.std()) / math.sqrt(len(found_N))
    facts = {"contexts": rows, "pairs": len(found_N), "standard_error": error}
    kept = {"divergences": found_N.float().cpu().numpy()}
    return Measured(max(0.0, finite(float(found_N.mean()))), facts, kept)


def over_every_pair(chunks: Iterable[Tensor]) -> tuple[float, dict[str, Any]]:
    """Mean KL(P(. | c) || P(. | c')) over every pair of rows c, c' of log-probabilities, and facts.

    ``chunks`` are blocks (rows, V). In one pass: the mean over c and c' of sum_v p_c(v) (log p_c(v)
    - log p_c'(v)) is the mean of sum_v p_c(v) log p_c(v), less the product of the mean p and the
    mean log p. DataError where the mean is not finite.
    """
    rows, negative_entropy = 0, 0.0
    sums: tuple[Tensor, Tensor] | None = None
    for part_NV in (part for chunk_NV in chunks for part in chunk_NV.split(ROWS_AT_ONCE)):
        log_p_NV = part_NV.double()
        p_NV = log_p_NV.exp()
        terms_NV = torch.where(p_NV > 0, p_NV * log_p_NV, 0.0)
        negative_entropy += float(terms_NV.sum())
        here = p_NV.sum(dim=0), log_p_NV.sum(dim=0)
        sums = here if sums is None else (sums[0] + here[0], sums[1] + here[1])
        rows += len(part_NV)
    if sums is None:
        raise ValueError("no rows")
    products_V = torch.where(sums[0] > 0, sums[0] * sums[1], 0.0)
    mean = negative_entropy / rows - float(products_V.sum()) / rows**2
    return max(0.0, finite(mean)), {"contexts": rows, "pairs": rows**2}


def from_truth(
    chunks: Iterable[Tensor], tokens: Tensor, streams: int, language: SyntheticCorpus
) -> tuple[float, dict[str, Any]]:
    """Mean KL(P*(. | w) || P(. | context)) over a text that ``language`` made, and facts.

    ``chunks`` are blocks (rows, V) of log-probabilities, in the order in which ``tokens`` (N,) are
    read in parallel ``streams``. Facts: the least perplexity of the language, those of the truth
    and of the model on the words that were read, and the mean of the difference of their
    log-probabilities with its standard error. DataError where the mean is not finite.
    """
    text_LB = batchify(tokens, streams)
    words_N, targets_N = text_LB[:-1].flatten(), text_LB[1:].flatten()
    truth_VV, start = torch.tensor(log_conditional_matrix(language)), 0
    found, truths, models = [], [], []
    for chunk_NV in chunks:
        here = slice(start, start + len(chunk_NV))
        start += len(chunk_NV)
        truth_VV = truth_VV.to(chunk_NV.device)
        truth_NV = truth_VV[words_N[here].to(chunk_NV.device)]
        found.append(divergences(truth_NV, chunk_NV).cpu())
        targets_N1 = targets_N[here].to(chunk_NV.device).unsqueeze(1)
        truths.append(truth_NV.gather(1, targets_N1).squeeze(1).cpu())
        models.append(chunk_NV.gather(1, targets_N1).squeeze(1).double().cpu())
    truth_N, model_N = torch.cat(truths), torch.cat(models)
    excess_N = truth_N - model_N
    facts = {
        "contexts": start,
        "floor": entropy_perplexity(language),
        "truth": math.exp(-float(truth_N.mean())),
        "model": math.exp(-finite(float(model_N.mean()))),
        "excess": float(excess_N.mean()),
        "excess_error": float(excess_N.std()) / math.sqrt(len(excess_N)),
    }
    return max(0.0, finite(float(torch.cat(found).mean()))), facts


def finite(mean: float) -> float:
    """The same number; DataError for one that no report could show."""
    if math.isfinite(mean):
        return mean
    raise DataError(
        f"a mean of {mean} nats: the model gives some word no probability at all\n"
        "  expected: finite log-probabilities\n"
        "  to do: make the output layer return log-probabilities that do not underflow"
    )


Rows: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


def gathered(predictions: Iterable[tuple[Tensor, Tensor]], rows: Rows) -> tuple[Tensor, Tensor]:
    """Contexts (n, D) of these rows, and the words (n,) that follow them.

    ``predictions`` are contexts (T, B, D) and words (T, B), window by window; ``rows`` (n,) are
    sorted, distinct, and below the number of contexts. Nothing is read beyond the last of them.
    """
    contexts, targets, start = [], [], 0
    for context_TBD, targets_TB in predictions:
        end = start + targets_TB.numel()
        first, last = np.searchsorted(rows, [start, end])
        if last > first:
            here = torch.from_numpy(rows[first:last] - start).to(context_TBD.device)
            contexts.append(context_TBD.flatten(0, 1)[here])
            targets.append(targets_TB.flatten()[here])
        start = end
        if last == len(rows):
            break
    return torch.cat(contexts), torch.cat(targets)
