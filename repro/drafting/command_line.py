"""What a line that starts a program says: its words, the names in braces, and its style."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repro.errors import ClaimError

_PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9_.-]*)\}")
_RESERVED = frozenset({"seed", "args", "out"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_EQUALS = re.compile(r"--[A-Za-z][\w.-]*=.*\{(seed|out)\}.*", re.DOTALL)
_OVERRIDE = re.compile(r"[+~]*[A-Za-z_][A-Za-z0-9_./@-]*=.*\{(seed|out)\}.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ProgramLine:
    """A program and its arguments.

    ``settings`` are the names in braces that the arms differ in, ``said`` is what was guessed,
    and ``style`` is how the configuration says that arguments are written, unless by default.
    """

    words: tuple[str, ...]
    settings: tuple[str, ...]
    said: tuple[str, ...]
    style: str

    def files(self, folder: Path) -> list[str]:
        """The words that are files of ``folder``, as a claim names them."""
        names = [PurePosixPath(word) for word in self.words]
        below = [name for name in names if not name.is_absolute() and ".." not in name.parts]
        return list(dict.fromkeys(str(name) for name in below if (folder / name).is_file()))


def command_line(command: str, *, unseeded: bool = False) -> ProgramLine:
    """The command as a claim declares it; ClaimError where it cannot be read, or has no seed.

    One that is ``unseeded`` needs none.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _refused(command, f"cannot be read: {error}", "close the quotes") from None
    if not words:
        raise _refused(command, "there is no command", "name a program and its arguments")
    named = [name for word in words for name in _PLACEHOLDER.findall(word)]
    if "seed" not in named and not unseeded:
        advice = (
            "add {seed} where the program takes its seed: --seed {seed}; put it in a variable that "
            "the program reads: SEED={seed} python train.py; or, for a program whose runs differ "
            "by chance alone, give --unseeded"
        )
        raise _refused(command, "the command has no {seed}", advice)
    said = []
    if _VARIABLE.fullmatch(words[0]):
        words = ["env", *words]
        said.append("'env' stands before the variables, for no shell does")
    settings = tuple(dict.fromkeys(name for name in named if name not in _RESERVED))
    if not settings and "args" not in named:
        words.append("{args}")
        said.append("{args} stands at the end of the command, for what the arms differ in")
    style = _style(_arguments(words)) if "{args}" in words else ""
    if style:
        form = "name=value" if style == "hydra" else "--name=value"
        said.append(f"arguments are written {form} (style: {style}), as those of the command")
    return ProgramLine(tuple(words), settings, tuple(said), style)


def _style(arguments: Sequence[str]) -> str:
    """How arguments are written; nothing for `--name value`."""
    if any(map(_OVERRIDE.fullmatch, arguments)):
        return "hydra"
    return "equals" if any(map(_EQUALS.fullmatch, arguments)) else ""


def _arguments(words: Sequence[str]) -> Sequence[str]:
    """What follows the program: the variables that `env` sets stand before it."""
    if words[0] != "env":
        return words[1:]
    program = (n for n, word in enumerate(words[1:], 1) if not _VARIABLE.fullmatch(word))
    return words[next(program, len(words)) + 1 :]


def _refused(command: str, mistake: str, advice: str) -> ClaimError:
    expected = "such as: python train.py --seed {seed}"
    return ClaimError(
        f"--command '{command}': {mistake}\n  expected: {expected}\n  to do: {advice}"
    )
