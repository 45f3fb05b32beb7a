from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repro.expectations.base import IntervalPart
from repro.judging.document import MeasurementPart, SummaryPart
from repro.report import lookups
from repro.schema import numbers as fmt

PPL = MeasurementPart(key="p", label="perplexity", kind="perplexity", better="lower", digits=2)
RANK = MeasurementPart(key="r", label="rank", kind="rank", better="higher", digits=0)


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [(57.314, 2, "57.31"), (-0.3, 1, "−0.3"), (-0.001, 2, "0.00"), (9981.4, 0, "9,981")],
)
def test_fixed(number: float, digits: int, text: str) -> None:
    """Numbers have commas, a real minus sign, and never a negative zero."""
    assert fmt.fixed(number, digits) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0.512, "+0.51"), (-0.512, "−0.51"), (0.001, "0.00"), (0.0, "0.00")]
)
def test_plus(number: float, text: str) -> None:
    """A difference carries its sign unless it prints as zero."""
    assert fmt.plus(number, 2) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0027, "p = 0.0027"), (0.62, "p = 0.62"), (0.05, "p = 0.050"), (0.00012, "p = 0.00012"),
        (2.0e-11, "p = 2.0e−11"), (0.0, "p < 1e-300"), (1.0, "p > 0.9999"), (0.99993, "p > 0.9999"),
        (0.9963, "p = 0.9963"), (0.994, "p = 0.99"),
    ],
)  # fmt: skip
def test_p_value(p: float, text: str) -> None:
    """A p-value has two significant digits and is never printed as zero or one."""
    assert fmt.p_value(p) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (23.42, "23.4"), (0.0999951, "0.100"), (999.6, "1,000"), (1234.5, "1,234"),
        (0, "0"), (-4.0, "−4.00"), (1.5e-7, "1.50e−07"),
    ],
)  # fmt: skip
def test_significant(number: float, text: str) -> None:
    """Three significant digits, with rounding that carries over to the next decade."""
    assert fmt.significant(number) == text


@pytest.mark.parametrize(
    ("low", "high", "scale", "text"),
    [
        (0.11, 0.42, "difference", "90% interval +0.11 to +0.42"),
        (None, 0.42, "difference", "90% interval up to +0.42"),
        (20.1, None, "ratio", "90% interval from 20.1 times up"),
        (20.1, 25.0, "ratio", "90% interval 20.1 to 25.0 times"),
        (None, None, "ratio", "90% interval without ends"),
    ],
)
def test_interval(low: float | None, high: float | None, scale: str, text: str) -> None:
    """An interval names its level, and says in words which end is absent."""
    assert lookups.interval(IntervalPart(low=low, high=high, level=0.9), scale, 2) == text


@pytest.mark.parametrize(
    ("low", "high", "scale", "text"),
    [
        (-0.034, 0.0123, "relative", "−3.40% to +1.23%"),
        (-0.98, -0.621, "correlation", "−0.98 to −0.62"),
        (0.39, 1.0, "share", "39.0% to 100%"),
        (None, 24.0, "ratio", "up to 24.0 times"),
        (None, None, "difference", "without ends"),
    ],
)
def test_ends(low: float | None, high: float | None, scale: str, text: str) -> None:
    """Each scale has its own unit: percentages, a correlation's sign, multiples."""
    assert fmt.ends(low, high, scale, 2) == text


@pytest.mark.parametrize(
    ("number", "scale", "text"),
    [(0.092, "difference", "0.09"), (0.034, "relative", "3.40%"), (1.2, "ratio", "1.20 times"),
     (0.3, "correlation", "0.30"), (0.86, "share", "86.0%")],
)  # fmt: skip
def test_size(number: float, scale: str, text: str) -> None:
    """A margin has the unit of its scale and no sign."""
    assert fmt.size(number, scale, 2) == text


