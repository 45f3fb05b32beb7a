"""The rows of runs of which paths, or columns, name the arms."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from repro.results.column_arms import ARM, runs_of_columns, runs_of_rows, said_of_columns
from repro.results.forms import Form, FoundRun, named, refused
from repro.results.path_names import parts_of
from repro.results.readings import short
from repro.results.row_units import Rows, Sheet
from repro.results.run_fields import Hints, arms_inside, field_of_task, seed_field, sums_up_seeds


def named_inside(
    forms: Sequence[Form], found: Sequence[tuple[Form, FoundRun]], hints: Hints
) -> bool:
    """Whether fields of the runs name the arms, and not paths: there each is of one run, or a job.

    Jobs have the number of a scheduler alone, `slurm-48123`, and each arm inside has one.
    """
    runs = [run for _, run in found]
    if hints.arm or len(runs) == len(forms):
        return any(hints.arm in run.fields for run in runs) if hints.arm else arms_inside(runs)
    if len({re.sub(r"\d+", "", form.arm) for form in forms}) > 1:
        return False
    keys = [key for key in runs[0].fields if arms_inside(runs, key)]
    pairs = [{(form.arm, str(run.fields[key])) for form, run in found} for key in keys]
    return bool(pairs) and all(
        len(each) == len(forms) == len({name for _, name in each}) for each in pairs
    )


def sheet_by_path(
    path: Path,
    forms: Sequence[Form],
    found: Sequence[tuple[Form, FoundRun]],
    ended: Sequence[str],
    hints: Hints,
) -> Sheet:
    """The runs of which the path names the arm."""
    templates = [str(form.importer["path"]) for form in forms]
    parts = parts_of(path, [form.arm for form in forms], templates, hints)
    told = {id(form): (arm, said) for form, arm, said in
            zip(forms, parts.arms, parts.fields, strict=True)}  # fmt: skip
    runs = [replace(run, fields={**run.fields, **told[id(form)][1]}) for form, run in found]
    arms, only = [told[id(form)][0] for form, _ in found], []
    if hints.task:
        key, value = field_of_task(path, runs, hints)
        kept = [place for place, run in enumerate(runs) if str(run.fields.get(key)) == value]
        arms, runs = [arms[place] for place in kept], [runs[place] for place in kept]
        only = [f"only '{value}' of '{key}' in the paths"]
    if forms[0].importer.get("from") == "files":  # lm-eval names what is evaluated by its folder
        _refuse_pooled(path, arms, runs, hints)
    seed = seed_field(path, runs, hints)
    rows = Rows(path, arms, runs, seed)
    cells = {key: [str(run.fields.get(key, "")) for run in runs] for key in parts.fields[0]}
    where = next((key for key, column in cells.items() if rows.arms == column), "")
    plain = not (ended or any(parts.fields)) and forms[0].runs is None
    return Sheet(
        [forms[0].words, parts.words, *only],
        rows,
        {seed, where, *ended},
        "",
        ended,
        forms if plain else (),
        cells=forms[0].importer.get("each") == "row",
    )


def _refuse_pooled(path: Path, arms: Sequence[str], runs: Sequence[FoundRun], hints: Hints) -> None:
    """ClaimError where paths name arms, and the runs in each say that they are of several."""
    for key in runs[0].fields if runs and not hints.arm else ():
        if key in hints.fields or not arms_inside(runs, key):
            continue
        said = {(arm, str(run.fields[key])) for arm, run in zip(arms, runs, strict=True)}
        if all(sum(arm == each for each, _ in said) > 1 for arm in {*arms}):
            mistake = f"arms by the paths are {named([*dict.fromkeys(arms)])}, and in each of them "
            mistake += f"'{short(key)}' differs: {named(sorted({name for _, name in said}))}"
            advice = f"name the field of the arms, --arm {shlex.quote(key)}, or --arm path"
            raise refused(path, mistake, "one field that tells the arms apart", advice)


def sheet_of_columns(
    path: Path, runs: Sequence[FoundRun], ended: Sequence[str], hints: Hints
) -> Sheet | None:
    """A table of which a column is an arm, or a run; None where it is none."""
    if found := runs_of_rows(path, runs, hints):
        melted, where, what, columns = found
        arms = [str(run.fields[where]) for run in melted]
        said = f"a row per arm, by '{where}', and a column per {what}: {named(columns)}"
        if sums := [name for run in runs[:1] for name in run.fields if sums_up_seeds(name)]:
            said += f"; left out, summaries of these: {named(sums)}"
        return Sheet([said], Rows(path, arms, melted, what), {where, what}, where)
    melted, columns = runs_of_columns(path, runs, hints)
    if not melted:
        return None
    seed = seed_field(path, melted, hints)
    arms = [str(run.fields[ARM]) for run in melted]
    told = {seed, ARM, *ended}
    said = said_of_columns(runs, columns)
    return Sheet([said], Rows(path, arms, melted, seed), told, ARM, ended, numbered=True)
