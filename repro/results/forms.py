"""Results as they lie there: a file or a folder, the ways to read it, and the runs in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from repro.errors import ClaimError
from repro.files import leads_out
from repro.results.readings import short
from repro.results.series import Row

NAMED = 10
"""So many fields or values are named in a message."""

MOST_ABOVE = 3
"""So many folders above a file are searched for others like it."""

_NUMBER = re.compile(r"[-_=. ]*\(?(\{(?:run|seed)\})\)?")
"""The number of a run in a template, with what goes where a name has none."""

_AROUND = re.compile(r"\{\w+\}|[-_=. ()]")

RunEnd = Literal["finished", "failed", "running"]


@dataclass(slots=True)
class FoundRun:
    """One run of a source: where it is, what is said of it, and its numbers in rows.

    ``fields`` are what ``where`` and ``seed`` may name. A run that is not ``finished`` was ended
    (``failed``), or is still ``running``. ``when`` is its time in seconds, where one is recorded
    that does not follow from the order of the runs.
    """

    place: str
    fields: Mapping[str, Any]
    rows: list[Row]
    state: RunEnd = "finished"
    when: float | None = None


class FirstRun(NamedTuple):
    """The run before the numbered ones, which has no number in its name, and its fields."""

    name: str
    said: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Form:
    """One import, as a claim declares it: of all arms, or of the ``arm`` that its path names.

    ``left_out`` are files, or columns, whose names are like no other: they are runs of no arm.
    ``runs`` are those that no import reads alone: of a JSON file, or of logs, where ``log`` says
    that an import can by a pattern, once it is known which number is asked for.
    """

    words: str
    importer: Mapping[str, Any]
    arm: str = ""
    left_out: tuple[str, ...] = ()
    runs: tuple[FoundRun, ...] | None = None
    log: bool = False

    notes: tuple[str, ...] = ()
    first: FirstRun | None = None


_OF_ALL = re.compile(r"(?i)result|metric|summary|score|final|all")
"""In the name of a file next to numbered ones, which may sum these up."""


def first_runs(found: dict[str, list[str]]) -> dict[str, FirstRun]:
    """The name before numbered ones, `exp` of `exp2, exp3`, and its number, by their template.

    Such names are taken out of ``found``, which has all of them by their templates. ClaimError for
    one that may be a run of an arm or not, as `exp` next to `exp_0`, `exp1` next to `exp_2`, or
    `results` next to `results_1`.
    """
    firsts: dict[str, FirstRun] = {}
    groups = {name: each for each in found.values() for name in each}
    several = [each for each, of in found.items() if len(of) > 1 and _NUMBER.search(each)]
    all_have = all(_NUMBER.sub("", each, count=1) in groups for each in several)
    for template, names in found.items():
        braces = _NUMBER.search(template)
        if len(names) < 2 or braces is None or "*" in template:
            continue
        before, after = template[: braces.start(1)], template[braces.end(1) :]
        numbers = [int(name[len(before) : len(name) - len(after)]) for name in names]
        bare = template[: braces.start()] + template[braces.end() :]
        doubts = [
            *(
                each[0]
                for key, each in found.items()
                if len(each) == 1 and alike_but_number(key, template)
            ),
            *([bare] if bare in groups else []),
        ]
        first = min(numbers) == 2 or (min(numbers) == 1 and not _OF_ALL.search(Path(bare).stem))
        if {*doubts} == {bare} and bare in groups[bare] and first and all_have:
            groups[bare].remove(bare)
            firsts[template] = FirstRun(bare, {braces[1].strip("{}"): str(min(numbers) - 1)})
        elif doubts:
            mistake = f"may be a run of the same arm as {names[0]}, or none"
            expected = "names of its runs that differ by their number alone"
            advice = f"if it is one, call it {before}{max(numbers) + 1}{after}; else move it away"
            raise refused(Path(doubts[0]), mistake, expected, advice)
    return firsts


def alike_but_number(template: str, other: str) -> bool:
    """Whether two templates differ by what stands around their numbers alone."""
    first, second = (_AROUND.sub("", each).casefold() for each in (template, other))
    return template != other and first == second


def each_once(
    found: Sequence[tuple[Form, FoundRun]], forms: Sequence[Form]
) -> list[tuple[Form, FoundRun]]:
    """The runs without those of other arms, and those left out, that a pattern takes as well.

    `ours_{run}.json` takes `ours_big_0.json`, which is of the longer one.
    """
    left = {name for form in forms for name in form.left_out}
    longest: dict[str, str] = {}
    for form, run in found:
        longest[run.place] = max(longest.get(run.place, ""), str(form.importer["path"]), key=len)
    return [
        (form, run)
        for form, run in found
        if run.place not in left and longest[run.place] == str(form.importer["path"])
    ]


class Way(NamedTuple):
    """One of the ways in which results may be read: in words, and the forms that they have.

    The forms are looked for when they are asked for; UnfitError where there are none. Of stores of
    a ``tracker`` the first counts; files of ``numbers`` are no results where a ``framework`` wrote
    files of its own.
    """

    words: str
    forms: Callable[[], tuple[Form, ...]]
    sort: Literal["tracker", "framework", "numbers", "logs", ""] = ""


def store(words: str, path: str) -> Way:
    """The store of a tracker, which is read as it is."""
    return Way("the store of a tracker", lambda: (Form(words, {"path": path}),), "tracker")


@dataclass(frozen=True)
class ResultsThere:
    """A file or a folder with results, the claim's folder above it, and the files to look at.

    ``asked``: an option names the field of the arms, or the number.
    """

    path: Path
    root: Path
    files: Sequence[Path] = ()
    asked: bool = False

    @property
    def suffix(self) -> str:
        """The ending of a file; of a folder it is empty."""
        return self.path.suffix.lower() if self.path.is_file() else ""

    @property
    def place(self) -> str:
        """Its path below the folder of the claim."""
        return self.below(self.path)

    def below(self, file: Path) -> str:
        """The path of a file by the names that lead to it, of links too."""
        there = self.path.resolve().relative_to(self.root.resolve())
        return (there / file.relative_to(self.path)).as_posix()

    def names(self, files: Iterable[Path]) -> list[str]:
        """Their paths; UnfitError for a link that leads out, as an import refuses it."""
        found = [self.below(each) for each in files]
        for name in found:
            if leads_out(self.root.resolve() / name, self.root):
                mistake = f"'{name}' is a link that leads elsewhere"
                expected = f"files below {self.root.resolve()}"
                raise refused(self.path, mistake, expected, "put the file itself there")
        return found

    def ending(self, *suffixes: str) -> list[Path]:
        return [each for each in self.files if each.suffix.lower() in suffixes]


class UnfitError(ClaimError):
    """Results of another form than was tried, or without what was asked for: it may be beside."""


class OneEachError(ClaimError):
    """One value for each arm, from which no chance is known; its items may tell more."""

    def __init__(self, message: str, arm: str) -> None:
        super().__init__(message)
        self.arm = arm


class OneRunError(ClaimError):
    """A file, or the rows of a series, that is one run, where several were expected."""


def refused(path: Path, mistake: str, expected: str, advice: str) -> ClaimError:
    """The error of results that cannot be read: what is wrong, what was expected, what to do."""
    mistake = re.sub(rf"^\S*{re.escape(path.name)}, (?=row \d)", "", mistake)
    return ClaimError(f"{path}: {mistake}\n  expected: {expected}\n  to do: {advice}")


def unfit(path: Path, mistake: str, expected: str, advice: str) -> UnfitError:
    """The same of results that another form of them, in the same folder, may have."""
    return UnfitError(str(refused(path, mistake, expected, advice)))


def named(names: Collection[str]) -> str:
    """The first of some names, and how many more there are."""
    shown = ", ".join(short(name) for name in list(names)[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def one_run(path: Path, mistake: str) -> OneRunError:
    """The error of a file that is one run: where others like it lie."""
    beside = sum(each.suffix == path.suffix for each in path.parent.iterdir()) - 1
    there = f"; {beside} more {path.suffix} lie beside it" if beside else ""
    advice = f"give the folder with the files of all runs, such as {_folder_of_several(path)}"
    expected = "a table, or the files of several runs"
    return OneRunError(str(refused(path, f"{mistake}{there}", expected, advice)))


def _folder_of_several(path: Path) -> Path:
    """The nearest folder above that has another such file as deep below it; else the file's own."""
    for depth, folder in enumerate(path.parents[:MOST_ABOVE]):
        alike = folder.glob("*/" * depth + f"*{path.suffix}")
        if len(list(islice(alike, 2))) > 1:
            return folder
    return path.parent
