"""Associations and proportions over points, units or clusters that could not decide them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from repro.errors import Problem
from repro.specs.draft import Draft
from repro.specs.expectation import Association, Proportion
from repro.specs.yaml import Steps

FEWEST_POINTS = {"pearson": 4, "spearman": 4, "kendall": 5}
"""With fewer points a correlation has no standard error (Fisher 1921; Bonett & Wright 2000)."""

FEWEST_CLUSTERS = 5
"""Fewer arms say too little about other arms."""

CLAIMS = ("direction", "magnitude_at_most", "magnitude_at_least")


def _associations(draft: Draft) -> Iterator[Problem]:
    for steps, one in draft.readable():
        if not isinstance(one, Association):
            continue
        if one.against == one.measurement:
            what = "every measurement goes together with itself"
            advice = "name the measurement that it goes together with"
            yield draft.problem((*steps, "against"), what, "another measurement", advice)
        claims = [key for key in CLAIMS if getattr(one, key) is not None]
        if len(claims) > 1:
            what = f"with this, {one.id} claims two things: {' and '.join(claims)}"
            advice = "remove it; a scale changes only the size that is declared"
            here = draft.size_steps(steps, one, claims[-1])
            yield draft.problem(here, what, "one claim", advice)
        yield from _points(draft, steps, one)


def _points(draft: Draft, steps: Steps, one: Association) -> Iterator[Problem]:
    arms = len(one.of)
    if one.points == "arms":
        least = fewest_points(one, draft.alpha)
        if arms < least:
            what = f"the means of {arms} arms are too few points for {one.method}'s correlation"
            yield draft.problem((*steps, "of"), what, f"at least {least} arms", "name more arms")
    elif 1 < arms < fewest_clusters(draft.alpha):
        what = f"replicates of {arms} arms are {arms} clusters, too few to permute"
        expected = f"one arm, or at least {fewest_clusters(draft.alpha)}"
        yield draft.problem((*steps, "of"), what, expected, "name one arm, or more arms")
    elif arms > 1 and one.direction is None:
        what = "a size of a correlation needs independent points, and replicates of one arm are not"
        advice = "write `points: arms`, name one arm, or claim a direction"
        yield draft.problem((*steps, "points"), what, "points arms, or one arm", advice)
    elif arms > 1 and one.within is not None:
        what = "whole arms are permuted, and a window may leave them different numbers of points"
        advice = "write `points: arms`, name one arm, or remove the window"
        yield draft.problem((*steps, "within"), what, "no window, or one arm", advice)


def fewest_clusters(alpha: float) -> int:
    """Fewest whole arms with which it could be confirmed; an extreme order has p = 1 / k!."""
    k = FEWEST_CLUSTERS
    while 1 / math.factorial(k) > alpha:
        k += 1
    return k


def fewest_points(one: Association, alpha: float) -> int:
    """Fewest points with which it could be confirmed; an exact order has p = 2 / n!."""
    n = FEWEST_POINTS[one.method]
    while one.method != "pearson" and one.direction and 2 / math.factorial(n) > alpha:
        n += 1
    return n


def _proportions(draft: Draft) -> Iterator[Problem]:
    for steps, one in draft.readable():
        if not isinstance(one, Proportion):
            continue
        for name, times in Counter(one.reads).items():
            if times > 1:
                what = f"measurement '{name}' is counted {times} times"
                advice = "remove the repetition"
                yield draft.problem((*steps, "also"), what, "every measurement once", advice)
        if one.clusters != "none" and one.more_than != 0.5:
            what = "with clusters only more than one half can be tested, because signs are flipped"
            advice = "leave it out, or write `clusters: none`"
            yield draft.problem((*steps, "more_than"), what, "0.5", advice)
        yield from _clusters(draft, (*steps, "clusters"), one)
        yield from _units(draft, steps, one)


def _clusters(draft: Draft, steps: Steps, one: Proportion) -> Iterator[Problem]:
    """Clusters must hold every unit exactly once."""
    if isinstance(one.clusters, int) and one.also:
        what = "the units are measurements, and a number counts consecutive replicates"
        expected = "none, or lists of measurements"
        yield draft.problem(steps, what, expected, "say which measurements belong together")
    if not isinstance(one.clusters, tuple):
        return
    if not one.also:
        what = "the units are replicates, and lists name measurements"
        expected = "none, or how many consecutive replicates form a cluster"
        yield draft.problem(steps, what, expected, "write the number, or add `also`")
        return
    counted = Counter(name for cluster in one.clusters for name in cluster)
    for name in dict.fromkeys((*one.reads, *counted)):
        if name not in draft.measurements:
            continue
        if name not in one.reads:
            what, advice = f"'{name}' is in a cluster, and is no unit", "remove it"
        elif counted[name] != 1:
            what = f"'{name}' is in {counted[name] or 'no'} cluster{'s' * (counted[name] > 1)}"
            advice = "put it into one cluster"
        else:
            continue
        yield draft.problem(steps, what, "every measurement in exactly one cluster", advice)


def _units(draft: Draft, steps: Steps, one: Proportion) -> Iterator[Problem]:
    """Winning everywhere must be unlikely enough by chance; replicates are counted as seeds."""
    if not one.also or one.role != "decisive":
        return
    clustered = isinstance(one.clusters, tuple)
    units = len(one.clusters if isinstance(one.clusters, tuple) else one.reads)
    least = fewest_units(one, draft.alpha)
    if units < least:
        words = "clusters" if clustered else "measurements"
        p = one.more_than**units
        what = f"{units} {words} cannot decide: winning in all has p = {p:.2g} at best"
        expected = f"at least {least} {words} at alpha {draft.alpha:g}"
        advice = "add measurements, or make the expectation `role: context`"
        yield draft.problem((*steps, "also"), what, expected, advice)


def fewest_units(one: Proportion, alpha: float) -> int:
    """Fewest units, or clusters of them, that could all be won with p at most alpha."""
    return math.ceil(math.log(alpha) / math.log(one.more_than) - 1e-9)


RULES = (_associations, _proportions)
