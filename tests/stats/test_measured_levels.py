"""The lookup of measured error rates, for reports."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from repro.stats import error_rates as levels
from repro.stats.correlation import association, magnitude
from repro.stats.error_rates import design_of_one, designs_of
from repro.stats.group_sequential import group_obf
from repro.stats.measured_cells import SAME, CellDesign, around, measured_rates
from repro.stats.records import Sample, Summary
from repro.stats.reference_runs import NIGHTS, within
from repro.stats.spreads import levene
from repro.stats.stopping import difference
from repro.stats.survival import log_rank
from repro.stats.t_tests import student, welch
from repro.stats.trends import trend

A, B = Sample.of(1.0, 4.0, 9.0), Sample.of(2.0, 2.5, 2.2)
X, Y = Sample.of(*range(10)), Sample.of(3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0, 5.5, 3.5)


def told(test, n, ratio=None, others=None, shapes=()):
    """What is said of one design."""
    return levels.worst_level(test, [CellDesign(n, others, ratio, frozenset(shapes))])


def test_student_is_known_to_err_where_spreads_differ():
    """
    At three replicates and 3:1 Student's test errs in 7.5 % of cases (statistics.md 2.2).
    """
    said = told("student", 3, 3.0)
    assert said is not None
    assert said.startswith("Student's test: with 3 replicates per arm, standard deviations 3:1")
    rate = float(said.split(" errs in ")[1].split(" %")[0])
    assert rate == pytest.approx(7.5, abs=0.3)


def test_nothing_is_said_where_a_test_is_safe():
    """
    Welch's test with equal numbers of normal values is safe, and Student's with equal spreads.
    """
    assert told("welch", 5, 1.0) is None
    assert told("student", 3, 1.1) is None


@pytest.mark.parametrize("ratio", [3.0, 1 / 3, 2.0, 0.0, float("inf")])
def test_a_ratio_of_spreads_counts_either_way_round(ratio):
    """
    Which arm varies more does not matter; one that does not vary at all is unequal.
    """
    assert told("student", 5, ratio) == told("student", 5, 3)


def test_without_a_ratio_the_worst_cell_is_told():
    """
    Where the spreads are not known, what could happen is said.
    """
    assert told("student", 5) == told("student", 5, 3)


def test_the_nearest_size_counts():
    """
    Forty replicates are told what thirty are: no larger size was measured.
    """
    said = told("trend jonckheere", 40, 3)
    assert said is not None
    assert ", the nearest that was measured, it errs" in said
    assert said.replace(", the nearest that was measured,", "") == told("trend jonckheere", 30, 3)
    assert said is not None
    assert "30 replicates" in said


@pytest.mark.parametrize("n", [4, 6, 7, 8])
def test_every_small_size_was_measured(n):
    """
    Student's test errs in more than 5.5 % of cases also between three and ten.
    """
    said = told("student", n, 3)
    assert said is not None
    assert f"with {n} replicates per arm" in said


@pytest.mark.parametrize(
    ("looks", "name"),
    [
        ((3, 6, 10), "Welch's test at three or four planned looks: with at most 10 replicates"),
        (tuple(range(3, 11)), "Welch's test at many planned looks: with at most 10 replicates"),
    ],
)
def test_planned_looks_are_known_by_their_number(looks, name):
    """
    Several looks within ten pairs err more often than 5 % where spreads are 3:1, whenever decided.
    """
    question = difference("different")
    a, b = Sample.of(*range(3)), Sample.of(1.0, 2.5, 2.2)
    result = group_obf(a, b, question, looks=(3,), planned_looks=looks)
    said = levels.level_of(result, [CellDesign(3, sd_ratio=9.0)], looks=looks)
    assert said is not None
    assert said.startswith(name)
    assert levels.level_of(result, [CellDesign(3, sd_ratio=1.0)], looks=looks) is None


@pytest.mark.parametrize("looks", [(5, 10), (5, 10, 15, 20), (10, 20, 30)])
def test_few_or_late_looks_hold_their_level(looks):
    """
    Nothing is known against two looks, nor against four of which the last is at twenty pairs.
    """
    a, b = Sample.of(*range(10)), Sample.of(*(x * x for x in range(10)))
    result = group_obf(a, b, difference("different"), looks=looks[:1], planned_looks=looks)
    assert levels.level_of(result, looks=looks) is None


@pytest.mark.parametrize(
    ("result", "key"),
    [
        (student(A, B), "student"),
        (welch(A, B), "welch"),
        (association(X, Y, method="kendall"), "association kendall"),
        (association(X, Y, clusters=[i // 2 for i in range(10)]), "association clustered"),
        (association(X, Y, method="spearman", clusters=range(10)), "association clustered"),
        (magnitude(X, Y, at_most=0.5), "at most pearson"),
        (magnitude(X, Y, at_least=0.5, method="spearman"), "at least spearman"),
        (trend([A, B], direction="increasing"), "trend jonckheere"),
    ],
    ids=lambda one: one if isinstance(one, str) else one.test,
)
def test_a_result_knows_its_test(result, key):
    """
    Each result is looked up under the name by which its test was measured.
    """
    assert levels.key_of(result) == key
    assert levels.level_of(result) == told(key, min(result.n))


@pytest.mark.parametrize("test", [partial(levene, low=1.0), partial(log_rank, at=8.5)])
def test_a_paired_test_is_paired_once(test):
    """
    Its name says so already, and the cells are those of pairs.
    """
    result = test(X, Y, paired=True)
    assert levels.key_of(result) == result.test
    assert result.test.split()[1:] == ["paired"]


def test_heavy_tails_are_named():
    """
    A bound on Pearson's correlation errs with t4 tails, and the sentence says so.
    """
    said = levels.level_of(magnitude(X, Y, at_least=0.5))
    assert said is not None
    assert "10 points, if tails are heavy (t4)," in said


def test_every_measured_test_has_a_name():
    """
    No test in the data lacks a name for the reader, and none has a name without data.
    """
    assert {one.test for one in measured_rates()} == set(levels.NAMES) - set(SAME)


@pytest.mark.parametrize(
    "test",
    ["welch", "tost", "non_superiority", "non_inferiority", "ratio", "trend welch", "ordering"],
)
def test_three_against_thirty_are_told_the_rate(test):
    """
    Where three replicates meet thirty, alike in spread, default tests err in 6 to 8 %.
    """
    said = told(test, 3, 1.1, others=30)
    assert said is not None
    assert "with 3 against 30 replicates, equal standard deviations it errs in" in said
    rate = float(said.split(" errs in ")[1].split(" %")[0])
    assert 5.5 < rate < 9
    assert told(test, 10, 1.1) is None


def test_the_small_arm_with_the_small_spread_is_safe():
    """
    Three steady replicates against thirty that scatter four times as much hold the level.
    """
    assert told("welch", 3, 0.02, others=30) is None
    assert told("welch", 3, 0.9, others=30) is not None


def test_equal_spreads_are_assumed_until_the_data_refute_them():
    """
    A ratio of 2 among five replicates says nothing; among twenty it says 4:1.
    """
    assert not CellDesign(20, sd_ratio=2.0).alike
    assert CellDesign(5, sd_ratio=2.0).alike
    assert told("welch", 20, 2.6, shapes=["lognormal"]) is not None
    assert told("welch", 20, 1.2, shapes=["lognormal"]) is None
    assert told("welch", 20, 2.6) is None


def test_a_shape_counts_only_where_it_is_seen():
    """
    Skew and collapsed seeds are told with their rate where the sample shows them.
    """
    plain, skew, far = (
        told("tost", 4, 1.0, 20, shapes) for shapes in ((), ["lognormal"], ["collapsed"])
    )
    assert "skewed" not in str(plain)
    assert "skewed values (lognormal) it errs in" in str(skew)
    assert "one seed in five far from the others it errs in" in str(far)


def test_designs_are_those_of_the_arms():
    """
    The smaller arm comes first, whichever it is; its spread is over the larger one's.
    """
    small, large = Sample.of(1.0, 2.0, 4.0), Sample.of(*(x / 7 for x in range(12)))
    (one,), (other,) = designs_of([small, large]), designs_of([large, small])
    assert one == other
    assert one.sizes == (3, 12)
    spreads = small.summary().spread / large.summary().spread
    assert one.sd_ratio == pytest.approx(spreads)
    assert len(designs_of([small, large, small])) == 3
    assert designs_of([Sample.of(1.0), large]) == ()


def test_one_sample_has_its_size_and_shape():
    """
    Differences within pairs have no ratio of spreads.
    """
    values = (*[0.1 * x for x in range(9)], 50.0)
    found = design_of_one(Sample.of(*values))
    assert (found.n, found.others, found.sd_ratio) == (10, None, None)
    assert "collapsed" in found.shapes


@pytest.mark.parametrize("n", [3, 4, 5, 8, 10, 20, 30])
def test_honest_equal_arms_are_hardly_ever_told_anything(n):
    """
    Of 200 pairs of normal arms of equal size and spread at most 3 % hear of any default test.
    """
    rng = np.random.default_rng([7, n])
    tests = ("welch", "tost", "ratio", "ordering", "trend welch", "any", "family")
    count = 0
    for _ in range(200):
        pair = designs_of([Sample.of(*map(float, arm)) for arm in rng.standard_normal((2, n))])
        count += any(levels.worst_level(test, pair) is not None for test in tests)
    assert count <= 6


def of_tasks(spread, runs, values):
    """Five tasks at other levels, each with these values times a spread, cut to so many."""
    return [10.0 * task + spread * np.asarray(values)[task * runs : (task + 1) * runs]
            for task in range(5)]  # fmt: skip


def test_the_design_of_tasks_is_that_of_their_runs():
    """
    Levels of tasks do not count: the ratio of scatters within tasks does, and the runs per task.
    """
    values = np.random.default_rng(5).standard_normal(100)
    design = levels.design_over_tasks(of_tasks(1.0, 20, values), of_tasks(4.0, 20, values))
    assert (design.n, design.others, design.df) == (20, None, (95, 95))
    assert design.sd_ratio == pytest.approx(0.25)
    assert not design.alike
    assert design.shapes == frozenset()
    few = levels.design_over_tasks(of_tasks(1.0, 20, values), of_tasks(1.0, 3, values[:15]))
    assert few.sizes == (3, 20)


def test_skewed_runs_of_tasks_are_told_where_arms_are_unequal():
    """
    Three runs a task against ten err in 7.6 % of cases where values are skewed; equal arms do not.
    """
    values = np.exp(np.random.default_rng(2).standard_normal(100))
    ten, also = of_tasks(1.0, 10, values), of_tasks(1.0, 10, values[50:])
    unequal = levels.design_over_tasks([task[:3] for task in ten], also)
    said = levels.worst_level("over_tasks mean", [unequal])
    assert said is not None
    assert "with 3 against 10 seeds per task and skewed values (lognormal) it errs in 7." in said
    equal = CellDesign(10, sd_ratio=1.0, shapes=frozenset(["lognormal"]))
    assert levels.worst_level("over_tasks mean", [equal]) is None


def test_skewed_effects_of_tasks_are_told():
    """
    Their mean is tested as that of one sample; ten normal effects are told nothing.
    """
    skewed = [0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.5, 0.7, 4.0, 0.25]
    said = levels.level_of_effects(skewed)
    assert said is not None
    assert said.startswith(
        "The mean effect of tasks is tested as that of one sample: with 10 tasks"
    )
    assert levels.level_of_effects([-1.5, -1, -0.6, -0.3, -0.1, 0.1, 0.3, 0.6, 1, 1.5]) is None


def test_scatter_of_five_against_many_is_told():
    """
    Levene's test errs in 7.4 % of cases with five normal seeds against thirty.
    """
    assert "5 against 30 replicates, equal standard deviations it errs in 7." in told(
        "levene", 5, 1.0, 30
    )


@pytest.mark.parametrize(
    ("few", "many", "quoted"),
    [
        (3, 300, "with 3 against 300 replicates, equal standard deviations it errs in 6.1 %"),
        (5, 60, "with 5 against 60 replicates, equal standard deviations it errs in 5.7 %"),
        (3, 200, "with 3 against 30 replicates, equal standard deviations, the nearest"),
        (4, 60, "with 4 against 20 replicates, equal standard deviations, the nearest"),
        (3, 1000, "how often it errs with 3 against 1000 replicates was not measured"),
        (2, 10, "how often it errs with 2 against 10 replicates was not measured"),
    ],
)
def test_no_milder_design_is_quoted(few, many, quoted):
    """
    Welch's test of 3 against 300 was told the rate of 8 against 40, which holds its level.
    """
    assert quoted in str(levels.worst_level("welch", [CellDesign(few, many, 1.0, seen=True)]))


def test_numbers_of_replicates_around_a_design():
    """
    Beside the design itself: as few or fewer, next to it in how unequal; of equal arms more, too.
    """
    every = {(3, 3), (3, 30), (5, 5), (5, 10), (5, 60), (8, 8)}
    assert around(every, (5, 10)) == {(5, 10)}
    assert around(every, (6, 6)) == {(5, 5), (8, 8)}
    assert around(every, (6, 30)) == {(5, 10), (5, 60)}
    assert around(every, (40, 40)) == {(8, 8)}
    assert around(every, (2, 2)) == {(3, 3)}


def of_nights(nights, **how):
    """What is said of a run held against ten printed ones of which nothing else is known."""
    reference = Summary(mean=3.0, sd=1.0, n=10)
    new = Sample.of(*how.pop("new", [3.1]))
    result = within(new, reference, nights=nights, **how)
    return levels.level_of(result, [design_of_one(reference)])


@pytest.mark.parametrize(
    ("nights", "rate"), [(7, 12.6), (30, 20.9), (90, 29.6), (365, 43.7), (300, 43.7), (6, 12.6)]
)
def test_the_rate_of_nights_is_that_of_so_many(nights, rate):
    """
    The rates are those of the exact chance in each of 40,000 references of ten t4 values.
    """
    said = of_nights(nights)
    assert float(said.split(" errs in ")[1].split(" %")[0]) == pytest.approx(rate, abs=1.0)
    assert ("were not measured" in said) == (nights not in NIGHTS)


def test_nights_that_were_not_measured_are_told_so():
    """
    More than 365, a mean of several runs each night, and a limit of tolerance for a mean.
    """
    wanted = "was not measured, but that of one run, in up to 365 nights that share alpha"
    assert wanted in of_nights(1000)
    assert wanted in of_nights(30, new=[3.0, 3.2])
    assert wanted in of_nights(1, new=[3.0, 3.2], side="higher", confidence=0.9)
    assert "The one-sided prediction limit over 30 nights" in of_nights(30, side="higher")
