"""The prediction interval of reference runs, against METHODS 2.3, scipy and simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from repro.errors import ClaimError, TooFewError
from repro.stats.planning import assess
from repro.stats.records import Sample, Summary, known
from repro.stats.reference_runs import PlannedWithin, ReferenceUse, false_alarms, within

TEN = Summary(10, 3.2, 0.05)


def inside(watch: ReferenceUse, shift: float) -> float:
    """How often a new run is inside, its mean shifted by so many standard deviations."""
    t = stats.nct(watch.n - 1, shift / watch.unit)
    limit = watch.reach / watch.unit
    below = t.cdf(-limit) if watch.side == "both" else 0.0
    return float(t.cdf(limit) - below)


@pytest.mark.parametrize(("n", "two", "three"), [(5, 71, 46), (10, 60, 28), (20, 54, 21)])
def test_a_shift_is_inside_as_often_as_was_measured(n: int, two: int, three: int) -> None:
    """METHODS 2.3, by draws: a shift of two and of three standard deviations."""
    assert 100 * inside(ReferenceUse(n), 2) == pytest.approx(two, abs=0.7)
    assert 100 * inside(ReferenceUse(n), 3) == pytest.approx(three, abs=0.7)


@pytest.mark.parametrize(("n", "missed"), [(5, 95), (10, 84), (20, 72)])
def test_a_shared_alpha_misses_more(n: int, missed: int) -> None:
    """METHODS 2.3: a shift of three standard deviations, alpha shared over thirty nights."""
    assert 100 * inside(ReferenceUse(n, nights=30), 3) == pytest.approx(missed, abs=0.6)


@pytest.mark.parametrize(
    ("n", "rate", "some"), [(5, 15.47, 39.28), (10, 12.56, 55.88), (20, 10.21, 66.23)]
)
def test_one_reference_night_after_night(n: int, rate: float, some: float) -> None:
    """One reference in ten errs more than that, and some alarm in thirty nights: by 6,000,000
    draws of a reference's mean and standard deviation."""
    found = false_alarms(ReferenceUse(n))
    assert 100 * found.one_in_ten == pytest.approx(rate, abs=0.05)
    assert 100 * found.any_in_a_month == pytest.approx(some, abs=0.05)
    assert found.a_month == pytest.approx(1.5)


@pytest.mark.parametrize(("n", "some"), [(5, 1.8), (10, 3.3), (20, 4.3)])
def test_thirty_shared_nights(n: int, some: float) -> None:
    """METHODS 2.3: some alarm in thirty nights is rarer than alpha."""
    found = false_alarms(ReferenceUse(n, nights=30))
    assert 100 * found.any_in_a_month == pytest.approx(some, abs=0.1)
    assert found.a_month == pytest.approx(0.05)


@pytest.mark.parametrize(("n", "reach"), [(5, 3.98), (10, 3.01), (20, 2.60)])
def test_a_limit_of_tolerance(n: int, reach: float) -> None:
    """METHODS 2.3: for nine references in ten at most 2.5 % lies above it."""
    watch = ReferenceUse(n, side="higher", alpha=0.025, confidence=0.9)
    assert watch.reach == pytest.approx(reach, abs=0.005)
    assert false_alarms(watch).one_in_ten == pytest.approx(0.025, abs=5e-4)


@pytest.mark.parametrize("k", [1, 3])
def test_a_limit_of_tolerance_holds_for_nine_references_in_ten(k: int) -> None:
    rng = np.random.default_rng(8)
    n = 6
    watch = ReferenceUse(n, k, "higher", 0.05, confidence=0.9)
    references = rng.standard_normal((100_000, n))
    limits = references.mean(1) + watch.reach * references.std(1, ddof=1)
    rates = stats.norm.sf(limits * math.sqrt(k))
    assert float(np.mean(rates > 0.05)) == pytest.approx(0.1, abs=0.004)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("side", ["both", "higher", "lower"])
def test_the_interval_errs_in_alpha_on_average(k: int, side: Any) -> None:
    rng = np.random.default_rng(5)
    found = 0
    for new, reference in zip(
        rng.standard_normal((4000, k)), rng.standard_normal((4000, 7)), strict=True
    ):
        result = within(Sample.of(*new), Sample.of(*reference), side=side, alpha=0.1)
        found += known(result.p_opposite) <= 0.1
    assert found / 4000 == pytest.approx(0.1, abs=4 * math.sqrt(0.09 / 4000))


def test_it_is_the_interval_of_textbooks() -> None:
    found = within(Summary(1, 3.31, None), TEN)
    reach = stats.t.ppf(0.975, 9) * 0.05 * math.sqrt(1 + 1 / 10)
    assert found.limits == pytest.approx((3.2 - reach, 3.2 + reach))
    assert known(found.interval).level == 0.95
    assert found.p_opposite == pytest.approx(
        2 * stats.t.sf(0.11 / (0.05 * math.sqrt(1.1)), 9), rel=1e-9
    )
    assert (found.n, found.df) == ((1, 10), 9)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"side": "higher"},
        {"side": "lower"},
        {"nights": 30},
        {"side": "lower", "nights": 7},
        {"side": "higher", "confidence": 0.9},
        {"side": "lower", "confidence": 0.95},
    ],
)
@pytest.mark.parametrize("shift", np.linspace(-0.4, 0.4, 17))
def test_p_and_interval_never_disagree(how: Any, shift: float) -> None:
    """Outside where the interval leaves 0 out on the bad side; else confirmed within the margin."""
    found = within(Summary(2, 3.2 + float(shift), None), TEN, margin=0.2, **how)
    interval, side = known(found.interval), how.get("side", "both")
    above, below = interval.low > 0 and side != "lower", interval.high < 0 and side != "higher"
    assert (known(found.p_opposite) <= 0.05) == (above or below)
    short = interval.high < 0.2 if side != "lower" else True
    short = short and (interval.low > -0.2 if side != "higher" else True)
    assert (known(found.p) <= 0.05) == (short and not (above or below))


