"""`repro measure` and `repro tune`: further numbers of trained runs, and a search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.cli.options import (
    AllowCode,
    Json,
    Run,
    Scale,
    consented,
    load,
    problems,
    say,
    say_json,
    with_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from repro.tuning.search import SearchPlan, Tuned
    from repro.tuning.search_file import Search
    from repro.workflows.measure import Asked, Comparison, Measurements, Value


FAILED = 5
INCOMPLETE = 3

Subjects = Annotated[
    list[str],
    typer.Argument(
        metavar="CLAIM|RUN...",
        help="Claim files, folders of them, ids of packaged claims, or keys of runs, of which "
        "eight digits are enough.",
        show_default=False,
    ),
]

Instead = Annotated[
    list[str] | None,
    typer.Option(
        help="Take this instead of what the claims declare, written as in a claim file: "
        "'{kind: hit_rate, k: 5}'.",
        show_default=False,
    ),
]


@with_options(run=Run)
def measure(
    subjects: Subjects,
    measurement: Instead = None,
    scale: Scale = None,
    *,
    run: Run,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Measure runs that are trained, and train nothing. 3: some are not trained; 5: some failed."""
    with problems(json=json):
        from repro.running.engine import RunOptions
        from repro.specs.load import read_measurement
        from repro.workflows.measure import KEY, asked_of_claims, asked_of_runs
        from repro.workflows.measure import measure as measured

        keys = [each for each in subjects if KEY.fullmatch(each) and not Path(each).exists()]
        paths = [Path(each) for each in subjects if each not in keys]
        allowed = allow_code or (not keys and consented(paths, allow_code=False))
        options = run.options(RunOptions, allowed)
        specs = [
            read_measurement(text, "--measurement", allow_code=allow_code)
            for text in measurement or ()
        ]
        claims = load(paths, scale, allow_code=allowed) if paths else ()
        asked = [
            *asked_of_claims(claims, options.store, specs),
            *asked_of_runs(keys, options.store, specs, allow_code=allow_code),
        ]
        found = measured(asked, options)
        status = _say(found, json=json)
    raise typer.Exit(status)


def _lines(found: Measurements) -> Iterator[str]:
    """A line for each value and comparison, below the claim that asks for it."""
    from repro.schema.numbers import fixed

    group = ""
    for each in found.values:
        if each.asked.group != group:
            group = each.asked.group
            yield group
        number = fixed(each.value, each.measurement.digits)
        error = each.details.get("standard_error")
        more = "" if error is None else f" (standard error {error:.2g})"
        run = each.asked.planned
        label = "" if run.label == run.run.key[:12] else f"  {run.label}"
        yield f"  {run.run.key[:12]}{label}  {each.measurement.label}: {number}{more}"
        yield from (f"    {remark}" for remark in each.measurement.remarks(each.details))
    yield from (f"{each.group}: {_in_words(each)}" for each in found.comparisons)


def _in_words(each: Comparison) -> str:
    from repro.schema.numbers import MINUS, number_of, plus

    digits = each.measurement.digits + 1
    difference = plus(each.difference, digits).replace(MINUS, "-")
    _, contexts = each.measurement.by_context
    seeds = " and ".join(number_of(n, "seed") for n in each.seeds)
    return (
        f"{each.measurement.label}, {each.first} less {each.second}: "
        f"{difference}, standard error {each.error:.2g} over {each.contexts:,} {contexts} ({seeds})"
    )


def _say(found: Measurements, *, json: bool) -> int:
    """The numbers; on stderr what was done, and what has none and why; the exit code."""
    from repro.schema.numbers import number_of

    if json:
        say(_as_json(found))
    else:
        for line in _lines(found):
            say(line)
    for failure in found.failures:
        say(f"failed: {failure}", err=True)
    for asked in found.diverged:
        say(f"diverged: {_name(asked)} has nothing to measure", err=True)
    there = {each.asked.planned.run.key for each in found.values}
    said = f"{number_of(found.measured, 'run')} measured now, {len(there)} with numbers"
    if found.untrained:
        said += f", {len(found.untrained)} not trained: repro verify trains them"
    say(said, err=True)
    if found.failures:
        return FAILED
    return INCOMPLETE if found.untrained else 0


