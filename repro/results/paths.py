"""Patterns of paths and of columns, whose names in braces are fields of a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, Field

from repro.errors import DataError
from repro.schema.base import ImportPath

MOST_FILES: Final = 20_000

_BRACES = r"\{([a-z][a-z0-9_]{0,31})\}"
_PLACEHOLDER = re.compile(_BRACES + r"|\*\*/|\*|\?|\[[^\]/]*\]")
_SEED = re.compile(r"0*([0-9]{1,15})(\.0+)?")


def seed_in(text: str) -> int | None:
    """The seed that a text says, such as 7, 7.0 or 007; None for what is no whole number."""
    found = _SEED.fullmatch(text)
    return int(found[1]) if found else None


def _below(path: str) -> str:
    parts = PurePosixPath(path).parts
    if ".." in parts:
        raise ValueError("path leads out of the folder of the claim")
    if any("**" in part and part != "**" for part in parts):
        raise ValueError("path has ** beside other characters: it stands for whole folders, `**/`")
    try:
        re.compile(_expression(path))
    except re.error as error:
        raise ValueError(f"path has brackets that name no characters: {error}") from None
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


PathPattern = Annotated[ImportPath, AfterValidator(_named_once), AfterValidator(_below)]
"""`runs/{arm}/seed_{seed}/metrics.csv`: names in braces are fields of a run; `*` is any name."""

ColumnPattern = Annotated[
    str, Field(max_length=1_000), AfterValidator(_named_once), AfterValidator(_named)
]
"""`{arm}-{seed} - error`: the same of the name of a column."""


class Match(NamedTuple):
    """A file or folder, what the names in its path say, and whether it is an empty folder."""

    path: Path
    said: dict[str, Any]
    empty: bool = False


def matching(root: Path, path: str, seed: str, beside: str | None = None) -> list[Match]:
    """The files that have such a path below ``root``, and the folders of runs that lack one.

    A folder is that of a run where it holds the file ``beside``; or where its names alone say what
    all names in braces are, and the one called ``seed`` is a whole number. In the order of the
    numbers in their names. DataError where there is no file.
    """
    files = list(_found(root, path, folders=False))
    if not files:
        raise _nothing(root, path, "file")
    having = {above for each in files for above in each.path.parents}
    lacking = [each for each in _folders(root, path, seed, beside) if each.path not in having]
    return sorted([*files, *lacking], key=lambda each: _natural(each.path))


def matching_folders(root: Path, path: str) -> list[Match]:
    """The folders that have such a path below ``root``; DataError where there is none."""
    folders = list(_found(root, path, folders=True))
    if not folders:
        raise _nothing(root, path, "folder")
    return folders


def _nothing(root: Path, path: str, noun: str) -> DataError:
    return DataError(
        f"{root / path}: no {noun} has such a name\n  expected: the results of runs\n"
        "  to do: check `path`: names in braces and * stand for a part of one name"
    )


def _found(root: Path, path: str, *, folders: bool) -> Iterator[Match]:
    glob = _PLACEHOLDER.sub(lambda found: "*" if found[1] else found[0], path)
    expected = re.compile(_expression(path))
    count = 0
    for each in sorted(root.glob(glob), key=_natural):
        found = expected.fullmatch(each.relative_to(root).as_posix())
        if found is None or not (each.is_dir() if folders else each.is_file()):
            continue
        count += 1
        if count > MOST_FILES:
            raise DataError(
                f"{root / path}: more than {MOST_FILES:,} of them\n"
                f"  expected: at most {MOST_FILES:,}\n  to do: narrow `path`"
            )
        yield Match(each, dict(found.groupdict()))


def _folders(root: Path, path: str, seed: str, beside: str | None) -> Iterator[Match]:
    """The folders of runs, whether or not a file is in them."""
    parts = PurePosixPath(path).parts
    if beside is not None and len(parts) > 1:
        deep = parts[-2] == "**"  # the folder before it, and all that are below that one
        above = [parts[:-2], (*parts[:-1], "*")] if deep else [parts[:-1]]
        for folder in filter(None, above):
            for each in _found(root, "/".join(folder), folders=True):
                if (each.path / beside).is_file():
                    yield each._replace(empty=True)
        return
    named = [place for place, part in enumerate(parts) if re.search(_BRACES, part)]
    if beside is not None or not named or named[-1] == len(parts) - 1:
        return
    for each in _found(root, "/".join(parts[: named[-1] + 1]), folders=True):
        if seed_in(each.said.get(seed, "")) is not None:
            yield each._replace(empty=True)


def _expression(path: str) -> str:
    """The path as a regular expression, whose groups are the names in braces."""
    parts, end = [], 0
    for found in _PLACEHOLDER.finditer(path):
        parts.append(re.escape(path[end : found.start()]))
        if found[1]:
            parts.append(f"(?P<{found[1]}>[^/]+?)")
        else:
            parts.append({"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}.get(found[0], ""))
            parts.append(_characters(found[0]) if found[0].startswith("[") else "")
        end = found.end()
    return "".join([*parts, re.escape(path[end:])])


def _characters(brackets: str) -> str:
    """`[!ab]` of a pattern of files as a regular expression."""
    inside = brackets[1:-1].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
    return f"[^/{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"


def column_expression(pattern: str) -> str:
    """The same of the name of a column, in which only names in braces stand for a part.

    Each is as short as can be, and all but the last are settled (`(?>...)`) with the text that
    follows them: if any choice fits the rest, the first does. So a long name takes no time.
    """
    before, *parts = re.split(_BRACES, pattern)
    found = [
        f"(?P<{name}>.+?){re.escape(after)}"
        for name, after in zip(parts[::2], parts[1::2], strict=True)
    ]
    return "".join([re.escape(before), *(f"(?>{each})" for each in found[:-1]), *found[-1:]])


def _natural(path: Path) -> list[tuple[int, int | str]]:
    """A key by which paths are sorted as people do: `seed_10` after `seed_9`."""
    parts = re.split(r"([0-9]+)", path.as_posix())
    return [(0, int(part)) if place % 2 else (1, part) for place, part in enumerate(parts)]
