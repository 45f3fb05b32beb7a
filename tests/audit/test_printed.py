"""A printed number stands for every number that is printed like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.errors import ClaimError
from repro.evidence.published import PrintedNumber

READ = [
    ("3.20", 3.2, 3.195, 3.205),
    ("2e-15", 2e-15, 1.5e-15, 2.5e-15),
    ("2.02e-15", 2.02e-15, 2.015e-15, 2.025e-15),
    ("2.02 × 10^−15", 2.02e-15, 2.015e-15, 2.025e-15),  # as a PDF has it
    (".62", 0.62, 0.615, 0.625),
    ("62.", 62.0, 61.5, 62.5),
    ("100", 100.0, 99.5, 100.5),
    ("1E2", 100.0, 50.0, 150.0),
    ("+0.5", 0.5, 0.45, 0.55),
    ("-0.5", -0.5, -0.55, -0.45),
    ("−0.21", -0.21, -0.215, -0.205),
    (" 0.05 ", 0.05, 0.045, 0.055),
    ("0.000", 0.0, -0.0005, 0.0005),
    ("=0.3", 0.3, 0.25, 0.35),
    ("<0.001", 0.001, float("-inf"), 0.001),
    ("< 0.001", 0.001, float("-inf"), 0.001),
    ("≤.05", 0.05, float("-inf"), 0.05),
    (">.05", 0.05, 0.05, float("inf")),
]


@pytest.mark.parametrize(("text", "value", "low", "high"), READ)
def test_a_number_and_its_rounding_interval(text, value, low, high):
    """The value and both ends are exactly the decimal numbers that belong to the text."""
    printed = PrintedNumber.read(text)
    assert (printed.value, printed.low, printed.high) == (value, low, high)
    assert printed.text == text.strip()


@pytest.mark.parametrize(
    ("model", "text", "low", "high"),
    [
        ("truncate", "0.48", 0.48, 0.49),
        ("truncate", "-0.48", -0.49, -0.48),
        ("truncate", "0.00", -0.01, 0.01),
        ("ceil", "0.48", 0.47, 0.48),
        ("ceil", "-0.48", -0.49, -0.48),
        ("round", "0.48", 0.475, 0.485),
        ("truncate", "<0.48", float("-inf"), 0.48),
    ],
)
def test_the_model_of_rounding_moves_the_interval(model, text, low, high):
    """Cut-off digits only add to a number, and rounding up only takes from it."""
    printed = PrintedNumber.read(text).under(model)
    assert (printed.low, printed.high) == (low, high)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a number"),
        ("abc", "not a number"),
        ("3,20", "decimal point"),
        ("9,981", "no commas between thousands"),
        ("62%", "percent"),
        ("nan", "leave it empty"),
        ("inf", "leave it empty"),
        ("n.s.", "leave it empty"),
        ("0.03*", "not a number"),
        ("1e", "not a number"),
        (".", "not a number"),
        ("1.2.3", "not a number"),
        ("--1", "not a number"),
        ("1_000", "not a number"),
        ("0x10", "not a number"),
        ("٣", "not a number"),  # an Arabic-Indic digit, which float() would take
        ("1e999999999", "not a number"),
        ("1e301", "exponent beyond 300"),
        ("1e-999", "exponent beyond 300"),
        ("1e200", "larger than any number"),
        ("9" * 41, "41 characters"),
        ("1" * 1_000_000, "1,000,000 characters"),
        ("<", "not a number"),
        ("57.08±0.10", "not a number"),
    ],
)
def test_anything_else_is_refused_with_the_reason(text, reason):
    """A text that is no number, or reaches beyond any that is printed, is a ClaimError."""
    with pytest.raises(ClaimError, match=reason):
        PrintedNumber.read(text)


@given(st.floats(-1e6, 1e6), st.integers(0, 8))
def test_a_number_lies_in_the_interval_of_its_own_print(number, digits):
    """Python's own rounding of a number never leaves the interval of what it prints."""
    printed = PrintedNumber.read(f"{number:.{digits}f}")
    assert printed.low <= number <= printed.high
    assert printed.high - printed.low == pytest.approx(10.0**-digits, abs=5e-10)


@given(st.floats(1e-290, 1.0), st.integers(0, 8))
def test_a_small_number_lies_in_the_interval_of_its_own_print(number, digits):
    """The same in scientific notation."""
    printed = PrintedNumber.read(f"{number:.{digits}e}")
    assert printed.low <= number <= printed.high


@given(st.text(max_size=60))
def test_every_text_is_a_number_or_a_claim_error(text):
    """No text raises anything but ClaimError, and what is read has ordered ends."""
    try:
        printed = PrintedNumber.read(text)
    except ClaimError:
        return
    assert printed.low <= printed.value <= printed.high
