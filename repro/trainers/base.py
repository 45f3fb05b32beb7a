"""What every trainer shares: the specification of a training, its revision.

Revisions: what a component computes, as a number that is part of every key.

A component's revision is raised when its numbers change beyond round-off, with an entry under
*Numerical* in the CHANGELOG. Revision 1 is left out of identities, so keys of components that
never changed stay as they are. A claim that finds only runs of an older revision is STALE.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, ClassVar

from repro.digest import digest
from repro.schema.base import Spec
from repro.schema.messages import Words

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


class Training(Spec):
    """A resolved configuration: all that training depends on but the seed.

    ``built_in`` is the name of its trainer in the table; ``noun`` is what messages call what it
    trains.
    """

    built_in: ClassVar[str] = ""
    noun: ClassVar[str] = "a model"

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the parts whose revisions are in the identity."""
        raise NotImplementedError

    def identity(self, revisions: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The document that is hashed: defaults filled in, absent options left out.

        ``revisions`` are those of the components, by default the present ones.
        """
        named = revisions_of(self.components) if revisions is None else dict(revisions)
        document = self.model_dump(mode="json", exclude_none=True)
        return {**document, "revisions": named} if named else document

    def digest(self) -> str:
        """SHA-256 of the identity."""
        return digest(self.identity())


RUN_SCHEMA = 1


LEAST_TOKENS = 2
"""A stream of fewer tokens has no pair of a word and its successor, so nothing to predict."""


def too_short(subject: str, size: int, count: int, split: str) -> Words:
    """What to say of a text that is read in more streams than it fills."""
    what = (
        f"{subject} is {size:,}: the {count:,} tokens of the {split} split leave "
        f"{count // size} a stream, and a prediction needs {LEAST_TOKENS}"
    )
    expected = f"at most {max(1, count // LEAST_TOKENS):,}"
    return what, expected, "choose a smaller batch, or a longer text"
