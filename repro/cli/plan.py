"""The commands before training: `check`, `plan`, and `try`, one run of which nothing is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.cli.options import (
    AllowCode,
    Claims,
    Data,
    Device,
    Json,
    Run,
    Scale,
    consented,
    described,
    load,
    problems,
    say,
    say_json,
    say_stopped,
    with_options,
)
from repro.errors import DataError, Place, Problem, Stopped, apart, gravest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repro.judging.document_parts import DesignPart
    from repro.running.engine import RunOptions
    from repro.running.plan import Plan
    from repro.specs.claim import Claim
    from repro.specs.configuration import NamedCode
    from repro.specs.load import CheckedFile
    from repro.workflows.trial import Tried


REFUSED = 2


@with_options(run=(Run, "workers", "store", "device", "data"))
def plan(
    claims: Claims,
    scale: Scale = None,
    *,
    run: Run,
    gpu: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Time on GPUs of this kind (H100, A100, ...), as many as --workers. Default with "
            "--device cuda: those of this machine.",
            show_default=False,
        ),
    ] = "",
    price: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1e9,
            metavar="MONEY",
            help="The price of an hour of a GPU or core, in any money.",
        ),
    ] = None,
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
        found = replace(found, plan=_placed(found.plan, options, gpu), price=price)
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
    price: float | None = None
    """What an hour of one worker costs."""


UNNAMED = "GPU"
"""The kind of a GPU that nobody names."""

UNKNOWN = (
    "no figures for the GPU of this machine, {}: the plan is for CPU cores\n"
    "  to do: name the one that is most like it with --gpu"
)


def _placed(planned: Plan, options: RunOptions, gpu: str) -> Plan:
    """The plan on the GPUs that are named, or those of this machine; else on its cores.

    Programs that take GPUs are planned on GPUs wherever they are. Stderr says why cores are
    planned with where GPUs are asked for.
    """
    from repro.running.plan import GPUS, gpu_kind
    from repro.trainers.devices import asked_of_driver, visible_gpus

    if gpu and options.device == "cpu":
        raise DataError(
            f"--gpu {gpu} --device cpu: they contradict each other\n"
            "  expected: one of them\n  to do: leave out the other"
        )
    least = planned.program_gpus
    if not (planned.counted or least):
        if gpu and planned.missing:
            say("no run takes a GPU; the plan is for CPU cores", err=True)
        return planned
    if gpu:
        return planned.on_gpus(gpu, options.workers)
    if options.device == "cpu" or not (least or options.device == "cuda"):
        return planned
    shown = visible_gpus()
    told = [line.split(", ", 2) for line in asked_of_driver("index,uuid,name")]
    names = [name for index, uuid, name in told if {index, uuid} & {*shown}]
    name = names[0] if names else UNNAMED
    if planned.counted and gpu_kind(name) is None:
        if names:
            say(f"{UNKNOWN.format(name)} ({', '.join(GPUS)})", err=True)
        return planned
    return planned.on_gpus(name, options.workers or max(len(shown), least))


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
    """The plan for programs; seconds of a run are very rough, and of one CPU core or GPU."""
    planned = found.plan
    return {
        "runs": [
            {
                "run": each.planned.run.key,
                "label": each.planned.label,
                "state": each.state,
                "parameters": each.planned.run.training.parameters,
                "seconds": planned.seconds_of(each) if each.state == "missing" else None,
            }
            for each in planned.runs
        ],
        "missing": len(planned.missing),
        "seconds": planned.seconds if planned.missing else 0.0,
        "workers": planned.workers,
        "gpu": planned.gpu or None,
        "hours": planned.worker_hours,
        "price": None if found.price is None else found.price * planned.worker_hours,
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
    from repro.evidence.base import tables_to_come
    from repro.workflows.verify import subject

    _say_runs(found.plan, found.price)
    for arm, code in found.code:
        text = f"{code.arm}: arm {arm} needs {code.use}, which {code.place} names"
        say(f"{text}: code from outside repro to be run here, with --allow-code alone")
    for line in found.lacking:
        say(line)
    for each in found.designs:
        with apart(subject(each.claim), stopped):
            say(f"\n{subject(each.claim)}")
            for name in tables_to_come(
                [arm.source for arm in each.claim.arms.values()], Path(each.claim.file).parent
            ):
                say(f"  not there yet: {name}, the table of its results")
            _say_design(each, found.plan)


def _say_runs(planned: Plan, price: float | None) -> None:
    from repro.schema.numbers import count, rough_duration

    for entry in planned.runs:
        run = entry.planned.run
        missing = entry.state == "missing"
        seconds = rough_duration(planned.seconds_of(entry)) if missing else "-"
        size = run.training.parameters
        parameters = "" if size is None else f"  {count(size)} parameters"
        say(f"{entry.state:9} {run.key[:12]}  {entry.planned.label}{parameters}  {seconds}")
    todo = len(planned.missing)
    rough = f": {_time(planned, price)}" if todo else ""
    say(f"{len(planned.runs)} runs, {todo} to train or measure{rough}")


LONG = 2 * 86_400.0
"""Seconds on a CPU beyond which a plan says what a GPU would take."""


def _time(planned: Plan, price: float | None) -> str:
    """What all missing runs take of cores, or of GPUs, and what that costs."""
    from repro.schema.numbers import rough_duration, significant

    said = f"very roughly {rough_duration(planned.seconds)} on {_workers(planned)}"
    if planned.gpu:
        hours = significant(planned.worker_hours, 2)
        said += f" ({hours} GPU hours{_share(planned)})"
        without = sum(not planned.taken(each) for each in planned.runs if each.state == "missing")
        said += f"; {without} of the runs take no GPU, and no GPU hours" if without else ""
    elif planned.seconds > LONG and planned.counted:
        said += _on_an_h100(planned)
    if price is not None:
        said += f", for {significant(price * planned.worker_hours, 2)} in all"
    return said


def _share(planned: Plan) -> str:
    """Which part of a GPU's peak is counted with, and how far that may be off."""
    from repro.running.plan import GPUS, MEASURED

    if not planned.counted:
        return ""
    peak = GPUS[planned.gpu].teraflops
    said = f", at {planned.rate / peak / 1e10:.2g} % of {peak:g} TFLOP/s"
    off = f", an estimate from an {MEASURED} that may be 3 times off"
    return said if planned.gpu == MEASURED else said + off


