"""Revisions: what a component computes, as a number that is part of every key.

A component's revision is raised when its numbers change beyond round-off, with an entry under
*Numerical* in the CHANGELOG. Revision 1 is left out of identities, so keys of components that
never changed stay as they are. A claim that finds only runs of an older revision is STALE.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

REVISIONS: Mapping[str, int] = {}
"""Component (kind of an output layer, corpus or measurement, or `training`) -> revision above 1."""


def revisions_of(components: Iterable[str]) -> dict[str, int]:
    """The revisions above 1 of these components."""
    return {name: REVISIONS[name] for name in components if REVISIONS.get(name, 1) > 1}


def older_revisions(components: Iterable[str]) -> Iterator[dict[str, int]]:
    """Every earlier combination of their revisions, those above 1 only, newest first."""
    current = revisions_of(components)
    choices = [range(revision, 0, -1) for revision in current.values()]
    for combination in product(*choices):
        named = dict(zip(current, combination, strict=True))
        if named != current:
            yield {name: revision for name, revision in named.items() if revision > 1}
