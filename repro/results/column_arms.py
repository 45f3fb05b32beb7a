"""Tables of which a column is an arm, or a run of the arm that a row names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from repro.errors import ClaimError
from repro.results.forms import FoundRun, OneEachError, named, refused
from repro.results.readings import short
from repro.results.roles import (
    PHASES,
    UNCOMPARED,
    is_index,
    is_regular,
    last_word,
    role_of,
    said_fold,
    said_seed,
    surest,
    whole,
)
from repro.results.row_units import named_runs
from repro.results.run_fields import MOST_ARMS, Hints, sums_up_seeds

_SCATTER = re.compile(r"(?i)[\s_.(-]+(?:std(?:ev|dev|_?err)?|sd|sem|(se|ci(?:95)?))\)?$")
"""How a column of scatter is called; se and ci may be the names of a method, as in ResNet-SE."""
_MEAN = re.compile(r"(?i)[\s_.(-]+(?:mean|avg|average|value)\)?$")
_SPREAD = re.compile(r"(?i)st(?:an)?d(?:ard)?[ _.-]?(?:dev(?:iation)?|err(?:or)?)|±|\+/?-")
"""The name of a column of scatter whatever stands next to it."""


ARM = "column"
"""The field of the column in which a value stood."""


def runs_of_rows(
    path: Path, runs: Sequence[FoundRun], hints: Hints
) -> tuple[list[FoundRun], str, str, list[str]] | None:
    """The runs of a table with a row per arm, the field of the arm, and what its columns are.

    These are of a seed each, or of a fold. None where no field names an arm in each row. ClaimError
    where the columns are data sets or numbers, of which each arm has one value.
    """
    columns = _numbers(runs)
    fields = [key for key in runs[0].fields if key not in columns]
    rows = [hints.arm] if hints.arm in fields else surest(fields, "arm")
    key = next((key for key in rows if _names_each(runs, key)), "")
    mine = [name for name in columns if name not in hints.fields]
    if not key or not mine:
        return None
    for what, said in (("seed", said_seed), ("fold", said_fold)):
        numbered = [name for name in mine if said(name) is not None]
        if len(numbered) > 1 and all(name in numbered or sums_up_seeds(name) for name in mine):
            mine = numbered
            refuse_gap(path, runs, [name for name in runs[0].fields if said(name) is not None])
            values = [_value(run, name, key, {what: said(name)}) for run in runs for name in mine]
            return values, key, what, mine
    if _scatters(mine):
        mistake = f"summaries of runs, a row per arm by '{key}': {named(mine)}"
        advice = f"check printed means by `repro audit {shlex.quote(str(path))}`; of runs, give a "
        advice += "row for each, with its seed"
        raise OneEachError(str(refused(path, mistake, "several runs of each arm", advice)), key)
    if len(mine) == 1 or any(role_of(name) is not None for name in mine):
        mistake = f"a row per arm, by '{key}', with one value each of {named(mine)}"
        advice = "give the results of every run: a row for each, with its seed"
        raise OneEachError(str(refused(path, mistake, "several runs of each arm", advice)), key)
    mistake = f"one value for each arm, by '{key}', and each of {len(mine)} columns, {named(mine)}"
    advice = "if these are data sets, give a row for each, named in a column `dataset`, and a "
    advice += f"column per {key}: these are compared over them; columns of runs are called "
    advice += "seed_0, seed_1 ..."
    raise OneEachError(str(refused(path, mistake, "several runs of each arm", advice)), key)


def _names_each(runs: Sequence[FoundRun], key: str) -> bool:
    cells = [run.fields.get(key) for run in runs]
    texts = all(
        isinstance(cell, str) and cell and whole(cell) is None and said_seed(cell) is None
        for cell in cells
    )
    return texts and 2 <= len(cells) <= MOST_ARMS and len(set(cells)) == len(cells)


def _value(run: FoundRun, name: str, key: str, number: Mapping[str, int | None]) -> FoundRun:
    """One value of a row, as a run."""
    fields = {key: run.fields[key], **number}
    return replace(run, place=f"{run.place}, column '{name}'", fields=fields, rows=_row(run, name))


def _row(run: FoundRun, name: str) -> list[dict[str, float | None]]:
    return [{"value": run.rows[0][name]}] if run.rows and name in run.rows[0] else []


def _numbers(runs: Sequence[FoundRun]) -> list[str]:
    """The columns that hold a number in every row."""
    if any(len(run.rows) != 1 for run in runs):
        return []
    return [name for name in runs[0].rows[0] if all(name in run.rows[0] for run in runs)]


def refuse_gap(path: Path, runs: Sequence[FoundRun], columns: Sequence[str]) -> None:
    """ClaimError for the first cell without a number, where columns are runs or arms."""
    for run in runs:
        for name in columns:
            if all(name not in row for row in run.rows):
                cell = str(run.fields.get(name, "")).strip()
                there = f"'{short(cell)}' is not a number" if cell else "the cell is empty"
                expected = f"a number in each of {named(columns)}, if these are what is compared"
                advice = "write the number there, or leave that row out"
                if not any(role_of(key) == "task" for key in run.fields):
                    advice += "; of a run that diverged, write a row per value: arm,seed,value, "
                    advice += "with `diverged` as its value"
                raise refused(path, f"{run.place}, column '{name}': {there}", expected, advice)


def runs_of_columns(
    path: Path, runs: Sequence[FoundRun], hints: Hints
) -> tuple[list[FoundRun], list[str]]:
    """The runs of a table with a column of numbers per arm, and the arms; none where it is none.

    ClaimError where the columns may be the numbers of one run, or one may number the rows.
    """
    every = _numbers(runs)
    scatters = _scatters(every)
    columns = [
        name
        for name in every
        if name not in (*hints.fields, *scatters)
        and role_of(name) not in UNCOMPARED
        and role_of(name) != "task"
        and not is_index([run.fields.get(name) for run in runs])
    ]
    if hints.measure or not 2 <= len(columns) <= MOST_ARMS or not path.is_file():
        return [], columns
    if "std" in map(str.casefold, columns):
        mistake = "'std' may be the scatter of another column, or an arm"
        advice = "call it as what it is of, as in ours_std; or if it is an arm, by another name"
        raise refused(path, mistake, "a column for each arm", advice)
    if len(every) < len({name for run in runs for row in run.rows for name in row}):
        return [], columns  # a cell is empty
    seeds = hints.alone and any(role_of(name) == "seed" for name in runs[0].fields)
    if (series := _of_one_run(columns)) and (named_runs(runs) or seeds):
        return [], columns
    if series:
        be = "is a number of a run" if len(series) == 1 else "are the series of one run"
        mistake = f"no field tells the arms apart, and {named(series)} {be}"
        advice = "give the folder with the files of all runs, or name the field: --arm FIELD"
        raise refused(path, mistake, "the results of several runs", advice)
    if counting := _counting(runs, columns):
        others = [name for name in columns if name not in counting]
        raise _may_count(path, runs, counting, others)
    return list(_by_column(runs, columns, scatters)), columns


def said_of_columns(runs: Sequence[FoundRun], columns: Sequence[str]) -> str:
    """That there is a column per arm, and which hold a scatter that is not used."""
    scatters = _scatters([*runs[0].fields])
    unused = f"; not used, the scatter of these: {named(scatters)}" if scatters else ""
    return f"a column per arm: {', '.join(columns)}{unused}"


def _scatters(names: Sequence[str]) -> list[str]:
    """Columns of the scatter of a mean: `A_std` next to `A_mean` or `A`; `A_se` to `A_mean`.

    Without a name before it `stderr` is one, and `std` and `se` next to `mean`.
    """
    whole = {name: f"_{name.casefold()}" for name in names}
    means = {_MEAN.sub("", name) for name in whole.values() if _MEAN.search(name)}
    any_of = {*means, *whole.values()}
    return [
        name
        for name, text in whole.items()
        if _SPREAD.fullmatch(name.strip())
        or (
            (found := _SCATTER.search(text))
            and text[: found.start()] in (means if found[1] else any_of)
        )
    ]


def _counting(runs: Sequence[FoundRun], columns: Sequence[str]) -> list[str]:
    """Columns of whole numbers beside decimals, or of numbers as regular as settings are."""
    found = [name for name in columns if all(whole(run.fields[name]) is not None for run in runs)]
    found = found if len(found) < len(columns) else []
    regular = [name for name in columns if _is_regular([run.rows[0][name] for run in runs])]
    return [name for name in columns if name in (*found, *regular)]


def _is_regular(cells: Sequence[float | None]) -> bool:
    """Whether they are settings or steps: decimals only where they stand in order, too."""
    numbers = [cell for cell in cells if cell is not None]
    ordered = numbers in (sorted(numbers), sorted(numbers, reverse=True))
    return is_regular(numbers) and (ordered or all(number.is_integer() for number in numbers))


def _by_column(
    runs: Sequence[FoundRun], columns: Sequence[str], scatters: Sequence[str]
) -> Iterator[FoundRun]:
    taken = {*columns, *scatters}
    for name in columns:
        for run in runs:
            fields = {key: value for key, value in run.fields.items() if key not in taken}
            place = f"{run.place}, column '{name}'"
            yield replace(run, place=place, fields={**fields, ARM: name}, rows=_row(run, name))


def _of_one_run(columns: Sequence[str]) -> list[str]:
    """Columns that are named as the numbers of a run are; but `ours_acc` and `base_acc` are not."""
    named_so = [name for name in columns if role_of(name) == "measure"]
    words = {last_word(name) for name in columns}
    stems = [re.split(r"[^a-z0-9]+", name.casefold())[:-1] for name in columns]
    arms = all(stem and not PHASES & set(stem) for stem in stems)
    return [] if arms and len(words) == 1 else named_so


def _may_count(
    path: Path, runs: Sequence[FoundRun], counting: Sequence[str], others: Sequence[str]
) -> ClaimError:
    """Its numbers may be those of seeds, tasks or units only where no other field says these."""
    first = counting[0]
    mistake = f"{named(counting)} may be what numbers the rows, or an arm: whole or regular "
    mistake += f"numbers, beside {named(others) or 'no others'}"
    advice = "leave out of the table what is not an arm; "
    if not any(role_of(key) in ("seed", "fold") for key in runs[0].fields):
        able = all(whole(run.fields[first]) is not None for run in runs)
        seed = f"--seed {first}, " if able else ""
        advice += f"or say what it is: {seed}--task-field {first} or --unit {first}; "
    advice += "of an arm, write a row per value: arm,value"
    return refused(path, mistake, "columns of which each is an arm", advice)