def _on_an_h100(planned: Plan, times: float = 1.0) -> str:
    from repro.schema.numbers import significant

    hours = times * planned.on_gpus("H100").worker_hours
    return f"; {significant(hours, 2)} hours of an H100 (--gpu H100)"


def _workers(planned: Plan) -> str:
    """`8 H100 GPUs`, `2 CPU cores`; `2 workers of 4 CPU cores` where so many were asked for."""
    many, cores = "s" if planned.workers > 1 else "", max(map(planned.taken, planned.runs))
    if planned.gpu:
        kind = "" if planned.gpu == UNNAMED else f"{planned.gpu} "
        return f"{planned.workers} {kind}GPU{many}"
    if planned.asked and cores > 1:
        return f"{planned.workers} worker{many} of {cores} CPU cores"
    return f"{planned.workers} CPU core{many}"


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
    from repro.schema.numbers import chance, number_of, significant

    declared = next(each for each in claim.expectations if each.id == part.expectation)
    each = "task" if kind_of(declared).tasks(declared) else "arm"
    unit = kind_of(declared).replicate(declared, part.seeds) or claim.seeds.called
    units = f"{unit}s per {each}"
    scatter = " and ".join(dict.fromkeys(significant(sd, 2) for sd in part.sd))
    lines = [f"{part.expectation}: {number_of(part.seeds, unit)} per {each}"]
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
    """The rough time of so many seeds of every arm that is trained, from nothing; on GPUs hours."""
    from repro.running.plan import Planned
    from repro.schema.numbers import rough_duration, significant
    from repro.trainers.trainer import cost

    if not claim.trained:
        return "and nothing to train"
    work = tuple(Planned(run, "missing", cost(run).total) for run in claim.runs())
    whole, times = replace(planned, runs=work), seeds / claim.due
    seconds = times * sum(map(whole.share, work))
    said = f"very roughly {rough_duration(seconds)} in all"
    if planned.gpu:
        return f"{said} ({significant(times * whole.worker_hours, 2)} GPU hours)"
    return said + _on_an_h100(whole, times) if seconds > LONG and whole.counted else said


MISTAKES = 2


