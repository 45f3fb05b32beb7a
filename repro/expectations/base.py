"""What every kind of expectation has: its test, rule, words and plan, and their records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from repro.errors import ClaimError
from repro.expectations.verdict_words import Conclusion, Finding
from repro.schema.base import Spec
from repro.stats.records import Arm, Sample, TestResult, require_sample

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest
    from repro.stats.replication import OriginalTest
    from repro.stats.stopping import Question
from repro.expectations.declared import Context, Declared, Design, Mistake

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


LEAST_SEEDS = 3
"""Fewest seeds for a decisive test on means: with 2, one degree of freedom, nothing is found."""


E = TypeVar("E", bound=Declared)


Read = Callable[[str, str], Arm]
"""(arm, name of a measurement) -> what is known of its values: a sample, or a summary."""


AGAINST = ", against the claim"


@dataclass(frozen=True, slots=True)
class PlannedSeeds:
    """What a claim plans an expectation with: seeds per arm, their scatter, and the true effect.

    ``lacking`` says why no scatter is known. ``effect`` is positive as claimed. ``sizes`` are the
    seeds of the arms that are trained, or printed, by arm.
    """

    n: int
    sd: tuple[float, ...]
    lacking: str = ""
    effect: float | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)

    def design(self, context: Context) -> dict[str, Any]:
        """What a planned test on values is told; ClaimError where no scatter is known."""
        if not self.sd:
            raise ClaimError(self.lacking)
        return {"n": (self.n,), "sd": self.sd[:2], "effect": self.effect, **context.level}


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


class Kind(ABC, Generic[E]):
    """One kind of expectation. Each kind is one class; nothing else knows its details.

    Six methods are abstract. The others have an answer that suits most kinds, in the order of those
    who ask.
    """

    # --- every kind answers these ---

    Declared: ClassVar[type[Declared]]
    """The keys that a claim file gives to an expectation of this kind."""

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

    @abstractmethod
    def effect_label(self, declared: E, context: Context) -> str:
        """The name of the effect's axis."""

    @abstractmethod
    def sentence(self, declared: E, context: Context, found: Found) -> str:
        """What was found, in one sentence."""

    # --- loading a claim asks ---

    ordered: ClassVar[bool] = False
    """Whether its arms stand in an order that it declares."""

    several_arms: ClassVar[bool] = False
    """Whether it takes any number of arms."""

    test_of_design: ClassVar[bool] = False
    """Whether its key `test` is that of the design, welch or paired, unless one is named."""

    def mistakes(self, declared: E, context: Context) -> Iterator[Mistake]:
        """Why it could not be decided as it is declared, whatever the evidence."""
        yield from ()

    def least_seeds(self, declared: E, alpha: float, *, paired: bool) -> int:
        """Fewest seeds per arm with which it could be confirmed."""
        return LEAST_SEEDS

    def replicate(self, declared: E, planned: int) -> str:
        """What one of so many replicates of an arm is called; empty where it is a seed."""
        return ""

    def needs_values(self, declared: E, context: Context) -> Mistake | None:
        """Why printed numbers of an arm are not enough; None where they are."""
        mistake = f"kind {declared.kind} needs the value of every seed"
        advice = "use a kind that does with mean, sd and n, or give the arm a table"
        expected = "difference by welch or student, equivalence, non_superiority, non_inferiority, "
        return Mistake(("of",), mistake, f"{expected}or a proportion of measurements", advice)

    def needs_means(self, declared: E) -> bool:
        """Whether it reads no more than the mean of an arm."""
        return False

    def means_of(self, declared: E) -> tuple[str, ...]:
        """The arms of which it reads no more than the mean."""
        return declared.of if self.needs_means(declared) else ()

    def lone(self, declared: E) -> tuple[str, ...]:
        """The arms of which a single run will do; for most kinds, none."""
        return ()

    def known_sd(self, declared: E) -> float:
        """The standard deviation that is known beforehand; 0 where none is."""
        return 0.0

    def tasks(self, declared: E) -> tuple[str, ...]:
        """The tasks over which it is; none where it takes no notice of tasks."""
        return ()

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

    def against(self, declared: E) -> str | None:
        """The measurement against which its own is held, point by point."""
        return None

    def question(self, declared: E, context: Context) -> Question:
        """What a sequential test asks; only of kinds on means."""
        raise NotImplementedError

    # --- judging asks ---

    paired: ClassVar[bool] = True
    """Whether a paired design tests it pair by pair."""

    on_means: ClassVar[bool] = False
    """Whether it is a contrast of two means, which alone have a sequential test."""

    compares_means: ClassVar[bool] = False
    """Whether the effect is a difference or ratio of two means, as the papers print them."""

    counts_seeds: ClassVar[bool] = True
    """Whether the test counts the seeds of each arm; others count points, or units."""

    def settled(self, declared: E, read: Read) -> E:
        """The expectation with what it leaves to the evidence; ClaimError where that is none."""
        return declared

    def by_order(self, declared: E) -> bool:
        """Whether only the order of the values counts, or what lies within a limit."""
        return False

    def by_seed(self, declared: E) -> bool:
        """Whether a seed counts once, where it is over tasks: with its values of all of them."""
        return False

    def compared(self, declared: E, context: Context, read: Read) -> list[Arm]:
        """What its test compares of every arm."""
        return arms_of(declared, read)

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

    def without_task(self, declared: E, task: str) -> E:
        """The same over all other tasks."""
        return declared

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

    passes_open: ClassVar[bool] = False
    """Whether a gate lets pass what it leaves open: nothing speaks against it."""

    def cannot_settle(self, declared: E, result: TestResult) -> str:
        """Why no number of seeds would settle it; empty where one might."""
        return ""

    def way(self, declared: E, result: TestResult) -> str:
        """Which way more seeds would decide, were the effect the one that was found."""
        low = float("-inf") if result.low is None else result.low
        high = float("inf") if result.high is None else result.high
        return "" if low <= result.effect <= high else AGAINST

    # --- the report asks ---

    effect_scale: ClassVar[EffectScale] = "difference"
    """The scale of the effect, where all expectations of the kind have one."""

    claimed_side: ClassVar[Side] = "none"
    """The side of the limits that is claimed, where all expectations of the kind claim one."""

    def scale(self, declared: E) -> EffectScale:
        """The scale of effect, interval and limits."""
        return self.effect_scale

    def limits(self, declared: E, context: Context) -> tuple[LimitPart, ...]:
        """The declared limits on the axis of the effect."""
        return ()

    def claimed(self, declared: E, context: Context) -> Side:
        """The side of the limits where the claim says that the effect lies."""
        return self.claimed_side

    def name_of_result(self, result: TestResult) -> str:
        """The test that was used, where the values have a say in which; else empty."""
        return ""

    def details(self, declared: E, context: Context, result: TestResult) -> dict[str, str]:
        """Facts about the test that have no field of their own."""
        return {}

    def points(self, declared: E, read: Read) -> tuple[Point, ...]:
        """The points of its picture."""
        return ()

    def facts_of_points(self, declared: E, read: Read) -> dict[str, str]:
        """What single points do to the effect."""
        return {}

    # --- planning asks ---

    plans_effects: ClassVar[bool] = False
    """Whether what counts is the scatter of effects over tasks, and not that of values."""

    no_power: ClassVar[str] = "no power is computed for this kind of expectation"
    """Why no power is computed, where none is."""

    def planned(self, declared: E, context: Context, plan: PlannedSeeds) -> PlannedTest:
        """The test as it is planned; ClaimError, which says why, where no power is computed."""
        raise ClaimError(self.no_power)

    def on_power(self, declared: E, context: Context, plan: PlannedSeeds) -> str:
        """What to know of the power, or of what can be found where no power is computed."""
        return ""

    def effect_of_means(self, declared: E, a: float, b: float) -> float | None:
        """The effect of two printed means to plan for, positive as claimed; None without one."""
        return None

    def border(self, declared: E) -> float:
        """The difference, a minus b, that must be exceeded where the test itself names none."""
        return 0.0

    def assumes(self, declared: E) -> str:
        """What is assumed of the effect, where that follows from what is claimed."""
        return ""


def pair(names: list[str]) -> str:
    """`A and B`; `A, B and C`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def arms_of(declared: Declared, read: Read) -> list[Arm]:
    """What is known of every arm of an expectation."""
    return [read(arm, declared.measurement) for arm in declared.of]


def samples_of(declared: Declared, read: Read) -> list[Sample]:
    """The sample of every arm; ClaimError for one that is known by its summary only."""
    return [require_sample(arm, declared.kind) for arm in arms_of(declared, read)]
