"""`repro audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repro.cli.options import AllowCode, FailOn, RoundingChoice, problems


def audit(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Claim files (*.yaml), tables of comparisons (*.csv), or folders of them.",
            show_default=False,
        ),
    ],
    json: Annotated[
        bool, typer.Option("--json", help="Print an array, one object per row.")
    ] = False,
    rounding: Annotated[
        RoundingChoice, typer.Option(help="How the digits of a table were dropped.")
    ] = RoundingChoice.round,
    fail_on: Annotated[
        FailOn, typer.Option(help="End with 1 if a row is graded this, or worse.")
    ] = FailOn.decision_inconsistent,
    allow_code: AllowCode = False,
) -> None:
    """Check printed numbers against each other; no runs. 1: a row as bad as --fail-on."""
    with problems():
        from repro.audit.sources import audit_paths, report_audits

        audits = audit_paths(paths, rounding=rounding.value, allow_code=allow_code)
        failed = report_audits(audits, fail_on.value, as_json=json)
    raise typer.Exit(1 if failed else 0)
