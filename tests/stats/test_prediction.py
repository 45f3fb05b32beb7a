from __future__ import annotations

import math

import pytest
from scipy import stats

from repro.errors import ClaimError
from repro.stats.records import Sample, Summary
from repro.stats.replication import predict

ORIGINAL = Summary(10, 54.88, 0.26), Summary(10, 57.08, 0.10)
OURS = Summary(5, 55.1, 0.30), Summary(5, 57.2, 0.15)


def closed_form(variances: list[float], sizes: list[int]) -> tuple[float, float]:
    """Reach and degrees of freedom, written out."""
    total = sum(variances)
    df = total**2 / sum(v**2 / (n - 1) for v, n in zip(variances, sizes, strict=True))
    return float(stats.t.ppf(0.975, df)) * math.sqrt(total), df


def test_the_interval_of_a_difference():
    """
    The interval is the original's difference, plus and minus t times both standard errors.
    """
    prediction = predict(ORIGINAL, OURS)
    reach, df = closed_form([0.26**2 / 10, 0.10**2 / 10, 0.30**2 / 5, 0.15**2 / 5], [10, 10, 5, 5])
    assert prediction.effect == pytest.approx(-2.20)
    assert prediction.df == pytest.approx(df, rel=1e-12)
    assert prediction.interval.high == pytest.approx(-2.20 + reach, rel=1e-12)
    assert prediction.interval.low == pytest.approx(-2.20 - reach, rel=1e-12)
    assert prediction.null == 0.0


def test_a_shared_baseline_cancels():
    """
    The same printed baseline on both sides adds no error.
    """
    ours = OURS[0], ORIGINAL[1]
    prediction = predict(ORIGINAL, ours, shared_baseline=True)
    reach, df = closed_form([0.26**2 / 10, 0.30**2 / 5], [10, 5])
    assert prediction.df == pytest.approx(df, rel=1e-12)
    assert prediction.interval.high == pytest.approx(-2.20 + reach, rel=1e-12)


def test_the_interval_of_a_ratio():
    """
    A ratio is predicted on logarithms; of a summary, sd over mean is the sd of the logarithm.
    """
    original = Summary(11, 9981.0, 2.0), Summary(11, 402.0, 0.0)
    ours = Sample.of(9900.0, 9950.0, 9990.0), Sample.of(402.0, 402.0, 402.0)
    prediction = predict(original, ours, ratio=True)
    spread = ours[0].log().summary().spread
    reach, df = closed_form([(2 / 9981) ** 2 / 11, spread**2 / 3], [11, 3])
    assert prediction.df == pytest.approx(df, rel=1e-9)
    assert prediction.effect == pytest.approx(9981 / 402)
    assert math.log(prediction.interval.high / prediction.effect) == pytest.approx(reach, rel=1e-9)
    assert math.log(prediction.effect / prediction.interval.low) == pytest.approx(reach, rel=1e-9)
    assert prediction.null == 1.0


def test_what_cannot_be_predicted():
    """
    Unknown spreads, constant arms and ratios of means not above 0 are refused.
    """
    unknown = Summary(10, 54.0, None)
    constant = Summary(10, 54.0, 0.0)
    with pytest.raises(ClaimError, match="standard deviation of each arm"):
        predict((unknown, OURS[1]), OURS)
    with pytest.raises(ClaimError, match="no arm varies"):
        predict((constant, constant), (constant, constant))
    with pytest.raises(ClaimError, match="means above 0"):
        predict((Summary(10, -1.0, 0.1), OURS[1]), OURS, ratio=True)


def test_a_ratio_beyond_all_numbers_is_refused():
    """
    Two values 120 orders of magnitude apart predict a ratio above 1e308: refused, with why.
    """
    original = Summary(3, 1.0, 0.1), Summary(3, 1.0, 0.1)
    wild = Sample.of(1e-60, 1e60), Sample.of(1.0, 1.1)
    with pytest.raises(ClaimError, match="too large for a number"):
        predict(original, wild, ratio=True)
