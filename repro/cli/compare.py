"""`repro compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from repro.cli.options import (
    AllowCode,
    Reports,
    annotate,
    given_command,
    open_store,
    problems,
    say,
    say_stopped,
)
from repro.cli.verify import AsJson, end_with, tell_verdicts

if TYPE_CHECKING:
    from repro.workflows.compare import ComparedResults

ResultsPath = Annotated[
    Path,
    typer.Argument(
        help="A CSV, TSV, JSON or JSON lines; a folder with a file per run: JSON, CSV, or logs "
        "with `name: value` in them; or what a tracker wrote: mlflow.db, mlruns, wandb, a folder "
        "of TensorBoard, a database of Trackio, a CSV that W&B exported, a folder with logs of "
        "inspect or results of lm-eval.",
        show_default=False,
    ),
]

Field = Annotated[str, typer.Option(metavar="FIELD", help="The field that tells the arms apart.")]

SeedField = Annotated[str, typer.Option(metavar="FIELD", help="The field of the seed.")]

TaskName = Annotated[
    str, typer.Option(metavar="NAME", help="Of runs of several tasks, those of this one.")
]

TaskField = Annotated[
    str, typer.Option(metavar="FIELD", help="The field that says on which task a run was made.")
]

UnitField = Annotated[
    str,
    typer.Option(
        metavar="FIELD", help="The field of the run, where rows are evaluations: they are averaged."
    ),
]

ReaderName = Annotated[
    str,
    typer.Option(
        metavar="NAME|MODULE:OBJECT",
        help="What reads the results, as `from` of an import names it: mlflow, wandb ..., or a "
        "class of yours (with --allow-code). Default: whatever recognises them.",
        show_default=False,
    ),
]

Measure = Annotated[str, typer.Option(metavar="NAME", help="The number to compare.")]

Baseline = Annotated[
    str, typer.Option(metavar="ARM", help="The arm that the others are compared with.")
]

Smallest = Annotated[
    float | None,
    typer.Option(
        min=1e-60,
        max=1e60,
        help="The smallest difference that would matter, in the units of the number.",
    ),
]

ClaimFolder = Annotated[Path, typer.Option(help="Folder to which the claim is written.")]

OneFormat = Annotated[
    Literal["github"] | None,
    typer.Option(help="Print annotations of what changed or is not as expected."),
]

Better = Annotated[
    Literal["higher", "lower"],
    typer.Option(help="Which numbers are better.", show_default=False),
]


def compare(
    results: ResultsPath,
    better: Better,
    by: Smallest = None,
    baseline: Baseline = "",
    measure: Measure = "",
    arm: Field = "",
    seed: SeedField = "",
    task: TaskName = "",
    task_field: TaskField = "",
    unit: UnitField = "",
    reader: ReaderName = "",
    out: ClaimFolder = Path(),
    reports: Reports = Path("reports"),
    allow_code: AllowCode = False,
    format: OneFormat = None,  # noqa: A002 - the name of the option
    json: AsJson = False,
) -> None:
    """Judge results that are there: is an arm better than the baseline?

    What no option says is guessed, and every guess is printed: the form, the arms, the number.
    The claim is written to a file, to be declared before the next results; about these results
    its verdict is exploratory.
    """
    with problems(json=json):
        from repro.consent import trusted
        from repro.results.run_fields import Hints
        from repro.workflows.compare import CompareOptions
        from repro.workflows.compare import compare as compared

        comparison = CompareOptions(
            results=results,
            better=better,
            by=by,
            baseline=baseline,
            hints=Hints(arm, seed, measure, task, task_field, unit, reader),
            out=out,
            reports=reports,
            command=given_command(),
            allow_code=allow_code or trusted([out, results]),
        )
        found = compared(comparison, open_store(None))
        if format is not None:
            annotate(found.verified.documents, found.verified.stopped, err=json)
        raise typer.Exit(_say(found, reports, json=json))


def _say(compared: ComparedResults, reports: Path, *, json: bool) -> int:
    """What was guessed, the verdicts, and that they are exploratory; the exit code."""
    from repro.report.write import documents_text

    for line in compared.said:
        say(f"read: {line}", err=json)
    verified = compared.verified
    for stopped in verified.stopped:
        say_stopped(stopped)
    tell_verdicts(verified, reports, err=json)
    for file in compared.claims:
        say(f"the claim, to be declared before the next results: {file}", err=json)
    if json:
        typer.echo(documents_text(verified.documents, several=len(compared.claims) > 1), nl=False)
    return end_with(verified, err=json)
