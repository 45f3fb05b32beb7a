"""The runs of a record, as its folder lies in a repository: a log for each run of one program.

What stands at the head of a log, up to a line of `=` or between two, is the source: no values.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from glob import escape
from itertools import pairwise
from pathlib import Path, PurePosixPath
from statistics import fmean
from string import digits

from repro.errors import printable
from repro.results.folds import refuse_folds
from repro.results.forms import OneEachError, OneRunError, named, refused
from repro.results.found_results import FoundResults, read_results
from repro.results.log_runs import (
    LOGS,
    Log,
    Stand,
    apart,
    end_of,
    evaluations,
    forms_of_lines,
    is_table,
    names_in_bars,
    names_in_log,
    read_log,
)
from repro.results.path_names import common
from repro.results.roles import RUNS, SEEDS, is_index, says_best
from repro.results.row_units import Rows
from repro.results.run_fields import Hints
from repro.results.run_values import CHOSEN, FoundValue
from repro.results.series import FORMS, object_in
from repro.schema.numbers import number_of

MEASURES = (
    *("val_loss", "val_bpb", "valid_loss", "validation_loss", "eval_loss", "test_loss"),
    *("validation_bpb", "val_ppl", "val_acc", "val_accuracy", "test_acc", "test_accuracy"),
)
"""What a record may be of, where no option names it; a blank may stand for `_`, in any case."""

MOST_LOGS = 2_000
SUBMISSION = "submission.json"
SHOWN = 3
"""Names of logs that are left out; of more the number is said."""

NO_LOGS = re.compile(
    r"(?i)requirements|readme|licen[cs]e|notes?\b|pip_?freeze|environment|summary|\w*manifest"
)
"""Beginnings of names of other text files; every log is a run, finished or not."""

LEAST_ALIKE = 4
"""Values that two logs share all along before they are taken for the log of one run."""

_UUID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![a-z])[0-9a-f]{6,}(?![a-z])"
    r"|(?<![a-z0-9])(?=[a-f]*\d)[0-9a-f]{5}(?![a-z0-9])|\d+"
)
_SEED = re.compile(r"(?i)seed[_=-]?(\d+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WILD = re.compile(r"[*?]|\[[^]]*\]")


@dataclass(frozen=True, slots=True)
class RecordHints:
    """What is said of a record, in place of a guess: the number, and the step that counts."""

    measure: str = ""
    step: int | None = None


def read_alone(
    path: Path, root: Path, hints: Hints, step: int | None, *, lone: str | None = None
) -> FoundResults:
    """Results in which nothing has to tell arms apart: of a record, at ``step``, or any others.

    ``lone`` is the number of a reference that one run is held against, and may be empty.
    """
    if hints == Hints(measure=hints.measure) and is_record(path):
        return read_record(path, RecordHints(hints.measure or lone or "", step))
    hints = replace(hints, step=step, alone=True)
    try:
        results = read_results(path, root, hints)
    except OneRunError:
        if lone is None:
            raise
        files = [each for each in path.rglob("*") if each.suffix.lower() in (*FORMS, *LOGS)]
        if path.is_dir() and len(files) != 1:
            raise
        path = files[0] if path.is_dir() else path
        hints = replace(hints, lone="file", measure=hints.measure or lone)
        log = path.suffix.lower() in LOGS and not is_table(path)
        if log and read_log(path, path.parent, [hints.measure]).values.get(hints.measure):
            return read_record(path, RecordHints(hints.measure, step))
        results = read_results(path, root, hints)
    except OneEachError as error:
        if lone is None:
            raise
        results = read_results(path, root, replace(hints, lone="arm", arm=error.arm))
    refuse_folds(path, results.folds)
    return results


def is_record(path: Path) -> bool:
    """Whether a folder has logs, right in it or below, and no more files of results than these.

    Or a pattern names some.
    """
    if not path.is_dir():
        return not path.exists() and bool(_selected(path)[1])
    every = _logs(path) or [each for below in _below(path).values() for each in below]
    logs = [each for each in every if not is_table(each)]
    others = [each for each in path.glob("*") if each.suffix.lower() in (".json", ".csv", ".jsonl")]
    return len(logs) > len(others)


def read_record(path: Path, hints: RecordHints) -> FoundResults:
    """The runs of a record as one arm, which is called like its folder, or as the pattern says.

    A log without a value, or one that ended early, is a run that is missing; one that ends with
    what is not finite has diverged. ClaimError where several programs, numbers or ends may be
    meant, or a log cannot be read.
    """
    asked, (path, selected) = path, _selected(path)
    pattern = selected and not asked.is_file()
    left = [each.name for each in _logs(path) if each not in selected] if pattern else []
    said = [f"not used, not named so: {_some(left)}"] if left else []
    names = (hints.measure,) if hints.measure else MEASURES
    files, said = (selected, said) if selected else _chosen(path, names)
    if hints.step is None:
        _refuse_methods(path, files)
    logs: Sequence[Log] = [read_log(file, path, names) for file in files]
    measure, logs = _measured(path, files[0], logs, names)
    logs, others = _without_others(path, logs, measure)
    logs, best = _without_best(logs, measure)
    _refuse_joined(path, logs, measure)
    logs, copies = _once(path, logs, measure)
    said += [*others, *best, *copies]
    ends = {log.name: end_of(log.values.get(measure, []), hints.step) for log in logs}
    if others := [name for name, end in ends.items() if end == "other"]:
        said.append(f"left out, without step {hints.step}: {_some(others)}")
    found = {name: end for name, end in ends.items() if end != "other"}
    there = {name: end for name, end in found.items() if isinstance(end, Stand)}
    if missing := [name for name, end in found.items() if end is None]:
        said.append(f"missing, for they ended without a last '{measure}': {_some(missing)}")
    programs = _programs([log for log in logs if log.name in found])
    _refuse_apart(asked, there, hints, [log.values.get(measure, []) for log in logs], programs)
    values = [*map(_value, _seeds(path, [*found]), found.values())]
    words = Path(_WILD.sub("", asked.relative_to(path).as_posix())).stem
    name = words.strip("_-. ") or path.resolve().name
    at = "".join(f", {end.at}" for end in [*there.values()][:1])
    head = f"{number_of(len(values), 'log')} of {name}, the last '{measure}' of each{at}"
    shown = ", ".join(f"{end.value:.10g}" for end in there.values())
    lines = [head, f"in the order of their names: {shown}", *said]
    chosen = says_best(measure) or any(end.best for end in there.values())
    against = [each for each in (programs, CHOSEN * chosen) if each]
    lines += [*against, *_submitted(path, measure, [end.value for end in there.values()])]
    doubts = {name: "; ".join(against)} if against else {}
    evaluated = evaluations(logs[0].values.get(measure, []), [*there.values()])
    runs = [log.as_run(measure) for log in logs if log.name in there]
    rows = Rows(path, [name] * len(runs), runs) if hints.step is None else None
    return FoundResults(
        asked, {name: values}, measure, said=lines, doubts=doubts, lines=evaluated, rows=rows
    )


def _value(seed: int, end: Stand | str | None) -> FoundValue:
    if not isinstance(end, Stand):
        return FoundValue(seed, None, missing=True)
    return FoundValue(seed, end.value if math.isfinite(end.value) else None)


# which logs


def _chosen(path: Path, names: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The logs right in the folder, else those of the only folder below; and what is said."""
    logs, below = _logs(path), _below(path)
    elsewhere = [f"{name} ({len(each)})" for name, each in below.items()]
    if logs:
        deeper = {each.name: len(_below(each)) for each in _folders(path) if each.name not in below}
        elsewhere += [f"{number_of(n, 'folder')} in {name}" for name, n in deeper.items() if n]
        return logs, [f"not used, logs in folders below: {named(elsewhere)}"] if elsewhere else []
    runs = _folders_of_runs(below)
    apart = [f"{name} ({len(each)})" for name, each in below.items() if name not in runs]
    said = [f"not used, logs in folders below: {named(apart)}"] if apart else []
    if runs and all(len(each) == 1 for each in runs.values()):
        return [each for (each,) in runs.values()], [f"a log in each of {len(runs)} folders", *said]
    if runs and (found := _one_of_each(path, runs, names)):
        return found[0], [*found[1], *said]
    if len(below) == 1:
        ((name, only),) = below.items()
        return only, [f"the logs lie in {name}"]
    mistake = f"its logs lie in several folders: {named(elsewhere)}"
    advice = f"name one of them, as in {path / next(iter(below))}; call those of runs seed_0 ..."
    raise refused(path, mistake, "the logs of one record", advice)


