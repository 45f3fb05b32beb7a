"""A new run against a reference: what is concluded, said, flagged, planned and refused."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from repro.evidence.published import PublishedNumbers
from repro.expectations.kinds import kind_of
from repro.judging.assemble import check_claim
from repro.judging.document import Document, Result
from repro.judging.gather import gather
from repro.report.badges import error_rate, strength
from repro.report.parts import parts
from repro.specs.claim import Claim
from repro.stats.records import Sample, known
from repro.stats.reference_runs import within
from repro.store.run_store import RunStore
from tests.judging.made import judged, made, only

ROOT = Path(__file__).parents[2]
REFERENCE = (3.21, 3.15, 3.24, 3.17, 3.26, 3.19, 3.12, 3.22, 3.28, 3.16)
"""Mean 3.2, standard deviation 0.0512: one more run is within 3.08 and 3.32."""

SKEWED = (1.0, 1.1, 1.2, 1.0, 1.3, 1.1, 1.2, 6.0, 2.0, 1.0)
WHY = {"why": "what a reader would call a change"}
ONE = {"min": 1, "plan": 1}


def claim(seeds: Mapping[str, int] = ONE, **how: Any) -> Claim:
    return made({"kind": "within", "of": ["a", "b"], **how}, seeds=seeds)


def found(*new: float, reference: Sequence[float] = REFERENCE, **how: Any) -> Result:
    return only(claim(**how), {"a": new, "b": reference})


def document(*new: float, reference: Sequence[float] = REFERENCE, **how: Any) -> Document:
    return judged(claim(**how), {"a": new, "b": reference})


def mistakes(**how: Any) -> list[str]:
    (declared,) = claim(**how).expectations
    return [each.what for each in kind_of(declared).mistakes(declared, claim(**how).context())]


def test_a_run_outside_is_against_the_claim() -> None:
    result = found(3.41)
    assert result.conclusion == "CONTRADICTED"
    said = "Loss: A is 3.41, outside 3.08 to 3.32, the range of a new run by the 10 runs of B"
    assert result.sentence.startswith(f"{said}. Outside, against the claim (p = 0.00")


def test_a_run_inside_proves_little_and_says_what_is_missed() -> None:
    result = found(3.22)
    assert result.conclusion == "INCONCLUSIVE"
    said = "A is 3.22, inside 3.08 to 3.32, the range of a new run by the 10 runs of B. Inside, "
    said += (
        "which proves little: a shift of 0.12 (2.3 standard deviations) would be inside half of "
    )
    said += "the time. No number of runs confirms it without a `margin`."
    assert result.sentence == f"Loss: {said}"


def test_a_whole_interval_within_the_margin_confirms() -> None:
    result = found(3.22, margin={"abs": 0.2, **WHY})
    assert result.conclusion == "CONFIRMED"
    assert "Inside, and within the margin of 0.2, as claimed (p = 0.0" in result.sentence
    assert [limit.value for limit in result.limits] == [-0.2, 0.2]
    assert found(3.22, margin={"abs": 0.1, **WHY}).conclusion == "INCONCLUSIVE"


def test_no_margin_makes_a_run_outside_as_claimed() -> None:
    """It is said where what a reader would call a change is ruled out."""
    result = found(3.33, margin={"abs": 0.3, **WHY})
    assert result.conclusion == "CONTRADICTED"
    said = "Outside, against the claim (p = 0.039), though shifted by less than the margin of 0.3."
    assert said in result.sentence
    assert "though" not in found(3.33, margin={"abs": 0.2, **WHY}).sentence
    assert "though" not in found(3.41).sentence


@pytest.mark.parametrize(
    ("side", "new", "conclusion", "said"),
    [
        (
            "higher",
            3.31,
            "CONTRADICTED",
            "above 3.30, the highest to expect of a new run",
        ),
        (
            "higher",
            2.90,
            "INCONCLUSIVE",
            "not above 3.30, the highest to expect of a new run",
        ),
        ("lower", 3.09, "CONTRADICTED", "below 3.10, the lowest to expect of a new run"),
        (
            "lower",
            3.50,
            "INCONCLUSIVE",
            "not below 3.10, the lowest to expect of a new run",
        ),
    ],
)
def test_one_side_alone_may_be_bad(side: str, new: float, conclusion: str, said: str) -> None:
    result = found(new, side=side)
    assert result.conclusion == conclusion
    assert said in result.sentence


def test_one_sided_margins_lie_on_the_bad_side() -> None:
    result = found(2.9, side="higher", margin={"abs": 0.05, **WHY})
    assert result.conclusion == "CONFIRMED"
    assert [limit.value for limit in result.limits] == [0.05]


def test_the_mean_of_several_is_expected_nearer() -> None:
    result = found(3.29, 3.28, 3.30, seeds={"min": 3, "plan": 3})
    assert result.conclusion == "CONTRADICTED"
    assert "of a mean of 3 by the" in result.sentence


def test_new_runs_that_scatter_more_confirm_nothing() -> None:
    """Their mean is inside by chance: sd 1.1 beside .05, which the interval does not have."""
    wild, seeds = (2.0, 4.4, 3.2, 2.2, 4.21), {"min": 3, "plan": 5}
    result = found(*wild, seeds=seeds, margin={"abs": 0.2, **WHY})
    assert result.conclusion == "INCONCLUSIVE"
    said = "but its runs scatter 22 times as much as those of "
    assert said in result.sentence.partition(". ")[0]
    assert ": nothing is confirmed. The interval has the scatter of the" in result.sentence
    assert result.details["scatter of new runs"].startswith("22 times that of the reference")
    tame = tuple(3.2 + (value - 3.2) / 22 for value in wild)
    assert found(*tame, seeds=seeds, margin={"abs": 0.2, **WHY}).conclusion == "CONFIRMED"
    assert found(*(each + 1 for each in wild), seeds=seeds).conclusion == "CONTRADICTED"


def test_nights_share_alpha_and_say_how_many_alarms_are_false() -> None:
    result = found(3.36, nights=30)
    assert result.conclusion == "INCONCLUSIVE"
    assert "to expect while nothing changes: 0.050 in 30 nights." in result.sentence
    assert found(3.36).conclusion == "CONTRADICTED"
    outside = found(3.45, nights=30)
    assert outside.conclusion == "CONTRADICTED"
    assert " over 30 nights)" in outside.sentence


def test_a_limit_of_tolerance_is_farther() -> None:
    result = found(3.31, side="higher", tolerance=0.9)
    assert result.conclusion == "INCONCLUSIVE"
    assert "noncentral t" in result.test
    assert found(3.4, side="higher", tolerance=0.9).conclusion == "CONTRADICTED"
    assert "for 90% of references at most 5%" in result.details["limit of tolerance"]


def test_what_is_measured_of_a_limit_of_tolerance_is_no_error_rate() -> None:
    """It is the share of references for which the limit is too near, where 10 % is promised."""
    made_document = document(3.41, reference=SKEWED, side="higher", tolerance=0.9)
    (text,) = {each.text for each in made_document.levels}
    assert re.search(r"it fails for [0-9.]+ % of references instead of 10 %", text)
    assert error_rate(made_document) == strength(made_document.verdict.strength)


def test_details_say_what_one_reference_does_night_after_night() -> None:
    details = found(3.22).details
    assert details["reference"] == "10 runs, mean 3.20, standard deviation 0.051"
    assert details["night after night"].startswith("1.5 false alarms in 30 nights on average, some")
    assert "one reference in ten has a rate above 12." in details["night after night"]
    assert details["missed half of the time"] == "a shift of 0.12 (2.3 standard deviations)"


def test_few_runs_hide_skew_and_the_report_says_what_it_does() -> None:
    """Where the logarithm has sd .5, one run is outside in 6.8 % at five runs of a reference."""
    few = found(3.22, reference=REFERENCE[:5]).details["few_seeds"]
    assert few.startswith("With 5 seeds, skew and rare failures cannot be seen: with skew the test")
    assert " errs in up to 6.8 % of cases instead of 5 %" in few


def test_skew_of_the_reference_is_flagged() -> None:
    texts = [each.text for each in document(1.2, reference=SKEWED).levels]
    said = "The prediction interval of one run: with 10 seeds and"
    assert any(text.startswith(said) for text in texts)


def test_few_against_many_is_no_flaw_here() -> None:
    """One new run against ten is what it is for; and the reference was there before."""
    flags = {flag.kind for flag in document(3.22).verdict.flags}
    assert flags.isdisjoint({"unequal numbers of seeds", "more seeds than planned"})


def test_the_only_new_run_is_not_left_out() -> None:
    """Without it there is nothing to judge, which says nothing of the runs of the reference."""
    result = found(3.41)
    assert {item.arm for item in result.left_out} == {"b"}
    table = parts(document(3.41))
    assert table is not None
    assert [row.remark for group in table.groups for row in group.rows] == ["two-sided p = 0.0036"]


def test_what_is_not_a_reference_is_not_tested() -> None:
    result = found(3.2, reference=[3.2] * 5)
    assert result.conclusion == "NOT-TESTED"
    assert "all 5 runs of the reference are 3.2" in str(result)
    assert found(3.2, reference=[3.2, 3.3]).conclusion == "NOT-TESTED"


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ({"tolerance": 0.9}, "a limit of tolerance is on one side"),
        ({"tolerance": 0.9, "side": "lower", "nights": 30}, "for any number of nights"),
        ({"margin": {"relative": 0.1, **WHY}}, "a relative margin moves"),
    ],
)
def test_what_makes_no_sense_is_a_mistake(how: Any, what: str) -> None:
    assert any(what in each for each in mistakes(**how))


def test_without_a_margin_no_number_of_runs_settles_it() -> None:
    (step,) = document(3.22).changes
    assert "no number of runs confirms it without a `margin`" in step.text


def test_a_printed_run_and_a_printed_reference(tmp_path: Any) -> None:
    """The new side is a mean and n alone; the reference has its sd."""
    printed = {
        "a": {"label": "New", "source": {"published": {"loss": {"mean": "3.41", "n": 1}}}},
        "b": {
            "label": "Old",
            "source": {"published": {"loss": {"mean": "3.20", "sd": "0.05", "n": 10}}},
        },
    }
    arms = {
        name: {**arm, "source": PublishedNumbers.model_validate(arm["source"])}
        for name, arm in printed.items()
    }
    whole = made({"kind": "within", "of": ["a", "b"]}, seeds=ONE).model_dump(by_alias=True)
    made_claim = Claim.model_validate({**whole, "arms": arms}, strict=False)
    found = check_claim(made_claim, gather(made_claim, RunStore(tmp_path / "store")))
    assert found.results[0].conclusion == "CONTRADICTED"
    assert "With 10 runs of the reference a shift of 2.3" in found.design[0].note


def test_the_page_on_convergence_points_says_what_both_rules_say() -> None:
    """MLPerf's rule: means and deviations without the extremes, one-sided at 5 %."""
    reference = np.repeat([7.0, 8.0, 9.0], [3, 16, 1])
    kept = np.sort(reference)[1:-1]
    spread = math.sqrt(1 / len(kept) + 1 / 3) * kept.std()
    line = kept.mean() - stats.t.ppf(0.95, len(kept) + 3 - 2) * spread
    reach = stats.t.ppf(0.95, 19) * reference.std(ddof=1) * math.sqrt(1 / 5 + 1 / 20)
    page = (ROOT / "docs/how-to/gate.md").read_text("utf-8")
    assert f"line at {line:.2f}" in " ".join(page.split())
    assert f"below {reference.mean() - reach:.2f}, the lowest" in page
    for runs, fast in ((np.array([7, 7, 7, 8, 8]), True), (np.array([7, 7, 8, 8, 8]), False)):
        found = within(Sample.of(*map(float, runs)), Sample.of(*reference), side="lower")
        assert (known(found.p_opposite) < 0.05) == (np.sort(runs)[1:-1].mean() < line) == fast
