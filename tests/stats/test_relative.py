from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

from repro.errors import ClaimError
from repro.stats.contrast import scaled_contrast
from repro.stats.records import Alternative, Sample, Summary, known
from repro.stats.t_tests import (
    Better,
    non_inferiority_relative,
    non_superiority_relative,
    tost,
    tost_relative,
    welch,
)

SEED = 1954
A, B = Sample.of(56.1, 56.4, 56.6, 56.3), Sample.of(56.5, 56.2, 56.9, 56.7, 56.6)
means, sds, sizes = st.floats(5, 100), st.floats(0.01, 1.5), st.integers(3, 12)
summaries = st.builds(lambda mean, sd, n: Summary(n, mean, sd), means, sds, sizes)


def scaled(sample, factor):
    """The sample with every value multiplied."""
    return Sample.of(*(factor * value for value in sample.values))


@pytest.mark.parametrize("relative", [0.001, 0.01, 0.1])
def test_each_margin_is_welchs_test_of_a_scaled_arm(relative):
    """
    The p of each relative margin is Welch's of A against (1 - r) B or (1 + r) B.
    """
    result = tost_relative(A, B, relative=relative)
    above = known(welch(A, scaled(B, 1 - relative), alternative="greater").p)
    below = known(welch(A, scaled(B, 1 + relative), alternative="less").p)
    assert result.p == pytest.approx(max(above, below), rel=1e-9)
    assert result.p_opposite == pytest.approx(min(1 - above, 1 - below), rel=1e-9)
    assert (result.low, result.high) == (-relative, relative)


def test_one_sided_margins_are_the_halves():
    """
    Non-superiority and non-inferiority test the one contrast on the side that matters.
    """
    cases: list[tuple[Better, Alternative, float]] = [
        ("higher", "less", 1.02),
        ("lower", "greater", 0.98),
    ]
    for better, alternative, factor in cases:
        ours = non_superiority_relative(A, B, relative=0.02, better=better)
        assert ours.p == pytest.approx(
            welch(A, scaled(B, factor), alternative=alternative).p, rel=1e-9
        )
        other: Better = "lower" if better == "higher" else "higher"
        mirror = non_inferiority_relative(A, B, relative=0.02, better=other)
        assert (mirror.p, mirror.low, mirror.high) == (ours.p, ours.low, ours.high)
        assert (ours.test, mirror.test) == ("non_superiority_relative", "non_inferiority_relative")


def test_the_ends_of_the_interval_by_hand():
    """
    With equal degrees of freedom the ends solve Fieller's quadratic (Fieller 1954).

    Where B does not vary, they are Welch's ends over mean B.
    """
    a, b = Summary(8, 11.0, 0.5), Summary(5, 10.0, 0.0)
    result = tost_relative(a, b, relative=0.2)
    plain = known(tost(a, b, low=-2, high=2).interval)
    own = known(result.interval)
    assert (own.low, own.high) == pytest.approx((plain.low / 10, plain.high / 10), rel=1e-9)
    assert result.effect == pytest.approx(0.1)
    many = Summary(10**7, 11.0, 500.0), Summary(10**7, 10.0, 900.0)
    t = -stdtrit(1e7, 0.05)
    variances = [(arm.sd or 0) ** 2 / arm.n for arm in many]
    square, linear = 100 - t**2 * variances[1], 110.0
    root = np.sqrt(linear**2 - square * (121 - t**2 * variances[0]))
    own = known(tost_relative(*many, relative=0.2).interval)
    assert (own.low, own.high) == pytest.approx(
        ((linear - root) / square - 1, (linear + root) / square - 1), rel=1e-6
    )


@settings(deadline=None)
@given(summaries, summaries, st.floats(0.001, 0.5), st.floats(0.01, 0.2))
def test_p_and_interval_tell_the_same(a, b, relative, alpha):
    """
    p is below alpha exactly when the interval lies between the margins, p of the contrary when
    it lies beyond one.
    """
    assume(b.mean > -stdtrit(b.n - 1, alpha) * b.standard_error)
    result = tost_relative(a, b, relative=relative, alpha=alpha)
    own = known(result.interval)
    assume(abs(known(result.p) - alpha) > 1e-9 and abs(known(result.p_opposite) - alpha) > 1e-9)
    assert (known(result.p) < alpha) == (-relative < own.low and own.high < relative)
    assert (known(result.p_opposite) < alpha) == (own.low > relative or own.high < -relative)


def test_the_interval_leaves_out_only_what_is_rejected():
    """
    Welch's degrees of freedom change with the border, so with two replicates in A the borders
    that are rejected can lie on both sides of some that are not: the interval holds them all.
    """
    a, b = Summary(2, 19.78165892537436, 1.9891137962126824), Summary(4, 0.5764710024, 0.14028546)
    own = known(tost_relative(a, b, relative=0.475, alpha=0.01).interval)
    accepted = []
    for relative in np.linspace(-0.99, 100, 4000):
        p = welch(
            a, Summary(4, (1 + relative) * b.mean, (1 + relative) * (b.sd or 0)), alpha=0.02
        ).p
        if known(p) > 0.02:
            accepted.append(float(relative))
    assert own.low <= min(accepted)
    assert max(accepted) <= own.high
    assert min(accepted) < 1
    rejected = welch(a, Summary(4, 17 * b.mean, 17 * (b.sd or 0)), alpha=0.02).p
    assert known(rejected) < 0.02 < known(welch(a, b, alpha=0.02).p)
    assert 16 in own


