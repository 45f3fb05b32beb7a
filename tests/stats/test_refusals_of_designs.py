from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from repro.errors import ClaimError
from repro.stats.anytime import balanced, contrasts, e_value
from repro.stats.coefficients import (
    leave_one_out,
    restricted,
)
from repro.stats.contrast import relative_difference, welch_contrast
from repro.stats.correlation import association, magnitude
from repro.stats.counts import bound
from repro.stats.group_sequential import boundaries, group_obf
from repro.stats.multiplicity import adjusted_e_values, holm
from repro.stats.planning import PlannedDifference, PlannedRatio, PlannedSequential
from repro.stats.power import (
    PairedDesign,
    PowerDesign,
    check_target,
    power_association,
    power_difference,
    power_equivalence,
    power_ratio,
    power_separation,
    power_share,
    seeds_to_settle,
)
from repro.stats.records import Interval, Sample, Summary, check_alpha, check_finite, known
from repro.stats.replication import predict, sceptical, small_telescopes
from repro.stats.stopping import difference, equivalence, stop
from repro.stats.stopping import non_inferiority as not_worse
from repro.stats.t_tests import welch

A, B = Sample.of(9.0, 9.5, 10.0, 10.5, 11.0), Sample.of(8.0, 8.5, 9.0, 9.25, 10.0)
FLAT, TWO = Sample.of(*[3.0] * 5), Sample.of(1.0, 2.0)
SUMMARY = Summary(5, 9.0, 0.5)
SHIFTED = Sample((1.0, 2.0, 3.0), (7, 8, 9))
ANY: Any = "sideways"

