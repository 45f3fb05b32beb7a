"""The lookup of measured error rates, for reports."""

from __future__ import annotations

import pytest

from repro.stats import levels
from repro.stats.association import association, magnitude
from repro.stats.comparison import student, welch
from repro.stats.sample import Sample
from repro.stats.spending import group_obf
from repro.stats.stopping import difference
from repro.stats.trend import trend

A, B = Sample.of(1.0, 4.0, 9.0), Sample.of(2.0, 2.5, 2.2)
X, Y = Sample.of(*range(10)), Sample.of(3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0, 5.5, 3.5)


def test_student_is_known_to_err_where_spreads_differ():
    """
    At three replicates and 3:1 Student's test errs in 7.5 % of cases (METHODS.md 2.2).
    """
    said = levels.measured_level("student", 3, sd_ratio=3.0)
    assert said is not None
    assert said.startswith("Student's test: with 3 replicates an arm, standard deviations 3:1")
    rate = float(said.split(" errs in ")[1].split(" %")[0])
    assert rate == pytest.approx(7.5, abs=0.3)


def test_nothing_is_said_where_a_test_is_safe():
    """
    Welch's test has no entry, nor has Student's with equal spreads.
    """
    assert levels.measured_level("welch", 5) is None
    assert levels.measured_level("student", 3, sd_ratio=1.1) is None


@pytest.mark.parametrize("ratio", [3.0, 1 / 3, 2.0, 0.0, float("inf")])
def test_a_ratio_of_spreads_counts_either_way_round(ratio):
    """
    Which arm varies more does not matter; one that does not vary at all is unequal.
    """
    assert levels.measured_level("student", 5, sd_ratio=ratio) == levels.measured_level(
        "student", 5, sd_ratio=3
    )


def test_without_a_ratio_the_worst_cell_is_told():
    """
    Where the spreads are not known, what could happen is said.
    """
    assert levels.measured_level("student", 5) == levels.measured_level("student", 5, sd_ratio=3)


def test_the_nearest_size_counts():
    """
    Forty replicates are told what thirty are: no larger size was measured.
    """
    said = levels.measured_level("trend jonckheere", 40, sd_ratio=3)
    assert said == levels.measured_level("trend jonckheere", 30, sd_ratio=3)
    assert said is not None
    assert "30 replicates" in said


@pytest.mark.parametrize("n", [4, 6, 7, 8])
def test_every_small_size_was_measured(n):
    """
    Brunner and Munzel's test errs in more than 5.5 % of cases also between five and ten.
    """
    said = levels.measured_level("brunner_munzel", n, sd_ratio=3)
    assert said is not None
    assert f"with {n} replicates an arm" in said


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
    said = levels.level_of(result, sd_ratio=3, looks=looks)
    assert said is not None
    assert said.startswith(name)
    assert levels.level_of(result, sd_ratio=1, looks=looks) is None


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
    assert levels.level_of(result) == levels.measured_level(key, min(result.n))


def test_heavy_tails_are_named():
    """
    A bound on Pearson's correlation errs with t4 tails, and the sentence says so.
    """
    said = levels.level_of(magnitude(X, Y, at_least=0.5))
    assert said is not None
    assert "10 points and heavy tails (t4)" in said


def test_every_measured_test_has_a_name():
    """
    No test in the data lacks a name for the reader.
    """
    assert {one.test for one in levels.measured_rates()} <= set(levels.NAMES)
