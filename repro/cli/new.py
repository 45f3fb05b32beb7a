"""`repro new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from repro.cli.compare import Baseline, Field, Measure, SeedField
from repro.cli.options import problems, say

Results = Annotated[
    Path | None,
    typer.Option("--from", help="Results that are there: the claim is about such results."),
]

Command = Annotated[
    str,
    typer.Option(help="A program to be run over seeds, as in 'python train.py --seed {seed}'."),
]

Better = Annotated[
    Literal["lower", "higher"] | None,
    typer.Option(help="Which values are better; needed with --from and --command."),
]


def new(
    results: Results = None,
    command: Command = "",
    better: Better = None,
    by: Annotated[
        float | None,
        typer.Option(min=1e-60, help="The smallest difference that would matter, in its units."),
    ] = None,
    why: Annotated[str, typer.Option(help="Why that much.")] = "",
    own: Annotated[str, typer.Option(help="Why you claim it.")] = "",
    baseline: Baseline = "",
    measure: Measure = "",
    arm: Field = "",
    seed: SeedField = "",
    out: Annotated[Path, typer.Option(help="Folder to which the claim is written.")] = Path(),
) -> None:
    """Write a claim file to be filled in: from results, from a command, or from questions.

    What is left to fill in is said with its line. Nothing is run or judged.
    """
    with problems():
        from repro.drafting.found_results import Hints
        from repro.drafting.new import NewClaim, asked_for, write_claim
        from repro.errors import ClaimError

        if results is None and not command:
            claim = asked_for(lambda question: typer.prompt(question, default="", err=True))
        elif better is None:
            raise ClaimError(
                "nothing says which values are better\n  expected: --better higher or lower\n"
                "  to do: add it"
            )
        else:
            hints = Hints(arm, seed, measure)
            claim = NewClaim(better, results, command, measure, baseline, by, why, own, hints, out)
        written = write_claim(claim)
        for line in written.said:
            say(f"read: {line}")
        for file in written.files:
            say(f"wrote {file}")
        for problem in written.open:
            say(f"to fill in: {problem}")
