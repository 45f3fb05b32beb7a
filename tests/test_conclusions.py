"""What holds of conclusions of every kind: p-values, units, order, refusals and error rates."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from repro.errors import ClaimError
from repro.expectations.decision_rules import by_interval, by_p, conclude_difference, conclude_ratio
from repro.expectations.verdict_words import Finding
from repro.judging.verdict import conclude_conjunction
from repro.stats.counts import BoundResult
from repro.stats.records import Sample, Summary, TestResult, expect, known
from repro.stats.t_tests import non_inferiority, non_superiority, tost, welch
from tests.expectations.judges import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    NO,
    OPEN,
    SMALL,
    YES,
    bounded,
    difference,
    exact_ratio,
    joined,
    region,
)


@pytest.mark.parametrize(
    ("effect", "direction", "p", "p_opposite"),
    [
        (1.0, "higher", 0.03, 1.0),
        (-1.0, "higher", 1.0, 0.03),
        (1.0, "lower", 1.0, 0.03),
        (-1.0, "different", 0.03, 1.0),
    ],
)
def test_a_two_sided_p_belongs_to_the_sign_that_was_seen(effect, direction, p, p_opposite):
    """
    The two-sided p is evidence for the observed sign, and none for the other.
    """
    found = conclude_difference(difference(effect=effect, p=0.03), direction=direction)
    assert (found.p, found.p_opposite) == (p, p_opposite)


def test_deterministic_findings_have_no_chance():
    """
    An exact finding has p 0 and 1 where it holds, 1 and 0 where it does not.
    """
    assert bounded(402)() == Finding(CONFIRMED, 0.0, 1.0)
    assert exact_ratio(1.0, 1.0)() == Finding(CONTRADICTED, 1.0, 0.0)


def test_a_conjunction_is_as_strong_as_its_weakest_leaf():
    """
    A conjunction's p is the largest of its leaves; its contrary is the smallest Holm p of a
    contradicted leaf.
    """
    leaves = [Finding(CONFIRMED, 0.01, 0.9), Finding(CONTRADICTED, 0.97, 0.005)]
    assert conclude_conjunction(leaves) == Finding(CONTRADICTED, 0.97, 0.01)
    assert conclude_conjunction(leaves[:1]) == Finding(CONFIRMED, 0.01, 1.0)
    with pytest.raises(ClaimError, match="at least one decisive expectation"):
        conclude_conjunction([])


def test_the_family_has_its_own_alpha():
    """
    A stricter level of the conjunction needs stronger contradiction.
    """
    leaves = [Finding(CONTRADICTED, 0.97, 0.02), Finding(CONFIRMED, 0.01, 0.9)]
    assert conclude_conjunction(leaves).conclusion is CONTRADICTED
    assert conclude_conjunction(leaves, alpha=0.01).conclusion is INCONCLUSIVE


def test_a_one_sided_test_speaks_for_its_own_direction_only():
    """
    A one-sided p decides in its direction, and a claim in the other is refused.
    """
    a, b = Sample.of(5.0, 6.0, 7.0), Sample.of(1.0, 2.0, 3.0)
    result = welch(a, b, alternative="greater")
    assert conclude_difference(result, direction="higher").conclusion is CONFIRMED
    swapped = welch(b, a, alternative="greater")
    assert conclude_difference(swapped, direction="higher").conclusion is CONTRADICTED
    for direction in ("lower", "different"):
        with pytest.raises(ClaimError, match="alternative greater says nothing"):
            conclude_difference(result, direction=direction)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("smallest", [0.5, 3.0, 3.7])
def test_a_smallest_effect_has_p_values_that_match_its_interval(alternative, smallest):
    """
    Against a smallest effect, p and its contrary fall below alpha as the interval clears it.
    """
    a, b = Sample.of(3.1, 2.9, 3.3, 2.8), Sample.of(0.2, -0.1, 0.1, -0.2)
    result = welch(a, b, alternative=alternative)
    found = conclude_difference(result, direction="higher", smallest_effect=smallest)
    assert (found.p <= 0.05) == (known(result.interval).low > smallest)
    assert (found.p_opposite <= 0.05) == (known(result.interval).high < smallest)
    mirrored = conclude_difference(welch(b, a), direction="lower", smallest_effect=smallest)
    if alternative == "two-sided":
        assert mirrored == found


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: conclude_difference(region("tost", (0, 1)), direction="higher"),
        lambda: by_interval(difference()),
        lambda: conclude_ratio(region("tost", (0, 1), -1, 1)),
        lambda: by_p(difference()),
        lambda: expect(difference(), BoundResult),
        lambda: conclude_difference(difference(), direction="different", smallest_effect=1.0),
        lambda: conclude_difference(difference(), direction="higher", smallest_effect=0.0),
        lambda: by_interval(TestResult("tost", 0.0, 0.05, (5, 5))),
    ],
)
def test_a_rule_judges_its_own_test_only(wrong):
    """
    A result of another test, one that lacks a number, and an empty smallest effect are refused.
    """
    with pytest.raises(ClaimError):
        wrong()


values = st.lists(st.floats(-9, 9).map(lambda x: round(x, 2)), min_size=2, max_size=6)


@given(values, values, st.floats(0.1, 5), st.floats(1.01, 4))
def test_a_wider_margin_never_unconfirms(x, y, margin, factor):
    """
    What is confirmed within a margin is confirmed within every wider one.
    """
    assume(np.ptp(x) > 0 or np.ptp(y) > 0)
    a, b = Sample.of(*x), Sample.of(*y)
    narrow, wide = (
        (
            by_interval(tost(a, b, low=-size, high=size)),
            by_interval(non_superiority(a, b, margin=size, better="lower")),
            by_interval(non_inferiority(a, b, margin=size, better="lower")),
        )
        for size in (margin, factor * margin)
    )
    for one, other in zip(narrow, wide, strict=True):
        assert one.conclusion is not CONFIRMED or other.conclusion is CONFIRMED


@given(values, values, st.floats(0.5, 200))
def test_units_never_change_a_conclusion(x, y, scale):
    """
    Another unit of measurement, in the values and in the margin, changes no conclusion.
    """
    assume(np.ptp(x) > 0.1 and np.ptp(y) > 0.1)
    here, there = (
        by_interval(
            tost(*(Sample.of(*(unit * v for v in w)) for w in (x, y)), low=-unit, high=unit)
        )
        for unit in (1.0, scale)
    )
    assume(abs(here.p - 0.05) > 1e-9 and abs(here.p_opposite - 0.05) > 1e-9)
    assert here.conclusion is there.conclusion


@given(st.permutations([YES, NO, OPEN, SMALL, (CONTRADICTED, 0.03)]))
def test_the_order_of_leaves_never_matters(leaves):
    """
    The leaves of a conjunction may stand in any order.
    """
    assert joined(*leaves)() == joined(YES, NO, OPEN, SMALL, (CONTRADICTED, 0.03))()


def one_sided_leaves(
    rng: np.random.Generator, draws: int, distances: tuple[float, ...]
) -> Iterator[list[Finding]]:
    """Findings of non-superiority, n = 5, each truth so many standard errors inside its margin."""
    for _ in range(draws):
        leaves = []
        for distance in distances:
            x, y = rng.normal(-distance * math.sqrt(0.4), 1, 5), rng.normal(0, 1, 5)
            a, b = (Summary(5, float(z.mean()), float(z.std(ddof=1))) for z in (x, y))
            leaves.append(by_interval(non_superiority(a, b, margin=0.0, better="higher")))
        yield leaves


def test_a_true_conjunction_is_rarely_contradicted():
    """
    With three leaves at their borders, one is contradicted alone in about 14 % of cases, and
    the conjunction in at most 5 %.
    """
    draws = 4000
    found = list(one_sided_leaves(np.random.default_rng(1979), draws, (0, 0, 0)))
    alone = np.mean([any(leaf.conclusion is CONTRADICTED for leaf in leaves) for leaves in found])
    joint = np.mean([conclude_conjunction(leaves).conclusion is CONTRADICTED for leaves in found])
    assert 0.11 <= alone <= 0.15
    assert joint <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / draws)


@pytest.mark.parametrize("others", [(0, 0), (8, 8)])
def test_a_false_conjunction_is_rarely_confirmed(others):
    """
    With one leaf at its border a conjunction is confirmed in at most 5 % of cases, even where
    the others are certain, and then in nearly as many.
    """
    draws = 4000
    found = one_sided_leaves(np.random.default_rng(1982), draws, (0, *others))
    rate = np.mean([conclude_conjunction(leaves).conclusion is CONFIRMED for leaves in found])
    error = 4 * math.sqrt(0.05 * 0.95 / draws)
    assert rate <= 0.05 + error
    if others == (8, 8):
        assert rate >= 0.0464 - error
