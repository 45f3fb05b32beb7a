"""Arms that are one training, by mistake or as a negative control, and what must be equal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from repro.errors import Problem
from repro.specs.arm import Arm
from repro.specs.draft import Draft
from repro.specs.expectation import Difference


def _arms_differ(draft: Draft) -> Iterator[Problem]:
    """Two arms of one training would be the same runs, counted twice."""
    if draft.document.get("control") is not None:
        return
    first: dict[str, str] = {}
    for training, names in _trainings(draft).items():
        for name in names:
            same = first.setdefault(training, name)
            if same != name:
                what = (
                    f"arm '{name}' is the same training as arm '{same}', so their runs are the same"
                )
                expected = "arms that differ in model, corpus or recipe"
                advice = f"name another configuration, or override something in '{name}'"
                yield draft.problem(draft.arms[name].steps, what, expected, advice)


def _trainings(draft: Draft) -> dict[str, list[str]]:
    """The names of the arms of each training, by its digest."""
    found: dict[str, list[str]] = {}
    for name, part in draft.arms.items():
        if part.value is not None and part.value.configuration is not None:
            found.setdefault(part.value.configuration.training().digest(), []).append(name)
    return found


def _control_runs(draft: Draft) -> Iterator[Problem]:
    """The arms of a negative control are one training, so its replicates must be others."""
    seeds = draft.seeds.value
    if draft.document.get("control") is None or seeds is None:
        return
    count = max(seeds.plan, seeds.max or 0)
    for names in _trainings(draft).values():
        for name, other in combinations(names, 2):
            low, high = sorted(draft.arms[each].read().first_seed for each in (name, other))
            if high - low < count:
                what = f"its {count} replicates overlap those of arm '{name}', so some are the same"
                expected = f"numbers that are {count} or more apart"
                steps = (*draft.arms[other].steps, "first_seed")
                yield draft.problem(steps, what, expected, f"write `first_seed: {low + count}`")


def _control_decides(draft: Draft) -> Iterator[Problem]:
    """A negative control is about a difference between arms that are the same."""
    values = [part.value for part in draft.arms.values()]
    if draft.document.get("control") is None or None in values:
        return
    if any(part.value is None for part in draft.expectations):
        return
    same = [set(names) for names in _trainings(draft).values() if len(names) > 1]
    decisive = [one for _, one in draft.decisive() if isinstance(one, Difference)]
    compared = [set(one.of) for one in decisive if one.direction == "different"]
    if any(arms <= names for arms in compared for names in same):
        return
    what = "no decisive expectation compares two arms that are the same"
    expected = "kind difference, direction different, of two arms with one configuration"
    advice = "give two arms one configuration, and first_seed to the second; or remove control"
    yield draft.problem(("control",), what, expected, advice)


def _comparable(draft: Draft) -> Iterator[Problem]:
    """What is not trained here cannot be shown to have been trained alike."""
    wanted = draft.comparable.value
    if wanted is None or (wanted.parameters_within is None and not wanted.same):
        return
    values = {name: part.value for name, part in draft.arms.items()}
    unknown = [f"'{name}'" for name, arm in values.items() if arm and arm.configuration is None]
    if unknown:
        what = f"nothing is known of the training of {', '.join(unknown)}, so nothing is comparable"
        advice = "remove comparable, or give every arm a configuration"
        yield draft.problem(("comparable",), what, "arms that are trained here", advice)


def _printed_numbers(draft: Draft) -> Iterator[Problem]:
    """A standard deviation that no numbers have."""
    for part in draft.arms.values():
        arm: Arm | None = part.value
        for name, printed in ((arm and arm.published) or {}).items():
            if printed.sd is not None and float(printed.sd) < 0:
                what = f"a standard deviation is never negative, and this is {printed.sd}"
                steps = (*part.steps, "published", name, "sd")
                yield draft.problem(steps, what, "a number of at least 0", "copy it as printed")


RULES = (_arms_differ, _control_runs, _control_decides, _comparable, _printed_numbers)
