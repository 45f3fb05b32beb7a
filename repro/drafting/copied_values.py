"""The table of values that a claim reads, where it cannot read the results as they lie there."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from repro.evidence.csv_table import COLUMNS, STATE
from repro.results.found_results import FoundResults
from repro.results.readings import TASK
from repro.results.run_values import FoundValue

SEED, ITEM, CLUSTER = "seed", "item", "cluster"


def tidy_text(
    results: FoundResults, shown: Sequence[str], names: Mapping[str, str], measurement: str
) -> str:
    """The values of these arms as a tidy table, with what was lost or is not there yet."""
    if results.items:
        return _items_text(results, shown, names, measurement)
    columns = (*COLUMNS, STATE, TASK) if results.tasks else (*COLUMNS, STATE)
    rows: list[tuple[str, ...]] = [columns]
    for label in (each for each in results.runs if each in shown):
        runs = results.runs[label]
        tasks = ([run.task] if results.tasks else [] for run in runs)
        rows += (
            (names[label], str(run.seed), measurement, *_cells(run), *task)
            for run, task in zip(runs, tasks, strict=True)
        )
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()


def _items_text(
    results: FoundResults, pair: Sequence[str], names: Mapping[str, str], measurement: str
) -> str:
    """The items of two arms as a table with a row for each."""
    clustered = any(row.cluster for row in results.items)
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow((*COLUMNS, ITEM, *([CLUSTER] if clustered else [])))
    for row in (each for each in results.items if each.arm in pair):
        groups = [row.cluster] if clustered else []
        cells = (names[row.arm], str(row.seed), measurement, repr(row.value), row.item)
        lines.writerow((*cells, *groups))
    return written.getvalue()


def _cells(run: FoundValue) -> tuple[str, str]:
    """The value of a run, empty without one, and the state that a tidy table says it is in."""
    if run.value is None:
        return "", "running" if run.missing else "diverged"
    return repr(run.value), "finished"
