"""What should a replication find, if the original was right?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from repro.errors import ClaimError
from repro.stats.contrast import Contrast, satterthwaite
from repro.stats.result import Interval
from repro.stats.sample import Arm, Sample, Summary, summarise

Pair: TypeAlias = tuple[Arm, Arm]


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
    original: Pair, ours: Pair, *, level: float = 0.95, shared_baseline: bool = False
) -> Prediction:
    """Prediction interval of our difference of means, from the original's.

    ``theta_o ± t sqrt(se_o² + se_r²)``, with Welch-Satterthwaite degrees of freedom over all
    four arms; covers .945 to .950 at n = 3, 5, 10. Each pair is (A, B). Where B is the same
    printed baseline in both (``shared_baseline``) it cancels, and only A has an error. An
    arm without variance counts as exact. ``ClaimError`` for an arm whose variance is unknown
    and where no arm varies. METHODS.md 1.9.
    """
    pairs = [tuple(summarise(arm) for arm in pair) for pair in (original, ours)]
    contrast = _predict([(pair[0], pair[1]) for pair in pairs], shared_baseline=shared_baseline)
    return Prediction(contrast.effect, contrast.interval(level), 0.0, contrast.df)


def predict_ratio(
    original: Pair, ours: Pair, *, level: float = 0.95, shared_baseline: bool = False
) -> Prediction:
    """Prediction interval of our ratio A over B, from the original's; see ``predict_difference``.

    Computed on logarithms. Of an arm known only by its summary the logarithm of the mean is
    used, with standard error ``sd / (mean sqrt(n))`` (delta method): good to a per cent
    while sd/mean stays below about 0.15, because then arithmetic and geometric means agree
    that well. ``ClaimError`` also for a mean or value not above 0.
    """
    pairs = [tuple(log_summary(arm) for arm in pair) for pair in (original, ours)]
    contrast = _predict([(pair[0], pair[1]) for pair in pairs], shared_baseline=shared_baseline)
    logs = contrast.interval(level)
    interval = Interval(math.exp(logs.low), math.exp(logs.high), level)
    return Prediction(math.exp(contrast.effect), interval, 1.0, contrast.df)


def _predict(pairs: list[tuple[Summary, Summary]], *, shared_baseline: bool) -> Contrast:
    arms = [pair[0] for pair in pairs] if shared_baseline else [*pairs[0], *pairs[1]]
    errors = [arm.standard_error for arm in arms]
    se = math.hypot(*errors)
    if se == 0:
        raise ClaimError("no arm varies, so there is no error to predict a replication with")
    first, second = pairs[0]
    return Contrast(first.mean - second.mean, se, satterthwaite(errors, [arm.n for arm in arms]))


def log_summary(arm: Arm) -> Summary:
    """The summary of an arm's logarithms; of a mere summary by the delta method.

    ``ClaimError`` for a mean or value not above 0.
    """
    if isinstance(arm, Sample):
        return arm.log().summary()
    if arm.mean <= 0:
        raise ClaimError(f"a ratio needs means above 0, not {arm.mean}")
    return Summary(arm.n, math.log(arm.mean), arm.spread / arm.mean)
