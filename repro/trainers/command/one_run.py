"""One run of a program: its folder, its end, and what is kept of it."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from repro.digest import digest
from repro.errors import CorpusError, DataError, ProgramError, printable
from repro.files import leads_out, read_bytes, remove, resolved
from repro.pattern_rows import PatternRows
from repro.trainers.command import process, results
from repro.trainers.command.attempts import Attempts, begun
from repro.trainers.command.code_files import commit_of, require_same, seen
from repro.trainers.command.gpus import gpus_of_this_run
from repro.trainers.command.packaged import is_packaged
from repro.trainers.command.spec import CommandTraining, Resume
from repro.trainers.run import RunSpec
from repro.trainers.trainer import Finished

OUT: Final = "checkpoint-out"
"""The folder ``{out}`` in that of a run."""

LONGEST_PATH: Final = 500
"""Characters of a path in a message: a program may make it as long as it likes."""

MOST_KEPT: Final = 200
KEPT_BYTES: Final = 64_000_000

FOR_NOW: Final = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""Why a program may not start that will another time."""


def line_of(spec: CommandTraining, line: Sequence[str]) -> list[str]:
    """The command line; `python` of a packaged claim is the Python that runs repro.

    It imports nothing from beside the program (`-P`): whatever lies there, its own files are all
    that runs.
    """
    if line[0] == "python" and is_packaged(spec):
        return [sys.executable, "-P", *line[1:]]
    return list(line)


def finished(run: RunSpec, folder: Path) -> Finished:
    """Run the program, and keep what it left, or that it diverged.

    ProgramError for a run that failed, CorpusError for a program that cannot be started: no other
    run of it would do better. ``{out}`` is removed, unless the program resumes there.
    """
    spec = CommandTraining.of(run)
    out, stays = folder / OUT, bool(spec.resume)
    mark = f"{run.key}-{digest(str(resolved(folder)))[:16]}"
    process.kill_marked(mark)
    try:
        if not stays or out.is_symlink() or not out.is_dir():
            remove(out)
        out.mkdir(exist_ok=True)
        with PatternRows(spec.results.stdout) as search:
            return _run(run, spec, out, mark, search)
    except RecursionError as error:
        raise ProgramError(
            f"{out}: its folders are nested too deep to be looked through"
        ) from error
    except OSError as error:
        if not folder.is_dir():  # the store went away
            raise
        why = error.strerror or str(error)
        raise ProgramError(f"{str(error.filename or out)[:LONGEST_PATH]}: {why}") from error
    finally:
        if not stays:
            with suppress(OSError):
                remove(out)


def _run(
    run: RunSpec, spec: CommandTraining, out: Path, mark: str, search: PatternRows
) -> Finished:
    values = {**spec.args, "seed": run.replicate, "out": str(out)}
    place = results.place_of(spec.results, values, Path(spec.folder))
    attempts = begun(out, out.parent, place, series=spec.results.series)
    minutes = spec.resources.minutes
    commit = commit_of(spec)
    with gpus_of_this_run(spec.resources.gpus) as gpus:
        before = seen(spec)
        try:
            ended = process.run(
                line_of(spec, spec.arguments(run.replicate, out)),
                folder=Path(spec.folder),
                environment={
                    **os.environ,
                    **_threads(spec),
                    **gpus.variables,
                    **spec.environment,
                },
                mark=mark,
                seconds=None if minutes is None else 60 * minutes,
                on_line=search,
                locks=gpus.locks,
            )
        except process.NotStartedError as error:
            kind = ProgramError if error.number in FOR_NOW else CorpusError
            raise kind(f"{spec.command[0]}: cannot be started: {error}") from error
    require_same(spec, before)
    if out.is_symlink() or not out.is_dir():
        raise ProgramError(f"{out}: the program has put something else in the place of its folder")
    return _judged(run, ended, search, out, attempts, commit)


def _judged(
    run: RunSpec,
    ended: process.Ended,
    search: PatternRows,
    out: Path,
    attempts: Attempts,
    commit: tuple[str, ...],
) -> Finished:
    """What became of a program that has ended: finished, diverged, or ProgramError."""
    spec = CommandTraining.of(run)
    took = f"The program took {ended.seconds:.1f} s."
    ending = "timeout" if ended.timed_out else "exit" if ended.status else ""
    if ending and ending not in spec.diverged:
        raise ProgramError(f"the program {ended.words}{tail(ended.output)}")
    if ending:
        why = f"The program {ended.words}, which the configuration declares a divergence."
        output = {"output.txt": ended.output or b"\n"}
        return Finished(run, files=output, diverged=1, notes=(why, *commit))
    values = {**spec.args, "seed": run.replicate, "out": str(out)}
    step = spec.resume.step if isinstance(spec.resume, Resume) else None
    try:
        rows = results.rows_of(spec.results, values, Path(spec.folder), search, attempts, step)
    except DataError as error:
        raise ProgramError(f"{error}{tail(ended.output)}") from None
    mixed = attempts.again and spec.results.series and step is None
    kept = _kept(spec, out)
    files = {f"kept_{i}.{_ending(name)}": data for i, (name, data) in enumerate(kept.items())}
    return Finished(
        run,
        files={
            "results.json": results.document(rows, series=spec.results.series, mixed=mixed),
            "output.txt": ended.output or b"\n",
            "kept.json": json.dumps(dict(zip(kept, files, strict=True))).encode("utf-8"),
            **files,
        },
        notes=(took, *commit),
    )


def tail(output: bytes) -> str:
    """The last lines of an output, for a message."""
    lines = output.decode("utf-8", "replace").splitlines()[-8:]
    return "".join(f"\n  | {line[:300]}" for line in lines)


def _threads(spec: CommandTraining) -> dict[str, str]:
    """As many threads as cores are declared, for the libraries that ask."""
    cores = str(spec.resources.cores)
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return dict.fromkeys(names, cores)


def _kept(spec: CommandTraining, out: Path) -> Mapping[str, bytes]:
    """The files of ``keep``, by their paths in ``{out}``; ProgramError where they are too large."""
    found: dict[str, bytes] = {}
    left = KEPT_BYTES
    for pattern in spec.keep:
        for path in sorted(out.glob(pattern)):
            name = path.relative_to(out).as_posix()
            if name in found or path.is_symlink() or not path.is_file() or leads_out(path, out):
                continue
            if len(found) >= MOST_KEPT or path.stat().st_size > left:
                limit = f"{MOST_KEPT} files of {KEPT_BYTES / 1e6:.0f} MB together"
                raise ProgramError(f"{printable(name)}: `keep` keeps at most {limit}")
            try:
                found[name] = read_bytes(path, left, follow=False)
            except OSError as error:
                why = error.strerror or str(error)
                raise ProgramError(f"{printable(name)}: `keep` cannot keep it: {why}") from error
            left -= len(found[name])
    return found


def _ending(name: str) -> str:
    ending = Path(name).suffix[1:].lower()
    return ending if ending.isascii() and ending.isalnum() and len(ending) <= 16 else "bin"
