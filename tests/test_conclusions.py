from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from repro.errors import ClaimError
from repro.stats.bound import bound, share
from repro.stats.comparison import welch
from repro.stats.equivalence import non_inferiority, non_superiority, tost
from repro.stats.ratio import ratio_of_geometric_means
from repro.stats.result import Interval, TestResult, known
from repro.stats.sample import Sample, Summary
from repro.stats.separation import separation
from repro.verdict import (
    Conclusion,
    Direction,
    Finding,
    conclude_bound,
    conclude_conjunction,
    conclude_difference,
    conclude_equivalence,
    conclude_non_superiority,
    conclude_ratio,
    conclude_separation,
    conclude_share,
)

CONFIRMED, CONTRADICTED = Conclusion.CONFIRMED, Conclusion.CONTRADICTED
INCONCLUSIVE, TRIVIAL = Conclusion.INCONCLUSIVE, Conclusion.TRIVIAL


Judge: TypeAlias = Callable[[], Finding]
Ends: TypeAlias = tuple[float, float]


def difference(effect: float = 1.0, p: float = 0.5, interval: Ends = (-1.0, 1.0)) -> TestResult:
    """A result of Welch's test, two-sided at .05."""
    return TestResult(
        "welch",
        effect,
        0.05,
        (5, 5),
        interval=Interval(interval[0], interval[1], 0.95),
        p=p,
        se=0.1,
        df=8.0,
        details={"alternative": "two-sided"},
    )


def region(
    test: str, interval: Ends, low: float | None = None, high: float | None = None
) -> TestResult:
    """A result of a test that asserts a region."""
    return TestResult(
        test,
        sum(interval) / 2,
        0.05,
        (5, 5),
        interval=Interval(interval[0], interval[1], 0.9),
        p=0.5,
        p_opposite=0.5,
        low=low,
        high=high,
    )


def higher(effect: float, p: float) -> Judge:
    """The conclusion that A is higher."""
    return lambda: conclude_difference(difference(effect, p), direction="higher")


def lower(effect: float, p: float) -> Judge:
    """The conclusion that A is lower."""
    return lambda: conclude_difference(difference(effect, p), direction="lower")


def different(effect: float, p: float) -> Judge:
    """The conclusion that A is different."""
    return lambda: conclude_difference(difference(effect, p), direction="different")


def at_least(low: float, high: float, direction: Direction = "higher") -> Judge:
    """The conclusion against a smallest effect of 1."""
    result = difference(effect=(low + high) / 2, interval=(low, high))
    return lambda: conclude_difference(result, direction=direction, smallest_effect=1.0)


def equivalent(low: float, high: float) -> Judge:
    """The conclusion of equivalence within 1."""
    return lambda: conclude_equivalence(region("tost", (low, high), -1.0, 1.0))


def not_better(low: float, high: float, better: str = "higher") -> Judge:
    """The conclusion of non-superiority by 1."""
    below, above = (None, 1.0) if better == "higher" else (-1.0, None)
    return lambda: conclude_non_superiority(region("non_superiority", (low, high), below, above))


def not_worse(low: float, high: float) -> Judge:
    """The conclusion of non-inferiority by 1, higher being better."""
    return lambda: conclude_non_superiority(region("non_inferiority", (low, high), -1.0, None))


def ratio(low: float, high: float) -> Judge:
    """The conclusion of a ratio of at least 3."""
    return lambda: conclude_ratio(region("ratio", (low, high), 3.0))


def exact_ratio(a: float, b: float) -> Judge:
    """The conclusion of a ratio of at least 3 between constant arms."""
    arms = Sample.of(a, a, a), Sample.of(b, b, b)
    return lambda: conclude_ratio(ratio_of_geometric_means(*arms, at_least=3.0))


def separated(
    a: Sequence[float],
    b: Sequence[float],
    factor: float = 1.0,
    direction: Literal["higher", "lower"] = "higher",
) -> Judge:
    """The conclusion of separation."""
    result = separation(Sample.of(*a), Sample.of(*b), direction=direction, factor=factor)
    return lambda: conclude_separation(result)


def bounded(*values: float) -> Judge:
    """The conclusion of a structural bound of 402."""
    return lambda: conclude_bound(bound(Sample.of(*values), at_most=402))


def shared(k: int, n: int) -> Judge:
    """The conclusion that more than seven in ten lie within the limit."""
    sample = Sample.of(*([1.0] * k + [2.0] * (n - k)))
    return lambda: conclude_share(share(sample, of=0.7, at_most=1))


