"""Report -> values.csv: every value that was judged, as `repro verify --results` reads them."""

from __future__ import annotations

import csv
import io

from repro.judging.document import Document
from repro.report.formats import ReportFormat


def values(document: Document) -> str:
    """A row for each value of a finished run; ``task`` is a column where runs have one.

    A cell that a spreadsheet would take for a formula begins with an apostrophe.
    """
    tasks = any(arm.tasks for arm in document.arms)
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["arm", *(["task"] if tasks else []), "seed", "measurement", "value"])
    for arm in document.arms:
        for run in arm.replicates:
            for key, value in sorted(run.values.items()):
                task = [_harmless(run.task)] if tasks else []
                cells = [_harmless(arm.id), *task, run.number, _harmless(key), repr(value)]
                rows.writerow(cells)
    return out.getvalue()


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


VALUES = ReportFormat("values.csv", lambda document: values(document).encode(), label="Values")
