"""What a kind plans: its own test, or a sentence that says why no power is computed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from repro.errors import ClaimError
from repro.expectations.base import PlannedSeeds
from repro.expectations.declared import Context, Design, EProcess
from repro.expectations.kinds import Expectation, kind_of
from repro.stats.planning import (
    PlannedCorrelation,
    PlannedDifference,
    PlannedProportion,
    PlannedSequential,
    PlannedTest,
)

READ: TypeAdapter[Expectation] = TypeAdapter(Expectation)
ARMS = ("a", "b", "c")


def planned(
    *,
    arms: int = 2,
    sd: tuple[float, ...] = (1.0,),
    design: Design = "independent",
    sequential: EProcess | None = None,
    **keys: Any,
) -> PlannedTest:
    """The planned test of an expectation with these keys, with eight seeds."""
    declared = READ.validate_python({"id": "x", "measurement": "m", "of": ARMS[:arms], **keys})
    context = Context(0.05, design, {}, {}, 2, sequential)
    plan = PlannedSeeds(8, sd, lacking="the claim plans no scatter", effect=0.5)
    return kind_of(declared).planned(declared, context, plan)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (
            {"kind": "trend", "arms": 3, "direction": "increasing"},
            "no power is computed for a trend over several arms",
        ),
        (
            {"kind": "ordering", "direction": "increasing"},
            "no power is computed for an ordering; plan each of its differences",
        ),
        (
            {"kind": "bound", "arms": 1, "at_most": {"value": 1, "why": "it is the bound"}},
            "no power is computed for a bound on every seed",
        ),
        (
            {
                "kind": "separation",
                "design": "paired",
                "at_least": {"value": 2, "why": "twice as many"},
            },
            "no power is computed for a separation of pairs",
        ),
        (
            {
                "kind": "association",
                "against": "n",
                "points": "arms",
                "method": "kendall",
                "direction": "positive",
            },
            "no power is computed for Kendall's correlation",
        ),
        ({"kind": "difference", "direction": "lower", "sd": ()}, "the claim plans no scatter"),
    ],
)
def test_what_is_not_computed_is_said(keys: dict[str, Any], reason: str) -> None:
    """A kind without a power, and one whose scatter is not known, give the reason."""
    with pytest.raises(ClaimError) as error:
        planned(**keys)
    assert str(error.value) == reason


def test_tails_and_directions_choose_the_level() -> None:
    """One tail plans at twice alpha two-sided; a correlation's direction at half, one-sided."""
    one = planned(kind="difference", direction="lower", tails=1)
    assert one == PlannedDifference((8,), (1.0,), alpha=0.1, effect=0.5, low=0.0)
    sign = planned(kind="association", against="n", points="replicates", direction="positive")
    assert sign == PlannedCorrelation((2,), alpha=0.025, effect=0.5, low=0.0)


def test_an_e_process_plans_to_find_the_margin() -> None:
    """Of a margin the distance to be found is the margin itself, at twice alpha."""
    process = EProcess(method="eprocess_t")
    margin = {"abs": 0.3, "why": "an eighth of the gain"}
    found = planned(kind="non_inferiority", margin=margin, sequential=process)
    assert found == PlannedSequential((8,), (1.0,), alpha=0.1, effect=0.3)


def test_clusters_are_the_units_of_a_proportion() -> None:
    """Eight seeds, four in a row to a cluster, are two units."""
    found = planned(kind="proportion", clusters=4)
    assert found == PlannedProportion((2,), effect=0.5, low=0.5)
