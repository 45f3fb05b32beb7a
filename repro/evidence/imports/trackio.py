"""Trackio: the sqlite file of a project.

Written after the layout of trackio 0.43.0 (tables metrics and configs, values in JSON), without it.
Fields are `config.NAME`, `group` and `name`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from repro.errors import DataError
from repro.evidence.imports.importer import FilesRead, FoundRun, Importer, database
from repro.series import Row, flat, numbers_in


class Trackio(Importer):
    """The file `PROJECT.db`. ``seed`` is a field, such as `config.seed`."""

    from_: Literal["trackio"] = Field(alias="from")
    seed: str = "config.seed"

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """In the order in which they were begun."""
        place = self.place(root)
        with database(place, root, digests, "Trackio") as db:
            rows: dict[str, list[Row]] = {}
            for run, step, values in db.execute(
                "SELECT run_id, step, metrics FROM metrics ORDER BY id"
            ):
                row = numbers_in(dict(flat(_object(values, place))))
                rows.setdefault(run, []).append({"step": float(step), **row})
            for run, name, values in db.execute(
                "SELECT run_id, run_name, config FROM configs ORDER BY id"
            ):
                config = _object(values, place)
                fields = {f"config.{key}": value for key, value in flat(config)}
                fields |= {"name": name, "group": config.get("_Group")}
                yield FoundRun(f"run {name}", fields, rows.get(run, []))


def _object(content: bytes | str, place: Path) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError as error:
        raise DataError(f"{place}: holds what is no JSON: {error}") from error
    return found if isinstance(found, dict) else {}
