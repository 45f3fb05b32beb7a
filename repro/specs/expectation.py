"""What a claim says of its expectations as a whole: overrides, the tree, and the family."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from repro.expectations.base import Role
from repro.expectations.difference import TestOfDifference
from repro.schema.base import Limit, Magnitude, Margin, Name, Reason, Share, Spec, Window


class ExpectationOverride(Spec):
    """What a scale may change of an expectation: its sizes, its test and its role.

    Its kind and arms are the same at every scale. ``role: context`` shows at this scale what the
    scale is too small to decide.
    """

    role: Role | None = None
    test: TestOfDifference | None = None
    margin: Margin | None = None
    smallest_effect: Margin | None = None
    at_least: Limit | None = None
    at_most: Limit | None = None
    share: Share | None = None
    magnitude_at_most: Magnitude | None = None
    magnitude_at_least: Magnitude | None = None
    within: Window | None = None


class All(Spec):
    """All of these hold: ids of expectations, or further trees."""

    all: Annotated[tuple[Node, ...], Field(min_length=1)]


class AtLeastOne(Spec):
    """At least one of these holds: ids of expectations, or further trees."""

    any: Annotated[tuple[Node, ...], Field(min_length=1)]


def _branch(value: Any) -> str:
    """Whether a part of a tree is ``all`` or ``any`` of something, or the id of a leaf."""
    if isinstance(value, AtLeastOne) or (isinstance(value, dict) and "any" in value):
        return "any"
    return "all" if isinstance(value, All | dict) else "leaf"


Node = Annotated[
    Annotated[Name, Tag("leaf")] | Annotated[All, Tag("all")] | Annotated[AtLeastOne, Tag("any")],
    Discriminator(_branch),
]
"""A part of the tree that joins decisive expectations."""

All.model_rebuild()

AtLeastOne.model_rebuild()

Tree = Annotated[
    Annotated[All, Tag("all")] | Annotated[AtLeastOne, Tag("any")],
    Discriminator(lambda value: _branch(value).replace("leaf", "all")),
]
"""A whole tree; one expectation alone is not a tree."""


class Family(Spec):
    """Claims that are tested together, so that each is judged at its level among all.

    ``holm`` keeps the chance of any false conclusion, ``bh`` the share of false ones among
    those drawn, ``e_bh`` the same for e-values, which sequential claims have. A member that is
    not judged with the others counts as having found nothing.
    """

    name: Name
    method: Literal["holm", "bh", "e_bh"]
    members: Annotated[tuple[Name, ...], Field(min_length=2)]
    why: Reason
