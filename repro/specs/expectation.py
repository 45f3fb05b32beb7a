"""Expectations: the testable parts of a claim, each a specification; judging reads them.

``of: [a, b]`` names two arms, and the effect is always a minus b, or a over b.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repro.specs.base import Name, Positive, Reason, Spec

Role = Literal["decisive", "context"]
Pair = tuple[Name, Name]


class Margin(Spec):
    """A declared limit in the units of the measurement, with the reason for its size."""

    abs: Positive
    why: Reason


class LeastRatio(Spec):
    """A declared least ratio, with the reason for its size."""

    value: Annotated[float, Field(ge=1)]
    why: Reason


class Limit(Spec):
    """A fixed bound, or the structural bound d + 2 of the arm's own output layer."""

    value: float | Literal["structural"]
    why: Reason


class _Expectation(Spec):
    id: Name
    measurement: Name
    role: Role = "decisive"


class Difference(_Expectation):
    """The mean of a is lower (or higher) than that of b; Welch's test, two-sided.

    ``rule: as_published`` repeats the paper's own rule (only as context): p above alpha is read
    as "no difference", which is what was published and is no evidence of equality.
    """

    kind: Literal["difference"]
    of: Pair
    direction: Literal["lower", "higher", "different"]
    test: Literal["welch", "student"] = "welch"
    smallest_effect: Margin | None = None
    rule: Literal["standard", "as_published"] = "standard"


class Equivalence(_Expectation):
    """The means of a and b differ by less than the margin; two one-sided Welch tests."""

    kind: Literal["equivalence"]
    of: Pair
    margin: Margin


class NonSuperiority(_Expectation):
    """a is not better than b by the margin or more; one-sided Welch."""

    kind: Literal["non_superiority"]
    of: Pair
    margin: Margin


class Ratio(_Expectation):
    """The geometric mean of a is at least so many times that of b; Welch on logs, one-sided."""

    kind: Literal["ratio"]
    of: Pair
    at_least: LeastRatio


class Separation(_Expectation):
    """Every replicate of a is above every replicate of b times a factor; exact."""

    kind: Literal["separation"]
    of: Pair
    at_least: LeastRatio


class Bound(_Expectation):
    """Every replicate of one arm is at most, or at least, a limit; exact."""

    kind: Literal["bound"]
    of: tuple[Name]
    at_most: Limit | None = None
    at_least: Limit | None = None


Expectation = Annotated[
    Difference | Equivalence | NonSuperiority | Ratio | Separation | Bound,
    Field(discriminator="kind"),
]


class ExpectationOverride(Spec):
    """What a scale may change of an expectation: its sizes, never its kind, arms or role."""

    margin: Margin | None = None
    smallest_effect: Margin | None = None
    at_least: LeastRatio | None = None