def _name(asked: Asked) -> str:
    key = asked.planned.run.key[:12]
    return asked.planned.label if asked.planned.label == key else f"{asked.planned.label} ({key})"


def _as_json(found: Measurements) -> str:
    from json import dumps

    document = {
        "values": [_value(each) for each in found.values],
        "by_context": [_comparison(each) for each in found.comparisons],
        "not_trained": [each.planned.run.key for each in found.untrained],
        "diverged": [each.planned.run.key for each in found.diverged],
        "failed": found.failures,
    }
    return dumps(document, indent=2, ensure_ascii=False)


def _value(each: Value) -> dict[str, Any]:
    run = each.asked.planned.run
    return {
        "claim": each.asked.group,
        "arm": each.asked.arm,
        "seed": run.replicate,
        "run": run.key,
        "measurement": each.measurement.model_dump(mode="json", exclude_none=True),
        "label": each.measurement.label,
        "value": each.value,
        "details": each.details,
    }


def _comparison(each: Comparison) -> dict[str, Any]:
    return {
        "claim": each.group,
        "label": each.measurement.label,
        "of": [each.first, each.second],
        "difference": each.difference,
        "standard_error": each.error,
        "contexts": each.contexts,
        "seeds": list(each.seeds),
    }


DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be tried and what it costs; no runs.")
]

Chosen = Annotated[Path, typer.Option(help="Folder for the chosen configuration and the table.")]


@with_options(run=Run)
def tune(
    search: Annotated[Path, typer.Argument(help="A search file.", show_default=False)],
    dry_run: DryRun = False,
    to: Chosen = Path("tuned"),
    *,
    run: Run,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Search for hyper-parameters within a declared budget, on validation only."""
    with problems(json=json):
        from repro.running.engine import RunOptions
        from repro.tuning.search import plan_search, rows, tune, write_tuned
        from repro.tuning.search_file import load_search

        loaded = load_search(search)
        planned = plan_search(loaded, workers=run.workers)
        _say_plan(loaded, planned, err=json)
        planned.refuse()
        if dry_run:
            if json:
                say_json(_planned(loaded, planned))
            return
        options = run.options(RunOptions, consented([search], allow_code=allow_code))
        tuned = tune(loaded, options)
        _say_settings(tuned, err=json)
        files = [*map(str, write_tuned(tuned, to))]
        for file in files:
            say(file, err=json)
        if json:
            say_json({"settings": rows(tuned), "files": files})


def _planned(search: Search, planned: SearchPlan) -> dict[str, Any]:
    """What would be tried, for programs."""
    return {
        "stages": [
            {"id": each.id, "design": each.design, "settings": each.settings}
            for each in planned.stages
        ],
        "settings": planned.settings,
        "seeds": search.spec.seeds,
        "runs": planned.settings * search.spec.seeds,
        "epochs": planned.epochs or None,
        "seconds": planned.seconds if planned.epochs else None,
    }


def _say_plan(search: Search, planned: SearchPlan, *, err: bool) -> None:
    from repro.schema.numbers import count, number_of, rough_duration

    spec = search.spec
    for stage in planned.stages:
        say(
            f"{stage.id:16} {stage.design:14} up to {number_of(stage.settings, 'setting')}", err=err
        )
    runs = planned.settings * spec.seeds
    rough = "too many to be priced"
    if planned.epochs:
        time = rough_duration(planned.seconds)
        epochs = number_of(planned.epochs, "epoch")
        rough = f"{epochs}, very roughly {time} on {planned.workers} CPU cores"
    say(
        f"up to {number_of(planned.settings, 'setting')} ({count(spec.budget.settings)} declared), "
        f"{number_of(spec.seeds, 'seed')} each: {number_of(runs, 'run')}, {rough}",
        err=err,
    )


def _say_settings(tuned: Tuned, *, err: bool) -> None:
    """All settings, the best first, in columns."""
    from repro.tuning.search import rows

    table = rows(tuned)
    lines = [list(table[0]), *(list(row.values()) for row in table)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        say("  ".join(cells).rstrip(), err=err)
