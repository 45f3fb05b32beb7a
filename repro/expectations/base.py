"""What every kind of expectation has: its declaration, its context, its test, rule and words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, TypedDict, TypeVar

from pydantic import Field

from repro.errors import ClaimError
from repro.expectations.looks import EProcess, GroupSequential
from repro.expectations.verdict_words import Conclusion, Finding
from repro.schema.base import Name, ObjectName, Spec
from repro.schema.value_scale import ValueScale
from repro.stats.records import Arm, Sample, TestResult, require_sample

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest
    from repro.stats.replication import OriginalTest
    from repro.stats.stopping import Question

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

    @property
    def paired(self) -> bool:
        """Whether replicates of one number are pairs."""
        return self.design == "paired"

    @property
    def level(self) -> TestLevel:
        """The level and the design."""
        return {"alpha": self.alpha, "paired": self.paired}

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


LEAST_SEEDS = 3
"""Fewest seeds for a decisive test on means: with 2, one degree of freedom, nothing is found."""

E = TypeVar("E", bound=Declared)

Read = Callable[[str, str], Arm]
"""(arm, name of a measurement) -> what is known of its values: a sample, or a summary."""


class Kind(ABC, Generic[E]):
    """One kind of expectation. Each kind is one class; nothing else knows its details."""

    Declared: ClassVar[type[Declared]]
    """The keys that a claim file gives to an expectation of this kind."""

    paired: ClassVar[bool] = True
    """Whether a paired design tests it pair by pair."""

    on_means: ClassVar[bool] = False
    """Whether it is a contrast of two means, which alone have a sequential test."""

    compares_means: ClassVar[bool] = False
    """Whether the effect is a difference or ratio of two means, as the papers print them."""

    counts_seeds: ClassVar[bool] = True
    """Whether the test counts the seeds of each arm; others count points, or units."""

    ordered: ClassVar[bool] = False
    """Whether its arms stand in an order that it declares."""

    several_arms: ClassVar[bool] = False
    """Whether it takes any number of arms."""

    test_of_design: ClassVar[bool] = False
    """Whether its key `test` is that of the design, welch or paired, unless one is named."""

    plans_effects: ClassVar[bool] = False
    """Whether what counts is the scatter of effects over tasks, and not that of values."""

    no_power: ClassVar[str] = "no power is computed for this kind of expectation"
    """Why no power is computed, where none is."""

    effect_scale: ClassVar[EffectScale] = "difference"
    """The scale of the effect, where all expectations of the kind have one."""

    claimed_side: ClassVar[Side] = "none"
    """The side of the limits that is claimed, where all expectations of the kind claim one."""

    def scale(self, declared: E) -> EffectScale:
        """The scale of effect, interval and limits."""
        return self.effect_scale

    @abstractmethod
    def test(self, declared: E, context: Context, read: Read) -> TestResult:
        """The test that is declared; ClaimError where it would mean nothing."""

    @abstractmethod
    def conclude(self, declared: E, result: TestResult) -> Finding:
        """The finding by the exact rule of the kind."""

    @abstractmethod
    def statement(self, declared: E, context: Context) -> str:
        """What the claim file declares, in a sentence without its full stop."""

    @abstractmethod
    def name_of_test(self, declared: E, context: Context) -> str:
        """The test as a statistician calls it."""

    def name_of_result(self, result: TestResult) -> str:
        """The test that was used, where the values have a say in which; else empty."""
        return ""

    @abstractmethod
    def effect_label(self, declared: E, context: Context) -> str:
        """The name of the effect's axis."""

    @abstractmethod
    def sentence(self, declared: E, context: Context, found: Found) -> str:
        """What was found, in one sentence."""

    def mistakes(self, declared: E, context: Context) -> Iterator[Mistake]:
        """Why it could not be decided as it is declared, whatever the evidence."""
        yield from ()

    def least_seeds(self, declared: E, alpha: float, *, paired: bool) -> int:
        """Fewest seeds per arm with which it could be confirmed."""
        return LEAST_SEEDS

    def by_order(self, declared: E) -> bool:
        """Whether only the order of the values counts, or what lies within a limit."""
        return False

    def needs_values(self, declared: E, context: Context) -> Mistake | None:
        """Why printed numbers of an arm are not enough; None where they are."""
        mistake = f"kind {declared.kind} needs the value of every seed"
        advice = "use a kind that does with mean, sd and n, or give the arm a table"
        expected = "difference by welch or student, equivalence, non_superiority, non_inferiority, "
        return Mistake(("of",), mistake, f"{expected}or a proportion of measurements", advice)

    def needs_means(self, declared: E) -> bool:
        """Whether it reads no more than the mean of an arm."""
        return False

    def tasks(self, declared: E) -> tuple[str, ...]:
        """The tasks over which it is; none where it takes no notice of tasks."""
        return ()

    def without_task(self, declared: E, task: str) -> E:
        """The same over all other tasks."""
        return declared

    def settled(self, declared: E, read: Read) -> E:
        """The expectation with what it leaves to the evidence; ClaimError where that is none."""
        return declared

    def by_seed(self, declared: E) -> bool:
        """Whether a seed counts once, where it is over tasks: with its values of all of them."""
        return False

    def compared(self, declared: E, context: Context, read: Read) -> list[Arm]:
        """What its test compares of every arm."""
        return arms_of(declared, read)

    def structural(self, declared: E) -> tuple[str, ...]:
        """The keys whose limit is the structural bound on the rank of its arm."""
        return ()

    def following(self, declared: E, design: Design) -> E:
        """The expectation with what it leaves to the design."""
        if self.test_of_design and design == "paired" and "test" not in declared.model_fields_set:
            return declared.model_copy(update={"test": "paired"})
        return declared

    def overridden(self, declared: E, sizes: Mapping[str, Any]) -> E:
        """The expectation with the sizes that a scale gives it."""
        return declared.model_copy(update=dict(sizes))

    def unfit_sizes(self, sizes: Mapping[str, Any]) -> Iterator[Mistake]:
        """Sizes of a scale that it cannot have."""
        yield from ()

    def limits(self, declared: E, context: Context) -> tuple[LimitPart, ...]:
        """The declared limits on the axis of the effect."""
        return ()

    def claimed(self, declared: E, context: Context) -> Side:
        """The side of the limits where the claim says that the effect lies."""
        return self.claimed_side

    def question(self, declared: E, context: Context) -> Question:
        """What a sequential test asks; only of kinds on means."""
        raise NotImplementedError

    def details(self, declared: E, context: Context, result: TestResult) -> dict[str, str]:
        """Facts about the test that have no field of their own."""
        return {}

    def doubt(self, declared: E, context: Context, read: Read) -> str:
        """What in the evidence itself refutes an assumption of the test; empty for nothing."""
        return ""

    def concludes(self, declared: E) -> bool:
        """Whether it comes to a conclusion; the paper's own rule is only repeated."""
        return True

    def either_way(self, declared: E) -> bool:
        """Whether an effect of either sign is what the claim says."""
        return False

    def takes_draws(self, declared: E) -> bool:
        """Whether it takes replicates for draws, in any order; some take points as they are."""
        return True

    def goes_whole(self, declared: E) -> bool:
        """Whether seeds of one number leave all its arms together, in any design."""
        return False

    def keeps_seeds(self, declared: E) -> str:
        """Why no seed can be left out; empty where one can."""
        return ""

    def is_slow(self, declared: E, n: Sequence[int]) -> bool:
        """Whether the test takes too long on so many seeds to be repeated for each."""
        return False

    def other_tests(
        self, declared: E, n: Sequence[int], *, paired: bool
    ) -> tuple[OtherTest[E], ...]:
        """The other tests that the design admits."""
        return ()

    def unpaired(self, declared: E) -> E | None:
        """The same as if the arms shared nothing; None where pairs are no part of its test."""
        if self.test_of_design:
            return declared.model_copy(update={"test": "welch"})
        return declared if self.paired else None

    def on_logarithms(self, declared: E) -> bool:
        """Whether the same test of logarithms asks much the same."""
        return False

    def original_test(self, declared: E) -> OriginalTest:
        """The t-test that the paper is taken to have used."""
        return "welch"

    def published_test(self, declared: E) -> OriginalTest | None:
        """The t-test of the paper, where its own rule is repeated."""
        return None

    def against(self, declared: E) -> str | None:
        """The measurement against which its own is held, point by point."""
        return None

    def points(self, declared: E, read: Read) -> tuple[Point, ...]:
        """The points of its picture."""
        return ()

    def facts_of_points(self, declared: E, read: Read) -> dict[str, str]:
        """What single points do to the effect."""
        return {}

    def assumes(self, declared: E) -> str:
        """What is assumed of the effect, where that follows from what is claimed."""
        return ""

    def effect_of_means(self, declared: E, a: float, b: float) -> float | None:
        """The effect of two printed means to plan for, positive as claimed; None without one."""
        return None

    def planned(self, declared: E, context: Context, plan: PlannedSeeds) -> PlannedTest:
        """The test as it is planned; ClaimError, which says why, where no power is computed."""
        raise ClaimError(self.no_power)

    def on_power(self, declared: E, context: Context, plan: PlannedSeeds) -> str:
        """What to know of the power, or of what can be found where no power is computed."""
        return ""

    def border(self, declared: E) -> float:
        """The difference, a minus b, that must be exceeded where the test itself names none."""
        return 0.0

    def way(self, declared: E, result: TestResult) -> str:
        """Which way more seeds would decide, were the effect the one that was found."""
        low = float("-inf") if result.low is None else result.low
        high = float("inf") if result.high is None else result.high
        return "" if low <= result.effect <= high else AGAINST


