"""BLEU by NLTK, which the published code has: `pip install 'repro-verdict[nltk]'`."""

from __future__ import annotations

import warnings
from typing import Final

from repro.errors import DataError
from repro.trainers.dialog.spec import Score, Smoothing, Tokens

METHODS: Final[dict[Smoothing, str]] = {
    "none": "method0",
    "add_one": "method2",
    "chen_cherry_7": "method7",
}
"""By the names of NLTK's SmoothingFunction.

Its method 7 fills the i-th order without a match with ln(length) / (2^i 5), where Chen and Cherry
2014 have (ln(length) / 5)^i, and gives an answer without a common word 0.
"""


def score_by_nltk(order: int, smoothing: Smoothing) -> Score:
    """NLTK's sentence BLEU, n-grams up to ``order`` alike; DataError where it is not installed."""
    try:
        from nltk.translate import bleu_score  # noqa: PLC0415 - optional
    except ImportError as error:
        raise DataError(
            f"BLEU by NLTK: {error}\n  expected: the package nltk\n"
            "  to do: pip install 'repro-verdict[nltk]', or leave `library` out"
        ) from error
    smooth = getattr(bleu_score.SmoothingFunction(), METHODS[smoothing])
    weights = (1 / order,) * order

    def score(answer: Tokens, meant: Tokens) -> float:
        if not answer:
            return 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it warns of each order without a match
            return float(bleu_score.sentence_bleu([meant], answer, weights, smooth))

    return score
