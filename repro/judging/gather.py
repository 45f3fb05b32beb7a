"""A claim -> its evidence: runs from the store, tables next to the claim, printed numbers.

Then what becomes of replicates that diverged, by the policy that the claim declared beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.errors import DataError, Place, ReproError
from repro.evidence.base import EvidenceSource, TableSchema, tables_to_come
from repro.evidence.csv_table import COLUMNS
from repro.evidence.evidence import (
    UNITS,
    Evidence,
    Replicate,
    Sourced,
    TidyTable,
    averaged,
    in_order,
)
from repro.files import fatal
from repro.specs.claim import Claim
from repro.trainers.derived import with_derived, with_parts
from repro.trainers.measurement import MeasurementSpec

if TYPE_CHECKING:
    from repro.store.run_store import RunStore


Tables = Mapping[str, TidyTable]
"""arm -> the table that it is read from."""


def gather(claim: Claim, store: RunStore, tables: Tables | None = None) -> Evidence:
    """Everything that is known about the arms of ``claim``, each from where it says.

    ``tables`` are those that ``read_tables`` has read, else they are read now; SpecError with
    every mistake in them.
    """
    return _evidence(claim, read_tables(claim) if tables is None else tables, store)


def from_table(claim: Claim, table: TidyTable) -> Evidence:
    """The evidence of a user's own results: all arms but the published ones are in ``table``."""
    return _evidence(claim, dict.fromkeys(measured(claim), table))


def measured(claim: Claim) -> tuple[str, ...]:
    """The arms that are not published: the ones that a user's own results must hold."""
    return tuple(name for name, arm in claim.arms.items() if arm.published is None)


def read_tables(claim: Claim) -> dict[str, TidyTable]:
    """The values that are there already, of arms that share a source read once.

    SpecError with every mistake in one.
    """
    found: dict[str, TidyTable] = {}
    for first, arm in claim.arms.items():
        source = arm.source
        arms = [name for name, each in claim.arms.items() if each.source == source]
        if first != arms[0]:
            continue
        table = _values(source, table_schema(claim, arms), Path(claim.file).parent)
        if table is not None:
            labelled = replace(table, source=replace(table.source, label=source.label))
            found.update(dict.fromkeys(arms, labelled))
    return found


def _values(source: EvidenceSource, schema: TableSchema, folder: Path) -> TidyTable | None:
    for name in tables_to_come([source], folder):
        columns = ", ".join((*COLUMNS, *schema.more_columns))
        expected = f"a CSV file with the columns {columns}"
        advice = "put the results there and verify again, or name them: --results FILE.csv"
        raise fatal(Place(str(folder / name)), "the table is not there yet", expected, advice)
    try:
        return source.values(schema, folder)
    except ReproError:
        raise
    except Exception as error:  # a source of others may raise anything
        why = f"{type(error).__name__}: {error}"
        raise DataError(f"arm {schema.arms[0]}: its source cannot be read: {why}") from error


def table_schema(claim: Claim, arms: Sequence[str]) -> TableSchema:
    """What a table must hold from which these arms of a claim are read."""
    deciding = [each for each in claim.expectations if each.role == "decisive"]
    specs = {name: each for name, each in claim.measurements.items() if not each.made_of}
    needed = {}
    for arm in arms:
        read = [name for each in deciding if arm in each.of for name in each.reads]
        parts = with_parts(read, claim.measurements)
        needed[arm] = tuple(name for name in parts if name in specs)
    others = {name: arm.source.elsewhere for name, arm in claim.arms.items() if name not in arms}
    order = None if claim.sequential is None else claim.sequential.order
    tasks = dict.fromkeys(task for arm in arms for task in claim.tasks(arm))
    return TableSchema(
        arms=tuple(arms),
        measurements=tuple(specs),
        needed=needed,
        elsewhere=others,
        order=order,
        specs=specs,
        tasks=tuple(tasks),
        unit=claim.seeds.unit,
        sources=claim.seeds.read_by,
        by_item=claim.seeds.items is not None,
    )


def _evidence(claim: Claim, tables: Tables, store: RunStore | None = None) -> Evidence:
    if claim.seeds.unit is not None:
        uneven = claim.seeds.evaluations == "any" or claim.seeds.items is not None
        words = ("answer", "run") if claim.seeds.items else UNITS
        tables = averaged(tables, claim.seeds.unit, uneven=uneven, words=words)
    arms: dict[str, tuple[Replicate, ...]] = {}
    published = {}
    for name, arm in claim.arms.items():
        arms[name] = ()
        if name in tables:
            arms[name] = _rows(tables[name], name)
        elif arm.published is not None:
            published[name] = arm.published
        elif store is not None and arm.trained:
            runs = [claim.run(name, number) for number in claim.numbers(name)]
            arms[name] = arm.source.replicates(runs, claim.taken_of(name), store)
        arms[name] = tuple(_completed(claim, name, each) for each in arms[name])
    read = {name: table.source for name, table in tables.items()}
    sourced = {name: table.sourced.get(name, ()) for name, table in tables.items()}
    return Evidence(arms, published, read, _drawn(claim, sourced), _items(claim, sourced))


def _drawn(claim: Claim, rows: Mapping[str, Sourced]) -> dict[str, Sourced]:
    """The rows of each arm by their sources of variation; empty where none are declared."""
    many = len(claim.seeds.drawn)
    if not many:
        return {}
    return {arm: tuple((by[:many], *rest) for by, *rest in each) for arm, each in rows.items()}


