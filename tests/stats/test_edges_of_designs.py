"""Edges of planning, looking and replicating that other tests pass by."""

from __future__ import annotations

import math

import pytest
from scipy.stats import norm, t

from repro.errors import ClaimError
from repro.stats.anytime import e_value, predicted_power, sequential
from repro.stats.contrast import Contrast, effect_ratio
from repro.stats.planning import PlannedDifference, PlannedShare
from repro.stats.power import (
    PowerDesign,
    detectable,
    power_association,
    power_equivalence,
    seeds_needed,
    seeds_to_settle,
    smallest_size,
)
from repro.stats.records import Interval, Sample, Summary, known
from repro.stats.replication import replicate
from repro.stats.stopping import (
    Question,
    difference,
    drift,
    equivalence,
    non_inferiority,
    non_superiority,
)
from repro.stats.t_tests import tost


def test_a_share_that_no_size_reaches():
    """
    A true share equal to the one claimed is confirmed in at most alpha of cases: no size helps.
    """
    assert PlannedShare((5,), effect=0.5, low=0.5).seeds(0.80) is None


def test_a_simulated_test_is_planned_up_to_a_hundred():
    """
    An effect of .3 sd takes Yuen's test more than 100 replicates, which is as far as one looks.
    """
    planned = PlannedDifference((5,), (1.0,), test="yuen", effect=0.3)
    assert planned.seeds(0.80) is None


def test_a_size_that_suffices_exactly():
    """
    A power that is the target itself is enough, at the least size as at any other.
    """
    assert smallest_size(lambda n: 0.8, target=0.8) == 2
    assert smallest_size(lambda n: 0.8 if n >= 7 else 0.1, target=0.8) == 7
    assert smallest_size(lambda n: 0.8 if n >= 7 else 0.1, target=0.8, cap=7) == 7
    assert smallest_size(lambda n: 0.8 if n >= 7 else 0.1, target=0.8, cap=6) is None


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_what_is_detectable_is_found_within_a_million_units(unit):
    """
    A hundred thousand units are found whatever the unit, ten million are not.
    """
    far, too_far = 1e5 * unit, 1e7 * unit
    assert detectable(lambda size: float(size >= far), unit) == pytest.approx(far)
    assert detectable(lambda size: float(size >= too_far), unit) is None


@pytest.mark.parametrize("target", [0.5, 0.95])
def test_seeds_that_settle_an_equivalence_have_the_power_asked_for(target):
    """
    The number is that of the equivalence's own power, at the target that was asked for.
    """
    a, b = Summary(5, 10.1, 1.0), Summary(5, 10.0, 1.5)
    result = tost(a, b, low=-1.0, high=1.0)
    expected = seeds_needed(
        PowerDesign(1.0, 1.5, 5, 5),
        lambda one: power_equivalence(one, result.effect, low=-1.0, high=1.0),
        target=target,
    )
    assert seeds_to_settle(result, a, b, target=target) == expected


def test_the_power_of_a_correlation_at_both_ends():
    """
    Four points have some power and three none; both borders follow Fisher's approximation.
    """
    assert power_association(4, 0.99, low=0.0) > 0
    assert power_association(3, 0.99, low=0.0) == 0.0
    n, rho, low, high, alpha = 60, 0.1, -0.3, 0.6, 0.05
    mean = [math.atanh(r) + r / (2 * (n - 1)) for r in (low, rho, high)]
    sd, reach = 1 / math.sqrt(n - 3), norm.isf(alpha) / math.sqrt(n - 3)
    inside = norm(mean[1], sd).cdf([mean[2] - reach, mean[0] + reach])
    found = power_association(n, rho, low=low, high=high, alpha=alpha)
    assert found == pytest.approx(inside[0] - inside[1], rel=1e-9)


def test_each_arm_of_an_e_value_needs_two():
    """
    One value in either arm is refused, whichever it is.
    """
    for sizes in ((1, 5), (5, 1)):
        with pytest.raises(ClaimError, match="at least two values"):
            e_value(1.0, *sizes)


def test_the_declared_prior_is_used():
    """
    The e-value of a result is that of its own g, also within one standard error of the border.
    """
    a, b = Sample.of(1.0, 2.0, 3.0, 4.0), Sample.of(0.5, 2.5, 2.0, 4.5)
    for g in (0.25, 4.0):
        found = sequential(a, b, difference("higher"), looks=(4,), g=g)
        assert 0 < found.statistic < 1  # type: ignore[operator]
        assert found.e == pytest.approx(float(e_value(found.statistic, 4, 4, g)))  # type: ignore[arg-type]
        assert found.e_opposite == 0.0


def test_at_the_border_there_is_evidence_for_neither_side():
    """
    An effect of exactly none is evidence neither of *higher* nor of *lower*.
    """
    a, b = Sample.of(1.0, 2.0, 3.0), Sample.of(3.0, 1.0, 2.0)
    found = sequential(a, b, difference("higher"), looks=(3,))
    assert found.effect == 0
    assert (found.e, found.e_opposite) == (0.0, 0.0)


