from __future__ import annotations

import pytest
from scipy import stats

from repro.errors import ClaimError
from repro.stats.coefficients import (
    METHODS,
    leave_one_out,
    restricted,
    restricted_r,
)
from repro.stats.records import Sample, known
from tests.stats.correlated import SCIPY, ends
from tests.stats.fig2_points import PTB, WT2, figure


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
