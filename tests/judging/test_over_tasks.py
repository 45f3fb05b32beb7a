"""Claims over tasks: conclusion, sentence, what hangs on one task, and what the report says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

from repro.evidence.evidence import TableSource, TaskSeed, TidyTable
from repro.judging.assemble import check_claim
from repro.judging.document import Document, Result
from repro.judging.gather import from_table
from repro.report.figure_data import main_figure
from repro.report.sections import sections
from repro.report.view import seeds
from repro.stats.task_aggregates import widest_task
from tests.judging.made import LOSS, made

TASKS = ("a1", "b2", "c3", "d4", "e5")
NOISE = ((0.1, -0.1, 0.0), (-0.2, 0.1, 0.15), (0.05, 0.0, -0.1), (0.2, -0.05, -0.1), (0, 0.1, -0.1))
SCORE = {**LOSS, "label": "score", "better": "higher"}
MARGIN = {"abs": 1.0, "why": "one point is of no use"}


def document(
    shifts: Mapping[str, float] | float,
    better: str = "higher",
    planned_sd: Mapping[str, Any] | None = None,
    widen: Mapping[str, float] | None = None,
    **keys: Any,
) -> Document:
    """Arm a lies so far above b in each task; both have three runs a task, about 2 apart.

    Runs of the tasks in ``widen`` scatter so many times as much. Each task has runs of its own.
    """
    own = shifts if isinstance(shifts, Mapping) else dict.fromkeys(TASKS, shifts)
    declared = {
        "kind": "over_tasks",
        "of": ["a", "b"],
        "tasks": list(TASKS),
        "runs": "per_task",
        **keys,
    }
    measurement = {**SCORE, "better": better}
    claim = made(
        declared,
        measurements={"loss": measurement},
        seeds={"min": 3, "plan": 3},
        planned_sd=planned_sd or {},
    )
    rows: dict[str, dict[TaskSeed, dict[str, float]]] = {"a": {}, "b": {}}
    for place, task in enumerate(TASKS):
        for seed, narrow in enumerate(NOISE[place]):
            level, noise = 10 + 2 * place, narrow * (widen or {}).get(task, 1.0)
            rows["a"][TaskSeed(task, seed)] = {"loss": level + own[task] - 0.9 * noise}
            rows["b"][TaskSeed(task, seed)] = {"loss": level + noise}
    return check_claim(claim, from_table(claim, TidyTable(TableSource("made.csv", "0" * 64), rows)))


def found(shifts: Mapping[str, float] | float, better: str = "higher", **keys: Any) -> Result:
    return document(shifts, better, **keys).results[0]


@pytest.mark.parametrize("aggregate", ["iqm", "mean", "improvement"])
@pytest.mark.parametrize(("better", "sign"), [("higher", 1), ("lower", -1)])
def test_better_is_confirmed_contradicted_or_open(aggregate: str, better: str, sign: int) -> None:
    """Whichever values are good; the effect is a minus b, or the chance that a is better."""
    words = [
        found(sign * shift, better, aggregate=aggregate).conclusion for shift in (0.5, -0.5, 0.01)
    ]
    assert words == ["CONFIRMED", "CONTRADICTED", "INCONCLUSIVE"]
    one = found(sign * 0.5, better, aggregate=aggregate)
    assert one.claimed == ("above" if sign > 0 or aggregate == "improvement" else "below")
    assert one.scale == ("share" if aggregate == "improvement" else "difference")


@pytest.mark.parametrize(
    ("question", "shift", "conclusion"),
    [
        ("equivalent", 0.5, "CONFIRMED"),
        ("equivalent", 1.6, "CONTRADICTED"),
        ("equivalent", 1.0, "INCONCLUSIVE"),
        ("not_worse", -0.5, "CONFIRMED"),
        ("not_worse", 3.0, "CONFIRMED"),
        ("not_worse", -1.6, "CONTRADICTED"),
        ("not_worse", -1.0, "INCONCLUSIVE"),
    ],
)
@pytest.mark.parametrize("aggregate", ["iqm", "mean"])
def test_a_margin_over_tasks(aggregate: str, question: str, shift: float, conclusion: str) -> None:
    one = found(shift, aggregate=aggregate, question=question, margin=MARGIN)
    assert one.conclusion == conclusion
    assert [limit.value for limit in one.limits] == ([-1, 1] if question == "equivalent" else [-1])


def test_the_sentences() -> None:
    """Effect, interval, p and what follows."""
    assert found(0.5, aggregate="mean").sentence == (
        "Score, mean over 5 tasks: A is 0.49 higher than B (90% interval +0.41 to +0.57). "
        "Better, as claimed (one-sided p = 2.1e−8)."
    )
    assert found(-0.5).sentence.endswith("Worse, against the claim (one-sided p = 0.00029).")
    assert found(0.5, aggregate="improvement").sentence.startswith(
        "Score, probability of improvement over 5 tasks: a run of A beats one of B in 100% of cases"
    )
    equal = found(0.2, aggregate="mean", question="equivalent", margin=MARGIN)
    assert equal.statement == "Score, mean over 5 tasks: A equals B to within 1"
    assert equal.sentence.endswith("Equal to within 1, as claimed: the whole interval lies inside.")


def test_the_facts_of_a_benchmark_are_in_the_report() -> None:
    one = found({**dict.fromkeys(TASKS, 0.5), "c3": -0.5}, aggregate="mean")
    assert one.details == {
        "tasks": "5",
        "runs_per_task": "3",
        "effect_in_each_task": "a1 +0.50; b2 +0.47; c3 −0.47; d4 +0.47; e5 +0.50",
    }
    assert one.left_out == (), "no seed is left out, but tasks"


def test_a_conclusion_that_hangs_on_one_task_is_fragile() -> None:
    """One task alone carries the mean: without it nothing is shown, and the flag names it."""
    one = document({**dict.fromkeys(TASKS, 0.0), "d4": 1.5}, aggregate="mean")
    assert one.verdict.conclusion == "CONFIRMED"
    (flag,) = (each for each in one.verdict.flags if each.kind == "one task left out")
    assert "It hangs on one task in 1 of 5 cases: without task d4" in flag.text
    names = [each.name for each in one.robustness[0].analyses if each.choice == "task"]
    assert names == [f"without task {task}" for task in TASKS]


def test_the_bootstrap_stands_beside_the_default() -> None:
    """The other interval is an analysis of every report, and its level is told where it decides."""
    one = document(0.5)
    (other,) = (each for each in one.robustness[0].analyses if each.choice == "test")
    assert other.name == "stratified bootstrap, percentiles"
    assert other.conclusion == "CONFIRMED"
    assert found(0.5, test="stratified_bootstrap").test == (
        "interquartile mean, stratified bootstrap, percentiles, one-sided"
    )


def test_tables_and_pictures_speak_of_runs_and_tasks() -> None:
    one = document(0.5)
    assert seeds(one) == "3 seeds per task"
    assert [(s.n, s.sd) for arm in one.arms for s in arm.summaries] == [(15, None), (15, None)]
    assert one.arms[1].summaries[0].mean == pytest.approx(14.0, abs=0.02)
    figure = main_figure(one)
    assert "Each dot is one run of one task" in getattr(figure, "caption", "")
    text = str(sections(one))
    assert "15 of 5 tasks, 3 per task planned" in text
    assert "Mean over tasks" in text
    assert "without each task in turn" in text


APART = "The tasks are taken to lie one standard deviation of a run apart."


@pytest.mark.parametrize(
    ("keys", "size", "power", "note"),
    [
        ({}, "sd", None, f"No effect is assumed, so no power is computed. {APART}"),
        (
            {"question": "not_worse", "margin": MARGIN},
            "sd",
            0.996,
            f"The power is simulated, with a standard error of 0.001. {APART}",
        ),
        (
            {"kind": "meta_analysis", "question": "equivalent", "margin": MARGIN},
            "sd_of_differences",
            0.950,
            "",
        ),
        ({"test": "stratified_bootstrap"}, "sd", None, "No power is computed for a bootstrap."),
    ],
)
def test_what_the_runs_of_the_tasks_can_show(
    keys: Any, size: str, power: float | None, note: str
) -> None:
    """By the planned scatter of the runs of a task; for a mean effect by that of the effects."""
    planned = {"loss": {size: 0.5, "why": "a pilot of five runs"}}
    (part,) = document(0.5, planned_sd=planned, **keys).design
    assert part.power == (power if power is None else pytest.approx(power, abs=0.002))
    assert part.note == note
    assert part.assumed_effect == ("no difference" if "margin" in keys else "")


def test_one_of_three_tasks_that_scatters_most_is_flagged() -> None:
    """Interquartile means err more often there; means, and tasks that scatter alike, do not."""
    few = list(TASKS[:3])
    wide = dict.fromkeys(TASKS, 0.5)
    assert document(wide, tasks=few).levels == ()
    flagged = document(wide, tasks=few, widen={"b2": 40.0})
    (level,) = flagged.levels
    assert level.text.startswith("Runs of 'b2' scatter ")
    assert any(level.text in flag.text for flag in flagged.verdict.flags)
    assert document(wide, tasks=few, widen={"b2": 40.0}, aggregate="mean").levels == ()
    assert document(wide, tasks=list(TASKS[:4]), widen={"b2": 40.0}).levels == ()


def test_the_widest_task_has_the_p_of_the_f_test() -> None:
    """Two arms of two tasks, one that varies by 1: on 4 and 4 degrees of freedom."""
    wide, narrow = np.array([0.0, 0.0, 4.0]), np.array([0.0, 1.0, 2.0])
    place, times, p = widest_task([narrow, 2 * wide], [narrow, 2 * wide])
    variance = float(np.var(2 * wide, ddof=1))
    assert place == 1
    assert times == pytest.approx(variance**0.5)
    assert p == pytest.approx(2 * stats.f.sf(variance, 4, 4))