def joined(*leaves: tuple[Conclusion, float]) -> Judge:
    """The conjunction of leaves, each a conclusion and the p of its contrary."""
    findings = [Finding(conclusion, 0.01, p) for conclusion, p in leaves]
    return lambda: conclude_conjunction(findings)


YES, NO, OPEN, SMALL = (CONFIRMED, 0.99), (CONTRADICTED, 0.01), (INCONCLUSIVE, 0.6), (TRIVIAL, 0.9)

TABLE = [
    # difference: p <= alpha, with the claimed sign or the opposite one
    ("higher: p below", higher(effect=1, p=0.04), CONFIRMED),
    ("higher: p at alpha", higher(effect=1, p=0.05), CONFIRMED),
    ("higher: p above", higher(effect=1, p=0.0501), INCONCLUSIVE),
    ("higher: opposite", higher(effect=-1, p=0.05), CONTRADICTED),
    ("higher: opposite, p above", higher(effect=-1, p=0.0501), INCONCLUSIVE),
    ("higher: no effect at all", higher(effect=0, p=1.0), INCONCLUSIVE),
    ("lower: p below", lower(effect=-1, p=0.05), CONFIRMED),
    ("lower: opposite", lower(effect=1, p=0.05), CONTRADICTED),
    ("lower: p above", lower(effect=-1, p=0.06), INCONCLUSIVE),
    ("different: either sign", different(effect=-1, p=0.05), CONFIRMED),
    ("different: p above", different(effect=-1, p=0.9), INCONCLUSIVE),
    # difference with a smallest effect of 1
    ("m: above it", at_least(1.01, 2), CONFIRMED),
    ("m: touches it", at_least(1.0, 2), INCONCLUSIVE),
    ("m: spans it", at_least(0.5, 2), INCONCLUSIVE),
    ("m: real but small", at_least(0.01, 0.99), TRIVIAL),
    ("m: real, touches m", at_least(0.01, 1.0), INCONCLUSIVE),
    ("m: touches 0 and below m", at_least(0.0, 0.99), CONTRADICTED),
    ("m: spans 0 and below m", at_least(-0.5, 0.99), CONTRADICTED),
    ("m: spans 0 and touches m", at_least(-0.5, 1.0), INCONCLUSIVE),
    ("m: below 0", at_least(-3, -2), CONTRADICTED),
    ("m: spans 0 and m", at_least(-1, 2), INCONCLUSIVE),
    ("m, lower: below it", at_least(-2, -1.01, "lower"), CONFIRMED),
    ("m, lower: real but small", at_least(-0.99, -0.01, "lower"), TRIVIAL),
    ("m, lower: above 0", at_least(2, 3, "lower"), CONTRADICTED),
    # equivalence within 1
    ("tost: inside", equivalent(-0.9, 0.9), CONFIRMED),
    ("tost: inside, 0 excluded", equivalent(0.1, 0.9), CONFIRMED),
    ("tost: touches above", equivalent(-0.9, 1.0), INCONCLUSIVE),
    ("tost: touches below", equivalent(-1.0, 0.9), INCONCLUSIVE),
    ("tost: spans", equivalent(0.9, 1.1), INCONCLUSIVE),
    ("tost: at the margin, beyond", equivalent(1.0, 1.1), CONTRADICTED),
    ("tost: beyond below", equivalent(-1.2, -1.0), CONTRADICTED),
    ("tost: wider than both", equivalent(-2, 2), INCONCLUSIVE),
    # non-superiority and non-inferiority by 1
    ("not better: within", not_better(-5, 0.99), CONFIRMED),
    ("not better: touches", not_better(-5, 1.0), INCONCLUSIVE),
    ("not better: spans", not_better(0, 2), INCONCLUSIVE),
    ("not better: beyond", not_better(1.0, 2), CONTRADICTED),
    ("not better, lower is better: within", not_better(-0.99, 5, "lower"), CONFIRMED),
    ("not better, lower is better: beyond", not_better(-2, -1.0, "lower"), CONTRADICTED),
    ("not worse: within", not_worse(-0.99, 5), CONFIRMED),
    ("not worse: spans", not_worse(-1.0, 5), INCONCLUSIVE),
    ("not worse: beyond", not_worse(-2, -1.0), CONTRADICTED),
    # ratio of at least 3
    ("ratio: above", ratio(3.01, 4), CONFIRMED),
    ("ratio: touches from above", ratio(3.0, 4), INCONCLUSIVE),
    ("ratio: spans", ratio(2, 4), INCONCLUSIVE),
    ("ratio: touches from below", ratio(2, 3.0), INCONCLUSIVE),
    ("ratio: below", ratio(2, 2.99), CONTRADICTED),
    ("exact ratio: above", exact_ratio(301.0, 100.0), CONFIRMED),
    ("exact ratio: equal", exact_ratio(300.0, 100.0), CONFIRMED),
    ("exact ratio: below", exact_ratio(299.0, 100.0), CONTRADICTED),
    # separation
    ("separation: all beyond", separated((7, 8, 9), (1, 2, 3)), CONFIRMED),
    ("separation: all beyond twice", separated((7, 8, 9), (1, 2, 3), 2.0), CONFIRMED),
    ("separation: not three times", separated((7, 8, 9), (1, 2, 3), 3.0), INCONCLUSIVE),
    ("separation: a tie", separated((3, 8, 9), (1, 2, 3)), INCONCLUSIVE),
    ("separation: the other way", separated((1, 2, 3), (7, 8, 9)), CONTRADICTED),
    ("separation: the other way, twice", separated((1, 2, 3), (7, 8, 9), 2.0), CONTRADICTED),
    ("separation: lower", separated((1, 2, 3), (7, 8, 9), direction="lower"), CONFIRMED),
    # structural bound, share
    ("bound: all within", bounded(400, 402, 402), CONFIRMED),
    ("bound: one beyond", bounded(400, 402, 402.5), CONTRADICTED),
    ("share: nine of nine", shared(9, 9), CONFIRMED),
    ("share: eight of eight", shared(8, 8), INCONCLUSIVE),
    ("share: three of nine", shared(3, 9), CONTRADICTED),
    ("share: four of nine", shared(4, 9), INCONCLUSIVE),
    # conjunction
    ("all hold", joined(YES, YES, YES), CONFIRMED),
    ("one is open", joined(YES, OPEN, YES), INCONCLUSIVE),
    ("one is trivial", joined(YES, SMALL, YES), TRIVIAL),
    ("all are trivial", joined(SMALL, SMALL), TRIVIAL),
    ("trivial and open", joined(SMALL, OPEN, YES), INCONCLUSIVE),
    ("one contradicted at its Holm level", joined(YES, NO, YES), CONTRADICTED),
    ("at it exactly", joined(YES, (CONTRADICTED, 0.025)), CONTRADICTED),
    (
        "contradicted, but not at its Holm level",
        joined(YES, YES, (CONTRADICTED, 0.02)),
        INCONCLUSIVE,
    ),
    ("contradicted, trivial, not at Holm", joined(SMALL, (CONTRADICTED, 0.04)), INCONCLUSIVE),
    ("one contradicted, another open", joined(NO, OPEN), CONTRADICTED),
    ("a leaf alone", joined((CONTRADICTED, 0.05)), CONTRADICTED),
    ("two contradicted: Holm steps down", joined(NO, (CONTRADICTED, 0.04), YES), CONTRADICTED),
]


@pytest.mark.parametrize(
    ("judge", "conclusion"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE]
)
def test_the_truth_table(judge, conclusion):
    """
    Each kind of expectation concludes by its exact rule, borders included.
    """
    assert judge().conclusion is conclusion


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
        lambda: conclude_equivalence(difference()),
        lambda: conclude_non_superiority(region("tost", (0, 1), -1, 1)),
        lambda: conclude_ratio(region("tost", (0, 1), -1, 1)),
        lambda: conclude_separation(difference()),
        lambda: conclude_bound(difference()),
        lambda: conclude_share(difference()),
        lambda: conclude_difference(difference(), direction="different", smallest_effect=1.0),
        lambda: conclude_difference(difference(), direction="higher", smallest_effect=0.0),
        lambda: conclude_equivalence(TestResult("tost", 0.0, 0.05, (5, 5))),
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
            conclude_equivalence(tost(a, b, low=-size, high=size)),
            conclude_non_superiority(non_superiority(a, b, margin=size, better="lower")),
            conclude_non_superiority(non_inferiority(a, b, margin=size, better="lower")),
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
        conclude_equivalence(
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
            leaves.append(
                conclude_non_superiority(non_superiority(a, b, margin=0.0, better="higher"))
            )
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
