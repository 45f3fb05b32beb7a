"""What the docs and the reports say is what was measured, and committed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.levels import publish, table
from benchmarks.levels.experiments import EXPERIMENTS
from benchmarks.levels.measure import grid, off_grid
from benchmarks.levels.plans import PLANS
from repro.stats.error_rates import NAMES
from repro.stats.measured_cells import measured_rates

RESULTS = publish.latest()
PAGE = publish.PAGE.read_text(encoding="utf-8")


def test_the_page_shows_the_committed_results() -> None:
    """Written again from the results, the page does not change."""
    assert publish.with_tables(PAGE, RESULTS) == PAGE


def test_the_package_holds_the_committed_rates() -> None:
    """The data that reports look up are those of the results."""
    data = json.loads(publish.PACKAGE.read_text(encoding="utf-8"))
    assert data == publish.package_data(RESULTS)


def test_the_markdown_is_that_of_the_results() -> None:
    """The readable form is a function of the JSON."""
    (path,) = sorted(publish.RESULTS.glob(f"levels-{RESULTS['date']}.md"))
    assert path.read_text(encoding="utf-8") == table.markdown(RESULTS)


def test_the_results_are_complete() -> None:
    """Every cell of every kind and every planned design is there, at the declared sizes."""
    cells = [(one.kind, one.test, cell.n) for one in EXPERIMENTS for cell in grid(one)]
    assert [(one["kind"], one["test"], one["n"]) for one in RESULTS["rates"]] == cells
    assert [one["plan"] for one in RESULTS["promises"]] == [one.name for one in PLANS]
    draws = [one.draws(cell, 100_000) for one in EXPERIMENTS for cell in grid(one)]
    assert [one["draws"] for one in RESULTS["rates"]] == draws


def test_the_cells_off_the_grid_are_complete() -> None:
    """Each default test at each design and distribution; named ones at every size from 3 to 10."""
    cells = [
        (one.kind, one.test, cell.n, cell.others, cell.sd_ratio, cell.distribution)
        for one in EXPERIMENTS
        for cell in off_grid(one)
    ]
    names = ("kind", "test", "n", "others", "sd_ratio", "distribution")
    assert [tuple(one[name] for name in names) for one in RESULTS["off_grid"]] == cells
    for test in ("student", "brunner_munzel", "separation", "trend kendall"):
        sizes = {one.n for one in measured_rates() if one.test == test}
        assert sizes >= set(range(3, 11))


def test_every_default_test_can_be_looked_up() -> None:
    """A report finds the cells of whichever test a claim has by default."""
    known = {one.test for one in measured_rates()}
    defaults = {
        "welch", "paired", "tost", "tost_relative", "non_superiority",
        "non_superiority_relative", "non_inferiority", "non_inferiority_relative", "ratio",
        "separation", "share", "association pearson", "at most pearson", "at least pearson",
        "trend welch", "ordering", "sign", "cluster_sign", "all", "any", "family",
        "eprocess_t", "group_obf", "association clustered", "level", "level_known_sd",
        "level_median", "levene", "levene paired", "log_rank", "log_rank paired",
    }  # fmt: skip
    assert defaults <= known


def test_few_draws_are_recorded() -> None:
    """A cell that had fewer draws than 100,000 says so, and its bound is wider by as much."""
    few = [one for one in RESULTS["off_grid"] if one["draws"] < 100_000]
    assert few
    assert all(one["draws"] >= 20_000 and one["upper"] > one["error"] for one in few)
    assert all(one["draws"] == 100_000 for one in RESULTS["off_grid"] if one["gated"])


def test_every_committed_gate_holds() -> None:
    """No gated cell failed, and no promise was broken, in the long run."""
    every = [*RESULTS["rates"], *RESULTS["off_grid"]]
    assert [one for one in every if one["verdict"] == "FAILS"] == []
    assert [one for one in RESULTS["promises"] if not one["kept"]] == []


def test_every_loss_is_in_the_page_and_in_the_package() -> None:
    """A test that loses its level has a row, and a name for the reports."""
    lost = [one for one in RESULTS["rates"] if one["verdict"] == table.LOSES]
    assert lost
    for one in lost:
        assert f"{100 * one['error']:.1f} %" in PAGE
        assert publish.key(one) in (*NAMES, None)


@pytest.mark.parametrize("kind", sorted({row.kind for row in table.ROWS}))
def test_every_kind_has_a_row_and_a_command(kind: str) -> None:
    """The page names for each kind the command that measures it again."""
    assert f"`./dev exec python -m benchmarks.levels --kind {kind}`" in PAGE


def test_every_kind_that_was_measured_has_a_row_with_its_power() -> None:
    """Level and coverage of each, and the power of each whose plan was compared with it."""
    assert {one["kind"].split(",")[0] for one in RESULTS["rates"]} == {
        one.kind for one in table.ROWS
    }
    promised = {one["kind"] for one in RESULTS["promises"]}
    assert promised == {one.kind for one in table.ROWS if one.plan}


def test_one_arm_is_shown_off_the_grid() -> None:
    """It has no second arm to scatter more, and errs most where seeds collapse."""
    (row,) = [row for row in table.off_grid(RESULTS) if row[0] == "`level`"]
    shown = dict(zip(table.COLUMNS, row[1:], strict=True))
    assert (shown["collapsed"], shown["3 v 3, collapsed"]) == ("**16.4**", "**36.4**")
    assert shown["3 v 10"] == ""


def test_a_size_that_a_test_does_not_take_is_left_empty() -> None:
    """Scatter needs five seeds; that of thirty says nothing of three."""
    (row,) = [row for row in table.off_grid(RESULTS) if row[0] == "`spread`"]
    assert dict(zip(table.COLUMNS, row[1:], strict=True))["3 v 3, collapsed"] == ""


def test_the_results_lie_where_the_readme_of_the_benchmarks_says() -> None:
    """There is a JSON file for every Markdown file."""
    stems = {path.stem for path in publish.RESULTS.glob("levels-*")}
    for stem in stems:
        assert Path(publish.RESULTS / f"{stem}.json").is_file()
        assert Path(publish.RESULTS / f"{stem}.md").is_file()


def test_a_loss_that_may_be_chance_is_measured_again() -> None:
    """Among thousands of cells a few are above by chance; those had all draws."""
    unsure = [one for one in RESULTS["off_grid"] if publish.may_be_chance(one)]
    assert all(one["draws"] >= 100_000 for one in unsure)
    row = next(one for one in RESULTS["off_grid"] if one["test"] == "welch")
    few = {**row, "draws": 20_000, "limit": 0.055}
    assert [publish.may_be_chance({**few, "error": each}) for each in (0.0549, 0.0551, 0.0563)] == [
        False,
        True,
        False,
    ]
