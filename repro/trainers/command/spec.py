"""What a configuration of a command holds: the command line, its files, where its numbers are."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from repro.errors import printable
from repro.results.series import NumberName
from repro.schema.base import (
    ArgumentName,
    FilePattern,
    MemorySize,
    Positive,
    Sha256,
    Spec,
    VariableName,
)
from repro.schema.messages import Words
from repro.schema.yaml import Steps
from repro.trainers.base import Training, revisions_of

Argument = str | int | float | bool
Text = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
RESERVED = ("seed", "args", "out")

IDENTITY = {
    *("command", "args", "style", "unseeded", "environment", "results", "keep", "diverged"),
    "digests",
}
"""The fields on which the numbers of a run depend, or what is left of it."""

SEEDING: Final = (
    'add the seed to the command, such as --seed "{seed}"; put it in a variable that the program '
    'reads, as in [env, "SEED={seed}", python, train.py]; or, for a program whose runs differ by '
    "chance alone, write `unseeded: true`"
)

LIMIT: Final = "command_limit"
"""The component of a program whose limit of time decides what counts as a divergence."""


Tracker = Literal["tensorboard", "wandb", "mlflow", "trackio"]
TRACKERS: tuple[Tracker, ...] = ("tensorboard", "wandb", "mlflow", "trackio")
ResultForm = Literal["file", "csv", "jsonl", "log", "stdout"] | Tracker
FORMS: tuple[ResultForm, ...] = ("file", "csv", "jsonl", "log", *TRACKERS, "stdout")


_EXAMPLES = {"tensorboard": "runs", "wandb": "wandb", "mlflow": "mlruns", "trackio": "p.db"}


class Results(Spec):
    """Where the numbers of a run are, in one of these ways; ``{out}`` is the folder of the run.

    ``file``: JSON, nested or flat. ``csv`` and ``jsonl``: a row per step. ``stdout``: a pattern
    that is looked for in each line of what the program prints, whose named groups are the numbers:
    a row per line that has it. ``log``: a text that has them so, by its ``pattern``.
    ``tensorboard`` and ``wandb``: a folder of one run of that tracker; ``mlflow``: its folder or
    database, and ``trackio``: its database, with one run in it.
    """

    file: Text | None = None
    csv: Text | None = None
    jsonl: Text | None = None
    log: Text | None = None
    tensorboard: Text | None = None
    wandb: Text | None = None
    mlflow: Text | None = None
    trackio: Text | None = None
    stdout: Text | None = None
    pattern: Text | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if sum(getattr(self, form) is not None for form in FORMS) != 1:
            forms = f"{', '.join(FORMS[:-1])} or {FORMS[-1]}"
            raise ValueError(f"results are in one place: either {forms}")
        if (self.log is None) != (self.pattern is None):
            raise ValueError("log and pattern go together: a text, and what its lines look like")
        if self.sought is not None:
            key = "stdout" if self.log is None else "pattern"
            try:
                groups = re.compile(self.sought).groupindex
            except re.error as error:
                raise ValueError(f"{key} is no regular expression: {error}") from None
            if not groups:
                raise ValueError(f"{key} names no number: write it as (?P<loss>...)")
        return self

    @property
    def sought(self) -> str | None:
        """The pattern of the lines that have numbers, in the output or in a log."""
        return self.stdout if self.log is None else self.pattern

    @property
    def series(self) -> bool:
        """Whether there may be several values of one name."""
        return self.file is None

    @property
    def form(self) -> ResultForm:
        """Which of them it is."""
        return next(form for form in FORMS if getattr(self, form) is not None)

    @property
    def path(self) -> str:
        """The file, with placeholders; nothing where the output has the numbers."""
        return "" if self.stdout is not None else str(getattr(self, self.form))


class Resources(Spec):
    """What one run needs: GPUs of its own, minutes at most, memory in bytes or as `8 GB`, cores."""

    gpus: Annotated[int, Field(ge=0, le=64)] = 0
    minutes: Positive | None = None
    memory: MemorySize = "1 GB"
    cores: Annotated[int, Field(ge=1, le=1024)] = 1

    @property
    def bytes(self) -> float:
        number, unit = re.fullmatch(r"([0-9.]+) ?(GB|MB)", self.memory).groups()  # type: ignore[union-attr]
        return float(number) * {"GB": 1e9, "MB": 1e6}[unit]


class Resume(Spec):
    """How a program goes on: ``step`` is the number in each row of its series that counts up.

    By it the rows that an attempt has taken back are told from those that it went on from.
    """

    step: NumberName


Ending = Literal["exit", "timeout", "not_finite"]


def _alone(line: list[str], rest: list[str]) -> str:
    """The words of a command line that another one does not have, each after its option."""
    found: list[str] = []
    for before, word in pairwise(line):
        if word not in rest:
            found += [before, word] if before.startswith("-") and before in rest else [word]
    return shlex.join(found)


class CommandTraining(Training):
    """A program that is run once per replicate.

    ``command`` is a list of arguments, never a shell line. In it ``{seed}`` is the seed, ``{out}``
    the folder of the run, ``{args}``, as an argument by itself, all of ``args`` that are named
    nowhere else, and the name of any of them its value; ``{{`` and ``}}`` are braces. ``style`` is
    how ``{args}`` are written: as `--name value`, as `--name=value` (``equals``), or as
    `name=value` (``hydra``). ``unseeded``: the program takes no seed, so that its runs differ by
    chance alone; without that, the command has ``{seed}``.

    ``files`` are those, below ``workdir``, on which the numbers depend: their ``digests`` are part
    of the identity of a run. ``workdir`` is below the document. ``environment`` is added to that of
    the program. ``keep`` are further files of ``{out}`` that are stored. ``diverged`` are the
    endings that count as a divergence of the run, and not as a failure that is tried again.
    ``resume``: ``{out}`` stays from one attempt to the next, and the program goes on there; with a
    ``step`` where its results are a series.
    """

    built_in: ClassVar[str] = "command"
    noun: ClassVar[str] = "a program"
    located: ClassVar[tuple[str, ...]] = ("digests", "folder")
    leaves_numbers: ClassVar[bool] = True
    differs_by: ClassVar[tuple[str, str]] = (
        "in their arguments, or in the files of the program",
        "give '{arm}' other arguments, as in: args: {{lr: 0.1}}",
    )

    command: Annotated[tuple[Text, ...], Field(min_length=1)]
    args: dict[ArgumentName, Argument | tuple[Argument, ...]] = {}
    style: Literal["flags", "equals", "hydra"] = "flags"
    unseeded: bool = False
    environment: dict[VariableName, str] = {}
    workdir: Annotated[str, StringConstraints(max_length=400)] = "."
    files: tuple[FilePattern, ...] = ()
    results: Results
    keep: tuple[FilePattern, ...] = ()
    diverged: tuple[Ending, ...] = ("not_finite",)
    resume: bool | Resume = False
    resources: Resources = Resources()

    digests: dict[str, Sha256] = {}
    folder: str = ""

    @property
    def seeded(self) -> bool:
        """Unless the program is said to take no seed."""
        return not self.unseeded

    @property
    def components(self) -> tuple[str, ...]:
        """Its limit of time, where to be over it is a divergence."""
        limited = "timeout" in self.diverged and self.resources.minutes is not None
        return (LIMIT,) if limited else ()

    def identity(self, revisions: Mapping[str, int] | None = None) -> dict[str, Any]:
        """What the numbers depend on: neither where it lies nor what it needs.

        But for a limit of time that makes a run a divergence: with another one it may be none.
        """
        named = revisions_of(self.components) if revisions is None else revisions
        document = self.model_dump(mode="json", include=IDENTITY, exclude_defaults=True)
        if named.get(LIMIT, 1) > 1:
            document["resources"] = {"minutes": self.resources.minutes}
        return document

    def edited(self, earlier: Mapping[str, Any]) -> tuple[str, ...]:
        """As in Training: files that were changed, added or removed."""
        now, before = self.identity(), dict(earlier)
        here, there = now.pop("digests", {}), before.pop("digests", {})
        if now != before or not isinstance(there, dict):
            return ()
        return tuple(name for name in sorted({*here, *there}) if here.get(name) != there.get(name))

    def differing(self, other: Training) -> str:
        """As in Training: the words of the command line, as they are given to the program."""
        if not isinstance(other, CommandTraining):
            return super().differing(other)
        lines = [each.arguments(0, Path("out")) for each in (self, other)]
        told = [_alone(line, rest) for line, rest in zip(lines, reversed(lines), strict=True)]
        return " and ".join(f"`{words}`" for words in told if words) or super().differing(other)

    def arguments(self, seed: int, out: Path) -> list[str]:
        """The command line of one run."""
        return self._line({**self.args, "seed": seed, "out": str(out)})

    @property
    def shown(self) -> str:
        """Its command line with the variables that are declared, for a reader, on one line."""
        line = self._line({**self.args, "seed": "{seed}", "out": "{out}"})
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        return printable(" ".join([*variables, shlex.join(line)]))

    def _line(self, values: Mapping[str, Any]) -> list[str]:
        line: list[str] = []
        for text in self.command:
            line += self._all_arguments() if text == "{args}" else [filled(text, values)]
        return line

    def _all_arguments(self) -> Iterator[str]:
        """``{args}``: those that no other argument of the command names."""
        named = {name for text in self.command for name in placeholders(text)}
        for name, value in self.args.items():
            if name in named:
                continue
            several = value if isinstance(value, tuple) else (value,)
            if self.style != "flags":
                shown = ",".join(map(written, several))
                shown = f"[{shown}]" if isinstance(value, tuple) else shown
                yield f"{'--' if self.style == 'equals' else ''}{name}={shown}"
            elif isinstance(value, bool):
                yield from [f"--{name}"] if value else []
            else:
                yield f"--{name}"
                yield from map(written, several)

    def mistakes(self) -> Iterator[tuple[Steps, Words]]:
        """Placeholders that stand for nothing, and settings that lead nowhere."""
        named = {name for text in self.command for name in placeholders(text)}
        for name in self.args:
            if name in RESERVED:
                what = f"an argument cannot be called {name}, because {{{name}}} is a placeholder"
                yield ("args", name), (what, "another name", "rename it, or leave it out")
            elif not named & {"args", name}:
                what = f"the command uses neither {{args}} nor {{{name}}}"
                advice = 'add "{args}" to the command, or remove the argument'
                yield ("args", name), (what, "a placeholder for it", advice)
        if "seed" not in named and not self.unseeded:
            what = "the command does not use {seed}, so every run would be the same"
            yield ("command",), (what, "{seed} in the command", SEEDING)
        if "seed" in named and self.unseeded:
            what = "the command uses {seed}, and its runs are said to have none"
            yield ("unseeded",), (what, "one of the two", "leave `unseeded` out")
        if self.command[0] == "{args}":
            what = "the command begins with its arguments"
            yield ("command",), (what, "a program first", "name the program before them")
        if not self.files:
            what = "no files are named, so an edit of the program would change no key"
            advice = "name all that the numbers depend on"
            yield ("files",), (what, "files, such as [train.py]", advice)
        yield from self._unknown_placeholders()
        yield from self._results_elsewhere()
        yield from self._unclear_rows()
        yield from self.ill_patterns()

    def _results_elsewhere(self) -> Iterator[tuple[Steps, Words]]:
        """Results that are not in the folder of the run: another run may have left them."""
        path = self.results.path
        if not path or not {*placeholders(path)} <= {*RESERVED, *self.args}:
            return
        file = os.path.normpath(filled(path, {**self.args, "seed": 0, "args": "", "out": "out"}))
        whole = self.results.form in TRACKERS and file == "out" and path.startswith("{out}")
        if not whole and (not path.startswith("{out}/") or not file.startswith("out/")):
            what = f"'{path}' is not below the folder of the run, so runs would share it"
            expected = f'a path such as "{{out}}/{_EXAMPLES.get(self.results.form, "r.json")}"'
            advice = "have the program write it there, or print its numbers and use `stdout`"
            yield ("results", self.results.form), (what, expected, advice)

    def _unclear_rows(self) -> Iterator[tuple[Steps, Words]]:
        """A series that may hold rows of attempts that were cut off, and a step of no series."""
        in_file = self.results.series and self.results.form in {"csv", "jsonl", "log"}
        if self.resume is True and in_file:
            what = "a program that resumes may write rows again, and nothing says which"
            advice = "name the number in each row that counts up, such as epoch"
            yield ("resume",), (what, "resume: {step: NAME}", advice)
        elif isinstance(self.resume, Resume) and not in_file:
            what = "the results are no series in a file, so no row has a step"
            yield ("resume",), (what, "resume: true", "write that, or have it write a series")

    def ill_patterns(self) -> Iterator[tuple[Steps, Words]]:
        """Patterns that some versions of Python cannot read, or read otherwise."""
        for key in ("files", "keep"):
            for number, text in enumerate(getattr(self, key)):
                *folders, name = text.split("/")
                if "**" in name or any("**" in part and part != "**" for part in folders):
                    what = f"'{text}': ** is by itself between two /, for folders of any depth"
                    expected = "a pattern such as src/**/*.py"
                    yield (key, number), (what, expected, "write what files are called after it")

    def _unknown_placeholders(self) -> Iterator[tuple[Steps, Words]]:
        """Names in braces that have no value."""
        known = [*RESERVED, *self.args]
        texts: list[tuple[Steps, str]] = [(("command", i), t) for i, t in enumerate(self.command)]
        if self.results.path:
            texts.append((("results", self.results.form), self.results.path))
        for steps, text in texts:
            for name in placeholders(text):
                if name not in known:
                    what = f"{{{name}}} stands for nothing"
                    advice = "declare it in args, or write {{ and }} for braces"
                    yield steps, (what, f"one of {', '.join(known)}", advice)
                elif name == "args" and (text != "{args}" or steps[0] == "results"):
                    what = "{args} stands for several arguments, and here is more or less"
                    yield steps, (what, '"{args}" by itself, in the command', "write it alone")


def placeholders(text: str) -> list[str]:
    """The names of the placeholders in a text, such as `seed` of `{seed}`, in their order."""
    return [found[1] for found in _PLACEHOLDER.finditer(text) if found[1] is not None]


def filled(text: str, values: Mapping[str, Any]) -> str:
    """The text with the values in the place of their names."""

    def value(found: re.Match[str]) -> str:
        return found[0][0] if found[1] is None else written(values[found[1]])

    return _PLACEHOLDER.sub(value, text)


def written(value: Any) -> str:
    """A value on a command line: `true`, `0.001`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
