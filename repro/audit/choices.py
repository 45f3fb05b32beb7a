"""What the command line lets choose of an audit; imports nothing heavy."""

from __future__ import annotations

from enum import StrEnum


class RoundingChoice(StrEnum):
    """How printed digits were dropped: to the nearest, towards 0, or upwards."""

    round = "round"
    truncate = "truncate"
    ceil = "ceil"


class FailOn(StrEnum):
    """The mildest grade of an audit that ends it with 1."""

    decision_inconsistent = "decision-inconsistent"
    decision_fragile = "decision-fragile"
    inconsistent = "inconsistent"
    not_by_t_test = "not-by-t-test"
    consistent_if = "consistent-if"
    never = "never"
