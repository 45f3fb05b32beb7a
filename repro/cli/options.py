"""Options that several commands take, and how a command reports what the user can fix."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from repro.errors import (
    STATUS,
    OutputError,
    Problem,
    ReproError,
    Stopped,
    printable_lines,
    stopped_by,
)

if TYPE_CHECKING:
    from repro.consent import Consent
    from repro.judging.document import Document
    from repro.running.engine import RunOptions
    from repro.specs.claim import Claim, ScaleName
    from repro.store.run_store import RunStore

    Options = TypeVar("Options", bound=RunOptions)

Claims = Annotated[
    list[Path],
    typer.Argument(
        help="Claim files, folders of them, or ids of packaged claims.", show_default=False
    ),
]

Scale = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The scale of the claims; default quick, else what trains nothing, else the first.",
    ),
]

Device = Annotated[
    Literal["auto", "cpu", "cuda"],
    typer.Option(help="Where to train and measure; auto takes a GPU if there is one."),
]

Engine = Annotated[
    str,
    typer.Option(
        metavar="auto|processes|batched|serial|dask|MODULE:CLASS",
        help="How replicates are trained: each alone in one of several processes, several as one "
        "model (batched), one after another (serial); auto is processes on a CPU, batched on a "
        "GPU, and dask is auto on the workers of a dask cluster (extra `dask`).",
    ),
]

Scheduler = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS|FILE",
        help="The scheduler of --engine dask, or the file that it wrote; whoever can reach it can "
        "run code as you. Default: a cluster of processes on this machine.",
        show_default=False,
    ),
]

AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Import and run the code that files and options name, programs and `module:object`; "
        "it has your rights. Given for what lies in the folders of $REPRO_ALLOW_CODE_IN.",
    ),
]

Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="NAME|MODULE:OBJECT",
        help="Write one file more with each report, in a format that an installed package adds, "
        "or that is code of yours (with --allow-code); `github` prints annotations of what changed "
        "or is not as expected.",
        show_default=False,
    ),
]

GITHUB = "github"
"""The format that is printed, for GitHub's runner to read."""

Workers = Annotated[
    int | None,
    typer.Option(
        min=1, max=1024, help="Processes; default one per core, fewer where memory is short."
    ),
]

Store = Annotated[
    Path | None, typer.Option(help="Run store; default $REPRO_STORE, else your data folder.")
]

Data = Annotated[
    Path | None,
    typer.Option(envvar="REPRO_DATA", resolve_path=True, help="Folder of the corpora."),
]

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object; all else goes to stderr.")
]

Force = Annotated[
    bool,
    typer.Option("--force", help="Train designs that could hardly decide; the report says so."),
]

Limit = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        max=1e6,
        metavar="MINUTES",
        help="End a run that takes longer; it has failed, and the next time goes on from its "
        "checkpoint, if it has one. Default: no limit.",
    ),
]

Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Begin no run that by its estimate would not end in this time, as 2h or 90min. One "
        "with checkpoints is ended with it, and goes on the next time. Default: no budget.",
        show_default=False,
    ),
]

Reports = Annotated[Path, typer.Option(help="Where reports are written.")]


@dataclass(frozen=True, slots=True)
class Run:
    """The options of whatever trains or measures runs, as they were given."""

    device: Device = "auto"
    engine: Engine = "auto"
    scheduler: Scheduler = ""
    workers: Workers = None
    store: Store = None
    data: Data = None

    def options(self, kind: type[Options], allow_code: Consent, **more: Any) -> Options:
        """The same for what does it: options of a ``kind``, of which there may be ``more``."""
        return kind(
            store=open_store(self.store),
            data=self.data,
            device=self.device,
            engine=self.engine,
            scheduler=self.scheduler,
            workers=self.workers,
            allow_code=allow_code,
            **more,
        )


