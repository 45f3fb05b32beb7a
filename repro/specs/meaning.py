"""Well-formed claims that mean nothing: no test could conclude what they ask.

Each rule looks at a claim at one scale and skips what could not be read. A problem of meaning is
a sentence that says why nothing could be concluded; one of shape names a key or a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from repro.errors import Problem
from repro.specs.claim import KnownRank, RankBound
from repro.specs.draft import Draft
from repro.specs.expectation import Bound, Difference, Expectation, Separation
from repro.specs.measurement import Perplexity, Rank
from repro.specs.model import Model
from repro.specs.recipe import Recipe
from repro.specs.yaml import Steps

LEAST_SEEDS = 3
"""Fewest seeds for a decisive test on means: with 2, one degree of freedom, nothing is found."""


def meaning(draft: Draft) -> Iterator[Problem]:
    """Every reason why the claim could not be judged at this scale."""
    for rule in RULES:
        yield from rule(draft)


def _independent(draft: Draft) -> Iterator[Problem]:
    if draft.document.data.get("design") == "paired":
        what = "the paired design needs a paired test, and this version has none"
        yield _problem(draft, ("design",), what, "independent", "write `design: independent`")


def _arms_differ(draft: Draft) -> Iterator[Problem]:
    """Two arms of one training would be the same runs, counted twice."""
    seen: dict[str, str] = {}
    for name, arm in draft.arms.items():
        if arm.value is None:
            continue
        training = arm.value.configuration.training().digest()
        first = seen.setdefault(training, name)
        if first != name:
            what = f"arm '{name}' is the same training as arm '{first}', so their runs are the same"
            expected = "arms that differ in model, corpus or recipe"
            advice = f"name another configuration, or override something in '{name}'"
            yield _problem(draft, arm.steps, what, expected, advice)


def _no_idle_settings(draft: Draft) -> Iterator[Problem]:
    """A setting that changes nothing would look like a difference between arms."""
    for name, arm in draft.arms.items():
        if arm.value is None:
            continue
        configuration = arm.value.configuration
        for setting, reason in idle_settings(configuration.model, configuration.recipe):
            what = f"{setting} of arm '{name}' has no effect: {reason}"
            advice = "leave it out, or change the model"
            yield _problem(draft, arm.steps, what, "only settings that have an effect", advice)


def idle_settings(model: Model, recipe: Recipe) -> Iterator[tuple[str, str]]:
    """Settings that change no number of this model's training, and why."""
    if recipe.dropout.latent and not model.mixes():
        yield "recipe.dropout.latent", f"output {model.output.kind} has no latent contexts"
    if recipe.dropout.hidden and model.layers == 1:
        yield "recipe.dropout.hidden", "with one layer there is nothing between layers"
    if model.layers == 1 and model.hidden_size != model.context_size:
        yield "model.hidden_size", "the only layer has the size context_size; make them equal"
    if recipe.window.max_delta is not None and not recipe.window.random:
        yield "recipe.window.max_delta", "the windows are not random"


def _some_decide(draft: Draft) -> Iterator[Problem]:
    read = [part.value for part in draft.expectations]
    if read and all(value is not None and value.role == "context" for value in read):
        what = "all are shown as context, so that nothing decides the verdict"
        advice = "leave `role: context` out of the one that the claim is about"
        yield _problem(draft, ("expectations",), what, "a decisive expectation", advice)


def _published_rule(draft: Draft) -> Iterator[Problem]:
    for part in draft.expectations:
        value = part.value
        if not isinstance(value, Difference) or value.rule != "as_published":
            continue
        if value.role == "decisive":
            what = "the paper's own rule cannot decide: p above alpha is no evidence of equality"
            advice = "add `role: context`, and let another expectation decide"
            yield _problem(draft, (*part.steps, "rule"), what, "role context", advice)


def _bounds(draft: Draft) -> Iterator[Problem]:
    for part in draft.expectations:
        if not isinstance(part.value, Bound):
            continue
        limits = [key for key in ("at_most", "at_least") if getattr(part.value, key) is not None]
        if len(limits) != 1:
            what = f"a bound with {'two limits' if limits else 'no limit'} says nothing exact"
            advice = "keep one of the two" if limits else "add one of the two"
            yield _problem(draft, part.steps, what, "either at_most or at_least", advice)
        for key in limits:
            if getattr(part.value, key).value == "structural":
                yield from _structural(draft, part.value, (*part.steps, key, "value"))


def _structural(draft: Draft, bound: Bound, steps: Steps) -> Iterator[Problem]:
    name = bound.of[0]
    arm = draft.arms.get(name)
    if arm and arm.value and arm.value.configuration.model.rank_bound() is None:
        yield _problem(
            draft,
            steps,
            _unbounded(draft, name),
            "a number, or an arm with output softmax or moc at every scale",
            "write the limit as a number, or name another arm",
        )
    measurement = draft.measurements.get(bound.measurement)
    if measurement and measurement.value and not isinstance(measurement.value, Rank):
        what = f"the structural bound is one of rank, and '{bound.measurement}' is no rank"
        yield _problem(draft, steps, what, "a number", "write the limit as a number")


