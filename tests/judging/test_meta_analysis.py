"""Claims on data sets that stand for others: conclusion, sentence, facts, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from repro.evidence.evidence import TableSource, TaskSeed, TidyTable
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import from_table
from repro.report.blocks import Figure
from repro.report.profiles import mean_ranks
from repro.report.sections import sections
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


SETS = tuple(f"set{place:02}" for place in range(12))
GAINS = (0.035, -0.030, 0.013, 0.029, 0.016, -0.005, 0.024, 0.042, 0.100, 0.0, 0.022, 0.050)


def one_value_each(gains: Sequence[float] = GAINS, *more: dict[str, Any], **keys: Any) -> Document:
    """A claim on one value per arm and data set, all of them runs of seed 0."""
    sets = SETS[: len(gains)]
    declared = {"kind": "meta_analysis", "of": ["a", "b"], "tasks": sets, "runs": "per_task"}
    score = {**SCORE, "digits": 3}
    parts = [{**declared, **keys, **part} for part in ({}, *more)]
    claim = made(*parts, measurements={"loss": score}, seeds={"min": 1, "plan": 1})
    rows: dict[str, dict[TaskSeed, dict[str, float]]] = {
        arm: {
            TaskSeed(task, 0): {"loss": round(0.6 + 0.03 * place + share * gain, 3)}
            for place, (task, gain) in enumerate(zip(sets, gains, strict=True))
        }
        for arm, share in (("a", 1), ("b", 0))
    }
    table = TidyTable(TableSource("made.csv", "0" * 64), rows)
    return check_claim(claim, from_table(claim, table))


NAMED = {
    "t": ("paired t-test over tasks", "random effects"),
    "wilcoxon": ("Wilcoxon's signed-rank test of the effects of tasks", "pseudomedian effect"),
    "sign": ("sign test of the effects of tasks", "median effect"),
}
REFERENCES = {
    "t": stats.ttest_1samp(GAINS, 0, alternative="greater").pvalue,
    "wilcoxon": stats.wilcoxon(GAINS, alternative="greater").pvalue,
    "sign": stats.binomtest(9, 11, alternative="greater").pvalue,
}


@pytest.mark.parametrize("test", NAMED)
def test_one_value_per_arm_and_data_set(test: str) -> None:
    """By scipy: two of twelve are worse, and one is equal, which ranks and signs leave out."""
    name, average = NAMED[test]
    document = one_value_each(test=test)
    one = document.results[0]
    assert document.verdict.validity == "VALID"
    assert one.conclusion == "CONFIRMED"
    assert one.p == pytest.approx(float(REFERENCES[test]))
    assert one.test == f"{name}, one-sided"
    assert one.sentence.startswith(f"Score, {average} of 12 tasks: A is 0.02")
    assert one.details["signs"] == "A above B in 9, equal in 1, below in 2"
    assert ("left_out" in one.details) == (test != "t")


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_ranks_and_signs_against_the_claim_and_undecided(test: str) -> None:
    against = one_value_each([-gain for gain in GAINS], test=test).results[0]
    assert against.conclusion == "CONTRADICTED"
    gains = [gain * (-1) ** place for place, gain in enumerate(GAINS)]
    even = one_value_each(gains, test=test)
    assert even.results[0].conclusion == "INCONCLUSIVE"
    assert "More tasks may settle it" in str(even)


def test_parts_are_decided_by_tasks_and_not_by_seeds() -> None:
    """The box counts what the verdict rests on."""
    small = [gain - 0.02 for gain in GAINS]
    document = one_value_each(small, {"of": ["a", "b"], "test": "sign"})
    assert document.verdict.sentence.startswith("12 tasks decide none of the claim's two parts.")


def test_a_margin_by_ranks() -> None:
    """Within a tenth on both sides; and not by half of that."""
    for size, word in ((0.1, "CONFIRMED"), (0.03, "INCONCLUSIVE")):
        margin = {"abs": size, "why": "less is of no use"}
        one = one_value_each(test="wilcoxon", question="equivalent", margin=margin).results[0]
        assert one.conclusion == word


def test_the_next_data_set_has_the_level_that_it_has() -> None:
    sentence = one_value_each(test="wilcoxon").results[0].sentence
    assert sentence.endswith("the effect lies between −0.030 and +0.100 (84.6%).")


def test_means_and_medians_are_shown_beside_each_other() -> None:
    document = one_value_each()
    names = [each.name for each in document.robustness[0].analyses if each.choice == "quantity"]
    assert names == [NAMED["wilcoxon"][0], NAMED["sign"][0]]


def test_one_model_on_all_tasks_is_refused() -> None:
    """Without `runs` a number that recurs is one run on all: however many tasks, it is one."""
    for test, said in (("t", "one run on all tasks"), ("wilcoxon", "ranks and signs take")):
        result = one_value_each(runs=None, test=test).results[0]
        assert result.conclusion == "NOT-TESTED"
        assert said in result.sentence


def several(better: str = "higher") -> Document:
    """Three arms over twelve data sets: a by Wilcoxon's test against each, d as context."""
    parts = [
        {"of": ["a", other], "role": role}
        for other, role in (("b", "decisive"), ("c", "decisive"), ("d", "context"))
    ]
    how = {"kind": "meta_analysis", "test": "wilcoxon", "tasks": SETS, "runs": "per_task"}
    claim = made(
        *({**how, **part} for part in parts),
        arms="abcd",
        measurements={"loss": {**SCORE, "better": better}},
        seeds={"min": 1, "plan": 1},
    )
    rows: dict[str, dict[TaskSeed, dict[str, float]]] = {
        arm: {TaskSeed(task, 0): {"loss": COLUMNS[arm][place]} for place, task in enumerate(SETS)}
        for arm in "abcd"
    }
    table = TidyTable(TableSource("made.csv", "0" * 64), rows)
    return check_claim(claim, from_table(claim, table))