def _folders_of_runs(below: Mapping[str, list[Path]]) -> Mapping[str, list[Path]]:
    """The folders that a number tells apart, all of them or several of one word, as `seed_0`.

    None where the numbers are settings, as in `lr0.1` and `lr0.2`: after another word than that of
    a run they count from 0 or 1. `run` before `run_1` or `run2` is the first, and else in doubt.
    """
    runs = {name: each for name, each in below.items() if any(map(str.isdigit, name))}
    word_of = {name: _NUMBER.sub("", name).strip("_-= ()").casefold() for name in below}
    words = {word_of[name] for name in runs}
    numbers = [_NUMBER.findall(name)[-1] for name in runs]
    if first := [name for name in below if name not in runs and words == {word_of[name]}]:
        least = min(map(float, numbers))
        if least not in (1, 2) or len(first) > 1:
            return {}
        numbers.append(f"{least - 1:g}")
        runs = {name: each for name, each in below.items() if name in runs or name in first}
    if len(words) == 1 and not (words <= {"", *RUNS, *SEEDS} or is_index(numbers)):
        return {}
    return runs if len(runs) == len(below) or len(runs) > 1 == len(words) else {}


def _one_of_each(
    path: Path, below: Mapping[str, list[Path]], names: Sequence[str]
) -> tuple[list[Path], list[str]] | None:
    """The log with the most values in each of folders alike, a run each; None for other folders."""
    (first, *_), files = below.values(), {tuple(f.name for f in each) for each in below.values()}
    if len(below) < 2 or len(files) > 1 or len({*map(_alike, below)}) > 1:
        return None
    counts = {
        file.name: max(map(len, read_log(file, path, names).values.values()), default=0)
        for file in first
    }
    (most, n), *others = Counter(counts).most_common()
    if not n or any(n == other for _, other in others):
        return None
    rest = named([name for name, _ in others])
    said = f"{most} in each of {len(below)} folders; not used there: {rest}"
    return [path / folder / most for folder in below], [said]


