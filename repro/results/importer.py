"""What every importer has: its keys in an arm, and the runs that it finds."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, ValidationError

from repro.errors import DataError
from repro.files import TooLargeError, leads_out, read_bytes
from repro.results.forms import FoundRun, ResultsThere, Way, refused, store
from repro.results.readings import number_in
from repro.results.series import LARGEST, NumberName, Row
from repro.schema.base import FilePattern, Spec, UnitColumn

Value = str | int | float | bool


@dataclass(slots=True)
class FilesRead:
    """The SHA-256 of every file that was read, by its path.

    ``deleted`` are the places of runs that a tracker keeps as deleted, ``replaced`` those of runs
    in whose folder a later one was written. Neither is among the runs that are found. ``said`` is
    what a reader should know of how files were read.
    """

    files: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    said: dict[str, None] = field(default_factory=dict)

    def read(self, path: Path, root: Path, limit: int = LARGEST) -> bytes:
        """The content of a file below ``root``, of at most so many bytes.

        DataError where it cannot be read.
        """
        name = path.relative_to(root).as_posix()
        if leads_out(path, root):
            raise DataError(
                f"{path}: a link that leads elsewhere\n  expected: a file below {root}\n"
                "  to do: put the file itself there"
            )
        try:
            content = read_bytes(path, limit)
        except TooLargeError as error:
            raise DataError(
                f"{path}: has {error.size:,} bytes\n  expected: at most {limit:,}\n"
                "  to do: make several files of it, or export the values that the claim names"
            ) from error
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from error
        self.files[name] = hashlib.sha256(content).hexdigest()
        return content

    @property
    def together(self) -> str:
        """One digest of all: of the lines `digest  path`, by path."""
        lines = "".join(f"{sha}  {name}\n" for name, sha in sorted(self.files.items()))
        return hashlib.sha256(lines.encode()).hexdigest()


class Importer(Spec):
    """Where an arm's runs were recorded, and which of those that are there are its own.

    ``path`` is below the folder of the claim. ``where`` says which values the fields of a run of
    this arm have, ``seed`` which field is its seed, and ``task`` which is its task, where the claim
    is over tasks. Two runs with one seed are refused, unless ``duplicates: last`` takes the later
    one. ``unit`` and ``sources`` say which fields are the unit and the sources of variation that
    the claim names in its `seeds`, where those are called otherwise. A sqlite file that has the
    ``tables`` is one of its own. ``item`` is the field that names each of its ``items``.
    """

    tables: ClassVar[frozenset[str]] = frozenset()
    item: ClassVar[str] = ""

    path: FilePattern
    where: dict[NumberName, Value] = {}
    seed: NumberName = "seed"
    task: NumberName | None = None
    unit: NumberName | None = None
    sources: dict[UnitColumn, NumberName] = {}
    duplicates: Literal["last"] | None = None

    @abstractmethod
    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """Every run below ``root``, in the order in which they were made, where that is known."""

    def items(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """Every item of every run, as a run of one row; none where only means are recorded."""
        del root, digests
        yield from ()

    @classmethod
    def ways(cls, there: ResultsThere) -> Iterator[Way]:
        """The ways in which it reads results, the surest first; none where they are of others."""
        del there
        yield from ()

    @classmethod
    def declared(cls, path: Path, keys: Mapping[str, Any]) -> Self:
        """The import of the results at ``path``; ClaimError where a claim cannot declare it."""
        try:
            return cls.model_validate(dict(keys))
        except ValidationError:
            mistake = f"a claim cannot name the path '{keys['path']}'"
            expected = "letters, digits and _ . ! + - in its names"
            raise refused(path, mistake, expected, "rename the file or its folder") from None

    def field_of(self, column: str) -> str:
        """The field of what a claim calls ``column``: `seed`, or a source of variation."""
        return self.seed if column == "seed" else self.sources.get(column, column)

    @property
    def last_step(self) -> tuple[str, float] | None:
        """The name and the number of the step that a series has to reach, if one is declared."""
        return None

    def place(self, root: Path) -> Path:
        """The file or folder that ``path`` names; DataError where there is none."""
        path = root / self.path
        links = leads_out(path, root)
        if links or not path.exists():
            mistake = "a link that leads elsewhere" if links else "there is no such file or folder"
            advice = "put what it leads to there" if links else "check `path`"
            expected = "a path below the folder of the claim"
            raise DataError(f"{path}: {mistake}\n  expected: {expected}\n  to do: {advice}")
        return path


class Stepped(Importer):
    """An importer of series. ``complete`` is the last step of a run that was finished.

    A series that ends before it is a divergence, whatever its last value is.
    """

    complete: Annotated[
        dict[NumberName, Annotated[float, Field(gt=0)]] | None,
        Field(min_length=1, max_length=1),
    ] = None

    @property
    def last_step(self) -> tuple[str, float] | None:
        return None if self.complete is None else next(iter(self.complete.items()))


class ThirdPartyImporter(Spec):
    """A reader that is not built in; what it declares are its other keys.

    ``from`` names its class, `module:object`, or is the name that an installed package gives it.
    """

    model_config = ConfigDict(extra="allow")

    from_: str = Field(alias="from", json_schema_extra={"pattern": ":"})


class CustomImporter(Stepped):
    """The base of a reader that is not built in: a class below it, whose fields are its keys.

    ``from`` is its `module:object`, and ``version`` that in which it is here. ``shown`` is what
    `repro compare` calls what it reads.
    """

    shown: ClassVar[str] = ""

    from_: str = Field(alias="from")
    version: Annotated[str, Field(min_length=1, max_length=100)] = ""

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether `repro compare` may take a file or folder for what it reads, unasked."""
        del path
        return False

    @classmethod
    def ways(cls, there: ResultsThere) -> Iterator[Way]:
        """It reads what it recognises as it is."""
        if cls.recognises(there.path):
            yield store(cls.shown or f"what {cls.__name__} reads", there.place)


def same(found: Any, asked: Value) -> bool:
    """Whether a field has a value: trackers keep numbers and switches as texts."""
    if isinstance(asked, bool) or isinstance(found, bool):
        return str(found).lower() == str(asked).lower()
    if isinstance(asked, int | float):
        if isinstance(found, str):
            return number_in(found.strip()) == asked
        return isinstance(found, int | float) and found == asked
    return str(found) == asked


Points = dict[str, list[tuple[int, float | None]]]
"""metric -> its values by step, in the order in which they were logged."""


def rows_of(points: Points) -> list[Row]:
    """A row per step; a metric that was logged again at a step has a further row."""
    found: dict[tuple[int, int], Row] = {}
    for name, values in points.items():
        times: dict[int, int] = defaultdict(int)
        for step, value in values:
            row = found.setdefault((step, times[step]), {"step": float(step)})
            row[name] = value
            times[step] += 1
    return [found[place] for place in sorted(found)]
