"""A one-sided p whose data went against its alternative: a p above one half is that of no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from repro.audit.audit import audit
from repro.audit.comparison import Grade
from repro.audit.p_range import enumerate_variants
from tests.audit.parthiban import comparison
from tests.audit.test_grade import graded, said

# Arms of five, 10.0 and 8.0 with deviation 1.0: Welch gives 0.0133 two-sided, one-sided 0.0067
# (0.0041 to 0.0106 over all rounding), for the other alternative 0.9933.
FAR = ("10.0", "1.0"), ("8.0", "1.0")
AGAINST = "welch one-sided against the difference ddof=1 n=5"
WENT = "difference went against"


def far(p, **how):
    """The row of these arms, with this p."""
    a, b = FAR
    return graded("far", a, b, p, n=(5, 5), **how)


def test_the_other_alternative_is_one_more_variant_of_each_one_sided_test():
    """Both alternatives of Student and Welch, ddof 1 and 0; a two-sided test has but one."""
    both = list(enumerate_variants(None, other_n=False, against=(False, True)))
    assert len(set(both)) == len(both) == 12
    assert sum(one.against for one in both) == 4
    assert not any(one.against for one in both if one.tails == 2)
    instead = list(enumerate_variants(None, other_n=False, against=(True,)))
    assert len(instead) == 8


@pytest.mark.parametrize(("a", "b"), [FAR, FAR[::-1]])
def test_a_declared_one_sided_p_may_be_that_of_the_other_alternative(a, b):
    """The p of scipy for 'A is lower' follows from the numbers, and the words say which it is."""
    p = stats.ttest_ind_from_stats(10, 1, 5, 8, 1, 5, equal_var=False, alternative="less").pvalue
    row = graded("x", a, b, f"{p:.4f}", n=(5, 5), test="welch", tails=1)
    assert (row.grade_text, row.assumed) == ("CONSISTENT", AGAINST)
    assert row.assumed_why.endswith("the printed p decides its alternative")
    assert row.p_interval[0] < p < row.p_interval[1]
    assert row.equals_rounded is row.decision_survives_rounding is True
    assert said(row, WENT)
    assert said(row, "at alpha 0.05 the printed p is not significant")


def test_a_p_below_one_half_is_that_of_the_first_alternative():
    """The row of the same numbers with the other p is as before, and nothing went against it."""
    row = far("0.0067", test="welch", tails=1)
    assert (row.grade_text, row.assumed) == ("CONSISTENT", "welch one-sided ddof=1 n=5")
    assert row.assumed_why == "declared by the table"
    assert not said(row, WENT)


def test_a_declared_one_sided_bound_may_be_of_either_alternative():
    """`> .05` is true against the difference; `< .05` only in its direction."""
    above, below = (far(p, test="welch", tails=1) for p in ("> .05", "< .05"))
    assert (above.grade_text, above.assumed) == ("CONSISTENT", AGAINST)
    assert said(above, WENT)
    assert (below.grade_text, below.assumed) == ("CONSISTENT", "welch one-sided ddof=1 n=5")
    near = graded("x", ("10.0", "1.0"), ("9.5", "1.0"), "> .05", n=(5, 5), test="welch", tails=1)
    assert near.assumed == "welch one-sided ddof=1 n=5"
    assert not said(near, WENT)


@pytest.mark.parametrize(
    ("p", "how", "grade"),
    [
        ("0.62", {"test": "welch", "tails": 1}, "INCONSISTENT"),
        ("0.31", {"test": "welch", "tails": 1}, "DECISION-INCONSISTENT"),
        ("0.5", {"test": "welch", "tails": 1}, "DECISION-INCONSISTENT"),
        ("0.993", {"test": "welch"}, "CONSISTENT-IF(one-sided against the difference)"),
        ("0.993", {}, "CONSISTENT-IF(one-sided against the difference)"),
        ("0.993", {"tails": 2}, "NOT-BY-T-TEST"),
        ("0.993", {"test": "student", "tails": 1}, "CONSISTENT"),
        ("0.62", {}, "NOT-BY-T-TEST"),
        ("0.31", {}, "NOT-BY-T-TEST"),
        ("> .05", {}, "NOT-BY-T-TEST"),
        ("> .05", {"tails": 2}, "NOT-BY-T-TEST"),
        ("> .9", {}, "NOT-BY-T-TEST"),
        ("> .9", {"test": "welch"}, "DECISION-INCONSISTENT"),
        ("> .9", {"test": "welch", "tails": 1}, "CONSISTENT"),
    ],
)
def test_only_a_p_above_one_half_speaks_for_the_other_alternative(p, how, grade):
    """What no one-sided test gives is no t-test's; a bound excuses nothing undeclared."""
    assert far(p, **how).grade_text == grade


