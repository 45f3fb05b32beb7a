"""`repro compare` and `repro noise`: results that no claim speaks of yet."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from repro.cli.options import (
    AllowCode,
    Json,
    Reports,
    annotate,
    given_command,
    open_store,
    problems,
    say,
    say_json,
    say_read,
    say_stopped,
    with_options,
)
from repro.cli.verify import AsJson, end_with, tell_verdicts
from repro.errors import ClaimError

if TYPE_CHECKING:
    from repro.results.run_fields import Hints
    from repro.workflows.compare import ComparedResults

ResultsPath = Annotated[
    Path,
    typer.Argument(
        help="A CSV, TSV, JSON or JSON lines; a folder with a file per run: JSON, CSV, or logs "
        "with `name: value` in them; or what a tracker wrote: mlflow.db, mlruns, wandb, a folder "
        "of TensorBoard, a database of Trackio, a CSV that W&B exported, a folder with logs of "
        "inspect or results of lm-eval. A pattern such as 'FOLDER/seed*.log' names the logs "
        "of a record.",
        show_default=False,
    ),
]

Field = Annotated[str, typer.Option(metavar="FIELD", help="The field that tells the arms apart.")]

SeedField = Annotated[str, typer.Option(metavar="FIELD", help="The field of the seed.")]

TaskName = Annotated[
    str, typer.Option(metavar="NAME", help="Compare the runs of this task alone, of several.")
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
    Literal["lower", "higher"] | None,
    typer.Option(help="Which numbers are better; not needed with a limit.", show_default=False),
]

Limit = Annotated[
    float | None,
    typer.Option(
        min=-1e60,
        max=1e60,
        help="Hold the mean of each arm against this, and no arm against another.",
    ),
]

KnownSd = Annotated[
    float | None,
    typer.Option(
        min=1e-60, max=1e60, help="A standard deviation that is known beforehand, with --why."
    ),
]

Why = Annotated[
    str, typer.Option(help="The reason of the limit, of --sd, or of --by, for the claim.")
]

Against = Annotated[
    Path | None,
    typer.Option(help="Results of the baseline, where they lie elsewhere; --by is the margin."),
]

Within = Annotated[
    str | None,
    typer.Option(
        metavar="PATH|'MEAN ± SD, n=N'",
        help="Runs of a reference, or what a paper prints of them: is a new run like those? "
        "--better says which side is bad, --by which shift would matter.",
    ),
]

Items = Annotated[
    str,
    typer.Option(
        metavar="FIELD", help="Rows are items, such as questions: the field that names each."
    ),
]

Clusters = Annotated[
    str, typer.Option(metavar="FIELD", help="The field of the group that an item is of.")
]

Step = Annotated[
    int | None,
    typer.Option(
        min=0, help="The step whose value counts: of the logs of a record, or of a table."
    ),
]

Alpha = Annotated[
    float | None, typer.Option(min=1e-9, max=0.49, help="The level of the test; 0.05 without it.")
]

Paired = Annotated[
    bool, typer.Option("--paired", help="Runs with one seed share their randomness.")
]

AsMarkdown = Annotated[
    bool, typer.Option("--markdown", help="Print the verdict as Markdown, to be pasted.")
]

AsLatex = Annotated[
    bool, typer.Option("--latex", help="Print a table of means and intervals, to be pasted.")
]

BaselineRuns = Annotated[
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


TestToTrain = Annotated[
    float | None,
    typer.Option(
        min=1e-6, max=100, help="The size of a test set over its training set, of folds or splits."
    ),
]


@dataclass(frozen=True, slots=True)
class Fields:
    """What is said of the fields of results, where it is not to be guessed."""

    measure: Measure = ""
    arm: Field = ""
    seed: SeedField = ""
    task: TaskName = ""
    task_field: TaskField = ""
    unit: UnitField = ""
    items: Items = ""
    clusters: Clusters = ""
    step: Step = None
    test_to_train: TestToTrain = None
    reader: ReaderName = ""

    def hints(self) -> Hints:
        """The same for what reads the results, but for the step."""
        from repro.results.run_fields import Hints

        return Hints(
            self.arm, self.seed, self.measure, self.task, self.task_field, self.unit, self.reader,
            items=self.items, clusters=self.clusters, test_to_train=self.test_to_train,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparing:
    """What is asked of results: better than what, by how much, within which limit."""

    better: Better = None
    by: Smallest = None
    baseline: Baseline = ""
    against: Against = None
    within: Within = None
    at_most: Limit = None
    at_least: Limit = None
    sd: KnownSd = None
    why: Why = ""
    alpha: Alpha = None
    paired: Paired = False

    def refuse_nothing(self) -> None:
        """A mistake of usage where no option says what is asked."""
        if all(each is None for each in (self.better, self.at_most, self.at_least, self.within)):
            hint, needed = "--better", "needed, unless there is --at-most, --at-least or --within"
            raise typer.BadParameter(needed, param_hint=hint)

    def options(self) -> dict[str, Any]:
        """The same for what compares; ClaimError for options of a limit that do not fit."""
        from repro.workflows.compare import level_of, reference_of

        if not 8 <= len(self.why or "the default") <= 600:
            advice = "to do: give the reason in 8 to 600 characters"
            raise ClaimError(f"--why '{self.why[:40]}' is too short or too long\n  {advice}")
        same = ("better", "by", "baseline", "against", "why", "alpha", "paired")
        level = level_of(self.at_most, self.at_least, self.sd, self.why)
        within = None if self.within is None else reference_of(self.within)
        return {"level": level, "within": within, **{name: getattr(self, name) for name in same}}


@with_options(asked=Comparing, fields=Fields)
def compare(
    results: ResultsPath,
    *,
    asked: Comparing,
    fields: Fields,
    out: ClaimFolder = Path(),
    reports: Reports = Path("reports"),
    allow_code: AllowCode = False,
    format: OneFormat = None,  # noqa: A002 - the name of the option
    markdown: AsMarkdown = False,
    latex: AsLatex = False,
    json: AsJson = False,
) -> None:
    """Judge results that are there: is an arm better than the baseline, or within a limit?

    What no option says is guessed, and every guess is printed: the form, the arms, the number.
    The claim is written to a file, to be declared before the next results; about these results
    its verdict is exploratory.
    """
    asked.refuse_nothing()
    with problems(json=json):
        from repro.consent import trusted
        from repro.workflows.compare import CompareOptions
        from repro.workflows.compare import compare as compared

        comparison = CompareOptions(
            results=results, hints=fields.hints(), step=fields.step, out=out, reports=reports,
            command=given_command(), allow_code=allow_code or trusted([out, results]),
            **asked.options(),
        )  # fmt: skip
        found = compared(comparison, open_store(None))
        if format is not None:
            annotate(found.verified.documents, found.verified.stopped, err=json)
        status = _say(found, reports, err=json or markdown or latex)
        _print(found, markdown=markdown, latex=latex, json=json)
        raise typer.Exit(status)


def _say(compared: ComparedResults, reports: Path, *, err: bool) -> int:
    """What was guessed, the verdicts, and that they are exploratory; the exit code."""
    say_read(compared.said, err=err)
    verified = compared.verified
    for stopped in verified.stopped:
        say_stopped(stopped)
    tell_verdicts(verified, reports, err=err)
    for note in compared.notes:
        say(note, err=err)
    if compared.claims:
        first, *others = compared.claims
        one, rest = ("claims", f" and {len(others)} more") if others else ("claim", "")
        say(f"the {one}, to be declared before the next results: {first}{rest}", err=err)
    return end_with(verified, err=err)


def _print(compared: ComparedResults, *, markdown: bool, latex: bool, json: bool) -> None:
    """The verdicts in the forms that were asked for."""
    from repro.report import to_paste
    from repro.report.write import documents_text
    from repro.workflows.compare import intervals

    documents = compared.verified.documents
    if markdown:
        notes = (*compared.read, *compared.notes)
        words = [word for word in sys.argv[1:] if word not in {"--markdown", "--latex", "--json"}]
        again = shlex.join(["repro", *words])
        blocks = (to_paste.markdown(each, intervals(each), notes, again) for each in documents)
        typer.echo("\n".join(blocks), nl=False)
    if latex:
        typer.echo(to_paste.latex(documents, [*map(intervals, documents)]), nl=False)
    if json:
        typer.echo(documents_text(documents, several=len(compared.claims) > 1), nl=False)


@with_options(fields=(Fields, "measure", "arm", "seed", "unit", "step"))
def noise(
    baseline: BaselineRuns,
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
        say_read(found.read, err=json)
        for line in told(found):
            say(line, err=json)
        if json:
            say_json(as_json(found))
