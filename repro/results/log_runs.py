"""The runs in text logs: what stands there as `name: value` or `name=value`, line by line."""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from repro.files import leads_out, read_bytes
from repro.results.forms import FoundRun, refused
from repro.results.roles import ARMS, SEEDS, says_best
from repro.results.series import Row, form_of, series_of
from repro.schema.cells import float_of, is_odd, with_points

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

_KEYED = re.compile(
    r"(?i)(?<!\w)(?:key|name|metric|tag)[\"']?[ \t]*[:=][ \t]*[\"']?([A-Za-z_][\w./@%-]*)[\"']?"
    r"([^\n]{0,200}?)(?<!\w)value(?=[\"']?[ \t]*[:=])"
)
"""A number whose name is the value of another: `"key": "eval_accuracy", "value": 0.75`."""

NO_VALUE = frozenset({"none", "null", "na", "n/a", "--", "-", "?"})
_SOURCE = re.compile(r"^(?:import|from) \w", re.MULTILINE)
_SEED_SET = re.compile(r"(?i)(seed\w{0,40}\s*[=:]\s*)\d+")
_TOKEN = re.compile(r"[^\s,;|)}\]\"'<]+(?:,\d+)?%?")
_SOURCE_ENDS = re.compile(r"^={40,}[ \t]*\r?$", re.MULTILINE)
_STEP = re.compile(
    r"(?i)(?<![a-z])(?:global[_ ])?(?:steps?|iter(?:ation)?s?|it|epochs?)"
    r"[\"']?[:= ]+(\d+)(?:/(\d+))?"
)
_TIMES = re.compile(
    r"(?i)(?<![a-z])(?:\w{0,40}_)?(?:time|date|timestamp|elapsed|duration|eta)(?:_\w{0,40})?"
    rf"[\"']?[ :=]*{NUMBER}\w*|(?<!\d)\d+([-:/])\d+\1\d+\S*|(?<![\w.])[\d.]+ ?m?s\b"
    r"|\S{0,200}/[a-z_.]\S*"
)
"""Times, dates and paths, which may differ in two logs of one run."""

_VALUE_BEFORE = re.compile(r"(?<![\w\"'])[\w\"']+\s*[:=]\s*#\S*")
_DIGITS = re.compile(r"[-+]?\d[\d.e+-]*|\bnan\b|\binf\b")


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


def names_in_bars(path: Path) -> list[str]:
    """The names in the head of a table that a log prints with bars, `|  epoch  |  val_acc  |`."""
    for line in text_of(path).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.lstrip().startswith("|") and len(cells) > 1 and all(map(_WORD.fullmatch, cells)):
            return cells
    return []


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
        return _KEYED.sub(r"\2\1", read_bytes(path, LARGEST).decode("utf-8-sig"))
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


# the values of one number in a log


@dataclass(frozen=True, slots=True)
class Stand:
    """A value in a log: the words before it in its line, and the step that the line is of.

    ``total`` is how many steps there were to be. Both are None where the line does not say.
    """

    before: str
    step: int | None
    total: int | None
    value: float

    @property
    def at(self) -> str:
        """`at step 1670/1670`; the words before the number, where no step is said."""
        if self.step is None:
            return f"after '{self.before}'" if self.before else "at the end"
        return f"at step {self.step}" + ("" if self.total is None else f"/{self.total}")

    @property
    def line(self) -> str:
        """What is evaluated in its line, as in `quantized val_loss:3.2`; empty where it has a step.

        Numbers before it, as in `loss=0.3 val_loss=0.4`, are left out: `...` stands for them.
        """
        if self.step is not None:
            return ""
        words = _VALUE_BEFORE.sub(" ", self.before).split()
        words = [word for word in words if any(map(str.isalpha, word))]
        return " ".join(words + ["..."] * (words[-1:] != self.before.split()[-1:] and bool(words)))

    @property
    def best(self) -> bool:
        """Whether the words say that it is the best of several: `Minimum validation bpb`."""
        return says_best("".join(self.before.split()[-1:]))

    @property
    def ended_early(self) -> bool:
        """Whether more steps were to come."""
        return self.step is not None and self.total is not None and self.step < self.total


def end_of(stands: Sequence[Stand], step: int | None) -> Stand | Literal["other"] | None:
    """The last value, or the last at a step; None where the run ended before its last one.

    "other" where it is the log of a run that was to end at another step, and did.
    """
    if not stands:
        return None
    last = stands[-1]
    if not math.isfinite(last.value):
        return last
    if step is None:
        return None if last.ended_early else last
    at = [stand for stand in stands if stand.step == step]
    if at:
        return at[-1]
    early = last.step is None or (last.step < step and last.total in (None, step))
    return None if early or last.ended_early else "other"


