from __future__ import annotations

import pytest

from repro.errors import ClaimError
from repro.expectations.decision_rules import (
    by_interval,
    by_p,
    by_sign,
    conclude_difference,
    conclude_sequential,
)
from repro.expectations.verdict_words import Agreement, Conclusion, Finding
from repro.judging.agreement import agree
from repro.stats.counts import paired_outcomes, sign_test
from repro.stats.records import Interval, Sample, Summary, TestResult, known
from repro.stats.replication import Prediction
from repro.stats.stopping import Decision, SequentialResult
from repro.stats.t_tests import (
    TESTS,
    Better,
    non_inferiority_relative,
    non_superiority_relative,
    tost_relative,
)

CONFIRMED, CONTRADICTED = Conclusion.CONFIRMED, Conclusion.CONTRADICTED
INCONCLUSIVE, TRIVIAL = Conclusion.INCONCLUSIVE, Conclusion.TRIVIAL

HIGH = Sample.of(7.0, 8.1, 9.0, 10.3, 11.2, 9.4)
LOW = Sample.of(1.0, 2.2, 3.1, 3.9, 6.5, 2.6)


def result(test: str, effect: float, p: float, p_opposite: float | None = None) -> TestResult:
    """A result without an interval, at .05."""
    return TestResult(test, effect, 0.05, (9,), p=p, p_opposite=p_opposite)


@pytest.mark.parametrize("name", TESTS)
def test_every_test_of_a_difference_concludes(name):
    """
    Arms far apart confirm the direction that they have, contradict the other, and differ.
    """
    found = TESTS[name](HIGH, LOW)
    assert conclude_difference(found, direction="higher") == Finding(CONFIRMED, known(found.p), 1.0)
    assert conclude_difference(found, direction="lower") == Finding(
        CONTRADICTED, 1.0, known(found.p)
    )
    assert conclude_difference(found, direction="different").conclusion is CONFIRMED
    one_sided = TESTS[name](LOW, HIGH, alternative="less")
    assert conclude_difference(one_sided, direction="lower").conclusion is CONFIRMED
    a, b = Sample.of(1.0, 2.0, 3.0, 4.0, 5.1, 2.4), Sample.of(1.1, 3.2, 2.0, 4.4, 4.5, 2.5)
    same = TESTS[name](a, b)
    assert conclude_difference(same, direction="higher").conclusion is INCONCLUSIVE


def test_the_side_of_a_rank_test_is_one_half():
    """
    Brunner and Munzel's effect is a probability: below one half it speaks against *higher*.
    """
    below = result("brunner_munzel", 0.2, 0.01)
    assert conclude_difference(below, direction="higher").conclusion is CONTRADICTED
    assert conclude_difference(below, direction="lower").conclusion is CONFIRMED
    even = result("brunner_munzel", 0.5, 0.01)
    assert conclude_difference(even, direction="lower").conclusion is INCONCLUSIVE


@pytest.mark.parametrize("name", ["paired", "yuen"])
def test_a_smallest_effect_of_other_means(name):
    """
    Paired and trimmed means have an interval in the units of the measurement to judge by.
    """
    found = TESTS[name](HIGH, LOW)
    low, high = known(found.interval).low, known(found.interval).high
    for smallest, conclusion in ((low - 0.01, CONFIRMED), (low + 0.01, INCONCLUSIVE)):
        judged = conclude_difference(found, direction="higher", smallest_effect=smallest)
        assert judged.conclusion is conclusion
        assert (judged.p <= 0.05) == (conclusion is CONFIRMED)
    judged = conclude_difference(found, direction="higher", smallest_effect=high + 0.01)
    assert judged.conclusion is TRIVIAL
    assert judged.p_opposite < 0.05


@pytest.mark.parametrize("name", ["permutation", "brunner_munzel"])
def test_a_smallest_effect_needs_an_interval_in_its_units(name):
    """
    A test without such an interval refuses a smallest effect, and names those that have one.
    """
    with pytest.raises(ClaimError, match=f"{name} has none; use welch, student, paired or yuen"):
        conclude_difference(TESTS[name](HIGH, LOW), direction="higher", smallest_effect=0.1)


def test_relative_margins_conclude_as_absolute_ones():
    """
    Inside the relative margins equivalence is confirmed, beyond one contradicted; so are the
    one-sided ones.
    """
    near, far = Summary(9, 10.05, 0.1), Summary(9, 12.0, 0.1)
    base = Summary(9, 10.0, 0.1)
    assert by_interval(tost_relative(near, base, relative=0.02)).conclusion is CONFIRMED
    assert by_interval(tost_relative(near, base, relative=0.005)).conclusion is INCONCLUSIVE
    assert by_interval(tost_relative(far, base, relative=0.02)).conclusion is CONTRADICTED
    better: tuple[Better, Better] = ("higher", "lower")
    for test, words in (
        (non_superiority_relative, (CONTRADICTED, CONFIRMED)),
        (non_inferiority_relative, (CONFIRMED, CONTRADICTED)),
    ):
        found = [test(far, base, relative=0.02, better=one) for one in better]
        assert tuple(by_interval(one).conclusion for one in found) == words


