"""Measurements that an arm does not have, and ranks that nothing controls or bounds."""

from __future__ import annotations

from collections.abc import Iterator

from repro.errors import Problem
from repro.expectations.kinds import Expectation, kind_of
from repro.schema.yaml import Steps
from repro.specs.scaled import ScaledClaim


def _measurements_apply(claim: ScaledClaim) -> Iterator[Problem]:
    """Some arm that is trained has it, and each of which it is read; the first that has not."""
    for key, measurement in claim.measurements.items():
        steps = claim.steps("measurements", key)
        found = list(measurement.mistakes())
        trainings = claim.trainings if measurement.trainers else {}
        having = {name for name, training in trainings.items() if measurement.taken_of(training)}
        asked = having | _read_of(claim, key) if having else set(trainings)
        for name, training in trainings.items():
            if name not in asked:
                continue
            unsuited = list(measurement.unsuited(training, f"arm '{name}'"))
            found += unsuited
            if unsuited:
                break
        for setting, words in found:
            yield claim.problem((*steps, setting) if setting else steps, *words)


def _read_of(claim: ScaledClaim, key: str) -> set[str]:
    """The arms of which an expectation or a canary reads a measurement."""
    read = {name for one in claim.expectations if key in one.reads for name in one.of}
    return read.union(*(one.named for one in claim.file.canaries if one.measurement == key))


def _structural_bounds(claim: ScaledClaim) -> Iterator[Problem]:
    for steps, expectation in claim.placed():
        for key in kind_of(expectation).structural(expectation):
            yield from _structural(claim, expectation, (*steps, key, "value"))


def _structural(claim: ScaledClaim, bound: Expectation, steps: Steps) -> Iterator[Problem]:
    unbounded = _unbounded(claim)
    if bound.of[0] in unbounded:
        expected = f"a number, or an arm with a bound at every scale: {_bounded(claim)}"
        advice = "write the limit as a number, or name another arm"
        yield claim.problem(steps, unbounded[bound.of[0]], expected, advice)
    measurement = claim.measurements.get(bound.measurement)
    if measurement is not None and not measurement.bounded:
        what = f"the structural bound is one of rank, and '{bound.measurement}' is no rank"
        yield claim.problem(steps, what, "a number", "write the limit as a number")


def _canaries(claim: ScaledClaim) -> Iterator[Problem]:
    """What is trained is controlled wherever an expectation reads what needs a control.

    A canary of an unknown measurement may be meant for any of them.
    """
    controlled = {(canary.measurement, canary.kind) for canary in claim.file.canaries}
    unknown = any(name not in claim.measurements for name, _ in controlled)
    if unknown or not claim.trained:
        return
    for name in dict.fromkeys(
        name for expectation in claim.expectations for name in expectation.reads
    ):
        measurement = claim.measurements.get(name)
        needed = () if measurement is None else measurement.controls
        kinds = [kind for kind in needed if (name, kind) not in controlled]
        if measurement is not None and kinds:
            missing = " or ".join(kinds)
            what = f"nothing controls this {measurement.kind}: no canary of kind {missing}"
            advice = f"add {{id: ..., kind: {kinds[0]}, measurement: {name}}} to canaries"
            expected = f"canaries of kinds {', '.join(needed)}"
            yield claim.problem(("measurements", name), what, expected, advice)


def _canaries_apply(claim: ScaledClaim) -> Iterator[Problem]:
    unbounded = _unbounded(claim)
    for number, canary in enumerate(claim.file.canaries):
        measurement = claim.measurements.get(canary.measurement)
        if measurement is not None and canary.kind not in measurement.controls:
            what = f"a canary of kind {canary.kind} controls ranks, and this is no rank"
            steps: Steps = ("canaries", number, "measurement")
            yield claim.problem(steps, what, "a measurement of kind rank", "name a rank")
        if why := canary.without_effect(trained=bool(claim.trained)):
            what = f"a canary of kind {canary.kind} {why}"
            steps = ("canaries", number, "kind")
            yield claim.problem(steps, what, "an arm that is trained", "remove it")
        for position, name in enumerate(canary.named):
            if name in unbounded:
                steps = ("canaries", number, "arms", position)
                expected = f"arms with a bound at every scale: {_bounded(claim)}"
                yield claim.problem(steps, unbounded[name], expected, "name other arms")


def _bounded(claim: ScaledClaim) -> str:
    """Which models have a bound, of those that are trained here."""
    words = {training.bounded for training in claim.trainings.values() if training.bounded}
    return ", or ".join(sorted(words)) or "of a trainer whose models have one"


def _unbounded(claim: ScaledClaim) -> dict[str, str]:
    """Why no structure bounds the rank of an arm, by the arms where that is so."""
    found = {
        name: f"no structure is known of arm '{name}', which is not trained here"
        for name in claim.arms
        if name not in claim.trained
    }
    for name, training in claim.trainings.items():
        if training.rank_bound is None:
            found[name] = f"no structure bounds the rank of arm '{name}'{training.why_unbounded}"
    return found


RULES = (
    _measurements_apply,
    _structural_bounds,
    _canaries,
    _canaries_apply,
)
