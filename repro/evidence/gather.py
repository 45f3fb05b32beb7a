"""A claim -> its evidence: runs from the store, tables next to the claim, printed numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from repro.errors import StoreError, StoreUnreachableError
from repro.evidence.base import Evidence, PrintedSummary, Replicate, State
from repro.evidence.readings import table_schema
from repro.evidence.table import TidyTable, read_table
from repro.specs.claim import Claim
from repro.trainers.run import RunSpec

if TYPE_CHECKING:
    from repro.store.runs import RunStore


LARGEST_LOSS = 700.0
"""Losses in nats whose exponential is still a number."""


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
    return tuple(name for name, arm in claim.arms.items() if arm.evidence != "published")


def read_tables(claim: Claim) -> dict[str, TidyTable]:
    """The tables that the claim names, each read once; SpecError with every mistake in one."""
    sharing: dict[str, list[str]] = {}
    for name, arm in claim.arms.items():
        if arm.table is not None:
            sharing.setdefault(arm.table, []).append(name)
    found = {}
    for file, arms in sharing.items():
        found.update(dict.fromkeys(arms, read_table(Path(file), table_schema(claim, arms))))
    return found


def _evidence(claim: Claim, tables: Tables, store: RunStore | None = None) -> Evidence:
    arms: dict[str, tuple[Replicate, ...]] = {}
    published = {}
    for name, arm in claim.arms.items():
        arms[name] = ()
        if name in tables:
            arms[name] = _rows(tables[name], name)
        elif arm.published is not None:
            published[name] = {
                key: PrintedSummary(
                    float(one.mean), None if one.sd is None else float(one.sd), one.n
                )
                for key, one in arm.published.items()
            }
        elif store is not None:
            numbers = claim.numbers(name)
            arms[name] = tuple(_replicate(claim, claim.run(name, n), store) for n in numbers)
    return Evidence(arms, published, {name: table.source for name, table in tables.items()})


def _rows(table: TidyTable, arm: str) -> tuple[Replicate, ...]:
    """The seeds of an arm in a table: as they came where it says so, else by number."""
    values, lost = table.values.get(arm, {}), table.lost.get(arm, {})
    return tuple(
        Replicate(seed, "", lost.get(seed, "finished"), dict(values.get(seed, {})), {}, {})
        for seed in table.seeds(arm)
    )


def _replicate(claim: Claim, run: RunSpec, store: RunStore) -> Replicate:
    key = run.key
    try:
        return _read(claim, run, store)
    except StoreUnreachableError:
        raise
    except StoreError as error:
        return Replicate(run.replicate, key, "damaged", {}, {}, {}, str(error))


def _read(claim: Claim, run: RunSpec, store: RunStore) -> Replicate:
    key, state = run.key, store.state(run.key)
    if state not in ("finished", "diverged"):
        older = any(store.state(one) in ("finished", "diverged") for one in run.older_keys())
        return Replicate(run.replicate, key, "stale" if older else "missing", {}, {}, {})
    provenance = store.provenance(key)
    if state == "diverged":
        store.see(key)
        return Replicate(run.replicate, key, "diverged", {}, {}, provenance)
    stored = {
        name: store.measurement(key, spec)
        for name, spec in claim.measurements.items()
        if spec.trainers
    }
    found = {name: one for name, one in stored.items() if one is not None}
    store.see(key, found.values())
    for name, one in found.items():
        if not math.isfinite(one.value):
            raise StoreError(f"{store.folder(key)}: {name} is {one.value}, which is no number")
    values = {name: one.value for name, one in found.items()}
    details = {name: one.details for name, one in found.items()}
    whole: State = "finished" if len(found) == len(stored) else "missing"
    losses = [row.get("valid_loss") for row in store.history(key)]
    known = all(isinstance(loss, float) and loss < LARGEST_LOSS for loss in losses)
    schedule = tuple(math.exp(float(loss)) for loss in losses if loss is not None) if known else ()
    return Replicate(
        run.replicate,
        key,
        whole,
        values,
        details,
        provenance,
        schedule=schedule,
        without_weights=store.record(key).without_weights,
    )
