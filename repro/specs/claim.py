"""Claims: what a claim file holds, and a claim resolved at one scale.

`ClaimFile` is the document, one for all scales. `Claim` is what it means at one scale, with
every configuration read and every override applied; all that comes after loading sees only this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from repro.digest import digest
from repro.evidence.evidence import PublishedArm
from repro.expectations.declared import (
    ArmFacts,
    Context,
    Design,
    MeasurementFacts,
    Role,
    Sequential,
)
from repro.expectations.difference import TestOfDifference
from repro.expectations.kinds import Expectation, kind_of
from repro.schema.base import (
    Decimal,
    DivergedPolicy,
    Factor,
    FewSeeds,
    Limit,
    Magnitude,
    Margin,
    Name,
    Reason,
    RunNumber,
    SeedCount,
    SeedNumber,
    Share,
    Size,
    Spec,
    UnitColumn,
    Window,
)
from repro.specs.arm import Arm, ArmSpec
from repro.specs.tree import Tree
from repro.trainers.measurement import with_sources
from repro.trainers.run import PlannedRun, RunSpec
from repro.trainers.table import AnyControl, Measurable


class ExpectationOverride(Spec):
    """What a scale may change of an expectation: its sizes, its test and its role.

    Its kind and arms are the same at every scale. ``role: context`` shows at this scale what the
    scale is too small to decide.
    """

    role: Role | None = None
    test: TestOfDifference | None = None
    margin: Margin | None = None
    smallest_effect: Margin | None = None
    at_least: Limit | None = None
    at_most: Limit | None = None
    share: Share | None = None
    magnitude_at_most: Magnitude | None = None
    magnitude_at_least: Magnitude | None = None
    within: Window | None = None
    within_factor: Factor | None = None


class Family(Spec):
    """Claims that are tested together, so that each is judged at its level among all.

    ``holm`` keeps the chance of any false conclusion, ``bh`` the share of false ones among
    those drawn, ``e_bh`` the same for e-values, which sequential claims have. A member that is
    not judged with the others counts as having found nothing.
    """

    name: Name
    method: Literal["holm", "bh", "e_bh"]
    members: Annotated[tuple[Name, ...], Field(min_length=2)]
    why: Reason


class Seeds(Spec):
    """How many replicates each arm has: ``plan`` are trained, numbered from 0 (or the arm's first).

    A planned one that is missing is INCOMPLETE. ``diverged`` is what becomes of replicates that
    diverge; ``min`` finished ones must be left. ``max`` is where a sequential claim ends.
    ``numbers`` are the first and the last number that the seeds of a table should have.
    ``values`` are the seeds themselves, in place of numbers in a row; ``plan`` is how many they
    are, and all of them are needed, unless that is said. ``unit`` is the column of a table,
    or the field of imported runs, that says which of them are evaluations of one unit, such as a
    training run: they are averaged first.
    A unit that has fewer of them than another is missing, unless ``evaluations`` is ``any``. Kind
    `bound` calls replicates by its name, where that is a word.
    ``sources`` are columns, or fields, that say what was drawn for a row or a run (a split, an
    initialisation): the report says how much of the scatter each makes.
    ``items`` is the column, or field, that names the item of an evaluation, a question say, with
    ``unit``; ``clusters`` says which items belong together. Kind `items` compares arms by them.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "required": [],
            "anyOf": [{"required": ["min", "plan"]}, {"required": ["values"]}],
        }
    )

    min: FewSeeds
    plan: FewSeeds
    values: Annotated[tuple[RunNumber, ...], Field(min_length=2, max_length=10_000)] | None = None
    max: SeedCount | None = None
    diverged: DivergedPolicy = "invalid"
    numbers: tuple[SeedNumber, SeedNumber] | None = None
    unit: UnitColumn | None = None
    evaluations: Literal["any"] | None = None
    sources: Annotated[tuple[UnitColumn, ...], Field(min_length=1, max_length=5)] | None = None
    items: UnitColumn | None = None
    clusters: UnitColumn | None = None

    @model_validator(mode="before")
    @classmethod
    def _counted(cls, data: Any) -> Any:
        """Where the seeds themselves are given, they say how many there are."""
        if not isinstance(data, dict):
            return data
        lists = {key: tuple(each) for key, each in data.items() if isinstance(each, list)}
        values = data.get("values")
        counted = (
            {"min": len(values), "plan": len(values)} if isinstance(values, list | tuple) else {}
        )
        return {**counted, **data, **lists}

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns of the sources of variation; none where none are declared."""
        return self.sources or ()

    @property
    def read_by(self) -> tuple[str, ...]:
        """The columns that say more of a row: the sources of variation, the item, its cluster."""
        return (*self.drawn, *filter(None, (self.items, self.clusters)))

    @property
    def called(self) -> str:
        """What a replicate is called: as the column that numbers them, where that is a word."""
        return self.unit if self.unit and self.unit.isalpha() and self.unit.islower() else "seed"

    @property
    def excludable(self) -> int:
        """How many replicates each arm may lose to divergence by being left out."""
        return int(self.diverged.partition("<=")[2] or 0)


class Forced(Spec):
    """Asks for a design to be run that can hardly decide; the report says so."""

    why: Reason


class PlannedSd(Spec):
    """The scatter of a measurement over seeds that the design was planned with.

    ``sd`` is in the units of the measurement, ``relative_sd`` a share of the mean (which a
    ratio and a relative margin need), ``sd_of_differences`` that of a minus b over the seeds
    (which a paired design needs: the scatter of the arms does not tell it; for ``meta_analysis``
    that of the effects over the tasks), and ``relative_sd_of_differences`` the same as a share of
    the mean of b.
    """

    sd: Annotated[Size, Field(ge=0)] | None = None
    relative_sd: Annotated[Size, Field(ge=0, lt=10)] | None = None
    sd_of_differences: Annotated[Size, Field(ge=0)] | None = None
    relative_sd_of_differences: Annotated[Size, Field(ge=0, lt=10)] | None = None
    why: Reason

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        *others, last = sizes = [key for key in PlannedSd.model_fields if key != "why"]
        if sum(getattr(self, key) is not None for key in sizes) != 1:
            raise ValueError(f"a planned scatter has one size: {', '.join(others)} or {last}")
        return self


ScaleName: TypeAlias = str
SCALES: tuple[ScaleName, ...] = ("quick", "bench", "paper")
"""The scales whose names have a meaning, from small to large."""

UNSCALED: ScaleName = "declared"
"""The one scale of a claim whose file names none."""

Sameness = Literal["corpus", "precision", "epochs", "averaging", "schedule", "tuning"]


class PrintedSource(Spec):
    """Where the claim is printed, in the paper's own words."""

    paper: Name
    citation: Annotated[str, Field(min_length=8, max_length=400)]
    locator: Annotated[str, Field(min_length=2, max_length=200)]
    quote: Annotated[str, Field(min_length=8, max_length=1200)]