def _selected(path: Path) -> tuple[Path, list[Path]]:
    """The folder of a pattern such as `logs/seed*.txt`, and the logs that it names."""
    if path.is_file():
        return path.parent, [path]
    if path.exists() or not _WILD.search(str(path)):
        return path, []
    folder = next(each for each in path.parents if each.is_dir())
    with suppress(ValueError):  # `**` next to other signs
        return folder, _logs(folder, folder.glob(path.relative_to(folder).as_posix()))
    return folder, []


def _pattern(path: Path, chosen: Sequence[str], every: Sequence[str]) -> str:
    """What names these logs of a folder and no others, as a shell takes it; empty if nothing."""
    start = chosen[0][: common(chosen)].rstrip(digits)
    ends = [each[len(start) :][::-1] for each in chosen]
    end = ends[0][: common(ends)][::-1].lstrip(digits)
    for some in ("*", "[0-9]*", "[0-9a-f]*"):
        pattern = f"{escape(start)}{some}{escape(end)}"
        if {each for each in every if PurePosixPath(each).match(pattern)} == {*chosen}:
            return shlex.quote(str(path / pattern))
    return ""


def _logs(folder: Path, files: Iterable[Path] | None = None) -> list[Path]:
    """The logs in a folder, or those of some files."""
    files = folder.iterdir() if files is None else files
    files = (each for each in files if each.suffix.lower() in LOGS and each.is_file())
    shown = (each for each in files if not each.name.startswith("."))
    found = sorted(each for each in shown if not NO_LOGS.match(each.stem))
    if len(found) > MOST_LOGS:
        mistake = f"more than {MOST_LOGS:,} logs"
        raise refused(folder, mistake, "the logs of one record", "name the folder of one record")
    return found


def _refuse_methods(path: Path, files: Sequence[Path]) -> None:
    """ClaimError where words in the names of logs tell groups of several apart."""
    groups: dict[str, list[str]] = {}
    for file in files:
        word = _alike(file.stem).strip("_-. #")
        groups.setdefault(word, []).append(file.relative_to(path).as_posix())
    several = {word or "no word": each for word, each in groups.items() if len(each) > 1}
    if len(several) > 1:
        told = [f"{word} ({len(each)})" for word, each in several.items()]
        mistake = f"words in the names of its logs tell them apart: {', '.join(told[:SHOWN])}"
        every = [name for each in groups.values() for name in each]
        patterns = [_pattern(path, each, every) for each in [*several.values()][:SHOWN]]
        advice = "put the logs of each into a folder, and name one of them"
        if all(patterns):
            advice = f"name one of them in place of {path}: {' or '.join(patterns)}"
        raise refused(path, mistake, "the logs of one program", advice)


