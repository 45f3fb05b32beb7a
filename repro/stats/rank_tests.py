"""Does one arm tend to be larger? A test of ranks for arms of unequal spread."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from repro.errors import ClaimError, TooFewError
from repro.stats.alternative import Alternative, interval_level, p_values
from repro.stats.permutation import Array
from repro.stats.result import Interval, TestResult, check_alpha
from repro.stats.sample import Arm, Sample, levelled, require_sample


def brunner_munzel(
    a: Arm, b: Arm, *, alternative: Alternative = "two-sided", alpha: float = 0.05
) -> TestResult:
    """Brunner and Munzel's test that P(A > B) + P(A = B) / 2 is not one half.

    ``effect`` is that probability and ``interval`` (levels as ``welch``) its own, cut at 0 and
    1: neither is in the units of the measurement. Where one arm lies wholly beyond the other
    the variance of the ranks is 0 and the test has no p; then p is that of the exact
    permutation test of the ranks, ``1 / C(n_A + n_B, n_A)`` one-sided, there is no interval,
    and ``exact`` is true. That p can be larger than one just short of separation.
    Not safe below ten replicates (level 0 to .14 at n = 3, .08 at n = 5, .054 at n = 10).
    ``ClaimError`` for a summary, fewer than two values in an arm, and where all values agree.
    Brunner & Munzel 2000; METHODS.md 1.1, 2.2.
    """
    check_alpha(alpha)
    first, second = _checked(a, b)
    x, y = np.array(first.values), np.array(second.values)
    greater, less = brunner_munzel_p_values(x, y)
    p, p_opposite = p_values(alternative, float(greater), float(less))
    exact = bool(separated(x, y))
    wins, ties = np.sum(x[:, None] > y), np.sum(x[:, None] == y)
    return TestResult(
        test="brunner_munzel",
        effect=float(wins + ties / 2) / (first.n * second.n),
        alpha=alpha,
        n=(first.n, second.n),
        interval=rank_interval(x, y, interval_level(alternative, alpha)),
        p=p,
        p_opposite=p_opposite,
        alternative=alternative,
        exact=exact,
    )


def brunner_munzel_p_values(x: Array, y: Array) -> tuple[Array, Array]:
    """One-sided p of *x tends to be greater* and *less*, along the last axis; exact if separated.

    Shapes ``(..., n) -> (...)``.
    """
    from scipy.stats import brunnermunzel  # noqa: PLC0415 - slow to import

    chance = 1 / math.comb(x.shape[-1] + y.shape[-1], x.shape[-1])
    greater = np.where(x.mean(-1) > y.mean(-1), chance, 1.0)
    less = np.where(x.mean(-1) > y.mean(-1), 1.0, chance)
    rest = ~separated(x, y)
    if rest.any():
        found = brunnermunzel(x[rest], y[rest], alternative="greater", axis=-1)
        greater[rest] = found.pvalue
        less[rest] = brunnermunzel(x[rest], y[rest], alternative="less", axis=-1).pvalue
    return greater, less


def separated(x: Array, y: Array) -> npt.NDArray[np.bool_]:
    """Whether one arm lies wholly beyond the other, along the last axis."""
    return np.asarray((x.min(-1) > y.max(-1)) | (y.min(-1) > x.max(-1)))


def rank_interval(x: Array, y: Array, level: float) -> Interval | None:
    """Interval of P(X > Y) + P(X = Y) / 2, cut at 0 and 1; none where its variance is 0."""
    from statsmodels.stats.nonparametric import (  # noqa: PLC0415 - slow to import
        rank_compare_2indep,
    )

    if separated(x, y) or len({*x.tolist(), *y.tolist()}) == 1:
        return None
    low, high = rank_compare_2indep(x, y, use_t=True).conf_int(alpha=1 - level)
    return Interval(max(0.0, float(low)), min(1.0, float(high)), level)


def _checked(a: Arm, b: Arm) -> tuple[Sample, Sample]:
    given = require_sample(a, "brunner_munzel"), require_sample(b, "brunner_munzel")
    first, second = arms = levelled(*given)
    if min(arm.n for arm in arms) < 2:
        raise TooFewError("a test of ranks needs at least two replicates in each arm")
    if len({*first.values, *second.values}) == 1:
        raise ClaimError("all values of both arms agree, so that there are no ranks to compare")
    return first, second
