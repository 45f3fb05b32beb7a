"""What is trained and measured: arms that are alike by mistake, what an arm lacks, its controls."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from repro.errors import Problem
from repro.evidence.base import Needs
from repro.expectations.kinds import kind_of
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.specs.scaled import ScaledClaim
from repro.trainers.derived import with_parts
from repro.trainers.measurement import MeasurementSpec
from repro.trainers.table import MEASUREMENTS
from repro.trainers.trainer import trainer_of


def _arms_differ(claim: ScaledClaim) -> Iterator[Problem]:
    """Two arms of one training would be the same runs, counted twice."""
    if claim.file.control is not None:
        return
    for first, *others in _trainings(claim):
        for name in others:
            mistake = (
                f"arm '{name}' is the same training as arm '{first}', so their runs are the same"
            )
            differ, advice = claim.trainings[name].differs_by
            expected, advice = f"arms that differ {differ}", advice.format(arm=name)
            yield claim.problem(claim.steps("arms", name), mistake, expected, advice)


def _trainings(claim: ScaledClaim) -> list[list[str]]:
    """The names of the arms of each training."""
    found: dict[str, list[str]] = {}
    for name, training in claim.trainings.items():
        found.setdefault(training.digest(), []).append(name)
    return list(found.values())


def _control_runs(claim: ScaledClaim) -> Iterator[Problem]:
    """The arms of a negative control are one training, so its replicates must be others."""
    if claim.file.control is None:
        return
    count = max(claim.seeds.plan, claim.seeds.max or 0)
    for names in _trainings(claim):
        for name, other in combinations(names, 2):
            low, high = sorted(claim.arms[each].first_seed for each in (name, other))
            if high - low < count:
                mistake = (
                    f"its {count} replicates overlap those of arm '{name}', so some are the same"
                )
                expected = f"numbers that are {count} or more apart"
                steps = (*claim.steps("arms", other), "first_seed")
                yield claim.problem(steps, mistake, expected, f"write `first_seed: {low + count}`")


def _control_decides(claim: ScaledClaim) -> Iterator[Problem]:
    """A negative control is about a difference between arms that are the same."""
    unread = len(claim.evidence) < len(claim.arms)  # such an arm may be the same as another
    if claim.file.control is None or unread:
        return
    same = [set(names) for names in _trainings(claim) if len(names) > 1]
    for _, expectation in claim.decisive():
        kind = kind_of(expectation)
        differs = kind.compares_means and kind.either_way(expectation)
        if differs and any(names.issuperset(expectation.of) for names in same):
            return
    mistake = "no decisive expectation compares two arms that are the same"
    expected = "kind difference, direction different, of two arms with one configuration"
    advice = "give two arms one configuration, and first_seed to the second; or remove control"
    yield claim.problem(("control",), mistake, expected, advice)


def _comparable(claim: ScaledClaim) -> Iterator[Problem]:
    """What is not trained here cannot be shown to have been trained alike."""
    comparable = claim.file.comparable
    if comparable.parameters_within is None and not comparable.same:
        return
    unknown = [f"'{name}'" for name in claim.arms if name not in claim.trained]
    if unknown:
        mistake = (
            f"nothing is known of the training of {', '.join(unknown)}, so nothing is comparable"
        )
        advice = "remove comparable, or give every arm a configuration"
        yield claim.problem(("comparable",), mistake, "arms that are trained here", advice)


def _printed_numbers(claim: ScaledClaim) -> Iterator[Problem]:
    """A standard deviation that no numbers have, and a mean that these cannot have."""
    for name, arm in claim.arms.items():
        for measurement, printed in (arm.source.printed or {}).items():
            spec = claim.measurements.get(measurement)
            scale = None if spec is None else spec.value_scale
            refused = None if scale is None else scale.outside(float(printed.mean))
            if refused is not None:
                steps = (*claim.steps("arms", name), "published", measurement, "mean")
                yield claim.problem(steps, *refused)
            if printed.sd is not None and float(printed.sd) < 0:
                mistake = f"a standard deviation is never negative, and this is {printed.sd}"
                steps = (*claim.steps("arms", name), "published", measurement, "sd")
                yield claim.problem(steps, mistake, "a number of at least 0", "copy it as printed")


def _no_idle_settings(claim: ScaledClaim) -> Iterator[Problem]:
    """A setting that changes nothing would look like a difference between arms."""
    for name, training in claim.trainings.items():
        for idle in trainer_of(training).idle(training):
            mistake = f"{idle.setting} of arm '{name}' has no effect: {idle.why}"
            expected = "only settings that have an effect"
            yield claim.problem(claim.steps("arms", name), mistake, expected, idle.advice)


def _can_be_trained(claim: ScaledClaim) -> Iterator[Problem]:
    """What the trainer of an arm says that it cannot be trained with."""
    for name, training in claim.trainings.items():
        whose, where = f"of arm '{name}'", "the arm's override"
        for words in trainer_of(training).mistakes(training, whose, where):
            yield claim.problem(claim.steps("arms", name), *words)


def _measurements_apply(claim: ScaledClaim) -> Iterator[Problem]:
    """Some arm that is trained has it, and each of which it is read; the first that has not."""
    for key, measurement in claim.measurements.items():
        steps = claim.steps("measurements", key)
        found = list(measurement.mistakes())
        trainings = claim.trainings if measurement.trainers else {}
        having = {name for name, training in trainings.items() if measurement.taken_of(training)}
        reading = {
            name
            for each in claim.expectations
            if key in with_parts(each.reads, claim.measurements)
            for name in each.of
        }
        reading.update(*(each.named for each in claim.file.canaries if each.measurement == key))
        asked = having | reading if having else set(trainings)
        asked_of = ((name, trainings[name]) for name in trainings if name in asked)
        unsuited = (
            list(measurement.of_arm(name).unsuited(each, f"arm '{name}'"))
            for name, each in asked_of
        )
        found += next(filter(None, unsuited), [])
        found += _settings_of_nothing(claim, measurement)
        for setting, words in found:
            yield claim.problem((*steps, setting) if setting else steps, *words)


def _settings_of_nothing(
    claim: ScaledClaim, measurement: MeasurementSpec
) -> Iterator[tuple[str, Words]]:
    """Settings for an arm that is not measured here, where others are."""
    for key, arms in measurement.named_arms.items() if claim.trained else ():
        for name in arms:
            if name in claim.arms and name not in claim.trained:
                mistake = f"arm '{name}' is not trained here, so nothing of it is measured"
                yield key, (mistake, "arms that are trained here", "leave it out")


def _structural_bounds(claim: ScaledClaim) -> Iterator[Problem]:
    unbounded = _unbounded(claim)
    structural = (
        ((*steps, key, "value"), bound)
        for steps, bound in claim.placed()
        for key in kind_of(bound).structural(bound)
    )
    for steps, bound in structural:
        if bound.of[0] in unbounded:
            expected = f"a number, or an arm with a bound at every scale: {_bounded(claim)}"
            advice = "write the limit as a number, or name another arm"
            yield claim.problem(steps, unbounded[bound.of[0]], expected, advice)
        name, measurement = bound.measurement, claim.measurements.get(bound.measurement)
        if measurement is not None and not measurement.bounded:
            kind = " or ".join(key for key, each in _built_in().items() if each.bounded)
            mistake = f"the structural bound is one of {kind}, and '{name}' is no {kind}"
            yield claim.problem(steps, mistake, "a number", "write the limit as a number")


def _built_in() -> dict[str, type[MeasurementSpec]]:
    """The measurements that are built in, by their kinds."""
    return {name: MEASUREMENTS.get(name) for name in MEASUREMENTS.names()}


def _controls(claim: ScaledClaim) -> Iterator[Problem]:
    """What is trained is controlled wherever an expectation reads what needs a control."""
    controlled = {(control.measurement, control.kind) for control in claim.file.canaries}
    unknown = any(name not in claim.measurements for name, _ in controlled)  # may be any of them
    if unknown or not claim.trained:
        return
    reads = (name for each in claim.expectations for name in each.reads)
    for name in with_parts(reads, claim.measurements):
        measurement = claim.measurements.get(name)
        needed = () if measurement is None else measurement.controls
        kinds = [kind for kind in needed if (name, kind) not in controlled]
        if measurement is not None and kinds:
            missing = " or ".join(kinds)
            mistake = f"nothing controls this {measurement.kind}: no control of kind {missing}"
            advice = f"add {{id: ..., kind: {kinds[0]}, measurement: {name}}} to canaries"
            expected = f"controls of kinds {', '.join(needed)}"
            yield claim.problem(("measurements", name), mistake, expected, advice)


def _controls_apply(claim: ScaledClaim) -> Iterator[Problem]:
    unbounded = _unbounded(claim)
    for number, control in enumerate(claim.file.canaries):
        measurement = claim.measurements.get(control.measurement)
        if measurement is not None and control.kind not in measurement.controls:
            having = (name for name, each in _built_in().items() if control.kind in each.controls)
            kind = " or ".join(having)
            mistake = (
                f"a control of kind {control.kind} controls measurements of kind {kind}, and this "
                f"is of kind {measurement.kind}"
            )
            steps: Steps = ("canaries", number, "measurement")
            yield claim.problem(steps, mistake, f"a measurement of kind {kind}", "name another")
        if why := control.without_effect(trained=bool(claim.trained)):
            mistake = f"a control of kind {control.kind} {why}"
            steps = ("canaries", number, "kind")
            yield claim.problem(steps, mistake, "an arm that is trained", "remove it")
        for position, name in enumerate(control.named):
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
    untrained = (name for name in claim.arms if name not in claim.trained)
    known = "no structure is known of arm '{}', which is not trained here"
    found = {name: known.format(name) for name in untrained}
    for name, training in claim.trainings.items():
        if training.bound is None:
            found[name] = f"no structure bounds the rank of arm '{name}'{training.why_unbounded}"
    return found


def _sources_suit(claim: ScaledClaim) -> Iterator[Problem]:
    """What a source of evidence declares has something in the claim that it is about."""
    series = any(getattr(each, "reduce", None) for each in claim.measurements.values())
    needs = Needs(series=series, unit=claim.seeds.unit, sources=claim.seeds.read_by)
    for name, arm in claim.arms.items():
        for steps, words in arm.source.unsuited(needs, name):
            yield claim.problem((*claim.steps("arms", name), *steps), *words)


RULES = (
    _arms_differ,
    _control_runs,
    _control_decides,
    _comparable,
    _printed_numbers,
    _no_idle_settings,
    _can_be_trained,
    _measurements_apply,
    _structural_bounds,
    _controls,
    _controls_apply,
    _sources_suit,
)
