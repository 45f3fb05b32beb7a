from __future__ import annotations

import re

import pytest

from repro.stats import error_rates as levels
from repro.stats.measured_cells import CellDesign, measured_rates
from repro.stats.records import Sample
from repro.stats.t_tests import student

A, B = Sample.of(1.0, 4.0, 9.0), Sample.of(2.0, 2.5, 2.2)


@pytest.mark.parametrize(
    ("key", "n", "design"),
    [
        ("student", 3, "3 replicates per arm, standard deviations 3:1"),
        ("trend kendall", 10, "10 replicates per arm, standard deviations 3:1"),
        ("association pearson", 10, "10 points, if tails are heavy (t4),"),
    ],
)
def test_the_whole_sentence(key, n, design):
    """
    A sentence names the test, the cell that was measured, its rate, and the level it should be.
    """
    worst = max(
        one.rate for one in measured_rates() if one.test == key and one.n == n and one.loses
    )
    assert levels.worst_level(key, [CellDesign(n)]) == (
        f"{levels.NAMES[key]}: with {design} it errs in {100 * worst:.1f} % of cases "
        "instead of 5 % (measured)."
    )


def test_the_ratio_of_spreads_is_handed_on():
    """
    A result of equal spreads is told nothing where only unequal ones err.
    """
    result = student(A, B)
    assert levels.level_of(result, [CellDesign(3, sd_ratio=1.0)]) is None
    assert levels.level_of(result, [CellDesign(3, sd_ratio=3.0)]) == levels.level_of(result)


def test_what_holds_its_level_is_never_the_reason():
    """
    Nothing is said of a size whose cells all hold, and what is said gives a rate above its level by
    a tenth: 5.5 % for 5 %, and for limits of tolerance, which fail for references, 11 % for 10 %.
    """
    keys = {one.test for one in measured_rates()}
    said = [
        levels.worst_level(key, [CellDesign(n)]) for key in sorted(keys) for n in (3, 5, 10, 30)
    ]
    sought = r"(?:errs in|fails for) ([0-9.]+) % of .* instead of ([0-9]+) %"
    rates = [re.search(sought, one) for one in said if one is not None]
    assert None in said
    assert all(rate is not None and float(rate[1]) >= 1.1 * float(rate[2]) for rate in rates)
    assert {rate[2] for rate in rates if rate is not None} == {"5", "10"}


def test_fewer_than_two_replicates_have_no_level():
    """
    A design of one replicate is like none that was measured.
    """
    assert levels.worst_level("student", [CellDesign(1)]) is None
    said = levels.worst_level("student", [CellDesign(2)])
    assert said is not None
    nearest = said.replace(", the nearest that was measured,", "")
    assert nearest == levels.worst_level("student", [CellDesign(3)])


@pytest.mark.parametrize(
    ("key", "n", "shape", "rate"),
    [
        ("level", 8, "lognormal", "11.1"),
        ("level", 8, "collapsed", "16.4"),
        ("eprocess_t one arm", 60, "lognormal", "11.7"),
        ("group_obf one arm", 20, "lognormal", "12.0"),
    ],
)
def test_one_arm_against_a_constant_has_seeds_and_a_shape(key, n, shape, rate):
    """
    There is no other arm, and no ratio of standard deviations, to speak of.
    """
    said = levels.worst_level(key, [CellDesign(n, shapes=frozenset({shape}))])
    assert said is not None
    assert f"with {n} seeds and {levels.SEEN[shape]} it errs in {rate} % of cases" in said
    assert levels.worst_level(key, [CellDesign(n)]) is None
