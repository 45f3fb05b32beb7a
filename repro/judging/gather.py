"""A claim -> its evidence: runs from the store, tables next to the claim, printed numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from repro.errors import DataError, ReproError
from repro.evidence.base import Evidence, PrintedSummary, Replicate, TidyTable
from repro.evidence.readings import TableSchema
from repro.evidence.source import EvidenceSource, PublishedArm
from repro.specs.claim import Claim

if TYPE_CHECKING:
    from repro.store.runs import RunStore


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
    sharing: list[tuple[EvidenceSource, list[str]]] = []
    for name, arm in claim.arms.items():
        arms = next((arms for source, arms in sharing if source == arm.source), None)
        if arms is None:
            sharing.append((arm.source, [name]))
        else:
            arms.append(name)
    found: dict[str, TidyTable] = {}
    for source, arms in sharing:
        table = _values(source, table_schema(claim, arms), Path(claim.file).parent)
        if table is not None:
            labelled = replace(table, source=replace(table.source, label=source.label))
            found.update(dict.fromkeys(arms, labelled))
    return found


def _values(source: EvidenceSource, schema: TableSchema, folder: Path) -> TidyTable | None:
    try:
        return source.values(schema, folder)
    except ReproError:
        raise
    except Exception as error:  # a source of others may raise anything
        why = f"{type(error).__name__}: {error}"
        raise DataError(f"arm {schema.arms[0]}: its source cannot be read: {why}") from error


def table_schema(claim: Claim, arms: Sequence[str]) -> TableSchema:
    """What a table must hold from which these arms of a claim are read."""
    own = [one for one in claim.expectations if one.role == "decisive"]
    needed = {
        arm: tuple(dict.fromkeys(name for one in own if arm in one.of for name in one.reads))
        for arm in arms
    }
    others = {name: arm.source.elsewhere for name, arm in claim.arms.items() if name not in arms}
    order = None if claim.sequential is None else claim.sequential.order
    return TableSchema(tuple(arms), tuple(claim.measurements), needed, others, order)


def _evidence(claim: Claim, tables: Tables, store: RunStore | None = None) -> Evidence:
    arms: dict[str, tuple[Replicate, ...]] = {}
    published = {}
    for name, arm in claim.arms.items():
        arms[name] = ()
        if name in tables:
            arms[name] = _rows(tables[name], name)
        elif arm.published is not None:
            published[name] = {key: _numbers(one) for key, one in arm.published.items()}
        elif store is not None and arm.trained:
            runs = [claim.run(name, number) for number in claim.numbers(name)]
            arms[name] = arm.source.replicates(runs, claim.taken_of(name), store)
    return Evidence(arms, published, {name: table.source for name, table in tables.items()})


def _numbers(printed: PublishedArm) -> PrintedSummary:
    sd = None if printed.sd is None else float(printed.sd)
    return PrintedSummary(float(printed.mean), sd, printed.n)


def _rows(table: TidyTable, arm: str) -> tuple[Replicate, ...]:
    """The seeds of an arm in a table: as they came where it says so, else by number."""
    values, lost = table.values.get(arm, {}), table.lost.get(arm, {})
    return tuple(
        Replicate(seed, "", lost.get(seed, "finished"), dict(values.get(seed, {})), {}, {})
        for seed in table.seeds(arm)
    )
