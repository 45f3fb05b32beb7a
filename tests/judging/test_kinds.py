"""Every kind of expectation through the judging of a claim: conclusion, sentence, limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from repro.judging.document import Result
from tests.judging.made import LOSS, judged, made, only

LOW = (10.0, 10.1, 9.9, 10.2, 9.8)
HIGH = (12.0, 12.1, 11.9, 12.2, 11.8)
ALIKE = (10.03, 10.13, 9.87, 10.14, 9.83)
"""The mean of LOW, and no value of it: an arm with the same values is a copy."""
NEAR = (10.3, 10.4, 10.2, 10.5, 10.1)
HALF = {"abs": 0.5, "why": "half a unit of loss"}
SIZES = {"loss": LOSS, "size": {**LOSS, "label": "size"}}


def difference(test: str = "welch", direction: str = "lower", **more: Any) -> dict[str, Any]:
    return {"kind": "difference", "of": ["a", "b"], "direction": direction, "test": test, **more}


def margin(kind: str, size: Mapping[str, Any] = HALF, of: str = "ab") -> dict[str, Any]:
    return {"kind": kind, "of": list(of), "margin": size}


def found(
    one: Mapping[str, Any],
    a: tuple[float, ...] | list[float],
    b: tuple[float, ...] | list[float],
    **fields: Any,
) -> Result:
    return only(made(one, **fields), {"a": a, "b": b})


@pytest.mark.parametrize("test", ["welch", "student", "permutation", "brunner_munzel", "yuen"])
def test_every_test_of_a_difference_concludes_both_ways(test: str) -> None:
    """a far below b confirms *lower* and contradicts *higher*; equal arms decide nothing."""
    assert found(difference(test), LOW, HIGH).conclusion == "CONFIRMED"
    assert found(difference(test, "higher"), LOW, HIGH).conclusion == "CONTRADICTED"
    assert found(difference(test), LOW, LOW[::-1]).conclusion == "INCONCLUSIVE"
    assert found(difference(test, "different"), LOW, HIGH).claimed == "none"


def test_the_sentence_of_a_difference() -> None:
    """Effect, interval and p as scipy gives them: -2, 0.2306 either way, 4.1e-8."""
    one = found(difference(), LOW, HIGH)
    assert one.sentence == (
        "Loss: A is 2.00 lower than B (95% interval −2.23 to −1.77). "
        "Better, as claimed (p = 4.1e−8)."
    )
    assert (one.scale, one.claimed, [each.value for each in one.limits]) == (
        "difference",
        "below",
        [0],
    )


def test_brunner_munzel_speaks_of_a_chance() -> None:
    """Its effect is the chance that a is above b, whose limit is one half."""
    one = found(difference("brunner_munzel"), LOW, HIGH)
    assert one.scale == "share"
    assert one.limits[0].value == 0.5
    assert one.sentence.startswith("Loss: A is higher than B in 0% of pairs of seeds.")


@pytest.mark.parametrize(
    ("b", "repeated", "conclusion"),
    [(HIGH, 1, "CONFIRMED"), (NEAR, 4, "TRIVIAL"), (NEAR, 1, "INCONCLUSIVE"), (ALIKE, 4, None)],
)
def test_a_smallest_effect_of_interest(
    b: tuple[float, ...], repeated: int, conclusion: str | None
) -> None:
    """2 is more than 0.5; 0.3 is real but less, with 20 seeds; with 5 seeds it is not known."""
    one = found(difference(smallest_effect=HALF), LOW * repeated, b * repeated)
    assert one.conclusion == (conclusion or "CONTRADICTED")
    assert "by more than 0.5" in one.sentence
    assert one.limits[0].value == -0.5


def test_a_paired_difference() -> None:
    """A shift of 0.3 in every pair, lost in the scatter of the arms, is found in the pairs."""
    wide = (10.0, 14.0, 6.0, 12.0, 8.0)
    shifted = [value + 0.3 + place / 50 for place, value in enumerate(wide)]
    paired = found(difference("paired"), wide, shifted, design="paired")
    assert paired.conclusion == "CONFIRMED"
    assert len(paired.left_out) == 5
    assert found(difference(), wide, shifted).conclusion == "INCONCLUSIVE"


@pytest.mark.parametrize(
    "size",
    [
        HALF,
        {"relative": 0.05, "why": "five per cent"},
        {"of_gain": {"share": 0.25, "gain": "2.0"}, "why": "a quarter of it"},
    ],
    ids=["abs", "relative", "of_gain"],
)
@pytest.mark.parametrize(
    ("kind", "below", "above"),
    [
        ("equivalence", "CONTRADICTED", "CONTRADICTED"),
        ("non_superiority", "CONTRADICTED", "CONFIRMED"),
        ("non_inferiority", "CONFIRMED", "CONTRADICTED"),
    ],
)
def test_margins_of_every_form(kind: str, below: str, above: str, size: Any) -> None:
    """With loss, lower is better: 2 below is superior, 2 above inferior; equal is within."""
    one = found(margin(kind, size), LOW, HIGH)
    assert one.conclusion == below
    assert found(margin(kind, size), HIGH, LOW).conclusion == above
    same = found(margin(kind, size), LOW * 4, ALIKE * 4)
    assert same.conclusion == "CONFIRMED"
    assert same.scale == ("relative" if "relative" in size else "difference")
    assert "the difference between A and B rounds to 0 (90% interval" in same.sentence
    shown = {"abs": "0.5", "relative": "5%", "of_gain": "0.5 (25% of the claimed 2.0)"}
    assert shown[next(iter(size))] in same.sentence
    scattered = found(margin(kind, size), (8.0, 10, 12), (8.5, 10, 11.5))
    assert scattered.conclusion == "INCONCLUSIVE"
    assert scattered.smallest_confirmable_margin is not None


def test_equivalent_does_not_mean_equal() -> None:
    """A difference that is found inside the margin is said to be there."""
    one = found(margin("equivalence"), LOW * 4, NEAR * 4)
    assert one.conclusion == "CONFIRMED"
    assert one.sentence.endswith("There is a difference, but smaller than the margin.")


@pytest.mark.parametrize(
    ("kind", "least", "conclusion"),
    [
        ("ratio", 1.1, "CONFIRMED"),
        ("ratio", 1.3, "CONTRADICTED"),
        ("ratio", 1.2, "INCONCLUSIVE"),
        ("separation", 1.1, "CONFIRMED"),
        ("separation", 1.2, "INCONCLUSIVE"),
        ("separation", 1.3, "INCONCLUSIVE"),
    ],
)
def test_ratios_and_separation(kind: str, least: float, conclusion: str) -> None:
    """b is 1.2 times a, and between 1.16 and 1.24 times in every pair of seeds."""
    one = found(
        {"kind": kind, "of": ["b", "a"], "at_least": {"value": least, "why": "so many times"}},
        LOW,
        HIGH,
    )
    assert one.conclusion == conclusion
    assert one.limits[0].value == least
    assert f"{least:g}" in one.sentence


def test_a_large_limit_is_shown_with_all_its_digits() -> None:
    """In the sentence and at the line of the figure, as the numbers beside it are."""
    limit = {"value": 1235711, "why": "less than twice as many operations"}
    one = found({"kind": "bound", "of": ["a"], "at_most": limit}, LOW, HIGH)
    assert "at most 1,235,711 in" in one.sentence
    assert one.limits[0].label == "bound, 1,235,711"


def test_separation_the_other_way_round_contradicts() -> None:
    """That a is above 1.1 times b is contradicted where all of b is above all of a."""
    least = {"value": 1.1, "why": "so many times"}
    one = found({"kind": "separation", "of": ["a", "b"], "at_least": least}, LOW, HIGH)
    assert one.conclusion == "CONTRADICTED"
    assert one.sentence.startswith("Loss: A is above 1.1 times B in 0 of 25 pairs")


@pytest.mark.parametrize(
    ("limit", "share", "conclusion"),
    [
        (11, None, "CONFIRMED"),
        (10.1, None, "CONTRADICTED"),
        (11, 0.5, "CONFIRMED"),
        (11, 0.99, "INCONCLUSIVE"),
        (5, 0.5, "CONTRADICTED"),
    ],
)
def test_bounds_and_shares(limit: float, share: float | None, conclusion: str) -> None:
    """All of 15 keep 11, 12 keep 10.1, none keeps 5; 15 of 15 say at least 81.9 % (one-sided)."""
    more = {} if share is None else {"share": {"value": share, "why": "more than this"}}
    one = found(
        {
            "kind": "bound",
            "of": ["a"],
            "at_most": {"value": limit, "why": "a declared bound"},
            **more,
        },
        LOW * 3,
        HIGH,
    )
    assert one.conclusion == conclusion
    assert f"within the bound of at most {limit:g}" in one.sentence
    if share is not None:
        assert one.scale == "share"
        assert f"than {100 * share:g}%" in one.sentence


def test_a_trend_and_an_ordering() -> None:
    """Three arms in order confirm both, in reverse order contradict both."""
    values = {"a": LOW, "b": HIGH, "c": [value + 2 for value in HIGH]}
    for direction, conclusion in (("increasing", "CONFIRMED"), ("decreasing", "CONTRADICTED")):
        of = {"of": list("abc"), "direction": direction}
        claim = made(
            {"kind": "trend", "test": "welch", **of},
            {"kind": "trend", "test": "jonckheere", **of},
            {"kind": "trend", "test": "kendall", **of},
            {"kind": "ordering", **of},
            arms="abc",
        )
        results = judged(claim, values).results
        assert {one.conclusion for one in results} == {conclusion}
    assert [one.scale for one in results] == [
        "difference",
        "share",
        "correlation",
        "difference",
    ]
    assert results[0].effect == pytest.approx(2)
    assert "No other of the 3 pairs supports the claim less." in results[3].sentence


def test_proportions_with_and_without_clusters() -> None:
    """10 of 10 units: p = 1/1024 as units, 1/32 as five clusters of two."""
    alone = found({"kind": "proportion", "of": ["a", "b"], "clusters": "none"}, LOW * 2, HIGH * 2)
    whole = found({"kind": "proportion", "of": ["a", "b"], "clusters": 2}, LOW * 2, HIGH * 2)
    assert alone.p == pytest.approx(1 / 1024)
    assert whole.p == pytest.approx(1 / 32)
    assert alone.conclusion == whole.conclusion == "CONFIRMED"
    assert alone.details["wins"] == "10"
    assert "More than 50%, as claimed" in alone.sentence
    mixed = found({"kind": "proportion", "of": ["a", "b"], "clusters": "none"}, LOW, LOW[::-1])
    assert mixed.conclusion == "INCONCLUSIVE"


def test_the_paper_s_own_rule_concludes_nothing() -> None:
    """As published it is shown as context, with a warning where p is large."""
    rule = {**difference("student"), "rule": "as_published", "role": "context"}
    document = judged(made(difference(), rule), {"a": LOW, "b": LOW[::-1]})
    one = document.results[1]
    assert one.conclusion is None
    assert one.sentence.endswith("A large p-value is no evidence of equality.")
