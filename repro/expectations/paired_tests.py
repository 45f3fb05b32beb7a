"""Tests of pairs and of independent arms: which of them a design admits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from repro.expectations.declared import Context, Mistake

PAIRED_TESTS: tuple[Literal["paired", "paired_permutation"], ...] = ("paired", "paired_permutation")
"""Tests of differences, or trends, of a paired design; all others take arms as independent."""


def unfitting_test(test: str, context: Context) -> Iterator[Mistake]:
    """A test of pairs needs arms that share their randomness, and they need such a test."""
    paired = test in PAIRED_TESTS
    if paired and not context.paired:
        mistake = "replicates of independent arms are no pairs"
        advice = "leave the test out, or write `design: paired`"
        yield Mistake(("test",), mistake, "a test of independent arms, such as welch", advice)
    elif context.paired and not paired:
        mistake = f"test {test} takes the arms as independent, and {context.design_name} pairs them"
        advice = "write `test: paired`, or `design: independent`"
        yield Mistake(("test",), mistake, "paired", advice)