def test_what_a_question_asserts():
    """
    Each question has its kind and its borders, on the side of what is claimed.
    """
    assert difference("higher", smallest_effect=0.5) == Question("difference", 0.5, None)
    assert difference("lower", smallest_effect=0.5) == Question("difference", None, -0.5)
    assert difference("different") == Question("difference", None, None)
    assert equivalence(-1.0, 2.0) == Question("equivalence", -1.0, 2.0)
    assert non_superiority(1.0, "higher") == Question("non_superiority", None, 1.0)
    assert non_superiority(1.0, "lower") == Question("non_superiority", -1.0, None)
    assert non_inferiority(1.0, "higher") == Question("non_inferiority", -1.0, None)
    assert non_inferiority(1.0, "lower") == Question("non_inferiority", None, 1.0)


def test_intervals_that_touch_have_a_point_in_common():
    """
    Two intervals with one common end are not apart.
    """
    intervals = {3: Interval(0.0, 1.0, 0.95), 4: Interval(1.0, 2.0, 0.95)}
    assert drift(difference("higher"), intervals, Contrast(1.5, 0.25, 6)) == "none"


@pytest.mark.parametrize("shared", [False, True])
def test_the_fixed_effect_with_four_different_sizes(shared):
    """
    Meier 1953: the error of the pooled effect allows for weights that are estimated, with
    Satterthwaite's degrees of freedom over the arms that count, each with its own size.
    """
    first, second = Summary(4, 5.0, 1.0), Summary(6, 4.0, 0.7)
    ours = Summary(9, 4.9, 0.8), second if shared else Summary(13, 4.2, 0.5)
    found = replicate((first, second), ours, shared_baseline=shared).fixed_effect
    square = [arm.sd**2 / arm.n for arm in (first, second, *ours)]  # type: ignore[operator]
    variances = (square[0], square[2]) if shared else (square[0] + square[1], square[2] + square[3])
    weight = variances[1] / sum(variances)
    parts = [weight**2 * square[0], (1 - weight) ** 2 * square[2]]
    parts += [square[1]] if shared else [weight**2 * square[1], (1 - weight) ** 2 * square[3]]
    sizes = [4, 9, 6] if shared else [4, 9, 6, 13]
    df = sum(parts) ** 2 / sum(p**2 / (n - 1) for p, n in zip(parts, sizes, strict=True))

    def welch_df(one: tuple[float, int], other: tuple[float, int]) -> float:
        total = (one[0] + other[0]) ** 2
        return total / (one[0] ** 2 / (one[1] - 1) + other[0] ** 2 / (other[1] - 1))

    nu = (
        (3.0, 8.0)
        if shared
        else (
            welch_df((square[0], 4), (square[1], 6)),
            welch_df((square[2], 9), (square[3], 13)),
        )
    )
    own = sum(parts[:2]) if shared else sum(parts)
    wider = sum(parts) + own * 4 * weight * (1 - weight) * (1 / nu[0] + 1 / nu[1])
    assert found.se == pytest.approx(math.sqrt(sum(parts)), rel=1e-12)
    half = (found.interval.high - found.interval.low) / 2
    assert half == pytest.approx(t.ppf(0.975, df) * math.sqrt(wider), rel=1e-9)


def test_a_ratio_of_effects_has_its_own_level():
    """
    The sentence of Fieller's interval says its ends, which lie nearer at a lower level.
    """
    found = effect_ratio(Contrast(2.0, 0.1, 9), Contrast(1.0, 0.1, 9), df=9, level=0.9)
    wider = effect_ratio(Contrast(2.0, 0.1, 9), Contrast(1.0, 0.1, 9), df=9, level=0.95)
    assert known(wider.low) < known(found.low) < known(found.high) < known(wider.high)
    assert found.said == f"every ratio from {found.low:.3g} to {found.high:.3g}"


def test_nothing_over_nothing_may_be_any_ratio():
    """
    Where our effect is exactly 0 and the original's may be, no ratio is refuted, not even one.
    """
    found = effect_ratio(Contrast(0.0, 1.0, 9), Contrast(0.0, 0.0, 9), df=9)
    assert found.ratio is None
    assert found.said == "any ratio, because the original's effect may be 0"


def test_a_predicted_power_has_no_unit():
    """
    The chance of deciding is the same in any unit of measurement.
    """
    a, b = Sample.of(1.0, 2.5, 2.0, 4.0), Sample.of(0.5, 1.0, 2.0, 1.5)
    chances = []
    for unit in (1.0, 16.0):
        first, second = (Sample.of(*(unit * value for value in arm.values)) for arm in (a, b))
        chances.append(predicted_power(first, second, difference("higher"), maximum=20))
    assert 0.1 < chances[0] < 0.95
    assert chances[0] == chances[1]


def test_a_difference_that_touches_none_is_not_trivial():
    """
    An interval that ends at 0 below the smallest effect contradicts; off 0 it is TRIVIAL.
    """
    for question, sign in (
        (difference("higher", smallest_effect=1.0), 1),
        (difference("lower", smallest_effect=1.0), -1),
    ):
        for near, word in ((0.0, "contradicted"), (0.1, "trivial"), (-0.1, "contradicted")):
            low, high = sorted((sign * near, sign * 0.5))
            assert question.decide(Interval(low, high, 0.95)) == word
