"""What kinds say next to their verdict: limits and the claimed side, labels, details, plans."""

from __future__ import annotations

from typing import Any

import pytest

from repro.judging.design_power import design_parts
from repro.stats.planning import power_of_test
from repro.stats.spreads import PlannedSpread
from tests.judging.made import LOSS, made, only
from tests.judging.test_kinds import HIGH, LOW, margin
from tests.judging.test_over_tasks import found as over_tasks

RISING = {"loss": {**LOSS, "better": "higher"}}


@pytest.mark.parametrize(
    ("kind", "fields", "limit", "side"),
    [
        ("non_superiority", {}, -0.5, "above"),
        ("non_superiority", {"measurements": RISING}, 0.5, "below"),
        ("non_inferiority", {}, 0.5, "below"),
        ("non_inferiority", {"measurements": RISING}, -0.5, "above"),
    ],
)
def test_a_margin_lies_where_the_measurement_says(
    kind: str, fields: dict[str, Any], limit: float, side: str
) -> None:
    """a - b is negative where a is better and lower is."""
    result = only(made(margin(kind), **fields), {"a": LOW, "b": HIGH})
    (drawn,) = result.limits
    sign = "\N{MINUS SIGN}" if limit < 0 else "+"
    assert (drawn.value, drawn.label) == (limit, f"margin, {sign}0.5")
    assert result.claimed == side


def test_the_share_of_pairs_in_order_is_called_so() -> None:
    arms = {"a": LOW, "b": HIGH, "c": [value + 5 for value in HIGH]}
    ordered = {"kind": "trend", "of": ["a", "b", "c"], "direction": "increasing"}
    label = only(made({**ordered, "test": "jonckheere"}, arms="abc"), arms).effect_label
    assert label == "share of pairs of seeds of different arms whose loss is rising"
    other = only(made({**ordered, "test": "kendall"}, arms="abc"), arms).effect_label
    assert other == "Kendall's tau of loss on position"


def test_the_effect_in_each_task_has_the_unit_of_the_effect() -> None:
    """A chance in percent, or a difference."""
    shares = over_tasks(0.5, aggregate="improvement").details["effect_in_each_task"]
    assert "100%" in shares
    differences = over_tasks(0.5, aggregate="mean").details["effect_in_each_task"]
    assert ("%" in differences, "+0." in differences) == (False, True)


def test_wins_losses_and_ties_are_counted() -> None:
    one = {"kind": "proportion", "of": ["a", "b"], "clusters": "none"}
    values = {"a": [1.0, 1.0, 3.0, 2.0, 1.0], "b": [2.0, 2.0, 1.0, 2.0, 2.5]}
    details = only(made(one), values).details
    assert [details[each] for each in ("wins", "losses", "ties")] == ["3", "1", "1"]


def test_a_ratio_of_scatter_is_planned_within_its_factor() -> None:
    """Both ends of the region count, which are harder to confirm than one."""
    one = {"kind": "spread", "of": ["a", "b"], "test": "f"}
    within = {**one, "within_factor": {"value": 3, "why": "as like as that"}}
    (part,) = design_parts(made(within, seeds={"min": 10, "plan": 10}))
    both = PlannedSpread((10,), low=1 / 3, high=3.0, test="f")
    assert part.power == pytest.approx(power_of_test(both)[0])
    above = PlannedSpread((10,), low=1 / 3, test="f", effect=1.0)
    assert part.power is not None
    assert part.power < power_of_test(above)[0] - 0.05


def test_what_looks_the_other_way_is_said() -> None:
    times = {"loss": {**LOSS, "label": "steps", "digits": 0,
                      "censored": {"at": 4000, "why": "every run has 4,000 steps"}}}  # fmt: skip
    one = {"kind": "survivals", "of": ["a", "b"], "direction": "later"}
    values = {"a": [1200, 1500, 900, 4000], "b": [1500, 4000, 2000, 1300]}
    claim = made(one, measurements=times, seeds={"min": 4, "plan": 4})
    said = only(claim, values).sentence
    assert "it looks sooner" in said
