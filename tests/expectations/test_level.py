"""A level as a claim declares it: from the file to the sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scipy.stats import norm

from repro.errors import SpecError
from repro.judging.assemble import check_claim
from repro.judging.document import Document
from repro.judging.gather import gather, read_tables
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from tests.judging.made import LOSS, diverging, made
from tests.judging.made import judged as judged_on

CLAIM = """\
schema: 1
id: record
title: The mean loss of the record is at most 3.28
source:
  paper: speedrun
  citation: "The rules of the contest"
  locator: "rule 2"
  quote: "p<0.01 that the mean validation loss is at most 3.28"
alpha: 0.01
design: {design}
arms:
  record: {{label: the record, {evidence}}}
seeds: {{min: {least}, plan: 8}}
measurements:
  loss: {{kind: reported, label: validation loss, better: lower, digits: 4}}
expectations:
  - {{id: below, kind: level, measurement: loss, of: [record], {level}}}
planned_sd:
  loss: {{sd: 0.0013, why: "the median scatter over records"}}
scales:
  paper: {{notice: "Runs of the author of the record."}}
"""

LOSSES = (3.2776, 3.2785, 3.2763, 3.2791, 3.2802, 3.2779, 3.2768, 3.2790)
WHY = 'why: "the rule of the contest"'


def judged(
    folder: Path,
    level: str,
    *,
    least: int = 3,
    evidence: str = "table: runs.csv",
    design: str = "independent",
    losses: tuple[float, ...] = LOSSES,
) -> Document:
    """The document of the claim on these losses, of seeds 0, 1, 2, ..."""
    lines = [f"record,{seed},loss,{loss}" for seed, loss in enumerate(losses)]
    table = "\n".join(["arm,seed,measurement,value", *lines])
    (folder / "runs.csv").write_text(f"{table}\n", encoding="utf-8")
    file = folder / "record.claim.yaml"
    text = CLAIM.format(level=level, least=least, evidence=evidence, design=design)
    file.write_text(text, encoding="utf-8")
    claim = load_claim(file, "paper")
    return check_claim(claim, gather(claim, RunStore(folder / "store"), read_tables(claim)))


def sentence(document: Document) -> str:
    (result,) = document.results
    return result.sentence


@pytest.mark.parametrize("design", ["independent", "paired"])
def test_a_record_that_holds_by_the_rule_of_its_contest(tmp_path: Path, design: str) -> None:
    found = judged(tmp_path, f"at_most: {{value: 3.28, {WHY}}}", design=design)
    assert found.verdict.conclusion == "CONFIRMED"
    assert sentence(found) == (
        "Validation loss: the mean of the record is 3.2782 (98% interval 3.2768 to 3.2795). "
        "At most 3.28, as claimed (one-sided p = 0.0025)."
    )
    assert found.design[0].minimum_detectable == pytest.approx(0.00182, abs=1e-5)


@pytest.mark.parametrize(
    ("limit", "conclusion", "said"),
    [
        (
            "at_least: {value: 3.28",
            "CONTRADICTED",
            "Below 3.28, against the claim (one-sided p = 0.0025).",
        ),
        (
            "at_most: {value: 3.276",
            "CONTRADICTED",
            "Above 3.276, against the claim (one-sided p = 0.0010).",
        ),
        (
            "at_most: {value: 3.2785",
            "INCONCLUSIVE",
            "At most 3.2785 is not shown (one-sided p = 0.25).",
        ),
        (
            "at_most: {value: 3.277",
            "INCONCLUSIVE",
            "against the claim, but that is not shown either (one-sided p = 0.018).",
        ),
    ],
)
def test_other_limits(tmp_path: Path, limit: str, conclusion: str, said: str) -> None:
    found = judged(tmp_path, f"{limit}, {WHY}}}")
    assert found.verdict.conclusion == conclusion
    assert said in sentence(found)


KNOWN = 'sd: {value: 0.0013, why: "the rule of the contest assumes it"}'


def test_a_standard_deviation_that_is_known_makes_it_a_z_test(tmp_path: Path) -> None:
    found = judged(tmp_path, f"at_most: {{value: 3.28, {WHY}}}, {KNOWN}")
    assert found.verdict.conclusion == "CONFIRMED"
    assert sentence(found) == (
        "Validation loss: the mean of the record is 3.2782 (98% interval 3.2771 to 3.2792). "
        "At most 3.28, as claimed (one-sided p = 3.6e−5)."
    )
    (result,) = found.results
    assert result.test == (
        "z-test of one sample with a known standard deviation of 0.0013, one-sided"
    )
    assert result.details["standard deviation"] == (
        "0.0013, known beforehand: the rule of the contest assumes it"
    )
    assert result.df is None


def test_the_power_of_a_z_test_is_that_of_its_own_standard_deviation(tmp_path: Path) -> None:
    """Detected with 80 % power: (z of 0.01 + z of 0.2) x 0.0013 / sqrt(8)."""
    found = judged(tmp_path, f"at_most: {{value: 3.28, {WHY}}}, {KNOWN}")
    detected = (norm.isf(0.01) + norm.isf(0.2)) * 0.0013 / 8**0.5
    assert found.design[0].minimum_detectable == pytest.approx(detected, rel=1e-3)


def test_a_known_standard_deviation_changes_no_claim_without_one(tmp_path: Path) -> None:
    """What is left out is left out of the digest, too."""
    judged(tmp_path, f"at_most: {{value: 3.28, {WHY}}}")
    (expectation,) = load_claim(tmp_path / "record.claim.yaml", "paper").decisive_fields()[
        "expectations"
    ]
    assert "sd" not in expectation


def test_a_median_needs_no_normal_values(tmp_path: Path) -> None:
    level = f"statistic: median, at_most: {{value: 3.2803, {WHY}}}"
    found = judged(tmp_path, level, least=7)
    assert found.verdict.conclusion == "CONFIRMED"
    assert "the median of the record is 3.2782 (98% interval 3.2763 to 3.2802)" in sentence(found)


def test_seeds_at_the_limit_keep_it(tmp_path: Path) -> None:
    """At most 3.28 is claimed, and that is what two of the eight seeds are."""
    losses = (3.28, 3.28, *LOSSES[2:4], 3.2799, *LOSSES[5:])
    found = judged(
        tmp_path, f"statistic: median, at_most: {{value: 3.28, {WHY}}}", least=7, losses=losses
    )
    assert found.verdict.conclusion == "CONFIRMED"


FINISHED = (3.270, 3.271, 3.272, 3.273, 3.274)
LIMIT = {"value": 3.28, "why": "the rule of the contest"}


@pytest.mark.parametrize(
    ("better", "side", "conclusion"),
    [
        ("lower", "at_most", "INCONCLUSIVE"),
        ("lower", "at_least", "INCONCLUSIVE"),
        ("higher", "at_most", "CONFIRMED"),
        ("higher", "at_least", "CONTRADICTED"),
    ],
)
def test_a_run_that_diverged_is_beyond_any_limit(better: str, side: str, conclusion: str) -> None:
    """One of six has no loss at all: where lower is better it is no support for a low median."""
    median = {"kind": "level", "of": ["a"], "statistic": "median", side: LIMIT}
    claim = made(
        median,
        arms="a",
        measurements={"loss": {**LOSS, "better": better}},
        seeds={"min": 5, "plan": 6, "diverged": "worst"},
    )
    found = diverging(claim, {"a": (*FINISHED, None)})
    assert found.verdict.conclusion == conclusion
    if (better, side) == ("lower", "at_most"):
        assert found.results[0].p == pytest.approx(7 / 64)
        assert re.search(r"interval from 3\.270* up\)", sentence(found))


def test_the_median_of_runs_that_mostly_diverged_is_not_known() -> None:
    median = {"kind": "level", "of": ["a"], "statistic": "median", "at_most": LIMIT}
    claim = made(median, arms="a", seeds={"min": 5, "plan": 12, "diverged": "worst"})
    found = diverging(claim, {"a": (*FINISHED, *[None] * 7)})
    assert "the median of A is > 3.27" in sentence(found)
    assert "it looks above 3.28" in sentence(found)
    assert found.results[0].details["median"].startswith("> 3.27")


def test_printed_numbers_will_do(tmp_path: Path) -> None:
    printed = 'published: {loss: {mean: "3.27818", sd: "0.00127", n: 8}}'
    found = judged(tmp_path, f"at_most: {{value: 3.28, {WHY}}}", evidence=printed)
    assert found.verdict.conclusion == "CONFIRMED"


@pytest.mark.parametrize("n", [3, 8])
def test_equal_seeds_say_nothing_of_a_mean(n: int) -> None:
    """Rounded losses agree by chance; that all lie within the limit is said of their median."""
    level = {"kind": "level", "of": ["a"], "at_most": LIMIT}
    claim = made(level, arms="a", seeds={"min": 3, "plan": 3})
    found = judged_on(claim, {"a": (3.28,) * n})
    assert found.results[0].conclusion == "NOT-TESTED"
    assert f"all {n} replicates are 3.28" in found.results[0].sentence
    assert found.results[0].p is None
    median = made({**level, "statistic": "median"}, arms="a", seeds={"min": 5, "plan": 5})
    assert judged_on(median, {"a": (3.28,) * 8}).results[0].conclusion == "CONFIRMED"


@pytest.mark.parametrize(
    ("level", "mistake"),
    [
        ("statistic: mean", "a level with no limit"),
        (
            f"at_most: {{value: 1, {WHY}}}, at_least: {{value: 0, {WHY}}}",
            "a level with two limits",
        ),
        (f"at_most: {{value: structural, {WHY}}}", "structural is no constant"),
        (
            f"statistic: median, at_most: {{value: 3.28, {WHY}}}, {KNOWN}",
            "the sign test of a median needs no standard deviation",
        ),
        (f"at_most: {{value: 3.28, {WHY}}}, sd: {{value: 0, {WHY}}}", "sd"),
        (
            f"statistic: median, at_most: {{value: 3.28, {WHY}}}",
            "expected: at least 7 seeds at alpha 0.01",
        ),
    ],
)
def test_what_says_nothing_is_refused(tmp_path: Path, level: str, mistake: str) -> None:
    with pytest.raises(SpecError, match=mistake):
        judged(tmp_path, level)


def test_the_plan_of_a_median_says_what_it_finds_and_for_which_values(tmp_path: Path) -> None:
    """Eight seeds at alpha .01 must all keep the limit: 0.8 ** (1/8) of values, if it is 80 %."""
    found = judged(tmp_path, f"statistic: median, at_most: {{value: 3.28, {WHY}}}", least=7)
    (plan,) = found.design
    within = 0.0013 * norm.ppf(0.8 ** (1 / 8))
    assert plan.minimum_detectable == pytest.approx(within, rel=1e-6)
    assert plan.note == (
        "No effect is assumed, so no power is computed. Computed for normal values, whose median "
        "is their mean."
    )
