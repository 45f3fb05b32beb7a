"""Results in two places, of one arm each, as the arms of one comparison."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

from repro.errors import ClaimError
from repro.results.forms import named, refused
from repro.results.found_results import FoundResults
from repro.results.path_names import labels_of
from repro.results.run_values import refuse_percent
from repro.results.steps import EARLY, ends_of_both


def joined(results: FoundResults, other: FoundResults, *, meant: bool = False) -> FoundResults:
    """The arms of ``results``, and last the one of ``other``, which is the baseline.

    ClaimError where they have no number in common, where the baseline has several arms, and where
    the last values of logs are of different evaluations, unless that is ``meant``.
    """
    refuse_arms(other)
    if other.measure != results.measure:
        mistake = f"its number is '{other.measure}', and that of {results.path} '{results.measure}'"
        raise refused(other.path, mistake, "one number", "name it: --measure NAME")
    apart = bool(results.lines and other.lines) and results.lines[-1] != other.lines[-1]
    if apart and not meant:
        raise _of_other_lines(results, other)
    every = (
        (str(each.path), run.value)
        for each in (results, other)
        for runs in each.runs.values()
        for run in runs
    )
    refuse_percent(results.path, every)
    results, other = _told_apart(results, other)
    (base,) = other.runs
    name = next(iter(results.runs)) if len(results.runs) == 1 else results.path.name
    said = [
        f"{arm}: {line}" for arm, each in ((name, results), (base, other)) for line in each.said
    ]
    doubts = {
        arm: f"{line} ({arm})" for each in (results, other) for arm, line in each.doubts.items()
    }
    if apart:
        last, before = (each.lines[-1] or "a step" for each in (results, other))
        text = f"{name} is evaluated by '{last}', and {base} by '{before}'"
        doubts[name] = "; ".join(filter(None, (doubts.get(name), text)))
    if results.rows and other.rows:
        early = ends_of_both(results.rows, other.rows, results.measure)
        early = {arm: text for arm, text in early.items() if text not in doubts.get(arm, "")}
        doubts |= {arm: "; ".join(filter(None, (early[arm], doubts.get(arm)))) for arm in early}
        said += early.values()
    return FoundResults(
        results.path,
        {**results.runs, **other.runs},
        results.measure,
        said=said,
        doubts=doubts,
        items=results.items + other.items,
    )


def refuse_early(results: FoundResults, baseline: str) -> None:
    """ClaimError for an arm of one run that ended before those of the ``baseline``, or its end."""
    for arm, runs in results.runs.items():
        doubt = results.doubts.get(arm, "")
        if arm != baseline and len(runs) == 1 and EARLY in doubt:
            advice = "give the finished run; or, if a rule ends it, its number in a table with a "
            advice += "row per run, and no column of steps"
            raise refused(results.path, doubt, "a run that went as far as others", advice)


def _of_other_lines(results: FoundResults, other: FoundResults) -> ClaimError:
    """The error of logs whose last values are of different evaluations."""
    measure, lines = results.measure, [each.lines for each in (results, other)]
    last, before = ([line or "a step" for line in each] for each in lines)
    mistake = f"its last '{measure}' is that of '{before[-1]}', and that of {results.path} of "
    mistake += f"'{last[-1]}'; there are {named(before)}, and there {named(last)}"
    words = [line.split()[-1] for line in lines[0] if line and line in lines[1]]
    words = [word for word in words if re.fullmatch(r"[\w-]+", word)]
    advice = 'if the last of each is meant, say so: --why "the last evaluation counts"'
    if words:
        option = shlex.quote(f"{words[-1]} {measure}")
        advice = f"name an evaluation that both have, as in --measure {option}; or {advice}"
    return refused(other.path, mistake, "the last values of one evaluation", advice)


def refuse_arms(results: FoundResults) -> None:
    """ClaimError where results that are to be of one arm have several."""
    if len(results.runs) != 1:
        mistake = f"several arms are in it: {', '.join(results.runs)}"
        advice = "name results of one arm, or both arms in one place and --baseline"
        raise refused(results.path, mistake, "the runs of one arm", advice)


def _told_apart(results: FoundResults, other: FoundResults) -> tuple[FoundResults, FoundResults]:
    """Both, with other names where they share one: what differs in their paths."""
    (base,) = other.runs
    if base not in results.runs:
        return results, other
    names = labels_of([_without_suffix(each.path) for each in (results, other)])
    if len(results.runs) > 1 or len({*names}) < 2:
        mistake = f"both are called '{base}'"
        raise refused(other.path, mistake, "two folders of different names", "rename one of them")
    first, second = (
        _renamed(each, name) for each, name in zip((results, other), names, strict=True)
    )
    return first, second


def _without_suffix(path: Path) -> str:
    return path.resolve().with_suffix("").as_posix()


def _renamed(results: FoundResults, name: str) -> FoundResults:
    (runs,) = results.runs.values()
    return replace(
        results,
        runs={name: runs},
        items=tuple(row._replace(arm=name) for row in results.items),
        doubts=dict(zip([name], results.doubts.values(), strict=False)),
        rows=results.rows and replace(results.rows, arms=[name] * len(results.rows.arms)),
    )
