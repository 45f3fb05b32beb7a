"""What can be seen of the shape of a few values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from repro.stats.shapes import far_away, heavy_tailed, heavy_together, skewed, skewness_z

SEED = 1970


@pytest.mark.parametrize("n", [8, 10, 30, 200])
def test_the_skewness_is_dagostinos(n):
    """
    The deviate is that of scipy's test, whatever the unit.
    """
    values = np.random.default_rng([SEED, n]).gamma(2.0, size=n)
    for scale in (1.0, 1e-58, 1e58):
        theirs = stats.skewtest(values).statistic
        assert skewness_z((scale * values).tolist()) == pytest.approx(float(theirs), rel=1e-9)


@pytest.mark.parametrize("n", [3, 4, 5, 8, 10, 20, 30])
def test_normal_samples_look_normal(n):
    """
    Of 2,000 normal samples at most 1 % are said to be skewed or to have far values, within three
    standard errors of that share.
    """
    rows = np.random.default_rng([SEED, n]).standard_normal((2000, n)).tolist()
    most = 0.01 + 3 * (0.01 * 0.99 / len(rows)) ** 0.5
    assert np.mean([skewed(row) for row in rows]) <= most
    assert np.mean([far_away(row) for row in rows]) <= most


@pytest.mark.parametrize(("n", "far", "share"), [(8, 1, 0.8), (10, 2, 0.85), (20, 4, 0.95)])
def test_collapsed_seeds_are_seen(n, far, share):
    """
    Seeds ten standard deviations away are seen in most samples of eight, in nearly all of twenty.
    """
    rows = np.random.default_rng([SEED, n]).standard_normal((500, n))
    rows[:, :far] -= 10
    assert np.mean([far_away(row) for row in rows.tolist()]) >= share
    assert np.mean([far_away((-row).tolist()) for row in rows]) >= share


@pytest.mark.parametrize(
    "values", [[1.0], [1.0, 2.0], [5.0] * 9, [1.0, 1.0, 1.0, 9.0], [*([3.0] * 8), 4.0]]
)
def test_too_few_or_equal_values_show_nothing(values):
    """
    Nothing is far where nothing varies, and nothing is seen in three values.
    """
    assert not far_away(values)


def test_lognormal_values_are_skewed():
    """
    Sixty lognormal values (sd of the logarithm .5) are called skewed in most cases, eight in few.
    """
    rows = np.exp(0.5 * np.random.default_rng(SEED).standard_normal((500, 60)))
    assert np.mean([skewed(row) for row in rows.tolist()]) > 0.7
    assert np.mean([skewed(row[:8]) for row in rows.tolist()]) < 0.2


@pytest.mark.parametrize("n", [10, 15, 40])
def test_heavy_tails_are_those_of_anscombe_and_glynn(n: int) -> None:
    """
    Of 300 samples of either kind the same are heavy as by scipy's test of kurtosis at 1 %.
    """
    rng = np.random.default_rng(n)
    rows = np.concatenate([rng.standard_normal((150, n)), rng.standard_t(3, (150, n))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that 10 to 19 values are few
        theirs = stats.kurtosistest(rows, axis=1, alternative="greater").pvalue <= 0.01
    assert [heavy_tailed(row) for row in rows.tolist()] == theirs.tolist()
    assert theirs.any()


@pytest.mark.parametrize("n", [10, 20, 35, 150])
@pytest.mark.parametrize("r", [0.0, 0.95])
def test_points_are_heavy_together_in_one_normal_sample_of_a_hundred(n: int, r: float) -> None:
    """
    Whatever their correlation; and of spherical t4 far more often.
    """
    rng = np.random.default_rng([n, int(100 * r)])
    found: dict[str, float] = {}
    for name in ("normal", "t4"):
        x, y = rng.standard_normal((2, 1000, n))
        if name == "t4":
            common = np.sqrt(rng.chisquare(4, (1000, n)) / 4)
            x, y = rng.standard_normal((2, 1000, n)) / common
        rows = zip(x.tolist(), (r * x + np.sqrt(1 - r * r) * y).tolist(), strict=True)
        found[name] = float(np.mean([heavy_together(*row) for row in rows]))
    assert found["normal"] <= 0.02
    assert found["t4"] >= max(0.05, 2.5 * found["normal"])
