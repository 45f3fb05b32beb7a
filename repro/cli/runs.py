"""`repro runs`: looking after the runs of a store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repro.cli.options import (
    AllowCode,
    Json,
    Scale,
    Store,
    consented,
    load,
    open_store,
    problems,
    say,
    say_json,
)

if TYPE_CHECKING:
    from repro.specs.claim import Claim

DAMAGED = 4

runs = typer.Typer(
    name="runs",
    help="Check the runs of a store, or export them.",
    no_args_is_help=True,
)

Some = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Claim files, or folders of them, whose runs are meant; default every run.",
        show_default=False,
    ),
]


def _chosen(claims: list[Path], scale: str | None, *, allow_code: bool) -> tuple[Claim, ...]:
    """The claims whose runs are meant; none for every run."""
    return load(claims, scale, allow_code=consented(claims, allow_code=allow_code))


@runs.command()
def check(
    claims: Some = None,
    scale: Scale = None,
    store: Store = None,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Read all evidence, weights and spectra too, and compare it with its digests."""
    with problems(json=json):
        from repro.schema.numbers import number_of
        from repro.workflows.runs import check_runs

        chosen = _chosen(claims or [], scale, allow_code=allow_code)
        checked = check_runs(open_store(store), chosen)
        for damage in checked.damages:
            say(f"damaged: {damage}", err=json)
        unfinished = f"; {checked.unfinished} not finished" if checked.unfinished else ""
        found = f"{len(checked.damages)} damaged" if checked.damages else "nothing is damaged"
        left = f" and what {number_of(checked.outputs, 'program')} left" if checked.outputs else ""
        say(f"{number_of(checked.read, 'run')}{left} read, {found}{unfinished}", err=json)
        if json:
            say_json(asdict(checked))
    raise typer.Exit(DAMAGED if checked.damages else 0)


@runs.command()
def export(
    to: Annotated[Path, typer.Option(help="A folder that is new or empty, or a store.")],
    claims: Some = None,
    scale: Scale = None,
    store: Store = None,
    weights: Annotated[
        bool,
        typer.Option(
            "--with-weights/--without-weights",
            help="Copy weights and spectra too, or leave them out, which each record then says.",
        ),
    ] = True,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Copy runs and the ledgers of their claims to a store of their own; each file is checked."""
    with problems(json=json):
        from repro.schema.numbers import number_of
        from repro.workflows.runs import export_runs

        chosen = _chosen(claims or [], scale, allow_code=allow_code)
        done = export_runs(open_store(store), to, chosen, weights=weights)
        there = f", {done.there} there already" if done.there else ""
        unfinished = f", {done.unfinished} not finished and left out" if done.unfinished else ""
        how = "" if weights else " without weights"
        copied = number_of(done.copied, "run")
        say(f"{copied} exported{how} to {to}{there}{unfinished}", err=json)
        if json:
            say_json({"to": str(to), **asdict(done)})
