"""Does our number fit the paper's?"""

from __future__ import annotations

from repro.stats.prediction import Prediction
from repro.stats.result import Interval, TestResult
from repro.verdict.words import Agreement

OTHER_UNITS = frozenset(
    {
        "brunner_munzel",
        "welch_relative",
        "tost_relative",
        "non_superiority_relative",
        "non_inferiority_relative",
    }
)
"""Tests of two means whose effect is a probability or relative."""


def agree(prediction: Prediction | None, result: TestResult) -> Agreement:
    """Compares our effect with what the paper's number predicts; ``None``: NOT-CHECKABLE.

    Inside the prediction interval, ends included: COMPATIBLE. Outside: OPPOSITE if the sign
    differs from the paper's and our own interval excludes *no difference*, else LARGER or
    SMALLER by size signed so that the paper's effect is positive. An exact result is its
    own interval; a paper's effect of exactly none has no opposite and can only be exceeded.
    NOT-CHECKABLE, too, for a test whose effect is not in the units of the paper's number.
    """
    if prediction is None or result.test in OTHER_UNITS:
        return Agreement.NOT_CHECKABLE
    if result.effect in prediction.interval:
        return Agreement.COMPATIBLE
    theirs, ours = prediction.effect - prediction.null, result.effect - prediction.null
    own = result.interval or Interval(result.effect, result.effect, 0.95)
    if theirs * ours < 0 and prediction.null not in own:
        return Agreement.OPPOSITE
    return Agreement.LARGER if (ours - theirs) * (theirs or ours) > 0 else Agreement.SMALLER
