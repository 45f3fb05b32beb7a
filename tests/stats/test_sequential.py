"""The e-process and its verdict at every look: p, interval and decision."""

from __future__ import annotations

import math

import numpy as np
import pytest

from repro.errors import ClaimError
from repro.stats.anytime import balanced, e_value, one_sided_e_value, sequential
from repro.stats.contrast import student_contrast
from repro.stats.records import Interval, Sample, known
from repro.stats.stopping import Question, difference, non_inferiority, stop
from repro.stats.t_tests import student
from tests.stats.questions import LOOKS, QUESTIONS, SEED, arms

ASKED = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())


def test_three_pairs_cannot_decide():
    """
    With three values an arm and g = 1 the largest e is 6.25, so no data decide anything, however
    extreme; with four it is 27.
    """
    assert float(e_value(1e9, 3, 3)) == pytest.approx(6.25)
    assert float(e_value(1e9, 4, 4)) == pytest.approx(27)
    a, b = Sample.of(1e6, 1e6 + 1, 1e6 - 1), Sample.of(0.0, 1.0, -1.0)
    for question in QUESTIONS.values():
        result = sequential(a, b, question, looks=[3])
        assert result.decided is None
        assert known(result.interval) == Interval(-math.inf, math.inf, 1 - 0.05 * question.tails)


def test_huge_evidence_stays_a_number():
    """
    Evidence beyond the largest float is the largest float, and p stays above 0.
    """
    a = Sample.of(*(1e9 + i % 2 for i in range(400)))
    result = sequential(
        a, Sample.of(*(float(i % 2) for i in range(400))), difference("higher"), looks=[400]
    )
    assert math.isfinite(result.e)
    assert 0 < known(result.p) < 1e-300


def test_an_excluded_replicate_takes_its_pair_with_it():
    """
    Only replicate numbers that both arms have are looked at, in the order of the numbers.
    """
    a = Sample((1.0, 2.0, 3.0, 4.0), (3, 0, 1, 7))
    b = Sample((5.0, 6.0, 7.0, 8.0), (0, 2, 7, 3))
    assert balanced(a, b) == (
        Sample((2.0, 1.0, 4.0), (0, 3, 7)),
        Sample((5.0, 8.0, 7.0), (0, 3, 7)),
    )
    result = sequential(a, b, difference("higher"), looks=[3])
    assert result.n == (3, 3)
    assert result.left_out == (1, 2)


def test_too_few_pairs_are_refused():
    """
    One shared replicate number is no basis for a sequential test.
    """
    with pytest.raises(ClaimError, match="there are 1; it needs at least two"):
        balanced(Sample.of(1.0, 2.0), Sample((1.0, 2.0), (1, 2)))


@pytest.mark.parametrize("looks", [[], [1, 2], [3, 3], [5, 4], [21]])
def test_bad_looks_are_refused(looks):
    """
    Looks increase, start at 2 pairs or more, and end at the pairs that are there.
    """
    with pytest.raises(ClaimError, match="looks are increasing numbers of pairs, from 2 to the 20"):
        sequential(*arms(0), difference("different"), looks=looks)


def test_constant_arms_say_nothing_at_first_and_are_refused_at_last():
    """
    A look at which neither arm varied yet is passed over; at the last look it is an error.
    """
    a, b = Sample.of(1.0, 1.0, 1.0, 1.5), Sample.of(2.0, 2.0, 2.0, 2.5)
    assert sequential(a, b, difference("different"), looks=[2, 3, 4]).looks == (4,)
    with pytest.raises(ClaimError, match="variance 0"):
        sequential(a, b, difference("different"), looks=[2, 3])


def test_the_process_is_the_formula_at_every_look():
    """
    Each look's e is that of Student's t of the first pairs, and p the smallest 1/e so far.
    """
    a, b = arms(0.8)
    process = [
        sequential(a, b, difference("different"), looks=LOOKS[: place + 1])
        for place in range(len(LOOKS))
    ]
    for place, n in enumerate(LOOKS):
        result = student(Sample.of(*a.values[:n]), Sample.of(*b.values[:n]))
        assert process[place].e == pytest.approx(float(e_value(known(result.statistic), n, n)))
        assert process[place].p == min(1.0, 1 / max(each.e for each in process[: place + 1]))
        assert process[place].effect == result.effect


# What is decided


@ASKED
@pytest.mark.parametrize("effect", [-1.6, 0.0, 0.1, 1.6, 3.0])
def test_p_interval_and_decision_tell_the_same(question, effect):
    """
    A claim is decided at the first look whose interval excludes every border, and one of the
    anytime p-values is at most alpha exactly if it is decided.
    """
    a, b = arms(effect)
    crossed = [n for n in LOOKS if sequential(a, b, question, looks=[n]).decided is not None]
    result = sequential(a, b, question, looks=LOOKS)
    assert result.decided_at == (crossed[0] if crossed else None)
    assert (result.decided == "confirmed") == (known(result.p) <= 0.05)
    contrary = result.decided in ("contradicted", "trivial")
    assert contrary == (known(result.p_opposite) <= 0.05)
    assert stop(result) == result.decided


def test_the_verdict_stands_at_the_first_crossing():
    """
    What was decided stays decided though later pairs bring the evidence back below 1/alpha.
    """
    rng = np.random.default_rng(SEED)
    early = rng.normal(2.0, 1, 10)
    late = rng.normal(-2.0, 1, 20)
    a = Sample.of(*map(float, np.concatenate([early, late])))
    b = Sample.of(*map(float, rng.normal(0, 1, 30)))
    result = sequential(a, b, difference("higher"), looks=range(3, 31))
    assert result.decided == "confirmed"
    assert known(result.decided_at) <= 10
    assert result.e < 20
    assert 0.0 in known(result.interval)
    assert known(result.p) <= 0.05


@ASKED
def test_swapping_the_arms_mirrors_the_question(question):
    """
    With arms and borders mirrored, p and decision stay and the interval changes sign.
    """
    a, b = arms(0.9)
    low = None if question.high is None else -question.high
    high = None if question.low is None else -question.low
    one = sequential(a, b, question, looks=LOOKS)
    other = sequential(b, a, Question(question.kind, low, high), looks=LOOKS)
    assert other.p == pytest.approx(one.p, rel=1e-12)
    assert other.decided_at == one.decided_at
    assert known(other.interval).low == -known(one.interval).high


def test_the_current_e_goes_to_e_bh():
    """
    The e in the details is that of the last look, never the largest, on the claimed side; of a
    margin it is the one-sided e-value at the border, at most what p says.
    """
    a, b = arms(0.8)
    process = sequential(a, b, difference("different"), looks=LOOKS)
    higher, lower = (sequential(a, b, difference(way), looks=LOOKS) for way in ("higher", "lower"))
    assert (higher.e, higher.e_opposite) == (process.e, 0.0)
    assert (lower.e, lower.e_opposite) == (0.0, process.e)
    margin = sequential(a, b, non_inferiority(0.5, "higher"), looks=[20])
    t = student_contrast(a, b).statistic(-0.5)
    assert margin.e == float(one_sided_e_value(t, 20, 20))
    assert 0.99 / known(margin.p) < margin.e <= 1 / known(margin.p)


def test_other_priors_are_shown():
    """
    The e-values for g of 1/4, 1 and 4 stand beside the declared one, each with its decision.
    """
    a, b = arms(0.8)
    for g in (0.25, 1.0, 4.0):
        result = sequential(a, b, difference("higher"), looks=LOOKS, g=g)
        (same,) = (one for one in result.sensitivity if one.g == g)
        assert result.e == same.e
