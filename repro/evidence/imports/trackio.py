"""Trackio: the sqlite file of a project.

Written after the layout of trackio 0.43.0 (tables metrics and configs, values in JSON), without it;
before, a run was known by its name alone. Fields are `config.NAME`, `group` and `name`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from repro.errors import DataError
from repro.evidence.imports.databases import database
from repro.evidence.imports.importer import FilesRead, FoundRun, Stepped
from repro.series import Row, flat, numbers_in

TABLES = ("metrics", "configs")


class Trackio(Stepped):
    """The file `PROJECT.db`. ``seed`` is a field, such as `config.seed`."""

    from_: Literal["trackio"] = Field(alias="from")
    seed: str = "config.seed"

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """In the order in which they were begun."""
        place = self.place(root)
        with database(place, root, digests, "Trackio", TABLES) as db:
            yield from _runs(db, place)


def _runs(db: sqlite3.Connection, place: Path) -> Iterator[FoundRun]:
    """Also those of which no configuration was kept, as by the first versions of Trackio."""
    key = _key(db)
    rows: dict[str, list[Row]] = {}
    names: dict[str, str] = {}
    for run, name, step, values in db.execute(
        f"SELECT {key}, run_name, step, metrics FROM metrics ORDER BY id"  # noqa: S608
    ):
        if not isinstance(step, int):
            raise DataError(f"{place}: run {name} has a step that is no whole number")
        row = numbers_in(dict(flat(_object(values, place))))
        rows.setdefault(run, []).append({"step": float(step), **row})
        names.setdefault(run, name)
    fields: dict[str, dict[str, Any]] = {}
    configs = f"SELECT {key}, run_name, config FROM configs ORDER BY id"  # noqa: S608
    for run, name, values in db.execute(configs) if _has_configs(db) else ():
        config = _object(values, place)
        said = {f"config.{key}": value for key, value in flat(config)}
        fields[run] = {**said, "name": name, "group": config.get("_Group")}
    for run in dict.fromkeys((*fields, *rows)):
        said = fields.get(run) or {"name": names[run]}
        named = f"run {said['name']}"
        shown = named if said["name"] == run else f"{named} ({run})"
        yield FoundRun(shown, said, rows.get(run, []))


def _has_configs(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA table_info(configs)").fetchall())


def _key(db: sqlite3.Connection) -> str:
    """What tells runs apart: an identifier where both tables have one, else the name."""
    for table in TABLES:
        if "run_id" not in {row[1] for row in db.execute(f"PRAGMA table_info({table})")}:
            return "run_name"
    return "COALESCE(run_id, run_name)"


def _object(content: bytes | str, place: Path) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, TypeError, RecursionError) as error:
        raise DataError(f"{place}: holds what is no JSON: {error}") from error
    return found if isinstance(found, dict) else {}
