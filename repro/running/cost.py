"""What a store lacks of a run, and how much work that is."""

from __future__ import annotations

from collections.abc import Iterable

from repro.store.reading import StoreReader
from repro.trainers.measurement import measurement_key
from repro.trainers.run import PlannedRun
from repro.trainers.table import Measurable
from repro.trainers.trainer import Cost, cost


def missing_measurements(store: StoreReader, planned: PlannedRun) -> tuple[Measurable, ...]:
    """The wanted measurements that the store lacks, in the order of the plan."""
    key = planned.run.key
    return tuple(m for m in planned.measurements if store.measurement(key, m) is None)


def is_complete(store: StoreReader, planned: PlannedRun) -> bool:
    """Whether nothing is left to do; a run that diverged has nothing to measure.

    StoreError if a file behind what is there is damaged or missing, as far as that is seen
    without reading weights and spectra.
    """
    key = planned.run.key
    state = store.state(key)
    if state not in ("finished", "diverged"):
        return False
    stored = [store.measurement(key, each) for each in planned.measurements]
    store.see(key, [each for each in stored if each is not None])
    return state == "diverged" or None not in stored


def merged(plan: Iterable[PlannedRun]) -> list[PlannedRun]:
    """One entry per run, with all the measurements that anybody wants of it."""
    wanted: dict[str, PlannedRun] = {}
    for planned in plan:
        key = planned.run.key
        before = wanted[key].measurements if key in wanted else ()
        both = tuple(dict.fromkeys((*before, *planned.measurements)))
        wanted[key] = planned.model_copy(update={"measurements": both})
    return list(wanted.values())


def remaining(store: StoreReader, planned: PlannedRun) -> Cost:
    """What is left of the cost of a run; a run that is trained in part counts as a whole."""
    whole = cost(planned)
    if store.state(planned.run.key) != "finished":
        return whole
    names = [measurement_key(m) for m in missing_measurements(store, planned)]
    return Cost(0.0, {name: whole.measurements[name] for name in names})
