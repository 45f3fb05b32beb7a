"""Claims: what a claim file holds, and a claim resolved at one scale.

`ClaimFile` is the document, one for all scales. `Claim` is what it means at one scale, with
every configuration read and every override applied; all that comes after loading sees only this.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from repro.digest import digest
from repro.specs.base import ConfigurationId, Count, Decimal, Name, Reason, Spec
from repro.specs.configuration import Configuration
from repro.specs.expectation import Expectation, ExpectationOverride
from repro.specs.measurement import Measurement
from repro.specs.run import PlannedRun, RunSpec

ScaleName = Literal["quick", "bench", "paper"]
SCALES: tuple[ScaleName, ...] = ("quick", "bench", "paper")
Design = Literal["independent", "paired"]


class Source(Spec):
    """Where the claim is printed, in the paper's own words."""

    paper: Name
    citation: Annotated[str, Field(min_length=8, max_length=400)]
    locator: Annotated[str, Field(min_length=2, max_length=200)]
    quote: Annotated[str, Field(min_length=8, max_length=1200)]


class ArmSpec(Spec):
    """One side of a comparison: a configuration, and what is changed in it, key by key."""

    label: Annotated[str, Field(min_length=1, max_length=40)]
    configuration: ConfigurationId
    override: dict[str, Any] = {}


class Seeds(Spec):
    """How many replicates an arm: ``plan`` are trained, numbered from 0.

    A planned one that is missing is INCOMPLETE. ``diverged_at_most`` is how many an arm may lose
    to divergence (they are excluded and named); more is INVALID. ``min`` must be left then.
    """

    min: Annotated[int, Field(ge=2, le=10_000)]
    plan: Annotated[int, Field(ge=2, le=10_000)]
    diverged_at_most: Annotated[int, Field(ge=0, le=10_000)] = 0


class Comparable(Spec):
    """What must be equal between the arms; otherwise the evidence is NOT-COMPARABLE.

    ``parameters_within`` is the largest relative difference in number of parameters.
    """

    parameters_within: Annotated[float, Field(gt=0, lt=1)] | None = None
    same: tuple[Literal["corpus", "precision", "epochs", "averaging"], ...] = ()


class RankBound(Spec):
    """Canary: no rank of these arms is above the structural bound d + 2; below is a flag."""

    kind: Literal["rank_bound"]
    id: Name
    measurement: Name
    arms: Annotated[tuple[Name, ...], Field(min_length=1)]


class KnownRank(Spec):
    """Canary: beside every rank, a synthetic matrix of known rank must come out exactly."""

    kind: Literal["known_rank"]
    id: Name
    measurement: Name


Canary = Annotated[RankBound | KnownRank, Field(discriminator="kind")]


class PublishedArm(Spec):
    """Printed numbers of one arm, as strings."""

    mean: Decimal
    sd: Decimal | None = None
    n: Count | None = None


class Published(Spec):
    """A printed comparison that one expectation is about; ``note`` is shown beside its locator."""

    expectation: Name
    locator: Annotated[str, Field(min_length=2, max_length=200)]
    arms: dict[Name, PublishedArm]
    p: Decimal | None = None
    note: Reason | None = None


class Expect(Spec):
    """The conclusion that is expected at a scale, when it is not CONFIRMED, and why."""

    conclusion: Literal["confirmed", "contradicted", "inconclusive", "trivial"]
    why: Reason


class Scale(Spec):
    """What a scale changes. ``notice`` tells the reader what the scale is and is not."""

    notice: Annotated[str, Field(min_length=20, max_length=800)]
    arms: dict[Name, ArmSpec] = {}
    measurements: dict[Name, Measurement] = {}
    expectations: dict[Name, ExpectationOverride] = {}
    seeds: Seeds | None = None
    expect: Expect | None = None


class Scales(Spec):
    """The three scales; a claim has all of them."""

    quick: Scale
    bench: Scale
    paper: Scale


class ClaimFile(Spec):
    """A claim file, whole. The top level is the paper's experiment; scales change it."""

    schema_version: Literal[1] = Field(alias="schema")
    id: Name
    title: Annotated[str, Field(min_length=8, max_length=200)]
    source: Source
    design: Design
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    arms: Annotated[dict[Name, ArmSpec], Field(min_length=1)]
    comparable: Comparable = Comparable()
    seeds: Seeds
    measurements: Annotated[dict[Name, Measurement], Field(min_length=1)]
    expectations: Annotated[tuple[Expectation, ...], Field(min_length=1)]
    canaries: tuple[Canary, ...] = ()
    published: tuple[Published, ...] = ()
    scales: Scales


class Arm(Spec):
    """An arm with its configuration read and overridden; ``overridden`` are dotted paths."""

    label: str
    configuration_id: str
    configuration: Configuration
    overridden: tuple[str, ...] = ()


class Claim(Spec):
    """A claim at one scale: frozen, complete, checked. ``file`` is for messages only."""

    id: str
    title: str
    source: Source
    file: str
    scale: ScaleName
    notice: str
    design: Design
    alpha: float
    arms: dict[str, Arm]
    comparable: Comparable
    seeds: Seeds
    measurements: dict[str, Measurement]
    expectations: tuple[Expectation, ...]
    canaries: tuple[Canary, ...]
    published: tuple[Published, ...]
    expect: Expect | None = None

    def run(self, arm: str, replicate: int) -> RunSpec:
        """The run of one arm with one seed."""
        streams = self.design
        training = self.arms[arm].configuration.training()
        return RunSpec(training=training, replicate=replicate, streams=streams)

    def runs(self) -> tuple[PlannedRun, ...]:
        """All planned runs, replicate by replicate, so that arms grow together."""
        measurements = tuple(self.measurements.values())
        return tuple(
            PlannedRun(run=self.run(arm, replicate), measurements=measurements)
            for replicate in range(self.seeds.plan)
            for arm in self.arms
        )

    def digest(self) -> str:
        """SHA-256 of what decides the verdict: not the title, the quote or the file's place."""
        arms = {name: arm.configuration.training().identity() for name, arm in self.arms.items()}
        decisive = {"design", "alpha", "seeds", "comparable", "measurements", "expectations"}
        document = self.model_dump(mode="json", include=decisive | {"canaries", "expect"})
        return digest({"id": self.id, "scale": self.scale, "arms": arms, **document})