def _folders(path: Path) -> list[Path]:
    folders = sorted(each for each in path.iterdir() if each.is_dir() and not each.is_symlink())
    return [each for each in folders if not each.name.startswith(".")]


def _below(path: Path) -> Mapping[str, list[Path]]:
    return {each.name: logs for each in _folders(path) if (logs := _logs(each))}


# which number


def _measured(
    path: Path, first: Path, logs: Sequence[Log], names: Sequence[str]
) -> tuple[str, Sequence[Log]]:
    """The number of the record; all its logs, those without it too.

    ClaimError where there is none, with those that are in the ``first`` log.
    """
    having = {name: sum(bool(log.values.get(name)) for log in logs) for name in names}
    most = max(having.values(), default=0)
    found = [name for name, count in having.items() if count == most and count]
    if not found:
        mistake = f"in none of its logs stands a number called {' or '.join(names)}"
        there, in_bars = names_in_log(first), names_in_bars(first)
        below = ", ".join(f"{name} ({len(each)})" for name, each in _below(path).items())
        advice = f"name one that is there, as in --measure {there[-1]}" if there else ""
        if in_bars:
            mistake += f"; {named(in_bars)} stand in a table between bars, which is not read"
            advice = advice or f"have it print a line such as `{in_bars[-1]}: 0.94` last"
        mistake += f"; there are: {named(there)}" * bool(there)
        advice = advice or "name another: --measure NAME"
        advice += f"; or name one of its folders: {below}" * bool(below)
        raise refused(path, mistake, "a line such as `val_loss:3.2776` in each", advice)
    if len(found) > 1:
        mistake = f"several numbers stand in its logs: {', '.join(found)}"
        raise refused(path, mistake, "one of them", f"name it, as in --measure {found[-1]}")
    return found[0], logs


def _without_others(
    path: Path, logs: Sequence[Log], measure: str
) -> tuple[Sequence[Log], list[str]]:
    """The logs without texts that are none: without a value, unlike those with one; what is said.

    A log has a name like theirs, or a line that is like one of theirs but for its numbers.
    """
    having = [log for log in logs if log.values.get(measure)]
    names, forms = {_alike(log.name) for log in having}, set[str]()
    left = [log for log in logs if log not in having and _alike(log.name) not in names]
    if left:
        forms = {*forms_of_lines(path / having[0].name)}
    left = [log for log in left if not forms & forms_of_lines(path / log.name).keys()]
    said = [f"not used, unlike the logs: {named([log.name for log in left])}"] if left else []
    return [log for log in logs if log not in left], said


def _alike(name: str) -> str:
    """A name with a mark in place of a number, or of what chance has named."""
    return _UUID.sub("#", _SEED.sub("seed#", PurePosixPath(name).name))


def _without_best(logs: Sequence[Log], measure: str) -> tuple[Sequence[Log], list[str]]:
    """The logs without lines such as `Minimum validation bpb: 0.8`, where others have a value.

    And what is said of these lines.
    """
    stands = [stand for log in logs for stand in log.values.get(measure, [])]
    best = next((stand for stand in stands if stand.best), None)
    if best is None or all(stand.best for stand in stands):
        return logs, []
    kept = []
    for log in logs:
        others = [stand for stand in log.values.get(measure, []) if not stand.best]
        kept.append(replace(log, values={measure: others}))
    name = f"{best.before.split()[-1]} {measure}".casefold()
    return kept, [f"not used, the best of several checkpoints: --measure '{name}'"]


def _refuse_joined(path: Path, logs: Sequence[Log], measure: str) -> None:
    """ClaimError for a log with several runs: after its last step it begins again, and ends."""
    for log in logs:
        told = [stand for stand in log.values.get(measure, []) if stand.total is not None]
        ended = [stand.step == stand.total for stand in told]
        runs = sum(now and not before for before, now in pairwise([False, *ended]))
        if runs > 1:
            folders = [f"{name} ({len(each)} logs)" for name, each in _below(path).items()]
            mistake = f"{log.name} holds several runs, one after the other"
            advice = f"name the folder of their logs: {', '.join(folders)}" if folders else ""
            advice = advice or "write a log per run, or leave this one out"
            raise refused(path, mistake, "a log per run", advice)