def with_options(**groups: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with the options of groups, each in place of the parameter with its name.

    A group is a dataclass, or a tuple of one and of the names of those of its fields that are
    options of this command; the others keep their defaults.
    """
    taken = {}
    for name, group in groups.items():
        kind, *names = group if isinstance(group, tuple) else (group,)
        fields = inspect.signature(kind, eval_str=True).parameters
        taken[name] = kind, [fields[each] for each in names or fields]

    def with_them(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        parts = [taken.get(name, (None, [each]))[1] for name, each in signature.parameters.items()]

        @wraps(command)
        def as_given(**given: Any) -> None:
            made = {
                name: kind(**{each.name: given.pop(each.name) for each in fields})
                for name, (kind, fields) in taken.items()
            }
            command(**made, **given)

        as_given.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[
                each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in parts for each in part
            ]
        )
        return as_given

    return with_them


def given_command() -> str:
    """The command as it was given, for the report."""
    return shlex.join(["repro", *sys.argv[1:]])


def load(
    claims: Sequence[Path],
    scale: ScaleName | None,
    *,
    allow_code: Consent,
    stopped: list[Stopped] | None = None,
) -> tuple[Claim, ...]:
    """The claims that are meant; stderr says which of a folder are passed over for their scale.

    A defect that one of them meets is added to ``stopped``, where that is given.
    """
    from repro.schema.numbers import number_of
    from repro.specs.load import load_claims

    passed_over: list[str] = []
    loaded = load_claims(
        claims, scale, allow_code=allow_code, passed_over=passed_over, stopped=stopped
    )
    if passed_over:
        why = (
            f"without the scale {scale}"
            if scale
            else "that would train at larger scales than quick"
        )
        hint = "" if scale else "; --scale bench or paper takes those that have it"
        names = ", ".join(passed_over)
        say(f"passed over {number_of(len(passed_over), 'claim')} {why}: {names}{hint}", err=True)
    return loaded


def consented(claims: Sequence[Path], *, allow_code: bool) -> Consent:
    """What code may be run: all that is named, by the option, or what lies in trusted folders."""
    from repro.consent import trusted
    from repro.specs.claim_files import claim_files

    return allow_code or trusted(claim_files(claims, []).paths)


def open_store(store: Path | None) -> RunStore:
    from repro.store.run_store import RunStore

    return RunStore(store) if store is not None else RunStore.default()


INTERRUPTED = 130
CLOSED_PIPE = 141


STOPPED = "interrupted; finished runs and epochs are kept. Give the same command to go on."


@contextmanager
def problems(*, json: bool = False) -> Iterator[None]:
    """Turn any error into a message and an exit code; never a traceback.

    What the user cannot fix is a crash: status 70, and what to report. ``json``: what is wrong is
    an object on stdout, too.
    """
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except ReproError as error:
        say(str(error), err=True)
        if json:
            say_wrong(str(error), error.exit_code, error.mistakes)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        typer.echo(STOPPED, err=True)
        if json:
            say_wrong(STOPPED, INTERRUPTED)
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(CLOSED_PIPE) from None
    except Exception as error:  # noqa: BLE001 - a crash is not the status of a verdict
        stopped = stopped_by(error)
        say_stopped(stopped)
        if json:
            say_wrong(stopped.why, stopped.status)
        raise typer.Exit(stopped.status) from None


def say_wrong(why: str, status: int, mistakes: Sequence[Problem] = ()) -> None:
    """What stopped a command, for programs, and every mistake with its place."""
    say_json({"error": why, "status": status, "problems": list(map(described, mistakes))})


def say_json(document: Any) -> None:
    """Print a document on stdout as indented JSON, for programs."""
    typer.echo(dumps(document, indent=2))


def described(problem: Problem) -> dict[str, Any]:
    """A mistake for programs: its place counts from 1, in the file that is wrong, if one is."""
    place = problem.place
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "what": problem.what,
        "expected": problem.expected,
        "to_do": problem.advice,
    }


def say(text: str, *, err: bool = False) -> None:
    """Print text that may quote a claim, a table or a file name, so that it forges no line."""
    typer.echo(printable_lines(text), err=err)


WIDTH = 100
"""Columns of a line that holds several statements."""


def say_read(statements: Iterable[str], *, err: bool = False) -> None:
    """Print what was read of results: short statements in one line, those with a label apart."""
    line, label = "", ""
    for statement in statements:
        named = statement.partition(": ")[0] if ": " in statement else ""
        joined = f"{line}; {statement.removeprefix(f'{named}: ')}"
        if line and named == label and len(joined) <= WIDTH:
            line = joined
            continue
        if line:
            say(line, err=err)
        line, label = f"read: {statement}", named
    if line:
        say(line, err=err)


def annotate(
    documents: Sequence[Document], stopped: Sequence[Stopped] = (), *, err: bool = False
) -> None:
    """Print the annotations of `--format github`, which GitHub's runner reads."""
    from repro.report.markdown import github

    for line in github(documents, stopped):
        typer.echo(line, err=err)


def say_stopped(stopped: Stopped, trace: str = "") -> None:
    """Name on stderr what an error stopped, and what to report of a crash.

    ``trace`` is where the traceback is; REPRO_DEBUG=1 prints it.
    """
    subject = f"{stopped.subject}: " if stopped.subject else ""
    say(f"{subject}{stopped.why}", err=True)
    if stopped.status != STATUS:
        return
    shown = f"the traceback is in {trace}" if trace else "REPRO_DEBUG=1 shows the traceback"
    say(f"  to do: report this line, with the command and its files; {shown}", err=True)
    if os.environ.get("REPRO_DEBUG") == "1":
        say(stopped.trace.rstrip("\n"), err=True)


def append(file: Path | None, text: str) -> None:
    """Add to a file, if one was named, and make its folder; OutputError when that fails."""
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise OutputError(file, error) from None
