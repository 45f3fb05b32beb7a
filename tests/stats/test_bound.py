from __future__ import annotations

import math

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from repro.errors import ClaimError
from repro.stats.counts import bound, clopper_pearson, share
from repro.stats.records import Sample, Summary, known

RANKS = Sample((402.0, 401.0, 403.0, 402.0), (0, 1, 2, 5))


@pytest.mark.parametrize(
    ("limits", "violators"),
    [
        ({"at_most": 403}, ()),
        ({"at_most": 402}, (2,)),
        ({"at_least": 402}, (1,)),
        ({"at_least": 402, "at_most": 402}, (1, 2)),
        ({"at_most": 400}, (0, 1, 2, 5)),
    ],
)
def test_the_violators_are_named(limits, violators):
    """
    A limit belongs to its bound, and the replicates beyond it are listed by number.
    """
    result = bound(RANKS, **limits)
    assert result.violators == violators
    assert result.effect == 1 - len(violators) / 4
    assert (result.p, result.p_opposite) == (None, None)
    assert (result.smallest, result.largest) == (401.0, 403.0)


@pytest.mark.parametrize(("n", "lower"), [(10, 0.741), (20, 0.861)])
def test_all_of_n(n, lower):
    """
    Ten of ten bound the share of all replicates by .05 ** (1/10) = .741 from below.
    """
    result = bound(Sample.of(*([402.0] * n)), at_most=402)
    assert known(result.interval).low == pytest.approx(0.05 ** (1 / n), rel=1e-12)
    assert round(known(result.interval).low, 3) == lower
    assert known(result.interval).high == 1.0


@pytest.mark.parametrize(("k", "n"), [(0, 5), (1, 5), (3, 10), (9, 10), (10, 10)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_statsmodels_agrees_on_the_interval(k, n, level):
    """
    The exact interval of a share is statsmodels' "beta" one.
    """
    low, high = proportion_confint(k, n, alpha=1 - level, method="beta")
    ours = clopper_pearson(k, n, level=level)
    assert (ours.low, ours.high) == pytest.approx((low, high), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("inside", [0, 1, 6, 10])
@pytest.mark.parametrize("of", [0.5, 0.741, 0.9])
def test_scipy_agrees_on_the_share(inside, of):
    """
    The one-sided p-values of a share are those of scipy's binomial test.
    """
    sample = Sample.of(*([1.0] * inside + [9.0] * (10 - inside)))
    result = share(sample, of=of, at_most=5)
    greater = stats.binomtest(inside, 10, of, alternative="greater").pvalue
    less = stats.binomtest(inside, 10, of, alternative="less").pvalue
    assert result.p == pytest.approx(greater, rel=1e-9)
    assert result.p_opposite == pytest.approx(less, rel=1e-9)
    assert (known(result.interval).low > of) == (known(result.p) < 0.05)
    assert (known(result.interval).high < of) == (known(result.p_opposite) < 0.05)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "needs a limit"),
        ({"at_least": 3, "at_most": 2}, "no value is at least"),
        ({"at_most": math.nan}, "finite"),
        ({"at_most": 3, "alpha": 0.7}, "alpha"),
    ],
)
def test_meaningless_bounds_are_refused(limits, message):
    """
    No limit, an impossible one and a bad level are refused.
    """
    with pytest.raises(ClaimError, match=message):
        bound(RANKS, **limits)


def test_more_meaningless_requests_are_refused():
    """
    A bound of a summary, a share that is none and impossible counts are refused.
    """
    with pytest.raises(ClaimError, match="value of every replicate"):
        bound(Summary(10, 402.0, 0.0), at_most=402)
    for of in (0.0, 1.0, 1.5):
        with pytest.raises(ClaimError, match="a share lies between 0 and 1"):
            share(RANKS, of=of, at_most=402)
    for k, n in ((3, 2), (-1, 2), (0, 0)):
        with pytest.raises(ClaimError, match="impossible"):
            clopper_pearson(k, n, level=0.9)
