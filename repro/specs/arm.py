"""Arms: the sides of a comparison, and where the evidence about each comes from."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from repro.schema.base import ConfigurationId, Count, FileName, Name, PrintedSize, Spec
from repro.specs.configuration import Configuration, NamedCode

EvidenceKind = Literal["runs", "table", "published"]


class PublishedArm(Spec):
    """Printed numbers of one arm, as strings."""

    mean: PrintedSize
    sd: PrintedSize | None = None
    n: Count | None = None


class ArmSpec(Spec):
    """One side of a comparison, and where its values come from: one of three.

    ``configuration``: it is trained here, with what ``override`` changes in it key by key;
    ``first_seed`` numbers its first replicate. ``table``: a tidy CSV beside the claim, columns
    arm, seed, measurement, value. ``published``: printed numbers, by measurement.
    """

    label: Annotated[str, Field(min_length=1, max_length=40)]
    configuration: ConfigurationId | None = None
    override: dict[str, Any] = {}
    first_seed: Annotated[int, Field(ge=0, lt=900_000)] = 0
    table: FileName | None = None
    published: dict[Name, PublishedArm] | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        sources = [self.configuration, self.table, self.published]
        if sum(source is not None for source in sources) != 1:
            message = "an arm has one kind of evidence: either configuration, table or published"
            raise ValueError(message)
        if self.configuration is None and (self.override or self.first_seed):
            raise ValueError("override and first_seed belong to an arm with a configuration")
        return self


class Arm(Spec):
    """An arm at one scale: its configuration read and overridden, or its table or printed numbers.

    ``overridden`` are dotted paths. ``code`` is what it needs of others to be trained. ``table``
    is a path that can be opened.
    """

    label: str
    configuration_id: str | None = None
    configuration: Configuration | None = None
    overridden: tuple[str, ...] = ()
    code: tuple[NamedCode, ...] = ()
    first_seed: int = 0
    table: str | None = None
    published: dict[str, PublishedArm] | None = None

    @property
    def evidence(self) -> EvidenceKind:
        """Where its values come from."""
        if self.configuration is not None:
            return "runs"
        return "table" if self.table is not None else "published"

    @property
    def rank_bound(self) -> int | None:
        """The bound d + 2, where the arm's own output layer sets one."""
        return None if self.configuration is None else self.configuration.training().rank_bound
