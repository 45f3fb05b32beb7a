"""Expectations that could not be decided as they are declared, whatever the evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from repro.errors import Problem
from repro.expectations.association import Association
from repro.expectations.difference import Difference
from repro.expectations.exact import Bound
from repro.expectations.proportion import Proportion
from repro.schema.yaml import Steps
from repro.specs.scaled import ScaledClaim

WITHOUT_UNITS = ("permutation", "paired_permutation", "brunner_munzel")
"""Tests that have no interval in the units of the measurement."""


PRINTED_TESTS = ("welch", "student", "paired")


FEWEST_POINTS = {"pearson": 4, "spearman": 4, "kendall": 5}
"""With fewer points a correlation has no standard error (Fisher 1921; Bonett & Wright 2000)."""


FEWEST_CLUSTERS = 5
"""Fewer arms say too little about other arms."""


CLAIMS = ("direction", "magnitude_at_most", "magnitude_at_least")


def _some_decide(claim: ScaledClaim) -> Iterator[Problem]:
    if not any(claim.decisive()):
        what = "all are shown as context, so that nothing decides the verdict"
        advice = "leave `role: context` out of the one that the claim is about"
        yield claim.problem(("expectations",), what, "a decisive expectation", advice)


def _published_rule(claim: ScaledClaim) -> Iterator[Problem]:
    for steps, expectation in claim.placed():
        if not isinstance(expectation, Difference) or expectation.rule != "as_published":
            continue
        if expectation.role == "decisive":
            what = "the paper's own rule cannot decide: p above alpha is no evidence of equality"
            advice = "add `role: context`, and let another expectation decide"
            yield claim.problem((*steps, "rule"), what, "role context", advice)
        if expectation.test not in PRINTED_TESTS:
            what = f"the paper's own rule is that of a t-test, and {expectation.test} is none"
            advice = "name the paper's test, or leave the rule out"
            yield claim.problem((*steps, "test"), what, "one of student, welch, paired", advice)


def _bounds(claim: ScaledClaim) -> Iterator[Problem]:
    for steps, expectation in claim.placed():
        if not isinstance(expectation, Bound):
            continue
        limits = [key for key in ("at_most", "at_least") if getattr(expectation, key) is not None]
        if len(limits) != 1:
            what = f"a bound with {'two limits' if limits else 'no limit'} says nothing exact"
            advice = "keep one of the two" if limits else "add one of the two"
            yield claim.problem(steps, what, "either at_most or at_least", advice)


def _tails(claim: ScaledClaim) -> Iterator[Problem]:
    """A test with one tail needs to know which."""
    for steps, expectation in claim.placed():
        if (
            isinstance(expectation, Difference)
            and expectation.tails == 1
            and expectation.direction == "different"
        ):
            what = "a test with one tail has a direction, and different has none"
            advice = "name the direction, or leave tails out"
            yield claim.problem((*steps, "direction"), what, "one of lower, higher", advice)


def _smallest_effects(claim: ScaledClaim) -> Iterator[Problem]:
    """A smallest effect is held against an interval on one side of no difference."""
    for steps, expectation in claim.placed():
        if not isinstance(expectation, Difference) or expectation.smallest_effect is None:
            continue
        here = claim.size_steps(steps, expectation, "smallest_effect")
        if expectation.test in WITHOUT_UNITS:
            what = f"test {expectation.test} has no interval in the units of the measurement "
            what += "to hold it to"
            advice = "name another test, or leave it out"
            yield claim.problem(here, what, "a test such as welch, student or yuen", advice)
        if expectation.direction == "different":
            what = "a smallest effect has a sign, and direction different has none"
            advice = "name the direction, or leave it out"
            yield claim.problem((*steps, "direction"), what, "one of lower, higher", advice)
        if expectation.smallest_effect.relative is not None:
            what = "a relative smallest effect is not implemented: the interval of a difference "
            what += "is in the units of the measurement"
            advice = "write it as `abs` or `of_gain`"
            yield claim.problem((*here, "relative"), what, "one of abs, of_gain", advice)


def _associations(claim: ScaledClaim) -> Iterator[Problem]:
    for steps, expectation in claim.placed():
        if not isinstance(expectation, Association):
            continue
        if expectation.against == expectation.measurement:
            what = "every measurement goes together with itself"
            advice = "name the measurement that it goes together with"
            yield claim.problem((*steps, "against"), what, "another measurement", advice)
        claims = [key for key in CLAIMS if getattr(expectation, key) is not None]
        if len(claims) > 1:
            what = f"with this, {expectation.id} claims two things: {' and '.join(claims)}"
            advice = "remove it; a scale changes only the size that is declared"
            here = claim.size_steps(steps, expectation, claims[-1])
            yield claim.problem(here, what, "one claim", advice)
        yield from _points(claim, steps, expectation)


def _points(claim: ScaledClaim, steps: Steps, expectation: Association) -> Iterator[Problem]:
    arms = len(expectation.of)
    if expectation.points == "arms":
        least = fewest_points(expectation, claim.file.alpha)
        if arms < least:
            method = expectation.method
            what = f"the means of {arms} arms are too few points for {method}'s correlation"
            yield claim.problem((*steps, "of"), what, f"at least {least} arms", "name more arms")
    elif 1 < arms < fewest_clusters(claim.file.alpha):
        what = f"replicates of {arms} arms are {arms} clusters, too few to permute"
        expected = f"one arm, or at least {fewest_clusters(claim.file.alpha)}"
        yield claim.problem((*steps, "of"), what, expected, "name one arm, or more arms")
    elif arms > 1 and expectation.direction is None:
        what = "a size of a correlation needs independent points, and replicates of one arm are not"
        advice = "write `points: arms`, name one arm, or claim a direction"
        yield claim.problem((*steps, "points"), what, "points arms, or one arm", advice)
    elif arms > 1 and expectation.within is not None:
        what = "whole arms are permuted, and a window may leave them different numbers of points"
        advice = "write `points: arms`, name one arm, or remove the window"
        yield claim.problem((*steps, "within"), what, "no window, or one arm", advice)


def fewest_clusters(alpha: float) -> int:
    """Fewest whole arms with which it could be confirmed; an extreme order has p = 1 / k!."""
    k = FEWEST_CLUSTERS
    while 1 / math.factorial(k) > alpha:
        k += 1
    return k


def fewest_points(expectation: Association, alpha: float) -> int:
    """Fewest points with which it could be confirmed; an exact order has p = 2 / n!."""
    n = FEWEST_POINTS[expectation.method]
    while (
        expectation.method != "pearson" and expectation.direction and 2 / math.factorial(n) > alpha
    ):
        n += 1
    return n


def _proportions(claim: ScaledClaim) -> Iterator[Problem]:
    for steps, expectation in claim.placed():
        if not isinstance(expectation, Proportion):
            continue
        for name, times in Counter(expectation.reads).items():
            if times > 1:
                what = f"measurement '{name}' is counted {times} times"
                advice = "remove the repetition"
                yield claim.problem((*steps, "also"), what, "every measurement once", advice)
        if expectation.clusters != "none" and expectation.more_than != 0.5:
            what = "with clusters only more than one half can be tested, because signs are flipped"
            advice = "leave it out, or write `clusters: none`"
            yield claim.problem((*steps, "more_than"), what, "0.5", advice)
        yield from _clusters(claim, (*steps, "clusters"), expectation)
        yield from _units(claim, steps, expectation)


def _clusters(claim: ScaledClaim, steps: Steps, expectation: Proportion) -> Iterator[Problem]:
    """Clusters must hold every unit exactly once."""
    if isinstance(expectation.clusters, int) and expectation.also:
        what = "the units are measurements, and a number counts consecutive replicates"
        expected = "none, or lists of measurements"
        yield claim.problem(steps, what, expected, "say which measurements belong together")
    if not isinstance(expectation.clusters, tuple):
        return
    if not expectation.also:
        what = "the units are replicates, and lists name measurements"
        expected = "none, or how many consecutive replicates form a cluster"
        yield claim.problem(steps, what, expected, "write the number, or add `also`")
        return
    counted = Counter(name for cluster in expectation.clusters for name in cluster)
    for name in claim.measurements:
        if name in counted and name not in expectation.reads:
            what, advice = f"'{name}' is in a cluster, and is no unit", "remove it"
        elif name in expectation.reads and counted[name] != 1:
            what = f"'{name}' is in {counted[name] or 'no'} cluster{'s' * (counted[name] > 1)}"
            advice = "put it into one cluster"
        else:
            continue
        yield claim.problem(steps, what, "every measurement in exactly one cluster", advice)


def _units(claim: ScaledClaim, steps: Steps, expectation: Proportion) -> Iterator[Problem]:
    """Winning everywhere must be unlikely enough by chance; replicates are counted as seeds."""
    if not expectation.also or expectation.role != "decisive":
        return
    clustered = isinstance(expectation.clusters, tuple)
    units = len(
        expectation.clusters if isinstance(expectation.clusters, tuple) else expectation.reads
    )
    least = fewest_units(expectation, claim.file.alpha)
    if units < least:
        words = "clusters" if clustered else "measurements"
        p = expectation.more_than**units
        what = f"{units} {words} cannot decide: winning in all has p = {p:.2g} at best"
        expected = f"at least {least} {words} at alpha {claim.file.alpha:g}"
        advice = "add measurements, or make the expectation `role: context`"
        yield claim.problem((*steps, "also"), what, expected, advice)


def fewest_units(expectation: Proportion, alpha: float) -> int:
    """Fewest units, or clusters of them, that could all be won with p at most alpha."""
    return math.ceil(math.log(alpha) / math.log(expectation.more_than) - 1e-9)


RULES = (
    _some_decide,
    _published_rule,
    _bounds,
    _tails,
    _smallest_effects,
    _associations,
    _proportions,
)
