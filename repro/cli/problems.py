"""What the user can mend, as messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from repro.errors import OutputError, ReproError

INTERRUPTED = 130
CLOSED_PIPE = 141


@contextmanager
def problems() -> Iterator[None]:
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
