"""A claim whose test is known to lose its level in such a design says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from repro.judging.fragility import measured_levels
from repro.judging.judge import judge_claim
from tests.judging.made import LOSS, judged, made, seen
from tests.judging.test_kinds import difference

WIDE = (10.0, 14.0, 6.0, 12.0, 8.0, 11.0, 9.0, 13.0, 7.0, 10.5)
NARROW = tuple(12 + (value - 10) / 4 for value in WIDE)


@pytest.mark.parametrize(
    ("looks", "rate"), [([3, 6, 8, 10], "5.7 %"), (list(range(3, 11)), "6.3 %"), ([5, 10], None)]
)
def test_planned_looks_are_flagged_by_their_plan(looks: list[int], rate: str | None) -> None:
    """Several looks at few pairs, 4:1 in spread, err more often than 5 %; two looks do not."""
    how = {"method": "group_obf", "looks": looks}
    seeds = {"min": looks[0], "plan": looks[0], "max": 10}
    claim = made(difference(), sequential=how, seeds=seeds)
    document = judged(claim, {"a": WIDE, "b": NARROW})
    flags = [flag.text for flag in document.verdict.flags if "planned looks" in flag.text]
    assert len(flags) == (rate is not None)
    assert all(f"it errs in {rate} of cases" in text for text in flags)


@pytest.mark.parametrize("test", ["brunner_munzel", "yuen", "permutation", "student"])
@pytest.mark.parametrize("n", [5, 6, 10])
def test_equal_normal_spreads_are_told_nothing(test: str, n: int) -> None:
    """Tests that suppose arms alike are told what is seen: in 2 % of such tables, not in half.

    What is known against a test depends on its name and the arms, so one result serves them all.
    """
    rng = np.random.default_rng([11, n])
    claim = made(difference(test), seeds={"min": 2, "plan": n})
    tables = [seen(claim, {"a": rng.normal(9, 1, n), "b": rng.normal(10, 1, n)}) for _ in range(12)]
    result = judge_claim(claim, tables[0]).judged
    told = [measured_levels(claim, result, evidence) for evidence in tables]
    assert sum(map(bool, told)) <= 1


def test_spreads_that_are_seen_to_differ_are_told() -> None:
    """Ten seeds that scatter four times as much as the others: Student's test errs in 6 %."""
    claim = made(difference("student"), seeds={"min": 2, "plan": 10})
    (level,) = judged(claim, {"a": WIDE, "b": NARROW}).levels
    assert "10 replicates per arm, standard deviations 3:1 it errs in" in level.text


HALF_R = {"value": 0.5, "why": "half of it"}
SIZES = {"loss": LOSS, "size": {**LOSS, "label": "size"}}
TOGETHER = {"kind": "association", "of": ["a"], "against": "size", "points": "replicates"}


@pytest.mark.parametrize("claimed", [{"direction": "positive"}, {"magnitude_at_least": HALF_R}])
def test_pearson_is_flagged_where_heavy_tails_are_seen(claimed: dict[str, Any]) -> None:
    """Not of normal points, however they correlate; the name of the test says what it supposes."""
    rng = np.random.default_rng(4)
    claim = made(
        {**TOGETHER, **claimed}, arms="a", measurements=SIZES, seeds={"min": 5, "plan": 30}
    )

    def told(tails: np.ndarray) -> list[str]:
        x, y = rng.standard_normal((2, 30)) * tails
        document = judged(claim, {"a": {"size": x.tolist(), "loss": (x + y / 3).tolist()}})
        assert "for tails no heavier than normal ones" in document.results[0].test
        return [level.text for level in document.levels]

    assert sum(map(bool, (told(np.ones(30)) for _ in range(10)))) <= 1
    heavy = [told(np.sqrt(4 / rng.chisquare(4, 30))) for _ in range(10)]
    assert sum(any("heavy tails (t4)" in text for text in texts) for texts in heavy) >= 3


def normal(n: int) -> list[float]:
    """The quantiles of a normal distribution."""
    return [float(value) for value in ndtri((np.arange(n) + 0.5) / n)]


def test_three_seeds_against_thirty_are_flagged() -> None:
    """Welch's test errs in 7.6 % of such cases, and the verdict carries the flag with the rate."""
    values = {"a": normal(3), "b": normal(30)}
    document = judged(made(difference(), seeds={"min": 3, "plan": 3}), values)
    (level,) = document.levels
    assert "with 3 against 30 replicates, equal standard deviations it errs in 7.6 %" in level.text
    assert any(level.text in flag.text for flag in document.verdict.flags)


