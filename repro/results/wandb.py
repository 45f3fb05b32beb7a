"""Weights & Biases: runs that were recorded offline, from the files `run-*.wandb`.

Written after the layout of wandb 0.31.0, without it. Fields are `config.NAME`, `group`, `name`,
`project`, `job_type` and `id`. A CSV that its page exports is read as ``from: files`` with
``each: row``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from repro.errors import DataError
from repro.results.forms import FoundRun, ResultsThere, Way, store
from repro.results.importer import FilesRead, Stepped
from repro.results.reader import Reader
from repro.results.series import Row, numbers_in
from repro.schema.messages import Words

_TIME = re.compile(r"[0-9]{8}_[0-9]{6}")


class Wandb(Stepped):
    """The folder `wandb`, or one above it. ``seed`` is a field, such as `config.seed`."""

    from_: Literal["wandb"] = Field(alias="from")
    seed: str = "config.seed"

    @classmethod
    def ways(cls, there: ResultsThere) -> Iterator[Way]:
        """Of the file of a run, or of a folder with such files below it."""
        if there.suffix == ".wandb":
            yield store("a run of wandb", there.place)
        elif runs := [each.relative_to(there.path) for each in there.path.rglob("run-*.wandb")]:
            alone = {each.parts[0] for each in runs} == {"wandb"}
            folder = there.path / "wandb" if alone else there.path
            yield store("runs of wandb", there.below(folder))

    def runs(self, root: Path, digests: FilesRead) -> Iterator[FoundRun]:
        """By the time in the names of their folders."""
        place = self.place(root)
        files = sorted(place.rglob("run-*.wandb"), key=_began) if place.is_dir() else [place]
        if not files:
            raise DataError(f"{place}: no file run-*.wandb is there\n  to do: check `path`")
        with Reader("wandb") as reader:
            for file in files:
                told = reader.read("wandb", file, {"": digests.read(file, root)})
                config = {f"config.{key}": value for key, value in told["config"].items()}
                name = file.relative_to(root).as_posix()
                yield FoundRun(name, {**told["said"], **config}, _rows(told), told["state"])


def _began(file: Path) -> tuple[str, Path]:
    """The time in the name of its folder, such as `offline-run-20261123_073504-a85ti8c3`."""
    found = _TIME.search(file.parent.name)
    return (found[0] if found else ""), file


def _rows(told: Mapping[str, Any]) -> list[Row]:
    """Those that were logged, and one of the numbers that the summary alone has."""
    rows = [numbers_in(each) for each in told["rows"]]
    logged = {name for row in rows for name in row}
    alone = {
        name: value
        for name, value in numbers_in(told["summary"]).items()
        if name not in logged and not name.startswith("_")
    }
    return [*rows, alone] if alone else rows


# what the pages of Weights & Biases export as CSV


_ENDS = ("__MIN", "__MAX")
_CHART = re.compile(r".+ - .+")
_RUNS = frozenset({"Name", "State", "Created", "Runtime", "Sweep", "Notes", "User", "Tags"})


def wandb_export(names: Collection[str]) -> Words | None:
    """What a CSV of these columns is that the pages of W&B export, and how it is imported.

    None for the columns of any other table.
    """
    ended = [name for name in names if name.endswith(_ENDS)]
    runs = "Name" in names and (len(_RUNS.intersection(names)) >= 3 or ended)
    if runs:
        mistake = "this is a table of runs that W&B exported: a run per row"
        advice = (
            "give each arm `import: {from: files, path: FILE.csv, each: row, "
            "where: {Group: ...}, seed: seed}`, and the measurement `from: COLUMN`"
        )
        return mistake, "arm,seed,measurement,value", advice
    if ended and any(_CHART.fullmatch(name.removesuffix(end)) for name in ended for end in _ENDS):
        mistake = "this is a chart that W&B exported: a column per run, and a row per step"
        advice = (
            'give each arm `import: {from: files, path: FILE.csv, columns: "RUN-{seed} - METRIC"}` '
            "with the names of its runs, and the measurement `from: value`"
        )
        return mistake, "a row per run, or arm,seed,measurement,value", advice
    return None
