"""A first claim to be filled in: from results, from a command, or from answers on a terminal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from repro.drafting.claim_text import Better, Draft, claim_text, name_of
from repro.drafting.drafts import DraftOptions, drafts_of, marked, write
from repro.drafting.found_results import Hints, read_results
from repro.errors import ClaimError, Problem
from repro.specs.load import check_files

HEAD = (
    "A claim to be declared before its results are there. Fill in what is empty, and give the",
    "reasons: they stand in the report. Then: repro check, repro verify with this file.",
)
SEEDS = 5
_PLACEHOLDER = re.compile(r"\{([A-Za-z][A-Za-z0-9_.-]*)\}")
_RESERVED = frozenset({"seed", "args", "out"})


@dataclass(frozen=True, slots=True)
class NewClaim:
    """What is known of a claim; what is empty is left for its author to fill in."""

    better: Better
    results: Path | None = None
    command: str = ""
    measure: str = ""
    baseline: str = ""
    by: float | None = None
    why: str = ""
    own: str = ""
    hints: Hints = field(default_factory=Hints)
    out: Path = Path()


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written, what was guessed, and what is left to fill in."""

    files: tuple[Path, ...]
    said: tuple[str, ...]
    open: tuple[Problem, ...]


def write_claim(new: NewClaim) -> Written:
    """Write the claim files.

    ClaimError for results or a command that tell too little, SpecError where a file that somebody
    edited is in the way, OutputError where nothing can be written.
    """
    texts, said = _from_results(new, new.results) if new.results else _from_command(new)
    files = []
    for name, text in texts.items():
        write(new.out / name, marked(text))
        files.append(new.out / name)
    checked, _ = check_files(files)
    return Written(
        tuple(files), tuple(said), tuple(problem for each in checked for problem in each.problems)
    )


def _asked(new: NewClaim) -> DraftOptions:
    return DraftOptions(new.better, new.by, new.why, new.baseline, new.own, HEAD, ask=True)


def _from_results(new: NewClaim, path: Path) -> tuple[dict[str, str], list[str]]:
    """A claim like these results, about new ones in their place."""
    results = read_results(path, new.out, new.hints)
    drafts = drafts_of(results, _asked(new))
    if drafts.table is not None:
        name, text = drafts.table
        write(new.out / name, text, mine=True)
    return drafts.claims, drafts.said


def _from_command(new: NewClaim) -> tuple[dict[str, str], list[str]]:
    """A claim about a program with other arguments; ClaimError for no command line."""
    words, settings, said = _words(new.command)
    measure = new.measure or new.hints.measure or "value"
    name = name_of(measure, before="value")
    left = any("{out}" in word for word in words)
    if left:
        results = {"file": "{out}/results.json"}
        said.append(f"its results are read from {{out}}/results.json, as '{measure}'")
    else:
        results = {"stdout": rf"\b{re.escape(measure)}\b\W+(?P<{name}>[-+.0-9e]+)"}
        said.append(f"its results are read from the lines of its output that have '{measure}'")
    reported = {"from": measure} if left else {"from": name, "reduce": "last"}
    files = [word for word in words if (new.out / word).is_file()]
    draft = Draft(
        id=f"{new.better}_{name}",
        title=f"The changed program has a {new.better} {measure} than the baseline"[:200],
        own=new.own,
        head=HEAD,
        labels={"changed": "changed", "baseline": "baseline"},
        arms={arm: {"args": dict.fromkeys(settings)} for arm in ("changed", "baseline")},
        compared=("changed", "baseline"),
        seeds={"min": SEEDS, "plan": SEEDS},
        measurement=name,
        reported={**reported, "label": measure, "better": new.better},
        better=new.better,
        smallest=None if new.by is None else (new.by, new.why),
        ask=True,
        configuration={"trainer": "command", "command": words, "files": files, "results": results},
    )
    return {f"{draft.id}.claim.yaml": claim_text(draft)}, said


def _words(command: str) -> tuple[list[str], list[str], list[str]]:
    """The arguments of a command, the names that the arms differ in, and what is said of it."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _refused(command, f"cannot be read: {error}", "close the quotes") from None
    if not words:
        raise _refused(command, "there is no command", "name a program and its arguments")
    named = [name for word in words for name in _PLACEHOLDER.findall(word)]
    if "seed" not in named:
        advice = "add {seed} where the program takes its seed: --seed {seed}"
        raise _refused(command, "the command has no {seed}", advice)
    settings = list(dict.fromkeys(name for name in named if name not in _RESERVED))
    if settings or "args" in named:
        return words, settings, []
    said = "{args} stands at the end of the command, for what the arms differ in"
    return [*words, "{args}"], [], [said]


def _refused(command: str, mistake: str, advice: str) -> ClaimError:
    expected = "such as: python train.py --seed {seed}"
    return ClaimError(
        f"--command '{command}': {mistake}\n  expected: {expected}\n  to do: {advice}"
    )


def asked_for(ask: Callable[[str], str]) -> NewClaim:
    """A claim from the answers to questions; an empty answer leaves it open."""
    results = ask("Results that are there, a file or a folder (empty: there are none)").strip()
    command = "" if results else ask("The command that trains once, with {seed} in it").strip()
    answer = ask("Which values are better: higher or lower").strip().casefold()
    measure = ask("The name of the number that is compared (empty: guess it)").strip()
    by = ask("The smallest difference that would matter (empty: fill it in later)").strip()
    why = ask("Why that much (empty: fill it in later)").strip()
    own = ask("Why you claim it (empty: fill it in later)").strip()
    if answer not in ("higher", "lower"):
        expected = "expected: higher or lower\n  to do: begin again"
        raise ClaimError(f"'{answer}' is no answer\n  {expected}")
    try:
        size = float(by) if by else None
    except ValueError:
        advice = "write digits and a decimal point"
        raise ClaimError(f"'{by}' is no number\n  expected: a number\n  to do: {advice}") from None
    return NewClaim(
        better="higher" if answer == "higher" else "lower",
        results=Path(results) if results else None,
        command=command,
        measure=measure,
        by=size,
        why=why,
        own=own,
        hints=Hints(measure=measure),
    )
