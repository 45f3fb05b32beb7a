"""In which form results lie in a file or a folder, and the imports that read it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from repro.errors import ClaimError, DataError
from repro.results.databases import tables_of
from repro.results.folder_forms import (
    READ_LOGS,
    WAYS,
    Form,
    Inside,
    forms_named,
)
from repro.results.json_runs import one_log, read_json, runs_in_json
from repro.results.log_runs import LOGS, names_in_log, runs_in_log
from repro.results.path_names import alike
from repro.results.result_files import FORMS
from repro.results.run_fields import UnfitError, named, refused, unfit
from repro.results.series import in_lines

MOST_FILES = 20_000
PATTERN = re.compile(r"[*?{]")
RANGES = ("__MIN", "__MAX")
"""How the columns of a chart end that hold no run, but the range of one."""


class Way(NamedTuple):
    """One of the ways in which results may lie there, in words, and the forms that they have."""

    words: str
    forms: Callable[[], tuple[Form, ...]]


def ways_of(path: Path, root: Path, *, asked: bool = False) -> list[Way]:
    """How the results at ``path`` may be imported by a claim in the folder ``root`` above it.

    ClaimError where there is nothing, or no form that is known. The forms of a way are looked for
    when they are asked for; UnfitError where results are of another form. ``asked``: an option
    names the field of the arms, or the number.
    """
    if not path.exists():
        raise _nothing(path)
    place = path.resolve().relative_to(root.resolve()).as_posix()
    if path.is_file():
        return [Way("a file", lambda: (_of_file(path, place),))]
    inside = Inside(path, root, _files(path), asked)
    ways = [
        Way(words, partial(_noted, inside, find))
        for words, there, find in WAYS
        if getattr(inside, there)
    ]
    if _of_tracker(path, place, look=False):
        ways.insert(0, Way("the store of a tracker", partial(_of_tracker, path, place)))
    if not ways:
        expected = f"files {', '.join((*FORMS, *LOGS))}, or the folder of a tracker"
        raise refused(path, "no results are in this folder", expected, "name their folder")
    return ways


def _noted(inside: Inside, find: Callable[[Inside], tuple[Form, ...]]) -> tuple[Form, ...]:
    """The forms of a way, of which the first says which links to folders were not followed."""
    first, *others = find(inside)
    links = [each for each in inside.path.rglob("*") if each.is_symlink() and each.is_dir()]
    if not links:
        return (first, *others)
    note = f"not followed, links to folders: {named([inside.below(each) for each in links])}"
    return (replace(first, notes=(*first.notes, note)), *others)


def _nothing(path: Path) -> ClaimError:
    """The error of a path that is not there, or of a pattern that the shell has not filled in."""
    mistake, advice = "there is no such file or folder", "check the path"
    place = next(n for n, part in enumerate((*path.parts, "*")) if PATTERN.search(part))
    if place < len(path.parts):
        mistake = "a pattern, and no file or folder"
        advice = f"give the folder above, {Path(*path.parts[:place])}: what is in it is looked for"
    return refused(path, mistake, "results", advice)


def _of_file(path: Path, place: str) -> Form:
    suffix = path.suffix.lower()
    if suffix in (".db", ".sqlite", ".sqlite3"):
        tracker = _database(path)
        return Form(f"the database of {tracker}", {"from": tracker, "path": place})
    if suffix == ".wandb":
        return Form("a run of wandb", {"from": "wandb", "path": place})
    if suffix in FORMS and (suffix != ".json" or in_lines(read_json(path))):
        words = "a table" if FORMS[suffix] == "csv" else "JSON lines, a run per line"
        return Form(words, {"from": "files", "path": place, "each": "row"})
    if suffix == ".json":
        words, runs = runs_in_json(path)
        importer = {"from": "files", "path": place, "each": "row"}
        return Form(f"a JSON file: {words}", importer, runs=runs)
    if suffix == ".eval":
        raise one_log(path)
    if suffix in LOGS:
        return _of_log(path, place)
    expected = f"{', '.join((*FORMS, *LOGS))}, a database of mlflow or trackio, or a folder"
    advice = "write it as CSV: columns arm, seed, and the number that was measured"
    raise refused(path, "of a form that is not known", expected, advice)


def _of_log(path: Path, place: str) -> Form:
    """A log of several runs; ClaimError for that of one."""
    if runs := runs_in_log(path, place):
        return Form("a log with several runs in it", {"path": place}, runs=runs)
    if not (names := names_in_log(path)):
        mistake = "no number stands in this log as `name: 1.5` or `name=1.5`"
        raise refused(path, mistake, "numbers with their names", READ_LOGS)
    mistake = f"this log is one run, with the numbers {named(names)}"
    advice = f"give the folder with the logs of all runs, such as {path.parent}"
    expected = "the logs of several runs, or one that says arm and seed of each"
    raise refused(path, mistake, expected, advice)


def _database(path: Path) -> str:
    """Whose tables a file of sqlite has; ClaimError where it is neither, or is not read."""
    try:
        names = tables_of(path)
    except DataError as error:
        raise UnfitError(str(error)) from None
    if {"runs", "experiments"} <= names:
        return "mlflow"
    if {"metrics", "configs"} <= names:
        return "trackio"
    advice = "give another file, or write the results as CSV"
    raise unfit(path, "is no database that is known", "one of mlflow or trackio", advice)


def _of_tracker(path: Path, place: str, *, look: bool = True) -> tuple[Form, ...]:
    """The store of a tracker, where the folder is one or holds one.

    Without a ``look`` into its database it may be that of another.
    """
    below = f"{place}/" if place != "." else ""
    if (path / "mlflow.db").is_file():
        return (Form("the database of mlflow", {"from": "mlflow", "path": f"{below}mlflow.db"}),)
    for name in ("", "mlruns"):
        if any((path / name).glob("*/meta.yaml")):
            folder = f"{below}{name}".rstrip("/")
            return (Form("the folder of mlflow", {"from": "mlflow", "path": folder}),)
    if runs := [each.relative_to(path).parts[0] for each in path.rglob("run-*.wandb")]:
        alone = set(runs) == {"wandb"}
        return (
            Form("runs of wandb", {"from": "wandb", "path": f"{below}wandb" if alone else place}),
        )
    databases = sorted(path.glob("*.db"))
    if len(databases) != 1:
        return ()
    name = f"{below}{databases[0].name}"
    return (_of_file(databases[0], name) if look else Form("a database", {"path": name}),)


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


def forms_of_chart(
    path: Path, place: str, names: Sequence[str], number: str
) -> tuple[tuple[Form, ...], str]:
    """The imports of a chart that W&B exported, whose columns are runs, and the number in it.

    ClaimError where it shows several numbers and none is named, or no two runs are named alike.
    """
    shown: dict[str, list[str]] = defaultdict(list)
    for name in names[1:]:
        run, dash, what = name.rpartition(" - ")
        if dash and not name.endswith(RANGES):
            shown[what].append(run)
    number = number or (next(iter(shown)) if len(shown) == 1 else "")
    if number not in shown:
        expected = ", ".join(shown)
        raise refused(path, "a chart of several numbers", expected, "name one: --measure NAME")
    found = alike(shown[number])
    several = [template for template, alike in found.items() if len(alike) > 1 and "{" in template]
    if not several:
        mistake = "a chart whose columns are runs, and no two are named alike but for a number"
        advice = "export the table of runs, with the setting that tells the arms apart"
        raise refused(path, mistake, "mixup-0, mixup-1, plain-0 ...", advice)
    imports = {
        each: {"from": "files", "path": place, "columns": f"{each} - {number}"} for each in several
    }
    left = tuple(alike[0] for alike in found.values() if len(alike) == 1)
    return forms_named("a chart that W&B exported, a run per column", imports, left), number
