"""Which files are meant by paths, folders and ids of packaged claims, and of what kind each is.

A file that is named is always meant. Of a folder, the claims in it and below are; audits, searches,
configurations and files of other programs are not.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from repro.errors import Place, Problem, ShapeError
from repro.files import (
    MAX_BYTES,
    NotRegularError,
    TooLargeError,
    claims,
    is_folder,
    leads_out,
    read_bytes,
    resolved,
)
from repro.schema.yaml import YamlDocument, read_document

Sort = Literal["claim", "audit", "search", "configuration"]

KEYS: Final[dict[Sort, tuple[str, str]]] = {
    "claim": ("expectations", "give it to `repro verify`"),
    "audit": ("audit", "give it to `repro audit`"),
    "search": ("search", "give it to `repro tune`"),
    "configuration": ("recipe", "name it in an arm of a claim, or in the base of a search"),
}
"""The key that no document of another sort has, and what reads them."""


def other_sort(document: YamlDocument, expected: Sort) -> Iterator[Problem]:
    """That a document is of another sort: it has the key of that, and not its own."""
    if KEYS[expected][0] in document.data:
        return
    for sort, (key, advice) in KEYS.items():
        if key in document.data:
            mistake = f"this is {_one(sort)}, and no {expected}"
            yield Problem(document.key_place((key,)), mistake, _one(expected), advice)
            return


def _one(sort: Sort) -> str:
    return f"{'an' if sort == 'audit' else 'a'} {sort}"


@dataclass(frozen=True, slots=True)
class ClaimFiles:
    """Files, each once, by where they really lie.

    ``paths`` are as the user gave them, ``named`` those that are not from a folder alone, and
    ``folders`` what each folder holds, claims or not.
    """

    paths: dict[Path, Path]
    named: frozenset[Path]
    folders: dict[Path, frozenset[Path]]

    def read(self, real: Path) -> YamlDocument | None:
        """The document of a file; None for one of a folder that is no claim. ShapeError."""
        path = self.paths[real]
        return read_document(path) if real in self.named else _claim_document(path)


def claim_files(where: Sequence[Path], problems: list[Problem]) -> ClaimFiles:
    """What is meant by paths, folders, and ids of packaged claims."""
    paths: dict[Path, Path] = {}
    named: set[Path] = set()
    folders: dict[Path, frozenset[Path]] = {}
    for given in where:
        path = given
        if not given.suffix and len(given.parts) == 1 and not given.exists():
            ids = _packaged()
            if given.name not in ids:
                problems.append(_unknown(given, ids))
                continue
            path = ids[given.name]
        inside = _below(path, problems) if is_folder(path) else [path]
        files = {resolved(file): file for file in inside}
        paths |= {real: file for real, file in files.items() if real not in paths}
        if is_folder(path):
            folders[path] = frozenset(files)
        else:
            named |= files.keys()
    return ClaimFiles(paths, frozenset(named), folders)


def _below(folder: Path, problems: list[Problem]) -> list[Path]:
    """All `*.yaml` of a folder and below, by path, without what is hidden and configurations."""

    def unreadable(error: OSError) -> None:
        mistake = f"cannot be read: {(error.strerror or str(error)).lower()}"
        place = Place(str(error.filename or folder))
        problems.append(Problem(place, mistake, "a readable folder", "check its permissions"))

    found: list[Path] = []
    for parent, inside, files in os.walk(folder, onerror=unreadable):
        inside[:] = [each for each in inside if each[0] != "." and each != "configurations"]
        names = (each for each in files if each[0] != "." and each.endswith(".yaml"))
        found += (Path(parent, each) for each in names)
    outside = {file for file in found if leads_out(file, folder)}
    for file in sorted(outside):
        advice = "put the file itself there, or give its own path"
        mistake, expected = "a link that leads out of the folder", f"a file in {folder}"
        problems.append(Problem(Place(str(file)), mistake, expected, advice))
    return sorted({*found} - outside)


_KEY_OF_CLAIMS = re.compile(rb"^(expectations|arms)\s*:", re.MULTILINE)


def _claim_document(path: Path) -> YamlDocument | None:
    """The document of a claim, or of what was meant to be one; None for any other file."""
    called = path.name.endswith(".claim.yaml")
    try:
        document = read_document(path)
    except ShapeError:
        if called or _may_be_claim(path):
            raise
        return None
    keys = document.data.keys()
    if "expectations" in keys:
        return document
    other = any(key in keys for key, _ in KEYS.values())
    return document if not other and (called or "arms" in keys) else None


def _may_be_claim(path: Path) -> bool:
    """Whether a file that is no YAML has a line that only a claim would, or cannot be read."""
    try:
        return _KEY_OF_CLAIMS.search(read_bytes(path, MAX_BYTES)) is not None
    except (NotRegularError, TooLargeError):
        return False
    except (OSError, ValueError):
        return True


NEAR = 5
"""How many packaged claims of a similar name a message tells."""

FIRST = ("mos_rank", "fair_mos", "lms_plif_regularization")
"""What a message names where no name is similar."""


def _packaged() -> dict[str, Path]:
    """The files that came with repro, configurations apart, by their ids."""
    found: dict[str, Path] = {}
    for file in sorted(claims().rglob("*.yaml")):
        if "configurations" not in file.relative_to(claims()).parts:
            found.setdefault(file.stem.removesuffix(".claim"), file)
    return found


def _unknown(given: Path, packaged: Mapping[str, Path]) -> Problem:
    """That an argument without a suffix and a folder is no file and no id of a claim."""
    audits_and_searches = ("published", "searches")
    ids = [name for name, at in packaged.items() if at.parent.name not in audits_and_searches]
    near = difflib.get_close_matches(given.name[:64], ids, NEAR, cutoff=0.6)
    mistake = "cannot be read: no such file or directory"
    packaged_claims = f"the id of one of {len(ids)} packaged claims"
    expected = f"a readable file, or {packaged_claims}, such as {', '.join(near or FIRST)}"
    advice = f"did you mean '{near[0]}'?" if near else f"look for its id below {claims()}"
    return Problem(Place(str(given)), mistake, expected, advice)
