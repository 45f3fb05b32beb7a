"""Printed numbers beside ours: the design of the claim, and what rounding may have hidden."""

from __future__ import annotations

import re

import pytest

from repro.expectations.verdict_words import Validity
from repro.judging.agreement import judge_published
from repro.judging.document import PublishedPart as Part
from repro.specs.claim import Claim, Published
from repro.stats.records import Arm, Sample, Summary, TestResult, known
from repro.stats.t_tests import paired, ratio_of_geometric_means, welch
from tests.judging.made import judged, made

LOWER = {"kind": "difference", "of": ["a", "b"], "direction": "lower"}
BASE = (57.1, 55.2, 56.9, 54.8, 56.0, 58.0, 56.3, 55.5)
GAIN = (0.51, 0.49, 0.50, 0.52, 0.48, 0.51, 0.50, 0.49)
PAIRS = {"a": [base - gain for base, gain in zip(BASE, GAIN, strict=True)], "b": list(BASE)}
SEEDS = {"min": 3, "plan": 8}


def printed(a: tuple[str, str], b: tuple[str, str]) -> Published:
    """Mean and standard deviation of both arms, as printed of ten seeds each."""
    arms = {
        name: {"mean": one[0], "sd": one[1], "n": 10}
        for name, one in zip("ab", (a, b), strict=True)
    }
    document = {"expectation": "e0", "locator": "Table 1", "arms": arms}
    return Published.model_validate(document, strict=False)


def compared(claim: Claim, result: TestResult, ours: tuple[Arm, Arm]) -> Part:
    """The first printed comparison beside this result."""
    (found,) = judge_published(claim, Validity.VALID, {"e0": (result, ours)})
    return found


def of_pairs(test: str = "paired", role: str = "decisive", design: str = "paired") -> Claim:
    """A claim on eight seeds against a printed difference of -0.6."""
    one = {**LOWER, "test": test, "role": role}
    numbers = (printed(("55.80", "0.50"), ("56.40", "0.50")),)
    return made(one, design=design, seeds=SEEDS, published=numbers)


def test_a_paired_claim_is_replicated_in_pairs() -> None:
    """The measures of replication say what the paired test of the same report says."""
    document = judged(of_pairs(), PAIRS)
    found = document.published[0].replication
    assert found is not None
    assert document.results[0].p is not None
    assert document.results[0].p < 1e-9
    assert (found.significant, found.original_in_interval, found.inside) == (True, False, True)
    assert found.pooled_high - found.pooled_low < 0.06
    assert found.prediction[1] - found.prediction[0] < 1.0
    assert any("the paper's arms count as independent" in note for note in found.notes)


def test_a_test_shown_beside_a_paired_claim_follows_its_design_too() -> None:
    """Welch's test as context changes neither the measures of replication nor the prediction."""
    ours = Sample.of(*PAIRS["a"]), Sample.of(*PAIRS["b"])
    own = compared(of_pairs(), paired(*ours), ours)
    beside = compared(of_pairs("welch", "context"), welch(*ours), ours)
    assert beside.replication == own.replication
    assert ends(beside) == ends(own)


def test_independent_arms_are_replicated_as_such() -> None:
    """The same numbers in an independent design keep Welch's error, and a wider prediction."""
    ours = Sample.of(*PAIRS["a"]), Sample.of(*PAIRS["b"])
    apart = compared(of_pairs("welch", design="independent"), welch(*ours), ours)
    pairs = compared(of_pairs(), paired(*ours), ours)
    assert apart.replication is not None
    assert not apart.replication.significant
    assert apart.replication.notes == ()
    assert ends(apart)[1] - ends(apart)[0] > 2 * (ends(pairs)[1] - ends(pairs)[0])


def test_a_printed_arm_is_nobodys_partner() -> None:
    """In a paired design, too, our arm and a printed one are independent."""
    ours = Sample.of(*PAIRS["a"]), Summary(10, 57.0, 0.4)
    found = compared(of_pairs("welch", "context"), welch(*ours), ours)
    assert found.agreement != "NOT-CHECKABLE"
    assert found.replication is not None
    assert found.replication.notes == ()


def test_pairs_without_partners_cannot_be_checked() -> None:
    """Seeds that have no partner are no pairs, and the reason says which."""
    ours = Sample.of(*PAIRS["a"]), Sample(BASE, tuple(range(1, 9)))
    found = compared(of_pairs("welch", "context"), welch(*ours), ours)
    assert (found.agreement, found.replication) == ("NOT-CHECKABLE", None)
    assert "0 only in A" in found.reason


@pytest.mark.parametrize("turned", [False, True])
def test_the_rounding_of_a_shared_baseline_cancels(*, turned: bool) -> None:
    """Our arm and theirs are compared with one printed number, so its digits hide nothing."""
    mine = Sample.of(54.23, 54.43, 54.33, 54.38, 54.28)
    shared = Summary(10, 56.5, 1.0)
    one = printed(("54.0", "0.3"), ("56.5", "1.0"))
    theirs: tuple[Arm, Arm] = (mine, shared)
    if turned:
        one = printed(("56.5", "1.0"), ("54.0", "0.3"))
        theirs = (shared, mine)
    claim = made({**LOWER, "direction": "different"}, published=[one])
    found = compared(claim, welch(*theirs), theirs)
    sign = -1 if turned else 1
    expected = sorted(sign * end for end in (-2.81, -2.19))
    assert found.agreement == "SMALLER"
    assert ends(found) == pytest.approx(expected, abs=0.006)
    if not turned:
        assert found.replication is not None
        assert not found.replication.inside


