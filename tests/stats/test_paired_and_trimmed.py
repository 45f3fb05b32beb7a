from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from repro.errors import ClaimError
from repro.stats.records import Sample, known
from repro.stats.t_tests import TESTS, paired, welch, yuen

pairs = st.lists(st.tuples(*[st.floats(-100, 100).map(lambda x: round(x, 3))] * 2), min_size=2)
five = st.lists(
    st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=5, max_size=12, unique=True
)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@given(pairs, st.randoms())
def test_scipy_agrees_on_pairs(alternative, rows, shuffler):
    """
    The paired test is scipy's, and pairs belong together by number wherever they stand.
    """
    x, y = (np.array(column) for column in zip(*rows, strict=True))
    assume(np.ptp(x - y) > 0.01)
    order = list(range(len(rows)))
    shuffler.shuffle(order)
    b = Sample(tuple(float(y[i]) for i in order), tuple(order))
    ours = paired(Sample.of(*map(float, x)), b, alternative=alternative)
    theirs = stats.ttest_rel(x, y, alternative=alternative)
    level = 0.95 if alternative == "two-sided" else 0.90
    interval = stats.ttest_rel(x, y).confidence_interval(level)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-8, abs=1e-8)
    assert ours.df == theirs.df
    own = known(ours.interval)
    assert (own.low, own.high) == pytest.approx((interval.low, interval.high), rel=1e-7, abs=1e-7)


def test_student_1908_sleep():
    """
    Student's ten patients, two drugs: t = -4.0621 with 9 degrees of freedom, p = .002833
    (the example of Student 1908, as R documents it).
    """
    first = Sample.of(0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
    second = Sample.of(1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)
    result = paired(first, second)
    assert result.statistic == pytest.approx(-4.0621, abs=5e-5)
    assert result.p == pytest.approx(0.002833, abs=5e-7)
    own = known(result.interval)
    assert (own.low, own.high) == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_folds_have_the_error_of_nadeau_and_bengio(alternative):
    """Their 5.3 by hand: t = mean / √((1/J + test/train) s²), J − 1 degrees of freedom."""
    x = (0.81, 0.79, 0.84, 0.80, 0.78, 0.83, 0.82, 0.80, 0.79, 0.85)
    y = (0.80, 0.77, 0.83, 0.80, 0.76, 0.80, 0.82, 0.78, 0.78, 0.83)
    ours = paired(Sample.of(*x), Sample.of(*y), alternative=alternative, test_to_train=1 / 9)
    d = np.array(x) - np.array(y)
    t = d.mean() / np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))
    p = {"two-sided": 2 * stats.t.sf(t, 9), "greater": stats.t.sf(t, 9), "less": stats.t.cdf(t, 9)}
    assert (ours.statistic, ours.p) == pytest.approx((t, p[alternative]))
    reach = stats.t.ppf(0.975 if alternative == "two-sided" else 0.95, 9) * d.mean() / t
    assert known(ours.interval).high == pytest.approx(d.mean() + reach)


def test_folds_that_correlate_as_supposed_hold_the_level_and_plain_pairs_do_not():
    """Two differences of ten folds correlate by a tenth: 5 %, and 15 % without the correction."""
    rng = np.random.default_rng(2003)
    rows = np.sqrt(0.9) * rng.standard_normal((4000, 10)) + np.sqrt(0.1) * rng.standard_normal(
        (4000, 1)
    )
    zero = Sample.of(*[0.0] * 10)
    rates = [
        np.mean(
            [
                known(paired(Sample.of(*row), zero, test_to_train=r).p) <= 0.05
                for row in rows.tolist()
            ]
        )
        for r in (1 / 9, 0.0)
    ]
    assert rates[0] == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 4000))
    assert rates[1] > 0.12


def test_pairs_need_partners():
    """
    Replicates without a partner are named, arm by arm, and refused; so is a summary.
    """
    a = Sample((1.0, 2.0, 4.0), (0, 3, 7))
    b = Sample((1.0, 2.0, 4.0), (0, 3, 5))
    with pytest.raises(ClaimError, match=r"no partner: 7 only in A; 5 only in B"):
        paired(a, b)
    with pytest.raises(ClaimError, match="paired needs the value of every replicate"):
        paired(a, b.summary())
    with pytest.raises(ClaimError, match="single value has no variance"):
        paired(Sample.of(1.0), Sample.of(2.0))