def check(
    claims: Claims,
    allow_code: AllowCode = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print an array, one object per file.")
    ] = False,
) -> None:
    """Load claim files, and say of each that it is ok, or every mistake. 2: there are mistakes.

    Nothing is read but the claims and their configurations; nothing is judged or trained.
    """
    with problems(json=json):
        from repro.specs.load import check_files

        allowed = consented(claims, allow_code=allow_code)
        checked, others = check_files(claims, allow_code=allowed)
        if json:
            _say_json(checked, others)
        else:
            for each in checked:
                _say(each)
            for problem in others:
                say(str(problem), err=True)
        wrong = [MISTAKES] if others or any(each.problems for each in checked) else []
        if code := gravest([*wrong, *(crash.status for each in checked for crash in each.stopped)]):
            raise typer.Exit(code)


def _say(checked: CheckedFile) -> None:
    if checked.ok:
        later = f"; not there yet: {', '.join(checked.to_come)}" if checked.to_come else ""
        say(f"ok {checked.path}: {checked.id} ({', '.join(checked.scales)}){later}")
    for problem in checked.problems:
        say(str(problem), err=True)
    for stopped in checked.stopped:
        say_stopped(stopped)


def _say_json(checked: tuple[CheckedFile, ...], others: tuple[Problem, ...]) -> None:
    found: list[dict[str, Any]] = [
        {
            "file": str(each.path),
            "ok": each.ok,
            "id": each.id,
            "scales": each.scales,
            "to_come": each.to_come,
            "problems": [
                *map(described, each.problems),
                *(described(Problem(Place(str(each.path)), one.why)) for one in each.stopped),
            ],
        }
        for each in checked
    ]
    found += (
        {
            "file": each.place.file,
            "ok": False,
            "id": "",
            "scales": (),
            "to_come": (),
            "problems": [described(each)],
        }
        for each in others
    )
    say_json(found)


MOST_NUMBERS = 40
FAILED = 5


def trial(
    claim: Annotated[
        Path, typer.Argument(help="A claim file, or the id of one.", show_default=False)
    ],
    arm: Annotated[str, typer.Option(help="Which arm; default the first that is trained.")] = "",
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**32 - 1, help="Which seed; default the first.")
    ] = None,
    scale: Scale = None,
    device: Device = "auto",
    data: Data = None,
    allow_code: AllowCode = False,
    json: Json = False,
) -> None:
    """Run one arm with one seed, and say what is measured of it.

    Nothing is kept, and nothing is judged: it shows whether a claim can be run. 5: the run failed.
    """
    with problems(json=json):
        from repro.workflows.trial import try_run

        allowed = consented([claim], allow_code=allow_code)
        (loaded,) = load([claim], scale, allow_code=allowed)
        found = try_run(loaded, arm, seed, data=data, device=device, allow_code=allowed)
        if json:
            say_json(asdict(found))
        else:
            _say_tried(found, loaded)
        if found.failures or found.undefined:
            raise typer.Exit(FAILED)


def _readable(value: float, digits: int) -> str:
    """With so many digits after the point; three that count where those would be nearly none."""
    from repro.schema import numbers as fmt

    small = 0 < abs(value) < 10.0 ** (1 - digits)
    return fmt.significant(value) if small else f"{value:.{digits}f}"


def _say_tried(found: Tried, claim: Claim) -> None:
    """What came of the run; what is no number, and what failed, on stderr."""
    from repro.results.series import shown

    if found.rows:
        many = f" in {found.rows:,} rows; the last" if found.rows > 1 else ""
        say(f"the program left these numbers{many}:")
    for name, value in list(found.left.items())[:MOST_NUMBERS]:
        say(f"  {shown(name)} = {'not finite' if value is None else f'{value:.6g}'}")
    if len(found.left) > MOST_NUMBERS:
        say(f"  and {len(found.left) - MOST_NUMBERS:,} more")
    if found.diverged:
        say(f"{found.label}: diverged")
    for name, value in found.values.items():
        measurement = claim.measurements[name]
        say(f"{name}: {measurement.label} = {_readable(value, measurement.digits)}")
    for name in found.undefined:
        say(f"{name}: {claim.measurements[name].label} is no number of this run", err=True)
    for why in found.failures:
        say(why, err=True)