def test_the_rounding_of_a_shared_baseline_cancels_from_a_ratio() -> None:
    """More digits of the shared baseline change no end of the predicted ratio."""
    ratio = {"kind": "ratio", "of": ["a", "b"], "at_least": {"value": 2, "why": "made for a test"}}
    ours = Sample.of(97.0, 101.0, 103.0), Summary(10, 20.0, 0.0)
    result = ratio_of_geometric_means(ours[0], Sample.of(20.0, 20.0), at_least=2.0)
    reasons = set()
    for mean in ("20", "20.00"):
        claim = made(ratio, published=[printed(("100", "3"), (mean, "0"))])
        reasons.add(compared(claim, result, ours).reason)
    assert len(reasons) == 1


def test_the_rounding_of_two_baselines_widens() -> None:
    """A baseline of our own is not the printed one, so half a unit of its last digit counts."""
    ours = Sample.of(54.2, 54.4, 54.3), Sample.of(56.4, 56.6, 56.5)
    wide, narrow = (
        ends(compared(made(LOWER, published=[one]), welch(*ours), ours))
        for one in (
            printed(("54.0", "0.30"), ("56.5", "0.30")),
            printed(("54.0", "0.30"), ("56.50", "0.30")),
        )
    )
    assert (wide[1] - wide[0]) - (narrow[1] - narrow[0]) == pytest.approx(0.09, abs=0.021)


def ends(found: Part) -> tuple[float, float]:
    """The ends of the prediction interval, as the reason names them."""
    said = re.search(r"between (\S+) and ([^;\s]+);", found.reason)
    assert said is not None
    low, high = (float(text.replace("−", "-")) for text in said.groups())
    return low, high


def test_the_reason_names_the_interval() -> None:
    """The ends that the other tests read are those of the prediction around the printed effect."""
    ours = Sample.of(*PAIRS["a"]), Sample.of(*PAIRS["b"])
    low, high = ends(compared(of_pairs(), paired(*ours), ours))
    assert low < -0.6 < high
    assert known(paired(*ours).interval).low > low


def test_a_structural_value_counts_as_exact() -> None:
    """A rank at its bound cannot vary, so it needs no deviation and adds nothing to the error."""
    ratio = {"kind": "ratio", "of": ["a", "b"], "at_least": {"value": 2, "why": "made for a test"}}
    ours = Sample.of(9979.0, 9982.0, 9984.0), Sample.of(282.0, 282.0, 282.0)
    result = ratio_of_geometric_means(*ours, at_least=2.0)
    found = {}
    for name, b in (
        ("structural", {"mean": "282", "structural": "d + 2, for every seed"}),
        ("printed", {"mean": "282"}),
    ):
        arms = {"a": {"mean": "9981", "sd": "2", "n": 11}, "b": b}
        one = Published.model_validate(
            {"expectation": "e0", "locator": "Table 2", "arms": arms}, strict=False
        )
        found[name] = compared(made(ratio, published=[one]), result, ours)
    assert found["printed"].agreement == "NOT-CHECKABLE"
    assert found["structural"].agreement == "COMPATIBLE"
    assert found["structural"].locator == "Table 2; B: d + 2, for every seed"
    low, high = ends(found["structural"])
    # by hand: logs of 9981 (sd 2.5 of 11, mean off by 0.5) and of ours, nothing of the 282
    errors = (2.5 / 9981 / 11**0.5, 2.5166 / 9981.67 / 3**0.5)
    reach = 4.1 * (errors[0] ** 2 + errors[1] ** 2) ** 0.5 + 0.5 / 9981
    assert 9981 / 282 * (1 - reach) < low < high < 9981 / 282 * (1 + reach)


def test_a_structural_value_has_no_scatter() -> None:
    """A printed deviation above 0 contradicts that the value cannot vary."""
    arm = {"mean": "282", "sd": "3", "n": 11, "structural": "d + 2 of every seed"}
    with pytest.raises(ValueError, match="leave sd out"):
        Published.model_validate(
            {"expectation": "e0", "locator": "Table 2", "arms": {"b": arm}}, strict=False
        )


@pytest.mark.parametrize("factor", [1e16, 1e30, 1e58])
def test_values_far_above_the_printed_ones_have_every_measure(factor: float) -> None:
    """An effect 1e16 times the printed one is compared in numbers, none of them missing."""
    values = {arm: [value * factor for value in own] for arm, own in PAIRS.items()}
    document = judged(of_pairs(test="welch", design="independent"), values)
    found = document.published[0].replication
    assert found is not None
    assert found.sceptical_controlled is not None
    assert 0 <= found.sceptical_controlled <= 1
    assert found.inside  # with a spread as large as the values


def test_a_ratio_too_large_for_a_number_is_not_compared() -> None:
    """Two seeds 120 orders of magnitude apart predict nothing, and the report says why."""
    least = {"value": 2.0, "why": "twice as large"}
    ratio = {"kind": "ratio", "of": ["a", "b"], "at_least": least}
    numbers = (printed(("55.80", "0.50"), ("26.40", "0.50")),)
    claim = made(ratio, seeds={"min": 2, "plan": 2}, published=numbers)
    (found,) = judged(claim, {"a": [1e-60, 1e60], "b": [1.0, 1.1]}).published
    assert (found.agreement, found.replication) == ("NOT-CHECKABLE", None)
    assert "too large for a number" in found.reason
