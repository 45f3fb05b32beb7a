"""Arms: the sides of a comparison, and where the evidence about each comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import ConfigDict, Field, SerializeAsAny, create_model, model_validator

from repro.evidence.base import EvidenceSource, Facts
from repro.evidence.evidence import PublishedArm
from repro.evidence.sources import BUILTIN
from repro.schema.base import ObjectName, Spec
from repro.specs.configuration import Configuration, NamedCode, keys_of_trainings


class SourceOfOthers(Spec):
    """A source of values that is not built in; what it declares are its other keys.

    ``use`` names its class, `module:object`. A source that an installed package adds is named by
    ``kind``.
    """

    model_config = ConfigDict(extra="allow", json_schema_extra={"required": ["use"]})

    use: ObjectName = ""


class DeclaredArm(Spec):
    """What every arm declares. Its other keys are those of the sources that are built in."""

    label: Annotated[str, Field(min_length=1, max_length=40)]

    @classmethod
    def where_else(cls, key: str) -> str:
        """A key of a configuration changes it for one arm below ``override``."""
        if key not in keys_of_trainings():
            return ""
        return f"it belongs to the configuration; for this arm alone: `override: {{{key}: ...}}`"

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        named = [key for key in (*BUILTIN, "evidence") if getattr(self, key) is not None]
        if len(named) != 1:
            *others, last = BUILTIN
            either = f"{', '.join(others)} or {last}"
            raise ValueError(f"an arm has one kind of evidence: either {either}")
        of_it = BUILTIN[named[0]].model_fields if named[0] in BUILTIN else ()
        for key, source in BUILTIN.items():
            others = [each for each in source.model_fields if each != key]
            if any(getattr(self, each) for each in others if each not in of_it):
                raise ValueError(f"{' and '.join(others)} belong to an arm with a {key}")
        return self

    @property
    def source(self) -> EvidenceSource:
        """Where its values come from, as it is declared."""
        if TYPE_CHECKING:
            return EvidenceSource()
        for key, source in BUILTIN.items():
            if getattr(self, key) is not None:
                return source(**{each: getattr(self, each) for each in source.model_fields})
        return self.evidence


if TYPE_CHECKING:

    class ArmSpec(DeclaredArm):
        """As it is made below, with the keys of every source."""

        evidence: Any = None
        first_seed: int = 0

else:
    ArmSpec = create_model(
        "ArmSpec",
        __base__=DeclaredArm,
        __module__=__name__,
        __doc__="""One side of a comparison, and where its values come from: one of these.

    ``configuration``: it is trained here, with what ``override`` changes in it key by key;
    ``first_seed`` numbers its first replicate. ``args``: the configuration of the claim is trained,
    with these laid over its own. ``table``: a tidy CSV next to the claim, columns arm, seed,
    measurement, value. ``import``: runs that a tracker has, or files. ``published``: printed
    numbers, by measurement. ``evidence``: a source that is not built in.
    """,
        **{
            name: (field.rebuild_annotation(), field)
            for source in BUILTIN.values()
            for name, field in source.model_fields.items()
        },
        evidence=(SourceOfOthers | None, None),
    )


class Arm(Spec):
    """An arm at one scale: its source, and what is trained for it, if anything is.

    ``overridden`` are dotted paths. ``code`` is what it needs of others to be trained.
    """

    label: str
    source: SerializeAsAny[EvidenceSource]
    configuration_id: str | None = None
    configuration: Configuration | None = None
    overridden: tuple[str, ...] = ()
    code: tuple[NamedCode, ...] = ()
    first_seed: int = 0

    @classmethod
    def of(cls, declared: ArmSpec, facts: Facts) -> Arm:
        """The arm as it is declared, with what is trained for it."""
        found = {field.name: getattr(facts, field.name) for field in fields(facts)}
        return cls(label=declared.label, source=declared.source, **found)

    @property
    def trained(self) -> bool:
        """Whether its values are those of runs that are made here."""
        return self.source.trains

    @property
    def published(self) -> Mapping[str, PublishedArm] | None:
        """Printed numbers by measurement, where they are all that is known."""
        return self.source.printed

    def identity(self) -> Any:
        """What decides the verdict, wherever the claim lies."""
        return self.source.identity(self.configuration)

    @property
    def bound(self) -> int | None:
        """The largest value that the structure of what it trains allows, where one is known."""
        return None if self.configuration is None else self.configuration.training().bound
