"""CSVs that the pages of W&B export: known by their columns, and told how they are imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import DataError, SpecError
from repro.evidence.csv_table import read_table
from repro.results.importer import FilesRead
from repro.results.result_files import Files
from repro.results.wandb import wandb_export
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


def test_a_chart_has_a_run_per_column(tmp_path: Path) -> None:
    """Runs are told by the names of their columns, and those of the ranges are no runs."""
    rows = ["0,9.5,9.5,9.5,,,", "100,7.25,7.25,7.25,7.5,7.5,7.5", "200,NaN,NaN,NaN,6.5,6.5,6.5"]
    names = [CHART[0], *CHART[1:], *(name.replace("seed0", "seed1") for name in CHART[1:])]
    header = ",".join(f'"{name}"' for name in names)
    (tmp_path / "chart.csv").write_text("\n".join([header, *rows]))
    declared = {"from": "files", "path": "chart.csv", "columns": "{arm}-seed{seed} - val/error"}
    first, second = Files.model_validate(declared).runs(tmp_path, FilesRead())
    assert (first.fields, second.fields) == ({"arm": "a", "seed": "0"}, {"arm": "a", "seed": "1"})
    assert first.place == "chart.csv, column 'a-seed0 - val/error'"
    assert [row["value"] for row in first.rows] == [9.5, 7.25, None]
    assert second.rows == [{"Step": 100.0, "value": 7.5}, {"Step": 200.0, "value": 6.5}]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"columns": "a - error"}, "names no field"),
        ({"columns": "{a}-{a} - error"}, "twice"),
        ({"columns": "{seed} - error", "each": "row"}, "four ways"),
    ],
)
def test_columns_that_tell_no_runs_apart_are_refused(more: dict[str, str], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Files.model_validate({"from": "files", "path": "chart.csv", **more})


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
