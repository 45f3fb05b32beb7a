from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError
from repro.stats.coefficients import (
    METHODS,
    compare_dependent,
    correlate,
    leave_one_out,
    restricted,
    restricted_r,
)
from repro.stats.records import Interval, Sample, known
from tests.stats.fig2_points import PTB, WT2, figure

SEED = 1949
SCIPY: dict[str, Callable[..., Any]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}


def ends(interval: Interval | None) -> tuple[float, float]:
    """Both ends of an interval that must be there."""
    return known(interval).low, known(interval).high


@pytest.mark.parametrize(
    ("result", "interval"),
    [
        (compare_dependent(0.396, 0.179, 0.088, 66), (-0.093, 0.517)),
    ],
)
def test_intervals_of_the_plain_difference(result, interval):
    """
    Zou 2007, page 409, prints this interval of the difference.
    """
    assert result.difference_interval == pytest.approx(interval, abs=5e-4)


def test_two_correlations_at_the_same_points():
    """
    Meng, Rosenthal & Rubin 1992: .63 against -.03 of fifteen, z 1.68, p .047 one-sided.
    """
    result = compare_dependent(0.63, -0.03, -0.19, 15)
    assert result.statistic == pytest.approx(1.68, abs=5e-3)
    assert known(result.p) / 2 == pytest.approx(0.047, abs=5e-4)
    assert ends(result.interval) == pytest.approx((-0.129, 1.671), abs=1.1e-3)
    assert result.n == (15,)
    assert result.difference == pytest.approx(0.66)


@pytest.mark.parametrize(
    ("r_xz", "z"), [(0.0, 1.62), (0.2, 1.80), (0.4, 2.06), (0.6, 2.50), (0.8, 3.50)]
)
def test_the_closer_the_two_variables_the_clearer(r_xz, z):
    """
    May & Hittner 1997 print Meng's z for .5 against .2 of fifty points.
    """
    assert compare_dependent(0.5, 0.2, r_xz, 50).statistic == pytest.approx(z, abs=5e-3)


def test_equal_correlations_hold_the_level():
    """
    Of normal data with two equal correlations .05 are called different, within four sd.
    """
    draws, n = 4000, 30
    rng = np.random.default_rng(SEED)
    cov = np.array([[1, 0.5, 0.3], [0.5, 1, 0.3], [0.3, 0.3, 1]])
    x, z, y = np.moveaxis(rng.multivariate_normal(np.zeros(3), cov, (draws, n)), 2, 0)
    xy, zy, xz = (correlate(one, other, "pearson") for one, other in ((x, y), (z, y), (x, z)))
    p = [compare_dependent(a, b, c, n).p for a, b, c in zip(xy, zy, xz, strict=True)]
    rate = np.mean(np.array(p) <= 0.05)
    assert abs(rate - 0.05) <= 4 * math.sqrt(0.05 * 0.95 / draws)


def test_swapping_flips_the_sign():
    """
    With the correlations swapped, effect and intervals change sign and p stays.
    """
    first = compare_dependent(0.2, 0.6, 0.4, 20)
    second = compare_dependent(0.6, 0.2, 0.4, 20)
    assert (second.effect, second.p) == (-first.effect, first.p)
    low, high = ends(first.interval)
    assert ends(second.interval) == (-high, -low)
    mirrored = tuple(-end for end in first.difference_interval[::-1])
    assert second.difference_interval == pytest.approx(mirrored)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0, 0.5, 0.5, 10), "between -1 and 1"),
        ((0.5, math.nan, 0.5, 10), "between -1 and 1"),
        ((0.5, 0.2, -1.0, 10), "between -1 and 1"),
        ((0.9, -0.9, 0.9, 10), "no data have"),
        ((0.5, 0.2, 0.1, 3), "at least 4 points, not 3"),
    ],
)
def test_impossible_correlations_are_refused(arguments, message):
    """
    Perfect and impossible correlations and too few points are refused.
    """
    with pytest.raises(ClaimError, match=message):
        compare_dependent(*arguments)