@given(
    difference=st.floats(-3, 3),
    deviations=st.tuples(st.floats(0.3, 3), st.floats(0.3, 3)),
    sizes=st.tuples(st.integers(2, 30), st.integers(2, 30)),
    alternative=st.sampled_from(["less", "greater"]),
    test=st.sampled_from(["student", "welch"]),
)
def test_a_true_one_sided_p_is_never_inconsistent(difference, deviations, sizes, alternative, test):
    """Computed by scipy before rounding, for either alternative, printed to four digits."""
    (sd_a, sd_b), (n_a, n_b) = deviations, sizes
    p = stats.ttest_ind_from_stats(
        50 + difference,
        sd_a,
        n_a,
        50,
        sd_b,
        n_b,
        equal_var=test == "student",
        alternative=alternative,
    ).pvalue
    a, b = (f"{50 + difference:.2f}", f"{sd_a:.2f}"), ("50.00", f"{sd_b:.2f}")
    row = graded("x", a, b, f"{p:.4f}", n=sizes, test=test, tails=1)
    assert row.grade in (Grade.CONSISTENT, Grade.DECISION_FRAGILE)
    assert said(row, WENT) is ("against the difference" in row.assumed)


def test_a_p_that_is_that_of_neither_alternative_names_the_one_it_could_be():
    """Above one half it could only be the other alternative's, whose decision is the same."""
    row = far("0.62", test="welch", tails=1)
    assert row.assumed == AGAINST
    assert said(row, f"p = 0.62 does not follow from the printed numbers: {AGAINST} gives 0.989")
    assert said(row, "none of the 8 variants tried")
    assert not said(row, WENT)


def test_where_one_sided_is_not_declared_the_other_alternative_is_a_condition():
    """Two-sided is assumed, which decides otherwise; both stand in the words."""
    row = far("0.993")
    assert row.assumed == "welch two-sided ddof=1 n=5"
    assert AGAINST in row.matches
    assert said(row, "by it the decision at alpha 0.05 is the other one; reproduced by")
    assert said(row, "If the test was one-sided, the difference went against its alternative")


def test_declared_two_sided_the_other_alternative_is_named_but_excuses_nothing():
    """The finding says what would give the p; that the difference went against it is not said."""
    row = far("0.993", test="welch", tails=2)
    assert said(row, f"only student one-sided against the difference ddof=1 n=5; {AGAINST}")
    assert not said(row, WENT)


def test_one_column_of_one_sided_p_values_has_rows_of_both_alternatives():
    """Differences both ways, one alternative: one-sided fits all rows jointly, none is accused."""
    rows = audit([one_sided("ahead", 8.5), one_sided("behind", 11.1), one_sided("far", 8.1)])
    assert {row.grade_text for row in rows} == {"CONSISTENT"}
    assert [row.assumed for row in rows] == [
        "welch one-sided ddof=1 n=10",
        "welch one-sided against the difference ddof=1 n=10",
        "welch one-sided ddof=1 n=10",
    ]
    assert all(
        "the only variant that fits the table jointly (3 of 3" in r.assumed_why for r in rows
    )
    assert said(rows[1], WENT)


def one_sided(name, mean):
    """A row with Welch's p, by scipy, for 'A is greater', whichever is."""
    p = stats.ttest_ind_from_stats(
        10, 0.4, 10, mean, 1.7, 10, equal_var=False, alternative="greater"
    ).pvalue
    return comparison(name, ("10.000", "0.400"), (f"{mean:.3f}", "1.700"), f"{p:.4f}")


def test_a_paired_one_sided_p_against_the_difference_names_its_correlation():
    """The correlation that the printed p implies gives that p back by the paired t-test."""
    a, b = ("10.00", "1.00"), ("10.50", "1.20")
    row = graded("x", a, b, "0.990", test="paired", tails=1)
    assert row.grade_text.startswith("CONSISTENT-IF(correlation ")
    r = float(row.condition.removeprefix("correlation "))
    sd = (1.0 + 1.44 - 2 * r * 1.2) ** 0.5
    assert stats.t.cdf(0.5 / (sd / 10**0.5), 9) == pytest.approx(0.990, abs=1e-3)


def test_a_difference_that_rounding_may_turn_reaches_below_one_half():
    """10.0 and 9.9 may differ either way before rounding, so either alternative is near 0.5."""
    row = graded("x", ("10.0", "1.0"), ("9.9", "1.0"), "0.55", test="welch", tails=1)
    assert row.grade_text == "CONSISTENT"
    assert row.p_interval[0] == pytest.approx(0.5)
    assert row.p_interval[1] > 0.6


def test_equal_means_have_no_difference_to_go_against():
    """Both alternatives have the same p-values then, and none is named."""
    row = graded("x", ("10.0", "1.0"), ("10.0", "1.0"), "0.55", test="welch", tails=1)
    assert (row.grade_text, row.assumed) == ("CONSISTENT", "welch one-sided ddof=1 n=10")
    assert row.p_interval[0] == pytest.approx(1 - row.p_interval[1])
    assert not said(row, WENT)