@pytest.mark.parametrize(
    ("effect", "direction", "p", "conclusion"),
    [
        (0.6, "positive", 0.05, CONFIRMED),
        (0.6, "positive", 0.051, INCONCLUSIVE),
        (-0.6, "positive", 0.05, CONTRADICTED),
        (-0.6, "negative", 0.05, CONFIRMED),
        (0.6, "negative", 0.05, CONTRADICTED),
        (-0.6, "different", 0.05, CONFIRMED),
        (-0.6, "different", 0.051, INCONCLUSIVE),
    ],
)
def test_an_association_concludes_by_p_and_sign(effect, direction, p, conclusion):
    """
    An association has the claimed sign, the other one, or leaves it open.
    """
    sign = {"positive": 1, "negative": -1, "different": None}[direction]
    found = by_sign(result("association", effect, p), sign=sign)
    assert found.conclusion is conclusion


@pytest.mark.parametrize(
    "test",
    [
        "magnitude",
        "trend",
        "jonckheere",
        "kendall",
        "ordering",
        "sign",
        "cluster_sign",
    ],
)
def test_kinds_with_two_p_values_conclude_by_them(test):
    """
    p at most alpha confirms, p of the contrary at most alpha contradicts, else nothing.
    """
    for p, p_opposite, conclusion in (
        (0.05, 0.97, CONFIRMED),
        (0.051, 0.96, INCONCLUSIVE),
        (0.97, 0.05, CONTRADICTED),
        (0.97, 0.051, INCONCLUSIVE),
    ):
        own = TestResult(test, 0.4, 0.05, (9,), p=p, p_opposite=p_opposite, low=0.5)
        assert by_p(own) == Finding(conclusion, p, p_opposite)


def test_proportions_conclude():
    """
    Nine of ten are more than half, one of ten is less, six of ten is open.
    """
    for wins, conclusion in ((9, CONFIRMED), (1, CONTRADICTED), (6, INCONCLUSIVE)):
        assert by_p(sign_test(wins, 10 - wins)).conclusion is conclusion
    arms = Sample.of(*[1.0] * 12), Sample.of(*[0.0] * 12)
    clustered = paired_outcomes(*arms, clusters=[i // 2 for i in range(12)])
    assert by_p(clustered).conclusion is CONFIRMED


@pytest.mark.parametrize("test", ["eprocess_t", "group_obf"])
def test_a_sequential_verdict_is_its_first_crossing(test):
    """
    What was decided first stands, whatever the p-values at the last look.
    """
    words: dict[Decision | None, Conclusion] = {
        "confirmed": CONFIRMED,
        "contradicted": CONTRADICTED,
        "trivial": TRIVIAL,
        None: INCONCLUSIVE,
    }
    for decided, conclusion in words.items():
        own = SequentialResult(
            test,
            1.0,
            0.05,
            (9, 9),
            p=0.3,
            p_opposite=0.6,
            kind="difference",
            looks=(9,),
            drift="none",
            decided=decided,
            decided_at=None,
            crossing=None,
        )
        assert conclude_sequential(own) == Finding(conclusion, 0.3, 0.6)


@pytest.mark.parametrize(
    "rule",
    [
        conclude_sequential,
        lambda own: conclude_difference(own, direction="higher"),
    ],
)
def test_a_rule_judges_its_own_test_only(rule):
    """
    A result of another test is refused.
    """
    with pytest.raises(ClaimError, match=r"a result of share (cannot|is no Sequential)"):
        rule(result("share", 0.6, 0.01, 0.99))


@pytest.mark.parametrize("test", ["magnitude", "ordering"])
def test_a_missing_p_is_refused(test):
    """
    A rule by two p-values needs both.
    """
    with pytest.raises(ClaimError, match="lacks a number"):
        by_p(result(test, 0.6, 0.01))


@pytest.mark.parametrize("test", ["brunner_munzel", "tost_relative"])
def test_an_effect_in_other_units_agrees_with_nothing(test):
    """
    A probability or a relative difference is not compared with a printed difference.
    """
    prediction = Prediction(2.0, Interval(1.0, 3.0, 0.95), 0.0, 9.0)
    assert agree(prediction, result(test, 2.0, 0.01)) is Agreement.NOT_CHECKABLE
    assert agree(prediction, result("paired", 2.0, 0.01)) is Agreement.COMPATIBLE
