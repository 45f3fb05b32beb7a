"""Measurements that follow from others of the same run, from any evidence."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import DataError
from repro.judging.document import Document
from repro.report.sections import sections
from repro.trainers.derived import DerivedMeasurement, with_derived, with_parts
from repro.trainers.measurement import Reported
from tests.judging.made import judged, made, only, seen

VALID = {"kind": "reported", "label": "validation loss", "better": "lower"}
TRAIN = {"kind": "reported", "label": "training loss", "better": "lower"}
GAP = {"kind": "derived", "label": "gap", "better": "lower", "difference": ["valid", "train"]}
SHARE = {"kind": "derived", "label": "share", "better": "lower", "ratio": ["gap", "valid"]}
MEASURED = {"valid": VALID, "train": TRAIN, "gap": GAP, "share": SHARE}

VALUES = {
    "a": {"valid": [3.3, 3.4, 3.2, 3.5, 3.3], "train": [3.0, 3.2, 2.9, 3.1, 3.0]},
    "b": {"valid": [4.3, 4.1, 4.2, 4.5, 4.4], "train": [3.0, 3.1, 2.9, 3.2, 3.0]},
}
"""Gaps of a: 0.3, 0.2, 0.3, 0.4, 0.3; of b: 1.3, 1.0, 1.3, 1.3, 1.4."""


def smaller(measurement: str = "gap", **how: Any) -> Any:
    expected = {"kind": "difference", "of": ["a", "b"], "direction": "lower", "test": "welch"}
    fields: dict[str, Any] = {"measurements": MEASURED, "seeds": {"min": 2, "plan": 5}} | how
    return made({**expected, "measurement": measurement}, **fields)


def follows(**parts: Any) -> DerivedMeasurement:
    return DerivedMeasurement(kind="derived", label="size", better="lower", **parts)


def test_a_difference_is_judged_run_by_run() -> None:
    """Its test is that of the differences which anybody would compute, to the last digit."""
    gaps = {"a": [0.3, 0.2, 0.3, 0.4, 0.3], "b": [1.3, 1.0, 1.3, 1.3, 1.4]}
    by_hand = made({"kind": "difference", "of": ["a", "b"], "direction": "lower", "test": "welch"})
    derived, direct = only(smaller(), VALUES), only(by_hand, gaps)
    assert (derived.effect, derived.p) == (direct.effect, direct.p)


def test_runs_that_are_equal_in_print_are_equal() -> None:
    """3.3 - 3.0 and 3.2 - 2.9 differ as floats, and would be no tie to a test of ranks."""
    runs = seen(smaller(), VALUES).arms["a"]
    assert 3.3 - 3.0 != 3.2 - 2.9
    assert [run.values["gap"] for run in runs] == [0.3, 0.2, 0.3, 0.4, 0.3]


def test_a_ratio_may_be_of_what_is_derived_itself() -> None:
    """The share of the loss that is its gap, a ratio of a difference."""
    run = seen(smaller("share"), VALUES).arms["a"][0]
    assert run.values["share"] == pytest.approx(0.3 / 3.3, rel=1e-15)


def test_the_report_says_how_it_is_computed() -> None:
    """The formula stands above its numbers, in the words of the claim."""
    document: Document = judged(smaller(), VALUES)
    shown = str(sections(document))
    assert "validation loss − training loss" in shown
    assert [part.formula for part in document.measurements][-1] == "gap ÷ validation loss"


def test_a_ratio_to_zero_names_its_run() -> None:
    """No value is made up, and none is dropped."""
    zero = {**VALUES, "b": {**VALUES["b"], "valid": [4.3, 0.0, 4.2, 4.5, 4.4]}}
    with pytest.raises(DataError, match=r"arm 'b', seed 1: 'share' is no number, for .*valid = 0"):
        seen(smaller("share"), zero)


def test_what_follows_from_a_missing_value_is_missing() -> None:
    """A run without one of the parts has no difference, and its arm is incomplete."""
    found, undefined = with_derived({"valid": 3.0}, smaller().measurements)
    assert (found, undefined) == ({"valid": 3.0}, ())


def test_a_value_under_its_name_is_computed_anew() -> None:
    """What a table says of it decides nothing."""
    found, _ = with_derived({"valid": 3.0, "train": 1.0, "gap": 7.0}, smaller().measurements)
    assert found["gap"] == 2.0


def test_its_parts_are_needed_by_what_reads_it() -> None:
    """All of them, by whatever way, each once."""
    measurements = smaller().measurements
    assert with_parts(["share"], measurements) == ("share", "gap", "valid", "train")


def test_a_flattering_part_is_told() -> None:
    """A difference from the best of a series flatters as much as the best does."""
    best = {"reduce": {"best_by": "valid", "better": "lower"}}
    for named in ({"from": "valid"}, {}):  # without `from` it is the name of the measurement
        claim = smaller(measurements={**MEASURED, "valid": {**VALID, **best, **named}})
        flags = judged(claim, VALUES).verdict.flags
        assert any("chosen by that value itself" in flag.text for flag in flags)


ORDINARY = st.floats(-1e6, 1e6).filter(lambda x: x == 0 or abs(x) > 1e-6)


@given(a=ORDINARY, b=ORDINARY)
def test_it_is_the_rounded_result_on_the_printed_numbers(a: float, b: float) -> None:
    """Against rational arithmetic on the shortest decimals of both."""
    first, second = Fraction(repr(a)), Fraction(repr(b))
    difference = DerivedMeasurement(
        kind="derived", label="gap", better="lower", difference=("x", "y")
    )
    assert difference.value_of(a, b) == pytest.approx(float(first - second), rel=1e-15, abs=0)
    ratio = follows(ratio=("x", "y"))
    expected = None if b == 0 else float(first / second)
    found = ratio.value_of(a, b)
    assert found == (expected if expected is None else pytest.approx(expected, rel=1e-15, abs=0))


def test_what_is_too_large_to_compute_with_is_no_number() -> None:
    """As in a table: such a value would overflow in a variance."""
    ratio = follows(ratio=("x", "y"))
    assert ratio.value_of(1e200, 1e-200) is None
    assert math.isfinite(ratio.value_of(1.0, 3.0) or math.nan)


def test_it_has_as_many_digits_as_its_scatter_needs() -> None:
    """As a reported number has."""
    derived = follows(difference=("x", "y"))
    reported = Reported(kind="reported", label="gap", better="lower")
    assert derived.at_scatter(0.00012).digits == reported.at_scatter(0.00012).digits == 5


ODD = {
    "a": {
        "valid": [3.312271, 3.401642, 3.228713, 3.501934, 0],
        "train": [3.012315, 3.227164, 2.941977, 3.100819, 0],
    },
    "b": {
        "valid": [4.312717, 4.100198, 4.211831, 4.500127, 0],
        "train": [3.007144, 3.111327, 2.912779, 3.234513, 0],
    },
}

COUNTS = {"a": {"valid": [1000.0] * 5, "train": [988.0, 975.0, 988.0, 991.0, 979.0]}}
COUNTS["b"] = {"valid": [1000.0] * 5, "train": [34.0, 988.0, 31.0, 25.0, 44.0]}
"""Ranks; two seeds of a have the same, so the same ratio, which one of b has as well."""


def test_equal_parts_make_equal_ratios_and_no_repeated_value() -> None:
    """Whether a value stands twice is asked of what was measured, not of what follows from it."""
    share = {"kind": "derived", "label": "share", "better": "lower", "ratio": ["valid", "train"]}
    claim = smaller("share", measurements={"valid": VALID, "train": TRAIN, "share": share})
    assert {run.values["share"] for run in seen(claim, COUNTS).arms["a"][::2][:2]} == {1000 / 988}
    assert not [flag.text for flag in judged(claim, COUNTS).verdict.flags if "share" in flag.text]


def test_a_run_that_is_counted_twice_is_found_in_the_parts() -> None:
    """The same seed under two numbers, as its derived value alone would have shown."""
    values = {arm: {k: [*v[:4], v[0]] for k, v in of.items()} for arm, of in ODD.items()}
    flags = [flag.text for flag in judged(smaller(), values).verdict.flags]
    places = [text.partition(" (")[0] for text in flags if "the same value" in text]
    assert places == [
        f"{part} loss of {arm}" for part in ("validation", "training") for arm in "AB"
    ]
