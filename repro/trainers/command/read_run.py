"""A run, read from the record of what its program left: its rows, and the files to be kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from repro.errors import DataError, NotKeptError, ReadingError, printable
from repro.results.series import Row
from repro.trainers.command import results
from repro.trainers.command.attempts import Attempts, Cut
from repro.trainers.command.left import MOST_KEPT, Left, ending, taken
from repro.trainers.command.process import shortened
from repro.trainers.command.results import said_of
from repro.trainers.command.spec import CommandTraining, Resume
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Finished


def read(run: RunSpec, record: Mapping[str, bytes]) -> Finished:
    """The run that a configuration reads of what a program left.

    ReadingError where it cannot be read, with what is there; NotKeptError where that is because
    the content of a file was not kept.
    """
    spec, left = CommandTraining.of(run), Left.of(record)
    with left.unpacked() as out:
        values = {**spec.args, "seed": run.replicate, "out": str(out)}
        try:
            rows, mixed = _rows(spec, left, values)
            kept = _kept(spec, left, out)
        except DataError as error:
            kind = NotKeptError if isinstance(error, NotKeptError) else ReadingError
            message = str(error).replace(str(out), "{out}")
            raise kind(f"{message}{said_of(left)}{results.tail(left.output)}") from None
    files = {f"kept_{i}.{ending(name)}": data for i, (name, data) in enumerate(kept.items())}
    return Finished(
        run,
        files={
            "results.json": results.document(rows, series=spec.results.series, mixed=mixed),
            "output.txt": (shortened(left.output) if left.whole else left.output) or b"\n",
            "kept.json": json.dumps(dict(zip(kept, files, strict=True))).encode("utf-8"),
            **files,
        },
        notes=tuple(left.notes),
    )


def _rows(spec: CommandTraining, left: Left, values: Mapping[str, Any]) -> tuple[list[Row], bool]:
    """The rows of a run, and whether those of attempts that were cut off may be among them."""
    declared, out = spec.results, Path(values["out"])
    step = spec.resume.step if isinstance(spec.resume, Resume) else None
    path = results.place_of(declared, values, Path(spec.folder))
    if path is None:
        return results.printed(left, str(declared.stdout)), left.again
    name = path.relative_to(out).as_posix() if path.is_relative_to(out) else ""
    parents = {each.as_posix() for each in (PurePosixPath(name), *PurePosixPath(name).parents)}
    if parents & {*left.links}:
        raise results.leads_out_of(path)
    for each in left.sizes:
        if taken(declared, each, name):
            left.require(each)
    if not declared.series and name in left.earlier:
        raise results.refused(
            str(path),
            "was written by an earlier attempt, and not by the one that ended",
            "the results of the run",
        )
    cuts = tuple(Cut(*each) for each in left.cuts) if name == left.series else ()
    known = step is not None and name == left.series
    attempts = Attempts(left.again, cuts)
    rows = results.rows_of(declared, values, Path(spec.folder), attempts, step)
    return rows, left.again and declared.series and not known


def _kept(spec: CommandTraining, left: Left, out: Path) -> Mapping[str, bytes]:
    """The files of ``keep``, by their paths in ``{out}``."""
    found: dict[str, bytes] = {}
    for pattern in spec.keep:
        for path in sorted(out.glob(pattern)):
            name = path.relative_to(out).as_posix()
            if name in found or not path.is_file():
                continue
            left.require(name)
            if len(found) >= MOST_KEPT:
                raise NotKeptError(f"{printable(name)}: `keep` keeps at most {MOST_KEPT} files")
            found[name] = left.files[name]
    return found
