"""Evaluations of one training run are averaged within it: no replicate is counted twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import ttest_ind

from repro.errors import ReproError, RuleError
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import from_table, read_tables
from repro.specs.load import load_claim

CLAIM = """
schema: 1
id: evaluated
title: The new agent scores higher
source: {paper: ours, citation: "our own notes", locator: "p. 1", quote: "the new agent scores higher"}
design: independent
arms:
  new: {label: New, table: scores.csv}
  old: {label: Old, table: scores.csv}
seeds: {min: 3, plan: 3, unit: seed}
measurements:
  score: {kind: reported, label: score, better: higher, digits: 2}
expectations:
  - {id: higher, kind: difference, measurement: score, of: [new, old], direction: higher}
scales:
  paper: {notice: "Numbers made for this test."}
"""  # noqa: E501
MEANS = {"new": (2.0, 2.6, 2.3), "old": (1.0, 1.9, 1.2)}
SHIFTS = (-0.25, -0.05, 0.1, 0.2)
"""Four evaluations of each run, about its mean: their sum is 0."""


def rows(seed: str = "{run}", run: str = "", cell: str = "{value:.2f}") -> list[str]:
    """A row an evaluation; ``run`` is a further column."""
    return [
        f"{arm},{seed},score,{cell}{run}".format(run=number, evaluation=i, value=mean + shift)
        for arm, means in MEANS.items()
        for number, mean in enumerate(means)
        for i, shift in enumerate(SHIFTS)
    ]


def judged(folder: Path, lines: list[str], claim: str = CLAIM, more: str = "") -> Document:
    table = "\n".join([f"arm,seed,measurement,value{more}", *lines]) + "\n"
    (folder / "scores.csv").write_text(table, encoding="utf-8")
    (folder / "a.claim.yaml").write_text(claim, encoding="utf-8")
    found = load_claim(folder / "a.claim.yaml", "paper")
    return check_claim(found, from_table(found, read_tables(found)["new"]))


def refused(folder: Path, lines: list[str], claim: str = CLAIM, more: str = "") -> str:
    with pytest.raises(ReproError) as error:
        judged(folder, lines, claim, more)
    return str(error.value)


def alone(folder: Path) -> Document:
    """What a table with the means alone is judged to be, one row a run."""
    lines = [
        f"{arm},{run},score,{mean}"
        for arm, means in MEANS.items()
        for run, mean in enumerate(means)
    ]
    return judged(folder, lines, CLAIM.replace(", unit: seed", ""))


def test_rows_of_one_seed_are_averaged_within_it(tmp_path: Path) -> None:
    """Three runs with four evaluations are three values, and the result is that of their means."""
    found = judged(tmp_path, rows())
    expected = alone(tmp_path)
    assert [run.values["score"] for run in found.arms[0].replicates] == pytest.approx(MEANS["new"])
    assert found.results[0].p == pytest.approx(expected.results[0].p, rel=1e-9)
    assert found.results[0].conclusion == expected.results[0].conclusion == "INCONCLUSIVE"
    arms = [[mean + shift for mean in MEANS[arm] for shift in SHIFTS] for arm in ("new", "old")]
    assert ttest_ind(*arms, equal_var=False).pvalue < 0.001, "as replicates they would be certain"
    assert found.results[0].details["seeds"] == "3 per arm"


def test_the_report_says_what_was_averaged(tmp_path: Path) -> None:
    notice = judged(tmp_path, rows()).scale.notice
    assert (
        "Its rows were averaged within units before any test: column 'seed', 4 evaluations per "
        "unit, 6 units." in notice
    )
    uneven = CLAIM.replace("unit: seed", "unit: seed, evaluations: any")
    fewer = judged(tmp_path, rows()[1:], uneven).scale.notice
    assert "3 to 4 evaluations per unit, 6 units." in fewer
    assert "averaged" not in alone(tmp_path).scale.notice


def test_a_column_of_its_own_may_number_the_units(tmp_path: Path) -> None:
    """Then a seed is that of an evaluation, and one that stands there twice is a mistake."""
    claim = CLAIM.replace("unit: seed", "unit: run")
    lines = rows(seed="{evaluation}", run=",{run}")
    found = judged(tmp_path, lines, claim, ",run")
    assert [run.values["score"] for run in found.arms[1].replicates] == pytest.approx(MEANS["old"])
    said = refused(tmp_path, [*lines, lines[5]], claim, ",run")
    assert "arm 'new', seed 1 of unit 1, measurement 'score' again" in said
    assert "there is no column 'run'" in refused(tmp_path, rows(), claim)


def test_without_the_key_repeated_seeds_are_refused(tmp_path: Path) -> None:
    """Nothing is averaged that was not declared."""
    said = refused(tmp_path, rows(), CLAIM.replace(", unit: seed", ""))
    assert "arm 'new', seed 0, measurement 'score' again" in said


def test_an_evaluation_that_diverged_takes_its_run_with_it(tmp_path: Path) -> None:
    lines = rows()
    lines[2] = "new,0,score,diverged"
    found = judged(tmp_path, lines)
    assert found.verdict.validity == "INVALID"
    assert "New: 1 of 3 runs diverged" in found.verdict.validity_reason


def test_a_run_that_lacks_an_evaluation_is_missing(tmp_path: Path) -> None:
    """Or a bad evaluation could be deleted; where runs differ in number, the claim says so."""
    document = judged(tmp_path, rows()[1:])
    assert document.verdict.validity == "INCOMPLETE"
    assert "New: 2 of 3 seeds" in document.verdict.validity_reason
    assert (
        "3 to 4 evaluations per unit, 6 units; 1 of them has fewer than others, and is missing."
        in document.scale.notice
    )
    uneven = CLAIM.replace("unit: seed", "unit: seed, evaluations: any")
    declared = judged(tmp_path, rows()[1:], uneven)
    assert declared.verdict.validity == "VALID"
    assert declared.arms[0].replicates[0].values["score"] == pytest.approx(2.0 + 0.25 / 3)


def test_an_arm_with_fewer_evaluations_is_missing(tmp_path: Path) -> None:
    """A mean of three scatters more than one of four, and nobody said why there is one fewer."""
    short = [row for place, row in enumerate(rows()) if place < 12 or place % 4]
    document = judged(tmp_path, short)
    assert document.verdict.validity == "INCOMPLETE"
    assert "Old: 0 of 3 seeds" in document.verdict.validity_reason
    assert "3 of them have fewer than others, and are missing" in document.scale.notice


def test_tasks_may_differ_in_their_evaluations(tmp_path: Path) -> None:
    claim = CLAIM.replace(
        "kind: difference, measurement: score, of: [new, old], direction: higher",
        "kind: over_tasks, measurement: score, of: [new, old], tasks: [x, y, z]",
    )
    lines = [
        f"{row},{task}" for task in "xyz" for n, row in enumerate(rows()) if task != "x" or n % 4
    ]
    found = judged(tmp_path, lines, claim, ",task")
    assert found.verdict.validity == "VALID"
    assert found.results[0].details["seeds"] == "3"


def test_units_and_tasks_go_together(tmp_path: Path) -> None:
    """Each task has its own runs, and each run its evaluations."""
    claim = CLAIM.replace(
        "kind: difference, measurement: score, of: [new, old], direction: higher",
        "kind: over_tasks, measurement: score, of: [new, old], tasks: [x, y, z]",
    )
    lines = [f"{row},{task}" for task in "xyz" for row in rows()]
    found = judged(tmp_path, lines, claim, ",task")
    assert [run.task for run in found.arms[0].replicates] == [*"xxxyyyzzz"]
    assert found.results[0].details["seeds"] == "3"
    assert "4 evaluations per unit, 18 units" in found.scale.notice


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ("unit: seed", "unit: value", "the column 'value' of a table does not number units"),
        ("unit: seed", "evaluations: any", "there are no units that have evaluations"),
        (
            "{label: New, table: scores.csv}",
            "{label: New, configuration: quick/mos}",
            "arm 'new' has no table or import, and unit is a column or field of one",
        ),
        (
            "plan: 3, unit: seed}",
            "plan: 5, max: 9, unit: seed}\nsequential: {method: eprocess_t}",
            "rows that are averaged have no order in time",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, written: str, instead: str, said: str
) -> None:
    with pytest.raises(RuleError) as error:
        judged(tmp_path, rows(), CLAIM.replace(written, instead))
    assert said in str(error.value)
