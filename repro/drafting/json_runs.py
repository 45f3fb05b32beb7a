"""The runs in one JSON file: a list of runs, or what is said of them by arm, by seed, by column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from repro.drafting.run_fields import ARMS, SEEDS, last_part, named, refused
from repro.errors import DataError
from repro.evidence.imports.importer import FilesRead, FoundRun
from repro.evidence.imports.inspect_logs import Inspect
from repro.evidence.imports.known_json import known_form
from repro.files import read_bytes
from repro.series import Record, flat, numbers_in

LARGEST = 200_000_000
"""Bytes of the largest file that is read."""

SERIES = frozenset({"loss", "acc", "accuracy", "error", "lr", "learning_rate", "epoch", "step"})
"""Last words in the names of what is logged during one run: lists of these are no arms."""

MOST_ABOVE = 3
"""So many folders above a file are searched for others like it."""

_SEED = re.compile(r"(?i)(?:seed|run)?[_=-]?(\d{1,15})")


class FoundRecords(NamedTuple):
    """What a file was read as, and what it says of each run."""

    words: str
    records: tuple[Record, ...]


def runs_in_json(path: Path) -> tuple[str, tuple[FoundRun, ...]]:
    """What the file was read as, and its runs.

    ClaimError for a file that is no JSON, or that is one run.
    """
    document = _document(path)
    if (found := _records(document)) is None:
        raise _one_run(path, document)
    runs = (
        FoundRun(f"run {place}", record, [numbers_in(record)])
        for place, record in enumerate(found.records, start=1)
    )
    return found.words, tuple(runs)


def _document(path: Path) -> Any:
    expected, advice = "JSON with the results of several runs", "check the file"
    try:
        return json.loads(read_bytes(path, LARGEST))
    except OSError as error:
        raise refused(path, f"cannot be read: {error.strerror}", expected, advice) from None
    except (ValueError, RecursionError) as error:
        raise refused(path, f"is no JSON: {error}", expected, advice) from None


def _records(document: Any) -> FoundRecords | None:
    """The runs in a document; None where it is one run."""
    if _lists_objects(document):
        if known_form(json.dumps(document)) is not None:
            return None
        return FoundRecords("a list of runs", tuple(map(_flat, document)))
    if not isinstance(document, dict) or not document:
        return None
    ways = (_of_lists, _of_objects, _of_series, _list_inside)
    return next((found for way in ways if (found := way(document)) is not None), None)


def _of_lists(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"mixup": [{"seed": 0, "error": 4.2}]}`: a list of runs per arm."""
    if len(document) < 2 or not all(map(_lists_objects, document.values())):
        return None
    records = ({"arm": arm, **_flat(each)} for arm, runs in document.items() for each in runs)
    return FoundRecords("a list of runs per arm", tuple(records))


