"""What a claim can read of results as they lie there: a table by its name, runs by an import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from repro.errors import DataError
from repro.results.forms import Form
from repro.results.importer import FilesRead
from repro.results.importers import runs_of
from repro.results.log_runs import pattern_of
from repro.results.roles import whole
from repro.results.row_units import Rows, Sheet
from repro.results.run_values import Columns, FoundValue, values_of
from repro.results.series import FORMS
from repro.schema.base import FileName, name_of


def table_name(path: Path, base: Path) -> str:
    """The name by which a claim can read a CSV; empty where it cannot."""
    name = path.resolve().relative_to(base.resolve()).as_posix()
    try:
        if FORMS.get(path.suffix.lower()) != "csv":
            return ""
        return TypeAdapter(FileName).validate_python(name)
    except ValidationError:
        return ""


def plain_seeds(rows: Rows) -> bool:
    """Whether a claim can read the seeds as they are written."""
    return all(whole(run.fields.get(rows.seed)) is not None for run in rows.runs)


def imports_of(sheet: Sheet, rows: Rows) -> dict[str, dict[str, Any]]:
    """What each arm would declare."""
    said = {"seed": rows.seed, **({"task": rows.task} if rows.task else {})}
    where, forms = sheet.where, sheet.read
    if not where:
        return {form.arm: {**form.importer, **said} for form in forms}
    arms = {str(run.fields[where]): run.fields[where] for run in rows.runs}
    return {
        arm: {**forms[0].importer, "where": {where: value}, **said} for arm, value in arms.items()
    }


def imports_of_logs(
    path: Path,
    base: Path,
    forms: Sequence[Form],
    runs: Mapping[str, Sequence[FoundValue]],
    measure: str,
    reduce: str,
) -> dict[str, dict[str, Any]]:
    """How a claim reads logs by a pattern; empty where that finds other ``runs`` than these."""
    name = name_of(measure, before="value")
    imports = {}
    for form in forms:
        seed = "seed" if "{seed}" in form.importer["path"] else "run"
        declared = {**form.importer, "pattern": pattern_of(measure, name), "seed": seed}
        try:
            read = runs_of(path, declared, base, FilesRead())
            found = values_of(path, [form.arm] * len(read), read, Columns(seed, "", name, reduce))
        except DataError:
            return {}
        if found != {form.arm: runs.get(form.arm)}:
            return {}
        imports[form.arm] = declared
    return imports
