"""Designs with which nothing could be decided: pairs, families, numbers of seeds, and looks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from repro.errors import Problem
from repro.expectations.base import LEAST_SEEDS
from repro.expectations.declared import Sequential
from repro.expectations.kinds import KINDS, kind_of
from repro.schema.messages import listed
from repro.schema.numbers import number_of
from repro.schema.yaml import Steps
from repro.specs.claim import AuthorSource, Seeds
from repro.specs.scaled import ScaledClaim

MOST_NUMBERS = 10_000
"""No more seeds than this can be planned."""

NO_ORDER = ("arm", "measurement", "value", "state")
NO_UNIT = (*NO_ORDER, "task")


def _same_seeds(claim: ScaledClaim) -> Iterator[Problem]:
    """Replicates of one number share their randomness, so all trained arms start at one number."""
    if claim.design != "paired":
        return
    first = {name: claim.arms[name].first_seed for name in claim.trained}
    for name, number in first.items():
        least = min(first.values())
        if number != least:
            other = next(arm for arm, seed in first.items() if seed == least)
            mistake = f"its seeds start at {number}, and those of arm '{other}' at {least}: "
            mistake += "replicates of different numbers share no randomness, so they are no pairs"
            advice = "let both start at the same seed, or write `design: independent`"
            yield claim.problem(
                (*claim.steps("arms", name), "first_seed"), mistake, f"{least}", advice
            )


def _unseeded(claim: ScaledClaim) -> Iterator[Problem]:
    """Runs without a seed share nothing with any other: a pair of them is a pair by chance."""
    if claim.design != "paired":
        return
    for name, training in claim.trainings.items():
        if name in claim.trained and not training.seeded:
            mistake = f"arm '{name}' takes no seed, so no run of another arm shares anything with "
            mistake += "one of its own"
            advice = "write `design: independent`, or give the program its seed"
            yield claim.problem(("design",), mistake, "a seed in every arm", advice)


def _family(claim: ScaledClaim) -> Iterator[Problem]:
    """A family that leaves out the claim itself, or asks for evidence that it lacks."""
    family, name = claim.file.family, claim.file.id
    if family is None:
        return
    if name not in family.members:
        mistake = f"the claim itself, '{name}', is not among the members of its family"
        yield claim.problem(("family", "members"), mistake, f"a list with {name}", f"add {name}")
    for twice in dict.fromkeys(a for a, b in pairwise(sorted(family.members)) if a == b):
        mistake = f"claim '{twice}' is named twice"
        yield claim.problem(
            ("family", "members"), mistake, "every claim once", "remove one of the two"
        )
    sequential = claim.file.sequential
    if family.method == "e_bh" and (sequential is None or sequential.g is None):
        mistake = "e_bh joins e-values, and only the method eprocess_t has them"
        advice = "write `method: holm`, or add `sequential: {method: eprocess_t}`"
        yield claim.problem(("family", "method"), mistake, "one of holm, bh", advice)


def _paper_scale(claim: ScaledClaim) -> Iterator[Problem]:
    """The scale `paper` is the experiment of a paper, and a claim of its author has none."""
    if claim.scale == "paper" and isinstance(claim.file.source, AuthorSource):
        mistake = "the scale paper is a paper's experiment, and no paper prints this claim"
        advice = "give the scale another name, or leave scales out"
        yield claim.document.problem(
            ("scales",), mistake, "another name", advice, at=("paper",), key=True
        )


def _seeds(claim: ScaledClaim) -> Iterator[Problem]:
    seeds, steps, k = claim.seeds, claim.steps("seeds"), claim.seeds.excludable
    if seeds.min > seeds.plan:
        mistake = f"{seeds.plan} planned seeds can never be the {seeds.min} that are needed"
        advice = "plan more, or need fewer"
        yield claim.problem((*steps, "plan"), mistake, f"at least {seeds.min}", advice)
    elif k < seeds.min and seeds.plan - k < seeds.min:
        mistake = (
            f"with {number_of(k, 'diverged seed')}, {seeds.plan - k} are left of {seeds.min} needed"
        )
        advice = f"plan {seeds.min + k}, or allow fewer to diverge"
        yield claim.problem((*steps, "plan"), mistake, f"at least {seeds.min + k}", advice)
    if k >= seeds.min:
        mistake = f"{k} seeds may diverge, as many as the verdict rests on"
        expected = f"fewer than min, {seeds.min}"
        yield claim.problem((*steps, "diverged"), mistake, expected, "allow fewer")
    if seeds.max is not None and seeds.max < seeds.plan:
        mistake = f"the claim ends at {seeds.max} seeds, before the {seeds.plan} that are planned"
        advice = "raise max, or plan fewer"
        yield claim.problem((*steps, "max"), mistake, f"at least {seeds.plan}", advice)
    if seeds.numbers is not None:
        first, last = seeds.numbers
        count = last - first + 1
        if not seeds.plan <= count <= MOST_NUMBERS:
            mistake = f"numbers {first} to {last} are those of {max(count, 0)} seeds"
            expected = f"from {seeds.plan} (plan) to {MOST_NUMBERS:,} numbers"
            advice = "give the first and the last number, as in [0, 9]"
            yield claim.problem((*steps, "numbers"), mistake, expected, advice)


def _seed_values(claim: ScaledClaim) -> Iterator[Problem]:
    """Seeds that are listed are all there are, each once, and the same of every arm."""
    values, steps = claim.seeds.values, claim.steps("seeds")
    if values is None:
        return
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        mistake, advice = f"seed {twice} is listed twice", "remove one of the two"
        yield claim.problem((*steps, "values"), mistake, "each seed once", advice)
    if claim.seeds.plan != len(values):
        mistake = f"{claim.seeds.plan} seeds are planned, and {len(values)} are listed"
        yield claim.problem((*steps, "plan"), mistake, f"{len(values)}", "leave plan out")
    if claim.file.sequential is not None or claim.file.control is not None:
        mistake = "seeds that are listed cannot be continued, and this claim asks for more of them"
        advice = "write min and plan, and leave values out"
        yield claim.problem((*steps, "values"), mistake, "min and plan", advice)
    for name, arm in claim.arms.items():
        if arm.first_seed:
            steps, mistake = claim.steps("arms", name), "the seeds are listed, so none is the first"
            advice = "leave it out, or write min and plan in place of values"
            yield claim.problem((*steps, "first_seed"), mistake, "no first_seed", advice)


def _units(claim: ScaledClaim) -> Iterator[Problem]:
    """Evaluations are averaged within a unit where it is said which unit a row or run is of."""
    unit, steps = claim.seeds.unit, (*claim.steps("seeds"), "unit")
    if unit is None:
        if claim.seeds.evaluations is not None:
            mistake, advice = "there are no units that have evaluations", "add `unit`, or remove it"
            place = (*claim.steps("seeds"), "evaluations")
            yield claim.problem(place, mistake, "a claim with `unit`", advice)
        return
    if unit in NO_UNIT:
        mistake = f"the column '{unit}' of a table does not number units"
        expected = "`seed`, or a column with the number of a training run"
        yield claim.problem(steps, mistake, expected, "name another, or leave it out")
    for name, arm in claim.arms.items():
        if arm.source.printed is None and not arm.source.has_units:
            mistake = f"arm '{name}' has no table or import, and unit is a column or field of one"
            advice = "leave it out, or give the arm a table"
            yield claim.problem(steps, mistake, "arms that have a table or an import", advice)
    if claim.file.sequential is not None:
        mistake = "rows that are averaged have no order in time, by which this claim is looked at"
        advice = "leave it out, and write a table with a row for each unit"
        yield claim.problem(steps, mistake, "a claim without `sequential`", advice)


def _items(claim: ScaledClaim) -> Iterator[Problem]:
    """Items are evaluations of a unit, and clusters those of items."""
    seeds, steps = claim.seeds, claim.steps("seeds")
    if seeds.items is not None and seeds.unit is None:
        mistake, advice = (
            "items are evaluations of a run, and no unit is declared",
            "add unit: seed",
        )
        yield claim.problem((*steps, "items"), mistake, "a claim with `unit`", advice)
    if seeds.clusters is not None and seeds.items is None:
        mistake, advice = "clusters are those of items, and none are declared", "add `items`"
        yield claim.problem((*steps, "clusters"), mistake, "a claim with `items`", advice)
    for key in ("items", "clusters"):
        column = getattr(seeds, key)
        if column is not None and (column in NO_UNIT or seeds.read_by.count(column) > 1):
            mistake = f"the column '{column}' says something else, or is named twice"
            expected = "a column that says which question, or which group of them, a row is about"
            yield claim.problem((*steps, key), mistake, expected, "name another, or remove it")


def _sources(claim: ScaledClaim) -> Iterator[Problem]:
    """Sources of variation are columns of a table, each named once, and no other of its columns."""
    steps = (*claim.steps("seeds"), "sources")
    for position, source in enumerate(claim.seeds.drawn):
        if source in NO_UNIT or source in claim.seeds.drawn[:position]:
            mistake = f"the column '{source}' says something else, or stands there twice"
            expected = "columns that say what was drawn for a row, such as split"
            yield claim.problem((*steps, position), mistake, expected, "name another, or remove it")
        elif source == "seed" and claim.seeds.unit is None:
            mistake = "each row has a seed of its own, so its scatter is all that there is"
            expected = "columns that say what was drawn for a row, such as split"
            advice = "name another, or add `unit`, of which a seed may have several rows"
            yield claim.problem((*steps, position), mistake, expected, advice)
    if not claim.seeds.drawn:
        return
    if any(kind_of(expectation).tasks(expectation) for _, expectation in claim.placed()):
        mistake = "runs of several tasks differ by their tasks, and their scatter is not one"
        yield claim.problem(steps, mistake, "a claim over no tasks", "leave the sources out")
    for name, arm in claim.arms.items():
        if arm.source.printed is None and not arm.source.has_units:
            mistake = f"arm '{name}' has no table or import, and sources are columns of one"
            advice = "leave them out, or give the arm a table"
            yield claim.problem(steps, mistake, "arms that have a table or an import", advice)


def _enough_seeds(claim: ScaledClaim) -> Iterator[Problem]:
    """Few seeds are one mistake, however many expectations suffer from it."""
    alpha, paired = claim.file.alpha, claim.design == "paired"
    needed = {
        expectation.id: kind_of(expectation).least_seeds(expectation, alpha, paired=paired)
        for _, expectation in claim.decisive()
    }
    starved = [name for name, least in needed.items() if least > claim.seeds.min]
    if not starved:
        yield from _few_runs(claim)
    else:
        least = max(needed[name] for name in starved)
        many = number_of(claim.seeds.min, "seed")
        verb = "is" if claim.seeds.min == 1 else "are"
        mistake = f"{many} per arm {verb} not accepted for {', '.join(starved)}"
        expected = f"at least {least} seeds at alpha {alpha:g}"
        advice = "raise min, or make the expectation `role: context`"
        over_tasks = any(kind_of(each).tasks(each) for _, each in claim.decisive())
        if claim.seeds.min == 1 and not over_tasks:
            advice += "; a single run is held against others by kind `within`"
        yield claim.problem((*claim.steps("seeds"), "min"), mistake, expected, advice)


def _few_runs(claim: ScaledClaim) -> Iterator[Problem]:
    """A single run will do for some arms of some kinds; what scatters needs several."""
    for _, expectation in claim.placed():
        lone = kind_of(expectation).lone(expectation)
        starved = [name for name in expectation.of if name not in lone]
        if lone:
            starved = [name for name in starved if name in claim.trained]
        least = LEAST_SEEDS if lone else 2
        if not starved or claim.seeds.min >= least:
            continue
        many = number_of(claim.seeds.min, "seed")
        mistake, advice = f"{many} per arm cannot be judged by '{expectation.id}'", "raise min"
        if lone:
            mistake += f", which takes the scatter from arm '{starved[0]}'"
            advice += f", or give '{starved[0]}' a table, or printed numbers"
        steps = (*claim.steps("seeds"), "min")
        yield claim.problem(steps, mistake, f"at least {least} seeds", advice)
        return


def _diverged(claim: ScaledClaim) -> Iterator[Problem]:
    """A replicate that diverged has a place in an order, the last, but no value."""
    if claim.seeds.diverged != "worst" or claim.file.sequential is not None:
        return
    sized = [each.id for _, each in claim.placed() if not kind_of(each).by_order(each)]
    if sized:
        mistake = (
            f"a run that diverges is worst, but by no amount that {', '.join(sized)} could use"
        )
        tests = "brunner_munzel, separation, bound, jonckheere, kendall, proportion"
        expected = f"invalid or exclude<=k; or tests of order alone: {tests}"
        yield claim.problem(
            (*claim.steps("seeds"), "diverged"), mistake, expected, "write `exclude<=1`"
        )


def _sequential_tests(claim: ScaledClaim) -> Iterator[Problem]:
    """Only means, and contrasts of two, have a sequential test."""
    for steps, expectation in claim.decisive():
        if not kind_of(expectation).on_means:
            mistake = f"kind {expectation.kind} has no sequential test"
            expected = listed(name for name in KINDS.names() if KINDS.get(name).on_means)
            advice = "make it `role: context`, or leave `sequential` out"
            yield claim.problem((*steps, "kind"), mistake, expected, advice)


def _growing_arms(claim: ScaledClaim) -> Iterator[Problem]:
    read = {name for _, expectation in claim.decisive() for name in expectation.of}
    for name, arm in claim.arms.items():
        if name in read and arm.source.printed is not None:
            mistake = f"the printed numbers of arm '{name}' do not grow seed by seed"
            advice = "give it a configuration or a table, or leave `sequential` out"
            yield claim.problem(
                claim.steps("arms", name), mistake, "an arm that is trained, or has a table", advice
            )


def _sequential(claim: ScaledClaim) -> Iterator[Problem]:
    method, seeds = claim.file.sequential, claim.seeds
    if method is None:
        return
    yield from _sequential_tests(claim)
    yield from _growing_arms(claim)
    yield from _diverged_at_looks(claim, method)
    if method.order in NO_ORDER:  # else a column of its own, or the numbers of the seeds
        mistake = f"the column '{method.order}' of a table tells no order in time"
        expected = "a column with a number or a date per seed"
        advice = "name another, or leave it out"
        yield claim.problem(("sequential", "order"), mistake, expected, advice)
    if seeds.max is None:
        mistake = "nothing says at how many seeds the sequential claim ends"
        yield claim.problem(
            claim.steps("seeds"), mistake, "a number of seeds as max", "add `max: ...`"
        )
    if method.g is not None:
        yield from _first_look(claim, method.g, seeds)
    if method.looks:
        yield from _planned_looks(claim, method.looks, seeds)


def _first_look(claim: ScaledClaim, g: float, seeds: Seeds) -> Iterator[Problem]:
    """Even an infinite t has an e-value that few seeds and a narrow prior keep small."""
    needed = -math.log(claim.file.alpha)
    alone = any(len(expectation.of) == 1 for _, expectation in claim.decisive())
    paired = claim.design == "paired" or alone
    largest = _log_largest(seeds.min, g, paired=paired)
    if largest >= needed:
        return
    more = range(seeds.min + 1, MOST_NUMBERS + 1)
    least = next((n for n in more if _log_largest(n, g, paired=paired) >= needed), None)
    units = "pairs of seeds" if claim.design == "paired" else "seeds per arm"
    mistake = (
        f"{seeds.min} {units} cannot decide: the largest e-value is {math.exp(largest):.3g}, "
        f"and {1 / claim.file.alpha:g} is needed"
    )
    expected = f"at least {least}" if least else "a larger g, such as 1"
    yield claim.problem((*claim.steps("seeds"), "min"), mistake, expected, "raise min, or g")


def _log_largest(n: int, g: float, *, paired: bool) -> float:
    """Logarithm of the e-value of n seeds per arm, or pairs, whose t is infinite."""
    return (n - 1) * (math.log1p(g * n) / 2 if paired else math.log1p(g * n / 2))


def _planned_looks(claim: ScaledClaim, looks: tuple[int, ...], seeds: Seeds) -> Iterator[Problem]:
    steps: Steps = ("sequential", "looks")
    if any(a >= b for a, b in pairwise(looks)):
        mistake = "the looks do not grow, and each must have new seeds"
        yield claim.problem(steps, mistake, "numbers that grow", "put them in order, each once")
        return
    if looks[0] != seeds.plan:
        mistake = f"the first look is at {looks[0]} seeds, and {seeds.plan} are planned for it"
        advice = "make the two equal"
        yield claim.problem(steps, mistake, f"a first look at plan, {seeds.plan}", advice)
    if seeds.max is not None and looks[-1] != seeds.max:
        mistake = f"the last look is at {looks[-1]} seeds, and the claim ends at {seeds.max}"
        yield claim.problem(
            steps, mistake, f"a last look at max, {seeds.max}", "make the two equal"
        )


def _diverged_at_looks(claim: ScaledClaim, method: Sequential) -> Iterator[Problem]:
    """What becomes of replicates that diverge must not change what earlier looks saw."""
    steps = (*claim.steps("seeds"), "diverged")
    if claim.seeds.diverged == "worst":
        mistake = (
            "the worst value so far changes with later seeds, and with it what looks have seen"
        )
        yield claim.problem(steps, mistake, "invalid, or exclude<=k", "write `exclude<=1`")
    elif method.looks and claim.seeds.excludable:
        mistake = "a pair that is left out would leave a planned look without its number of pairs"
        yield claim.problem(steps, mistake, "invalid", "leave it out, or use the method eprocess_t")


RULES = (
    _paper_scale,
    _same_seeds,
    _unseeded,
    _family,
    _seeds,
    _seed_values,
    _units,
    _items,
    _sources,
    _enough_seeds,
    _diverged,
    _sequential,
)
