"""The trainer of commands: a program is run once per replicate, and its numbers are kept."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from repro.digest import file_digest
from repro.errors import DataError, ReproError
from repro.files import leads_out, read_bytes
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.series import Heard, Reduction, Row, chosen
from repro.trainers.command import process, results
from repro.trainers.command.gpus import gpus_of_this_run
from repro.trainers.command.packaged import EXTRA, difference, is_packaged, not_installed
from repro.trainers.command.spec import CommandTraining
from repro.trainers.measurement import Measured, MeasurementSpec
from repro.trainers.run import RunSpec
from repro.trainers.trainer import (
    FLOPS_PER_CORE,
    Cost,
    Device,
    Finished,
    NamesCode,
    Progress,
    Report,
    Trainer,
)

OUT: Final = "checkpoint-out"
"""The folder ``{out}`` in that of a run; the store removes it once the run is committed."""

MOST_FILES: Final = 2_000
MOST_KEPT: Final = 200
KEPT_BYTES: Final = 64_000_000


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Code of others, as consent to it is asked for: the line, and the digest of its identity."""

    use: str
    version: str


class Commands(Trainer[CommandTraining]):
    """Any program."""

    Spec = CommandTraining
    software = ()

    def recognises(self, document: dict[str, Any]) -> bool:
        """It has a command."""
        return "command" in document

    def located(
        self, spec: CommandTraining, folder: Path
    ) -> tuple[dict[str, Any], list[tuple[Steps, Words]]]:
        """The digests of its files, and where they are."""
        place = folder / spec.workdir
        if not place.is_dir() or leads_out(place, folder) or ".." in Path(spec.workdir).parts:
            what = f"there is no folder '{spec.workdir}' below that of this file"
            return {}, [(("workdir",), (what, "a folder below this file's", "correct the path"))]
        found: dict[str, str] = {}
        wrong: list[tuple[Steps, Words]] = []
        for number, pattern in enumerate(spec.files):
            files = [each for each in sorted(place.glob(pattern)) if each.is_file()]
            if not files or any(leads_out(each, place) for each in files):
                what = f"no file '{pattern}' in {place}" if not files else f"'{pattern}' leads out"
                advice = "correct the pattern, or put the file there"
                wrong.append((("files", number), (what, "files below workdir", advice)))
            for each in files:
                found[each.relative_to(place).as_posix()] = _digest(each)
        if len(found) > MOST_FILES:
            what = f"{len(found):,} files"
            advice = "name those alone that the program reads"
            wrong.append((("files",), (what, f"at most {MOST_FILES:,}", advice)))
        return {"digests": found, "folder": str(place.resolve())}, wrong

    def misnamed(self, spec: CommandTraining) -> Iterator[tuple[Steps, Words]]:
        """Arguments and seeds that no placeholder uses."""
        yield from spec.mistakes()

    def others_code(self, spec: CommandTraining) -> Mapping[str, NamesCode]:
        """The command line itself, but for one of a claim that is as it came with repro."""
        differs = difference(spec)
        if differs is None:
            return {}
        why = f" ({differs})" if differs else ""
        return {"command": CommandLine(shlex.join(spec.command) + why, spec.digest()[:16])}

    def cost(self, spec: CommandTraining, measurements: Sequence[MeasurementSpec]) -> Cost:
        """Its minutes at most, or one where none are declared."""
        training = 60 * (spec.resources.minutes or 1.0) * FLOPS_PER_CORE
        return Cost(training, {each.key: 0.0 for each in measurements})

    def memory(self, spec: CommandTraining, measurements: Sequence[MeasurementSpec]) -> float:
        return spec.resources.bytes

    def cores(self, spec: CommandTraining) -> int:
        """As many as are declared."""
        return spec.resources.cores

    def gpus(self, spec: CommandTraining, device: Device) -> int:
        """As many as are declared."""
        return spec.resources.gpus

    def device(self, spec: CommandTraining, offered: Device) -> Device:
        """No GPU where none is declared."""
        return offered if spec.resources.gpus else "cpu"

    def forget_peak(self, device: Device) -> None:
        """Nothing: what a program holds is not what this process holds."""

    def peak(self, device: Device) -> int:
        """Unknown, as above."""
        return 0

    def changed_here(self, spec: CommandTraining) -> str:
        """The first of its files that is another one, or is not there."""
        for name, expected in spec.digests.items():
            path = Path(spec.folder) / name
            if not path.is_file() or _digest(path) != expected:
                return str(path)
        return ""

    def uninstalled(self, spec: CommandTraining) -> str:
        """The program itself, or what a packaged one imports."""
        program = _line(spec, spec.command)[0]
        if "/" in program:
            there = os.access(Path(spec.folder) / program, os.X_OK)
        else:
            there = shutil.which(program) is not None
        if not there:
            return f"needs the program '{program}', which is not there; install it"
        names = " and ".join(not_installed(spec))
        advice = f"pip install 'repro-verdict[{EXTRA}]'"
        return f"needs {names}, not installed beside repro: {advice}" if names else ""

    def train(
        self,
        batch: Sequence[RunSpec],
        corpus: Any,
        *,
        device: Device,
        folders: Sequence[Path],
        progress: Report,
        together: bool,
    ) -> Sequence[Finished]:
        """Run the program for each; DataError for one that failed, with the end of its output."""
        finished = []
        for run, folder in zip(batch, folders, strict=True):
            progress(Progress(run.key, 1, 1, 0, 1, 0, 1, "train"))
            finished.append(_finished(run, folder))
        return finished

    def measurer(
        self, finished: Finished, corpus: Any, device: Device
    ) -> Callable[[MeasurementSpec], Measured]:
        """What a run left, asked for its numbers."""
        subject = LeftByProgram(finished.files)
        return lambda measurement: measurement.measure(subject)


