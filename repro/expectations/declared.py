"""What a claim file declares of an expectation, and what a kind may know of the claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypedDict

from pydantic import Field

from repro.schema.base import Name, ObjectName, OrderColumn, SeedCount, Spec
from repro.schema.value_scale import ValueScale

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


Role = Literal["decisive", "context"]


Pair = tuple[Name, Name]


class Declared(Spec):
    """What a claim file declares of one expectation; a kind adds its keys.

    ``of`` names arms. Of two, a and b, the effect is always a minus b, or a over b.
    """

    if TYPE_CHECKING:  # each kind says which, after the keys that all have
        kind: str
        of: tuple[Name, ...]

    id: Name
    measurement: Name
    role: Role = "decisive"

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the measurements that it reads."""
        return (self.measurement,)

    @property
    def code(self) -> str:
        """What judges it that is no part of repro, and its version; empty for what is built in."""
        return ""

    def names(self) -> dict[str, Any]:
        """By key, the names of measurements that are written there, in lists or alone."""
        return {"measurement": self.measurement}


class OwnExpectation(Declared):
    """What a claim file declares of an expectation whose kind is not built in.

    ``use`` is `module:object`, a class below ``Kind``, and ``version`` that in which it is here.
    """

    kind: str = "own"
    use: ObjectName
    version: Annotated[str, Field(min_length=1, max_length=100)] = ""

    @property
    def code(self) -> str:
        return f"{self.use}, version {self.version}"


Design = Literal["independent", "paired"]


@dataclass(frozen=True, slots=True)
class ArmFacts:
    """What a kind may know of an arm: its label, its first seed, its structural bound."""

    label: str
    first_seed: int = 0
    bound: int | None = None


@dataclass(frozen=True, slots=True)
class MeasurementFacts:
    """What a kind may know of a measurement; ``digits`` are those that a reader sees.

    From ``censored_at`` on a value says only that it is as large; ``scale`` are those it can have.
    """

    label: str
    better: Literal["lower", "higher"]
    digits: int = 2
    censored_at: float | None = None
    scale: ValueScale | None = None


class TestLevel(TypedDict):
    """What most tests are told of a claim."""

    alpha: float
    paired: bool


class Looks(TypedDict, total=False):
    """The prior of an e-process, and the pairs of seeds at its first look."""

    g: float
    first: int


@dataclass(frozen=True, slots=True)
class Context:
    """The claim around an expectation, as far as a kind may know it.

    ``min_seeds`` are the fewest with which the claim is judged, and ``design_name`` is what a
    message calls the design: `the design`, or `the design of scale 'quick'`.
    """

    alpha: float
    design: Design
    arms: Mapping[str, ArmFacts]
    measurements: Mapping[str, MeasurementFacts]
    min_seeds: int
    sequential: EProcess | GroupSequential | None = None
    design_name: str = "the design"
    unit: str = "seed"
    """What a replicate is called: as the column that numbers them, if a claim names one."""

    @property
    def paired(self) -> bool:
        """Whether replicates of one number are pairs."""
        return self.design == "paired"

    @property
    def level(self) -> TestLevel:
        """The level and the design."""
        return {"alpha": self.alpha, "paired": self.paired}

    @property
    def looks(self) -> Looks:
        """The prior of an e-process, and the pairs at its first look; nothing without one."""
        prior = self.sequential.g if self.sequential else None
        return {} if prior is None else {"g": prior, "first": self.min_seeds}

    def labels(self, declared: Declared) -> list[str]:
        """The labels of the arms of an expectation."""
        return [self.arms[arm].label for arm in declared.of]

    def measurement(self, declared: Declared) -> MeasurementFacts:
        """What is known of the measurement of an expectation."""
        return self.measurements[declared.measurement]

    def measured(self, declared: Declared) -> str:
        """The label of the measurement of an expectation."""
        return self.measurement(declared).label


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a kind finds wrong with an expectation; ``keys`` lead to it from the expectation."""

    keys: tuple[str | int, ...]
    what: str
    expected: str
    advice: str


PAIRED_TESTS: tuple[Literal["paired", "paired_permutation"], ...] = ("paired", "paired_permutation")
"""Tests of differences, or trends, of a paired design; all others take arms as independent."""


def unfitting_test(test: str, context: Context) -> Iterator[Mistake]:
    """A test of pairs needs arms that share their randomness, and they need such a test."""
    paired = test in PAIRED_TESTS
    if paired and not context.paired:
        mistake = "replicates of independent arms are no pairs"
        advice = "leave the test out, or write `design: paired`"
        yield Mistake(("test",), mistake, "a test of independent arms, such as welch", advice)
    elif context.paired and not paired:
        mistake = f"test {test} takes the arms as independent, and {context.design_name} pairs them"
        advice = "write `test: paired`, or `design: independent`"
        yield Mistake(("test",), mistake, "paired", advice)
