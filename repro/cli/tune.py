"""`repro tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repro.cli.options import (
    AllowCode,
    Data,
    Device,
    Engine,
    Scheduler,
    Store,
    Workers,
    consented,
    open_store,
    problems,
    say,
)

if TYPE_CHECKING:
    from repro.tuning.search import SearchPlan, Tuned
    from repro.tuning.search_file import Search


def tune(
    search: Annotated[Path, typer.Argument(help="A search file.", show_default=False)],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be tried and what it costs; no runs.")
    ] = False,
    to: Annotated[
        Path, typer.Option(help="Folder for the chosen configuration and the table.")
    ] = Path("tuned"),
    device: Device = "auto",
    engine: Engine = "auto",
    scheduler: Scheduler = "",
    workers: Workers = None,
    store: Store = None,
    data: Data = None,
    allow_code: AllowCode = False,
) -> None:
    """Search for hyper-parameters within a declared budget, on validation only."""
    with problems():
        from repro.running.engine import RunOptions
        from repro.tuning.search import plan_search, tune, write_tuned
        from repro.tuning.search_file import load_search

        loaded = load_search(search)
        planned = plan_search(loaded, workers=workers)
        _say_plan(loaded, planned)
        planned.refuse()
        if dry_run:
            return
        allowed = consented([search], allow_code=allow_code)
        options = RunOptions(
            open_store(store), data, device, engine, workers, allowed, scheduler=scheduler
        )
        tuned = tune(loaded, options)
        _say_settings(tuned)
        for path in write_tuned(tuned, to):
            say(str(path))


def _say_plan(search: Search, planned: SearchPlan) -> None:
    from repro.schema.numbers import count, number_of, rough_duration

    spec = search.spec
    for stage in planned.stages:
        say(f"{stage.id:16} {stage.design:14} up to {number_of(stage.settings, 'setting')}")
    runs = planned.settings * spec.seeds
    rough = "too many to be priced"
    if planned.epochs:
        time = rough_duration(planned.seconds)
        epochs = number_of(planned.epochs, "epoch")
        rough = f"{epochs}, very roughly {time} on {planned.workers} CPU cores"
    say(
        f"up to {number_of(planned.settings, 'setting')} ({count(spec.budget.settings)} declared), "
        f"{number_of(spec.seeds, 'seed')} each: {number_of(runs, 'run')}, {rough}"
    )


def _say_settings(tuned: Tuned) -> None:
    """All settings, the best first, in columns."""
    from repro.tuning.search import rows

    table = rows(tuned)
    lines = [list(table[0]), *(list(row.values()) for row in table)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        say("  ".join(cells).rstrip())
