"""Which results have evidence of the opposite of what a paper printed."""

from __future__ import annotations

import pytest

from repro.expectations.verdict_words import Agreement
from repro.judging.agreement import agree
from repro.stats.ranks import permutation
from repro.stats.records import Interval, Sample, Summary, TestResult
from repro.stats.replication import Prediction, predict
from repro.stats.t_tests import TESTS, ratio_of_geometric_means, welch

OPPOSITE, SMALLER = Agreement.OPPOSITE, Agreement.SMALLER
PREDICTION = Prediction(2.0, Interval(1.0, 3.0, 0.95), 0.0, 9.0)
RATIO = Prediction(4.0, Interval(2.0, 8.0, 0.95), 1.0, 9.0)
A = Sample.of(56.4, 56.6, 56.2, 56.5, 56.35, 56.6, 56.1, 56.45)
B = Sample.of(56.38, 56.5, 56.2, 56.4, 56.3, 56.6, 56.15, 56.42)
PRINTED = Summary(10, 54.0, 0.15), Summary(10, 56.4, 0.15)


def without_interval(effect: float, p: float | None, *, exact: bool = False) -> TestResult:
    """A result at .05 that has no interval."""
    return TestResult("permutation", effect, 0.05, (5, 5), p=p, exact=exact)


@pytest.mark.parametrize("test", [welch, permutation])
def test_a_large_p_is_no_evidence_of_the_opposite(test):
    """A difference that chance explains is smaller than printed, whichever test was declared."""
    assert agree(predict(PRINTED, (A, B)), test(A, B)) is SMALLER


@pytest.mark.parametrize("test", [welch, permutation])
def test_a_small_p_is_evidence_of_the_opposite(test):
    """A clear difference the other way is the opposite, with an interval and without one."""
    higher = Sample.of(*(value + 1 for value in A.values))
    assert agree(predict(PRINTED, (higher, B)), test(higher, B)) is OPPOSITE


@pytest.mark.parametrize(("p", "agreement"), [(0.05, OPPOSITE), (0.051, SMALLER)])
def test_without_an_interval_p_decides_at_its_level(p, agreement):
    """A p is evidence up to its alpha, also where all splits were tried: that p alone is exact."""
    own = without_interval(-0.5, p, exact=True)
    assert agree(PREDICTION, own) is agreement


@pytest.mark.parametrize(
    ("alternative", "p", "p_opposite", "agreement"),
    [
        ("greater", 0.99, 0.01, OPPOSITE),
        ("greater", 0.01, 0.99, SMALLER),
        ("less", 0.01, 0.99, OPPOSITE),
        ("less", 0.99, 0.01, SMALLER),
        ("greater", 0.01, None, SMALLER),
    ],
)
def test_of_a_one_sided_test_the_side_of_our_effect_counts(alternative, p, p_opposite, agreement):
    """Our effect is negative, so the p of a negative difference is the evidence."""
    own = TestResult(
        "permutation", -0.5, 0.05, (5, 5), p=p, p_opposite=p_opposite, alternative=alternative
    )
    assert agree(PREDICTION, own) is agreement


def test_an_exact_comparison_is_its_own_interval():
    """Constant arms leave nothing to chance, so a ratio on the other side of 1 is the opposite."""
    ours = Sample.of(3.0, 3.0), Sample.of(6.0, 6.0)
    assert agree(RATIO, ratio_of_geometric_means(*ours, at_least=2.0)) is OPPOSITE
    assert agree(RATIO, ratio_of_geometric_means(ours[0], ours[0], at_least=2.0)) is SMALLER


def test_a_result_without_any_evidence_is_never_the_opposite():
    """With neither interval nor p, and no exact comparison, a sign alone shows nothing."""
    assert agree(PREDICTION, without_interval(-0.5, None)) is SMALLER


def test_a_test_without_an_interval_has_a_p():
    """Of the tests of a difference those of permutations have no interval; they have a p."""
    results = [test(A, Sample.of(*B.values[::-1])) for test in TESTS.values()]
    assert [one.test for one in results if one.interval is None] == [
        "permutation",
        "paired_permutation",
    ]
    assert all(one.p is not None for one in results)
