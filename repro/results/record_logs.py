"""The runs of a record, as its folder lies in a repository: a log for each run of one program.

What the program itself prints at the head of a log, up to a line of `=`, is its source, and holds
no value.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from repro.errors import printable
from repro.files import leads_out, read_bytes
from repro.results.forms import named, refused
from repro.results.found_results import FoundResults
from repro.results.log_runs import LARGEST, LOGS, LONGEST, pattern_of
from repro.results.run_values import FoundValue
from repro.schema.cells import float_of
from repro.schema.numbers import number_of

MEASURES = (
    *("val_loss", "val_bpb", "valid_loss", "validation_loss", "eval_loss", "test_loss"),
    *("val_ppl", "val_acc", "val_accuracy"),
)
"""What a record may be of, where no option names it."""

MOST_LOGS = 2_000
SHOWN = 3
"""Names of logs that are left out; of more the number is said."""

_SOURCE_ENDS = re.compile(r"^={40,}[ \t]*\r?$", re.MULTILINE)
_STEP = re.compile(r"(?<!\w)step[:= ]+(\d+)(?:/(\d+))?")
_SEED = re.compile(r"(?i)seed[_=-]?(\d+)")
_COMMA = re.compile(r",\d")
_DIGITS = re.compile(r"[-+]?\d[\d.e+-]*|\bnan\b|\binf\b")


@dataclass(frozen=True, slots=True)
class RecordHints:
    """What is said of a record, in place of a guess: the number, and the step that counts."""

    measure: str = ""
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Stand:
    """A value in a log: the words before it in its line, and the step that the line is of."""

    before: str
    step: str
    value: float

    @property
    def at(self) -> str:
        """`at step 1670/1670`; the words before the number, where no step is said."""
        return f"at step {self.step}" if self.step else f"after '{self.before}'"


@dataclass(frozen=True, slots=True)
class Log:
    """The values in a log, by their names, and the digests of all of it, and of its source.

    That is empty where the log has none.
    """

    name: str
    values: Mapping[str, list[Stand]]
    digest: str
    source: str


def is_record(path: Path) -> bool:
    """Whether logs lie in a folder, or in folders right below it, and nothing else is asked."""
    return path.is_dir() and bool(_logs(path) or _below(path))


def read_record(path: Path, hints: RecordHints) -> FoundResults:
    """The runs of a record as one arm, which is called like its folder.

    ClaimError where several programs, numbers or ends may be meant, or a log cannot be read.
    """
    files, said = _chosen(path)
    names = (hints.measure,) if hints.measure else MEASURES
    measure, logs, left = _measured(path, [_read(file, path, names) for file in files], names)
    logs, copies = _once(logs)
    said += [*left, *copies]
    ends = {log.name: _end(log.values[measure], hints.step) for log in logs}
    if without := [name for name, end in ends.items() if end is None]:
        said.append(f"left out, without step {hints.step}: {_some(without)}")
    found = {name: end for name, end in ends.items() if end is not None}
    _refuse_apart(path, found, hints)
    values = [
        FoundValue(seed, end.value if math.isfinite(end.value) else None)
        for seed, end in zip(_seeds(path, [*found]), found.values(), strict=True)
    ]
    at = next(end.at for end in found.values())
    name = path.resolve().name
    head = f"{number_of(len(values), 'log')} of {name}, the last '{measure}' of each, {at}"
    shown = ", ".join(f"{end.value:.10g}" for end in found.values())
    lines = [
        head,
        f"in the order of their names: {shown}",
        *said,
        *_programs([log for log in logs if log.name in found]),
    ]
    return FoundResults(path, {name: values}, measure, said=lines)


# which logs


def _chosen(path: Path) -> tuple[list[Path], list[str]]:
    """The logs right in the folder, else those of the only folder below; and what is said."""
    logs, below = _logs(path), _below(path)
    elsewhere = [f"{name} ({len(each)})" for name, each in below.items()]
    if logs:
        return logs, [f"not used, logs in folders below: {named(elsewhere)}"] if elsewhere else []
    if all(len(each) == 1 for each in below.values()):
        return [each for (each,) in below.values()], []
    if len(below) == 1:
        ((name, only),) = below.items()
        return only, [f"the logs lie in {name}"]
    mistake = f"its logs lie in several folders: {named(elsewhere)}"
    advice = f"name one of them, as in {path / next(iter(below))}"
    raise refused(path, mistake, "the logs of one record", advice)


def _logs(folder: Path) -> list[Path]:
    files = (each for each in folder.iterdir() if each.suffix.lower() in LOGS and each.is_file())
    found = sorted(each for each in files if not each.name.startswith("."))
    if len(found) > MOST_LOGS:
        mistake = f"more than {MOST_LOGS:,} logs"
        raise refused(folder, mistake, "the logs of one record", "name the folder of one record")
    return found


def _below(path: Path) -> Mapping[str, list[Path]]:
    folders = sorted(each for each in path.iterdir() if each.is_dir() and not each.is_symlink())
    shown = (each for each in folders if not each.name.startswith("."))
    return {each.name: logs for each in shown if (logs := _logs(each))}


def _read(file: Path, path: Path, names: Sequence[str]) -> Log:
    """The values of some names in a log; ClaimError where it cannot be read."""
    if leads_out(file, path):
        expected = f"files below {path.resolve()}"
        raise refused(file, "a link that leads elsewhere", expected, "put the file itself there")
    try:
        text = read_bytes(file, LARGEST).decode("utf-8", "replace")
    except OSError as error:
        mistake = f"cannot be read: {error.strerror}"
        raise refused(file, mistake, "a log", "check the file") from None
    end = _SOURCE_ENDS.search(text)
    source = "" if end is None else _digest(text[: end.start()])
    lines = text[0 if end is None else end.end() :].splitlines()
    values = {name: [*_stands(file, lines, name)] for name in names if name in text}
    return Log(file.relative_to(path).as_posix(), values, _digest(text), source)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _stands(file: Path, lines: Iterable[str], name: str) -> Iterator[Stand]:
    """The values of a number, in their order; ClaimError for one with a decimal comma."""
    sought = re.compile(pattern_of(name, "value"))
    for line in lines:
        if name not in line or len(line) > LONGEST or not (found := sought.search(line)):
            continue
        before, value = line[: found.start()], found["value"]
        if value.isdigit() and _COMMA.match(line[found.end() :]):
            mistake = f"a decimal comma may stand in '{line[found.start() :][:40]}'"
            raise refused(file, mistake, f"'{name}' with a decimal point", "write it so")
        if (number := float_of(value)) is not None:
            step = _STEP.search(before)
            said = "" if step is None else "/".join(filter(None, step.groups()))
            yield Stand(" ".join(_DIGITS.sub("#", before).split()), said, number)


# which number


def _measured(
    path: Path, logs: Sequence[Log], names: Sequence[str]
) -> tuple[str, list[Log], list[str]]:
    """The number of the record, the logs that have it, and what is said of the others."""
    having = {name: [log for log in logs if log.values.get(name)] for name in names}
    most = max(map(len, having.values()))
    found = [name for name, each in having.items() if each and len(each) == most]
    if not found:
        mistake = f"in none of its logs stands a number called {' or '.join(names)}"
        advice = "name another: --measure NAME"
        raise refused(path, mistake, "a line such as `val_loss:3.2776` in each", advice)
    if len(found) > 1:
        mistake = f"several numbers stand in its logs: {', '.join(found)}"
        raise refused(path, mistake, "one of them", f"name it, as in --measure {found[-1]}")
    (measure,) = found
    left = [log.name for log in logs if log not in having[measure]]
    said = [f"left out, without a '{measure}': {_some(left)}"] if left else []
    return measure, having[measure], said


def _once(logs: Sequence[Log]) -> tuple[list[Log], list[str]]:
    """The logs without the copies, and what is said of these; a name with a seed stays."""
    first: dict[str, Log] = {}
    for log in sorted(logs, key=lambda log: (_SEED.search(log.name) is None, log.name)):
        first.setdefault(log.digest, log)
    copies = [log for log in logs if first[log.digest] is not log]
    said = [f"left out: {log.name} is a copy of {first[log.digest].name}" for log in copies]
    return [log for log in logs if log not in copies], said


# which value


def _end(stands: Sequence[Stand], step: int | None) -> Stand | None:
    """The last value, or the last at a step; None where the log has none there."""
    if step is None:
        return stands[-1]
    at = [stand for stand in stands if stand.step.partition("/")[0] == str(step)]
    return at[-1] if at else None


def _refuse_apart(path: Path, ends: Mapping[str, Stand], hints: RecordHints) -> None:
    """ClaimError where logs do not end at one step, or with one line, and so are not alike."""
    if not ends:
        mistake = f"no log has a value at step {hints.step}"
        raise refused(
            path, mistake, "a step that is in the logs", "leave out --step, or correct it"
        )
    counts = Counter(end.at for end in ends.values())
    if len(counts) == 1:
        return
    most = counts.most_common(1)[0][0]
    others = [name for name, end in ends.items() if end.at != most]
    said = ", ".join(f"{at} in {number_of(count, 'log')}" for at, count in counts.items())
    steps = all(end.step for end in ends.values())
    first = next(iter(ends.values())).step.partition("/")[0]
    advice = f"put the logs of another program into another folder: {_some(others)}"
    if steps and hints.step is None:
        advice = f"say which step counts, as in --step {first}, or {advice}"
    raise refused(path, f"its logs do not end alike: {said}", "runs of one program", advice)


def _seeds(path: Path, names: Sequence[str]) -> list[int]:
    """The seeds that the names say, where all say one; else their places."""
    said = [int(each[1]) for name in names if (each := _SEED.search(name))]
    if len(said) < len(names):
        return [*range(len(names))]
    (seed, count), *_ = Counter(said).most_common(1)
    if count > 1:
        twice = [name for name, each in zip(names, said, strict=True) if each == seed]
        mistake = f"{count} logs are of seed {seed}: {named(twice)}"
        advice = "put runs that were made again into another folder"
        raise refused(path, mistake, "one log for each seed", advice)
    return said


def _programs(logs: Sequence[Log]) -> Iterator[str]:
    """What is said where the logs hold the sources of several programs."""
    sources = Counter(log.source for log in logs if log.source)
    if len(sources) > 1:
        counts = " + ".join(str(count) for _, count in sources.most_common())
        yield f"not one program: the logs hold {len(sources)} different sources ({counts} logs)"


def _some(names: Sequence[str]) -> str:
    """`2 logs (a.txt, b.txt)`; of many the first."""
    rest = ", ..." if len(names) > SHOWN else ""
    return f"{number_of(len(names), 'log')} ({', '.join(map(printable, names[:SHOWN]))}{rest})"
