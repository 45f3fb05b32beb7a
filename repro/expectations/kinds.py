"""The kinds of expectations: one class each, by the name that claim files use."""

from __future__ import annotations

from typing import Any

from repro.expectations.association import AssociationKind
from repro.expectations.base import Kind
from repro.expectations.difference import DifferenceKind
from repro.expectations.exact import BoundKind, SeparationKind
from repro.expectations.margins import EquivalenceKind, OneSidedKind
from repro.expectations.order import OrderingKind, TrendKind
from repro.expectations.proportion import ProportionKind
from repro.expectations.ratio import RatioKind
from repro.expectations.sentences import upper
from repro.expectations.sequential import NAMES, OnMeans, is_sequential
from repro.schema import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import Expectation

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


def heading(expectation: Expectation, claim: Claim) -> str:
    """What a reader calls an expectation: measurement and arms, kind and id where needed."""
    own = kind_of(expectation).effect_label(expectation, claim)
    kinds = [
        each.kind for each in claim.expectations if kind_of(each).effect_label(each, claim) == own
    ]
    return f"{upper(own)}{fmt.told_apart(expectation.id, expectation.kind, kinds)}"


def name_of_test(expectation: Expectation, claim: Claim) -> str:
    """The test as a statistician calls it: in a sequential claim, that of its looks."""
    if (
        isinstance(expectation, OnMeans)
        and claim.sequential is not None
        and is_sequential(expectation, claim)
    ):
        return NAMES[claim.sequential.method, claim.design]
    return kind_of(expectation).name_of_test(expectation, claim)
