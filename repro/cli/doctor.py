"""`repro doctor`."""

from __future__ import annotations

import typer

from repro.cli.options import Data, Store, problems, say, store_place


def doctor(store: Store = None, data: Data = None) -> None:
    """Say what this machine has, and what is missing."""
    with problems():
        from repro.doctor import examine

        found = 0
        for finding in examine(store_place(store), data):
            found += finding.state == "problem"
            say(f"{finding.state:8} {finding.what}")
            if finding.advice:
                say(f"         to do: {finding.advice}")
    raise typer.Exit(5 if found else 0)
