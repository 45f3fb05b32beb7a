"""Measurements of runs that a store has: what is missing is taken, and nothing is trained."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, cycle
from typing import Any

import numpy as np

from repro.consent import Consent, allowing_code
from repro.errors import ClaimError, StoreError, StoreUnreachableError
from repro.registry.registry import Registry
from repro.running.engine import RunOptions
from repro.running.execute import execute_with
from repro.running.plan import make_plan
from repro.running.preflight import require
from repro.specs.claim import Claim
from repro.store.run_store import RunStore
from repro.trainers.measurement import MeasurementSpec, with_sources
from repro.trainers.run import PlannedRun

KEY = re.compile(r"[0-9a-f]{8,64}")
"""The beginning of a run's key, as `repro plan` prints it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A run and what is asked of it; ``group`` is its claim at its scale, ``arm`` its arm there.

    Both are empty for a run that is named by its key.
    """

    planned: PlannedRun
    group: str = ""
    arm: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A measurement that the store has of a run."""

    asked: Asked
    measurement: MeasurementSpec
    value: float
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two arms, context by context: the mean over contexts of ``first`` less ``second``.

    Each context has the mean over the seeds of an arm. ``error`` is the standard error over the
    contexts, for these models: it says nothing of other seeds.
    """

    group: str
    measurement: MeasurementSpec
    first: str
    second: str
    difference: float
    error: float
    contexts: int
    seeds: tuple[int, int]


@dataclass(slots=True)
class Measurements:
    """Values in the order of the runs, and how many runs were measured now.

    The others have none: they are not trained, diverged, or failed, each with its reason.
    """

    values: list[Value] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    measured: int = 0
    untrained: list[Asked] = field(default_factory=list)
    diverged: list[Asked] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def asked_of_claims(
    claims: Sequence[Claim], store: RunStore, measurements: Sequence[MeasurementSpec] = ()
) -> list[Asked]:
    """The runs of claims, with the measurements that they declare, or with these instead.

    A claim of whose own measurements any is taken is registered first, as before a training: its
    numbers are about to be seen. ClaimError for a measurement that no arm or not every run can
    have.
    """
    registry = Registry(store, make=False)
    found: list[Asked] = []
    asked = [each.key for each in with_sources(measurements)]
    for planned_claim in claims:
        claim = registry.so_far(planned_claim)
        runs = claim.runs()
        declared = {each.key for arm in claim.trained for each in claim.taken_of(arm).values()}
        if not measurements or not declared.isdisjoint(asked):
            registry.register(claim)
        if measurements and claim.trained:
            runs = tuple(_with(planned, measurements) for planned in runs)
        group = f"{claim.id} ({claim.scale})"
        labels = cycle(claim.arms[name].label for name in claim.trained)
        found += (Asked(each, group, label) for each, label in zip(runs, labels, strict=False))
    return found


def asked_of_runs(
    keys: Sequence[str],
    store: RunStore,
    measurements: Sequence[MeasurementSpec],
    *,
    allow_code: Consent = False,
) -> list[Asked]:
    """The runs whose keys begin so, with these measurements.

    ClaimError for none, or several; CodeError for code from outside repro without consent.
    """
    if keys and not measurements:
        raise ClaimError(
            f"{keys[0]}: a run says nothing of what is to be measured\n"
            "  expected: a measurement as in a claim file\n"
            "  to do: add --measurement '{kind: perplexity, split: test}', or name the claim"
        )
    every, found = list(store.keys()) if keys else [], []
    for key in keys:
        there = [each for each in every if each.startswith(key)]
        if len(there) != 1:
            mistake = f"begins the keys of {len(there)} runs" if there else "begins no run's key"
            raise ClaimError(
                f"{key}: {mistake} in {store.root}\n  expected: the key of one run\n"
                "  to do: see `repro plan CLAIM`, or name another store with --store"
            )
        with allowing_code(allow_code):
            run = store.spec(there[0])
        planned = PlannedRun(run=run, measurements=(), label=there[0][:12])
        found.append(Asked(_with(planned, measurements)))
    return found


def _with(planned: PlannedRun, measurements: Sequence[MeasurementSpec]) -> PlannedRun:
    """A run with other measurements; ClaimError for what it cannot have."""
    for each in measurements:
        for key, (mistake, expected, advice) in each.unsuited(planned.run.training, planned.label):
            place = f"--measurement, {key}" if key else "--measurement"
            raise ClaimError(f"{place}: {mistake}\n  expected: {expected}\n  to do: {advice}")
    return planned.model_copy(update={"measurements": with_sources(measurements)})


def measure(asked: Sequence[Asked], options: RunOptions) -> Measurements:
    """Take what the store lacks of runs that are trained, and read all that it then has.

    Raises PreflightError where a corpus, the device or memory for it is not there, CodeError for
    code from outside repro without consent, StoreUnreachableError when the store is out of reach.
    """
    result = Measurements()
    finished = list(_finished(asked, options.store, result))
    plan = make_plan((each.planned for each in finished), options.store)
    require(plan.missing, options)
    done, failed = execute_with(options, [each.planned for each in plan.runs])
    result.measured, result.failures = len(done.done), [*result.failures, *failed]
    for each in finished:
        result.values += _values(each, options.store, result)
    result.comparisons += _comparisons(result.values, options.store)
    return result


def _finished(asked: Sequence[Asked], store: RunStore, result: Measurements) -> Iterator[Asked]:
    """The runs that can be measured; the others are noted."""
    places = {"diverged": result.diverged, "missing": result.untrained, "started": result.untrained}
    for each in asked:
        try:
            state = store.state(each.planned.run.key)
        except StoreUnreachableError:
            raise
        except StoreError as error:
            result.failures.append(f"{each.planned.label}: {error}")
            continue
        if state in places:
            places[state].append(each)
        else:
            yield each


def _values(asked: Asked, store: RunStore, result: Measurements) -> Iterator[Value]:
    """What the store has of a run; damage is noted."""
    for measurement in asked.planned.measurements:
        try:
            stored = store.measurement(asked.planned.run.key, measurement)
        except StoreUnreachableError:
            raise
        except StoreError as error:
            result.failures.append(f"{asked.planned.label}: {error}")
            continue
        if stored is None:
            continue
        if stored.value is not None:
            yield Value(asked, measurement, stored.value, dict(stored.details))
        elif asked not in result.diverged:
            result.diverged.append(asked)


def _comparisons(values: Sequence[Value], store: RunStore) -> Iterator[Comparison]:
    """Every two arms of a claim, by each measurement that keeps a number for each context."""
    found: dict[tuple[str, MeasurementSpec], dict[str, list[Any]]] = {}
    for each in values:
        name, _ = each.measurement.by_context
        if not (name and each.asked.group):
            continue
        key = each.asked.planned.run.key
        if (numbers := _numbers(store, key, each.measurement, name)) is not None:
            arms = found.setdefault((each.asked.group, each.measurement), {})
            arms.setdefault(each.asked.arm, []).append(numbers)
    for (group, measurement), arms in found.items():
        for (first, a), (second, b) in combinations(arms.items(), 2):
            if len({len(numbers) for numbers in (*a, *b)}) == 1:
                yield compared(group, measurement, (first, a), (second, b))


def _numbers(store: RunStore, key: str, measurement: MeasurementSpec, name: str) -> Any:
    """The array of a measurement; None where it left none, or its run was exported without."""
    try:
        return store.arrays(key, measurement).get(name)
    except StoreUnreachableError:
        raise
    except StoreError:
        return None


def compared(
    group: str,
    measurement: MeasurementSpec,
    first: tuple[str, Sequence[Any]],
    second: tuple[str, Sequence[Any]],
) -> Comparison:
    """The mean difference over contexts of two arms, each with an array (contexts,) a seed."""
    means = [np.mean(np.asarray(arrays, dtype=np.float64), axis=0) for _, arrays in (first, second)]
    differences = means[0] - means[1]
    n = len(differences)
    error = float(np.std(differences, ddof=1)) / n**0.5 if n > 1 else 0.0
    seeds = len(first[1]), len(second[1])
    mean = float(differences.mean())
    return Comparison(group, measurement, first[0], second[0], mean, error, n, seeds)