WRITTEN_FROM_RESULTS = (
    "exploratory: not declared beforehand, but written when the results were there"
)
"""How `own` begins in a claim that was written from its results, until somebody declares it."""


class AuthorSource(Spec):
    """A claim of the author of its file, which no paper prints; ``own`` says why it is made."""

    own: Reason


Source = Annotated[
    Annotated[PrintedSource, Tag("paper")] | Annotated[AuthorSource, Tag("own")],
    Discriminator(
        lambda value: (
            "own"
            if isinstance(value, AuthorSource) or (isinstance(value, dict) and "own" in value)
            else "paper"
        )
    ),
]
"""Where a claim is from: a paper that prints it, or the author of its file."""


class Comparable(Spec):
    """What must be equal between the arms; otherwise the evidence is NOT-COMPARABLE.

    ``parameters_within`` is the largest relative difference in number of parameters. ``schedule``
    is all of the recipe that says how steps are taken, ``tuning`` the declared budget of search.
    """

    parameters_within: Annotated[float, Field(gt=0, lt=1)] | None = None
    same: tuple[Sameness, ...] = ()


class ComparedArm(PublishedArm):
    """Printed numbers of one arm of a comparison.

    ``structural`` says why the printed mean cannot vary over seeds (a rank at its bound, say). It
    then counts as exact, and needs no ``sd`` and ``n``.
    """

    structural: Reason | None = None

    @model_validator(mode="after")
    def _structural_values_do_not_vary(self) -> Self:
        if self.structural is not None and self.sd is not None and float(self.sd) != 0:
            raise ValueError("a structural value does not vary over seeds: leave sd out")
        return self


class Published(Spec):
    """A printed comparison that one expectation is about; ``note`` is shown with its locator."""

    expectation: Name
    locator: Annotated[str, Field(min_length=2, max_length=200)]
    arms: dict[Name, ComparedArm]
    p: Decimal | None = None
    note: Reason | None = None


class Expect(Spec):
    """The conclusion that is expected at a scale, when it is not CONFIRMED, and why."""

    conclusion: Literal["confirmed", "contradicted", "inconclusive", "trivial", "not_tested"]
    why: Reason


