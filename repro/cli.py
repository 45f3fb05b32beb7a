"""The command line: each command parses, calls one function, prints, and exits.

Results go to stdout, progress and problems to stderr. Heavy packages are imported inside the
commands, so that `repro --help` is quick.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repro.errors import OutputError, ReproError

if TYPE_CHECKING:
    from repro.store import RunStore
    from repro.verify import Verified

app = typer.Typer(
    name="repro",
    help="Statistical reproducibility reports for machine-learning claims.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130
CLOSED_PIPE = 141


class ScaleChoice(StrEnum):
    """How large a claim is run."""

    quick = "quick"
    bench = "bench"
    paper = "paper"


class DeviceChoice(StrEnum):
    """Where models are trained."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


class SchemaChoice(StrEnum):
    """The documents that have a published schema."""

    claim = "claim"
    configuration = "configuration"
    report = "report"


Claims = Annotated[
    list[Path], typer.Argument(help="Claim files, or folders of them.", show_default=False)
]
Scale = Annotated[ScaleChoice, typer.Option(help="How large to run the claims.")]
Device = Annotated[DeviceChoice, typer.Option(help="Where to train; auto takes a GPU if any.")]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, max=1024, help="Processes; default one a core, fewer where memory is short."
    ),
]
Store = Annotated[
    Path | None, typer.Option(help="Run store; default $REPRO_STORE, else your data folder.")
]
Data = Annotated[Path | None, typer.Option(envvar="REPRO_DATA", help="Folder of the corpora.")]


@app.command()
def verify(
    claims: Claims,
    scale: Scale = ScaleChoice.quick,
    reports: Annotated[Path, typer.Option(help="Where reports are written.")] = Path("reports"),
    device: Device = DeviceChoice.auto,
    workers: Workers = None,
    store: Store = None,
    data: Data = None,
    train: Annotated[
        bool, typer.Option("--train/--no-train", help="Train what the store lacks, or never.")
    ] = True,
    summary: Annotated[
        Path | None, typer.Option(help="Append a Markdown table of verdicts to this file.")
    ] = None,
) -> None:
    """Train what is missing, judge the claims, and write their reports."""
    with _problems():
        from repro.specs.load import load_claims
        from repro.verify import Options, verify_claims

        loaded = load_claims(claims, scale.value)
        _append(summary, "")
        command = shlex.join(["repro", *sys.argv[1:]])
        place = data.resolve() if data is not None else None
        options = Options(
            _store(store), reports, place, device.value, workers, train=train, command=command
        )
        verified = verify_claims(loaded, options)
        for failure in verified.failures:
            typer.echo(f"failed: {failure}", err=True)
        code = _report_verdicts(verified, reports, summary)
    raise typer.Exit(code)


@app.command()
def plan(
    claims: Claims,
    scale: Scale = ScaleChoice.quick,
    workers: Workers = None,
    store: Store = None,
) -> None:
    """Say what would be trained and roughly how long it would take. Trains nothing."""
    with _problems():
        from repro.plan import plan_runs
        from repro.report.format import count, duration
        from repro.specs.load import load_claims

        loaded = load_claims(claims, scale.value)
        planned = plan_runs(loaded, _store(store), workers=workers)
        for one in planned.runs:
            seconds = duration(one.work / planned.rate) if one.state == "missing" else "-"
            parameters = count(one.planned.run.training.parameters)
            key = one.planned.run.key[:12]
            typer.echo(f"{one.state:9} {key}  {one.label}  {parameters} parameters  {seconds}")
        missing = len(planned.missing)
        rough = f": very roughly {duration(planned.seconds)} on {planned.workers} CPU cores"
        typer.echo(
            f"{len(planned.runs)} runs, {missing} to train or measure{rough if missing else ''}"
        )


@app.command()
def report(
    document: Annotated[
        Path, typer.Argument(help="A report.json, or its folder.", show_default=False)
    ],
    to: Annotated[
        Path | None, typer.Option(help="Folder to write to; default the document's own.")
    ] = None,
) -> None:
    """Render a report again from its report.json; nothing is judged or trained."""
    with _problems():
        from repro.report.write import read_document, write_report

        file = document / "report.json" if document.is_dir() else document
        for path in write_report(read_document(file), to or file.parent):
            typer.echo(path)


@app.command()
def schema(
    which: Annotated[SchemaChoice, typer.Argument(help="Which document.")] = SchemaChoice.claim,
) -> None:
    """Print the JSON Schema of a claim, a configuration or a report."""
    if which is SchemaChoice.report:
        from repro.report.write import document_schema

        typer.echo(document_schema(), nl=False)
    else:
        from repro.specs.schema import schema_text

        typer.echo(schema_text(which.value), nl=False)


@app.command()
def doctor(store: Store = None, data: Data = None) -> None:
    """Say what this machine has, and what is missing."""
    with _problems():
        from repro.doctor import examine

        problems = 0
        for finding in examine(_store_place(store), data):
            problems += finding.state == "problem"
            typer.echo(f"{finding.state:8} {finding.what}")
            if finding.advice:
                typer.echo(f"         to do: {finding.advice}")
    raise typer.Exit(5 if problems else 0)


def main() -> None:
    """The entry point of `repro` and `python -m repro`."""
    signal.signal(signal.SIGTERM, _interrupt)
    app()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def _problems() -> Iterator[None]:
    """Turn what the user can mend into a message and an exit code; never a traceback."""
    try:
        yield
    except ReproError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        typer.echo(
            "interrupted; finished runs and epochs are kept. Give the same command to go on.",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(CLOSED_PIPE) from None
    except OSError as error:
        typer.echo(f"{error.filename or 'a file'}: {error.strerror or error}", err=True)
        raise typer.Exit(5) from None


def _store_place(store: Path | None) -> Path:
    from repro.store import RunStore

    return store if store is not None else RunStore.default().root


def _store(store: Path | None) -> RunStore:
    from repro.store import RunStore

    return RunStore(store) if store is not None else RunStore.default()


def _report_verdicts(verified: Verified, reports: Path, summary: Path | None) -> int:
    """Print one line a claim and where its report is; return the exit code."""
    from repro.check import verdict_of
    from repro.report.markdown import summary as markdown
    from repro.verdict import exit_code

    for document in verified.documents:
        verdict, claim, scale = document.verdict, document.claim.id, document.scale.name
        word = verdict.conclusion or "no conclusion"
        flags = f", fragile: {', '.join(f.kind for f in verdict.flags)}" if verdict.flags else ""
        typer.echo(f"{claim} ({scale}): {verdict.validity}, {word}{flags}")
        typer.echo(f"  {verdict.sentence}")
        typer.echo(f"  {reports / claim / scale / 'report.html'}")
    lost = f", {verified.missing} missing" if verified.missing else ""
    typer.echo(f"{verified.trained} runs trained or measured, {verified.reused} as they were{lost}")
    _append(summary, markdown(verified.documents))
    return exit_code(
        [verdict_of(one) for one in verified.documents], infrastructure=bool(verified.failures)
    )


def _append(file: Path | None, text: str) -> None:
    """Add to a file, if one was named; OutputError when it cannot be written."""
    if file is None:
        return
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise OutputError(file, error) from None
