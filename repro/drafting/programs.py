"""A command as a claim declares it; it may be run once, to see where its numbers are."""

from __future__ import annotations

import os
import re
import secrets
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repro.errors import ClaimError, ReproError, printable
from repro.results.log_runs import pattern_of
from repro.results.series import numbers_in
from repro.schema.messages import choose
from repro.trainers.command import process
from repro.trainers.command.left import Left, gathered
from repro.trainers.command.results import MOST_NAMES, NumbersThere, places, said_of, tail
from repro.trainers.command.spec import TRACKERS, CommandTraining

SEED = 0


def place_of_numbers(line: ProgramLine, folder: Path, measure: str) -> tuple[str, list[str]]:
    """Where the program leaves ``measure``, as `--results` takes it, and what is said of it.

    It is run once in ``folder``, with the seed 0. ClaimError for a command with values that are
    open, for one that fails, and where the number is not there, with those that are.
    """
    if line.settings:
        open_ = " and ".join(f"{{{name}}}" for name in line.settings)
        raise _refused(
            f"the command cannot be run while {open_} has no value",
            "a command that is complete but for {seed}, {out} and {args}",
            "leave --try out, fill the arms in, and give `repro try` with the claim",
        )
    left = _left(line, folder)
    found = list(places(left))
    having = [place for place in found if place.form != "stdout" and measure in place.names]
    # the output, where the pattern by which a claim will look for the number finds it there
    pattern = re.compile(pattern_of(measure, "value"))
    lines = left.output.decode("utf-8", "replace").splitlines()
    printed = filter(None, map(pattern.search, lines)) if measure else ()
    rows = [numbers_in({measure: each["value"]}) for each in printed]
    having += [NumbersThere("stdout", "", rows)] if any(rows) else []
    if not having:
        known = list(dict.fromkeys(name for place in found for name in place.names))
        mistake = f"it left no number '{printable(measure)}'{said_of(left)}{tail(left.output)}"
        expected = ", ".join(map(printable, known[:MOST_NAMES])) or "numbers in a file, or printed"
        advice = "give one of them as --measure" if known else "have the program print them"
        advice = choose(measure, known) if measure and known else advice
        raise _refused(mistake, expected, advice)
    said = [f"the command was run once, with the seed {SEED}: {_told(having[0], measure)}"]
    said += [f"'{printable(measure)}' is in {_where(place)} as well" for place in having[1:]]
    return _as_results(having[0]), said


def _left(line: ProgramLine, folder: Path) -> Left:
    """What it leaves; ClaimError where it cannot be started, or fails."""
    spec = CommandTraining.model_validate(
        {"command": line.words, "results": {"stdout": "(?P<none>)"}, "unseeded": True}
    )
    with tempfile.TemporaryDirectory(prefix="repro-try-") as name:
        out = Path(name) / "out"
        out.mkdir()
        try:
            ended = process.run(
                spec.arguments(SEED, out),
                folder=folder,
                environment=os.environ,
                mark=f"try-{secrets.token_hex(8)}",
                seconds=None,
                on_line=lambda _: None,
            )
        except ReproError as error:
            mistake = f"{line.words[0]}: cannot be started: {error}"
            raise _refused(mistake, "a program", "correct it") from error
        if ended.status or ended.timed_out:
            mistake = f"the program {ended.words}{tail(ended.output)}"
            raise _refused(mistake, "one that ends well", "correct it, or leave --try out")
        left = Left(output=ended.output if ended.whole is None else ended.whole)
        gathered(left, spec, {"seed": SEED, "out": str(out)})
        return left


def _told(place: NumbersThere, measure: str) -> str:
    """The last value of the number, and how many there are."""
    values = [row[measure] for row in place.rows if measure in row]
    many = f", the last of {len(values):,}" if len(values) > 1 else ""
    last = "not finite" if values[-1] is None else f"{values[-1]:.6g}"
    return f"{_where(place)} has '{printable(measure)}' = {last}{many}"


def _where(place: NumbersThere) -> str:
    return "the output" if place.form == "stdout" else f"'{printable(place.path)}'"


def _as_results(place: NumbersThere) -> str:
    if place.form == "stdout":
        return "stdout"
    path = "{out}" if place.path in {"", "."} else f"{{out}}/{place.path}"
    return f"{place.form}:{path}" if place.form in TRACKERS else path


def _refused(mistake: str, expected: str, advice: str) -> ClaimError:
    return ClaimError(f"--try: {mistake}\n  expected: {expected}\n  to do: {advice}")


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
        raise _unread(command, f"cannot be read: {error}", "close the quotes") from None
    if not words:
        raise _unread(command, "there is no command", "name a program and its arguments")
    named = [name for word in words for name in _PLACEHOLDER.findall(word)]
    if "seed" not in named and not unseeded:
        advice = (
            "add {seed} where the program takes its seed: --seed {seed}; put it in a variable that "
            "the program reads: SEED={seed} python train.py; or, for a program whose runs differ "
            "by chance alone, give --unseeded"
        )
        raise _unread(command, "the command has no {seed}", advice)
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


def _unread(command: str, mistake: str, advice: str) -> ClaimError:
    expected = "such as: python train.py --seed {seed}"
    return ClaimError(
        f"--command '{command}': {mistake}\n  expected: {expected}\n  to do: {advice}"
    )
