"""CSVs that the pages of W&B export: known by their columns, and told how they are imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import DataError, SpecError
from repro.evidence.csv_table import read_table
from repro.evidence.imports.importer import FilesRead
from repro.evidence.imports.result_files import Files
from repro.evidence.wandb_export import wandb_export
from tests.evidence.tidy import small

CHART = ["Step", "a-seed0 - val/error", "a-seed0 - val/error__MIN", "a-seed0 - val/error__MAX"]
RUNS = ["Name", "State", "Notes", "User", "Tags", "Created", "Runtime", "Sweep", "seed", "error"]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (CHART, "this is a chart that W&B exported: a column per run, and a row per step"),
        (RUNS, "this is a table of runs that W&B exported: a run per row"),
        (["Name", "error", "error__MIN"], "this is a table of runs that W&B exported"),
    ],
)
def test_a_table_says_what_it_is(tmp_path: Path, names: list[str], told: str) -> None:
    """In place of four columns that are missing, and with an import that reads it."""
    path = tmp_path / "export.csv"
    path.write_text(",".join(f'"{name}"' for name in names) + "\n" + ",".join("1" * len(names)))
    with pytest.raises(SpecError) as caught:
        read_table(path, small())
    (problem,) = caught.value.problems
    assert problem.what.startswith(told)
    assert (problem.place.line, problem.place.column) == (1, 1)
    assert "import: {from: " in problem.advice


def test_the_file_of_a_run_is_no_export(tmp_path: Path) -> None:
    """Read as one run, its rows would be steps; read a run per row, it is what it says."""
    (tmp_path / "export.csv").write_text(",".join(RUNS) + "\na-0" + ",x" * 7 + ",3,4.5\n")
    declared = {"from": "files", "path": "export.csv"}
    with pytest.raises(DataError, match="a run per row"):
        list(Files.model_validate(declared).runs(tmp_path, FilesRead()))
    by_row = Files.model_validate({**declared, "each": "row"})
    (run,) = by_row.runs(tmp_path, FilesRead())
    assert (run.fields["seed"], run.rows) == ("3", [{"seed": 3.0, "error": 4.5}])


@pytest.mark.parametrize(
    "names",
    [
        ["arm", "seed", "measurement", "value"],
        ["Name", "seed", "error"],
        ["Step", "train - test"],
        ["Step", "__MIN"],
    ],
)
def test_other_tables_are_not_called_so(names: list[str]) -> None:
    assert wandb_export(names) is None
