"""Readers of other people's results: the table, and what an `import` may declare.

Every reader is asked whether it recognises results, and in which ways they may be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from repro.errors import ClaimError, DataError, ReproError
from repro.plugins import Table, class_of_others
from repro.results.forms import (
    Form,
    FoundRun,
    OneEachError,
    ResultsThere,
    UnfitError,
    Way,
    named,
    refused,
    store,
    unfit,
)
from repro.results.importer import CustomImporter, FilesRead, Importer, ThirdPartyImporter
from repro.results.log_runs import LOGS
from repro.results.reader import tables_of
from repro.results.run_values import FoundValue
from repro.results.series import FORMS
from repro.schema.base import open_union

IMPORTERS: Table[type[Importer]] = Table(
    "repro.importers",
    {
        "files": "repro.results.result_files:Files",
        "mlflow": "repro.results.mlflow:Mlflow",
        "tensorboard": "repro.results.tensorboard:TensorBoard",
        "wandb": "repro.results.wandb:Wandb",
        "trackio": "repro.results.trackio:Trackio",
        "inspect": "repro.results.inspect_logs:Inspect",
        "lm_eval": "repro.results.lm_eval:LmEval",
    },
)
"""A new reader of ours is one line here, and its file."""

AnyImporter: Any = open_union(
    list(map(IMPORTERS.get, IMPORTERS.names())),
    ThirdPartyImporter,
    CustomImporter,
    lambda name: ":" in name or IMPORTERS.has(name),
    field="from_",
)

ASKED = ("mlflow", "wandb", "trackio", "inspect", "tensorboard", "lm_eval", "files")
"""The readers that are built in, the surest first."""

DATABASES = (".db", ".sqlite", ".sqlite3")
MOST_FILES = 20_000
PATTERN = re.compile(r"[*?{]")

Readers: TypeAlias = Mapping[str, type[Importer]]
"""Readers, by what `import: {from: ...}` calls them."""


def custom_importer(name: str) -> tuple[str, type[CustomImporter]]:
    """Where a reader that is not built in is, and its keys; DataError for what is no reader."""
    words = ("reader of results", "a class below repro.extend.Importer", "add-a-reader")
    return class_of_others(IMPORTERS, name, CustomImporter, words)


def importer_named(name: str) -> type[Importer]:
    """The reader that an `import` calls so; DataError for what is no reader."""
    return IMPORTERS.get(name) if name in IMPORTERS.names() else custom_importer(name)[1]


def ways_of(path: Path, root: Path, reader: str = "", *, asked: bool = False) -> list[Way]:
    """How the results at ``path`` may be imported by a claim in the folder ``root`` above it.

    By ``reader`` alone, where one is named, which has consent; else by those that an installed
    package adds, then by those that are built in. ClaimError where there is nothing, or no form
    that is known. ``asked``: an option names the field of the arms, or the number.
    """
    if not path.exists():
        raise _nothing(path)
    names = (reader,) if reader else (*IMPORTERS.added(), *ASKED)
    readers = {name: importer_named(name) for name in names}
    there = ResultsThere(path, root, () if path.is_file() else _files(path), asked)
    ways = [way for name in readers for way in _recognised(name, readers[name], there)]
    trackers = [way for way in ways if way.sort == "tracker"] or [*_database(there, readers)]
    framework = any(way.sort == "framework" for way in ways)
    others = (way for way in ways if way.sort != "tracker")
    ways = [*trackers[:1], *(way for way in others if not (framework and way.sort == "numbers"))]
    if ways or reader:
        return ways or [_filled(reader, store(f"what {reader} reads", there.place), there)]
    if path.is_file():
        known = " or ".join(name for name in readers if readers[name].tables)
        expected = f"{', '.join((*FORMS, *LOGS))}, a database of {known}, or a folder"
        advice = "write it as CSV: columns arm, seed, and the number that was measured"
        raise refused(path, "of a form that is not known", expected, advice)
    expected = f"files {', '.join((*FORMS, *LOGS))}, or the folder of a tracker"
    raise refused(path, "no results are in this folder", expected, "name their folder")


def _recognised(name: str, reader: type[Importer], there: ResultsThere) -> list[Way]:
    with _told(name):
        return [_filled(name, way, there) for way in reader.ways(there)]


def _filled(name: str, way: Way, there: ResultsThere) -> Way:
    """The way, in whose forms the reader is named, and links to folders that were not followed."""

    def forms() -> tuple[Form, ...]:
        first, *others = (
            replace(form, importer={"from": name, **form.importer}) for form in way.forms()
        )
        links = [each for each in there.path.rglob("*") if each.is_symlink() and each.is_dir()]
        if links and way.sort != "tracker":
            note = f"not followed, links to folders: {named([there.below(each) for each in links])}"
            first = replace(first, notes=(*first.notes, note))
        return (first, *others)

    return way._replace(forms=forms)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Name a reader that is not built in where it fails, whatever it raises."""
    try:
        yield
    except ReproError:
        raise
    except Exception as error:
        raise DataError(f"{name}: {type(error).__name__}: {error}") from error