def evaluations(stands: Sequence[Stand], ends: Sequence[Stand]) -> tuple[str, ...]:
    """The lines of a log that have its number, last the one that counts."""
    last = ends[0].line if ends else ""
    return (*dict.fromkeys(each.line for each in stands if each.line != last), last)


@dataclass(frozen=True, slots=True)
class Log:
    """The values in a log, by their names, and the digests of all of it, and of its source.

    That is empty where the log has none.
    """

    name: str
    values: Mapping[str, list[Stand]]
    digest: str
    source: str

    def as_run(self, measure: str) -> FoundRun:
        """The values of a number as the series of a run, with their steps where all say one."""
        stands = self.values[measure]
        rows: list[Row] = [{measure: each.value} for each in stands]
        if all(each.step is not None for each in stands):
            rows = [{"step": float(each.step or 0), measure: each.value} for each in stands]
        return FoundRun(self.name, {}, rows)


def read_log(file: Path, path: Path, names: Sequence[str]) -> Log:
    """The values of some names in a log; ClaimError where it cannot be read."""
    if leads_out(file, path):
        expected = f"files below {path.resolve()}"
        raise refused(file, "a link that leads elsewhere", expected, "put the file itself there")
    try:
        text = _KEYED.sub(r"\2\1", read_bytes(file, LARGEST).decode("utf-8", "replace"))
    except OSError as error:
        mistake = f"cannot be read: {error.strerror}"
        raise refused(file, mistake, "a log", "check the file") from None
    start, end = _source_in(text)
    source = _digest(_SEED_SET.sub(r"\1", text[start:end])) if end else ""
    lines = (text[:start] + text[end:]).splitlines()
    sought = {name: _sought(name) for name in names}
    there = [name for name, of in sought.items() if of.search(text)]
    values = {name: [*_stands(file, lines, name, sought[name])] for name in there}
    return Log(file.relative_to(path).as_posix(), values, _digest(text), source)


def _source_in(text: str) -> tuple[int, int]:
    """Where the source stands that a log holds, up to a line of `=`, or between two; else 0, 0."""
    start = 0
    for line in _SOURCE_ENDS.finditer(text):
        if _SOURCE.search(text, start, line.start()):
            return start, line.start()
        start = line.end()
    return 0, 0


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def forms_of_lines(file: Path) -> Mapping[str, list[str]]:
    """The lines of a log with words in them, without times and paths, by what they are alike in.

    That is the line with a mark in place of numbers.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for line in read_bytes(file, LARGEST).decode("utf-8", "replace").splitlines():
        if any(map(str.isalpha, marked := _DIGITS.sub("#", line.strip()))):
            found[marked].append(_TIMES.sub("", line.strip()))
    return found


def apart(lines: Mapping[str, list[str]], others: Mapping[str, list[str]]) -> bool:
    """Whether as many lines of one form say other numbers in two logs, which so are two runs."""
    return any(
        len(lines[form]) == len(others[form]) and lines[form] != others[form]
        for form in lines.keys() & others.keys()
    )


def _sought(name: str) -> re.Pattern[str]:
    """Where a number of that name begins."""
    words = re.escape(name).replace("_", "[_ ]").replace("\\ ", "[_ ]")
    return re.compile(rf"(?i)(?<!\w){words}(?!\w)[\"']*[ \t]*[:=| \t]+[\"'(]*(?=\S)")


def _stands(
    file: Path, lines: Iterable[str], name: str, sought: re.Pattern[str]
) -> Iterator[Stand]:
    """The values of a number, in their order; ClaimError for one that cannot be read."""
    for line in lines:
        if not (found := sought.search(line)):
            continue
        token = _TOKEN.match(line, found.end())
        text = "" if token is None else token[0].rstrip(".:")
        number = float_of(text)
        if number is None:
            if "{" in text:  # a line of source
                continue
            if any(map(str.isdigit, text)) or text.casefold() in NO_VALUE:
                mistake = f"no number can be read in '{line[found.start() :][:40]}'"
                raise refused(file, mistake, f"'{name}' as in `{name}:3.2776`", "write it so")
            continue
        step = _STEP.search(line)
        at, total = (None, None) if step is None else step.groups()
        words = " ".join(_DIGITS.sub("#", line[: found.start()]).split())
        yield Stand(words, _whole(at), _whole(total), number)


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text)
