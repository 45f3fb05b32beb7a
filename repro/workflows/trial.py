"""One run of a claim, of which nothing is kept: plan it, run it, read what it left.

What a program left that `from` cannot find is said at the place of its measurement.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from repro.consent import Consent, require_code
from repro.errors import ClaimError, DataError
from repro.results.series import Row, chosen
from repro.running.engine import RunOptions
from repro.running.execute import execute_with
from repro.running.preflight import require
from repro.schema.yaml import read_document
from repro.store.run_store import RunStore
from repro.trainers.command.trainer import LeftByProgram
from repro.trainers.derived import with_derived
from repro.trainers.measurement import Reported
from repro.trainers.trainer import code_of

if TYPE_CHECKING:
    from repro.specs.claim import Claim
    from repro.trainers.run import PlannedRun


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


def try_run(
    claim: Claim,
    arm: str = "",
    seed: int | None = None,
    *,
    data: Path | None = None,
    device: str = "auto",
    allow_code: Consent = False,
) -> Tried:
    """Run one seed of an arm, by default the first of the first trained arm, and keep nothing.

    Raises ClaimError for an arm that is not trained, CodeError for code without consent, DataError
    for a number that the program did not leave as the claim asks for it.
    """
    planned = _planned(claim, arm, seed)
    places = {each.use: each.arm for each in claim.arms[_arm_of(claim, planned)].code}
    require_code(code_of(planned.run.training).values(), allow_code, places)
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder) / "store")
        return _tried(
            claim, planned, RunOptions(store, data, device, workers=1, allow_code=allow_code)
        )


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


def _tried(claim: Claim, planned: PlannedRun, options: RunOptions) -> Tried:
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
    if not planned.run.training.leaves_numbers:
        return []
    return list(LeftByProgram(options.store.files(planned.run.key)).rows)
