"""What is decided at every look, and when to stop."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

from repro.errors import ClaimError
from repro.stats.comparison import student
from repro.stats.contrast import student_contrast
from repro.stats.eprocess import balanced, e_value, eprocess_t, one_sided_e_value
from repro.stats.result import Interval, known
from repro.stats.sample import Sample
from repro.stats.sequential import predicted_power, sequential
from repro.stats.stopping import (
    Question,
    difference,
    equivalence,
    non_inferiority,
    non_superiority,
    stop,
)

SEED = 1908
LOOKS = range(3, 21)
QUESTIONS = {
    "higher": difference("higher"),
    "lower": difference("lower"),
    "different": difference("different"),
    "smallest effect": difference("higher", smallest_effect=0.4),
    "equivalence": equivalence(-1.5, 1.5),
    "non-superiority": non_superiority(1.5, "higher"),
    "non-inferiority": non_inferiority(0.5, "higher"),
}
ASKED = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())


def arms(effect: float, n: int = 20, seed: int = SEED) -> tuple[Sample, Sample]:
    """Two normal samples whose means differ by ``effect`` standard deviations."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(effect, 1, n), rng.normal(0, 1, n)
    return Sample.of(*map(float, a)), Sample.of(*map(float, b))


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
        assert result.details["decided"] is None
        assert known(result.interval) == Interval(-math.inf, math.inf, 1 - 0.05 * question.tails)


def test_huge_evidence_stays_a_number():
    """
    Evidence beyond the largest float is the largest float, and p stays above 0.
    """
    a = Sample.of(*(1e9 + i % 2 for i in range(400)))
    result = sequential(
        a, Sample.of(*(float(i % 2) for i in range(400))), difference("higher"), looks=[400]
    )
    assert math.isfinite(float(str(result.details["e"])))
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
    assert result.details["left_out"] == (1, 2)


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
        eprocess_t(*arms(0), looks=looks)


def test_constant_arms_say_nothing_at_first_and_are_refused_at_last():
    """
    A look at which neither arm varied yet is passed over; at the last look it is an error.
    """
    a, b = Sample.of(1.0, 1.0, 1.0, 1.5), Sample.of(2.0, 2.0, 2.0, 2.5)
    assert eprocess_t(a, b, looks=[2, 3, 4]).looks == (4,)
    with pytest.raises(ClaimError, match="variance 0"):
        eprocess_t(a, b, looks=[2, 3])


def test_the_process_is_the_formula_at_every_look():
    """
    Each look's e is that of Student's t of the first pairs, p the smallest 1/e so far, and the
    running interval what all intervals share.
    """
    a, b = arms(0.8)
    process = eprocess_t(a, b, looks=LOOKS)
    for place, n in enumerate(LOOKS):
        result = student(Sample.of(*a.values[:n]), Sample.of(*b.values[:n]))
        assert process.e[place] == pytest.approx(float(e_value(known(result.statistic), n, n)))
        assert process.p[place] == min(1.0, 1 / max(process.e[: place + 1]))
        assert process.effects[place] == result.effect
    running = known(process.running)
    assert running.low == max(each.low for each in process.intervals)
    assert running.high == min(each.high for each in process.intervals)


# What is decided


@ASKED
@pytest.mark.parametrize("effect", [-1.6, 0.0, 0.1, 1.6, 3.0])
def test_p_interval_and_decision_tell_the_same(question, effect):
    """
    A claim is decided at the first look whose interval excludes every border, and one of the
    anytime p-values is at most alpha exactly if it is decided.
    """
    a, b = arms(effect)
    crossed = [
        n for n in LOOKS if sequential(a, b, question, looks=[n]).details["decided"] is not None
    ]
    result = sequential(a, b, question, looks=LOOKS)
    assert result.details["decided_at"] == (crossed[0] if crossed else None)
    assert (result.details["decided"] == "confirmed") == (known(result.p) <= 0.05)
    contrary = result.details["decided"] in ("contradicted", "trivial")
    assert contrary == (known(result.p_opposite) <= 0.05)
    assert stop(result) == result.details["decided"]


DECISIONS = [
    ("higher", (0.1, 0.9), "confirmed"),
    ("higher", (-0.9, -0.1), "contradicted"),
    ("higher", (-0.1, 0.9), None),
    ("lower", (-0.9, -0.1), "confirmed"),
    ("lower", (0.1, 0.9), "contradicted"),
    ("different", (-0.9, -0.1), "confirmed"),
    ("different", (-0.1, 0.1), None),
    ("smallest effect", (0.5, 0.9), "confirmed"),
    ("smallest effect", (0.1, 0.3), "trivial"),
    ("smallest effect", (-0.1, 0.3), "contradicted"),
    ("smallest effect", (-0.3, -0.1), "contradicted"),
    ("smallest effect", (0.1, 0.5), None),
    ("equivalence", (0.1, 1.4), "confirmed"),
    ("equivalence", (1.6, 1.9), "contradicted"),
    ("equivalence", (-1.9, -1.6), "contradicted"),
    ("equivalence", (1.4, 1.6), None),
    ("equivalence", (-2.0, 2.0), None),
    ("non-superiority", (-9.0, 1.4), "confirmed"),
    ("non-superiority", (1.6, 9.0), "contradicted"),
    ("non-inferiority", (-0.4, 9.0), "confirmed"),
    ("non-inferiority", (-9.0, -0.6), "contradicted"),
    ("non-inferiority", (-0.6, 0.0), None),
]


