from __future__ import annotations

import pytest

from repro.stats.counts import bound, share
from repro.stats.ranks import brunner_munzel, permutation, separation
from repro.stats.t_tests import (
    non_inferiority,
    non_inferiority_relative,
    non_superiority,
    non_superiority_relative,
    paired,
    ratio_of_geometric_means,
    student,
    tost,
    tost_relative,
    welch,
    yuen,
)
from tests.stats.records import NUMBER, A, B, C, Records, check_record, check_statistic

RECORDS: Records = [
    (
        lambda: welch(A, B, alpha=0.04),
        "welch",
        (6, 5),
        0.96,
        (None, None),
        {"alternative": "two-sided"},
    ),
    (
        lambda: student(A, B, alternative="greater", alpha=0.04),
        "student",
        (6, 5),
        0.92,
        (None, None),
        {"alternative": "greater"},
    ),
    (
        lambda: paired(A, C, alternative="less", alpha=0.04),
        "paired",
        (6, 6),
        0.92,
        (None, None),
        {"alternative": "less", "paired": True},
    ),
    (
        lambda: yuen(A, C, alpha=0.04, trim=0.25),
        "yuen",
        (6, 6),
        0.96,
        (None, None),
        {"alternative": "two-sided"},
    ),
    (
        lambda: permutation(A, B, alpha=0.04),
        "permutation",
        (6, 5),
        None,
        (None, None),
        {"alternative": "two-sided", "exact": True},
    ),
    (
        lambda: brunner_munzel(A, B, alpha=0.04),
        "brunner_munzel",
        (6, 5),
        0.96,
        (None, None),
        {"alternative": "two-sided", "exact": True},
    ),
    (
        lambda: tost(A, B, low=-1.0, high=2.0, alpha=0.04),
        "tost",
        (6, 5),
        0.92,
        (-1.0, 2.0),
        {"smallest_confirmable_margin": NUMBER},
    ),
    (
        lambda: non_superiority(A, B, margin=0.5, better="lower", alpha=0.04),
        "non_superiority",
        (6, 5),
        0.92,
        (-0.5, None),
        {"smallest_confirmable_margin": NUMBER},
    ),
    (
        lambda: non_inferiority(A, B, margin=0.5, better="lower", alpha=0.04),
        "non_inferiority",
        (6, 5),
        0.92,
        (None, 0.5),
        {"smallest_confirmable_margin": NUMBER},
    ),
    (
        lambda: tost_relative(A, B, relative=0.1, alpha=0.04),
        "tost_relative",
        (6, 5),
        0.92,
        (-0.1, 0.1),
        {"smallest_confirmable_margin": NUMBER},
    ),
    (
        lambda: non_superiority_relative(A, B, relative=0.1, better="higher", alpha=0.04),
        "non_superiority_relative",
        (6, 5),
        0.92,
        (None, 0.1),
        {"smallest_confirmable_margin": NUMBER},
    ),
    (
        lambda: non_inferiority_relative(A, B, relative=0.1, better="higher", alpha=0.04),
        "non_inferiority_relative",
        (6, 5),
        0.92,
        (-0.1, None),
        {"smallest_confirmable_margin": NUMBER},
    ),
    (
        lambda: ratio_of_geometric_means(A, B, at_least=1.5, alpha=0.04),
        "ratio",
        (6, 5),
        0.92,
        (1.5, None),
        {"exact": False},
    ),
    (
        lambda: separation(A, B, direction="higher", alpha=0.04),
        "separation",
        (6, 5),
        None,
        (None, None),
        {"exact": True},
    ),
    (
        lambda: bound(A, at_most=11.0, alpha=0.04),
        "bound",
        (6,),
        0.92,
        (None, None),
        {"exact": True, "violators": (5,), "smallest": NUMBER, "largest": NUMBER},
    ),
    (
        lambda: share(A, of=0.5, at_least=9.25, alpha=0.04),
        "share",
        (6,),
        0.92,
        (0.5, None),
        {"exact": True, "violators": (0,), "smallest": NUMBER, "largest": NUMBER},
    ),
]


@pytest.mark.parametrize(("call", "test", "n", "level", "sides", "details"), RECORDS)
def test_a_result_says_what_was_tested(call, test, n, level, sides, details):
    """
    A test of two arms names itself, its sizes, level, borders, and every detail.
    """
    check_record(call(), test, n, level, sides, details)


@pytest.mark.parametrize(
    ("found", "border"),
    [
        (welch(A, B), 0.0),
        (student(A, B, alternative="less"), 0.0),
        (paired(A, C), 0.0),
        (yuen(A, C), 0.0),
        (tost(A, B, low=-1.0, high=2.0), 2.0),
        (tost(A, B, low=-1.0, high=5.0), -1.0),
        (non_superiority(A, B, margin=0.5, better="higher"), 0.5),
        (non_superiority(A, B, margin=0.5, better="lower"), -0.5),
        (non_inferiority(A, B, margin=0.5, better="higher"), -0.5),
        (non_inferiority(A, B, margin=0.5, better="lower"), 0.5),
    ],
)
def test_a_statistic_is_the_distance_from_the_border_that_decides(found, border):
    """
    A statistic is a distance in standard errors, from 0 or the margin with the least evidence.
    """
    check_statistic(found, border)
