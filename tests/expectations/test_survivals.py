"""Censored times as a claim declares them: read, judged, said, drawn and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repro.errors import SpecError
from repro.judging.assemble import check_claim
from repro.judging.design_power import design_parts
from repro.judging.document import Document
from repro.judging.gather import gather, read_tables
from repro.report.figure_data import not_there
from repro.report.view import view
from repro.specs.load import load_claim
from repro.stats.planning import power_of_test
from repro.stats.survival import PlannedSurvivals
from repro.store.run_store import RunStore
from tests.judging.made import LOSS, diverging, judged, made, only

BUDGET = {"at": 4000, "why": "every run has 4,000 steps"}
STEPS = {**LOSS, "label": "steps", "digits": 0, "censored": BUDGET}
FAST = [1200, 1500, 900, 4000, 2000, 1800]
SLOW = [3500, 4000, 4000, 4000, 3900, 9000]


def claim(*expectations: dict[str, Any], **how: Any) -> Any:
    fields: dict[str, Any] = {"measurements": {"loss": STEPS}, "seeds": {"min": 4, "plan": 6}}
    return made(*expectations, **{**fields, **how})


def there(direction: str, **how: Any) -> dict[str, Any]:
    return {"kind": "survivals", "of": ["a", "b"], "direction": direction, **how}


@pytest.mark.parametrize(
    ("direction", "conclusion", "said"),
    [
        ("sooner", "CONFIRMED", "Sooner, as claimed (one-sided p = 0.013)."),
        ("later", "CONTRADICTED", "Sooner, against the claim (one-sided p = 0.013)."),
        ("different", "CONFIRMED", "Not at the same time, as claimed (p = 0.026)."),
    ],
)
def test_what_is_concluded_and_said(direction: str, conclusion: str, said: str) -> None:
    result = only(claim(there(direction)), {"a": FAST, "b": SLOW})
    assert result.conclusion == conclusion
    assert result.sentence == (
        "Steps: A is there by 4,000 in 5 of 6 runs and B in 2 of 6. The mean time within 4,000 is "
        f"2,000 shorter with A than with B ({'95' if direction == 'different' else '90'}% interval "
        f"{result.sentence.split('interval ')[1].split(')')[0]}). {said}"
    )


def test_pairs_are_exchanged() -> None:
    result = only(claim(there("sooner"), design="paired"), {"a": FAST, "b": SLOW})
    assert result.test == "log-rank test by exchanges within pairs, one-sided"
    assert result.conclusion == "CONFIRMED"


def test_what_lies_beyond_the_budget_is_as_late_as_it() -> None:
    """9,000 and 4,000 are both not there in 4,000 steps."""
    found = judged(claim(there("sooner")), {"a": FAST, "b": SLOW})
    assert [run.values["loss"] for run in found.arms[1].replicates][-1] == 4000


def test_the_report_shows_no_mean_that_is_not_known() -> None:
    """Neither mean nor a value for a run that did not get there; a figure of who is left."""
    found: Document = judged(claim(there("sooner")), {"a": FAST, "b": SLOW})
    shown = str(view(found))
    assert "none: not all got there" in shown
    assert "> 4,000" in shown
    assert "Steps: runs that are not there yet" in shown
    assert "B: 4 of 6 never." in shown


def test_a_run_that_diverged_never_got_there() -> None:
    """All others were there by 3,000: it was not, in the test, the sentence and the figure."""
    worst = claim(there("sooner"), seeds={"min": 4, "plan": 5, "diverged": "worst"})
    times = {"a": (900, 1000, 1100, 1200, 1300), "b": (2000, 2500, 2800, 3000, None)}
    found = diverging(worst, times)
    (result,) = found.results
    assert "A is there by 4,000 in 5 of 5 runs and B in 4 of 5" in result.sentence
    shown = str(view(found))
    assert "B: 1 of 5 never." in shown
    assert "none: not all got there" in shown
    assert found.arms[1].replicates[4].values["loss"] == 4000


def test_of_a_median_beyond_the_budget_nothing_more_is_known() -> None:
    """Five of eight were not there in 4,000 steps: it is more than that, and has no upper end."""
    limit = {"value": 3500, "why": "most of the budget"}
    late = {"kind": "level", "of": ["b"], "statistic": "median", "at_least": limit}
    found = judged(
        claim(late, seeds={"min": 5, "plan": 8}),
        {"a": [*FAST, 1000, 1100], "b": [3000, 3600, 3900, *[4000] * 5]},
    )
    (result,) = found.results
    assert "the median of B is > 4,000 (90% interval from 3,600 up)." in result.sentence
    assert result.conclusion == "CONFIRMED"
    assert result.interval is not None
    assert result.interval.high is None
    shown = str(view(found))
    assert "'> 4,000'" in shown
    assert "median of B is 4,000" not in shown


def test_the_share_that_is_left_is_that_of_kaplan_and_meier() -> None:
    """Against statsmodels, after each time."""
    from statsmodels.duration.survfunc import SurvfuncRight

    curve = SurvfuncRight([min(x, 4000) for x in SLOW], [x < 4000 for x in SLOW])
    after = dict(not_there([min(x, 4000) for x in SLOW], 4000))
    for time, share in zip(curve.surv_times, curve.surv_prob, strict=True):
        assert after[time] == pytest.approx(share)


TEXT = """\
schema: 1
id: times
title: Weight decay gets there sooner
source: {{own: "we would use it from now on"}}
design: independent
arms: {{a: {{label: A, table: t.csv}}, b: {{label: B, table: t.csv}}}}
seeds: {{min: 4, plan: 4}}
measurements:
  loss: {{kind: reported, label: steps, better: lower, digits: 0{censored}}}
