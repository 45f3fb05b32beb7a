"""One run of a program: its folder, its end, what is recorded of it, and what is read of that."""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import astuple
from pathlib import Path
from typing import Final, NamedTuple

from repro.digest import digest
from repro.errors import CorpusError, DeviceError, ProgramError
from repro.files import read_bytes, remove, resolved, try_lock, write_atomically
from repro.results.pattern_rows import PatternRows
from repro.trainers.command import process, results
from repro.trainers.command.attempts import Attempts, begun
from repro.trainers.command.code_files import commit_of, require_same, seen
from repro.trainers.command.left import Left, ProgramRun, gathered
from repro.trainers.command.packaged import is_packaged
from repro.trainers.command.spec import TRACKERS, CommandTraining
from repro.trainers.devices import asked_of_driver, visible_gpus
from repro.trainers.run import ENDED, RunSpec
from repro.trainers.trainer import Finished

WAIT_S: Final = 1.0

OUT: Final = "checkpoint-out"
"""The folder ``{out}`` in that of a run."""

PRINTED: Final = "checkpoint-output.bin"
"""What a program has printed that has ended and is not recorded yet, beside ``ENDED``."""

LONGEST_PATH: Final = 500
"""Characters of a path in a message: a program may make it as long as it likes."""

LARGEST_ENDED: Final = 200_000_000
"""Bytes of the facts of a program that has ended, with the rows of what it printed."""

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
    """Run the program, and give the record of what it left, or that it diverged.

    A program that has ended in ``folder``, and was not recorded, is not run again. ProgramError
    for a run that failed, CorpusError for a program that cannot be started: no other run of it
    would do better. ``{out}`` is removed where it failed, unless the program resumes there.
    """
    spec = CommandTraining.of(run)
    out, stays = folder / OUT, bool(spec.resume)
    mark = f"{run.key}-{digest(str(resolved(folder)))[:16]}"
    process.kill_marked(mark)
    try:
        left = _ended(run, folder)
        if left is None:
            if not stays or out.is_symlink() or not out.is_dir():
                remove(out)
            out.mkdir(exist_ok=True)
            with PatternRows(spec.results.stdout) as search:
                ended = _run(run, spec, out, mark, search)
            if isinstance(ended, Finished):
                return ended
            left = ended
        stays = True  # until it is recorded
        gathered(left, spec, {**spec.args, "seed": run.replicate, "out": str(out)})
        return Finished(run, files=left.record(), notes=tuple(left.notes))
    except RecursionError as error:
        stays = bool(spec.resume)
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
            for path in (out, folder / ENDED, folder / PRINTED):
                with suppress(OSError):
                    remove(path)


def _run(
    run: RunSpec, spec: CommandTraining, out: Path, mark: str, search: PatternRows
) -> Left | Finished:
    values = {**spec.args, "seed": run.replicate, "out": str(out)}
    tracker = spec.results.form in TRACKERS
    place = None if tracker else results.place_of(spec.results, values, Path(spec.folder))
    attempts = begun(out, out.parent, place, series=spec.results.series)
    earlier = _states(out) if attempts.again else {}
    commit = commit_of(spec)
    ended = _program(run, spec, out, mark, search)
    if out.is_symlink() or not out.is_dir():
        raise ProgramError(f"{out}: the program has put something else in the place of its folder")
    if not _well(spec, ended):
        why = f"The program {ended.words}, which the configuration declares a divergence."
        output = {"output.txt": ended.output or b"\n"}
        return Finished(run, files=output, diverged=1, notes=(why, *commit))
    left = _left(ended, spec, attempts, search, [f"The program took {ended.seconds:.1f} s."])
    left.notes += commit
    now = _states(out) if earlier else {}
    left.earlier = [name for name, state in earlier.items() if now.get(name) == state]
    left.series = place.relative_to(out).as_posix() if place is not None else ""
    _note_end(run, out.parent, left)
    return left


def _program(
    run: RunSpec, spec: CommandTraining, out: Path, mark: str, search: PatternRows
) -> process.Ended:
    """How the program ended, on GPUs that no other has; DataError where its files were changed."""
    minutes = spec.resources.minutes
    with gpus_of_this_run(spec.resources.gpus) as gpus:
        before = seen(spec)
        try:
            ended = process.run(
                line_of(spec, spec.arguments(run.replicate, out)),
                folder=Path(spec.folder),
                environment={**os.environ, **_threads(spec), **gpus.variables, **spec.environment},
                mark=mark,
                seconds=None if minutes is None else 60 * minutes,
                on_line=search,
                locks=gpus.locks,
            )
        except process.NotStartedError as error:
            kind = ProgramError if error.number in FOR_NOW else CorpusError
            raise kind(f"{spec.command[0]}: cannot be started: {error}") from error
    require_same(spec, before)
    return ended


