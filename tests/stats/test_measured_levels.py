"""The lookup of measured error rates, for reports."""

from __future__ import annotations

import pytest

from repro.stats import levels
from repro.stats.association import association, magnitude
from repro.stats.comparison import student, welch
from repro.stats.sample import Sample
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
    Four replicates are told what five are, because five are nearer than three.
    """
    said = levels.measured_level("brunner_munzel", 4)
    assert said == levels.measured_level("brunner_munzel", 5)
    assert said is not None
    assert "5 replicates" in said


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
