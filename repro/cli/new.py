"""`repro new`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from repro.cli.compare import Baseline, ClaimFolder, Fields, Smallest
from repro.cli.options import Json, described, problems, say, say_json, say_read, with_options

if TYPE_CHECKING:
    from repro.drafting.new import Written

Results = Annotated[
    Path | None,
    typer.Option("--from", help="Results that are there: the claim is about such results."),
]

Command = Annotated[
    str,
    typer.Option(help="A program to be run over seeds, as in 'python train.py --seed {seed}'."),
]

Left = Annotated[
    str,
    typer.Option(
        "--results",
        metavar="FILE",
        help="Where the program leaves its numbers, as in '{out}/all_results.json' or "
        "'{out}/logs/metrics.csv'; stdout: what it prints; with --command.",
    ),
]

Unseeded = Annotated[
    bool,
    typer.Option(
        "--unseeded",
        help="The program takes no seed: its runs differ by chance alone; with --command.",
    ),
]

RunOnce = Annotated[
    bool,
    typer.Option(
        "--try",
        help="Run the command once, with your rights, and read the numbers from where it leaves "
        "them; with --command.",
    ),
]

Better = Annotated[
    Literal["lower", "higher"] | None,
    typer.Option(help="Which values are better; needed with --from and --command."),
]

ForGate = Annotated[
    bool,
    typer.Option(
        "--gate",
        help="Write it for repro gate, which adds seeds until they decide; with --command.",
    ),
]


@with_options(fields=(Fields, "measure", "arm", "seed", "task", "task_field", "unit"))
def new(
    results: Results = None,
    command: Command = "",
    left: Left = "",
    better: Better = None,
    by: Smallest = None,
    why: Annotated[str, typer.Option(help="Why that much.")] = "",
    own: Annotated[str, typer.Option(help="Why you claim it.")] = "",
    baseline: Baseline = "",
    *,
    fields: Fields,
    out: ClaimFolder = Path(),
    gate: ForGate = False,
    unseeded: Unseeded = False,
    run_once: RunOnce = False,
    json: Json = False,
) -> None:
    """Write a claim file to be filled in: from results, from a command, or from questions.

    What is left to fill in is printed with its line. Nothing is judged, and nothing run unless
    --try asks for it.
    """
    with problems(json=json):
        from repro.drafting.new import NewClaim, asked_for, write_claim

        given = NewClaim(
            better, results, command, fields.measure, baseline, by, why, own, fields.hints(), out,
            gate, left, unseeded, run_once,
        )  # fmt: skip
        if results is None and not command:
            given = asked_for(lambda asked: typer.prompt(asked, default="", err=True), given)
        _say(write_claim(given), given.results, json=json)


def _say(written: Written, results: Path | None, *, json: bool) -> None:
    """What was guessed and written, and what is left to do."""
    say_read(written.said, err=json)
    for file in written.files:
        say(f"wrote {file}", err=json)
    for problem in written.open:
        say(f"to fill in: {problem}", err=json)
    if results is not None:
        seen = f"a verdict on {results} is exploratory"
        declared = "say in `own` why you claim it, and put new results in their place"
        say(f"{seen}: to declare the claim, {declared}", err=json)
    if json:
        files = [*map(str, written.files)]
        to_fill_in = [*map(described, written.open)]
        say_json({"files": files, "read": list(written.said), "to_fill_in": to_fill_in})
