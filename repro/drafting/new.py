"""A first claim to be filled in: from results, from a command, or from answers on a terminal."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from repro.drafting.claim_text import Better, Draft, claim_text
from repro.drafting.drafts import DraftOptions, Drafts, drafts_of, write
from repro.drafting.programs import ProgramLine, command_line, place_of_numbers
from repro.errors import ClaimError, Place, Problem
from repro.results.found_results import read_results
from repro.results.log_runs import pattern_of
from repro.results.readings import number_in
from repro.results.run_fields import Hints
from repro.schema.base import name_of
from repro.specs.claim import WRITTEN_FROM_RESULTS
from repro.specs.load import check_files
from repro.trainers.command.spec import TRACKERS

HEAD = (
    "A claim to be declared before its results are there. Fill in what is empty, and give the",
    "reasons: they stand in the report. Then: repro check, repro verify with this file.",
)
SEEN = (
    "Written by `repro new` when the results that it reads were there: what it says of them is",
    "exploratory. To declare it, fill in what is empty, say in `own` why it is claimed instead of",
    "what stands there, and put new results in place of these. Then: repro check, repro verify.",
)
SEEDS, MOST_SEEDS = 5, 30
PROGRAMS = frozenset({".py", ".sh", ".jl", ".R", ".pl", ".js"})
SERIES = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
"""How files are read that hold a row per step; all others are JSON."""


@dataclass(frozen=True, slots=True)
class NewClaim:
    """What is known of a claim; what is empty is left for its author to fill in.

    ``gate``: it is written for `repro gate`, which adds seeds until they decide. ``left`` is the
    file in which the program leaves its numbers, as in `{out}/all_results.json`, or `stdout`.
    ``unseeded``: the program takes no seed. ``run_once``: it is run to see what it leaves.
    """

    better: Better | None = None
    results: Path | None = None
    command: str = ""
    measure: str = ""
    baseline: str = ""
    by: float | None = None
    why: str = ""
    own: str = ""
    hints: Hints = field(default_factory=Hints)
    out: Path = Path()
    gate: bool = False
    left: str = ""
    unseeded: bool = False
    run_once: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written, what was guessed, and what is left to fill in."""

    files: tuple[Path, ...]
    said: tuple[str, ...]
    open: tuple[Problem, ...]


def write_claim(new: NewClaim) -> Written:
    """Write the claim files.

    ClaimError for results or a command that tell too little, or for both, SpecError where a file
    that somebody edited is in the way, OutputError where nothing can be written.
    """
    if new.better is None:
        raise ClaimError(
            "nothing says which values are better\n  expected: --better higher or lower\n"
            "  to do: add it"
        )
    _refuse_both(new)
    if new.results is not None:
        results = read_results(new.results, new.out, new.hints)
        own = f"{WRITTEN_FROM_RESULTS}. {new.own}" if new.own else WRITTEN_FROM_RESULTS
        asked = DraftOptions(
            new.better, new.by, new.why, new.baseline, own, SEEN, ask=True, out=new.out
        )
        drafts = drafts_of(results, asked)
    else:
        drafts = _from_command(new, new.better)
    files = write(drafts, new.out)
    checked, _ = check_files(files)
    problems = [problem for each in checked for problem in each.problems]
    told = {(problem.place.file, problem.place.line) for problem in problems}
    problems += [
        problem
        for file in files
        for problem in _without_arguments(file)
        if (problem.place.file, problem.place.line) not in told
    ]
    return Written(files, tuple(drafts.said), tuple(sorted(problems)))