def test_equal_seeds_are_not_flagged() -> None:
    """Ten normal seeds against ten are told nothing."""
    values = {"a": normal(10), "b": normal(10)}
    assert judged(made(difference(), seeds={"min": 3, "plan": 10}), values).levels == ()


def test_skewed_differences_of_pairs_are_flagged() -> None:
    """The paired t-test is told by the shape of the differences, not by that of the arms."""
    rng = np.random.default_rng(5)
    b = 100 * rng.standard_normal(20)
    plain, skew = rng.standard_normal(20), np.exp(rng.standard_normal(20))
    claim = made(difference("paired"), design="paired", seeds={"min": 3, "plan": 20})
    texts = {}
    for name, own in (("plain", plain), ("skew", skew)):
        document = judged(claim, {"a": (b + own).tolist(), "b": b.tolist()})
        texts[name] = [level.text for level in document.levels]
    assert texts["plain"] == []
    assert any("skewed values" in text or "far from" in text for text in texts["skew"])


LIMIT = {"value": 100, "why": "far above them all"}


@pytest.mark.parametrize("how", [{}, {"sequential": {"method": "eprocess_t"}}])
def test_one_arm_with_seeds_that_collapsed_is_flagged(how: dict[str, Any]) -> None:
    """Two of ten far below the others: a mean held to a constant errs far too often then."""
    level = {"kind": "level", "of": ["a"], "at_most": LIMIT}
    seeds = {"min": 6, "plan": 6, "max": 30} if how else {"min": 3, "plan": 10}
    claim = made(level, arms="a", seeds=seeds, **how)
    found = {}
    for name, values in (("plain", normal(10)), ("far", [*normal(10)[1:9], -10.0, -10.2])):
        document = judged(claim, {"a": values}, order="started")
        found[name] = [each.text for each in document.levels]
    assert found["plain"] == []
    (said,) = found["far"]
    assert "one seed in five far from the others" in said


def test_any_of_means_against_constants_is_not_taken_for_any_of_differences() -> None:
    """Holm's method was measured for two arms, and one arm has another rate."""
    levels = [{"kind": "level", "of": ["a"], "at_most": LIMIT} for _ in range(3)]
    seeds = {"min": 3, "plan": 10}
    claim = made(*levels, arms="a", seeds=seeds, combine={"any": ["e0", "e1", "e2"]})
    document = judged(claim, {"a": [*normal(10)[1:9], -10.0, -10.2]})
    assert [each.test for each in document.levels] == ["level"] * 3


KNOWN_SD = {"value": 0.6, "why": "that of a hundred runs"}


@pytest.mark.parametrize(("skewed", "told"), [(True, 1), (False, 0)])
def test_the_z_test_of_skewed_values_is_flagged(*, skewed: bool, told: int) -> None:
    """It errs in 6.1 % of cases with thirty skewed values, as measured, and is told by its name."""
    values = 0.3 * np.exp(normal(30)) if skewed else 0.6 * np.array(normal(30))
    limit = {"value": 2.0, "why": "the limit"}
    level = {"kind": "level", "of": ["a"], "at_most": limit, "sd": KNOWN_SD}
    claim = made(level, arms="a", seeds={"min": 3, "plan": 30})
    levels = judged(claim, {"a": [float(value) for value in values]}).levels
    assert len(levels) == told
    assert all(each.text.startswith("The z-test of one sample: with 30 seeds") for each in levels)


@pytest.mark.parametrize(("spread", "told"), [(0.6, 0), (1.2, 1)])
def test_a_known_standard_deviation_that_seeds_refute_is_flagged(spread: float, told: int) -> None:
    """Ten seeds that scatter twice as much: the z-test would err in 20 % of cases, not 5 %."""
    values = spread / np.std(normal(10), ddof=1) * np.array(normal(10))
    limit = {"value": 2.0, "why": "the limit"}
    level = {"kind": "level", "of": ["a"], "at_most": limit, "sd": KNOWN_SD}
    claim = made(level, arms="a", seeds={"min": 3, "plan": 10})
    document = judged(claim, {"a": [float(value) for value in values]})
    assert len(document.levels) == told
    for each in document.levels:
        assert "the 10 seeds have 1.2, more than chance explains" in each.text
        assert "it would err in 20.5% of cases instead of 5.00%" in each.text
        assert any(each.text in flag.text for flag in document.verdict.flags)
