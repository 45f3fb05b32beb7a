"""`repro plan`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.cli.options import (
    AllowCode,
    Claims,
    Json,
    Run,
    Scale,
    consented,
    load,
    problems,
    run_options,
    say,
    say_json,
    say_stopped,
)
from repro.errors import Stopped, apart, gravest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repro.judging.document_parts import DesignPart
    from repro.running.engine import RunOptions
    from repro.running.plan import Plan
    from repro.specs.claim import Claim
    from repro.specs.configuration import NamedCode


REFUSED = 2


@run_options("workers", "store", "device", "data")
def plan(
    claims: Claims,
    scale: Scale = None,
    *,
    run: Run,
    allow_code: AllowCode = False,
    force: Annotated[
        bool, typer.Option("--force", help="End with 0 although a design could hardly decide.")
    ] = False,
    json: Json = False,
) -> None:
    """Say what would be trained, how long, what is missing, and what it could decide.

    Trains nothing.
    """
    stopped: list[Stopped] = []
    with problems(json=json):
        from repro.running.engine import RunOptions

        allowed = consented(claims, allow_code=allow_code)
        options = run.options(RunOptions, allowed)
        found = _planned(load(claims, scale, allow_code=allowed, stopped=stopped), options, stopped)
        if json:
            say_json(_document(found, stopped))
        else:
            _say_plan(found, stopped)
        refused = any(each.refused for each in found.designs)
    for each in stopped:
        say_stopped(each)
    if stopped:
        raise typer.Exit(gravest(each.status for each in stopped))
    if refused and not force:
        raise typer.Exit(REFUSED)


@dataclass(frozen=True, slots=True)
class PlannedDesign:
    """What the design of a claim could decide, and whether it is refused."""

    claim: Claim
    parts: tuple[DesignPart, ...]

    @property
    def refused(self) -> bool:
        return self.claim.forced is None and any(part.refused for part in self.parts)


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """The runs, what they lack, code from outside repro that they need by arm, and every design."""

    plan: Plan
    lacking: tuple[str, ...]
    code: tuple[tuple[str, NamedCode], ...]
    designs: tuple[PlannedDesign, ...]


def _planned(claims: Sequence[Claim], options: RunOptions, stopped: list[Stopped]) -> ShownPlan:
    """What would be done for the claims; what an error stops is added to ``stopped``."""
    from repro.judging.design_power import design_parts
    from repro.registry.registry import Registry
    from repro.running.preflight import lacking
    from repro.workflows.verify import code_to_run, plan_runs, subject, with_seeds_due

    now = with_seeds_due(claims, Registry(options.store, make=False), stopped)
    planned = plan_runs(now, options.store, workers=options.workers)
    code = tuple(code_to_run(now, planned).values())
    lacks = tuple(lacking(planned.missing, options))
    designs = []
    for claim in now:
        with apart(subject(claim), stopped):
            designs.append(PlannedDesign(claim, tuple(design_parts(claim))))
    return ShownPlan(planned, lacks, code, tuple(designs))


def _document(found: ShownPlan, stopped: Sequence[Stopped]) -> dict[str, Any]:
    """The plan for programs; seconds are very rough, and of one CPU core."""
    planned = found.plan
    return {
        "runs": [
            {
                "run": each.planned.run.key,
                "label": each.planned.label,
                "state": each.state,
                "parameters": each.planned.run.training.parameters,
                "seconds": each.work / planned.rate if each.state == "missing" else None,
            }
            for each in planned.runs
        ],
        "missing": len(planned.missing),
        "seconds": planned.seconds if planned.missing else 0.0,
        "workers": planned.workers,
        "lacking": list(found.lacking),
        "code": [{"use": each.use, "arm": arm, "place": each.place} for arm, each in found.code],
        "claims": [
            {
                "claim": each.claim.id,
                "scale": each.claim.scale,
                "refused": each.refused,
                "designs": [part.model_dump(mode="json") for part in each.parts],
            }
            for each in found.designs
        ],
        "stopped": [
            {"subject": each.subject, "why": each.why, "status": each.status} for each in stopped
        ],
    }


def _say_plan(found: ShownPlan, stopped: list[Stopped]) -> None:
    """The runs, what is missing for them, and every design."""
    from repro.workflows.verify import subject

    _say_runs(found.plan)
    for arm, code in found.code:
        text = f"{code.arm}: arm {arm} needs {code.use}, which {code.place} names"
        say(f"{text}: code from outside repro to be run here, with --allow-code alone")
    for line in found.lacking:
        say(line)
    for each in found.designs:
        with apart(subject(each.claim), stopped):
            say(f"\n{subject(each.claim)}")
            _say_design(each, found.plan)


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


def _say_design(design: PlannedDesign, planned: Plan) -> None:
    """What the design of a claim could decide."""
    claim = design.claim
    for part in design.parts:
        say("\n".join(f"  {line}" for line in _lines(part, claim, planned)))
        if part.refused and claim.forced is not None:
            say(f"    refused, but forced: {claim.forced.why}")
        elif part.refused:
            say(f"    refused: {part.refused}")


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
