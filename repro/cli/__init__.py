"""The command line: each command parses, calls one function, prints, and exits.

Results go to stdout, progress and problems to stderr. Heavy packages are imported inside the
commands, so that `repro --help` is quick.
"""

from __future__ import annotations

import signal
import sys

import typer

from repro.cli.commands import audit, corpus, doctor, report, schema
from repro.cli.options import say_stopped
from repro.cli.plan import plan
from repro.cli.rank import rank
from repro.cli.runs import runs
from repro.cli.tune import tune
from repro.cli.verify import verify
from repro.errors import stopped_by

app = typer.Typer(
    name="repro",
    help="Statistical reproducibility reports for machine-learning claims.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


for command in (verify, plan, tune, audit, rank, report, schema, corpus, doctor):
    app.command()(command)


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
