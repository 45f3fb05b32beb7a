"""A language of which everything is known: probabilities, entropy, true rank.

Generator version 1. Each word v has a vector B(v), standard normal in ``dimension`` dimensions,
and a frequency 1 / (v + 10), as in Zipf's law. What follows the word w is one of K topics with
equal shares; topic k looks for words along the direction A_k(w) = R_k B(w), where R_k is a
normal matrix of variance 1 / dimension:

    P*(v | w) = 1/K sum_k softmax_v(sharpness / sqrt(dimension) A_k(w) . B(v) - log(v + 10)).

The products have standard deviation ``sharpness``. One topic alone would have
log-probabilities of rank dimension + 2; the logarithm of the mixture has (nearly) full rank.
The vectors serve for reading and for predicting, as the tied embedding of a language model does,
so that a small model can learn something of the language from a short text. Each split is a
walk of its own that starts in the stationary distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from repro.errors import DataError
from repro.trainers.language_model.randomness import philox
from repro.trainers.language_model.spec import SyntheticCorpus
from repro.trainers.measurement import Split

Matrix = npt.NDArray[np.float64]


ZIPF_OFFSET = 10


LONGEST_ITERATION = 10_000


FLOAT64_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class TrueRank:
    """Singular values of log P* above ``threshold`` = relative tolerance x the largest one."""

    rank: int
    threshold: float
    largest: float


@lru_cache(maxsize=2)
def log_conditional_matrix(spec: SyntheticCorpus) -> Matrix:
    """Logarithm of P*(next | word), (V, V) float64, read-only; finite for every sharpness."""
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

    Raises DataError when the iteration has not come to an end, as in a language that
    (nearly) falls apart, or goes round in a circle.
    """
    conditional_VV = conditional_matrix(spec)
    q_V = np.full(spec.vocabulary, 1 / spec.vocabulary)
    for _ in range(LONGEST_ITERATION):
        following_V = q_V @ conditional_VV
        following_V /= following_V.sum()
        if np.abs(following_V - q_V).sum() < 1e-14:
            return q_V
        q_V = following_V
    message = (
        f"{spec.label}: its long-run frequencies do not settle in {LONGEST_ITERATION:,} steps\n"
        "  expected: a language in which every word leads to every other soon enough\n"
        "  to do: lower corpus.sharpness, or take more components"
    )
    raise DataError(message)


def entropy_perplexity(spec: SyntheticCorpus) -> float:
    """Exponential of the entropy rate: the least perplexity that any model can have."""
    expected_V = (conditional_matrix(spec) * log_conditional_matrix(spec)).sum(axis=1)
    return float(np.exp(-stationary_distribution(spec) @ expected_V))


def true_rank(spec: SyntheticCorpus, *, epsilon: float = FLOAT64_EPSILON) -> TrueRank:
    """Rank of log P* by Press's threshold, 1/2 sqrt(2V + 1) sigma_1 epsilon, in float64.

    ``epsilon`` is that of the precision whose rank it is compared with: float64's own, or
    float32's 1.19e-7 for what is visible of the language through float32 log-probabilities.
    """
    sigma_V = np.linalg.svd(log_conditional_matrix(spec), compute_uv=False)
    threshold = float(0.5 * np.sqrt(2 * spec.vocabulary + 1) * sigma_V[0] * epsilon)
    return TrueRank(int((sigma_V > threshold).sum()), threshold, float(sigma_V[0]))


def sample_text(spec: SyntheticCorpus, split: Split) -> npt.NDArray[np.int64]:
    """The words of one split: for each, the inverse of the cumulative distribution at a uniform."""
    cumulative_VV = np.cumsum(conditional_matrix(spec), axis=1)
    cumulative_VV[:, -1] = 1.0
    start_V = np.cumsum(stationary_distribution(spec))
    start_V[-1] = 1.0
    count = {"train": spec.tokens.train, "valid": spec.tokens.valid, "test": spec.tokens.test}
    uniforms = philox(_identity(spec, split)).random(count[split]).tolist()
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
    """What a stream of the generator is keyed by: neither sharpness nor lengths draw it anew."""
    keyed = {"generator", "seed", "vocabulary", "dimension", "components"}
    return {"language": spec.model_dump(include=keyed), "purpose": purpose}
