"""The kinds of expectations: one class each, by the name that claim files use."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from repro.expectations.association import Association, AssociationKind
from repro.expectations.base import Context, Kind
from repro.expectations.difference import Difference, DifferenceKind
from repro.expectations.exact import Bound, BoundKind, Separation, SeparationKind
from repro.expectations.margins import (
    Equivalence,
    EquivalenceKind,
    NonInferiority,
    NonSuperiority,
    OneSidedKind,
)
from repro.expectations.order import Ordering, OrderingKind, Trend, TrendKind
from repro.expectations.proportion import Proportion, ProportionKind
from repro.expectations.ratio import Ratio, RatioKind
from repro.expectations.sequential import NAMES, is_sequential

Expectation = Annotated[
    Difference
    | Equivalence
    | NonSuperiority
    | NonInferiority
    | Ratio
    | Separation
    | Bound
    | Association
    | Trend
    | Ordering
    | Proportion,
    Field(discriminator="kind"),
]


_KINDS: dict[str, Kind[Any]] = {
    "difference": DifferenceKind(),
    "equivalence": EquivalenceKind(),
    "non_superiority": OneSidedKind("better"),
    "non_inferiority": OneSidedKind("worse"),
    "ratio": RatioKind(),
    "separation": SeparationKind(),
    "bound": BoundKind(),
    "association": AssociationKind(),
    "trend": TrendKind(),
    "ordering": OrderingKind(),
    "proportion": ProportionKind(),
}


def kind_of(expectation: Expectation) -> Kind[Any]:
    """What judging knows of the kind of an expectation."""
    return _KINDS[expectation.kind]


def name_of_test(expectation: Expectation, context: Context) -> str:
    """The test as a statistician calls it: in a sequential claim, that of its looks."""
    if context.sequential is not None and is_sequential(expectation, context):
        return NAMES[context.sequential.method, context.design]
    return kind_of(expectation).name_of_test(expectation, context)