def _items(claim: Claim, rows: Mapping[str, Sourced]) -> dict[str, Sourced]:
    """The rows of each arm by their item and its cluster; empty where items are not declared."""
    if claim.seeds.items is None:
        return {}
    many = len(claim.seeds.drawn)
    return {arm: tuple((by[many:], *rest) for by, *rest in each) for arm, each in rows.items()}


def _completed(claim: Claim, arm: str, replicate: Replicate) -> Replicate:
    """The replicate as it is judged: values up to a budget, and those that follow from others."""
    within = dict(replicate.values)
    for name, measurement in claim.measurements.items():
        if name in within and measurement.censored_at is not None:
            within[name] = min(within[name], measurement.censored_at)
    values, undefined = with_derived(within, claim.measurements)
    for name in undefined:
        parts = claim.measurements[name].made_of
        found = " and ".join(f"{part} = {values[part]:g}" for part in parts)
        message = f"arm '{arm}', seed {replicate.number}: '{name}' is no number, for {found}"
        advice = "declare a difference in place of the ratio, or correct the value"
        raise DataError(f"{message}; {advice}")
    return replace(replicate, values=values) if values != replicate.values else replicate


def _rows(table: TidyTable, arm: str) -> tuple[Replicate, ...]:
    """The seeds of an arm in a table: as they came where it says so, else by number."""
    values, lost = table.values.get(arm, {}), table.lost.get(arm, {})
    found = []
    for key in table.seeds(arm):
        task, seed, _ = in_order(key)
        state, own = lost.get(key, "finished"), dict(values.get(key, {}))
        why = table.why.get(arm, {}).get(key, "")
        found.append(Replicate(seed, "", state, own, {}, {}, problem=why, task=task))
    return tuple(found)


JUST = 1e-9
"""How much worse, relatively: far above round-off, far below any digit that is shown."""


def apply_divergence_policy(claim: Claim, evidence: Evidence) -> Evidence:
    """The evidence as the claim's policy has it judged; applied twice, it changes nothing more.

    ``worst``: a diverged replicate takes, for each measurement, a value just worse than any that
    a finished replicate of any arm has (and the details of that one): its place in an order, and
    no size. ``exclude<=k``: it is left out, and in a paired or sequential analysis the replicates
    of the same number in the other arms with it.
    """
    if claim.seeds.diverged == "worst":
        return _imputed(claim, evidence)
    if claim.design == "paired" or claim.sequential is not None:
        return _whole_pairs(claim, evidence)
    return evidence


def _imputed(claim: Claim, evidence: Evidence) -> Evidence:
    values: dict[str, float] = {}
    details: dict[str, Mapping[str, Any]] = {}
    for name, measurement in claim.measurements.items():
        worst = _worst(name, measurement.better, evidence)
        if worst is not None:
            values[name] = _just_worse(worst.values[name], measurement)
            details |= {name: worst.details[name]} if name in worst.details else {}

    def counted(replicate: Replicate) -> Replicate:
        if replicate.state != "diverged" or not values:
            return replicate
        return replace(replicate, state="imputed", values=values, details=details)

    arms = {arm: tuple(map(counted, runs)) for arm, runs in evidence.arms.items()}
    return replace(evidence, arms=arms)


def _just_worse(value: float, measurement: MeasurementSpec) -> float:
    """A value that is told apart by a test of order, and that a reader sees as ``value``.

    Of a time with a budget, which should be short, it is not within the budget: a run that
    diverged never got there.
    """
    step = JUST * (abs(value) or 1.0)
    if measurement.better == "higher":
        return value - step
    return max(value + step, measurement.censored_at or -math.inf)


def _worst(name: str, better: str, evidence: Evidence) -> Replicate | None:
    """The finished replicate with the worst value of a measurement, of all arms."""
    having = [r for arm in evidence.arms for r in evidence.finished(arm) if name in r.values]
    choose = max if better == "lower" else min
    return choose(having, key=lambda replicate: replicate.values[name], default=None)


def _whole_pairs(claim: Claim, evidence: Evidence) -> Evidence:
    """Replicates are pairs by their place: of one number, counted from the first of each arm.

    In a sequential claim of independent arms, on a table that declares an order, they are pairs
    by that order; what pairs the arms of a paired design is always the number.
    """
    places = {arm: _places(claim, evidence, arm) for arm in evidence.arms}
    lost = {
        places[arm][run.number]
        for arm, runs in evidence.arms.items()
        for run in runs
        if run.state == "diverged"
    }

    def kept(arm: str, replicate: Replicate) -> Replicate:
        alone = replicate.state == "finished" and places[arm][replicate.number] in lost
        return replace(replicate, state="excluded") if alone else replicate

    arms = {arm: tuple(kept(arm, run) for run in runs) for arm, runs in evidence.arms.items()}
    return replace(evidence, arms=arms)


def _places(claim: Claim, evidence: Evidence, arm: str) -> dict[int, int]:
    """The number of each replicate of an arm -> the place of its pair."""
    runs, independent = evidence.arms[arm], claim.design == "independent"
    if claim.sequential is not None and independent and evidence.order(arm) == "declared":
        return {run.number: place for place, run in enumerate(runs)}
    return {run.number: run.number - claim.arms[arm].first_seed for run in runs}
