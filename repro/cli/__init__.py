"""The command line: each command parses, calls one function, prints, and exits.

Results go to stdout, progress and problems to stderr. Heavy packages are imported inside the
commands, so that `repro --help` is quick; help and mistakes are plain text, since to import rich
takes as long as all of that.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from repro.cli.commands import audit, corpus, diff, doctor, history, report, runs, schema
from repro.cli.compare import compare, noise
from repro.cli.measure import measure, tune
from repro.cli.new import new
from repro.cli.options import say_stopped, say_wrong
from repro.cli.plan import check, plan, trial
from repro.cli.rank import rank, similarity
from repro.cli.verify import gate, verify
from repro.errors import Place, Problem, stopped_by
from repro.machine import package_version

UsageError: type[Exception] = typer.BadParameter.__base__ or Exception
"""What typer raises for an unknown option, a missing argument, or a wrong choice."""

WHOLE = 1000
"""More characters than the first sentence of any command has."""


class CommandGroup(TyperGroup):
    """The commands; with `--json`, a mistake in their arguments is an object on stdout, too."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        with _mistakes_as_json():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        with _mistakes_as_json():
            return super().invoke(ctx)

    def format_commands(self, _: Any, formatter: Any) -> None:
        """Each command with its whole sentence, which others cut at the width of the terminal."""
        rows = [(name, one.get_short_help_str(WHOLE)) for name, one in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@contextmanager
def _mistakes_as_json() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        if "--json" in sys.argv[1:]:
            _say_usage(error)
        raise


def _say_usage(error: Any) -> None:
    """What is wrong with the arguments, and where it is said which there are."""
    what = " ".join(error.format_message().split()) or str(error)
    context = getattr(error, "ctx", None)
    advice = f"{context.command_path} --help lists what there is" if context else "repro --help"
    say_wrong(what, error.exit_code, [Problem(Place(""), what, advice=advice)])


app = typer.Typer(
    name="repro",
    cls=CommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"repro {package_version('repro-verdict')}")
        raise typer.Exit


@app.callback()
def options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Statistical reproducibility reports for machine-learning claims."""


COMMANDS = (
    verify,
    compare,
    noise,
    new,
    check,
    gate,
    plan,
    measure,
    tune,
    audit,
    rank,
    similarity,
    report,
    history,
    diff,
    schema,
    corpus,
    doctor,
)

for command in COMMANDS:
    app.command()(command)


app.command("try")(trial)
app.add_typer(runs)


def main() -> None:
    """The entry point of `repro` and `python -m repro`."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        app()
    except Exception as error:  # noqa: BLE001 - what escapes a command is a crash as well
        stopped = stopped_by(error)
        say_stopped(stopped)
        sys.exit(stopped.status)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
