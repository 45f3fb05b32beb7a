"""A level of accuracies near a bound, as it is declared: judged, refused, flagged, planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from repro import judge
from repro.expectations.kinds import kind_of
from repro.expectations.verdict_words import Conclusion
from repro.judging.document import Document
from repro.specs.claim import Claim
from repro.stats.records import Summary
from tests.judging.made import made

ACCURACY = {"kind": "reported", "label": "accuracy", "better": "higher", "digits": 3}
LEVEL = "test loses its level here"
BOUNDED = {"range": [0, 1]}


def claim(limit: float, *, n: int = 5, **keys: Any) -> Claim:
    """The accuracy of an arm is at least ``limit``; ``keys`` are those of the measurement."""
    level = {"kind": "level", "of": ["a"], "at_least": {"value": limit, "why": "as promised"}}
    return made(
        level,
        arms="a",
        measurements={"loss": {**ACCURACY, **keys}},
        seeds={"min": 3, "plan": n},
    )


def judged(of: Claim, values: Sequence[float]) -> Document:
    """By the public route, on a frame."""
    rows = [("a", seed, "loss", value) for seed, value in enumerate(values)]
    return judge(of, pd.DataFrame(rows, columns=["arm", "seed", "measurement", "value"]))


def flags(document: Document) -> dict[str, str]:
    """The flags, by kind."""
    return {flag.kind: flag.text for flag in document.verdict.flags}


def test_items_make_it_exact() -> None:
    """All right: 250 of 250 are above 98 % with p = .98^250, and no flag is left."""
    found = judged(claim(0.98, range=[0, 1], items=50), [1.0] * 5)
    (result,) = found.results
    assert result.sentence == (
        "Accuracy: the mean of A is 1.000 (90% interval 0.988 to 1.000). At least 0.98, as "
        "claimed (one-sided p = 0.0064)."
    )
    assert result.test == "exact binomial test of all items together, one-sided"
    assert result.details["items"].startswith("250 of 250 are right, all seeds together")
    assert LEVEL not in flags(found)


@pytest.mark.parametrize(
    ("limit", "keys"),
    [(0.985, {}), (0.5, {}), (0.985, BOUNDED), (0.6, BOUNDED)],
)
def test_five_at_a_limit_of_the_scale_are_not_tested(keys: dict[str, Any], limit: float) -> None:
    """Without their items; what to declare is said, and 1 in 32 is nowhere."""
    found = judged(claim(limit, **keys), [1.0] * 5)
    assert found.verdict.conclusion == "NOT-TESTED"
    assert "items`" in found.results[0].sentence
    assert "0.031" not in found.results[0].sentence


def test_a_range_alone_gives_a_bounded_mean() -> None:
    """Which five seeds hardly place: above 0.5, and open above 0.9."""
    values = [0.98, 1.0, 1.0, 1.0, 0.96]
    found = judged(claim(0.9, range=[0, 1], granularity=0.02), values)
    assert found.verdict.conclusion == "INCONCLUSIVE"
    assert found.results[0].test.startswith("bets on a bounded mean")
    assert "declared `items` make it exact" in found.results[0].details["bounded mean"]
    assert judged(claim(0.5, range=[0, 1]), values * 2).verdict.conclusion == "CONFIRMED"


def test_without_either_it_is_flagged_with_the_rate_and_the_advice_works() -> None:
    """The t-test stays; what the flag says to declare takes it away."""
    values = [0.98, 1.0, 1.0, 1.0, 0.96]
    said = flags(judged(claim(0.9), values))[LEVEL]
    assert "errs in 10.0 % of cases instead of 5 % (measured)" in said
    assert "Declare `range` and `items`" in said
    assert LEVEL not in flags(judged(claim(0.9, range=[0, 1], items=50), values))
    percent = [100 * value for value in values]
    assert LEVEL in flags(judged(claim(90.0), percent))
    errors = claim(0.2, better="lower")
    assert LEVEL in flags(judged(errors, [1 - value for value in values]))


def test_far_from_a_bound_it_stays_a_t_test_without_a_flag() -> None:
    """CIFAR at 94 % of 10,000, with its items declared and without; and losses."""
    values = [94.03, 94.21, 93.88, 94.1, 94.35]
    for of in (claim(93.5), claim(93.5, range=[0, 100], items=10_000)):
        found = judged(of, values)
        assert found.results[0].test == "Student's t-test of one sample, one-sided"
        assert LEVEL not in flags(found)
    losses = claim(1.0, better="lower")
    assert LEVEL not in flags(judged(losses, [3.2776, 3.2785, 3.2763, 3.2791, 3.2802]))


def test_printed_numbers_near_a_bound_are_flagged() -> None:
    """Of them the items of single seeds are not known."""
    of = claim(0.9, range=[0, 1], items=50)
    (level,) = of.expectations
    said = kind_of(level).doubt(level, of.context(), lambda arm, name: Summary(5, 0.98, 0.02))
    assert "errs in 10.0 %" in said
    assert "With the values of a table" in said


def test_null_tables_are_rarely_confirmed() -> None:
    """Of 40 by the public route, five seeds whose true mean is the limit; no flag is on one."""
    of = claim(0.98, range=[0, 1], items=50)
    draws = np.random.default_rng(50).binomial(50, 0.98, (40, 5)) / 50
    found = [judged(of, row) for row in draws.tolist()]
    words = [each.verdict.conclusion for each in found]
    assert words.count(Conclusion.CONFIRMED) <= 5
    assert words.count(Conclusion.CONTRADICTED) <= 5
    assert not any(LEVEL in flags(each) for each in found)


def test_the_plan_counts_items() -> None:
    """No scatter has to be planned; the size that is detected needs no mean above 1."""
    (plan,) = judged(claim(0.96, n=10, range=[0, 1], items=50), [1.0] * 10).design
    assert plan.minimum_detectable is not None
    assert 0.015 < plan.minimum_detectable < 0.03
    assert plan.note.endswith("Computed for seeds that scatter no more than their items do.")
