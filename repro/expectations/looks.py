"""How a claim declares that it is looked at more than once, and in which order its seeds came."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from repro.schema.base import OrderColumn, SeedCount, Spec

Drift = Literal["reversed", "any"]
"""How far a difference may move before a sequential claim is INVALID: until the seeds say the
opposite of what was decided first (``reversed``), or not provably at all (``any``)."""


class EProcess(Spec):
    """Looks whenever new seeds have come; valid at every look. ``g`` scales the prior."""

    method: Literal["eprocess_t"]
    g: Annotated[float, Field(gt=0, le=100)] = 1.0
    order: OrderColumn | None = None
    drift: Drift = "reversed"
    looks: ClassVar[tuple[int, ...]] = ()  # none is planned: every number of pairs is a look


class GroupSequential(Spec):
    """Looks at numbers of seeds that were planned, the last of which is the largest."""

    method: Literal["group_obf"]
    looks: Annotated[tuple[SeedCount, ...], Field(min_length=2, max_length=20)]
    order: OrderColumn | None = None
    drift: Drift = "reversed"
    g: ClassVar[float | None] = None  # it has no e-values, and so no prior


Sequential = Annotated[EProcess | GroupSequential, Field(discriminator="method")]
