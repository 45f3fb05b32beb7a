"""`repro try`: one run of a claim, of which nothing is kept."""

from __future__ import annotations

from dataclasses import asdict
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

if TYPE_CHECKING:
    from repro.specs.claim import Claim
    from repro.workflows.trial import Tried

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
            _say(found, loaded)
        if found.failures or found.undefined:
            raise typer.Exit(FAILED)


def _readable(value: float, digits: int) -> str:
    """With so many digits after the point; three that count where those would be nearly none."""
    from repro.schema import numbers as fmt

    small = 0 < abs(value) < 10.0 ** (1 - digits)
    return fmt.significant(value) if small else f"{value:.{digits}f}"


def _say(found: Tried, claim: Claim) -> None:
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
