"""MLflow: the sqlite file of its tracking store, and the folder `mlruns` of earlier versions.

Fields are `params.NAME`, `tags.NAME`, `experiment` and `name`. Written after the layout of MLflow
3.17.2 (tables runs, params, metrics, tags, experiments), without MLflow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from repro.errors import DataError
from repro.files import MAX_BYTES
from repro.results.forms import FoundRun, ResultsThere, RunEnd, Way, store
from repro.results.importer import FilesRead, Points, Stepped, rows_of
from repro.results.reader import in_database
from repro.results.readings import number_in, short
from repro.schema.yaml import parse_document

STATES: dict[str, RunEnd] = {
    "FINISHED": "finished",
    "FAILED": "failed",
    "KILLED": "failed",
    "RUNNING": "running",
    "SCHEDULED": "running",
}
STATUS_NUMBERS = dict(enumerate(("RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"), start=1))


class Mlflow(Stepped):
    """The file `mlflow.db`, or a folder `mlruns`. ``seed`` is a field, such as `params.seed`."""

    tables = frozenset({"runs", "experiments"})

    from_: Literal["mlflow"] = Field(alias="from")
    seed: str = "params.seed"

    @classmethod
    def ways(cls, there: ResultsThere) -> Iterator[Way]:
        """Of a folder that is its store, or holds it."""
        if (database := there.path / "mlflow.db").is_file():
            yield store("the database of mlflow", there.below(database))
        for folder in (there.path, there.path / "mlruns"):
            if folder.is_dir() and any(folder.glob("*/meta.yaml")):
                yield store("the folder of mlflow", there.below(folder))

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """In the order in which they were begun; those that were deleted are left out."""
        place = self.place(root)
        if place.is_dir():
            yield from _of_folder(place, root, digests)
        else:
            found = in_database("mlflow", place, root, digests, "MLflow")
            digests.deleted |= {f"run {run}" for run in found["deleted"]}
            for run, fields, points, status in found["runs"]:
                state = STATES.get(status, "running")
                yield FoundRun(f"run {run}", fields, rows_of(points), state)


def _of_folder(folder: Path, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
    """`mlruns/EXPERIMENT/RUN/{meta.yaml, params, metrics, tags}`; models lie there as well."""
    found = []
    names: dict[Path, Any] = {}
    of_deleted = folder.glob(".trash/*/*/meta.yaml")  # experiments
    digests.deleted |= {f"run {meta.parent.name}" for meta in of_deleted}
    for meta in folder.glob("*/*/meta.yaml"):
        document = _meta(meta, root, digests)
        if not (document.get("run_id") or document.get("run_uuid")):
            continue
        if document.get("lifecycle_stage") not in (None, "active"):
            digests.deleted.add(f"run {meta.parent.name}")
            continue
        above = meta.parents[1] / "meta.yaml"
        if above not in names:
            names[above] = _meta(above, root, digests).get("name") if above.is_file() else ""
        began = document.get("start_time")
        found.append((began if isinstance(began, int) else 0, meta.parent, document, names[above]))
    if not found:
        raise DataError(f"{folder}: no run of MLflow is in this folder\n  to do: check `path`")
    for _, at, document, experiment in sorted(found, key=lambda each: (each[0], each[1].name)):
        fields: dict[str, Any] = {"name": document.get("run_name"), "experiment": experiment}
        for table in ("params", "tags"):
            texts = _inside(at / table, root, digests)
            fields |= {f"{table}.{name}": text.strip() for name, text in texts}
        points: Points = {
            name: [_point(line, at / "metrics" / name) for line in text.splitlines()]
            for name, text in _inside(at / "metrics", root, digests)
        }
        status = document.get("status")
        status = STATUS_NUMBERS.get(status, "") if isinstance(status, int) else str(status)
        yield FoundRun(f"run {at.name}", fields, rows_of(points), STATES.get(status, "running"))


def _inside(folder: Path, root: Path, digests: FilesRead) -> Iterator[tuple[str, str]]:
    """The text of every file below a folder, by its path there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = digests.read(path, root).decode("utf-8", "replace")
            yield path.relative_to(folder).as_posix(), text


def _meta(path: Path, root: Path, digests: FilesRead) -> dict[str, Any]:
    text = digests.read(path, root, MAX_BYTES).decode("utf-8", "replace")
    return parse_document(text, str(path)).data


_WHOLE = re.compile(r"-?[0-9]{1,18}")
_NOT_FINITE = re.compile(r"(?i)[-+]?(nan|inf|infinity)")


def _point(line: str, file: Path) -> tuple[int, float | None]:
    """`time value step`; the step may be left out."""
    parts = line.split()
    text = parts[1] if len(parts) > 1 else ""
    step = parts[2] if len(parts) > 2 else "0"
    value = number_in(text)
    if not _WHOLE.fullmatch(step) or (value is None and not _NOT_FINITE.fullmatch(text)):
        raise DataError(f"{file}: '{short(line)}' is no line of a metric of MLflow")
    return int(step), value
