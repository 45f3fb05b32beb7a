"""The range of a measurement: values outside it, or between its items, are refused at the door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from repro import judge
from repro.errors import SpecError
from repro.judging.assemble import check_claim
from repro.schema.value_scale import ValueScale
from repro.specs.claim import Claim
from tests.judging.made import made, seen

ACCURACY = {"kind": "reported", "label": "accuracy", "better": "higher"}
LEVEL = {"kind": "level", "of": ["a"], "at_least": {"value": 0.5, "why": "better than a coin"}}


def claim(**keys: Any) -> Claim:
    """A claim about accuracies with these keys."""
    return made(LEVEL, arms="a", measurements={"loss": {**ACCURACY, **keys}})


def read(values: Sequence[float | str], **keys: Any) -> list[str]:
    """What is said of a frame with these values."""
    rows = [("a", seed, "loss", value) for seed, value in enumerate(values)]
    frame = pd.DataFrame(rows, columns=["arm", "seed", "measurement", "value"])
    try:
        judge(claim(**keys), frame)
    except SpecError as refused:
        return [problem.what for problem in refused.problems]
    return []


def test_a_value_outside_the_range_is_refused_with_its_row() -> None:
    """Percent under a range of fractions, and an accuracy above one."""
    assert read([0.93, 0.94, 0.95], range=[0, 1]) == []
    (said,) = read([0.93, 94.0, 0.95], range=[0, 1])
    assert said == "row 1, column value: 94 is outside the declared range, 0 to 1"
    assert len(read([93.0, 100.5, -0.1], range=[0, 100])) == 2


def test_a_value_between_two_shares_of_the_items_is_refused() -> None:
    """As far as its digits tell: 0.667 is two of three, and 94.1 may be any of ten of 10,000."""
    assert read([0.98, 1.0, 0.96], range=[0, 1], items=50) == []
    assert read([0.667, 0.333, 1.0], range=[0, 1], items=3) == []
    assert read([94.1, 94.3, 94.2], range=[0, 100], items=10_000) == []
    assert read([0.9800000190734863, 1.0, 0.96], range=[0, 1], items=50) == []
    (said,) = read([0.98, 0.97, 0.96], range=[0, 1], items=50)
    assert said.endswith("0.97 is not a share of 50 items: 48.50 would be right")


@pytest.mark.parametrize(
    ("scale", "value", "right"),
    [
        (ValueScale(0, 1, 50), 0.98, 49),
        (ValueScale(0, 100, 3), 66.67, 2),
        (ValueScale(0, 50, 50), 49.0, 49),
        (ValueScale(0, 1, 7), 0.9, 6),
        (ValueScale(0, 100, 10_000), 94.1, 9410),
        (ValueScale(0, 100, 1319), 94.1, None),
        (ValueScale(0, 1, 50), 0.97, None),
        (ValueScale(0, 1), 1.0, None),
    ],
)
def test_items_that_are_right(scale: ValueScale, value: float, right: int | None) -> None:
    """Counted where the digits of the value leave one number."""
    assert scale.count(value) == right


def test_values_that_no_table_refused_are_invalid() -> None:
    """Those of stored runs and other sources: the claim is INVALID, and the seed is named."""
    bounded = claim(range=[0, 1])
    document = check_claim(bounded, seen(bounded, {"a": [0.9, 1.2, 0.95]}))
    assert document.verdict.validity == "INVALID"
    assert "Accuracy of A, seed 1: 1.2 is outside the declared range, 0 to 1" in (
        document.verdict.sentence
    )


def test_a_range_changes_no_key_of_a_run() -> None:
    """Nor is it in a document that does not declare it."""
    plain, bounded = claim(), claim(range=[0, 1], items=50)
    assert plain.measurements["loss"].key == bounded.measurements["loss"].key
    assert "range" not in plain.measurements["loss"].model_dump(mode="json")
    assert bounded.measurements["loss"].least_step() == 0.02
