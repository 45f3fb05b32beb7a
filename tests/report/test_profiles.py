"""Performance profiles: shares counted by hand, steps on both sides, a picture that is drawn."""

from __future__ import annotations

import pytest

from repro.report.blocks import LinePlot
from repro.report.figures import draw
from repro.report.profiles import profile, profiles
from tests.judging.made import judged, made
from tests.judging.test_kinds import difference
from tests.judging.test_over_tasks import TASKS, document

VALUES = {"a": [1.0, 2.0, 3.0, 4.0], "b": [3.0, 5.0]}


@pytest.mark.parametrize(
    ("at", "higher", "reached", "share"),
    [
        (2.5, True, False, (0.5 + 1.0) / 2),
        (3.0, True, False, (0.25 + 0.5) / 2),
        (3.0, True, True, (0.5 + 1.0) / 2),
        (3.0, False, False, (0.5 + 0.0) / 2),
        (3.0, False, True, (0.75 + 0.5) / 2),
        (9.0, True, False, 0.0),
    ],
)
def test_a_share_is_the_mean_over_tasks(
    at: float, higher: bool, reached: bool, share: float
) -> None:
    """Every task has the same weight, however many runs it has."""
    assert profile(VALUES, at, higher=higher, reached=reached) == pytest.approx(share)


@pytest.mark.parametrize(("better", "first", "last"), [("higher", 1.0, 0.0), ("lower", 0.0, 1.0)])
def test_the_line_of_an_arm_runs_from_all_to_none(better: str, first: float, last: float) -> None:
    """Between the least and the largest value of all arms, downwards where higher is better."""
    runs = document(0.5, better)
    values_of = {
        arm.label: {
            task: [run.values["loss"] for run in arm.replicates if run.task == task]
            for task in TASKS
        }
        for arm in runs.arms
    }
    (figure,) = profiles(runs)
    plot = figure.plot
    assert isinstance(plot, LinePlot)
    ends = set()
    for line in plot.lines:
        (points,) = line.replicates
        assert (points[0][1], points[-1][1]) == pytest.approx((first, last), abs=1e-12)
        shares = [share for _, share in points]
        assert shares == sorted(shares, reverse=better == "higher")
        for at, share in points[::2]:
            own = profile(values_of[line.label], at, higher=better == "higher", reached=True)
            other = profile(values_of[line.label], at, higher=better == "higher")
            assert share == pytest.approx(own if better == "higher" else other)
        ends.add((points[0][0], points[-1][0]))
    assert len(ends) == 1


def test_the_profile_is_drawn_and_told() -> None:
    (figure,) = profiles(document(0.5))
    (svg,) = draw(figure)
    assert "performance profiles" in svg
    assert "A: 80.0% above 12.02, 60.0% above 14.25, 26.7% above 16.56." in figure.alt
    assert "The line of an arm that is better lies higher." in figure.caption


def test_a_claim_without_tasks_has_no_profile() -> None:
    assert profiles(judged(made(difference()), {"a": [1.0, 2, 3], "b": [2.0, 3, 5]})) == ()
