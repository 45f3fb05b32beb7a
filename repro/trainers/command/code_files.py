"""The files of a program: found where the claim is, hashed, and the same before and after a run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from repro.digest import file_digest
from repro.errors import ProgramError, printable
from repro.files import is_file, is_folder, leads_out, resolved
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.trainers.command.packaged import is_packaged
from repro.trainers.command.spec import CommandTraining

MOST_FILES: Final = 2_000
GIT_S: Final = 10.0

States = Mapping[str, tuple[int, ...]]
"""When each file was written last, its size, its place on the disk, and when that changed."""

Mistakes = list[tuple[Steps, Words]]


def located(spec: CommandTraining, folder: Path) -> tuple[dict[str, Any], Mistakes]:
    """The digests of the files of a program below ``folder``, and where they are; or mistakes.

    Nothing is read before all of them are known to be below ``workdir``.
    """
    place, named = folder / spec.workdir, Path(spec.workdir)
    below = is_folder(place) and resolved(place).is_relative_to(resolved(folder))
    if named.is_absolute() or ".." in named.parts or not below:
        what = f"there is no folder '{spec.workdir}' below that of this file"
        return {}, [(("workdir",), (what, "a folder below this file's", "correct the path"))]
    found: dict[str, Path] = {}
    wrong: Mistakes = []
    ill = {steps for steps, _ in spec.ill_patterns()}
    for number, pattern in enumerate(spec.files):
        if ("files", number) in ill:
            continue
        files = list(islice(filter(is_file, place.glob(pattern)), MOST_FILES + 1))
        if not files or any(leads_out(each, place) for each in files):
            what = f"no file '{pattern}' in {place}" if not files else f"'{pattern}' leads out"
            advice = "correct the pattern, or put the file there"
            wrong.append((("files", number), (what, "files below workdir", advice)))
        found |= {each.relative_to(place).as_posix(): each for each in files}
    if len(found) > MOST_FILES:
        advice = "name those alone that the program reads"
        what = f"more than {MOST_FILES:,} files"
        wrong.append((("files",), (what, f"at most {MOST_FILES:,}", advice)))
    if wrong:
        return {}, wrong
    try:
        digests = {name: _digest(found[name]) for name in sorted(found)}
    except OSError as error:
        what = f"{error.filename}: cannot be read: {error.strerror}"
        return {}, [(("files",), (what, "files that can be read", "correct its permissions"))]
    return {"digests": digests, "folder": str(place.resolve())}, []


SOURCES: Final = frozenset({".py", ".pyc", ".so", ".pyd", ".pth", ".sh", ".r", ".jl", ".pl"})
"""Endings of files that programs import or run, in lower case."""

MOST_LOOKED_AT: Final = 100_000
"""Files and folders among which links to code are looked for."""

_WORD = re.compile(r"[\s'\"=;:,&|()<>]+")


def run_by(spec: CommandTraining) -> Iterator[Path]:
    """The files of a program that are run or may be, and its folder: consent covers them all.

    Those that its line and its variables name, its declared files, and code that links bring into
    its folder. A program that is found by the user's PATH, or is the Python that runs this, is
    exempt.
    """
    folder = Path(spec.folder)
    program, *others = spec.arguments(0, Path("/"))
    variables = dict(spec.environment)
    places = variables.pop("PATH", "").split(os.pathsep)
    programs = [program] if "/" in program else [f"{each}/{program}" for each in places if each]
    yield from (folder / each for each in programs if _may_run(folder / each))
    modules = variables.pop("PYTHONPATH", "").split(os.pathsep)
    yield from (folder / each for each in modules if each and _holds_code(folder / each))
    texts = [*others, *variables.values()]
    for word in {word: None for each in texts for word in (each, *_WORD.split(each)) if word}:
        path = folder / word
        if _may_run(path) and (not Path(word).is_absolute() or _is_code(path)):
            yield path
    yield from (folder / name for name in spec.digests)
    yield from _linked_code(folder)
    yield folder


def _may_run(path: Path) -> bool:
    return is_file(path) and not _by_path(path)


def _by_path(program: Path) -> bool:
    real = resolved(program)
    found = shutil.which(real.name)
    return real in {resolved(Path(each)) for each in (found, sys.executable) if each}


def _is_code(path: Path) -> bool:
    return path.suffix.lower() in SOURCES or os.access(path, os.X_OK)


def _linked_code(folder: Path) -> Iterator[Path]:
    """Links in a folder, and below, to code or to folders that hold some; hidden ones apart."""
    looked = 0
    for parent, inside, names in os.walk(folder):
        links = [each for each in inside if Path(parent, each).is_symlink()]
        yield from (Path(parent, each) for each in links if _holds_code(Path(parent, each)))
        files = (Path(parent, each) for each in names)
        yield from (
            each for each in files if each.is_symlink() and is_file(each) and _is_code(each)
        )
        shown = (each for each in inside if each[0] != ".")
        inside[:] = [each for each in shown if not is_file(Path(parent, each, "pyvenv.cfg"))]
        looked += len(inside) + len(names)
        if looked > MOST_LOOKED_AT:
            return


def _holds_code(folder: Path) -> bool:
    with suppress(OSError):
        return any(each.suffix.lower() in SOURCES for each in folder.iterdir())
    return False


def changed(spec: CommandTraining) -> str:
    """The first of its files that is another one than where the claim was read, or is not there."""
    for name, expected in spec.digests.items():
        path = Path(spec.folder) / name
        if not is_file(path) or _digest(path) != expected:
            return str(path)
    return ""


def seen(spec: CommandTraining) -> States:
    """How its files are before a run; ProgramError unless they are those of the claim."""
    if path := changed(spec):
        raise ProgramError(
            f"{path}: the file is not as it was when the claim was read, so the run would not be "
            "the one that the claim is about\n  expected: no edit while runs are made\n"
            "  to do: give the same command again: after an edit the runs are others"
        )
    return {name: _state(Path(spec.folder) / name) for name in spec.digests}


def require_same(spec: CommandTraining, before: States) -> None:
    """ProgramError where one of its files is not as it was ``before`` the run."""
    after = seen(spec)
    if name := next((each for each in before if after[each] != before[each]), None):
        raise ProgramError(
            f"{Path(spec.folder) / name}: the file was written while the program ran, so nobody "
            "knows what ran\n  expected: no edit while runs are made\n"
            "  to do: give the same command again"
        )


def _state(path: Path) -> tuple[int, ...]:
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino, stat.st_ctime_ns


def _digest(path: Path) -> str:
    return _digest_of(path, *_state(path))


@lru_cache(maxsize=10_000)
def _digest_of(path: Path, *_state: int) -> str:
    return file_digest(path)


def commit_of(spec: CommandTraining) -> tuple[str, ...]:
    """A sentence on the git commit of its folder, where there is one.

    What came with repro is known by its files; git would run what a folder around it configures.
    """
    if is_packaged(spec):
        return ()
    hidden = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    with suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(
            ["git", "-C", spec.folder, "describe", "--always", "--dirty", "--abbrev=40"],  # noqa: S607 - the user's own
            capture_output=True,
            env={**environment, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            timeout=GIT_S,
            check=True,
        )
        commit = printable(found.stdout.decode("utf-8", "replace").strip())
        return (f"The folder of the program is at git commit {commit}.",)
    return ()
