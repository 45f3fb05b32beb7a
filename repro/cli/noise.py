"""`repro noise`: what luck alone does between runs of one baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repro.cli.compare import Alpha, Better, Fields
from repro.cli.options import Json, problems, say, say_json, with_options

Baseline = Annotated[
    Path,
    typer.Argument(
        help="Runs of one baseline, which differ in their seed: any form that compare reads, or a "
        "folder with a log for each run.",
        show_default=False,
    ),
]

Loop = Annotated[
    Path | None,
    typer.Option(
        "--log",
        help="The log of a research loop, a row per experiment; with --better.",
        show_default=False,
    ),
]

Find = Annotated[
    float | None,
    typer.Option(min=1e-60, max=1e60, help="The size that is to be found; one sd without it."),
]


@with_options(fields=(Fields, "measure", "arm", "seed", "unit", "step"))
def noise(
    baseline: Baseline,
    find: Find = None,
    log: Loop = None,
    better: Better = None,
    alpha: Alpha = None,
    *,
    fields: Fields,
    json: Json = False,
) -> None:
    """Say which differences luck explains, from runs of one baseline.

    With the log of a research loop: how many of its experiments luck alone would keep, and which
    gain more than luck gives.
    """
    with problems(json=json):
        from repro.workflows.luck import NoiseOptions, as_json, told
        from repro.workflows.luck import noise as found_in

        hints, step = fields.hints(), fields.step
        found = found_in(NoiseOptions(baseline, hints, find, log, better, alpha or 0.05, step))
        for line in found.read:
            say(f"read: {line}", err=json)
        for line in told(found):
            say(line, err=json)
        if json:
            say_json(as_json(found))