def _of_objects(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"mixup": {"0": 4.2}}` or `{"mixup": {"seed_0": {"error": 4.2}}}`; or a table of pandas.

    That is the same with columns outside (`{"arm": {"0": "mixup"}}`), or rows.
    """
    inner = list(document.values())
    if not all(isinstance(each, dict) and each for each in inner):
        return None
    if all(map(_SEED.fullmatch, document)) and len(document) > 1:
        return FoundRecords("an object per row", tuple(map(_flat, inner)))
    keys = dict.fromkeys(key for each in inner for key in each)
    if len(document) < 2 or not all(map(_SEED.fullmatch, keys)):
        return None
    if any(isinstance(value, str) for each in inner for value in each.values()):
        rows = ({name: each.get(key) for name, each in document.items()} for key in keys)
        return FoundRecords("an object per column", tuple(rows))
    records = (
        {"arm": arm, "seed": _seed(key), **(_flat(value) if isinstance(value, dict) else {})}
        | ({} if isinstance(value, dict) else {"value": value})
        for arm, each in document.items()
        for key, value in each.items()
    )
    return FoundRecords("an object per arm, with its seeds", tuple(records))


def _of_series(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"arm": ["mixup"], "error": [4.2]}`: a list per column; `{"mixup": [4.2]}`: one per arm.

    None for lists of numbers of which some are named as what is logged in a run is.
    """
    lists = list(document.values())
    if len(document) < 2 or not all(isinstance(each, list) and each for each in lists):
        return None
    if any(isinstance(value, list | dict) for each in lists for value in each):
        return None
    if any(isinstance(value, str) for each in lists for value in each):
        if len({len(each) for each in lists}) > 1:
            return None
        rows = (dict(zip(document, cells, strict=True)) for cells in zip(*lists, strict=True))
        return FoundRecords("a list per column", tuple(rows))
    if any(is_series(name) for name in document):
        return None
    records = ({"arm": arm, "value": value} for arm, each in document.items() for value in each)
    return FoundRecords("a list of values per arm", tuple(records))


def _list_inside(document: Mapping[str, Any]) -> FoundRecords | None:
    """`{"runs": [{"arm": "mixup", "seed": 0, "error": 4.2}]}`, where its items name arm or seed.

    Others, such as the `log_history` of a trainer, are the series of one run.
    """
    found = [(name, each) for name, each in flat(document) if _lists_objects(each)]
    if len(found) != 1:
        return None
    ((name, each),) = found
    records = tuple(map(_flat, each))
    if not all(any(last_part(key) in (*ARMS, *SEEDS) for key in each) for each in records):
        return None
    return FoundRecords(f"a list of runs, '{name}'", records)


def is_series(name: str) -> bool:
    """Whether something is named as what is logged during a run."""
    return re.split(r"[^a-z0-9]+", name.casefold())[-1] in SERIES or name.casefold() in SERIES


def _lists_objects(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _flat(document: Mapping[str, Any]) -> Record:
    return dict(flat(document))


def _seed(key: str) -> int:
    found = _SEED.fullmatch(key)
    return int(found[1]) if found else 0


def _one_run(path: Path, document: Any) -> Exception:
    """What is said of a file that is one run: which numbers it has, and where others lie."""
    known = known_form(json.dumps(document))
    rows = [numbers_in(_flat(document))] if isinstance(document, dict) else []
    if isinstance(document, dict) and isinstance(document.get("eval"), dict):
        return one_log(path)
    names = dict.fromkeys(name for row in known or rows for name in row)
    what = f", with the numbers {named(names)}" if names else ", and no number is at its top"
    return _alone(path, f"one JSON file is one run{what}")


def one_log(path: Path) -> Exception:
    """What is said of one log of inspect."""
    said = "".join(_said_in_log(path))
    return _alone(path, f"one log of inspect is one run{said}")


def _said_in_log(path: Path) -> Iterator[str]:
    """Task, model and numbers of a log, as far as it can be read."""
    try:
        importer = Inspect.model_validate({"from": "inspect", "path": path.name})
        (run,) = importer.runs(path.parent, FilesRead())
    except (DataError, ValueError):
        return
    yield from (f", {key} {run.fields[key]}" for key in ("task", "model") if key in run.fields)
    if run.rows and run.rows[0]:
        yield f", with the numbers {named(run.rows[0])}"


def _alone(path: Path, mistake: str) -> Exception:
    beside = sum(each.suffix == path.suffix for each in path.parent.iterdir()) - 1
    there = f"; {beside} more {path.suffix} lie beside it" if beside else ""
    advice = f"give the folder with the files of all runs, such as {_folder_of_several(path)}"
    return refused(path, f"{mistake}{there}", "a table, or the files of several runs", advice)


def _folder_of_several(path: Path) -> Path:
    """The nearest folder above that has another such file as deep below it; else the file's own."""
    for depth, folder in enumerate(path.parents[:MOST_ABOVE]):
        alike = folder.glob("*/" * depth + f"*{path.suffix}")
        if len(list(islice(alike, 2))) > 1:
            return folder
    return path.parent