BASE = [round(0.6 + 0.03 * place, 3) for place in range(12)]
COLUMNS = {
    "a": [round(b + gain, 3) for b, gain in zip(BASE, GAINS, strict=True)],
    "b": BASE,
    "c": [round(b - gain, 3) for b, gain in zip(BASE, GAINS, strict=True)],
    "d": [b + 0.001 for b in BASE],
}


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_several_arms_have_mean_ranks_as_context(better: str) -> None:
    """All arms of the claim; the best first; Friedman's test by scipy. Two arms have none."""
    document = several(better)
    (part,) = document.mean_ranks
    sign = -1 if better == "higher" else 1
    values = sign * np.array([COLUMNS[arm] for arm in "abcd"]).T
    ranks = dict(zip("abcd", stats.rankdata(values, axis=1).mean(0), strict=True))
    assert {each.arm: each.rank for each in part.arms} == pytest.approx(ranks)
    assert [each.rank for each in part.arms] == sorted(ranks.values())
    reference = stats.friedmanchisquare(*values.T)
    assert (part.chi_squared, part.p) == pytest.approx((reference.statistic, reference.pvalue))
    assert document.verdict.conclusion == ("CONFIRMED" if better == "higher" else "CONTRADICTED")
    assert one_value_each().mean_ranks == ()


def test_the_report_shows_mean_ranks_and_says_that_they_decide_nothing() -> None:
    document = several()
    (figure,) = mean_ranks(document)
    assert isinstance(figure, Figure)
    assert figure.alt.startswith("Score: mean ranks over 12 tasks (1 is best). A 1.")
    assert "Nemenyi's critical difference, 1.35 (level 5%)" in figure.caption
    assert "Context, which decides nothing" in figure.caption
    values = next(section for section in sections(document) if section.id == "numbers")
    assert figure.caption in [b.caption for b in values.blocks if isinstance(b, Figure)]
