"""The trainer of commands: a program is run once per replicate, and its numbers are kept."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Unpack

from repro.digest import digest
from repro.errors import DataError, NotKeptError, ReadingError, printable
from repro.results.series import NoSuchRowError, NotFiniteError, Reduction, Row, chosen, not_finite
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.trainers.command import code_files, results
from repro.trainers.command.attempts import Attempts, Cut
from repro.trainers.command.left import MOST_KEPT, Left, ProgramRun, ending, taken
from repro.trainers.command.one_run import finished as one_run
from repro.trainers.command.one_run import line_of
from repro.trainers.command.packaged import EXTRA, difference, not_installed
from repro.trainers.command.process import shortened
from repro.trainers.command.results import said_of
from repro.trainers.command.spec import CommandTraining, Resume, placeholders
from repro.trainers.measurement import DivergedError, Measured, MeasurementSpec
from repro.trainers.run import Keyed, RunSpec
from repro.trainers.trainer import (
    FLOPS_PER_CORE,
    Cost,
    Device,
    Finished,
    How,
    NamesCode,
    Progress,
    Trainer,
)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A program, as consent to it is asked for: the line, and the digest of its identity."""

    use: str
    version: str
    spec: CommandTraining

    @property
    def files(self) -> Iterator[Path]:
        """What of the disk is run, and the folder in which it is."""
        return code_files.run_by(self.spec)


class Commands(Trainer[CommandTraining]):
    """Any program."""

    Spec = CommandTraining
    tells_progress: ClassVar[bool] = False
    own_gpus: ClassVar[bool] = True
    cost_is_time: ClassVar[bool] = True
    software = ()

    def recognises(self, document: dict[str, Any]) -> bool:
        return "command" in document

    def located(
        self, spec: CommandTraining, folder: Path
    ) -> tuple[dict[str, Any], list[tuple[Steps, Words]]]:
        """The digests of its files, and where they are."""
        return code_files.located(spec, folder)

    def misnamed(self, spec: CommandTraining) -> Iterator[tuple[Steps, Words]]:
        """Arguments and seeds that no placeholder uses."""
        yield from spec.mistakes()

    def others_code(self, spec: CommandTraining) -> Mapping[str, NamesCode]:
        """The command line itself, but for one of a claim that is as it came with repro."""
        differs = difference(spec)
        if differs is None:
            return {}
        why = f" ({printable(differs)})" if differs else ""
        return {"command": CommandLine(spec.shown + why, spec.digest()[:16], spec)}

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
        return 0

    def changed_here(self, spec: CommandTraining) -> str:
        """The first of its files that is another one, or is not there."""
        return code_files.changed(spec)

    def resumes(self, spec: CommandTraining) -> bool:
        return bool(spec.resume)

    def uninstalled(self, spec: CommandTraining) -> str:
        """The program itself, where its name is the same for every run, or what it imports."""
        if {"seed", "out"} & {*placeholders(spec.command[0])}:
            return ""
        program = line_of(spec, spec.arguments(0, Path("/")))[0]
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
        self, batch: Sequence[RunSpec], corpus: Any, **how: Unpack[How]
    ) -> Sequence[Finished]:
        """Run the program for each, and give the record of what it left, unless it diverged.

        ProgramError for one that failed, with the end of its output.
        """
        finished = []
        for run, folder in zip(batch, how["folders"], strict=True):
            how["progress"](Progress(run.key, 1, 1, 0, 1, 0, 1, "train"))
            finished.append(one_run(run, folder))
        return finished

    def source(self, run: RunSpec) -> Keyed:
        """What its program left, from which a run can be read again in another way."""
        return ProgramRun.of(run)

    def read(self, run: RunSpec, left: Mapping[str, bytes]) -> Finished:
        return read_run(run, left)

    def reading(self, spec: CommandTraining) -> str:
        """Its command line, but for what arms differ in, and where its results are."""
        keys = {"command", "style", "results"}
        return digest(spec.model_dump(mode="json", include=keys, exclude_defaults=True))

    def measurer(
        self, finished: Finished, corpus: Any, device: Device
    ) -> Callable[[MeasurementSpec], Measured]:
        """What a run left, asked for its numbers; one that is not finite may be a divergence."""
        declared = "not_finite" in CommandTraining.of(finished.run).diverged
        subject = LeftByProgram(finished.files, whole=declared)

        def measured(measurement: MeasurementSpec) -> Measured:
            try:
                return measurement.measure(subject)
            except NotFiniteError as error:
                if declared:
                    raise DivergedError(str(error)) from error
                raise
            except NoSuchRowError:
                raise
            except DataError as error:
                raise ReadingError(str(error)) from error

        return measured


def read_run(run: RunSpec, record: Mapping[str, bytes]) -> Finished:
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


class LeftByProgram:
    """What a program left, as a measurement sees it: ``rows`` of numbers by name, and files.

    ``whole``: a number of a series has to be finite in every row that has it.
    """

    def __init__(self, files: Mapping[str, bytes], *, whole: bool = False) -> None:
        stored = json.loads(files["results.json"])
        self.rows: list[Row] = stored["rows"]
        self.series = bool(stored["series"])
        self._mixed = bool(stored.get("mixed"))
        self._whole = whole
        self._files = files
        self._kept: dict[str, str] = json.loads(files["kept.json"])

    @property
    def output(self) -> str:
        """What the program printed: the beginning and the end of it."""
        return self._files["output.txt"].decode("utf-8", "replace")

    def number(self, name: str, reduction: Reduction | None) -> Measured:
        """The number of that name; of a series the one that the reduction chooses. Or DataError.

        NotFiniteError where it is not finite there, or in some row of a whole series.
        """
        if self._mixed and reduction not in (None, "last"):
            raise DataError(
                "the results of the run: it was cut off and went on, and what it printed before is "
                "not there\n  expected: `reduce: last`\n"
                "  to do: judge the last value, or have the program write its series to a file"
            )
        value, place = chosen(self.rows, name, reduction)
        if self._whole and any(name in row and row[name] is None for row in self.rows):
            raise not_finite(f"'{name}' is not finite in some row")
        return Measured(value, {"row": place, "rows": len(self.rows)} if self.series else {})

    @contextmanager
    def unpacked(self) -> Iterator[Path]:
        """A folder with what was kept, by the names that the files had in ``{out}``, while within.

        DataError for a file that is asked for in it and was not kept.
        """
        with tempfile.TemporaryDirectory(prefix="repro-kept-") as name:
            folder = Path(name)
            for kept in self._kept:
                (folder / kept).parent.mkdir(parents=True, exist_ok=True)
                (folder / kept).write_bytes(self.read(kept))
            try:
                yield folder
            except FileNotFoundError as error:
                asked = Path(str(error.filename or ""))
                if not asked.is_relative_to(folder):
                    raise
                raise self._not_kept(asked.relative_to(folder).as_posix()) from error

    def read(self, name: str) -> bytes:
        """A file of ``{out}`` that ``keep`` names; DataError for another."""
        if name not in self._kept:
            raise self._not_kept(name)
        return self._files[self._kept[name]]

    def _not_kept(self, name: str) -> DataError:
        return DataError(
            f"'{name}' was not kept of the run\n"
            f"  expected: one of {', '.join(map(printable, self._kept)) or 'none'}\n"
            f"  to do: add it to `keep` of the configuration, and run it again: {name}"
        )