expectations:
  - {{id: e, measurement: loss, {expectation}}}
"""
CENSORED = ', censored: {at: 4000, why: "every run has 4,000 steps"}'
SOONER = "kind: survivals, of: [a, b], direction: sooner"
ROWS = "a,0,loss,10\na,1,loss,11\na,2,loss,12\na,3,loss,13\nb,0,loss,40\nb,1,loss,{}\n"
ROWS += "b,2,loss,>4000\nb,3,loss,50\n"


def written(folder: Path, expectation: str, cell: str = ">4000", censored: str = CENSORED) -> Any:
    (folder / "t.csv").write_text(f"arm,seed,measurement,value\n{ROWS.format(cell)}", "utf-8")
    file = folder / "times.claim.yaml"
    file.write_text(TEXT.format(expectation=expectation, censored=censored), "utf-8")
    found = load_claim(file, "declared")
    read_tables(found)
    return check_claim(found, gather(found, RunStore(folder / "store")))


def test_a_table_says_so_with_a_sign(tmp_path: Path) -> None:
    """`>4000` is a run that was not there in its budget."""
    found = written(tmp_path, SOONER)
    assert "A is there by 4,000 in 4 of 4 runs and B in 2 of 4" in found.results[0].sentence
    assert found.verdict.conclusion == "CONFIRMED"


@pytest.mark.parametrize(
    ("expectation", "cell", "censored", "words"),
    [
        (SOONER, ">3000", CENSORED, "the budget of the claim is 4000"),
        (SOONER, "> ", CENSORED, "the budget of the claim is 4000"),
        (SOONER, "5", "", "does not say from which value on it is not reached"),
        (
            "kind: separation, of: [b, a], at_least: {value: 1, why: 'it is always later'}",
            "> 4000",
            "",
            "declares no budget",
        ),
        (
            "kind: difference, of: [a, b], direction: lower",
            "5",
            CENSORED,
            "is censored at 4000, so it has no mean",
        ),
        (
            "kind: level, statistic: median, of: [a], at_most: {value: 4000, why: 'in its time'}",
            "5",
            CENSORED,
            "values from 4000 on are censored",
        ),
        (
            "kind: bound, of: [a], at_least: {value: 4001, why: 'far too late'}",
            "5",
            CENSORED,
            "values from 4000 on are censored",
        ),
    ],
)
def test_what_is_not_known_is_refused(
    tmp_path: Path, expectation: str, cell: str, censored: str, words: str
) -> None:
    with pytest.raises(SpecError, match=words):
        written(tmp_path, expectation, cell, censored)


def test_nothing_follows_from_a_censored_value(tmp_path: Path) -> None:
    """A difference from a value that is only known to be large is not known."""
    derived = (
        CENSORED + "}\n  gap: {kind: derived, label: gap, better: lower, difference: [loss, loss]"
    )
    with pytest.raises(SpecError, match="made of a censored measurement"):
        written(tmp_path, SOONER, censored=derived)


def test_nothing_is_averaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of a run's evaluations is not known either."""
    averaged = TEXT.replace("plan: 4", "plan: 4, unit: seed")
    monkeypatch.setattr("tests.expectations.test_survivals.TEXT", averaged)
    with pytest.raises(SpecError, match="a censored value has no average"):
        written(tmp_path, SOONER)


def test_orders_take_them_as_ties_at_the_top() -> None:
    """A separation and a median need no size of what was not reached."""
    separated = {
        "kind": "separation",
        "of": ["b", "a"],
        "at_least": {"value": 1, "why": "in every run"},
    }
    median = {"kind": "level", "of": ["b"], "statistic": "median"}
    late = {**median, "at_least": {"value": 3000, "why": "three quarters of the budget"}}
    found = judged(claim(separated, late), {"a": [*FAST[:3], 1900, *FAST[4:]], "b": SLOW})
    assert [result.conclusion for result in found.results] == ["CONFIRMED", "CONFIRMED"]


def test_the_power_is_that_of_the_planned_shares() -> None:
    planned = {"reached": [0.95, 0.4], "why": "as in a pilot of five runs each"}
    (part,) = design_parts(claim(there("sooner", planned=planned)))
    assert part.assumed_effect == "95% there, against 40%"
    power, error = power_of_test(PlannedSurvivals((6,), effect=0.95, low=0.4))
    assert part.power == power
    assert part.note == (
        f"The power is simulated, with a standard error of {error:.3f}. "
        "The planned shares: as in a pilot of five runs each."
    )
    (unplanned,) = design_parts(claim(there("sooner")))
    assert unplanned.power is None
    assert (
        unplanned.note == "No power is computed: `planned` gives no shares of runs that get there."
    )


@pytest.mark.parametrize("direction", ["sooner", "later"])
def test_shares_that_contradict_the_claim_are_no_plan(tmp_path: Path, direction: str) -> None:
    shares = "[0.4, 0.9]" if direction == "sooner" else "[0.9, 0.4]"
    planned = f"planned: {{reached: {shares}, why: 'a pilot of five runs'}}"
    expectation = f"kind: survivals, of: [a, b], direction: {direction}, {planned}"
    with pytest.raises(SpecError, match=f"in time is not '{direction}'") as refused:
        written(tmp_path, expectation)
    assert "write the share of a first" in str(refused.value)