def _without_arguments(file: Path) -> Iterator[Problem]:
    """The arms of a command whose arguments are left open: without any, it is one program twice."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        place = Place(str(file), number, line.find("args: {") + 1)
        if "args: {}" in line:
            what, expected = "nothing says what the arms differ in", "as in: args: {lr: 0.1}"
            yield Problem(place, what, expected, "fill it in for one arm, or both")
        elif place.column > 0 and ": null" in line:
            yield Problem(place, "args: nothing is filled in", "a value", "fill it in")


def _refuse_both(new: NewClaim) -> None:
    """ClaimError for what is of results that are there, and of a command: one would be lost."""
    of_results = {
        "--from": new.results is not None,
        "--baseline": bool(new.baseline),
        "--arm": bool(new.hints.arm),
        "--seed": bool(new.hints.seed),
        "--task": bool(new.hints.task),
        "--task-field": bool(new.hints.task_field),
        "--unit": bool(new.hints.unit),
    }
    of_command = {
        "--command": bool(new.command),
        "--gate": new.gate,
        "--results": bool(new.left),
        "--unseeded": new.unseeded,
        "--try": new.run_once,
    }
    first = next((name for name, given in of_results.items() if given), "")
    second = next((name for name, given in of_command.items() if given), "")
    if first and second:
        raise ClaimError(
            f"{first} and {second}: the one is about results that are there, the other about a "
            "program that is run\n  expected: one of the two\n"
            f"  to do: leave out {first} or {second}"
        )


def _from_command(new: NewClaim, better: Better) -> Drafts:
    """A claim about a program with other arguments; ClaimError for no command line."""
    line = command_line(new.command, unseeded=new.unseeded)
    measure = new.measure or new.hints.measure or "value"
    name = name_of(measure, before="value")
    file, seen = new.left, list[str]()
    if new.run_once:
        asked = new.measure or new.hints.measure
        file, seen = place_of_numbers(line, new.out, asked)
    results, taken, where = _left(line, file, measure, name)
    said = [*line.said, *seen, f"its results are read from {where}"]
    said += _elsewhere(line.words, new.out)
    style: dict[str, object] = {"style": line.style} if line.style else {}
    style |= {"unseeded": True} if new.unseeded else {}
    program = {"command": line.words, **style, "files": line.files(new.out), "results": results}
    draft = Draft(
        id=f"{better}_{name}_{_own_mark(new)}",
        title=f"The changed program has a {better} {measure} than the baseline"[:200],
        own=new.own,
        head=HEAD,
        labels={"changed": "changed", "baseline": "baseline"},
        arms={arm: {"args": dict.fromkeys(line.settings)} for arm in ("changed", "baseline")},
        compared=("changed", "baseline"),
        seeds={"min": SEEDS, "plan": SEEDS} | ({"max": MOST_SEEDS} if new.gate else {}),
        measurement=name,
        reported={**taken, "label": measure, "better": better},
        better=better,
        smallest=None if new.by is None else (new.by, new.why),
        ask=True,
        sequential=new.gate,
        configuration={"trainer": "command", **program},
    )
    return Drafts({f"{better}_{name}.claim.yaml": claim_text(draft)}, said=said)


def _own_mark(new: NewClaim) -> str:
    """What tells the claim from those of other folders and programs with the same measurement.

    The store knows a claim by its id, and takes another one with that id for a later edit.
    """
    return hashlib.sha256(f"{new.out.resolve()}\n{new.command}".encode()).hexdigest()[:4]


def _left(
    line: ProgramLine, file: str, measure: str, name: str
) -> tuple[dict[str, str], dict[str, str], str]:
    """Where the program leaves its numbers, how the measurement takes its own, and both in words.

    In ``file``, if that is given (`stdout` is its output, `tensorboard:{out}` what a tracker has
    there), else in `results.json` if the command has `{out}`, else in its output.
    """
    if file == "stdout" or not (file or any("{out}" in word for word in line.words)):
        where = f"the lines of its output that have '{measure}'"
        return {"stdout": pattern_of(measure, name)}, {"from": name, "reduce": "last"}, where
    file = file or "{out}/results.json"
    tracker, _, path = file.partition(":")
    if tracker in TRACKERS:
        return {tracker: path}, {"from": measure, "reduce": "last"}, f"{path}, as '{measure}'"
    kind = SERIES.get(PurePosixPath(file).suffix.lower(), "file")
    last = {} if kind == "file" else {"reduce": "last"}
    return {kind: file}, {"from": measure, **last}, f"{file}, as '{measure}'"


def _elsewhere(words: Sequence[str], out: Path) -> Iterator[str]:
    """What is said of programs that are not where they will be run."""
    for word in words:
        if Path(word).suffix in PROGRAMS and not (out / word).is_file():
            where = f"the folder of the claim, {out}" if str(out) != "." else "this folder"
            yield f"'{word}' is not in {where}, in which the program runs: --out names another"


def asked_for(ask: Callable[[str], str], given: NewClaim) -> NewClaim:
    """What is not given, from the answers to questions; an empty answer leaves it open."""

    def answer(question: str) -> str:
        return ask(question).strip()

    results = command = ""
    if not given.gate:
        results = answer("Results that are there, a file or a folder (empty: there are none)")
    if not results:
        command = answer("The command that trains once, with {seed} in it")
    better = given.better or _better(answer("Which values are better: higher or lower"))
    measure = given.measure or answer("The name of the number that is compared (empty: guess it)")
    by = given.by
    if by is None:
        by = _size(answer("The smallest difference that would matter (empty: fill it in later)"))
    return replace(
        given,
        better=better,
        results=Path(results) if results else None,
        command=command,
        measure=measure,
        by=by,
        why=given.why or answer("Why that much (empty: fill it in later)"),
        own=given.own or answer("Why you claim it (empty: fill it in later)"),
        hints=replace(given.hints, measure=measure),
    )


def _better(answer: str) -> Better:
    words: dict[str, Better] = {"higher": "higher", "lower": "lower"}
    if answer.casefold() not in words:
        expected = "expected: higher or lower\n  to do: begin again"
        raise ClaimError(f"'{answer}' is no answer\n  {expected}")
    return words[answer.casefold()]


def _size(answer: str) -> float | None:
    if not answer:
        return None
    size = number_in(answer)
    if size is None or size <= 0:
        advice = "write digits and a decimal point"
        expected = f"  expected: a number above 0\n  to do: {advice}"
        raise ClaimError(f"'{answer}' is no such number\n{expected}")
    return size
