"""What every trainer shares: the specification of a training, and its revision.

A component's revision is a number that is part of every key. It is raised when the component's
numbers change beyond round-off, with an entry under *Numerical* in the CHANGELOG. Revision 1 is
left out of identities, so keys of components that never changed stay as they are. A claim that
finds only runs of an older revision is STALE.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from repro.digest import digest
from repro.schema.base import Spec
from repro.schema.messages import Words

REVISIONS: Mapping[str, int] = {"command_limit": 2}
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


TRAINER_NAME = r"^[A-Za-z_][A-Za-z0-9_.]*(:[A-Za-z_][A-Za-z0-9_]*)?$"


class TrainerName(Spec):
    """A trainer that is not built in: an installed name or `module:object`, and its version."""

    use: Annotated[str, Field(pattern=TRAINER_NAME)]
    version: Annotated[str, Field(min_length=1, max_length=100)]


class Training(Spec):
    """A resolved configuration: all that training depends on but the seed.

    ``built_in`` is the name of its trainer in the table; one of others is named by ``trainer``,
    which is part of the identity. ``noun`` is what messages call what it trains,
    ``bounded`` which of its models have a structural bound on the rank, where any have one.
    ``located`` are fields that no document holds: they follow from the folder that it is in.
    ``leaves_numbers``: its runs leave numbers with names, of which a claim says which it reads.
    ``differs_by`` is in what two arms of it may differ, and what to do where they do not.
    """

    built_in: ClassVar[str] = ""
    noun: ClassVar[str] = "a model"
    bounded: ClassVar[str] = ""
    located: ClassVar[tuple[str, ...]] = ()
    leaves_numbers: ClassVar[bool] = False
    differs_by: ClassVar[tuple[str, str]] = (
        "in model, corpus or recipe",
        "name another configuration, or override something in '{arm}'",
    )

    trainer: TrainerName | None = None

    @model_serializer(mode="wrap")
    def _without_absent_trainer(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = handler(self)
        if self.trainer is None:
            document.pop("trainer", None)
        return document

    @property
    def trained_by(self) -> str:
        """The name of its trainer in the table, or its `module:object`."""
        return self.built_in if self.trainer is None else self.trainer.use

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the parts whose revisions are in the identity."""
        return ()

    @property
    def seeded(self) -> bool:
        """Whether a seed decides what is drawn; else runs differ by chance alone."""
        return True

    @property
    def parameters(self) -> int | None:
        """Number of parameters of the model, where it is known."""
        return None

    @property
    def parameters_by_part(self) -> dict[str, int]:
        """The number of each part of the model, where it is known."""
        return {}

    @property
    def flops(self) -> float | None:
        """Floating-point operations of a training step per token, where they are counted."""
        return None

    @property
    def bound(self) -> int | None:
        """The largest value that its structure allows, where it is bounded."""
        return None

    @property
    def why_unbounded(self) -> str:
        """Why there is no bound on the rank, as the end of a sentence."""
        return ""

    @classmethod
    def of(cls, run: Any) -> Self:
        """The configuration of a run, which is of this class; ValueError if it is not."""
        if not isinstance(run.training, cls):
            raise ValueError(  # noqa: TRY004 - a run of another trainer is a value, not a type
                f"run {run.key} trains {run.training.noun}, and not {cls.noun}"
            )
        return run.training

    def identity(self, revisions: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The document that is hashed: defaults filled in, absent options left out."""
        named = revisions_of(self.components) if revisions is None else dict(revisions)
        document = self.model_dump(mode="json", exclude_none=True)
        return {**document, "revisions": named} if named else document

    def digest(self) -> str:
        """SHA-256 of the identity: what makes two trainings the same."""
        return digest(self.identity())

    def edited(self, earlier: Mapping[str, Any]) -> tuple[str, ...]:
        """The files that were edited since the ``earlier`` identity, if nothing else differs."""
        del earlier
        return ()

    def differing(self, other: Training) -> str:
        """The settings in which two configurations differ, for a reader; empty where in none."""
        mine, theirs = self.identity(), other.identity()
        names = [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
        return ", ".join(f"`{name}`" for name in names)


STEP = 1e8
"""What a training step costs however small the model, in floating-point operations: some 3 ms."""

LEAST_TOKENS = 2
"""A stream of fewer tokens has no pair of a word and its successor, so nothing to predict."""


def too_short(subject: str, size: int, count: int, split: str) -> Words:
    """What to say of a text that is read in more streams than it fills."""
    mistake = (
        f"{subject} is {size:,}: the {count:,} tokens of the {split} split leave "
        f"{count // size} a stream, and a prediction needs {LEAST_TOKENS}"
    )
    expected = f"at most {max(1, count // LEAST_TOKENS):,}"
    return mistake, expected, "choose a smaller batch, or a longer text"