@dataclass(frozen=True, slots=True)
class PlannedSeeds:
    """What a claim plans an expectation with: seeds per arm, their scatter, and the true effect.

    ``lacking`` says why no scatter is known. ``effect`` is positive as claimed.
    """

    n: int
    sd: tuple[float, ...]
    lacking: str = ""
    effect: float | None = None

    def design(self, context: Context) -> dict[str, Any]:
        """What a planned test on values is told; ClaimError where no scatter is known."""
        if not self.sd:
            raise ClaimError(self.lacking)
        return {"n": (self.n,), "sd": self.sd[:2], "effect": self.effect, **context.level}


AGAINST = ", against the claim"


@dataclass(frozen=True, slots=True)
class OtherTest(Generic[E]):
    """An expectation by another test; ``refused`` says why it is not computed.

    Only of the same question do two tests disagree; one of ranks asks another than one of means.
    """

    declared: E
    name: str
    same_question: bool
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a test found; ``digits`` after the point of a difference, in percent where relative."""

    result: TestResult
    interval: IntervalPart | None
    conclusion: Conclusion | None
    digits: int


def pair(names: list[str]) -> str:
    """`A and B`; `A, B and C`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def arms_of(declared: Declared, read: Read) -> list[Arm]:
    """What is known of every arm of an expectation."""
    return [read(arm, declared.measurement) for arm in declared.of]


def samples_of(declared: Declared, read: Read) -> list[Sample]:
    """The sample of every arm; ClaimError for one that is known by its summary only."""
    return [require_sample(arm, declared.kind) for arm in arms_of(declared, read)]


EffectScale = Literal[
    "difference", "relative", "ratio", "spread", "correlation", "share", "level", "none"
]
Side = Literal["below", "above", "between", "outside", "none"]


class IntervalPart(Spec):
    """A confidence interval; an end that is absent is infinite."""

    low: float | None
    high: float | None
    level: float


class LimitPart(Spec):
    """A declared limit on the effect axis of an expectation: a margin, a least ratio, zero."""

    value: float
    label: str
    why: str


class Point(Spec):
    """One point of an association: ``x`` of ``against``, ``y`` of the measurement itself.

    The replicate is absent where the point is an arm's mean; ``counted`` is false outside the
    declared window.
    """

    arm: str
    replicate: int | None
    x: float
    y: float
    counted: bool