@pytest.mark.parametrize(("name", "ends", "decision"), DECISIONS)
def test_the_rules_of_decision(name, ends, decision):
    """
    An interval decides by the table of METHODS.md 2.1.
    """
    assert QUESTIONS[name].decide(Interval(ends[0], ends[1], 0.95)) == decision


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
    assert result.details["decided"] == "confirmed"
    assert int(str(result.details["decided_at"])) <= 10
    assert float(str(result.details["e"])) < 20
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
    assert other.details["decided_at"] == one.details["decided_at"]
    assert known(other.interval).low == -known(one.interval).high


def test_the_current_e_goes_to_e_bh():
    """
    The e in the details is that of the last look, never the largest, on the claimed side; of a
    margin it is the one-sided e-value at the border, at most what p says.
    """
    a, b = arms(0.8)
    process = eprocess_t(a, b, looks=LOOKS)
    higher, lower = (sequential(a, b, difference(way), looks=LOOKS) for way in ("higher", "lower"))
    assert (higher.details["e"], higher.details["e_opposite"]) == (process.e[-1], 0.0)
    assert (lower.details["e"], lower.details["e_opposite"]) == (0.0, process.e[-1])
    margin = sequential(a, b, non_inferiority(0.5, "higher"), looks=[20])
    t = student_contrast(a, b).statistic(-0.5)
    assert margin.details["e"] == float(one_sided_e_value(t, 20, 20))
    assert 0.99 / known(margin.p) < float(str(margin.details["e"])) <= 1 / known(margin.p)


def test_other_priors_are_shown():
    """
    The e-values for g of 1/4, 1 and 4 stand beside the declared one, each with its decision.
    """
    a, b = arms(0.8)
    for g in (0.25, 1.0, 4.0):
        result = sequential(a, b, difference("higher"), looks=LOOKS, g=g)
        assert result.details["e"] == result.details[f"e_g_{g:g}"]
        assert result.details["decided"] == result.details[f"decided_g_{g:g}"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: difference(cast("Any", "up")), "higher, lower or different"),
        (lambda: difference("higher", smallest_effect=-1), "not negative"),
        (lambda: difference("different", smallest_effect=1), "belongs to a claim of higher"),
        (lambda: equivalence(0.0, 1.0), "both sides of 0"),
        (lambda: equivalence(-1.0, math.inf), "finite number"),
        (lambda: non_superiority(-0.1, "lower"), "at least 0"),
        (lambda: non_inferiority(math.nan, "lower"), "at least 0"),
        (lambda: non_inferiority(0.1, cast("Any", "smaller")), "better is lower or higher"),
    ],
)
def test_questions_without_sense_are_refused(make, message):
    """
    A question whose direction, margin or smallest effect means nothing is refused.
    """
    with pytest.raises(ClaimError, match=message):
        make()


def test_margins_follow_what_is_better():
    """
    Not superior bounds the gain and not inferior the loss, whichever values are better.
    """
    assert non_superiority(0.3, "lower") == Question("non_superiority", low=-0.3)
    assert non_superiority(0.3, "higher") == Question("non_superiority", high=0.3)
    assert non_inferiority(0.3, "lower") == Question("non_inferiority", high=0.3)
    assert non_inferiority(0.3, "higher") == Question("non_inferiority", low=-0.3)


# Stopping


def test_futility_is_a_low_chance():
    """
    Below 10 % the advice is to stop, at 10 % it is not; a decision comes before futility.
    """
    open_still = sequential(*arms(0.0), difference("higher"), looks=LOOKS)
    assert open_still.details["decided"] is None
    assert stop(open_still) is None
    assert stop(open_still, chance=0.0999) == "futile"
    assert stop(open_still, chance=0.10) is None
    decided = sequential(*arms(2.0), difference("higher"), looks=LOOKS)
    assert stop(decided, chance=0.0) == "confirmed"
    with pytest.raises(ClaimError, match="not sequential"):
        stop(student(*arms(0.0)))


@pytest.mark.parametrize(("name", "effect"), [("higher", 1.4), ("equivalence", 1.0)])
def test_predicted_power_is_that_of_the_process(name, effect):
    """
    The predicted chance agrees, within Monte Carlo error, with continuations that are drawn and
    judged one by one.
    """
    question, (a, b) = QUESTIONS[name], arms(effect, n=8)
    predicted = predicted_power(a, b, question, maximum=16)
    rng = np.random.default_rng([SEED, 3])
    hits = 0
    for _ in range(400):
        more = [
            Sample.of(
                *arm.values, *map(float, rng.normal(arm.summary().mean, arm.summary().spread, 8))
            )
            for arm in (a, b)
        ]
        result = sequential(more[0], more[1], question, looks=range(9, 17))
        hits += result.details["decided"] is not None
    assert 0.1 < predicted < 0.95
    assert abs(predicted - hits / 400) < 4 * math.sqrt(0.25 / 400 + 0.25 / 2000)


def test_predicted_power_ends_with_the_plan():
    """
    Without a pair to add the chance is 0; it grows with the maximum, and repeats exactly.
    """
    a, b = arms(0.4, n=6)
    chances = [predicted_power(a, b, difference("higher"), maximum=n) for n in (6, 10, 30, 60)]
    assert chances[0] == 0
    assert chances == sorted(chances)
    assert chances[-1] == predicted_power(a, b, difference("higher"), maximum=60)
