"""Trees as a claim file declares them."""

from __future__ import annotations

from repro.specs.tree import All, AtLeastOne, Node


def all_of(parts: tuple[Node, ...]) -> All:
    """All parts must hold."""
    return All(all=parts)


def any_of(parts: tuple[Node, ...]) -> AtLeastOne:
    """At least one part must hold."""
    return AtLeastOne(any=parts)
