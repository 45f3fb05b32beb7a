"""The sqlite files of trackers: put into a folder of their own, and read only.

Written after the layouts of MLflow 3.17.2 (tables runs, params, metrics, tags, experiments) and of
Trackio 0.43.0 (tables metrics and configs, values in JSON).
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final

from repro.results.inside import Refused, numbers, refuse_many, settings

LONGEST: Final = 10_000_000
"""Bytes of the largest text in it."""

JOURNAL: Final = "-journal"
NAMES_ANOTHER: Final = bytes([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
"""How a journal ends that holds the name of another file, which sqlite deletes afterwards."""


@contextmanager
def _database(
    parts: Mapping[str, bytes], folder: Path, tracker: str, tables: Collection[str] = ()
) -> Iterator[sqlite3.Connection]:
    """A file of sqlite with its log, or with the journal of a write that was cut.

    Refused where one of ``tables`` is none: a view may have rows without an end.
    """
    if parts.get(JOURNAL, b"").endswith(NAMES_ANOTHER):
        raise Refused(
            f"its {JOURNAL} names another file, which sqlite would delete",
            f"a database that {tracker} alone wrote to",
            "get the database again from where it was written, after its writer has closed it; "
            "do not open this copy, if it is from somebody else",
        )
    for left in folder.iterdir():
        left.unlink()
    copy = folder / "copy.db"
    for ending, content in parts.items():
        copy.with_name(f"{copy.name}{ending}").write_bytes(content)
    try:
        if JOURNAL in parts:  # to undo what it holds, sqlite has to write
            with closing(sqlite3.connect(copy)) as opened:
                opened.execute("SELECT count(*) FROM sqlite_master")
        with closing(sqlite3.connect(f"{copy.as_uri()}?mode=ro", uri=True)) as opened:
            opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
            opened.execute("PRAGMA trusted_schema = OFF")
            opened.execute("PRAGMA query_only = ON")
            views = {name for name, _ in _others(opened)}
            for name in views.intersection(tables):
                raise _refused(tracker, f"its '{name}' is no table of its own")
            yield opened
    except (sqlite3.Error, UnicodeDecodeError) as error:
        mistake = f"cannot be read as a database of {tracker}: {error}"
        raise _refused(tracker, mistake) from error


def _others(opened: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Views, and tables that a module makes."""
    for name, sort, text in opened.execute("SELECT name, type, sql FROM sqlite_master"):
        if sort == "view" or (sort == "table" and str(text).upper().startswith("CREATE VIRTUAL")):
            yield name, sort


def _refused(tracker: str, mistake: str) -> Refused:
    return Refused(mistake, f"the sqlite file of a tracking store of {tracker}", "check `path`")


def names(parts: Mapping[str, bytes], folder: Path) -> Any:
    """The names of all tables."""
    with _database(parts, folder, "a tracker") as opened:
        return [name for (name,) in opened.execute("SELECT name FROM sqlite_master")]


OF_MLFLOW = ("runs", "params", "metrics", "tags", "experiments")


def mlflow(parts: Mapping[str, bytes], folder: Path) -> Any:
    """The runs in the order in which they were begun, and those that were deleted."""
    with _database(parts, folder, "MLflow", OF_MLFLOW) as opened:
        said, points = _said(opened), _points(opened)
        refuse_many({name for each in (*said.values(), *points.values()) for name in each})
        runs, deleted = [], []
        for run, name, status, experiment, stage in opened.execute(
            "SELECT r.run_uuid, r.name, r.status, e.name, "
            "CASE WHEN e.lifecycle_stage = 'active' THEN r.lifecycle_stage END FROM runs r "
            "JOIN experiments e ON e.experiment_id = r.experiment_id "
            "ORDER BY r.start_time, r.run_uuid"
        ):
            if stage != "active":
                deleted.append(str(run))
                continue
            fields = {"name": name, "experiment": experiment, **said[run]}
            runs.append([str(run), fields, points[run], status])
        return {"runs": runs, "deleted": deleted}


def _points(opened: sqlite3.Connection) -> dict[Any, dict[str, list[Any]]]:
    """The metrics of every run: step and value, in the order in which they were logged."""
    points: dict[Any, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for run, key, value, step, is_nan in opened.execute(
        "SELECT run_uuid, key, value, step, is_nan FROM metrics ORDER BY timestamp, step, rowid"
    ):
        if not isinstance(value, int | float) or not isinstance(step, int):
            raise Refused(f"'{str(value)[:40]}' is no number of run {run}")
        points[run][str(key)].append((step, None if is_nan else _stored(value)))
    return points


def _stored(value: float) -> float | None:
    """A number of the database, which keeps an infinite one as the largest float there is."""
    return None if abs(value) >= sys.float_info.max else float(value)


def _said(opened: sqlite3.Connection) -> dict[Any, dict[str, Any]]:
    """Parameters and tags of every run."""
    found: dict[Any, dict[str, Any]] = defaultdict(dict)
    for table in ("params", "tags"):
        for run, key, value in opened.execute(f"SELECT run_uuid, key, value FROM {table}"):  # noqa: S608
            found[run][f"{table}.{key}"] = value
    return found


OF_TRACKIO = ("metrics", "configs")


def trackio(parts: Mapping[str, bytes], folder: Path) -> Any:
    """The runs in the order in which they were begun.

    Also those of which no configuration was kept, as by the first versions of Trackio.
    """
    with _database(parts, folder, "Trackio", OF_TRACKIO) as opened:
        key = _key(opened)
        rows: dict[str, list[Any]] = defaultdict(list)
        named: dict[str, str] = {}
        for run, name, step, values in opened.execute(
            f"SELECT {key}, run_name, step, metrics FROM metrics ORDER BY id"  # noqa: S608
        ):
            if not isinstance(step, int):
                raise Refused(f"run {name} has a step that is no whole number")
            rows[run].append({"step": step, **numbers(_object(values))})
            named.setdefault(run, name)
        fields: dict[str, dict[str, Any]] = {}
        configs = f"SELECT {key}, run_name, config FROM configs ORDER BY id"  # noqa: S608
        there = opened.execute("PRAGMA table_info(configs)").fetchall()
        for run, name, values in opened.execute(configs) if there else ():
            config = _object(values)
            said = {f"config.{key}": value for key, value in settings(config).items()}
            fields[run] = {**said, "name": name, "group": config.get("_Group")}
        refuse_many({name for run in (*fields.values(), *chain(*rows.values())) for name in run})
        return [
            [run, fields.get(run) or {"name": named[run]}, rows[run]]
            for run in dict.fromkeys((*fields, *rows))
        ]


def _key(opened: sqlite3.Connection) -> str:
    """What tells runs apart: an identifier where both tables have one, else the name."""
    for table in OF_TRACKIO:
        if "run_id" not in {row[1] for row in opened.execute(f"PRAGMA table_info({table})")}:
            return "run_name"
    return "COALESCE(run_id, run_name)"


def _object(content: bytes | str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, TypeError, RecursionError) as error:
        raise Refused(f"holds what is no JSON: {error}") from error
    return found if isinstance(found, dict) else {}