class NegativeControl(Spec):
    """The arms are the same on purpose: a difference that is found is a false one.

    Each night takes fresh seeds, and the share of nights with a difference is reported.
    """

    why: Reason


class Scale(Spec):
    """What a scale changes. ``notice`` tells the reader what the scale is and is not."""

    notice: Annotated[str, Field(min_length=20, max_length=800)]
    design: Design | None = None
    arms: dict[Name, ArmSpec] = {}
    measurements: dict[Name, Measurable] = {}
    expectations: dict[Name, ExpectationOverride] = {}
    seeds: Seeds | None = None
    planned_sd: dict[Name, PlannedSd] = {}
    forced: Forced | None = None
    expect: Expect | None = None


AS_DECLARED = Scale(notice="The claim is judged as its file declares it: it has no other scales.")
"""The scale of a claim whose file names none, which changes nothing."""


class ClaimFile(Spec):
    """A claim file, whole. The top level is the claim as it is tested; scales change parts of it.

    ``schema`` is the version of this form, ``id`` the claim's name, ``title`` the claim in one
    sentence, ``source`` whose it is. ``arms`` are the sides that are compared, ``measurements``
    what each has per run, ``expectations`` what these numbers are to show. ``design``: whether
    runs of one seed share their randomness (`paired`). ``seeds``: how many runs each arm has.
    ``alpha``: the level of every test. ``configuration``: what arms with ``args`` run.
    ``comparable``: what must be equal between the arms. ``planned_sd``: the scatter, by
    measurement, that the number of seeds was planned with. ``combine`` joins the expectations
    where not all need hold, ``family`` names claims that are tested together, ``sequential``
    allows looks before all seeds are there. ``canaries`` are checks whose outcome is known,
    ``control`` says that the arms are the same on purpose, ``published`` are printed comparisons.
    ``scales``: the sizes at which the claim is run, by any name; `quick`, `bench` and `paper` have
    a meaning, and without any the claim is judged as it is declared.
    """

    schema_version: Literal[1] = Field(alias="schema")
    id: Name
    title: Annotated[str, Field(min_length=8, max_length=200)]
    source: Source
    design: Design
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    configuration: dict[str, Any] | None = None
    arms: Annotated[dict[Name, ArmSpec], Field(min_length=1)]
    comparable: Comparable = Comparable()
    seeds: Seeds
    planned_sd: dict[Name, PlannedSd] = {}
    measurements: Annotated[dict[Name, Measurable], Field(min_length=1)]
    expectations: Annotated[tuple[Expectation, ...], Field(min_length=1)]
    combine: Tree | None = None
    family: Family | None = None
    sequential: Sequential | None = None
    control: NegativeControl | None = None
    canaries: tuple[AnyControl, ...] = ()
    published: tuple[Published, ...] = ()
    scales: (
        Annotated[dict[Name, Scale], Field(json_schema_extra={"additionalProperties": False})]
        | None
    ) = None

    @property
    def declared(self) -> tuple[ScaleName, ...]:
        """The scales that the claim has: in the order of the file.

        Those with a meaning go from small to large, where all have one.
        """
        names = (UNSCALED,) if self.scales is None else tuple(self.scales)
        return tuple(sorted(names, key=SCALES.index)) if set(names) <= set(SCALES) else names

    def changes(self, scale: ScaleName) -> Scale:
        """What a scale that the claim has changes."""
        return AS_DECLARED if self.scales is None else self.scales[scale]


DECISIVE = {
    *("design", "alpha", "seeds", "comparable", "measurements", "expectations", "combine"),
    *("family", "sequential", "control", "canaries", "forced"),
}
"""The fields of a claim that decide its verdict, apart from its arms and what is expected."""


