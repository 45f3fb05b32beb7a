"""Consent to code from outside repro: to all that is named, or to what really lies in folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from repro.errors import ClaimError, CodeError
from repro.files import resolved
from repro.plugins import module_files

FOLDERS = "REPRO_ALLOW_CODE_IN"
"""Names the folders whose claims may run code without the option, as PATH names folders."""


@dataclass(frozen=True, slots=True)
class Trusted:
    """Consent to code of which every file, and every one of the ``claims``, lies in ``folders``."""

    folders: tuple[Path, ...]
    claims: tuple[Path, ...]

    def outside(self, files: Iterable[Path]) -> Path | None:
        """The first file that lies in none of the folders, by where links lead; None for none."""
        every = (*self.claims, *files)
        return next(
            (f for f in every if not any(map(resolved(f).is_relative_to, self.folders))), None
        )


Consent: TypeAlias = bool | Trusted
"""To all that was named, to nothing, or to what lies in folders."""


def trusted(claims: Iterable[Path]) -> Consent:
    """What ``REPRO_ALLOW_CODE_IN`` allows ``claims``; False where it names no folder.

    ClaimError for a folder that is not named from the root, for it would be another one elsewhere.
    """
    named = [Path(each) for each in os.environ.get(FOLDERS, "").split(os.pathsep) if each]
    if relative := next((each for each in named if not each.is_absolute()), None):
        raise ClaimError(
            f"{FOLDERS}: '{relative}' is another folder wherever the command is given\n"
            "  to do: name it from the root, such as /home/me/project"
        )
    return Trusted(tuple(map(resolved, named)), tuple(claims)) if named else False


def require_code(
    code: Iterable[object], consent: Consent, places: Mapping[str, str] | None = None
) -> None:
    """CodeError where a part of ``code`` has no consent; ``places`` says where each is named.

    A part says by ``files`` which files it is; one that does not is the module of its ``use``.
    """
    if consent is True:
        return
    refused: dict[str, str] = {}
    outside: dict[str, str] = {}
    for part in {repr(each): each for each in code}.values():
        use: str = getattr(part, "use", "")
        if not isinstance(consent, Trusted):
            refused.setdefault(use, (places or {}).get(use, ""))
        elif file := consent.outside(getattr(part, "files", None) or module_files(use)):
            refused.setdefault(use, (places or {}).get(use, ""))
            outside.setdefault(use, str(file))
    if refused:
        order = {use: refused[use] for use in places or {} if use in refused}
        raise CodeError(order | refused, outside)


@dataclass(frozen=True, slots=True)
class Module:
    """Code that is named as `module:object`."""

    use: str


_ALLOWED: ContextVar[Consent] = ContextVar("_ALLOWED", default=False)


@contextmanager
def allowing_code(allowed: Consent) -> Iterator[None]:
    """Which `module:object` documents that are read inside may name, so that it is imported."""
    token = _ALLOWED.set(allowed)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def require_consent(name: str) -> None:
    """CodeError where a document names the `module:object` ``name`` and nobody has allowed it.

    An installed entry point is the user's own choice, and needs no consent.
    """
    if ":" in name:
        require_code([Module(name)], _ALLOWED.get())
