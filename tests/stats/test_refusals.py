from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from repro.errors import ClaimError
from repro.stats.contrast import relative_difference
from repro.stats.counts import bound, clopper_pearson, paired_outcomes, share, sign_test
from repro.stats.ranks import brunner_munzel, permutation, separation
from repro.stats.records import Sample, Summary
from repro.stats.t_tests import (
    non_inferiority,
    non_superiority_relative,
    paired,
    ratio_of_geometric_means,
    student,
    tost,
    tost_relative,
    welch,
    yuen,
)
from repro.stats.trends import linear_trend, ordering, trend

A, B = Sample.of(9.0, 9.5, 10.0, 10.5, 11.0), Sample.of(8.0, 8.5, 9.0, 9.25, 10.0)
FLAT, ZERO = Sample.of(*[3.0] * 5), Sample.of(*[0.0] * 5)
TWO = Sample.of(1.0, 2.0)
SUMMARY = Summary(5, 9.0, 0.5)
SHIFTED = Sample((1.0, 2.0, 3.0), (7, 8, 9))
ANY: Any = "sideways"

NEEDS = (
    " needs the value of every replicate, and only mean and standard deviation are known; use "
    "welch, student, equivalence, non_superiority or non_inferiority, which work from a summary"
)

REFUSALS: list[tuple[Callable[[], object], str]] = [
    (lambda: permutation(SUMMARY, B), "permutation" + NEEDS),
    (lambda: permutation(A, SUMMARY), "permutation" + NEEDS),
    (lambda: brunner_munzel(SUMMARY, B), "brunner_munzel" + NEEDS),
    (lambda: brunner_munzel(A, SUMMARY), "brunner_munzel" + NEEDS),
    (lambda: yuen(SUMMARY, B), "yuen" + NEEDS),
    (lambda: yuen(A, SUMMARY), "yuen" + NEEDS),
    (lambda: paired(SUMMARY, B), "paired" + NEEDS),
    (lambda: paired(A, SUMMARY), "paired" + NEEDS),
    (lambda: separation(SUMMARY, B, direction="higher"), "separation" + NEEDS),
    (lambda: separation(A, SUMMARY, direction="higher"), "separation" + NEEDS),
    (lambda: ratio_of_geometric_means(SUMMARY, B, at_least=2), "ratio" + NEEDS),
    (lambda: ratio_of_geometric_means(A, SUMMARY, at_least=2), "ratio" + NEEDS),
    (lambda: bound(SUMMARY, at_least=2), "bound" + NEEDS),
    (lambda: share(SUMMARY, of=0.5, at_least=2), "share" + NEEDS),
    (lambda: trend([SUMMARY, B], direction="increasing"), "trend" + NEEDS),
    (lambda: paired_outcomes(SUMMARY, B), "paired_outcomes" + NEEDS),
    (
        lambda: welch(FLAT, FLAT),
        (
            "both arms have variance 0, so a test on means would call any difference certain; "
            "use ratio (then an exact comparison), separation or bound"
        ),
    ),
    (
        lambda: student(FLAT, FLAT),
        (
            "both arms have variance 0, so a test on means would call any difference certain; "
            "use ratio (then an exact comparison), separation or bound"
        ),
    ),
    (
        lambda: paired(A, A),
        (
            "both arms have the same value in every pair, so nothing is left to test; find out "
            "whether the arms ran alike"
        ),
    ),
    (
        lambda: paired(A, SHIFTED),
        (
            "paired compares pairs with the same number, and some have no partner: 0, 1, 2, "
            "3, 4 only in A; 7, 8, 9 only in B; add their partners, or leave them out of "
            "every arm"
        ),
    ),
    (
        lambda: yuen(FLAT, FLAT),
        (
            "what trimming leaves does not vary in either arm, so a test on means would call "
            "any difference certain; use ratio, separation or bound"
        ),
    ),
    (
        lambda: yuen(TWO, B, trim=0.4),
        "trimming leaves 1 of 5 replicates, and a variance needs two; add replicates",
    ),
    (lambda: yuen(A, B, trim=0.5), "the share trimmed from each end lies in [0, 0.5), not 0.5"),
    (
        lambda: yuen(Sample.of(1.0), B),
        "trimming leaves 1 of 1 replicates, and a variance needs two; add replicates",
    ),
    (
        lambda: welch(A, B, alternative=ANY),
        "alternative is two-sided, greater or less, not 'sideways'",
    ),
    (
        lambda: brunner_munzel(Sample.of(1.0), B),
        "a test of ranks needs at least two replicates in each arm; add replicates",
    ),
    (
        lambda: brunner_munzel(FLAT, FLAT),
        (
            "all values of both arms agree, so that there are no ranks to compare; use a "
            "bound on each arm"
        ),
    ),
    (
        lambda: permutation(Sample.of(1, 2, 3), Sample.of(4, 5, 7)),
        (
            "3 and 3 replicates cannot decide: the most extreme of 20 splits has p = 0.1 "
            "(two-sided), above alpha = 0.05; add replicates"
        ),
    ),
    (
        lambda: permutation(Sample.of(1, 2), Sample.of(4, 5), alternative="greater"),
        (
            "2 and 2 replicates cannot decide: the most extreme of 6 splits has p = 0.167 "
            "(greater), above alpha = 0.05; add replicates"
        ),
    ),
    (
        lambda: tost(A, B, low=1.0, high=2.0),
        "equivalence margins lie on both sides of 0, not 1.0 and 2.0",
    ),
    (
        lambda: tost(A, B, low=-1.0, high=float("inf")),
        "the upper margin must be a finite number, not inf",
    ),
    (
        lambda: tost(A, B, low=float("-inf"), high=1.0),
        "the lower margin must be a finite number, not -inf",
    ),
    (
        lambda: non_inferiority(A, B, margin=-1.0, better="lower"),
        "a margin is a finite number, at least 0, not -1.0",
    ),
    (
        lambda: non_inferiority(A, B, margin=1.0, better=ANY),
        "better is lower or higher, not 'sideways'",
    ),
    (
        lambda: tost_relative(A, B, relative=0.0),
        "a relative margin lies between 0 and 1 (0.01 is 1 %), not 0.0",
    ),
    (
        lambda: non_superiority_relative(A, B, relative=1.0, better="lower"),
        "a relative margin lies between 0 and 1 (0.01 is 1 %), not 1.0",
    ),
    (
        lambda: tost_relative(A, Sample.of(-2, 1, 0.5, 1, -1), relative=0.1),
        (
            "mean B, -0.1, is not safely different from 0 (it may err by 1.28), so a difference"
            " relative to it means nothing; declare an absolute margin"
        ),
    ),
    (
        lambda: relative_difference(A, Sample.of(-1.0, 1.0)),
        ("mean B is 0, so a difference relative to it means nothing; declare an absolute margin"),
    ),
    (
        lambda: relative_difference(ZERO, B),
        (
            "A is 0 in every replicate, so no share of mean B bounds its difference; declare "
            "an absolute margin"
        ),
    ),
    (
        lambda: ratio_of_geometric_means(A, B, at_least=0.0),
        "a ratio must be a finite number above 0, not 0.0",
    ),
    (
        lambda: ratio_of_geometric_means(Sample.of(2.0), B, at_least=1.0),
        "a ratio needs at least two replicates in each arm; add replicates",
    ),
    (
        lambda: ratio_of_geometric_means(A, ZERO, at_least=1.0),
        "logarithms and ratios need values above 0; the smallest is 0.0; use difference",
    ),
    (lambda: separation(A, B, direction=ANY), "direction is higher or lower, not 'sideways'"),
    (
        lambda: separation(A, B, direction="higher", factor=0.5),
        "a factor of separation is finite and at least 1, not 0.5",
    ),
    (
        lambda: separation(A, ZERO, direction="higher", factor=2.0),
        "separation by a factor needs values above 0",
    ),
    (
        lambda: separation(TWO, TWO, direction="higher"),
        (
            "2 and 2 replicates cannot decide: even complete separation has p = 0.167, above "
            "alpha = 0.05; add replicates"
        ),
    ),
    (lambda: bound(A), "a bound needs a limit: at_least, at_most or both"),
    (lambda: bound(A, at_least=2.0, at_most=1.0), "no value is at least 2.0 and at most 1.0"),
    (lambda: bound(A, at_least=float("nan")), "at_least must be a finite number, not nan"),
    (lambda: bound(A, at_most=float("inf")), "at_most must be a finite number, not inf"),
    (lambda: share(A, of=1.0, at_least=1.0), "a share lies between 0 and 1, not 1.0"),
    (lambda: clopper_pearson(6, 5, level=0.9), "6 successes of 5 are impossible"),
    (lambda: trend([A, B], direction=ANY), "direction is increasing or decreasing, not 'sideways'"),
    (
        lambda: trend([A, B], direction="increasing", test=ANY),
        "a test of trend is jonckheere or kendall, not 'sideways'",
    ),
    (lambda: trend([A], direction="increasing"), "a trend needs at least two groups"),
    (
        lambda: trend([FLAT, FLAT], direction="increasing"),
        "all values are equal, so there is no trend to test; use a bound",
    ),
    (
        lambda: trend([TWO, TWO], direction="increasing"),
        (
            "groups of 2, 2 cannot decide: even perfect order has p = 0.167, above alpha = "
            "0.05; add replicates"
        ),
    ),
    (
        lambda: linear_trend([A, B], direction=ANY),
        "direction is increasing or decreasing, not 'sideways'",
    ),
    (lambda: linear_trend([A], direction="increasing"), "a trend needs at least two groups"),
    (
        lambda: linear_trend([FLAT, A, FLAT], direction="increasing"),
        (
            "no arm that has a say varies, so a test on means would call any trend certain; use"
            " separation of the first and the last"
        ),
    ),
    (
        lambda: ordering([A, B], direction=ANY),
        "direction is increasing or decreasing, not 'sideways'",
    ),
    (lambda: ordering([A], direction="increasing"), "an order needs at least two arms"),
    (lambda: sign_test(-1, 5), "counts are not negative: -1, 5, 0"),
    (
        lambda: sign_test(0, 0, 5),
        "every unit is a tie, so that nobody wins; declare an equivalence",
    ),
    (lambda: sign_test(5, 1, more_than=1.0), "a share lies between 0 and 1, not 1.0"),
    (
        lambda: sign_test(2, 1),
        (
            "3 units cannot decide: even if all agree p = 0.125, above alpha = 0.05 "
            "(one-sided); add units"
        ),
    ),
    (lambda: paired_outcomes(A, B, better=ANY), "better is lower or higher, not 'sideways'"),
    (lambda: paired_outcomes(A, B, clusters=[1, 2]), "2 clusters are named for 5 units"),
    (
        lambda: paired_outcomes(A, B, clusters=[1, 1, 2, 2, 3]),
        (
            "3 clusters cannot decide: even if all agree p = 0.125, above alpha = 0.05 "
            "(one-sided); add clusters"
        ),
    ),
    (
        lambda: paired_outcomes(A, B, clusters=[1, 1, 2, 2, 3], more_than=0.4),
        "with clusters only more than one half can be tested: the signs flip",
    ),
]
"""A request that means nothing, and the whole of what is said about it."""


@pytest.mark.parametrize(("request_", "message"), REFUSALS)
def test_a_refusal_says_why(request_, message):
    """
    What means nothing is refused, and the message says in full what is wrong and what would do.
    """
    with pytest.raises(ClaimError) as caught:
        request_()
    assert str(caught.value) == message
