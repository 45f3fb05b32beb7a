"""How large is a difference, in units that measurements share? Shown beside it, never judged."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from repro.stats.contrast import student_contrast
from repro.stats.permutation import Array
from repro.stats.rank_tests import rank_interval
from repro.stats.result import Interval
from repro.stats.sample import Arm, Sample, summarise


@dataclass(frozen=True, slots=True)
class EffectSize:
    """An effect without units, with its interval where there is one.

    ``assumes`` says what must hold for it: ``normal, equal variances``, ``normal``, or nothing.
    """

    value: float
    interval: Interval | None
    assumes: str = ""


def probability_of_less(a: Arm, b: Arm, *, level: float = 0.95) -> EffectSize:
    """P(A < B) + P(A = B) / 2: the chance that a replicate of A is below one of B.

    From two samples it is Mann and Whitney's U over ``n_A n_B``, with Brunner and Munzel's
    interval cut at 0 and 1, and none where one arm lies wholly beyond the other. From
    summaries it is that of two normal distributions, without interval. ``ClaimError`` for an
    arm of one value and, from summaries, where neither varies. McGraw & Wong 1992;
    Brunner & Munzel 2000; METHODS.md 1.1.
    """
    first, second = summarise(a), summarise(b)
    spread = math.hypot(first.spread, second.spread)
    if isinstance(a, Sample) and isinstance(b, Sample):
        return _of_samples(np.array(a.values), np.array(b.values), level)
    if spread == 0:
        student_contrast(a, b)  # refuses
    return EffectSize(float(ndtr((second.mean - first.mean) / spread)), None, "normal")


def _of_samples(x: Array, y: Array, level: float) -> EffectSize:
    from scipy.stats import mannwhitneyu  # noqa: PLC0415 - slow to import

    u = float(mannwhitneyu(y, x, method="asymptotic").statistic)
    return EffectSize(u / (len(x) * len(y)), rank_interval(y, x, level))