@settings(deadline=None)
@given(summaries, summaries, st.floats(0.001, 1000))
def test_units_do_not_matter(a, b, scale):
    """
    Another unit changes neither the effect, nor the interval, nor p.
    """
    assume(b.mean > 3 * b.standard_error)
    one, other = (
        non_superiority_relative(
            *(Summary(arm.n, unit * arm.mean, unit * (arm.sd or 0)) for arm in (a, b)),
            relative=0.05,
            better="lower",
        )
        for unit in (1.0, scale)
    )
    assert other.p == pytest.approx(one.p, rel=1e-6, abs=1e-12)
    assert known(other.interval).low == pytest.approx(known(one.interval).low, rel=1e-6, abs=1e-9)


def test_negative_values_keep_the_sign_of_the_difference():
    """
    Where the values are negative a higher A still has a positive relative difference.
    """
    a, b = Summary(10, -56.39, 0.19), Summary(10, -56.45, 0.10)
    positive = tost_relative(Summary(10, 56.45, 0.10), Summary(10, 56.45, 0.10), relative=0.005)
    result = tost_relative(a, b, relative=0.005)
    assert result.effect == pytest.approx(0.06 / 56.45)
    mirrored = tost_relative(Summary(10, 56.39, 0.19), Summary(10, 56.45, 0.10), relative=0.005)
    assert known(result.interval).low == pytest.approx(-known(mirrored.interval).high)
    assert result.p == pytest.approx(mirrored.p)
    assert positive.effect == 0.0


@pytest.mark.parametrize(("a", "b"), [(A, B), (B, A), (A.summary(), B.summary())])
def test_the_smallest_confirmable_margin_is_the_border(a, b):
    """
    A relative margin just above the smallest confirmable one confirms, one just below does not.
    """
    smallest = tost_relative(a, b, relative=0.5).smallest_confirmable_margin
    assert isinstance(smallest, float)
    assert known(tost_relative(a, b, relative=1.0001 * smallest).p) < 0.05
    assert known(tost_relative(a, b, relative=0.9999 * smallest).p) > 0.05


def test_the_level_of_the_contrast():
    """
    At its border, r = .2 with ten replicates an arm, the contrast errs in .05 of cases where
    the observed baseline as a margin errs in .066 (statistics.md 2.2): 100,000 draws.
    """
    draws, n, r = 100_000, 10, 0.2
    rng = np.random.default_rng(SEED)
    a, b = rng.normal(12, 1, (draws, n)), rng.normal(10, 1, (draws, n))
    arms_ = [(x.mean(1), x.std(1, ddof=1) / np.sqrt(n), n) for x in (a, b)]
    effect, se, df = scaled_contrast(arms_[0], arms_[1], 1 + r)
    p = np.asarray(stdtr(df, effect / se))
    assert abs(np.mean(p <= 0.05) - 0.05) <= 4 * np.sqrt(0.05 * 0.95 / draws)
    effect, se, df = scaled_contrast(arms_[0], arms_[1], 1.0)
    plugged_in = np.mean(stdtr(df, (effect - r * arms_[1][0]) / se) <= 0.05)
    assert plugged_in == pytest.approx(0.066, abs=4 * np.sqrt(0.066 * 0.934 / draws))
    for i in range(3):
        arms = Sample.of(*a[i]), Sample.of(*b[i])
        one = non_superiority_relative(*arms, relative=r, better="higher")
        assert one.p == pytest.approx(float(p[i]), rel=1e-9)


@pytest.mark.parametrize("relative", [-0.1, 1.0, float("nan")])
def test_a_relative_margin_is_a_share(relative):
    """
    A relative margin outside [0, 1) is refused; 0 by equivalence only.
    """
    for call in (
        lambda: tost_relative(A, B, relative=relative),
        lambda: non_superiority_relative(A, B, relative=relative, better="lower"),
        lambda: non_inferiority_relative(A, B, relative=relative, better="lower"),
        lambda: tost_relative(A, B, relative=0.0),
    ):
        with pytest.raises(ClaimError, match="a relative margin lies between 0 and 1"):
            call()
    assert non_inferiority_relative(A, B, relative=0.0, better="lower").high == 0.0


@pytest.mark.parametrize(
    ("b", "message"),
    [
        (Summary(5, 1.0, 2.0), "not safely different from 0"),
        (Summary(5, 0.0, 2.0), "mean B is 0"),
    ],
)
def test_a_baseline_near_zero_is_refused(b, message):
    """
    A share of a mean that may be 0 means nothing.
    """
    with pytest.raises(ClaimError, match=message):
        tost_relative(Summary(5, 1.0, 0.5), b, relative=0.1)


def test_the_baseline_is_safe_exactly_where_its_own_interval_excludes_zero():
    """
    With a baseline at the border of its own one-sided test against 0 the interval exists just
    above it, and not just below.
    """
    reach = -float(stdtrit(4, 0.05)) * 2 / np.sqrt(5)
    a = Summary(5, 1.0, 0.5)
    assert known(tost_relative(a, Summary(5, 1.02 * reach, 2.0), relative=0.1).interval).high > 0
    with pytest.raises(ClaimError, match="not safely"):
        tost_relative(a, Summary(5, 0.999 * reach, 2.0), relative=0.1)


def test_one_constant_arm():
    """
    A constant arm on either side leaves the other's degrees of freedom; two are refused.
    """
    flat, other = Summary(3, 402.0, 0.0), Summary(4, 282.0, 3.0)
    assert tost_relative(flat, other, relative=0.5).df == pytest.approx(3)
    assert tost_relative(other, flat, relative=0.5).df == pytest.approx(3)
    with pytest.raises(ClaimError, match="A is 0 in every replicate"):
        tost_relative(Summary(3, 0.0, 0.0), other, relative=0.5)
    with pytest.raises(ClaimError, match="variance 0"):
        tost_relative(flat, Summary(4, 282.0, 0.0), relative=0.5)