def _database(there: ResultsThere, readers: Readers) -> Iterator[Way]:
    """Of a sqlite file, or the only one in a folder, once it is known whose tables it has."""
    databases = [there.path] if there.suffix in DATABASES else sorted(there.path.glob("*.db"))
    if len(databases) == 1 and any(each.tables for each in readers.values()):
        forms = partial(_of_tables, databases[0], there.below(databases[0]), readers)
        yield Way("the store of a tracker", forms, "tracker")


def _of_tables(path: Path, place: str, readers: Readers) -> tuple[Form, ...]:
    """UnfitError for a file that has the tables of no reader, or is not read."""
    try:
        tables = tables_of(path)
    except DataError as error:
        raise UnfitError(str(error)) from None
    known = {name: each.tables for name, each in readers.items() if each.tables}
    for name, its_own in known.items():
        if its_own <= tables:
            return (Form(f"the database of {name}", {"from": name, "path": place}),)
    advice = "give another file, or write the results as CSV"
    raise unfit(path, "is no database that is known", f"one of {' or '.join(known)}", advice)


def import_of(path: Path, declared: Mapping[str, Any]) -> Importer:
    """The import of the results at ``path``; ClaimError where a claim cannot declare it."""
    return importer_named(declared["from"]).declared(path, declared)


def runs_of_form(path: Path, form: Form, base: Path, read: FilesRead) -> list[FoundRun]:
    """The runs of a form, with the first one, whose name has no number."""
    if form.runs is not None:
        return [*form.runs]
    runs = runs_of(path, form.importer, base, read)
    if form.first is None:
        return runs
    first = runs_of(path, {**form.importer, "path": form.first.name}, base, read)
    return [*(replace(run, fields={**run.fields, **form.first.said}) for run in first), *runs]


def runs_of(path: Path, declared: Mapping[str, Any], base: Path, read: FilesRead) -> list[FoundRun]:
    """The runs that an import finds below ``base``."""
    importer = import_of(path, declared)
    with _told(declared["from"]):
        return list(importer.runs(base, read))


def refuse_one_each(path: Path, way: Way, runs: Mapping[str, Sequence[FoundValue]]) -> None:
    """OneEachError where a framework evaluated each of several arms once, on every task."""
    each = [(arm, run.task) for arm, found in runs.items() for run in found]
    if way.sort == "framework" and len(runs) > 1 and len({*each}) == len(each):
        mistake, advice = "one value for each arm and task", "give several runs of each"
        raise OneEachError(str(refused(path, mistake, "several runs of each arm", advice)), "")


def told_of_items(error: OneEachError, path: Path, way: Way, base: Path) -> ClaimError:
    """The error; of a framework with the field of its items, by which arms may be compared."""
    if way.sort == "framework":
        with suppress(ReproError):
            form = way.forms()[0]
            importer = import_of(path, form.importer)
            head, advice = str(error).partition("to do: ")[0], f"--items {importer.item}"
            if importer.item and next(iter(importer.items(base, FilesRead())), None):
                return ClaimError(f"{head}to do: compare them item by item, {advice}")
            if importer.item:
                keep = "evaluate again and keep the answers (lm_eval: --log_samples), then compare"
                return ClaimError(f"{head}to do: {keep} them item by item, {advice}")
    return error


def _nothing(path: Path) -> ClaimError:
    """The error of a path that is not there, or of a pattern that the shell has not filled in."""
    mistake, advice = "there is no such file or folder", "check the path"
    place = next(n for n, part in enumerate((*path.parts, "*")) if PATTERN.search(part))
    if place < len(path.parts):
        mistake = "a pattern, and no file or folder"
        advice = f"give the folder above, {Path(*path.parts[:place])}: what is in it is looked for"
    return refused(path, mistake, "results", advice)


def _files(path: Path) -> list[Path]:
    files = []
    for each in path.rglob("*"):
        if any(part.startswith(".") for part in each.relative_to(path).parts):
            continue
        if each.is_file():
            files.append(each)
        if len(files) > MOST_FILES:
            mistake, advice = f"more than {MOST_FILES:,} files", "name a folder in it"
            raise refused(path, mistake, "the folder of some runs", advice)
    return sorted(files)
