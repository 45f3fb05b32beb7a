from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import ClaimError
from repro.stats.comparison import welch
from repro.stats.leave_one_out import Omission, leave_one_out
from repro.stats.result import known
from repro.stats.sample import Arm, Sample, Summary, require_sample

ARMS: dict[str, Arm] = {"a": Sample((1.0, 2.0, 9.0), (0, 1, 4)), "b": Sample.of(3.0, 3.5)}


def largest(arms: Mapping[str, Arm]) -> str:
    """The arm with the largest value."""
    return max(arms, key=lambda name: max(require_sample(arms[name], "this").values))


def test_the_replicate_that_matters_is_named():
    """
    Leaving out the one replicate on which the conclusion hangs is reported, with arm and number.
    """
    stability = leave_one_out(ARMS, largest)
    assert stability.outcome == "a"
    assert len(stability.omissions) == 5
    assert stability.changed == (Omission("a", 4, "b"),)
    assert stability.refused == ()


def test_too_few_that_remain_are_refused_not_changed():
    """
    Where too few replicates remain for the test, nothing is said about a change.
    """
    stability = leave_one_out(ARMS, lambda arms: known(welch(arms["a"], arms["b"]).p) <= 0.05)
    assert stability.changed == ()
    assert stability.refused == (Omission("b", 0, None), Omission("b", 1, None))


def test_a_pair_leaves_together():
    """
    In a paired design a replicate leaves both arms.
    """
    arms: dict[str, Arm] = {"a": Sample.of(1.0, 9.0, 2.0), "b": Sample.of(3.0, 8.0, 1.0)}
    stability = leave_one_out(arms, largest, paired=True)
    assert [one.replicate for one in stability.omissions] == [0, 1, 2]
    assert stability.changed == (Omission("a", 1, "b"),)


def test_a_printed_arm_has_nothing_to_leave_out():
    """
    An arm known only by its summary stays as it is, as does an arm of a single replicate.
    """
    arms: dict[str, Arm] = {
        "a": Sample.of(1.0, 2.0),
        "b": Summary(10, 1.0, 0.1),
        "c": Sample.of(4.0),
    }
    stability = leave_one_out(arms, lambda kept: kept["b"] is arms["b"] and kept["c"] is arms["c"])
    assert [(one.arm, one.replicate, one.outcome) for one in stability.omissions] == [
        ("a", 0, True),
        ("a", 1, True),
    ]


def test_what_cannot_be_judged_at_all_is_an_error():
    """
    A refusal on all replicates is raised, not recorded.
    """
    with pytest.raises(ClaimError, match="variance 0"):
        leave_one_out(
            {"a": Sample.of(1.0, 1.0), "b": Sample.of(2.0, 2.0)},
            lambda arms: welch(arms["a"], arms["b"]).p,
        )


@given(st.lists(st.floats(-9, 9), min_size=2, max_size=6, unique=True))
def test_every_replicate_is_left_out_once(numbers):
    """
    Each replicate is missing from exactly one of the judgements, and all others are there.
    """
    sample = Sample.of(*numbers)
    seen = leave_one_out({"a": sample}, lambda arms: require_sample(arms["a"], "this").replicates)
    assert seen.outcome == sample.replicates
    missing = [set(sample.replicates) - set(known(one.outcome)) for one in seen.omissions]
    assert missing == [{replicate} for replicate in sample.replicates]
