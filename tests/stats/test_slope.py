"""The linear trend of means: against Welch's test, and least squares."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError
from repro.expectations.decision_rules import by_p
from repro.expectations.verdict_words import Conclusion
from repro.stats.records import Sample, Summary, known
from repro.stats.trends import linear_trend, slope_weights

LOW = Sample.of(1.0, 1.3, 0.8, 1.1)
MIDDLE = Sample.of(1.4, 2.9, 1.6)
HIGH = Sample.of(2.2, 2.6, 2.1, 2.4, 2.3)


def test_two_arms_are_welchs_test():
    """
    With two arms p, slope and interval are those of Welch's one-sided test (scipy).
    """
    found = linear_trend([LOW, HIGH], direction="increasing")
    reference = stats.ttest_ind(HIGH.values, LOW.values, equal_var=False, alternative="greater")
    both = stats.ttest_ind(HIGH.values, LOW.values, equal_var=False).confidence_interval(0.90)
    assert found.p == pytest.approx(float(reference.pvalue))
    assert known(found.interval).low == pytest.approx(float(both.low))
    assert known(found.interval).high == pytest.approx(float(both.high))


def test_the_effect_is_the_slope_of_the_least_squares_line():
    """
    Through the means of five arms the slope is that of numpy's polyfit.
    """
    arms = [LOW, HIGH, MIDDLE, LOW, HIGH]
    slope = np.polyfit(range(5), [np.mean(arm.values) for arm in arms], 1)[0]
    assert linear_trend(arms, direction="increasing").effect == pytest.approx(slope)


def test_three_arms_compare_the_last_with_the_first():
    """
    With three arms the slope is half the difference of the outer ones, at Welch's p.
    """
    three = linear_trend([LOW, MIDDLE, HIGH], direction="increasing")
    two = linear_trend([LOW, HIGH], direction="increasing")
    assert three.effect == pytest.approx(two.effect / 2)
    assert three.p == pytest.approx(known(two.p))


def test_degrees_of_freedom_are_satterthwaites():
    """
    The degrees of freedom of four arms are those of the closed form.
    """
    arms = [LOW, MIDDLE, HIGH, MIDDLE]
    parts = [
        (weight**2 * np.var(arm.values, ddof=1) / arm.n, arm.n)
        for weight, arm in zip((-0.3, -0.1, 0.1, 0.3), arms, strict=True)
    ]
    total = math.fsum(part for part, _ in parts)
    expected = total**2 / math.fsum(part**2 / (n - 1) for part, n in parts)
    assert linear_trend(arms, direction="increasing").df == pytest.approx(expected)


def test_the_other_direction_swaps_the_tails():
    """
    What confirms a rise contradicts a fall, with the same p.
    """
    up = linear_trend([LOW, MIDDLE, HIGH], direction="increasing")
    down = linear_trend([LOW, MIDDLE, HIGH], direction="decreasing")
    assert (up.p, up.p_opposite) == (down.p_opposite, down.p)
    assert by_p(up).conclusion is Conclusion.CONFIRMED
    assert by_p(down).conclusion is Conclusion.CONTRADICTED


def test_summaries_will_do():
    """
    Size, mean and standard deviation give the same result as the values.
    """
    arms = [LOW, MIDDLE, HIGH]
    values = linear_trend(arms, direction="increasing")
    printed = linear_trend([arm.summary() for arm in arms], direction="increasing")
    assert printed.p == pytest.approx(known(values.p))


def test_weights_of_four_arms():
    """
    Four places one step apart weigh -0.3, -0.1, 0.1, 0.3 in the slope (closed form).
    """
    assert slope_weights(4) == pytest.approx((-0.3, -0.1, 0.1, 0.3))


@pytest.mark.parametrize(
    ("groups", "direction", "message"),
    [
        ([LOW], "increasing", "at least two groups"),
        ([LOW, HIGH], "up", "increasing or decreasing"),
        ([Summary(3, 1, 0.0), MIDDLE, Summary(3, 2, 0.0)], "increasing", "varies"),
        ([LOW, Sample.of(1.0)], "increasing", "single value"),
    ],
)
def test_what_cannot_be_tested_is_refused(groups, direction, message):
    """
    Too few groups, unknown directions and arms without variance are refused with the reason.
    """
    with pytest.raises(ClaimError, match=message):
        linear_trend(groups, direction=direction)
