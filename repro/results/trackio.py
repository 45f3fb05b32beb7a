"""Trackio: the sqlite file of a project.

Written after the layout of trackio 0.43.0, without it; before, a run was known by its name alone.
Fields are `config.NAME`, `group` and `name`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from repro.results.forms import FoundRun
from repro.results.importer import FilesRead, Stepped
from repro.results.reader import in_database
from repro.results.series import numbers_in


class Trackio(Stepped):
    """The file `PROJECT.db`. ``seed`` is a field, such as `config.seed`."""

    tables = frozenset({"metrics", "configs"})

    from_: Literal["trackio"] = Field(alias="from")
    seed: str = "config.seed"

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """In the order in which they were begun."""
        for run, said, rows in in_database("trackio", self.place(root), root, digests, "Trackio"):
            named = f"run {said['name']}"
            shown = named if said["name"] == run else f"{named} ({run})"
            yield FoundRun(shown, said, [numbers_in(row) for row in rows])
