"""The runs in text logs: what stands there as `name: value` or `name=value`, line by line."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from repro.files import read_bytes
from repro.results.forms import FoundRun, refused
from repro.results.roles import ARMS, SEEDS
from repro.results.series import Row, form_of, series_of
from repro.schema.cells import is_odd, with_points

LOGS = (".log", ".txt", ".out")

LARGEST = 50_000_000
"""Bytes of the largest log that is read to find out what is in it."""

BEGINNING = 100_000
"""Bytes in which the first two lines of a table are looked for."""

LONGEST = 2_000
"""Characters of a line; longer ones hold no number that somebody reads."""

NUMBER = r"(?i:[-+]?(?:nan\b|inf(?:inity)?\b|\.?\d[\d.e+-]*))"

_LEVELS = frozenset({"DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL"})
_WORD = re.compile(r"[A-Za-z_][\w./%@-]*")
_BRACKETS = str.maketrans(dict.fromkeys("'\"", "") | dict.fromkeys("(){}[]", " , "))
_UNIT = re.compile(r"\([^()\s]*\)(?=\s*[:=])")
_APART = re.compile(r"\s*(?<!:)[:=](?![:=/\\])\s*")
_FULL_NUMBER = re.compile(NUMBER + r"%?")


class NamedValue(NamedTuple):
    """A name, what was said before it in the line, and its value."""

    name: str
    before: str
    value: str


def pattern_of(measure: str, name: str) -> str:
    """What finds the number after the name of what is measured: with its sign, nan and inf too."""
    return rf"(?<!\w){re.escape(measure)}(?!\w)[\s:=|>(\"']*(?P<{name}>{NUMBER})"


def run_in_log(path: Path, place: str, said: dict[str, Any]) -> FoundRun:
    """A log that is one run: what it says once are fields, and a row is a line with numbers."""
    fields, rows = _run_in(text_of(path).splitlines(), path)
    return FoundRun(place, {**fields, **said}, rows)


def runs_in_log(path: Path, place: str) -> tuple[FoundRun, ...]:
    """The runs of a log that says arm or seed of each: in a line, or between empty lines.

    None of them where the log says neither, or only once.
    """
    lines = text_of(path).splitlines()
    for parts in ([[line] for line in lines], list(_paragraphs(lines))):
        runs = [
            FoundRun(f"{place}, part {n}", *_run_in(part, path)) for n, part in enumerate(parts, 1)
        ]
        telling = [run for run in runs if _tells(run)]
        if len(telling) > 1:
            _refuse_odd(path, runs, {name for run in telling for row in run.rows for name in row})
            return tuple(telling)
    return ()


def _refuse_odd(path: Path, runs: Iterable[FoundRun], numbers: set[str]) -> None:
    """ClaimError for a run without its number, because that cannot be read."""
    for run in runs:
        for name in numbers & run.fields.keys():
            if is_odd(str(run.fields[name])):
                mistake = f"{run.place}: '{run.fields[name]}' of '{name}' is not a number"
                advice = "write a decimal point, and no marks between thousands"
                raise refused(path, mistake, "a number, as in its other lines", advice)


def names_in_log(path: Path) -> list[str]:
    """The names of the numbers in a log."""
    return list(
        dict.fromkeys(name for row in _run_in(text_of(path).splitlines(), path)[1] for name in row)
    )


def _tells(run: FoundRun) -> bool:
    """Whether a part of a log says which run it is, and has a number besides."""
    who = [key for key in run.fields if key.casefold() in (*ARMS, *SEEDS)]
    return bool(who) and any(key not in who for row in run.rows for key in row)


def is_table(path: Path) -> bool:
    """Whether a file that is called like a log holds a table, as `progress.txt` may."""
    with suppress(OSError), path.open("rb") as file:
        return form_of(path.name, file.read(BEGINNING).decode(errors="replace")) is not None
    return False


def text_of(path: Path) -> str:
    """The text of a log; ClaimError for one that cannot be read, or is not UTF-8."""
    try:
        return read_bytes(path, LARGEST).decode("utf-8-sig")
    except OSError as error:
        mistake = f"cannot be read: {error.strerror}"
        raise refused(path, mistake, "a log", "check the file") from None
    except UnicodeDecodeError as error:
        mistake = f"is not UTF-8 text: byte {error.start}"
        raise refused(path, mistake, "a log in UTF-8", "convert it") from None


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            part.append(line)
        elif part:
            yield part
            part = []


def _run_in(lines: Iterable[str], path: Path) -> tuple[dict[str, Any], list[Row]]:
    """What lines say once, and their numbers, a row per line; ClaimError for one that is odd.

    A number that stands after different words in different lines (`Train | loss=1`,
    `Test | loss=2`) has them in its name.
    """
    found = [pairs for line in lines if (pairs := list(pairs_in(line)))]
    befores: dict[str, set[str]] = defaultdict(set)
    for pair in (pair for pairs in found for pair in pairs):
        befores[pair.name].add(pair.before)
    said = [{_full_name(pair, befores): pair.value for pair in pairs} for pairs in found]
    with_points(said)
    values: dict[str, set[str]] = defaultdict(set)
    for each in said:
        for name, value in each.items():
            values[name].add(value)
    try:
        rows = list(filter(None, series_of(said)))
    except ValueError as error:
        advice = "write all of one name alike"
        raise refused(path, str(error), "numbers with a decimal point", advice) from None
    return {name: next(iter(each)) for name, each in values.items() if len(each) == 1}, rows


def _full_name(pair: NamedValue, befores: dict[str, set[str]]) -> str:
    return f"{pair.before} {pair.name}".strip() if len(befores[pair.name]) > 1 else pair.name


def pairs_in(line: str) -> Iterator[NamedValue]:
    """Every name and value in a line; a value of several words only where it is alone there."""
    if len(line) > LONGEST or (":" not in line and "=" not in line):
        return
    parts = _APART.split(_UNIT.sub("", line).translate(_BRACKETS))
    before: list[str] = []
    for place, (part, following) in enumerate(pairwise(parts)):
        words = part.split()
        name, others = _name(words[1 if place and len(words) > 1 else 0 :])
        before += others
        last = place + 2 == len(parts)
        if name and not last and len(following.split()) == 1:
            before.append(name)  # `test: loss=1`: what follows is a name, too
        elif name and (value := _value(following, alone=last and not place)):
            yield NamedValue(name, " ".join(before), value)


def _name(words: Sequence[str]) -> tuple[str, list[str]]:
    """The words right before a value, and the other words before these."""
    name: list[str] = []
    rest = list(words)
    while rest and _is_word(rest[-1]):
        name.insert(0, rest.pop())
    return " ".join(name), list(filter(_is_word, rest))


def _is_word(text: str) -> bool:
    return bool(_WORD.fullmatch(text)) and text not in _LEVELS


def _value(text: str, *, alone: bool) -> str:
    """The first number or word of a text, or all of it where it is ``alone`` in its line."""
    words = text.split()
    first = words[0].rstrip(",;|") if words else ""
    if not alone or _FULL_NUMBER.fullmatch(first):
        return first
    return " ".join(words).rstrip(",;|")
