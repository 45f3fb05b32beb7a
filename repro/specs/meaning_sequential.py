"""Sequential claims whose looks could not be taken, or could not decide."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from repro.errors import Problem
from repro.specs.draft import Draft
from repro.specs.expectation import (
    Difference,
    Equivalence,
    Expectation,
    NonInferiority,
    NonSuperiority,
)
from repro.specs.seeds import EProcess, GroupSequential, Seeds
from repro.specs.yaml import Steps

MOST_SEEDS = 10_000
"""As many as a claim file can ask for."""

NO_ORDER = ("arm", "measurement", "value", "state")

KINDS = "one of difference, equivalence, non_superiority, non_inferiority"


def _expectations(draft: Draft) -> Iterator[Problem]:
    """Only contrasts of two means have a sequential test."""
    if draft.sequential.value is None:
        return
    fitting = "paired" if draft.design == "paired" else "welch"
    for steps, one in draft.decisive():
        if not isinstance(one, Difference | Equivalence | NonSuperiority | NonInferiority):
            what = f"kind {one.kind} has no sequential test"
            advice = "make it `role: context`, or leave `sequential` out"
            yield draft.problem((*steps, "kind"), what, KINDS, advice)
            continue
        if isinstance(one, Difference) and one.test not in ("welch", "paired"):
            what = f"test {one.test} has no sequential form"
            here = draft.size_steps(steps, one, "test")
            yield draft.problem(here, what, fitting, "leave the test out")
        if isinstance(one, Difference) and one.tails == 1:
            what = "a sequential test of a difference has two tails"
            yield draft.problem((*steps, "tails"), what, "2", "leave tails out")
        yield from _fixed_margin(draft, steps, one)


def _fixed_margin(draft: Draft, steps: Steps, one: Expectation) -> Iterator[Problem]:
    margin = getattr(one, "margin", None)
    if margin is not None and margin.relative is not None:
        what = "a relative margin moves with the mean of b, and a sequential test needs a fixed one"
        here = (*draft.size_steps(steps, one, "margin"), "relative")
        yield draft.problem(here, what, "one of abs, of_gain", "write it as `abs` or `of_gain`")


def _arms(draft: Draft) -> Iterator[Problem]:
    if draft.sequential.value is None:
        return
    read = {name for _, one in draft.decisive() for name in one.of}
    for name, part in draft.arms.items():
        if name in read and part.value is not None and part.value.published is not None:
            what = f"the printed numbers of arm '{name}' do not grow seed by seed"
            advice = "give it a configuration or a table, or leave `sequential` out"
            yield draft.problem(part.steps, what, "an arm that is trained, or has a table", advice)


def _looks(draft: Draft) -> Iterator[Problem]:
    method, seeds = draft.sequential.value, draft.seeds.value
    if method is None or seeds is None:
        return
    if seeds.max is None:
        what = "nothing says at how many seeds the sequential claim ends"
        yield draft.problem(draft.seeds.steps, what, "a number of seeds as max", "add `max: ...`")
    if isinstance(method, EProcess):
        yield from _first_look(draft, method, seeds)
    else:
        yield from _planned_looks(draft, method, seeds)


def _first_look(draft: Draft, method: EProcess, seeds: Seeds) -> Iterator[Problem]:
    """Even an infinite t has an e-value that few seeds and a narrow prior keep small."""
    needed = -math.log(draft.alpha)
    paired = draft.design == "paired"
    largest = _log_largest(seeds.min, method.g, paired=paired)
    if largest >= needed:
        return
    more = range(seeds.min + 1, MOST_SEEDS + 1)
    least = next((n for n in more if _log_largest(n, method.g, paired=paired) >= needed), None)
    units = "pairs of seeds" if paired else "seeds per arm"
    what = (
        f"{seeds.min} {units} cannot decide: the largest e-value is {math.exp(largest):.3g}, "
        f"and {1 / draft.alpha:g} is needed"
    )
    expected = f"at least {least}" if least else "a larger g, such as 1"
    yield draft.problem((*draft.seeds.steps, "min"), what, expected, "raise min, or g")


def _log_largest(n: int, g: float, *, paired: bool) -> float:
    """Logarithm of the e-value of n seeds an arm, or pairs, whose t is infinite.

    It is ``1 + g n / 2`` to the power ``n - 1``; of pairs, ``1 + g n`` to half of that.
    """
    return (n - 1) * (math.log1p(g * n) / 2 if paired else math.log1p(g * n / 2))


def _planned_looks(draft: Draft, method: GroupSequential, seeds: Seeds) -> Iterator[Problem]:
    steps: Steps = ("sequential", "looks")
    looks = method.looks
    if any(a >= b for a, b in pairwise(looks)):
        what = "the looks do not grow, and each must have new seeds"
        yield draft.problem(steps, what, "numbers that grow", "put them in order, each once")
        return
    if looks[0] != seeds.plan:
        what = f"the first look is at {looks[0]} seeds, and {seeds.plan} are planned for it"
        advice = "make the two equal"
        yield draft.problem(steps, what, f"a first look at plan, {seeds.plan}", advice)
    if seeds.max is not None and looks[-1] != seeds.max:
        what = f"the last look is at {looks[-1]} seeds, and the claim ends at {seeds.max}"
        yield draft.problem(steps, what, f"a last look at max, {seeds.max}", "make the two equal")


def _order(draft: Draft) -> Iterator[Problem]:
    """The order in time comes from a column of its own, or from the numbers of the seeds."""
    method = draft.sequential.value
    if method is not None and method.order in NO_ORDER:
        what = f"the column '{method.order}' of a table tells no order in time"
        expected = "a column with a number or a date per seed"
        yield draft.problem(
            ("sequential", "order"), what, expected, "name another, or leave it out"
        )


def _diverged(draft: Draft) -> Iterator[Problem]:
    """What becomes of replicates that diverge must not change what earlier looks saw."""
    method, seeds = draft.sequential.value, draft.seeds.value
    if method is None or seeds is None:
        return
    steps = (*draft.seeds.steps, "diverged")
    if seeds.diverged == "worst":
        what = "the worst value so far changes with later seeds, and with it what looks have seen"
        yield draft.problem(steps, what, "invalid, or exclude<=k", "write `exclude<=1`")
    elif isinstance(method, GroupSequential) and seeds.excludable:
        what = "a pair that is left out would leave a planned look without its number of pairs"
        yield draft.problem(steps, what, "invalid", "leave it out, or use the method eprocess_t")


RULES = (_expectations, _arms, _looks, _order, _diverged)