def test_half_of_such_shifts_are_missed() -> None:
    for watch in (ReferenceUse(10), ReferenceUse(5, 3, "lower"), ReferenceUse(8, nights=30)):
        assert inside(watch, watch.missed_half()) == pytest.approx(0.5, abs=1e-3)
    found = within(Summary(1, 3.2, None), TEN)
    assert found.missed == pytest.approx(0.05 * ReferenceUse(10).missed_half())


@pytest.mark.parametrize(("k", "n"), [(2, 10), (5, 10), (30, 4)])
def test_new_runs_that_scatter_more_are_told_by_an_f_test(k: int, n: int) -> None:
    limit = math.sqrt(stats.f.isf(0.001, k - 1, n - 1))
    for ratio, told in ((0.999 * limit, None), (1.001 * limit, 1.001 * limit)):
        found = within(Summary(k, 3.2, 0.05 * ratio), Summary(n, 3.2, 0.05), margin=9.0)
        assert found.wider == (None if told is None else pytest.approx(told))
        assert (known(found.p) == 1.0) == (told is not None)
    assert within(Summary(k, 3.2, None), Summary(n, 3.2, 0.05)).wider is None


def test_without_a_margin_nothing_is_confirmed() -> None:
    found = within(Summary(1, 3.2, None), TEN)
    assert (found.p, found.low, found.high) == (1.0, None, None)


@pytest.mark.parametrize(
    ("reference", "how", "said"),
    [
        (Summary(10, 3.2, None), {}, "needs the standard deviation"),
        (Summary(10, 3.2, 0.0), {}, "all 10 runs of the reference are 3.2"),
        (TEN, {"margin": 0.0}, "a margin lies above 0"),
        (TEN, {"confidence": 0.9}, "a limit of tolerance is on one side"),
        (TEN, {"confidence": 0.4, "side": "lower"}, "between 0.5 and 1"),
        (TEN, {"nights": 0}, "one night or more"),
    ],
)
def test_what_is_refused(reference: Summary, how: Any, said: str) -> None:
    with pytest.raises(ClaimError, match=said):
        within(Summary(1, 3.1, None), reference, **how)


def test_two_runs_are_no_reference() -> None:
    with pytest.raises(TooFewError, match="2 runs of a reference"):
        within(Summary(1, 3.1, None), Summary(2, 3.2, 0.05))


def test_a_limit_of_tolerance_has_the_level_at_which_it_covers() -> None:
    """On average over references: that of Student's t at the noncentral t's limit."""
    found = within(Summary(1, 3.3, None), TEN, side="higher", confidence=0.9)
    limit = stats.nct.ppf(0.9, 9, stats.norm.isf(0.05) * math.sqrt(10)) / math.sqrt(10)
    tail = stats.t.sf(limit / math.sqrt(1 + 1 / 10), 9)
    assert known(found.interval).level == pytest.approx(1 - 2 * tail, rel=1e-6)


@pytest.mark.parametrize(
    ("margins", "truth"),
    [((-4.0, 4.0), 0.5), ((-2.5, 2.5), 0.0), ((None, 3.0), 0.0), ((-3.0, None), 0.3)],
)
def test_the_power_of_a_margin_is_what_is_found(margins: Any, truth: float) -> None:
    n, k = 8, 2
    low, high = margins
    watch = ReferenceUse(n, k, "both" if None not in margins else "higher")
    planned = PlannedWithin((k, n), (1.0,), watch.tail, truth, low, high)
    rng = np.random.default_rng(3)
    reference = rng.standard_normal((200_000, n))
    shift = truth + rng.standard_normal((200_000, k)).mean(1) - reference.mean(1)
    reach = watch.reach * reference.std(1, ddof=1)
    kept = np.ones(len(shift), bool)
    kept &= (shift + reach < high) if high is not None else True
    kept &= (shift - reach > low) if low is not None else True
    kept &= (shift - reach < 0) if high is not None else True
    kept &= (shift + reach > 0) if low is not None else True
    assert planned.computed() == pytest.approx(kept.mean(), abs=0.005)


def test_the_shift_that_can_be_detected() -> None:
    """Without a margin a plan says which shift is outside in 80 %."""
    found = assess(PlannedWithin((1, 10), (2.0,), ReferenceUse(10).tail, effect=6.0))
    assert found.power == pytest.approx(1 - inside(ReferenceUse(10), 3), abs=1e-3)
    least = known(found.minimum_detectable) / 2
    assert inside(ReferenceUse(10), least) == pytest.approx(0.2, abs=1e-3)
    assert found.seeds80 == 2
    assert assess(PlannedWithin((1, 2), (2.0,), 0.025, effect=6.0)).refused


@pytest.mark.parametrize("new", [Sample.of(91.1), Sample.of(90.8, 91.9, 91.4)])
def test_percent_next_to_fractions_is_refused(new: Sample) -> None:
    """A hundredfold shift between 0 and 1 and 1 and 100 is one of units."""
    fractions = Sample.of(0.912, 0.905, 0.921, 0.917, 0.909, 0.915)
    with pytest.raises(ClaimError, match="one may be in percent and the other a fraction"):
        within(new, fractions)
    assert within(Sample.of(0.5), fractions).p == 1
