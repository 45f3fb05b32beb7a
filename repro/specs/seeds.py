"""How many replicates an arm has, what becomes of those that diverge, and when to look."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from repro.specs.base import Reason, Size, Spec

SeedCount = Annotated[int, Field(ge=2, le=10_000)]

SeedNumber = Annotated[int, Field(ge=0, lt=2**53)]

DivergedPolicy = Annotated[
    str, StringConstraints(pattern=r"^(invalid|worst|exclude<=(0|[1-9][0-9]{0,3}))$")
]
"""``invalid``: one that diverges makes the evidence INVALID. ``exclude<=k``: up to k an arm are
left out and named. ``worst``: each counts as worse than any that finished, in tests of order."""


class Seeds(Spec):
    """How many replicates an arm: ``plan`` are trained, numbered from 0 (or the arm's first).

    A planned one that is missing is INCOMPLETE. ``diverged`` is what becomes of replicates that
    diverge; ``min`` finished ones must be left. ``max`` is where a sequential claim ends.
    ``numbers`` are the first and the last number that the seeds of a table should have.
    """

    min: SeedCount
    plan: SeedCount
    max: SeedCount | None = None
    diverged: DivergedPolicy = "invalid"
    numbers: tuple[SeedNumber, SeedNumber] | None = None

    @property
    def excludable(self) -> int:
        """How many replicates an arm may lose to divergence by being left out."""
        return int(self.diverged.partition("<=")[2] or 0)


OrderColumn = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_ ./:-]{0,99}$")]
"""The column of a table that says in which order its seeds came: a number or a date per seed. A
table is judged once, with all its seeds, unless the claim declares one."""


Drift = Literal["reversed", "any"]
"""How far a difference may move before a sequential claim is INVALID: until the seeds say the
opposite of what was decided first (``reversed``), or not provably at all (``any``)."""


class EProcess(Spec):
    """Looks whenever new seeds have come; valid at every look. ``g`` scales the prior."""

    method: Literal["eprocess_t"]
    g: Annotated[float, Field(gt=0, le=100)] = 1.0
    order: OrderColumn | None = None
    drift: Drift = "reversed"


class GroupSequential(Spec):
    """Looks at numbers of seeds that were planned, the last of which is the largest."""

    method: Literal["group_obf"]
    looks: Annotated[tuple[SeedCount, ...], Field(min_length=2, max_length=20)]
    order: OrderColumn | None = None
    drift: Drift = "reversed"


Sequential = Annotated[EProcess | GroupSequential, Field(discriminator="method")]


class Forced(Spec):
    """Asks for a design to be run that can hardly decide; the report says so."""

    why: Reason


class PlannedSd(Spec):
    """The scatter of a measurement over seeds that the design was planned with.

    ``sd`` is in the units of the measurement, ``relative_sd`` a share of the mean (which a
    ratio and a relative margin need), ``sd_of_differences`` that of a minus b over the seeds
    (which a paired design needs: the scatter of the arms does not tell it), and
    ``relative_sd_of_differences`` the same as a share of the mean of b.
    """

    sd: Annotated[Size, Field(ge=0)] | None = None
    relative_sd: Annotated[Size, Field(ge=0, lt=10)] | None = None
    sd_of_differences: Annotated[Size, Field(ge=0)] | None = None
    relative_sd_of_differences: Annotated[Size, Field(ge=0, lt=10)] | None = None
    why: Reason

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        sizes = (
            self.sd,
            self.relative_sd,
            self.sd_of_differences,
            self.relative_sd_of_differences,
        )
        if sum(size is not None for size in sizes) != 1:
            message = "a planned scatter has one size: sd, relative_sd, sd_of_differences or "
            raise ValueError(message + "relative_sd_of_differences")
        return self
