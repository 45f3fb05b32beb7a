"""One run on all tasks: which numbers say so, what is then compared, and what a report says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from repro.evidence.evidence import Evidence, TableSource, TaskSeed, TidyTable
from repro.expectations.kinds import kind_of
from repro.expectations.verdict_words import FlagKind
from repro.judging.assemble import check_claim
from repro.judging.document import Document, Result
from repro.judging.document_parts import DesignPart
from repro.judging.gather import from_table
from repro.report.sections import sections
from repro.specs.claim import Claim
from repro.stats.records import known
from tests.judging.made import made
from tests.judging.test_over_tasks import MARGIN, SCORE

TASKS = tuple(f"t{place}" for place in range(6))
Values = Mapping[str, np.ndarray]
"""By arm: one row a seed, one column a task."""


def runs(shift: float = 0.0, shared: float = 0.8, n: int = 5, seed: int = 1) -> Values:
    """Runs that have this share of their variance in all tasks; a is higher by ``shift``."""
    rng = np.random.default_rng(seed)
    found = {}
    for arm, more in (("a", shift), ("b", 0.0)):
        own = np.sqrt(1 - shared) * rng.standard_normal((n, len(TASKS)))
        values = own + np.sqrt(shared) * rng.standard_normal((n, 1)) + np.arange(len(TASKS))
        found[arm] = values + more
    return found


def claimed(design: str = "independent", planned_sd: Any = None, **keys: Any) -> Claim:
    declared = {"kind": "over_tasks", "of": ["a", "b"], "tasks": list(TASKS), **keys}
    measured = {"loss": SCORE}
    return made(
        declared,
        measurements=measured,
        seeds={"min": 3, "plan": 3},
        design=design,
        planned_sd=planned_sd or {},
    )


def evidence(claim: Claim, values: Values, *, apart: bool = False) -> Evidence:
    """``apart``: each task has numbers of its own."""
    rows = {
        arm: {
            TaskSeed(task, 100 * t * apart + s): {"loss": float(row[t])}
            for t, task in enumerate(TASKS)
            for s, row in enumerate(table)
        }
        for arm, table in values.items()
    }
    return from_table(claim, TidyTable(TableSource("made.csv", "0" * 64), rows))


def judged(values: Values, *, apart: bool = False, **keys: Any) -> Document:
    claim = claimed(**keys)
    return check_claim(claim, evidence(claim, values, apart=apart))


def found(values: Values, **keys: Any) -> Result:
    return judged(values, **keys).results[0]


def test_numbers_that_recur_make_the_seed_the_unit() -> None:
    """And numbers of each task alone do not; either can be declared against the numbers."""
    values = runs(1.0)
    means = [values[arm].mean(axis=1) for arm in "ab"]
    reference = stats.ttest_ind(*means, equal_var=False, alternative="greater").pvalue
    crossed = found(values, aggregate="mean")
    assert crossed.p == pytest.approx(float(reference), rel=1e-9)
    assert crossed.details["seeds"] == "5"
    apart = found(values, aggregate="mean", apart=True)
    assert apart.details["runs_per_task"] == "5"
    assert known(apart.p) < known(crossed.p) / 2
    assert found(values, aggregate="mean", runs="per_task").p == apart.p
    assert found(values, aggregate="mean", runs="across_tasks") == crossed


def test_the_sentence_says_whose_mean_it_is() -> None:
    one = found(runs(3.0), aggregate="mean")
    assert one.sentence == (
        "Score, mean of each seed over 6 tasks: A is 3.81 higher than B (90% interval +2.45 to "
        "+5.16). Better, as claimed (one-sided p = 0.00056)."
    )
    assert one.test == "mean of each seed, Welch's t-test, one-sided"
    assert found(runs(3.0)).sentence.startswith("Score, interquartile mean of each seed over 6 ")
    improved = found(runs(3.0), aggregate="improvement")
    assert improved.test == (
        "probability of improvement by seed, Welch's t-test of mean ranks, one-sided"
    )
    assert "a run of A beats one of B in" in improved.sentence
    mean = found(runs(3.0), kind="meta_analysis")
    assert mean.sentence.startswith("Score, random effects of 6 tasks and of seeds: A is ")


@pytest.mark.parametrize("aggregate", ["iqm", "mean", "improvement"])
def test_better_is_confirmed_contradicted_or_open(aggregate: str) -> None:
    words = [found(runs(shift), aggregate=aggregate).conclusion for shift in (4.0, -4.0, 0.1)]
    assert words == ["CONFIRMED", "CONTRADICTED", "INCONCLUSIVE"]


def test_pairs_of_runs_are_compared_by_their_seeds() -> None:
    values = runs(0.5)
    values["b"][:] = values["a"] - 0.5 + runs(0.0, 0.0, seed=9)["b"] / 5
    a, b = (values[arm].mean(axis=1) for arm in "ab")
    reference = stats.ttest_rel(a, b, alternative="greater").pvalue
    one = found(values, design="paired", aggregate="mean")
    assert one.p == pytest.approx(float(reference), rel=1e-9)
    assert "the paired t-test" in one.test
    assert found(values, design="paired", kind="meta_analysis").conclusion is not None
    said = found(values, design="paired", aggregate="mean", apart=True).sentence
    assert "each task has runs of its own by their numbers" in said


def test_each_seed_and_each_task_is_left_out() -> None:
    """A conclusion that hangs on one of either is fragile."""
    one = judged(runs(2.0), aggregate="mean")
    assert [(each.arm, each.replicate) for each in one.results[0].left_out] == [
        (arm, number) for arm in "ab" for number in range(5)
    ]
    choices = [each.choice for each in one.robustness[0].analyses]
    assert choices.count("seed") == 10
    assert choices.count("task") == 6
    assert str(sections(one)).count("without each task in turn") <= 1


def test_seeds_and_tasks_that_tip_a_conclusion_are_counted_apart() -> None:
    """A conclusion by a hair hangs on seeds, of which there are ten, and on tasks: six."""
    values = runs()
    a, b = (values[arm].mean(axis=1) for arm in ("a", "b"))
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.9)
    one = judged({**values, "a": values["a"] - interval.low + 1e-3}, aggregate="mean")
    assert one.verdict.conclusion == "CONFIRMED"
    told = {flag.kind: flag.text for flag in one.verdict.flags if "left out" in flag.kind}
    assert "of 10 cases: without seed" in told["one seed left out"]
    assert "of 6 cases: without task" in told["one task left out"]


def test_an_open_result_says_how_many_seeds_would_settle_it() -> None:
    said = found(runs(0.1), aggregate="mean").sentence
    assert "seeds per arm would settle it" in said


def test_runs_of_tasks_that_move_together_are_flagged() -> None:
    """Only where each task is said to have runs of its own, and only if they do move."""

    def flags(values: Values, **keys: Any) -> set[str]:
        return {each.kind for each in judged(values, **keys).verdict.flags}

    assert FlagKind.TOGETHER in flags(runs(1.0), runs="per_task")
    assert FlagKind.TOGETHER not in flags(runs(1.0))
    assert FlagKind.TOGETHER not in flags(runs(1.0, shared=0.0), runs="per_task")
    assert FlagKind.TOGETHER not in flags(runs(1.0), apart=True)
    assert FlagKind.TOGETHER in flags(runs(1.0), runs="per_task", kind="meta_analysis")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"test": "stratified_bootstrap"}, "the bootstrap draws the runs of each task apart"),
        (
            {"kind": "meta_analysis", "weights": "inverse_variance"},
            "weights by inverse variances take the runs of each task apart",
        ),
    ],
)
def test_what_takes_runs_apart_is_refused(keys: Any, said: str) -> None:
    """By the numbers in the evidence, or before any where it is declared."""
    one = found(runs(1.0), **keys)
    assert one.conclusion == "NOT-TESTED"
    assert said in one.sentence
    claim = claimed(runs="across_tasks", **keys)
    (declared,) = claim.expectations
    (mistake,) = kind_of(declared).mistakes(declared, claim.context())
    assert said in mistake.what


def test_what_the_key_leaves_to_the_numbers_is_no_part_of_the_digest() -> None:
    """So claims that were declared before it have their digests."""
    assert "runs" not in claimed().decisive_fields()["expectations"][0]
    assert claimed(runs="per_task").digest() != claimed().digest()
    document = judged(runs(1.0))
    assert document.claim.digest == claimed().digest()


def planned(size: str, **keys: Any) -> DesignPart:
    """With a planned scatter of .5, and three seeds."""
    scatter = {"loss": {size: 0.5, "why": "a pilot of five runs"}}
    claim = claimed(planned_sd=scatter, question="not_worse", margin=MARGIN, **keys)
    (part,) = check_claim(claim, evidence(claim, runs())).design
    return part


def test_what_seeds_can_show_is_what_two_arms_can() -> None:
    """By the scatter of the numbers of the seeds: of pairs from the noncentral t, two degrees."""
    chance = stats.nct.sf(stats.t.isf(0.05, 2), 2, 1.0 / (0.5 / math.sqrt(3)))
    pairs = planned("sd_of_differences", design="paired")
    assert pairs.power == pytest.approx(float(chance), abs=1e-6)
    assert pairs.note.startswith("The planned scatter is taken for that of the seeds")
    both = TTestIndPower().power(2.0, 3, 0.05, alternative="larger")
    assert planned("sd").power == pytest.approx(float(both), abs=0.08), "Welch's is somewhat less"
    mean = planned("sd_of_differences", kind="meta_analysis")
    assert (mean.power, mean.note) == (
        None,
        "No power is computed where the scatter of tasks and of seeds counts.",
    )
