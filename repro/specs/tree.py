"""The tree that joins the decisive expectations of a claim, where not all of them must hold."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from repro.schema.base import Name, Spec


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