def _seeds(draft: Draft) -> Iterator[Problem]:
    seeds = draft.seeds.value
    if seeds is None:
        return
    if seeds.min > seeds.plan:
        what = f"{seeds.plan} planned seeds can never be the {seeds.min} that are needed"
        advice = "plan more, or need fewer"
        yield _problem(draft, (*draft.seeds.steps, "plan"), what, f"at least {seeds.min}", advice)
    elif seeds.diverged_at_most < seeds.min and seeds.plan - seeds.diverged_at_most < seeds.min:
        left = seeds.plan - seeds.diverged_at_most
        what = f"when {seeds.diverged_at_most} seeds diverge, {left} are left of {seeds.min} needed"
        advice = f"plan {seeds.min + seeds.diverged_at_most}, or allow fewer to diverge"
        steps = (*draft.seeds.steps, "plan")
        expected = f"at least min + diverged_at_most, {seeds.min + seeds.diverged_at_most}"
        yield _problem(draft, steps, what, expected, advice)
    if seeds.diverged_at_most >= seeds.min:
        what = f"{seeds.diverged_at_most} seeds may diverge, as many as the verdict rests on"
        steps = (*draft.seeds.steps, "diverged_at_most")
        yield _problem(draft, steps, what, f"fewer than min, {seeds.min}", "allow fewer")


def _enough_seeds(draft: Draft) -> Iterator[Problem]:
    """Few seeds are one mistake, however many expectations suffer from it."""
    seeds = draft.seeds.value
    if seeds is None:
        return
    needed = {
        part.value.id: _least_seeds(part.value, draft.alpha)
        for part in draft.expectations
        if part.value is not None and part.value.role == "decisive"
    }
    starved = [name for name, least in needed.items() if least > seeds.min]
    if starved:
        least = max(needed[name] for name in starved)
        what = f"{seeds.min} seeds an arm cannot decide {', '.join(starved)}"
        expected = f"at least {least} seeds at alpha {draft.alpha:g}"
        advice = "raise min, or make the expectation `role: context`"
        yield _problem(draft, (*draft.seeds.steps, "min"), what, expected, advice)


def _least_seeds(expectation: Expectation, alpha: float) -> int:
    """Fewest seeds an arm with which the expectation could be confirmed.

    Complete separation of n from n has probability 1 / C(2n, n) when the arms are equal.
    """
    if isinstance(expectation, Bound):
        return 1
    if not isinstance(expectation, Separation):
        return LEAST_SEEDS
    n = 1
    while 1 / math.comb(2 * n, n) > alpha:
        n += 1
    return n


def _training_mode(draft: Draft) -> Iterator[Problem]:
    for part in draft.measurements.values():
        value = part.value
        if isinstance(value, Perplexity) and value.mode == "training" and value.split != "train":
            what = f"nothing is trained on the {value.split} split, so mode training has no value"
            advice = "write `split: train`, or leave the mode out"
            yield _problem(draft, (*part.steps, "split"), what, "train", advice)


def _canaries(draft: Draft) -> Iterator[Problem]:
    """Every rank that an expectation reads is controlled by both kinds of canary."""
    if any(
        c.value is None or c.value.measurement not in draft.measurements for c in draft.canaries
    ):
        return
    controlled = {
        (part.value.measurement, part.value.kind) for part in draft.canaries if part.value
    }
    read = dict.fromkeys(part.value.measurement for part in draft.expectations if part.value)
    for name in read:
        measurement = draft.measurements.get(name)
        if not measurement or not isinstance(measurement.value, Rank):
            continue
        kinds = [k for k in ("rank_bound", "known_rank") if (name, k) not in controlled]
        if kinds:
            what = f"nothing controls this rank: no canary of kind {' or '.join(kinds)}"
            advice = f"add {{id: ..., kind: {kinds[0]}, measurement: {name}}} to canaries"
            steps = ("measurements", name)
            yield _problem(draft, steps, what, "canaries of kinds rank_bound, known_rank", advice)


def _canaries_apply(draft: Draft) -> Iterator[Problem]:
    for part in draft.canaries:
        canary = part.value
        if not isinstance(canary, RankBound | KnownRank):
            continue
        measurement = draft.measurements.get(canary.measurement)
        if measurement and measurement.value and not isinstance(measurement.value, Rank):
            what = f"a canary of kind {canary.kind} controls ranks, and this is no rank"
            steps = (*part.steps, "measurement")
            yield _problem(draft, steps, what, "a measurement of kind rank", "name a rank")
        for position, name in enumerate(canary.arms if isinstance(canary, RankBound) else ()):
            arm = draft.arms.get(name)
            if arm and arm.value and arm.value.configuration.model.rank_bound() is None:
                steps = (*part.steps, "arms", position)
                expected = "arms with output softmax or moc at every scale"
                yield _problem(draft, steps, _unbounded(draft, name), expected, "name other arms")


def _unbounded(draft: Draft, name: str) -> str:
    kind = draft.arms[name].read().configuration.model.output.kind
    return f"no structure bounds the rank of arm '{name}' when its output is {kind}"


def _problem(draft: Draft, steps: Steps, what: str, expected: str, advice: str) -> Problem:
    document = draft.document
    within = steps[:-1] if isinstance(steps[-1], int) and len(steps) > 2 else steps
    return Problem(document.place(steps), f"{document.name(within)}: {what}", expected, advice)


RULES: tuple[Callable[[Draft], Iterator[Problem]], ...] = (
    _independent,
    _arms_differ,
    _no_idle_settings,
    _some_decide,
    _published_rule,
    _bounds,
    _seeds,
    _enough_seeds,
    _training_mode,
    _canaries,
    _canaries_apply,
)
