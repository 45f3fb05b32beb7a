"""What a sequential question asks, how an interval answers it, and when to stop before it does."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

from repro.errors import ClaimError
from repro.stats.anytime import predicted_power, sequential
from repro.stats.records import Interval, Sample
from repro.stats.stopping import (
    Question,
    difference,
    equivalence,
    non_inferiority,
    non_superiority,
    stop,
)
from repro.stats.t_tests import student
from tests.stats.questions import LOOKS, QUESTIONS, SEED, arms

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
    An interval decides by the table of statistics.md 2.1.
    """
    assert QUESTIONS[name].decide(Interval(ends[0], ends[1], 0.95)) == decision


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
    assert open_still.decided is None
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
        hits += result.decided is not None
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