def test_constant_differences_are_refused():
    """
    Pairs that all differ by the same amount, up to round-off, are refused.
    """
    values = (0.1, 0.2, 0.7)
    with pytest.raises(ClaimError, match="all pairs differ by the same amount"):
        paired(Sample.of(*values), Sample.of(*(value + 0.1 for value in values)))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@settings(deadline=None)
@given(five, five, st.sampled_from([0.0, 0.1, 0.2, 0.25]))
def test_scipy_agrees_on_trimmed_means(alternative, x, y, trim):
    """
    Yuen's test is scipy's, and its effect is the difference of scipy's trimmed means.
    """
    ours = yuen(Sample.of(*x), Sample.of(*y), alternative=alternative, trim=trim)
    theirs = stats.ttest_ind(x, y, equal_var=False, trim=trim, alternative=alternative)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-7, abs=1e-7)
    means = stats.trim_mean(x, trim) - stats.trim_mean(y, trim)
    assert ours.effect == pytest.approx(means, rel=1e-9, abs=1e-9)


def test_yuen_below_five_is_welch():
    """
    With four replicates a fifth is none, and Yuen's test is Welch's.
    """
    a, b = Sample.of(1.0, 2.0, 4.0, 9.0), Sample.of(3.0, 5.0, 8.0, 8.5)
    assert yuen(a, b).p == pytest.approx(welch(a, b).p, rel=1e-12)
    ends = [known(test(a, b).interval).low for test in (yuen, welch)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)


def test_yuen_is_not_moved_by_one_outlier():
    """
    However far one of six values lies, Yuen's effect and p stay.
    """
    b = Sample.of(3.0, 5.0, 8.0, 8.5, 9.0, 11.0)
    near, far = (Sample.of(1.0, 2.0, 4.0, 5.0, 6.5, top) for top in (7.0, 7e6))
    assert yuen(near, b).effect == yuen(far, b).effect
    assert yuen(near, b).p == pytest.approx(yuen(far, b).p, rel=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "trim", "message"),
    [
        ((1.0, 2.0), (1.0, 3.0), 0.5, "share trimmed from each end"),
        ((1.0, 2.0, 3.0), (1.0, 3.0, 4.0), 0.4, "trimming leaves 1"),
        ((0.0, 1.0, 1.0, 1.0, 9.0), (2.0, 2.0, 2.0, 2.0, 8.0), 0.2, "does not vary in either"),
    ],
)
def test_yuen_refuses(a, b, trim, message):
    """
    A share that leaves nothing, or nothing that varies, is refused.
    """
    with pytest.raises(ClaimError, match=message):
        yuen(Sample.of(*a), Sample.of(*b), trim=trim)


def test_yuen_beside_a_constant_arm():
    """
    One arm may be constant: the other's trimmed variance gives error and degrees of freedom.
    """
    result = yuen(Sample.of(402.0, 402.0, 402.0), Sample.of(7.0, 8.0, 9.0, 10.0, 15.0))
    assert result.df == pytest.approx(2, rel=1e-9)
    assert result.effect == 393.0


@pytest.mark.parametrize("name", TESTS)
def test_every_named_test_takes_two_arms(name):
    """
    Every name of a claim file is a test that keeps its name and flips with its arms.
    """
    a = Sample.of(1.0, 2.5, 3.0, 4.5, 7.0, 5.0)
    b = Sample.of(3.0, 5.5, 6.0, 8.0, 9.0, 7.5)
    one, other = TESTS[name](a, b, alpha=0.04), TESTS[name](b, a, alpha=0.04)
    assert one.test == name
    assert (one.alpha, one.n) == (0.04, (6, 6))
    assert one.p == pytest.approx(other.p, rel=1e-9)
    one_sided = TESTS[name](a, b, alternative="less")
    assert one_sided.p == pytest.approx(known(one.p) / 2, rel=1e-9)
    assert one_sided.p_opposite == pytest.approx(
        TESTS[name](a, b, alternative="greater").p, rel=1e-9
    )


def test_trimmed_means_of_arms_far_apart_in_size() -> None:
    """What an arm errs by is not lost beside a mean that is 10^17 times as large."""
    a, b = Sample.of(*[1e6] * 5), Sample.of(1 - 1e-11, 1 - 1e-11, 1e6, 1, 1)
    found = yuen(a, b)
    assert found.se is not None
    assert 0 < found.se < 1e-10
    assert found.effect == pytest.approx(1e6, rel=1e-5)
