"""What a program left for a tracker, read by the importer that reads it in an `import` arm."""

from __future__ import annotations

import os
import shutil
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from repro.errors import DataError, printable
from repro.results.importer import FilesRead
from repro.results.importers import IMPORTERS
from repro.results.series import Row

BESIDE: Final = ("", "-wal", "-journal")
"""How the files of a database end."""

EVENTS, MOST_NAMED = "*tfevents*", 8


def needed(form: str, name: str, place: str) -> bool:
    """Whether a file of ``{out}`` is read of results in a ``place`` there; `.` is all of it."""
    last = name.rpartition("/")[2]
    if name in {place + ending for ending in BESIDE}:
        return True
    if place != "." and not name.startswith(f"{place}/"):
        return False
    if form == "mlflow":
        return "/artifacts/" not in name
    return fnmatch(last, EVENTS if form == "tensorboard" else "*.wandb")


def tracked(form: str, path: Path, out: Path) -> list[Row]:
    """The rows of the one run that is at ``path``; DataError for none, several, or no whole one."""
    if not path.exists():
        raise _refused(path, "no such file or folder", "what the tracker wrote for this run")
    if form == "tensorboard":
        path = _folder_of_events(path, out)
    copied = out.parent / "tracked"  # a plain name: the importer takes some for patterns
    try:
        importer = IMPORTERS.get(form).model_validate(
            {"from": form, "path": _copied(path, copied).name}
        )
        files = FilesRead()
        runs = list(importer.runs(copied, files))
    except DataError as error:
        said = str(error).replace(str(copied / "run"), str(path)).replace("`path`", "`results`")
        raise DataError(said) from error
    finally:
        shutil.rmtree(copied, ignore_errors=True)
    if len(runs) != 1:
        named = ", ".join(printable(run.place)[:80] for run in runs[:MOST_NAMED]) or "none"
        raise _refused(path, f"{len(runs)} runs are there: {named}", "one run in each {out}")
    (run,) = runs
    if run.state != "finished":
        raise _refused(path, f"its tracker says that the run is {run.state}", "one that finished")
    if not any(run.rows):
        raise _refused(path, "no numbers", "at least one")
    rows: list[Row] = run.rows
    return rows


def _folder_of_events(path: Path, out: Path) -> Path:
    """The folder itself, or else the only one below it that holds events."""
    if any(path.glob(EVENTS)):
        return path
    walked = (Path(at) for at, _, names in os.walk(path) if any(fnmatch(n, EVENTS) for n in names))
    below = sorted(walked)
    if len(below) != 1:
        shown = [f"'{{out}}/{printable(b.relative_to(out).as_posix())}'" for b in below]
        what = f"events are in {len(below)} folders: {', '.join(shown[:MOST_NAMED])}"
        mistake = what if below else "no file of events (*tfevents*) is there"
        raise _refused(path, mistake, "the folder of one run, such as the one that is meant")
    return below[0]


def _copied(path: Path, folder: Path) -> Path:
    """A copy in an empty folder, with the files of a database."""
    folder.mkdir()
    copy = folder / "run"
    if path.is_dir():
        shutil.copytree(path, copy, symlinks=True)
        return copy
    for ending in BESIDE:
        if (beside := path.with_name(path.name + ending)).is_file():
            shutil.copyfile(beside, copy.with_name(f"run{ending}"), follow_symlinks=False)
    return copy


def _refused(path: Path, mistake: str, expected: str) -> DataError:
    return DataError(
        f"{path}: {mistake}\n  expected: {expected}\n"
        "  to do: correct `results`, or what the program writes"
    )