def _once(path: Path, logs: Sequence[Log], measure: str) -> tuple[list[Log], list[str]]:
    """The logs without those of a run that is there already; a name with a seed stays."""
    kept: dict[object, list[Log]] = {}
    first: dict[str, Log] = {}
    lines = cache(lambda name: forms_of_lines(path / name))

    def repeats(log: Log, other: Log) -> bool:
        values = {each.value for each in log.values.get(measure, [])}
        by_chance = sum(round(value, 2) != value for value in values) < LEAST_ALIKE
        return not (by_chance and apart(lines(log.name), lines(other.name)))

    for log in sorted(logs, key=lambda log: (_SEED.search(log.name) is None, log.name)):
        stands = [(each.step, each.value) for each in log.values.get(measure, [])]
        alike = kept.setdefault(tuple(stands) if len(stands) >= LEAST_ALIKE else log.digest, [])
        first[log.name] = next((other for other in alike if repeats(log, other)), log)
        alike += [log] if first[log.name] is log else []
    copies = [log for log in logs if first[log.name] is not log]
    said = [f"left out: {log.name} repeats {first[log.name].name}" for log in copies]
    if len(said) > SHOWN:
        said = [f"left out, for they repeat others: {_some([log.name for log in copies])}"]
    return [log for log in logs if log not in copies], said


# which value


def _refuse_apart(
    path: Path,
    ends: Mapping[str, Stand],
    hints: RecordHints,
    every: Sequence[Sequence[Stand]],
    programs: str,
) -> None:
    """ClaimError where logs do not end at one step, or with one line, and so are not alike.

    ``every`` are the values of each log.
    """
    if not ends:
        stands = [each[-1] for each in every if each and each[-1].step is not None]
        last = Counter(stand.at for stand in stands)
        where = ", ".join(f"{at} in {number_of(n, 'log')}" for at, n in last.items())
        mistake = f"no log has a value at step {hints.step}"
        if hints.step is None:
            mistake = "every log ends before its last step"
        step = f", as in --step {max(stand.step or 0 for stand in stands)}" if stands else ""
        mistake += f": the last value is {where}" if where else ""
        raise refused(path, mistake, "a step that is in the logs", f"say which step counts{step}")
    finite = {name: end for name, end in ends.items() if math.isfinite(end.value)}
    counts = Counter(end.at for end in finite.values())
    if len(counts) < 2:
        return
    most = counts.most_common(1)[0][0]
    others = [name for name, end in finite.items() if end.at != most]
    said = ", ".join(f"{at} in {number_of(count, 'log')}" for at, count in counts.items())
    steps = all(end.step is not None for end in finite.values())
    first = next(iter(finite.values())).step
    advice = f"put the logs of another program into another folder: {_some(others)}"
    if steps and programs:
        said += f"; {programs}"
        advice = "put the logs of each program into a folder, and name one of them"
    elif steps and hints.step is None:
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


def _programs(logs: Sequence[Log]) -> str:
    """What is said where the logs hold the sources of several programs; else empty."""
    sources = Counter(log.source for log in logs if log.source)
    if len(sources) > 1:
        counts = " + ".join(str(count) for _, count in sources.most_common()[:SHOWN])
        more = "" if len(sources) <= SHOWN else " ..."
        said = f"{len(sources)} different sources ({counts}{more} logs)"
        return f"not one program: the logs hold {said}"
    return ""


def _submitted(path: Path, measure: str, values: Sequence[float]) -> Iterator[str]:
    """What is said where `submission.json` gives another mean than the logs."""
    given = object_in(path / SUBMISSION).get(measure)
    if not values or isinstance(given, bool) or not isinstance(given, int | float):
        return
    mean, places = fmean(values), len(repr(given).partition(".")[2])
    if math.isfinite(mean) and round(mean, places) != given:
        yield f"the mean of these logs is {mean:.{places}f}, and {SUBMISSION} says {given!r}"


def _some(names: Sequence[str]) -> str:
    """`2 logs (a.txt, b.txt)`; of many the first."""
    shown = ", ".join([*map(printable, names[:SHOWN]), *["..."] * (len(names) > SHOWN)])
    return f"{number_of(len(names), 'log')} ({shown})"
