"""Sizes that a claim declares or copies from print: those that float64 can be trusted with."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import SpecError
from repro.schema.base import sized
from repro.specs.load import load_claim

CLAIM = """\
schema: 1
id: printed
title: What is printed is read as numbers
source: {paper: other2025, citation: "Other (2025)", locator: "Table 3", quote: "a beats b"}
arms:
  a: {label: A, published: {accuracy: {mean: "MEAN", sd: "SD", n: 5}}}
  b: {label: B, published: {accuracy: {mean: "76.10", sd: "0.35", n: 5}}}
design: independent
seeds: {min: 3, plan: 5}
measurements:
  accuracy: {kind: reported, label: accuracy, better: higher}
expectations:
  - {id: better, kind: KIND, measurement: accuracy, of: [a, b], MORE}
published:
  - expectation: better
    locator: "Table 3"
    arms: {a: {mean: "PRINTED", sd: "0.1", n: 5}, b: {mean: "76.10", sd: "0.35", n: 5}}
scales:
  paper: {notice: "Numbers printed in the paper's Table 3."}
"""
WORDS = {
    "MEAN": "77",
    "SD": "0.12",
    "PRINTED": "77",
    "KIND": "equivalence",
    "MORE": 'margin: {abs: 1, why: "less is of no use"}',
}


def refused(folder: Path, **changes: str) -> str:
    """What is said of the claim with these changes, without its folder."""
    text = CLAIM
    for word, written in {**WORDS, **changes}.items():
        text = text.replace(word, written)
    path = folder / "claim.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        load_claim(path, "paper")
    except SpecError as error:
        return str(error).replace(f"{folder}/", "")
    return ""


def margin(size: str) -> str:
    """A margin as it is written."""
    return f'margin: {{{size}, why: "less is of no use"}}'


def test_the_claim_itself_is_sound(tmp_path: Path) -> None:
    """Without an absurd size nothing is refused, and 0 is not absurd."""
    assert refused(tmp_path) == ""
    assert refused(tmp_path, MEAN="0", SD="0.00") == ""
    assert refused(tmp_path, MEAN="-1e60", PRINTED="1e-60") == ""


@pytest.mark.parametrize("word", ["MEAN", "SD", "PRINTED"])
@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("1e308", "a number of at most 1e+60"),
        ("1e-200", "a number of at least 1e-60"),
        ("-1e61", "a number of at least -1e+60"),
        ("-1e-61", "a number of at most -1e-60"),
        ("0e400", "a number of at most 1e+60"),
        ("7" * 400, "at most 40 characters"),
    ],
)
def test_a_printed_number_of_an_absurd_size_is_refused(
    tmp_path: Path, word: str, printed: str, expected: str
) -> None:
    """Wherever a printed number stands, its size is one that can be computed with."""
    said = refused(tmp_path, **{word: printed})
    assert said.startswith("claim.yaml:")
    assert f"expected: {expected}\n" in said
    assert said.count("to do: ") == 1


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"MORE": margin("abs: 1e61")}, "expectations.better.margin.abs"),
        ({"MORE": margin("abs: 1e-61")}, "expectations.better.margin.abs"),
        ({"MORE": margin("relative: 1e-61")}, "expectations.better.margin.relative"),
        (
            {"MORE": margin('of_gain: {share: 0.5, gain: "1e99"}')},
            "expectations.better.margin.of_gain.gain",
        ),
        (
            {"MORE": margin('of_gain: {share: 1e-99, gain: "1"}')},
            "expectations.better.margin.of_gain.share",
        ),
        (
            {
                "KIND": "difference",
                "MORE": 'direction: higher, smallest_effect: {abs: 1e99, why: "less is of no use"}',
            },
            "expectations.better.smallest_effect.abs",
        ),
        (
            {"KIND": "ratio", "MORE": 'at_least: {value: 1e99, why: "less is of no use"}'},
            "expectations.better.at_least.value",
        ),
    ],
)
def test_a_declared_size_that_is_absurd_is_refused(
    tmp_path: Path, changes: dict[str, str], place: str
) -> None:
    """Margins, shares, ratios and smallest effects have sizes that can be computed with."""
    said = refused(tmp_path, **changes)
    assert said.startswith("claim.yaml:13:")
    assert f"{place}: " in said
    assert "is out of range\n  expected: a number of at " in said
    assert said.count("to do: change the number") == 1


@pytest.mark.parametrize("key", ["low: -1e99, high: 1", "low: 1, high: 1e99"])
def test_a_window_of_an_absurd_size_is_refused(tmp_path: Path, key: str) -> None:
    """The ends of a window are sizes too."""
    window = f'within: {{{key}, why: "a part of it all"}}'
    more = f"against: accuracy, points: arms, direction: positive, {window}"
    said = refused(tmp_path, KIND="association", MORE=more)
    assert "expectations.better.within." in said
    assert "99 is out of range" in said


@pytest.mark.parametrize("limit", ["1e99", "-1e99", "1e-99"])
def test_a_limit_of_an_absurd_size_is_refused(tmp_path: Path, limit: str) -> None:
    """A limit is a number of a sensible size, or the structural bound."""
    more = f'at_most: {{value: {limit}, why: "less is of no use"}}'
    said = refused(tmp_path, KIND="bound", MORE=more)
    assert "expectations.better.at_most.value: " in said
    assert "is out of range\n  expected: a number of at " in said
    assert ", or structural\n  to do: change the number" in said


@pytest.mark.parametrize("number", [0.0, 1e60, -1e60, 1e-60, -1e-60, 34.0])
def test_sizes_at_the_ends_are_sizes(number: float) -> None:
    """What is of a sensible size stays as it is."""
    assert sized(number) == number
