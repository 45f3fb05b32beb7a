"""What should a replication find, if the original was right?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from repro.errors import ClaimError
from repro.stats.contrast import Contrast, satterthwaite
from repro.stats.result import Interval
from repro.stats.study import Pair, arms_of, both_of, logarithms, ratio_of


@dataclass(frozen=True, slots=True)
class Prediction:
    """The original's effect and the interval in which the replication's effect should lie.

    ``null`` is the effect that means *no difference*: 0, or 1 for a ratio.
    """

    effect: float
    interval: Interval
    null: float
    df: float


def predict_difference(
    original: Pair,
    ours: Pair,
    *,
    level: float = 0.95,
    shared_baseline: bool = False,
    paired: bool = False,
) -> Prediction:
    """Prediction interval of our difference of means, from the original's.

    ``theta_o ± t sqrt(se_o² + se_r²)``, with Welch-Satterthwaite degrees of freedom over all
    four arms; covers .945 to .950 at n = 3, 5, 10. Each pair is (A, B). Where B is the same
    printed baseline in both (``shared_baseline``) it cancels, and only A has an error. Where
    ours are ``paired`` by replicate our error is that of the mean of the differences; the
    original's arms count as independent all the same, so the interval covers .95 if they are,
    and more if they were positively correlated pairs. An arm without variance counts as exact.
    ``ClaimError`` for an arm whose variance is unknown, where no arm varies, for pairs that the
    paired t-test refuses, and for pairs with a shared baseline. METHODS.md 1.9.
    """
    contrast = _predict(original, ours, shared_baseline=shared_baseline, paired=paired)
    return Prediction(contrast.effect, contrast.interval(level), 0.0, contrast.df)


def predict_ratio(
    original: Pair,
    ours: Pair,
    *,
    level: float = 0.95,
    shared_baseline: bool = False,
    paired: bool = False,
) -> Prediction:
    """Prediction interval of our ratio A over B, from the original's; see ``predict_difference``.

    Computed on logarithms. Of an arm known only by its summary the logarithm of the mean is
    used, with standard error ``sd / (mean sqrt(n))`` (delta method): good to a per cent
    while sd/mean stays below about 0.15, because then arithmetic and geometric means agree
    that well. ``ClaimError`` also for a mean or value not above 0, and for a ratio above 1e308.
    """
    pairs = logarithms(original), logarithms(ours)
    contrast = _predict(*pairs, shared_baseline=shared_baseline, paired=paired)
    logs = contrast.interval(level)
    interval = Interval(ratio_of(logs.low), ratio_of(logs.high), level)
    return Prediction(ratio_of(contrast.effect), interval, 1.0, contrast.df)


def _predict(original: Pair, ours: Pair, *, shared_baseline: bool, paired: bool) -> Contrast:
    if paired and shared_baseline:
        raise ClaimError("pairs have both arms of their own, so they share no printed baseline")
    first, second = both_of(original)
    own = arms_of(ours, paired=paired)
    arms = [first, own[0]] if shared_baseline else [first, second, *own]
    errors = [arm.standard_error for arm in arms]
    se = math.hypot(*errors)
    if se == 0:
        raise ClaimError("no arm varies, so there is no error to predict a replication with")
    return Contrast(first.mean - second.mean, se, satterthwaite(errors, [arm.n for arm in arms]))
