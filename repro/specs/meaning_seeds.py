"""Numbers of seeds with which nothing could be decided, or that contradict each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

from repro.errors import Problem
from repro.specs.draft import Draft
from repro.specs.expectation import (
    Association,
    Bound,
    Difference,
    Expectation,
    Proportion,
    Separation,
    Trend,
)
from repro.specs.meaning_relations import fewest_points, fewest_units

LEAST_SEEDS = 3
"""Fewest seeds for a decisive test on means: with 2, one degree of freedom, nothing is found."""

MOST_NUMBERS = 10_000
"""No more seeds than this can be planned."""


def _seeds(draft: Draft) -> Iterator[Problem]:
    seeds = draft.seeds.value
    if seeds is None:
        return
    steps, k = draft.seeds.steps, seeds.excludable
    if seeds.min > seeds.plan:
        what = f"{seeds.plan} planned seeds can never be the {seeds.min} that are needed"
        advice = "plan more, or need fewer"
        yield draft.problem((*steps, "plan"), what, f"at least {seeds.min}", advice)
    elif k < seeds.min and seeds.plan - k < seeds.min:
        what = f"when {k} seeds diverge, {seeds.plan - k} are left of {seeds.min} needed"
        advice = f"plan {seeds.min + k}, or allow fewer to diverge"
        yield draft.problem((*steps, "plan"), what, f"at least {seeds.min + k}", advice)
    if k >= seeds.min:
        what = f"{k} seeds may diverge, as many as the verdict rests on"
        expected = f"fewer than min, {seeds.min}"
        yield draft.problem((*steps, "diverged"), what, expected, "allow fewer")
    if seeds.max is not None and seeds.max < seeds.plan:
        what = f"the claim ends at {seeds.max} seeds, before the {seeds.plan} that are planned"
        advice = "raise max, or plan fewer"
        yield draft.problem((*steps, "max"), what, f"at least {seeds.plan}", advice)
    if seeds.numbers is not None:
        first, last = seeds.numbers
        count = last - first + 1
        if not seeds.plan <= count <= MOST_NUMBERS:
            what = f"numbers {first} to {last} are those of {max(count, 0)} seeds"
            expected = f"from {seeds.plan} (plan) to {MOST_NUMBERS:,} numbers"
            advice = "give the first and the last number, as in [0, 9]"
            yield draft.problem((*steps, "numbers"), what, expected, advice)


def _enough_seeds(draft: Draft) -> Iterator[Problem]:
    """Few seeds are one mistake, however many expectations suffer from it."""
    seeds = draft.seeds.value
    if seeds is None:
        return
    paired = draft.design == "paired"
    needed = {one.id: _least_seeds(one, draft.alpha, paired=paired) for _, one in draft.decisive()}
    starved = [name for name, least in needed.items() if least > seeds.min]
    if starved:
        least = max(needed[name] for name in starved)
        what = f"{seeds.min} seeds per arm are not accepted for {', '.join(starved)}"
        expected = f"at least {least} seeds at alpha {draft.alpha:g}"
        advice = "raise min, or make the expectation `role: context`"
        yield draft.problem((*draft.seeds.steps, "min"), what, expected, advice)


def _least_seeds(one: Expectation, alpha: float, *, paired: bool) -> int:
    """Fewest seeds an arm with which the expectation could be confirmed."""
    least = LEAST_SEEDS
    if isinstance(one, Bound):
        least = 1
    elif isinstance(one, Separation):
        least = _least_pairs(alpha, tails=1) if paired else _least_splits(alpha, tails=1)
    elif isinstance(one, Difference) and one.test == "permutation":
        least = max(least, _least_splits(alpha, tails=one.tails))
    elif isinstance(one, Difference) and one.test == "paired_permutation":
        least = max(least, _least_pairs(alpha, tails=one.tails))
    elif isinstance(one, Association):
        least = _least_of_association(one, alpha)
    elif isinstance(one, Proportion):
        size = one.clusters if isinstance(one.clusters, int) else 1
        least = 1 if one.also else size * fewest_units(one, alpha)
    return least


def _least_of_association(one: Association, alpha: float) -> int:
    """The replicates of one arm are points; of several, parts of a cluster or of a mean."""
    alone = one.points == "replicates" and len(one.of) == 1
    return fewest_points(one, alpha) if alone else 1


def _least_splits(alpha: float, tails: int) -> int:
    """Fewest n with which complete separation of n from n is unlikely enough.

    Of the C(2n, n) splits of all values, which are equally likely when the arms are equal, one
    has all of a above all of b, and one all of b above all of a.
    """
    n = 1
    while tails / math.comb(2 * n, n) > alpha:
        n += 1
    return n


def _least_pairs(alpha: float, tails: int) -> int:
    """Fewest pairs that all differ the same way seldom enough, when either way is as likely."""
    return math.ceil(math.log2(tails / alpha) - 1e-9)


def _diverged(draft: Draft) -> Iterator[Problem]:
    """A replicate that diverged has a place in an order, the last, but no value."""
    seeds = draft.seeds.value
    if seeds is None or seeds.diverged != "worst" or draft.sequential.value is not None:
        return
    sized = [one.id for _, one in draft.readable() if not _is_of_order(one)]
    if sized:
        what = f"a run that diverges is worst, but by no amount that {', '.join(sized)} could use"
        tests = "brunner_munzel, separation, bound, jonckheere, kendall, proportion"
        expected = f"invalid or exclude<=k; or tests of order alone: {tests}"
        yield draft.problem((*draft.seeds.steps, "diverged"), what, expected, "write `exclude<=1`")


def _is_of_order(one: Expectation) -> bool:
    """Whether only the order of the values counts, or what lies within a limit."""
    match one:
        case Bound() | Separation():
            return True
        case Difference(test="brunner_munzel"):
            return True
        case Trend(test="jonckheere" | "kendall"):
            return True
        case Proportion(also=()):
            return True
        case _:
            return False


RULES = (_seeds, _enough_seeds, _diverged)
