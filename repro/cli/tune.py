"""`repro tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.cli.options import (
    AllowCode,
    Json,
    Run,
    consented,
    problems,
    run_options,
    say,
    say_json,
)

if TYPE_CHECKING:
    from repro.tuning.search import SearchPlan, Tuned
    from repro.tuning.search_file import Search

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be tried and what it costs; no runs.")
]

Chosen = Annotated[Path, typer.Option(help="Folder for the chosen configuration and the table.")]


@run_options()
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
