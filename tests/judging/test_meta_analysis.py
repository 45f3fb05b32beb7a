"""Claims on data sets that stand for others: conclusion, sentence, facts, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from repro.evidence.evidence import TableSource, TaskSeed, TidyTable
from repro.judging.assemble import check_claim
from repro.judging.gather import from_table
from tests.judging.made import made
from tests.judging.test_over_tasks import MARGIN, SCORE, TASKS, document, found

DIFFERENT = dict(zip(TASKS, (0.9, 0.1, 1.5, 0.4, 0.8), strict=True))


@pytest.mark.parametrize("weights", ["equal", "inverse_variance"])
@pytest.mark.parametrize(("better", "sign"), [("higher", 1), ("lower", -1)])
def test_better_on_average(weights: str, better: str, sign: int) -> None:
    """Whichever values are good; the tasks differ, and so does what is known of their mean."""
    shifts = {task: sign * shift for task, shift in DIFFERENT.items()}
    against = {task: -shift for task, shift in shifts.items()}
    none = {task: shift - sign * 0.75 for task, shift in shifts.items()}
    words = [
        found(each, better, kind="meta_analysis", weights=weights).conclusion
        for each in (shifts, against, none)
    ]
    assert words == ["CONFIRMED", "CONTRADICTED", "INCONCLUSIVE"]


def test_a_margin_on_average() -> None:
    how: dict[str, Any] = {"kind": "meta_analysis", "margin": MARGIN}
    assert found(0.3, question="equivalent", **how).conclusion == "CONFIRMED"
    assert found(DIFFERENT, question="equivalent", **how).conclusion == "INCONCLUSIVE"
    assert found(-2.0, question="not_worse", **how).conclusion == "CONTRADICTED"


def test_the_sentence_says_what_to_expect_of_a_new_task() -> None:
    """Scipy: mean .7337, t(4), standard deviation of the five effects .558."""
    one = found(DIFFERENT, kind="meta_analysis")
    assert one.sentence == (
        "Score, random effects of 5 tasks: A is 0.73 higher than B (90% interval +0.20 to +1.27). "
        "Better, as claimed (one-sided p = 0.021). On a new task of their sort the effect lies "
        "between −0.57 and +2.04 (90%)."
    )
    assert one.test == "random effects by Hartung and Knapp, equal weights, one-sided"
    assert one.details["i_squared"].endswith("%")
    assert float(one.details["standard_deviation_between_tasks"]) == pytest.approx(0.53, abs=0.03)
    assert one.details["runs_per_task"] == "3"
    assert one.details["effect_in_each_task"].startswith("a1 +0.90; b2 +0.07")


def test_hartung_and_knapps_weights_are_told_to_err_with_few_runs() -> None:
    """Three runs a task: the level that was measured is in the report of who asks for them."""
    one = document(DIFFERENT, kind="meta_analysis", weights="inverse_variance")
    assert any("Random effects of tasks by Hartung and Knapp" in each.text for each in one.levels)
    assert document(DIFFERENT, kind="meta_analysis").levels == ()


def test_what_is_open_on_average_is_settled_by_tasks() -> None:
    """More runs of a few tasks tell little of others like them."""
    one = document({**DIFFERENT, "a1": -0.5}, kind="meta_analysis")
    assert one.results[0].conclusion == "INCONCLUSIVE"
    assert "More tasks may settle it" in str(one)


def test_skewed_effects_are_flagged() -> None:
    """Of ten tasks nine gain little and one much: as one skewed sample, by what was measured."""
    tasks = [f"t{place}" for place in range(10)]
    gains = (0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.5, 0.7, 4.0, 0.25)
    declared = {"kind": "meta_analysis", "of": ["a", "b"], "tasks": tasks, "runs": "per_task"}
    claim = made(declared, measurements={"loss": SCORE}, seeds={"min": 2, "plan": 2})
    rows: dict[str, dict[TaskSeed, dict[str, float]]] = {
        "a": {
            TaskSeed(task, seed): {"loss": gain + 0.01 * seed}
            for task, gain in zip(tasks, gains, strict=True)
            for seed in (0, 1)
        },
        "b": {TaskSeed(task, seed): {"loss": 0.02 * seed} for task in tasks for seed in (0, 1)},
    }
    table = TidyTable(TableSource("made.csv", "0" * 64), rows)
    (level,) = check_claim(claim, from_table(claim, table)).levels
    assert "tested as that of one sample: with 10 tasks" in level.text
