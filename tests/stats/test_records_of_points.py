from __future__ import annotations

import pytest

from repro.stats.anytime import sequential
from repro.stats.correlation import association, magnitude
from repro.stats.counts import paired_outcomes, sign_test
from repro.stats.group_sequential import group_obf
from repro.stats.stopping import difference
from repro.stats.stopping import equivalence as same
from repro.stats.trends import linear_trend, ordering, trend
from tests.stats.records import NUMBER, A, B, C, Records, check_record, check_statistic

RECORDS: Records = [
    (
        lambda: association(A, C, alpha=0.04),
        "association",
        (6,),
        0.96,
        (None, None),
        {
            "alternative": "two-sided",
            "method": "pearson",
            "p_method": "t",
            "clusters": None,
        },
    ),
    (
        lambda: association(A, C, method="spearman", direction="positive", alpha=0.04),
        "association",
        (6,),
        0.96,
        (None, None),
        {
            "alternative": "two-sided",
            "method": "spearman",
            "p_method": "exact",
            "clusters": None,
        },
    ),
    (
        lambda: association(A, C, method="kendall", direction="negative", alpha=0.04),
        "association",
        (6,),
        0.96,
        (None, None),
        {
            "alternative": "two-sided",
            "method": "kendall",
            "p_method": "exact",
            "clusters": None,
        },
    ),
    (
        lambda: association(A, C, clusters=range(6), alpha=0.04),
        "association",
        (6,),
        None,
        (None, None),
        {
            "alternative": "two-sided",
            "method": "pearson",
            "p_method": "cluster permutation, exact",
            "clusters": 6,
        },
    ),
    (
        lambda: magnitude(A, C, at_most=0.9, alpha=0.04),
        "magnitude",
        (6,),
        0.92,
        (-0.9, 0.9),
        {"method": "pearson"},
    ),
    (
        lambda: magnitude(A, C, at_least=0.2, method="spearman", alpha=0.04),
        "magnitude",
        (6,),
        0.92,
        (0.2, None),
        {"method": "spearman"},
    ),
    (
        lambda: trend([B, A], direction="increasing", alpha=0.04),
        "trend",
        (5, 6),
        None,
        (None, None),
        {"method": "jonckheere", "exact": True},
    ),
    (
        lambda: trend([B, A], direction="decreasing", test="kendall", alpha=0.04),
        "trend",
        (5, 6),
        None,
        (None, None),
        {"method": "kendall", "exact": False},
    ),
    (
        lambda: linear_trend([B, A], direction="decreasing", alpha=0.04),
        "trend",
        (5, 6),
        0.92,
        (None, None),
        {"method": "welch"},
    ),
    (
        lambda: ordering([B, A], direction="increasing", alpha=0.04),
        "ordering",
        (5, 6),
        0.92,
        (None, None),
        {"weakest": (0, 1)},
    ),
    (
        lambda: sign_test(7, 2, 1, alpha=0.04),
        "sign",
        (9,),
        0.92,
        (0.5, None),
        {"exact": True, "wins": 7, "losses": 2, "ties": 1, "clusters": None},
    ),
    (
        lambda: paired_outcomes(A, C, alpha=0.04),
        "sign",
        (6,),
        0.92,
        (0.5, None),
        {"exact": True, "wins": 6, "losses": 0, "ties": 0, "clusters": None},
    ),
    (
        lambda: paired_outcomes(A, C, clusters=range(6), alpha=0.04),
        "cluster_sign",
        (6,),
        None,
        (0.5, None),
        {"exact": True, "clusters": 6, "wins": 6, "losses": 0, "ties": 0},
    ),
    (
        lambda: sequential(
            A, C, difference("higher", smallest_effect=0.25), looks=(3, 4, 6), alpha=0.04
        ),
        "eprocess_t",
        (6, 6),
        0.96,
        (0.25, None),
        {
            "kind": "difference",
            "decided": None,
            "decided_at": None,
            "crossing": None,
            "drift": "none",
            "looks": (3, 4, 6),
            "units": "pairs",
            "g": NUMBER,
            "e": NUMBER,
            "e_opposite": NUMBER,
            "left_out": (),
            "sensitivity": NUMBER,
        },
    ),
    (
        lambda: group_obf(A, C, same(-1.0, 2.0), looks=(3, 4), planned_looks=(3, 6), alpha=0.04),
        "group_obf",
        (4, 4),
        0.92,
        (-1.0, 2.0),
        {
            "kind": "equivalence",
            "decided": None,
            "decided_at": None,
            "crossing": None,
            "drift": "none",
            "looks": (3, 4),
            "units": "pairs",
            "nominal": NUMBER,
            "left_out": (),
            "waiting": 2,
        },
    ),
]


@pytest.mark.parametrize(("call", "test", "n", "level", "sides", "details"), RECORDS)
def test_a_result_says_what_was_tested(call, test, n, level, sides, details):
    """
    A test of points, orders, counts or looks names itself, its sizes, and every detail.
    """
    check_record(call(), test, n, level, sides, details)


@pytest.mark.parametrize(
    "found",
    [
        linear_trend([B, A], direction="decreasing"),
        sequential(A, C, difference("lower"), looks=(4, 6)),
        group_obf(A, C, difference("higher"), looks=(3, 6), planned_looks=(3, 6)),
    ],
)
def test_a_statistic_is_the_distance_from_no_difference(found):
    """
    Degrees of freedom and standard error belong to the statistic.
    """
    check_statistic(found, 0.0)
