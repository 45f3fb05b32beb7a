"""Does our number fit the paper's?"""

from __future__ import annotations

from repro.stats.prediction import Prediction
from repro.stats.result import TestResult
from repro.verdict.words import Agreement

OTHER_UNITS = frozenset(
    {
        "brunner_munzel",
        "tost_relative",
        "non_superiority_relative",
        "non_inferiority_relative",
    }
)
"""Tests of two means whose effect is a probability or relative."""


def agree(prediction: Prediction | None, result: TestResult) -> Agreement:
    """Compares our effect with what the paper's number predicts; ``None``: NOT-CHECKABLE.

    Inside the prediction interval, ends included: COMPATIBLE. Outside: OPPOSITE if the sign
    differs from the paper's and our own result excludes *no difference*, else LARGER or
    SMALLER by size signed so that the paper's effect is positive. A paper's effect of exactly
    none has no opposite and can only be exceeded. NOT-CHECKABLE, too, for a test whose effect
    is not in the units of the paper's number. METHODS.md 2.1.
    """
    if prediction is None or result.test in OTHER_UNITS:
        return Agreement.NOT_CHECKABLE
    if result.effect in prediction.interval:
        return Agreement.COMPATIBLE
    theirs, ours = prediction.effect - prediction.null, result.effect - prediction.null
    if theirs * ours < 0 and _excludes(result, prediction.null):
        return Agreement.OPPOSITE
    return Agreement.LARGER if (ours - theirs) * (theirs or ours) > 0 else Agreement.SMALLER


def _excludes(result: TestResult, null: float) -> bool:
    """Whether a result with an effect other than ``null`` shows that it is not ``null``.

    By its interval; without one by p, at its level, of a one-sided test by the p of the side
    where the effect lies. A comparison without either is certain if it is exact.
    """
    if result.interval is not None:
        return null not in result.interval
    if result.p is None:
        return result.exact
    p: float | None = result.p
    one_sided = result.alternative in ("greater", "less")
    if one_sided and (result.alternative == "greater") != (result.effect > null):
        p = result.p_opposite
    return p is not None and p <= result.alpha
