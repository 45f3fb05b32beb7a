"""What the user can mend, as messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from repro.crash import STATUS, Stopped, stopped_by
from repro.errors import OutputError, ReproError
from repro.terminal import printable_lines

INTERRUPTED = 130
CLOSED_PIPE = 141


@contextmanager
def problems() -> Iterator[None]:
    """Turn any error into a message and an exit code; never a traceback.

    What the user cannot mend is a crash: status 70, and what to report.
    """
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except ReproError as error:
        say(str(error), err=True)
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
    except Exception as error:  # noqa: BLE001 - a crash is not the status of a verdict
        stopped = stopped_by(error)
        say_stopped(stopped)
        raise typer.Exit(stopped.status) from None


def say(text: str, *, err: bool = False) -> None:
    """Print text that may quote a claim, a table or a file name, so that it forges no line."""
    typer.echo(printable_lines(text), err=err)


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