class Claim(Spec):
    """A claim at one scale: frozen, complete, checked. ``file`` is for messages only.

    ``declared`` are all scales that its file has.
    ``so_far`` is how many seeds a sequential claim has reached, ``night`` which block of fresh
    seeds a negative control uses; neither is declared, so neither is among the decisive fields.
    """

    id: str
    title: str
    source: Source
    file: str
    scale: ScaleName
    declared: tuple[ScaleName, ...] = ()
    notice: str
    design: Design
    alpha: float
    arms: dict[str, Arm]
    comparable: Comparable
    seeds: Seeds
    planned_sd: dict[str, PlannedSd] = {}
    measurements: dict[str, Measurable]
    expectations: tuple[Expectation, ...]
    combine: Tree | None = None
    family: Family | None = None
    sequential: Sequential | None = None
    control: NegativeControl | None = None
    canaries: tuple[AnyControl, ...]
    published: tuple[Published, ...]
    forced: Forced | None = None
    expect: Expect | None = None
    so_far: int | None = None
    night: int = 0

    @property
    def paper(self) -> str | None:
        """The paper that prints the claim; None for a claim of its author."""
        return self.source.paper if isinstance(self.source, PrintedSource) else None

    @property
    def exploratory(self) -> bool:
        """Whether it was written from the results that it is judged on, and nobody declared it."""
        own = self.source.own if isinstance(self.source, AuthorSource) else ""
        return own.startswith(WRITTEN_FROM_RESULTS) and not self.trained

    @property
    def trained(self) -> tuple[str, ...]:
        """The arms whose evidence is runs."""
        return tuple(name for name, arm in self.arms.items() if arm.trained)

    @property
    def due(self) -> int:
        """How many replicates each arm should have now: those planned, or a sequential claim's."""
        return self.so_far or self.seeds.plan

    def numbers(self, arm: str) -> Sequence[int]:
        """The numbers of the replicates that an arm should have now: its seeds."""
        if self.seeds.values is not None:
            return self.seeds.values
        first = self.arms[arm].first_seed + self.night * self.seeds.plan
        return range(first, first + self.due)

    def run(self, arm: str, replicate: int) -> RunSpec:
        """The run of one arm with one seed; ValueError for an arm that is not trained."""
        return next(self._runs_of(arm, [replicate]))

    def _runs_of(self, arm: str, numbers: Iterable[int]) -> Iterator[RunSpec]:
        configuration = self.arms[arm].configuration
        if configuration is None:
            raise ValueError(f"arm '{arm}' is not trained: its evidence is a table or printed")
        training = configuration.training()
        for number in numbers:
            yield RunSpec(training=training, replicate=number, streams=self.design)

    def taken_of(self, arm: str) -> dict[str, Measurable]:
        """The measurements of the runs of an arm, as that arm has them; ValueError as ``run``."""
        training = self.run(arm, 0).training
        having = (item for item in self.measurements.items() if item[1].taken_of(training))
        return {key: each.of_arm(arm) for key, each in having}

    def tasks(self, arm: str) -> tuple[str, ...]:
        """The tasks over which anything is expected of an arm, or of any where nothing is."""
        reading = [each for each in self.expectations if arm in each.of] or self.expectations
        return tuple(dict.fromkeys(task for each in reading for task in kind_of(each).tasks(each)))

    def runs(self) -> tuple[PlannedRun, ...]:
        """All planned runs, replicate by replicate, so that arms grow together."""
        measurements = {arm: with_sources(self.taken_of(arm).values()) for arm in self.trained}
        every = [self._runs_of(arm, self.numbers(arm)) for arm in self.trained]
        return tuple(
            PlannedRun(
                run=run,
                measurements=measurements[name],
                label=f"{self.arms[name].label}, seed {run.replicate}",
                arm=f"{self.arms[name].label} ({self.arms[name].configuration_id})",
            )
            for runs in zip(*every, strict=True)
            for name, run in zip(self.trained, runs, strict=True)
        )

    def context(self) -> Context:
        """What the kinds of expectations may know of the claim."""
        return Context(
            alpha=self.alpha,
            design=self.design,
            arms={
                name: ArmFacts(arm.label, arm.first_seed, arm.bound)
                for name, arm in self.arms.items()
            },
            measurements={
                name: MeasurementFacts(
                    each.label, each.better, each.digits, each.censored_at, each.value_scale
                )
                for name, each in self.measurements.items()
            },
            min_seeds=self.seeds.min,
            sequential=self.sequential,
            unit=self.seeds.called,
        )

    def at_night(self, *, so_far: int | None = None, night: int = 0) -> Claim:
        """The claim as it stands at night: with more seeds, or a control's fresh ones."""
        return self.model_copy(update={"so_far": so_far, "night": night})

    def decisive_fields(self) -> dict[str, Any]:
        """What decides the verdict: not the title, the quote, the file's place or a label.

        What equals its default is left out, so that an option added later changes nothing.
        """
        arms = {name: arm.identity() for name, arm in self.arms.items()}
        declared = self.model_dump(mode="json", include=DECISIVE, exclude_defaults=True)
        return {"id": self.id, "scale": self.scale, "arms": arms, **declared}

    def digest(self) -> str:
        """SHA-256 of the decisive fields."""
        return digest(self.decisive_fields())
