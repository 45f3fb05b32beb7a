"""Arms that are one training, by mistake or as a negative control, and what must be equal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from repro.errors import Problem
from repro.expectations.kinds import kind_of
from repro.specs.scaled import ScaledClaim
from repro.trainers.trainer import trainer_of


def _arms_differ(claim: ScaledClaim) -> Iterator[Problem]:
    """Two arms of one training would be the same runs, counted twice."""
    if claim.file.control is not None:
        return
    first: dict[str, str] = {}
    for training, names in _trainings(claim).items():
        for name in names:
            same = first.setdefault(training, name)
            if same != name:
                what = (
                    f"arm '{name}' is the same training as arm '{same}', so their runs are the same"
                )
                expected = "arms that differ in model, corpus or recipe"
                advice = f"name another configuration, or override something in '{name}'"
                yield claim.problem(claim.steps("arms", name), what, expected, advice)


def _trainings(claim: ScaledClaim) -> dict[str, list[str]]:
    """The names of the arms of each training, by its digest."""
    found: dict[str, list[str]] = {}
    for name, training in claim.trainings.items():
        found.setdefault(training.digest(), []).append(name)
    return found


def _control_runs(claim: ScaledClaim) -> Iterator[Problem]:
    """The arms of a negative control are one training, so its replicates must be others."""
    if claim.file.control is None:
        return
    count = max(claim.seeds.plan, claim.seeds.max or 0)
    for names in _trainings(claim).values():
        for name, other in combinations(names, 2):
            low, high = sorted(claim.arms[each].first_seed for each in (name, other))
            if high - low < count:
                what = f"its {count} replicates overlap those of arm '{name}', so some are the same"
                expected = f"numbers that are {count} or more apart"
                steps = (*claim.steps("arms", other), "first_seed")
                yield claim.problem(steps, what, expected, f"write `first_seed: {low + count}`")


def _control_decides(claim: ScaledClaim) -> Iterator[Problem]:
    """A negative control is about a difference between arms that are the same.

    While the evidence of an arm cannot be read, that arm may be the same as another.
    """
    if claim.file.control is None or len(claim.evidence) < len(claim.arms):
        return
    same = [set(names) for names in _trainings(claim).values() if len(names) > 1]
    compared = [
        set(expectation.of)
        for _, expectation in claim.decisive()
        if kind_of(expectation).compares_means and kind_of(expectation).either_way(expectation)
    ]
    if any(arms <= names for arms in compared for names in same):
        return
    what = "no decisive expectation compares two arms that are the same"
    expected = "kind difference, direction different, of two arms with one configuration"
    advice = "give two arms one configuration, and first_seed to the second; or remove control"
    yield claim.problem(("control",), what, expected, advice)


def _comparable(claim: ScaledClaim) -> Iterator[Problem]:
    """What is not trained here cannot be shown to have been trained alike."""
    comparable = claim.file.comparable
    if comparable.parameters_within is None and not comparable.same:
        return
    unknown = [f"'{name}'" for name in claim.arms if name not in claim.trained]
    if unknown:
        what = f"nothing is known of the training of {', '.join(unknown)}, so nothing is comparable"
        advice = "remove comparable, or give every arm a configuration"
        yield claim.problem(("comparable",), what, "arms that are trained here", advice)


def _printed_numbers(claim: ScaledClaim) -> Iterator[Problem]:
    """A standard deviation that no numbers have."""
    for name, arm in claim.arms.items():
        for measurement, printed in (arm.source.printed or {}).items():
            if printed.sd is not None and float(printed.sd) < 0:
                what = f"a standard deviation is never negative, and this is {printed.sd}"
                steps = (*claim.steps("arms", name), "published", measurement, "sd")
                yield claim.problem(steps, what, "a number of at least 0", "copy it as printed")


def _no_idle_settings(claim: ScaledClaim) -> Iterator[Problem]:
    """A setting that changes nothing would look like a difference between arms."""
    for name, training in claim.trainings.items():
        for idle in trainer_of(training).idle(training):
            what = f"{idle.setting} of arm '{name}' has no effect: {idle.why}"
            expected = "only settings that have an effect"
            yield claim.problem(claim.steps("arms", name), what, expected, idle.advice)


def _can_be_trained(claim: ScaledClaim) -> Iterator[Problem]:
    """What the trainer of an arm says that it cannot be trained with."""
    for name, training in claim.trainings.items():
        whose, where = f"of arm '{name}'", "the arm's override"
        for words in trainer_of(training).mistakes(training, whose, where):
            yield claim.problem(claim.steps("arms", name), *words)


RULES = (
    _arms_differ,
    _control_runs,
    _control_decides,
    _comparable,
    _printed_numbers,
    _no_idle_settings,
    _can_be_trained,
)