@pytest.mark.parametrize(
    ("text", "low", "high", "points_inside", "observed", "predicted"),
    [
        (PTB, 56.6, 57.6, 50, 0.178, 0.172),
        (PTB, 56.6, 57.65, 52, 0.246, 0.197),
        (WT2, 64.0, 65.0, 26, -0.212, 0.118),
    ],
)
def test_the_windows_of_figure_2(text, low, high, points_inside, observed, predicted):
    """
    In each window of figure 2 the choice of the window alone explains the correlation.
    """
    found = restricted(*figure(text), low=-high, high=-low)
    assert found.n_window == points_inside
    assert found.observed == pytest.approx(observed, abs=6e-4)
    assert found.predicted == pytest.approx(predicted, abs=6e-4)
    assert found.predicted in known(found.interval)


def test_the_interval_of_the_window():
    """
    On WikiText-2 the observed correlation has the interval -.55 to .19.
    """
    found = restricted(*figure(WT2), low=-65.0, high=-64.0)
    assert ends(found.interval) == pytest.approx((-0.55, 0.19), abs=5e-3)
    assert found.full == pytest.approx(0.538, abs=5e-4)


def test_a_reversal_is_not_explained():
    """
    A strong correlation the other way round inside the window is more than restriction.
    """
    x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 30.0, 40.0, -30.0, -40.0]
    y = [0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 9.0, 9.5, -9.0, -9.5]
    found = restricted(Sample.of(*x), Sample.of(*y), low=0.0, high=1.0)
    assert found.full > 0.9
    assert found.observed < -0.9
    assert found.predicted not in known(found.interval)


@pytest.mark.parametrize(("half", "left"), [(1.5, 0.394), (1, 0.297), (0.75, 0.234), (0.5, 0.162)])
def test_truncated_normal_variables(half, left):
    """
    Keeping a correlation of .5 within so many sd of y leaves what the truncated normal says.
    """
    u = stats.truncnorm(-half, half).std()
    assert restricted_r(0.5, u) == pytest.approx(left, abs=5e-4)


def test_a_window_needs_points():
    """
    Empty windows, windows of a few points and reversed ones are refused.
    """
    x, y = figure(WT2)
    with pytest.raises(ClaimError, match="no point lies between"):
        restricted(x, y, low=0.0, high=1.0)
    with pytest.raises(ClaimError, match="at least 4 points"):
        restricted(x, y, low=-70.0, high=-66.9)
    with pytest.raises(ClaimError, match="from low to high"):
        restricted(x, y, low=1.0, high=1.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("text", [PTB, WT2])
def test_one_point_left_out(method, text):
    """
    Lowest, highest and most influential are those of scipy's coefficient without each point.
    """
    x, y = figure(text)
    every = [
        SCIPY[method](x.without(i).values, y.without(i).values).statistic for i in x.replicates
    ]
    low, high, most = leave_one_out(x, y, method=method)
    assert (low, high) == pytest.approx((min(every), max(every)), abs=1e-12)
    full = SCIPY[method](x.values, y.values).statistic
    assert abs(every[most] - full) == pytest.approx(max(abs(r - full) for r in every), abs=1e-12)


def test_the_most_influential_replicate_goes_by_its_number():
    """
    The replicate is named as the samples name it, in whatever order they hold it.
    """
    x = Sample((1.0, 2.0, 3.0, 4.0, 90.0), (11, 12, 13, 14, 15))
    y = Sample((-9.0, 2.0, 1.0, 4.0, 3.0), (15, 11, 12, 13, 14))
    assert leave_one_out(x, y, method="pearson")[2] == 15
    with pytest.raises(ClaimError, match="too few"):
        leave_one_out(x.without(11), y.without(11), method="pearson")
