"""What every importer has: its keys in an arm, and the runs that it finds."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import tempfile
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from repro.errors import DataError
from repro.files import leads_out, read_bytes
from repro.schema.base import FilePattern, ImportPath, Spec
from repro.series import NumberName, Row

LARGEST: Final = 200_000_000
"""Bytes of the largest file that is read whole."""

MOST_FILES: Final = 20_000

Value = str | int | float | bool


@dataclass(slots=True)
class FoundRun:
    """One run of a source: where it is, what is said of it, and its numbers in rows.

    ``fields`` are what ``where`` and ``seed`` may name. A run that is not ``finished`` was ended
    (``failed``), or is still ``running``.
    """

    place: str
    fields: Mapping[str, Any]
    rows: list[Row]
    state: Literal["finished", "failed", "running"] = "finished"


@dataclass(slots=True)
class FilesRead:
    """The SHA-256 of every file that was read, by its path."""

    files: dict[str, str] = field(default_factory=dict)

    def read(self, path: Path, root: Path) -> bytes:
        """The content of a file below ``root``; DataError where it cannot be read."""
        name = path.relative_to(root).as_posix()
        if leads_out(path, root):
            raise DataError(
                f"{path}: a link that leads elsewhere\n  expected: a file below {root}\n"
                "  to do: put the file itself there"
            )
        try:
            content = read_bytes(path, LARGEST)
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
    one.
    """

    path: FilePattern
    where: dict[NumberName, Value] = {}
    seed: NumberName = "seed"
    task: NumberName | None = None
    duplicates: Literal["last"] | None = None

    @abstractmethod
    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """Every run below ``root``, in the order in which they were made, where that is known."""

    def place(self, root: Path) -> Path:
        """The file or folder that ``path`` names; DataError where there is none."""
        path = root / self.path
        if not path.exists() or leads_out(path, root):
            raise DataError(
                f"{path}: there is no such file or folder\n"
                "  expected: a path below the folder of the claim\n  to do: check `path`"
            )
        return path


def same(found: Any, asked: Value) -> bool:
    """Whether a field has a value: trackers keep numbers and switches as texts."""
    if isinstance(asked, bool) or isinstance(found, bool):
        return str(found).lower() == str(asked).lower()
    if isinstance(asked, int | float):
        try:
            return float(found) == float(asked)
        except (TypeError, ValueError):
            return False
    return str(found) == asked


_BRACES = r"\{([a-z][a-z0-9_]{0,31})\}"
_PLACEHOLDER = re.compile(_BRACES + r"|\*\*/|\*|\?|\[[^\]/]*\]")


def _below(path: str) -> str:
    if ".." in PurePosixPath(path).parts:
        raise ValueError("path leads out of the folder of the claim")
    return path


def _named_once(pattern: str) -> str:
    names = re.findall(_BRACES, pattern)
    if len(set(names)) < len(names):
        raise ValueError("a name in braces stands there twice")
    return pattern


def _named(pattern: str) -> str:
    if not re.search(_BRACES, pattern):
        raise ValueError("columns names no field: write `{seed}` for the part that is the seed")
    return pattern


PathPattern = Annotated[ImportPath, AfterValidator(_below), AfterValidator(_named_once)]
"""`runs/{arm}/seed_{seed}/metrics.csv`: names in braces are fields of a run; `*` is any name."""

ColumnPattern = Annotated[
    str, Field(max_length=1_000), AfterValidator(_named_once), AfterValidator(_named)
]
"""`{arm}-{seed} - error`: the same of the name of a column."""


def matching(
    root: Path, path: str, *, folders: bool = False
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The files, or folders, that have such a path below ``root``, and what their names say.

    In the order of the numbers in their names. DataError where there is none.
    """
    glob = _PLACEHOLDER.sub(lambda found: "*" if found[1] else found[0], path)
    expected = re.compile(_expression(path))
    count = 0
    for each in sorted(root.glob(glob), key=_natural):
        found = expected.fullmatch(each.relative_to(root).as_posix())
        if found is None or not (each.is_dir() if folders else each.is_file()):
            continue
        count += 1
        if count > MOST_FILES:
            raise DataError(f"{root / path}: more than {MOST_FILES:,} files")
        yield each, dict(found.groupdict())
    if not count:
        noun = "folder" if folders else "file"
        raise DataError(
            f"{root / path}: no {noun} has such a name\n  expected: the results of runs\n"
            "  to do: check `path`: names in braces and * stand for a part of one name"
        )


def _expression(path: str) -> str:
    """The path as a regular expression, whose groups are the names in braces."""
    parts, end = [], 0
    for found in _PLACEHOLDER.finditer(path):
        parts.append(re.escape(path[end : found.start()]))
        if found[1]:
            parts.append(f"(?P<{found[1]}>[^/]+?)")
        else:
            parts.append({"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}.get(found[0], found[0]))
        end = found.end()
    return "".join([*parts, re.escape(path[end:])])


def column_expression(pattern: str) -> str:
    """The same of the name of a column, in which only names in braces stand for a part."""
    parts = re.split(_BRACES, pattern)
    return "".join(
        f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts)
    )


def _natural(path: Path) -> list[tuple[int, int | str]]:
    """`seed_10` after `seed_9`."""
    parts = re.split(r"(\d+)", path.as_posix())
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts]


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


@contextmanager
def database(
    path: Path, root: Path, digests: FilesRead, tracker: str
) -> Iterator[sqlite3.Connection]:
    """A copy of a tracker's sqlite file, read only; DataError where it is none of that tracker.

    A copy, because a file on a network cannot be locked, and one in use may change.
    """
    content = digests.read(path, root)
    try:
        with tempfile.NamedTemporaryFile(suffix=".db") as copy:
            copy.write(content)
            copy.flush()
            address = f"file:{copy.name}?mode=ro&immutable=1"
            with closing(sqlite3.connect(address, uri=True)) as opened:
                yield opened
    except sqlite3.Error as error:
        raise DataError(
            f"{path}: cannot be read as a database of {tracker}: {error}\n"
            "  expected: the sqlite file of a tracking store\n  to do: check `path`"
        ) from error