def _well(spec: CommandTraining, ended: process.Ended) -> bool:
    """Whether a program has ended well, or else in a divergence; ProgramError if neither."""
    ending = "timeout" if ended.timed_out else "exit" if ended.status else ""
    if ending and ending not in spec.diverged:
        raise ProgramError(f"the program {ended.words}{results.tail(ended.output)}")
    return not ending


def _left(
    ended: process.Ended,
    spec: CommandTraining,
    attempts: Attempts,
    search: PatternRows,
    notes: list[str],
) -> Left:
    """What is known of a program that has ended well, but for its files."""
    left = Left(
        output=ended.output if ended.whole is None else ended.whole,
        whole=ended.whole is not None,
        again=attempts.again,
        cuts=[list(astuple(cut)) for cut in attempts.cuts],
        notes=notes,
    )
    results.search_ended(left, spec.results, search)
    return left


def _note_end(run: RunSpec, folder: Path, left: Left) -> None:
    """Note beside ``{out}`` that a program has ended; ProgramError where that cannot be noted."""
    facts = left.facts()
    document = {"program": ProgramRun.of(run).key, "facts": facts, "sha256": digest(facts)}
    try:
        write_atomically(folder / PRINTED, left.output, durable=False)
        write_atomically(folder / ENDED, json.dumps(document).encode("ascii"), durable=False)
    except OSError as error:
        raise ProgramError(
            f"{folder}: the program has finished, and what it left cannot be recorded: "
            f"{error.strerror or error}\n  expected: room on the disk of the store\n"
            "  to do: free some space and give the same command again; this run is made again, "
            "those that were recorded are kept"
        ) from error


def _ended(run: RunSpec, folder: Path) -> Left | None:
    """What is noted of a program that has ended here and is not recorded yet; None if none has."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        document = json.loads(read_bytes(folder / ENDED, LARGEST_ENDED, follow=False))
        facts, out = document["facts"], folder / OUT
        whole = digest(facts) == document["sha256"] and out.is_dir() and not out.is_symlink()
        if whole and document["program"] == ProgramRun.of(run).key:
            output = read_bytes(folder / PRINTED, LARGEST_ENDED, follow=False)
            return Left(output=output, **facts)
    with suppress(OSError):
        remove(folder / ENDED)
    return None


def _states(out: Path) -> dict[str, tuple[int, int, int]]:
    """When each plain file was written last, its size and its place on the disk."""
    found: dict[str, tuple[int, int, int]] = {}
    for at, _, names in os.walk(out):
        for name in names:
            with suppress(OSError):
                status = Path(at, name).lstat()
                inside = Path(at, name).relative_to(out).as_posix()
                found[inside] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _threads(spec: CommandTraining) -> dict[str, str]:
    """As many threads as cores are declared, for the libraries that ask."""
    cores = str(spec.resources.cores)
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return dict.fromkeys(names, cores)


# GPUs: each belongs to one program at a time, on this machine


class HeldGpus(NamedTuple):
    """GPUs that a run holds: the variable that shows them alone, and the handles of their locks."""

    variables: dict[str, str]
    locks: tuple[int, ...]


@contextmanager
def gpus_of_this_run(count: int) -> Iterator[HeldGpus]:
    """Hold so many GPUs inside.

    Whoever inherits their locks holds them, too. Waits until they are free. DeviceError where the
    machine has fewer.
    """
    if not count:
        yield HeldGpus({}, ())
        return
    names = visible_gpus()
    if len(names) < count:
        raise DeviceError(
            f"{count} GPUs for a run, and {len(names)} are here\n"
            "  to do: declare fewer in `resources`, or use another machine"
        )
    with ExitStack() as held:
        locks = _free(names, count, held)
        yield HeldGpus({"CUDA_VISIBLE_DEVICES": ",".join(locks)}, tuple(locks.values()))


def _identity(name: str, uuids: dict[str, str]) -> str:
    """What a GPU is locked by: ``name`` is its number, or its UUID or the beginning of that."""
    if name in uuids:
        return uuids[name]
    return next((uuid for uuid in uuids.values() if uuid.startswith(name)), name)


def _free(names: list[str], count: int, held: ExitStack) -> dict[str, int]:
    """GPUs that nobody holds, locked until ``held`` is closed, and the handles of their locks.

    By its UUID, where the driver tells it: several jobs of a cluster may call theirs number 0.
    """
    folder = Path(tempfile.gettempdir()) / f"repro-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    parts = [line.partition(",") for line in asked_of_driver("index,uuid")]
    uuids = {number.strip(): uuid.strip() for number, _, uuid in parts if uuid.strip()}
    while True:
        with ExitStack() as tried:
            found: dict[str, int] = {}
            for name in names:
                safe = "".join(c if c.isalnum() else "_" for c in _identity(name, uuids))
                flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
                handle = os.open(folder / safe, flags, 0o600)
                tried.callback(os.close, handle)
                if len(found) < count and try_lock(handle):
                    found[name] = handle
            if len(found) == count:
                held.push(tried.pop_all())
                return found
        time.sleep(WAIT_S)
