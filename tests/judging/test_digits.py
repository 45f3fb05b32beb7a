"""How many digits a report shows of numbers that were not measured here."""

from __future__ import annotations

import pytest

from tests.judging.made import LOSS, judged, made
from tests.judging.test_kinds import difference

SHARES = {
    "a": (0.0423, 0.0412, 0.0431, 0.0419, 0.0428),
    "b": (0.0497, 0.0489, 0.0501, 0.0493, 0.0505),
}


def test_errors_as_fractions_can_be_told_apart() -> None:
    """Two digits were asked for by default, and all values would be 0.04 or 0.05."""
    document = judged(made(difference()), SHARES)
    assert document.measurements[0].digits == 5
    sentence = document.results[0].sentence
    assert "0.00744 lower" in sentence
    assert "−0.00" in sentence.replace("-", "−")


@pytest.mark.parametrize(("factor", "digits"), [(1, 5), (10, 4), (30, 2), (1000, 2), (1e-6, 11)])
def test_there_are_more_digits_only_where_they_are_wanted(factor: float, digits: int) -> None:
    """What was declared is enough where the scatter shows in it."""
    values = {arm: [factor * value for value in own] for arm, own in SHARES.items()}
    assert judged(made(difference()), values).measurements[0].digits == digits


def test_digits_that_were_declared_are_the_fewest() -> None:
    """A reader who asked for six gets six."""
    of = made(difference(), measurements={"loss": {**LOSS, "digits": 6}})
    assert judged(of, SHARES).measurements[0].digits == 6


def test_arms_that_do_not_vary_are_told_apart() -> None:
    """By as many digits as their difference needs."""
    values = {"a": [0.0423] * 5, "b": [0.0497] * 5}
    assert judged(made(difference()), values).measurements[0].digits == 4


def test_the_digest_of_a_claim_does_not_depend_on_its_evidence() -> None:
    """Digits are how it is worded, and not what is claimed."""
    of = made(difference())
    assert judged(of, SHARES).claim.digest == of.digest()