def test_evidence_in_columns() -> None:
    """In a column a p-value stands without its letter, and an e-value has an exponent when huge."""
    assert [fmt.bare_p(p) for p in (0.0027, 2e-11, 1.0)] == ["0.0027", "2.0e−11", "> 0.9999"]
    assert [fmt.e_value(e) for e in (0.46, 412.5, 2.4e7, 1e300)] == [
        "0.460", "412", "2.4e7", "1.0e300",
    ]  # fmt: skip


def test_chance() -> None:
    """Power is never printed as certain, nor as impossible."""
    assert [fmt.chance(x) for x in (0.8123, 0.027, 0.9999, 0.0)] == [
        "81%",
        "2.7%",
        "> 99%",
        "< 0.1%",
    ]


def test_bound() -> None:
    """A level that decides reads as it was declared."""
    assert [fmt.bound(x) for x in (20.0, 0.0451, 1000.0)] == ["20", "0.0451", "1e+03"]


def test_mean_and_sd() -> None:
    """A single run has a mean and no deviation; ranks show a digit where it matters."""
    one = SummaryPart(
        measurement="p", n=1, mean=57.3, sd=None, geometric_mean=None, low=57.3, high=57.3
    )
    assert lookups.mean_and_sd(one, PPL) == "57.30"
    assert lookups.mean_and_sd(one.model_copy(update={"sd": 0.126}), PPL) == "57.30 ± 0.13"
    assert lookups.mean_and_sd(one.model_copy(update={"sd": 0.44}), RANK) == "57 ± 0.4"


def test_percent() -> None:
    """Levels print without trailing zeros and without the noise of binary fractions."""
    assert [fmt.percent(x) for x in (0.9, 0.995, 1 - 2 * 0.05)] == ["90%", "99.5%", "90%"]


def test_date() -> None:
    """Times are dated in UTC; what is no time is shown as it is."""
    assert fmt.date("2026-11-21T23:30:00-05:00") == "22 November 2026"
    assert fmt.date("2026-11-21T13:30:00Z") == "21 November 2026"
    assert fmt.date("yesterday") == "yesterday"


@pytest.mark.parametrize(
    ("given", "text"),
    [(None, "none"), (True, "yes"), (70, "70"), (400_000, "400,000"), (1e-6, "1e−06"),
     (1_235_711.0, "1,235,711"), (-1_235_711.0, "−1,235,711"), (1_235_711.5, "1235711.5"),
     (0.25, "0.25"), ([1, 2], "1, 2"), ("sgd", "sgd"), ([], "none")],
)  # fmt: skip
def test_setting(given: object, text: str) -> None:
    """Values of a configuration read as words."""
    assert fmt.setting(given) == text


@pytest.mark.parametrize(("seconds", "text"), [(8.42, "8.4 s"), (720, "12 min"), (11520, "3.2 h")])
def test_duration(seconds: float, text: str) -> None:
    """Durations are in the unit that a person would choose."""
    assert fmt.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (8.42, "8.4 s"), (45, "45 s"), (128, "2.1 min"), (5.4 * 3600, "5.4 h"),
     (154.2 * 86_400, "150 days"), (28_197.2 * 3600, "3.2 years"),
     (28e9 * 3600, "3,200,000 years")],
)  # fmt: skip
def test_a_rough_duration_has_two_digits(seconds: float, text: str) -> None:
    """What is known very roughly is not told to an hour in three years."""
    assert fmt.rough_duration(seconds) == text


@given(st.text())
def test_clean_text_is_harmless(text: str) -> None:
    """Cleaned text is one line without control characters; cleaning it again changes nothing."""
    cleaned = fmt.clean(text)
    assert fmt.clean(cleaned) == cleaned
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 for c in cleaned)
    assert "\u202e" not in cleaned


def test_expectations_of_one_heading_are_told_apart() -> None:
    """By nothing if alone, else by kind, and by their id where that is the same too."""
    assert fmt.told_apart("e0", "difference", ["difference"]) == ""
    assert fmt.told_apart("e0", "non_superiority", ["non_superiority", "ratio"]) == (
        " (non superiority)"
    )
    assert fmt.told_apart("e1", "ratio", ["ratio", "ratio", "bound"]) == " (ratio, e1)"