class LeftByProgram:
    """What a program left, as a measurement sees it: ``rows`` of numbers by name, and files."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        stored = json.loads(files["results.json"])
        self.rows: list[Row] = stored["rows"]
        self.series = bool(stored["series"])
        self._files = files
        self._kept: dict[str, str] = json.loads(files["kept.json"])

    @property
    def output(self) -> str:
        """What the program printed: the beginning and the end of it."""
        return self._files["output.txt"].decode("utf-8", "replace")

    def number(self, name: str, reduction: Reduction | None) -> Measured:
        """The number of that name; of a series the one that the reduction chooses. Or DataError."""
        value, place = chosen(self.rows, name, reduction)
        return Measured(value, {"row": place, "rows": len(self.rows)} if self.series else {})

    def read(self, name: str) -> bytes:
        """A file of ``{out}`` that ``keep`` names; DataError for another."""
        if name not in self._kept:
            raise DataError(
                f"'{name}' was not kept of the run\n"
                f"  expected: one of {', '.join(self._kept) or 'none'}\n"
                f"  to do: add it to `keep` of the configuration, and run it again: {name}"
            )
        return self._files[self._kept[name]]


class FailedError(ReproError):
    """A program that failed; it can be tried again."""


def _line(spec: CommandTraining, line: Sequence[str]) -> list[str]:
    """The command line; `python` of a packaged claim is the Python that runs repro.

    It imports nothing from beside the program (`-P`): whatever lies there, its own files are all
    that runs.
    """
    if line[0] == "python" and is_packaged(spec):
        return [sys.executable, "-P", *line[1:]]
    return list(line)


def _finished(run: RunSpec, folder: Path) -> Finished:
    spec = CommandTraining.of(run)
    out = folder / OUT
    if not spec.resume:
        shutil.rmtree(out, ignore_errors=True)
    out.mkdir(exist_ok=True)
    heard = Heard(spec.results.stdout)
    minutes = spec.resources.minutes
    with gpus_of_this_run(spec.resources.gpus) as devices:
        environment = {**os.environ, **_threads(spec), **devices, **spec.environment}
        try:
            ended = process.run(
                _line(spec, spec.arguments(run.replicate, out)),
                folder=Path(spec.folder),
                environment=environment,
                mark=run.key,
                seconds=None if minutes is None else 60 * minutes,
                heard=heard,
            )
        except OSError as error:
            raise FailedError(f"{spec.command[0]}: cannot be started: {error.strerror}") from error
    return _judged(run, spec, ended, heard, out)


def _judged(
    run: RunSpec, spec: CommandTraining, ended: process.Ended, heard: Heard, out: Path
) -> Finished:
    """What became of a program that has ended: finished, diverged, or FailedError."""
    ending = "timeout" if ended.timed_out else "exit" if ended.status else ""
    if ending:
        if ending in spec.diverged:
            return _diverged(run, ended)
        raise FailedError(f"the program {ended.words}{_tail(ended.output)}")
    values = {**spec.args, "seed": run.replicate, "out": str(out)}
    try:
        rows = results.rows_of(spec.results, values, Path(spec.folder), heard)
    except DataError as error:
        raise FailedError(f"{error}{_tail(ended.output)}") from None
    if any(value is None for row in rows for value in row.values()) and (
        "not_finite" in spec.diverged
    ):
        return _diverged(run, ended)
    kept = _kept(spec, out)
    files = {f"kept_{i}.{_ending(name)}": data for i, (name, data) in enumerate(kept.items())}
    return Finished(
        run,
        files={
            "results.json": results.document(rows, series=spec.results.series),
            "output.txt": ended.output or b"\n",
            "kept.json": json.dumps(dict(zip(kept, files, strict=True))).encode("utf-8"),
            **files,
        },
        notes=(f"The program took {ended.seconds:.1f} s.",),
    )


def _diverged(run: RunSpec, ended: process.Ended) -> Finished:
    note = f"The program {ended.words}, which the configuration declares a divergence."
    return Finished(run, diverged=1, notes=(note,))


def _tail(output: bytes) -> str:
    """The last lines of an output, for a message."""
    lines = output.decode("utf-8", "replace").splitlines()[-8:]
    return "".join(f"\n  | {line[:300]}" for line in lines)


def _threads(spec: CommandTraining) -> dict[str, str]:
    """As many threads as cores are declared, for the libraries that ask."""
    cores = str(spec.resources.cores)
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return dict.fromkeys(names, cores)


def _kept(spec: CommandTraining, out: Path) -> dict[str, bytes]:
    """The files of ``keep``, by their paths in ``{out}``; FailedError where they are too large."""
    found: dict[str, bytes] = {}
    left = KEPT_BYTES
    for pattern in spec.keep:
        for path in sorted(out.glob(pattern)):
            name = path.relative_to(out).as_posix()
            if name in found or path.is_symlink() or not path.is_file() or leads_out(path, out):
                continue
            if len(found) >= MOST_KEPT or path.stat().st_size > left:
                limit = f"{MOST_KEPT} files of {KEPT_BYTES / 1e6:.0f} MB together"
                raise FailedError(f"{name}: `keep` keeps at most {limit}")
            found[name] = read_bytes(path, left, follow=False)
            left -= len(found[name])
    return found


def _ending(name: str) -> str:
    ending = Path(name).suffix[1:].lower()
    return ending if ending.isascii() and ending.isalnum() and len(ending) <= 16 else "bin"


def _digest(path: Path) -> str:
    stat = path.stat()
    return _digest_of(path, stat.st_mtime_ns, stat.st_size, stat.st_ino)


@lru_cache(maxsize=10_000)
def _digest_of(path: Path, *_state: int) -> str:
    return file_digest(path)