REFUSALS: list[tuple[Callable[[], object], str]] = [
    (
        lambda: association(A, B, method=ANY),
        "a correlation is pearson, spearman, kendall, not 'sideways'",
    ),
    (
        lambda: association(A, SHIFTED),
        "a correlation needs both variables at the same points, and only there",
    ),
    (lambda: association(TWO, TWO), "pearson needs at least 4 points, not 2; add points"),
    (
        lambda: association(A, FLAT),
        (
            "a variable that does not vary correlates with nothing; use points that differ in"
            " both, or a bound on the one"
        ),
    ),
    (
        lambda: association(A, B, direction=ANY),
        "direction is positive, negative or different, not 'sideways'",
    ),
    (
        lambda: association(
            Sample.of(1, 2, 4, 3), Sample.of(1, 2, 4, 3), method="spearman", alpha=0.05
        ),
        (
            "4 points cannot decide: even a perfect order has p = 0.0833, above alpha = 0.05; "
            "add points"
        ),
    ),
    (
        lambda: association(A, B, clusters=[1, 2]),
        "2 clusters for 5 points: each point belongs to one",
    ),
    (
        lambda: association(A, B, clusters=[1, 2, 3, 4, 4]),
        "4 clusters say too little about others; at least 5 are needed",
    ),
    (
        lambda: association(A, B, clusters=range(5), alpha=0.008),
        (
            "5 clusters cannot decide: even the most extreme order of them has p = 0.00833, "
            "above alpha = 0.008; add clusters"
        ),
    ),
    (
        lambda: association(
            Sample.of(*range(6)), Sample.of(1, 3, 2, 4, 5, 6), clusters=[1, 2, 3, 4, 5, 5]
        ),
        (
            "clusters have 1 to 2 points: whole clusters change places only where all have "
            "equally many"
        ),
    ),
    (lambda: magnitude(A, B), "the size of a correlation has one bound between 0 and 1, not []"),
    (
        lambda: magnitude(A, B, at_most=1.5),
        "the size of a correlation has one bound between 0 and 1, not [1.5]",
    ),
    (
        lambda: magnitude(A, A, at_most=0.5),
        "a perfect correlation has an infinite z, so its size cannot be tested",
    ),
    (lambda: restricted(A, B, low=2.0, high=1.0), "a window runs from low to high, not 2.0 to 1.0"),
    (lambda: restricted(A, B, low=20.0, high=21.0), "no point lies between 20.0 and 21.0"),
    (
        lambda: leave_one_out(Sample.of(1, 2, 4, 3), Sample.of(1, 2, 4, 3), method="pearson"),
        "pearson without one of 4 points has too few of them",
    ),
    (lambda: holm([0.5, 1.5]), "a p-value lies between 0 and 1, not 1.5"),
    (lambda: adjusted_e_values([-1.0]), "an e-value is at least 0, not -1.0"),
    (
        lambda: balanced(A, SHIFTED),
        (
            "a sequential test looks at pairs of one replicate number, and there are 0; it "
            "needs at least two; add pairs"
        ),
    ),
    (
        lambda: contrasts(A, B, [2, 9], welch_contrast),
        "looks are increasing numbers of pairs, from 2 to the 5 there are, not [2, 9]",
    ),
    (
        lambda: e_value(1.0, 1, 5),
        "an e-value needs at least two values in each arm; add replicates",
    ),
    (lambda: e_value(1.0, 5, 5, 0.0), "the prior's variance g is a finite number above 0, not 0.0"),
    (lambda: difference(ANY), "a direction is higher, lower or different, not 'sideways'"),
    (
        lambda: difference("different", smallest_effect=1.0),
        "a smallest effect belongs to a claim of higher or lower",
    ),
    (
        lambda: difference("higher", smallest_effect=-1.0),
        "a smallest effect is a finite number, not negative: -1.0",
    ),
    (lambda: equivalence(0.0, 1.0), "equivalence margins lie on both sides of 0, not 0.0 and 1.0"),
    (lambda: equivalence(float("nan"), 1.0), "the lower margin must be a finite number, not nan"),
    (lambda: equivalence(-1.0, float("inf")), "the upper margin must be a finite number, not inf"),
    (lambda: not_worse(-1.0, "lower"), "a margin is a finite number, at least 0, not -1.0"),
    (lambda: not_worse(1.0, ANY), "better is lower or higher, not 'sideways'"),
    (lambda: stop(welch(A, B)), "a result of welch is not sequential, so there is no stop rule"),
    (
        lambda: boundaries((0.5, 0.4), 0.05),
        "information times increase from above 0 to at most 1, not (0.5, 0.4)",
    ),
    (
        lambda: group_obf(A, B, difference("higher"), looks=[3], planned_looks=[5, 4]),
        "planned looks are increasing numbers of pairs, not [5, 4]",
    ),
    (
        lambda: group_obf(A, B, difference("higher"), looks=[5], planned_looks=[3, 4]),
        "a look at 5 pairs lies beyond the plan, whose alpha is spent at 4; eprocess_t has no end",
    ),
    (
        lambda: PowerDesign(1.0, 1.0, 1, 5),
        "a test with variances needs at least two replicates in each arm",
    ),
    (lambda: PowerDesign(-1.0, 1.0, 5, 5), "a standard deviation is not negative: -1.0"),
    (
        lambda: PowerDesign(float("nan"), 1.0, 5, 5),
        "a standard deviation must be a finite number, not nan",
    ),
    (
        lambda: PowerDesign(0.0, 0.0, 5, 5),
        "where neither arm varies the outcome is certain; there is no power",
    ),
    (lambda: power_ratio(PowerDesign(1.0, 1.0, 5, 5), 0.0, at_least=1.0), "ratios lie above 0"),
    (
        lambda: power_equivalence(PowerDesign(1.0, 1.0, 5, 5), 0.0, low=1.0, high=1.0),
        "margins run from low to high, not 1.0 to 1.0",
    ),
    (
        lambda: power_difference(PowerDesign(1.0, 1.0, 5, 5), float("nan")),
        "the effect must be a finite number, not nan",
    ),
    (lambda: check_target(1.0), "a power lies between 0 and 1, not 1.0"),
    (lambda: power_difference(PairedDesign(1.0, 1), 1.0), "a paired test needs at least two pairs"),
    (
        lambda: power_difference(PairedDesign(0.0, 5), 1.0),
        "the standard deviation of the differences lies above 0, not at 0.0",
    ),
    (
        lambda: PairedDesign(float("nan"), 5),
        "a standard deviation must be a finite number, not nan",
    ),
    (
        lambda: power_difference(PairedDesign(1.0, 5), float("nan")),
        "the effect must be a finite number, not nan",
    ),
    (
        lambda: power_separation(PowerDesign(1.0, 1.0, 5, 5), float("nan")),
        "the distance must be a finite number, not nan",
    ),
    (lambda: power_share(5, 1.5, of=0.5), "shares lie between 0 and 1, not at 0.5 and 1.5"),
    (lambda: power_association(5, 1.0), "correlations lie between -1 and 1, not -1.0, 1.0, 1.0"),
    (
        lambda: PlannedDifference((5, 5, 5)),
        "a design has one or two arms, and one replicate or more in each",
    ),
    (
        lambda: PlannedSequential((5, 6)),
        "a sequential design grows by pairs, so both arms have the same size",
    ),
    (
        lambda: PlannedDifference((5,)).design,
        "planning for difference needs a standard deviation",
    ),
    (
        lambda: PlannedDifference((5,), (1.0,)).truth,
        "planning for difference needs a true effect",
    ),
    (lambda: PlannedRatio((5,), (1.0,)).least, "planning for ratio needs low"),
    (
        lambda: seeds_to_settle(bound(A, at_most=1.0), A, B),
        "bound compares no means, so no number of seeds is computed",
    ),
    (
        lambda: predict((FLAT, FLAT), (FLAT, FLAT)),
        "no arm varies, so there is no error to predict a replication with",
    ),
    (
        lambda: predict((Summary(5, -1.0, 1.0), SUMMARY), (A, B), ratio=True),
        "a ratio needs means above 0, not -1.0",
    ),
    (
        lambda: small_telescopes(
            (SUMMARY, SUMMARY), relative_difference(A, B).beyond(0.0), original_test=ANY
        ),
        "the original's test is welch or student, not 'sideways'",
    ),
    (lambda: sceptical(float("nan"), 1.0, 1.0), "a z-value must be a finite number, not nan"),
    (lambda: sceptical(1.0, float("nan"), 1.0), "a z-value must be a finite number, not nan"),
    (
        lambda: sceptical(1.0, 1.0, float("nan")),
        "a ratio of variances must be a finite number, not nan",
    ),
    (lambda: sceptical(1.0, 1.0, 0.0), "a ratio of variances lies above 0, not at 0.0"),
    (lambda: Interval(2.0, 1.0, 0.95), "an interval runs from low to high, not 2.0 to 1.0"),
    (lambda: Interval(1.0, 2.0, 1.0), "the level of an interval lies between 0 and 1, not 1.0"),
    (lambda: known(None), "this result lacks a number that its rule needs"),
    (lambda: check_alpha(0.5), "alpha must lie between 0 and 0.5, not 0.5"),
    (lambda: check_finite("a number", float("nan")), "a number must be a finite number, not nan"),
    (lambda: Summary(0, 1.0, 1.0), "a summary needs at least one value, not n = 0"),
    (lambda: Summary(2, float("nan"), 1.0), "a mean must be a finite number, not nan"),
    (lambda: Summary(2, 1.0, -1.0), "a standard deviation must be finite and not negative: -1.0"),
    (
        lambda: Summary(1, 1.0, 1.0),
        "a single value has no standard deviation; leave it out or give n",
    ),
    (
        lambda: Summary(1, 1.0, None).spread,
        "a single value has no variance, so no test can compare it; add replicates, or use a bound",
    ),
    (
        lambda: Summary(2, 1.0, None).spread,
        (
            "this test needs the standard deviation of each arm; add the printed sd, or judge"
            " the other arm alone against it with level"
        ),
    ),
    (lambda: Sample((), ()), "a sample needs at least one value"),
    (
        lambda: Sample((1.0,), (1, 2)),
        "1 values for 2 replicates: each replicate has exactly one value",
    ),
    (lambda: Sample((1.0, 2.0), (1, 1)), "a replicate occurs twice: [1, 1]"),
    (lambda: Sample((1.0, float("nan")), (1, 2)), "replicate 2 has no finite value: nan"),
    (
        lambda: Sample.of(0.0, 1.0).log(),
        "logarithms and ratios need values above 0; the smallest is 0.0; use difference",
    ),
    (lambda: A.without(9), "there is no replicate 9 to leave out"),
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
