"""What others add: tables of built-ins and plugins, `module:object`, and its version here."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module, metadata
from importlib.machinery import ModuleSpec, PathFinder
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from repro.digest import file_digest
from repro.errors import DataError

T = TypeVar("T")


class Table(Generic[T]):
    """The built-ins of one seam, and what others add to it.

    ``builtin`` says by name where each is, as `module:object`. An installed entry point of
    ``group`` adds a name; nothing is imported before it is asked for.
    """

    def __init__(self, group: str, builtin: Mapping[str, str]) -> None:
        self.group = group
        self._builtin = dict(builtin)

    def names(self) -> tuple[str, ...]:
        """The built-ins, in their order."""
        return tuple(self._builtin)

    def added(self) -> tuple[str, ...]:
        """Those of installed entry points, in their order."""
        return tuple(name for name in self._installed() if name not in self._builtin)

    def has(self, name: str) -> bool:
        """Whether it is the name of a built-in, or of an installed entry point."""
        return name in self._builtin or name in self._installed()

    def get(self, name: str) -> T:
        """A built-in, the object of an entry point, or that of `module:object`; else DataError."""
        return cast("T", load_object(self.where(name)))

    def where(self, name: str) -> str:
        """As ``get``, but its `module:object`, and nothing is imported."""
        where = self._builtin.get(name) or self._installed().get(name)
        if where is None and ":" not in name:
            raise self._unknown(name)
        return where or name

    def _installed(self) -> dict[str, str]:
        return {each.name: each.value for each in metadata.entry_points(group=self.group)}

    def _unknown(self, name: str) -> DataError:
        known = [*self.names(), *self.added()]
        guess = next(iter(difflib.get_close_matches(name[:64], known, 1, 0.6)), None)
        advice = f"did you mean '{guess}'? " if guess else ""
        return DataError(
            f"'{name}': nothing of that name is in {self.group}\n"
            f"  expected: {', '.join(known)}, or `module:object`\n"
            f"  to do: {advice}{'Otherwise install' if guess else 'install'} the package that "
            "has it, or name its `module:object`"
        )


def class_of_others(
    table: Table[Any], name: str, base: type[Any], refused: tuple[str, str, str]
) -> tuple[str, Any]:
    """Where a class of others is, and the class; DataError for what is not below ``base``.

    ``refused`` says what it is not, which class is expected, and the page that tells more.
    """
    found: Any = table.get(name)
    if not (isinstance(found, type) and issubclass(found, base)):
        noun, expected, page = refused
        raise DataError(
            f"{name}: this is no {noun}\n  expected: {expected}\n  to do: see docs/how-to/{page}.md"
        )
    return f"{found.__module__}:{found.__qualname__}", found


def load_object(name: str) -> Any:
    """What ``name``, `module:object`, stands for. Raises DataError when there is no such thing."""
    module_name, _, attribute = name.partition(":")
    try:
        return attrgetter(attribute)(import_module(module_name))
    except Exception as error:  # a module of somebody else's may raise anything
        known = isinstance(error, ImportError | AttributeError)
        raise _missing(name, str(error) if known else f"{type(error).__name__}: {error}") from error


def version_of(name: str) -> str:
    """The version of the distribution that has ``name``, found without importing anything.

    A module of no distribution has `sha256:` and 16 digits of the digest of its file, so that
    every edit is another version. Raises DataError for a module that is not there.
    """
    module = name.partition(":")[0]
    found = _chain(name, module)[-1]
    distributions = set(_distributions().get(module.partition(".")[0], ()))
    if len(distributions) == 1:
        return metadata.version(distributions.pop())
    if not found.has_location or found.origin is None:  # a module written in C, or a namespace
        raise DataError(f"{name}: a module of no distribution and no file has no version")
    return f"sha256:{file_digest(Path(found.origin))[:16]}"


def _distributions() -> Mapping[str, list[str]]:
    """Which distributions have each package; read again when a folder of ``sys.path`` changes."""
    folders = []
    for place in sys.path:
        with suppress(OSError):  # not there, or not to be looked into: it has none
            folder = Path(place).absolute()
            folders.append((str(folder), folder.stat().st_mtime_ns))
    return _distributions_in(tuple(folders))


@lru_cache(maxsize=1)
def _distributions_in(_folders: tuple[tuple[str, int], ...]) -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def module_files(name: str) -> tuple[Path, ...]:
    """The files that importing `module:object` runs: those of the module and its parents.

    None where there is no such module; nothing is imported.
    """
    with suppress(DataError):
        found = _chain(name, name.partition(":")[0])
        return tuple(Path(each.origin) for each in found if each.has_location and each.origin)
    return ()


def _chain(name: str, module: str) -> list[ModuleSpec]:
    """Where Python would import a module from, after each of its parents."""
    path: Sequence[str] | None = None
    chain: list[ModuleSpec] = []
    parts = module.split(".")
    for depth, part in enumerate(parts, start=1):
        each = ".".join(parts[:depth])
        spec = _spec(each, path)
        path = None if spec is None else _inside(spec, path, part)
        if spec is None or (path is None and depth < len(parts)):
            raise _missing(name, f"No module named '{each if spec is None else module}'")
        chain.append(spec)
    return chain


def _spec(module: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """What the finders say; a namespace in a package that is not imported is asked for by path."""
    finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path)
    try:
        return next(filter(None, (find(module, path) for find in finders if find)), None)
    except KeyError:
        return PathFinder.find_spec(module.rpartition(".")[2], path)


def _inside(spec: ModuleSpec, path: Sequence[str] | None, part: str) -> Sequence[str] | None:
    """The folders of a package; of a namespace, as they are now."""
    if spec.submodule_search_locations is None or spec.origin is not None:
        return spec.submodule_search_locations
    folders = (Path(place) / part for place in (sys.path if path is None else path))
    return [str(folder) for folder in folders if folder.is_dir()]


def _missing(name: str, why: str) -> DataError:
    return DataError(
        f"{name}: {why}\n"
        "  expected: an object in a module that Python can import\n"
        "  to do: install the package that has it, or add its folder to PYTHONPATH"
    )
