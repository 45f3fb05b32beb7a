"""`repro plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from repro.cli.options import (
    AllowCode,
    Claims,
    Data,
    Device,
    Scale,
    Store,
    Workers,
    consented,
    load,
    open_store,
    problems,
    say,
    say_stopped,
)
from repro.errors import Stopped, apart, gravest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repro.judging.document_parts import DesignPart
    from repro.running.engine import RunOptions
    from repro.running.plan import Plan
    from repro.specs.claim import Claim


REFUSED = 2


def plan(
    claims: Claims,
    scale: Scale = None,
    workers: Workers = None,
    store: Store = None,
    device: Device = "auto",
    data: Data = None,
    allow_code: AllowCode = False,
    force: Annotated[
        bool, typer.Option("--force", help="End with 0 although a design could hardly decide.")
    ] = False,
) -> None:
    """Say what would be trained, how long, what is missing, and what it could decide.

    Trains nothing.
    """
    stopped: list[Stopped] = []
    with problems():
        from repro.running.engine import RunOptions

        allowed = consented(claims, allow_code=allow_code)
        options = RunOptions(open_store(store), data, device, workers=workers)
        refused = _say_plan(load(claims, scale, allow_code=allowed), options, stopped)
    for each in stopped:
        say_stopped(each)
    if stopped:
        raise typer.Exit(gravest(each.status for each in stopped))
    if refused and not force:
        raise typer.Exit(REFUSED)


def _say_plan(claims: Sequence[Claim], options: RunOptions, stopped: list[Stopped]) -> bool:
    """The runs, what is missing for them, and every design; whether one of those is refused."""
    from repro.registry.registry import Registry
    from repro.running.preflight import lacking
    from repro.verify import code_to_run, plan_runs, subject, with_seeds_due

    now = with_seeds_due(claims, Registry(options.store, make=False), stopped)
    planned = plan_runs(now, options.store, workers=options.workers)
    _say_runs(planned)
    for arm, code in code_to_run(now, planned).values():
        text = f"{code.arm}: arm {arm} needs {code.use}, which {code.place} names"
        say(f"{text}: code of others to be run here, with --allow-code alone")
    for line in lacking(planned.missing, options):
        say(line)
    refused = False
    for claim in now:
        with apart(subject(claim), stopped):
            say(f"\n{subject(claim)}")
            refused |= _say_design(claim, planned)
    return refused


def _say_runs(planned: Plan) -> None:
    from repro.schema.numbers import count, rough_duration

    for entry in planned.runs:
        run = entry.planned.run
        seconds = rough_duration(entry.work / planned.rate) if entry.state == "missing" else "-"
        size = run.training.parameters
        parameters = "" if size is None else f"  {count(size)} parameters"
        say(f"{entry.state:9} {run.key[:12]}  {entry.planned.label}{parameters}  {seconds}")
    missing = len(planned.missing)
    rough = f": very roughly {rough_duration(planned.seconds)} on {planned.workers} CPU cores"
    say(f"{len(planned.runs)} runs, {missing} to train or measure{rough if missing else ''}")


def _say_design(claim: Claim, planned: Plan) -> bool:
    """What the design of a claim could decide; whether it is refused."""
    from repro.judging.design_power import design_parts

    refused = False
    for part in design_parts(claim):
        say("\n".join(f"  {line}" for line in _lines(part, claim, planned)))
        if part.refused and claim.forced is not None:
            say(f"    refused, but forced: {claim.forced.why}")
        elif part.refused:
            say(f"    refused: {part.refused}")
            refused = True
    return refused


def _lines(part: DesignPart, claim: Claim, planned: Plan) -> list[str]:
    from repro.expectations.kinds import kind_of
    from repro.schema.numbers import chance, significant

    declared = next(each for each in claim.expectations if each.id == part.expectation)
    units = f"seeds per {'task' if kind_of(declared).tasks(declared) else 'arm'}"
    scatter = " and ".join(dict.fromkeys(significant(sd, 2) for sd in part.sd))
    lines = [f"{part.expectation}: {part.seeds} {units}"]
    if scatter:
        lines.append(f"  planned sd {scatter}, from {part.sd_source}")
    if part.power is not None:
        truth = f" if the truth is {part.assumed_effect}" if part.assumed_effect else ""
        lines.append(f"  power {chance(part.power)}{truth}")
    if part.minimum_detectable is not None:
        smallest = significant(part.minimum_detectable)
        lines.append(f"  the smallest effect with a chance of 80 % of being found: {smallest}")
    for name, seeds in (("80 %", part.seeds_80), ("90 %", part.seeds_90)):
        if seeds is not None:
            lines.append(f"  {name} power: {seeds} {units}, {_cost(claim, seeds, planned)}")
    return [*lines, f"  {part.note}"] if part.note else lines


def _cost(claim: Claim, seeds: int, planned: Plan) -> str:
    """The rough time of so many seeds of every arm that is trained, from nothing."""
    from repro.schema.numbers import rough_duration
    from repro.trainers.trainer import cost

    if not claim.trained:
        return "and nothing to train"
    work = sum(cost(run).total for run in claim.runs()) / claim.due
    seconds = work * seeds / planned.rate / planned.workers
    return f"very roughly {rough_duration(seconds)} in all"
