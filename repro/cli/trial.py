"""`repro try`: one run of a claim, of which nothing is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repro.cli.options import (
    AllowCode,
    Data,
    Device,
    Json,
    Scale,
    consented,
    load,
    problems,
    say,
    say_json,
)
from repro.errors import ClaimError, DataError

if TYPE_CHECKING:
    from repro.running.engine import RunOptions
    from repro.series import Row
    from repro.specs.claim import Claim
    from repro.trainers.run import PlannedRun

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
        from repro.consent import require_code
        from repro.running.engine import RunOptions
        from repro.store.run_store import RunStore
        from repro.trainers.trainer import code_of

        allowed = consented([claim], allow_code=allow_code)
        (loaded,) = load([claim], scale, allow_code=allowed)
        planned = _planned(loaded, arm, seed)
        places = {each.use: each.arm for each in loaded.arms[_arm_of(loaded, planned)].code}
        require_code(code_of(planned.run.training).values(), allowed, places)
        with tempfile.TemporaryDirectory() as folder:
            store = RunStore(Path(folder) / "store")
            options = RunOptions(store, data, device, workers=1, allow_code=allowed)
            found = _tried(loaded, planned, options)
            if json:
                say_json(asdict(found))
            else:
                _say(found, loaded)
            if found.failures or found.undefined:
                raise typer.Exit(FAILED)


def _planned(claim: Claim, arm: str, seed: int | None) -> PlannedRun:
    """The run that is meant; ClaimError for an arm that is not trained."""
    if not claim.trained or (arm and arm not in claim.trained):
        trained = ", ".join(claim.trained) or "none"
        raise ClaimError(
            f"{claim.file}: {f'arm {arm!r} is not' if arm else 'no arm is'} trained here\n"
            f"  expected: an arm that is: {trained}\n  to do: name another arm, or another claim"
        )
    name = arm or claim.trained[0]
    run = claim.run(name, claim.numbers(name)[0] if seed is None else seed)
    return next(each for each in claim.runs() if each.run.training == run.training).model_copy(
        update={"run": run, "label": f"{claim.arms[name].label}, seed {run.replicate}"}
    )


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one run: what its program left, and what was measured of it.

    ``left`` are the last numbers by name, None for one that is not finite, in ``rows`` rows;
    ``undefined`` are measurements that are no number of this run.
    """

    label: str
    rows: int
    left: dict[str, float | None]
    values: dict[str, float] = field(default_factory=dict)
    undefined: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    diverged: bool = False


def _tried(claim: Claim, planned: PlannedRun, options: RunOptions) -> Tried:
    """Run it, and see what came of it."""
    from repro.running.execute import execute_with
    from repro.running.preflight import require
    from repro.trainers.derived import with_derived

    require([planned], options)
    with _placed(claim, planned, options):
        done, failed = execute_with(options, [planned])
        if any(each.error in {"ReadingError", "NotKeptError"} for each in done.failed):
            raise DataError(done.failed[0].message)
    key, store = planned.run.key, options.store
    committed, label = store.committed(key), planned.label
    rows = _left(planned, options) if store.state(key) == "finished" else []
    names = sorted({name for row in rows for name in row})
    left = {name: next(row[name] for row in reversed(rows) if name in row) for name in names}
    if key in done.diverged:
        return Tried(label, len(rows), left, diverged=True)
    taken = claim.taken_of(_arm_of(claim, planned)) if committed else {}
    measured = {name: store.measurement(key, each) for name, each in taken.items()}
    values = {
        name: found.value
        for name, found in measured.items()
        if found is not None and found.value is not None
    }
    known, undefined = with_derived(values, claim.measurements)
    return Tried(label, len(rows), left, known, undefined, failed)


@contextmanager
def _placed(claim: Claim, planned: PlannedRun, options: RunOptions) -> Iterator[None]:
    """DataError for a number that the program did not leave so, at the place of its measurement."""
    try:
        yield
    except DataError:
        finished = options.store.state(planned.run.key) == "finished"
        rows = _left(planned, options) if finished else []
        if told := list(_not_taken(claim, _arm_of(claim, planned), rows)):
            raise DataError("\n".join(told)) from None
        raise


def _not_taken(claim: Claim, arm: str, rows: Sequence[Row]) -> Iterator[str]:
    """What is wrong with each number that a claim asks of a program that left these rows."""
    from repro.schema.yaml import read_document
    from repro.series import chosen
    from repro.trainers.measurement import Reported

    for name, measurement in claim.taken_of(arm).items():
        if not (rows and isinstance(measurement, Reported)):
            continue
        try:
            chosen(rows, measurement.from_ or "", measurement.reduce)
        except DataError as error:
            place = read_document(Path(claim.file)).key_place(("measurements", name))
            yield f"{place}: measurements.{name}: {error}"


def _arm_of(claim: Claim, planned: PlannedRun) -> str:
    return next(arm for arm in claim.trained if claim.run(arm, 0).training == planned.run.training)


def _left(planned: PlannedRun, options: RunOptions) -> list[Row]:
    """The numbers that a program left, under the names by which `from` asks for them."""
    if planned.run.training.built_in != "command":
        return []
    from repro.trainers.command.trainer import LeftByProgram

    return list(LeftByProgram(options.store.files(planned.run.key)).rows)


def _readable(value: float, digits: int) -> str:
    """With so many digits after the point; three that count where those would be nearly none."""
    from repro.schema import numbers as fmt

    small = 0 < abs(value) < 10.0 ** (1 - digits)
    return fmt.significant(value) if small else f"{value:.{digits}f}"


def _say(found: Tried, claim: Claim) -> None:
    """What came of the run; what is no number, and what failed, on stderr."""
    from repro.series import shown

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
