"""Which commands are those of claims that came with repro: told by content, not by place.

`packaged.json` holds, for each folder of claims that run a program, the SHA-256 of its files and
the digests of what their arms run (`CommandTraining.digest`: the command, its arguments, declared
environment and files). `claims/library/packaged.py` writes it. It is part of the program: who can
change it can change what reads it, too.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from repro.digest import file_digest
from repro.files import claims, is_file
from repro.trainers.command.spec import CommandTraining

EXTRA = "library"
"""The extra of repro-verdict that has what these programs import."""

COMPILED = "__pycache__"
"""Python reads what is in it only beside the source of a module, which is looked at."""


@dataclass(frozen=True, slots=True)
class PackagedFolder:
    """A folder below `claims/`: its files by SHA-256, and the digests of what is run there."""

    name: str
    files: Mapping[str, str]
    trainings: frozenset[str]


def is_packaged(spec: CommandTraining) -> bool:
    """Whether a packaged claim has this command, with these arguments, environment and files."""
    return _folder_of(spec) is not None


def difference(spec: CommandTraining) -> str | None:
    """How what would be run differs from the packaged claim that it is, or was made from.

    None where it does not; nothing where there is no such claim. A file beside the program that
    did not come with it is a difference, because the program might import it.
    """
    folder = Path(spec.folder)
    found = _folder_of(spec)
    if found is not None and spec.folder:
        changed = next(_changed(folder, found), None)
        return None if changed is None else f"{changed} is not as it came with repro"
    there: frozenset[str] = frozenset()
    with suppress(OSError):
        there = frozenset(path.name for path in folder.iterdir())
    origin = next((each for each in packaged_folders() if _is_from(folder, each, there)), None)
    if origin is None:
        return ""
    changed = next(_changed(folder, origin), None)
    return f"{changed or 'the command or an argument'} is not as it came with repro"


@cache
def packaged_folders() -> tuple[PackagedFolder, ...]:
    """The folders of programs that came with repro, with their files and trainings."""
    text = files("repro.trainers.command").joinpath("packaged.json").read_text(encoding="utf-8")
    return tuple(
        PackagedFolder(name, entry["files"], frozenset(entry["trainings"]))
        for name, entry in json.loads(text).items()
    )


def not_installed(spec: CommandTraining) -> list[str]:
    """What the Python files of a packaged claim import, and this Python does not have."""
    if not is_packaged(spec):
        return []
    folder = Path(spec.folder)
    programs = [folder / name for name in spec.digests if name.endswith(".py")]
    names = {name for program in programs for name in _imported(program)}
    own = sys.stdlib_module_names | {program.stem for program in programs}
    return sorted(name for name in names - own if not _is_there(name))


def _imported(file: Path) -> Iterator[str]:
    """The packages that a Python file imports; none where it cannot be read."""
    with suppress(OSError, ValueError, SyntaxError):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                yield from (each.name.partition(".")[0] for each in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


def _is_there(package: str) -> bool:
    with suppress(ImportError, ValueError):
        return find_spec(package) is not None
    return False


def _files_below(folder: Path) -> Iterator[str]:
    """All that a program in a folder could read there, sorted; links are not followed.

    OSError for a folder that cannot be listed: what is in it could be imported all the same.
    """

    def unreadable(error: OSError) -> None:
        raise error

    found: list[Path] = []
    for parent, inside, names in os.walk(folder, onerror=unreadable):
        links = [each for each in inside if Path(parent, each).is_symlink()]
        inside[:] = [each for each in inside if each not in {COMPILED, *links}]
        found += (Path(parent, each) for each in (*names, *links))
    yield from sorted(path.relative_to(folder).as_posix() for path in found)


def _folder_of(spec: CommandTraining) -> PackagedFolder | None:
    digest = spec.digest()
    return next((each for each in packaged_folders() if digest in each.trainings), None)


def _changed(folder: Path, packaged: PackagedFolder) -> Iterator[str]:
    """The files of a folder that are not those of the packaged one."""
    try:
        for name in _files_below(folder):
            if not _is_same(folder / name, packaged.files.get(name)):
                yield name
    except OSError as error:
        yield str(error.filename or folder)


def _is_from(folder: Path, packaged: PackagedFolder, there: frozenset[str]) -> bool:
    """Whether a folder is the packaged one, or has a file of it; ``there`` is what is in it."""
    if folder == _packaged_claims() / packaged.name:
        return True
    named = {name: each for name, each in packaged.files.items() if name.split("/")[0] in there}
    return any(_is_same(folder / name, digest) for name, digest in named.items())


@cache
def _packaged_claims() -> Path:
    return claims().resolve()


def _is_same(path: Path, digest: str | None) -> bool:
    """Whether it is a file of this SHA-256, and no link to one."""
    if digest is None or path.is_symlink() or not is_file(path):
        return False
    try:
        return file_digest(path) == digest
    except OSError:
        return False
