"""What judging knows of one kind of expectation: its test, its rule, its words, its limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from repro.expectations.rules import Conclusion, Finding
from repro.schema import format as fmt
from repro.schema.base import Margin, Spec
from repro.specs.claim import Claim
from repro.specs.measurement import Measurement, Reported
from repro.stats.records import Arm, Sample, TestResult, require_sample
from repro.trainers.measurement import Bleu, Rank

E = TypeVar("E")


Read: TypeAlias = Callable[[str, str], Arm]
"""(arm, name of a measurement) -> what is known of its values: a sample, or a summary."""


class Kind(ABC, Generic[E]):
    """One kind of expectation. Each kind is one class; nothing else knows its details."""

    def scale(self, declared: E) -> EffectScale:
        """The scale of effect, interval and limits."""
        return "difference"

    @abstractmethod
    def test(self, declared: E, claim: Claim, read: Read) -> TestResult:
        """The test that is declared; ClaimError where it would mean nothing."""

    @abstractmethod
    def conclude(self, declared: E, result: TestResult) -> Finding:
        """The finding by the exact rule of the kind."""

    @abstractmethod
    def statement(self, declared: E, claim: Claim) -> str:
        """What the claim file declares, in a sentence without its full stop."""

    @abstractmethod
    def name_of_test(self, declared: E, claim: Claim) -> str:
        """The test as a statistician calls it."""

    @abstractmethod
    def effect_label(self, declared: E, claim: Claim) -> str:
        """The name of the effect's axis."""

    @abstractmethod
    def sentence(self, declared: E, claim: Claim, found: Found) -> str:
        """What was found, in one sentence."""

    def limits(self, declared: E, claim: Claim) -> tuple[Limit, ...]:
        """The declared limits on the axis of the effect."""
        return ()

    def claimed(self, declared: E, claim: Claim) -> Side:
        """The side of the limits where the claim says that the effect lies."""
        return "none"

    def region(self, declared: E) -> tuple[float | None, float | None]:
        """The claimed region of the effect, positive as claimed, for planning."""
        return None, None

    def details(self, declared: E, claim: Claim, result: TestResult) -> dict[str, str]:
        """Facts about the test that have no field of their own."""
        return {}


class Found:
    """What a test found, as the sentences need it."""

    def __init__(
        self, result: TestResult, interval: Interval | None, conclusion: Conclusion | None
    ) -> None:
        self.result, self.interval, self.conclusion = result, interval, conclusion


def what(declared: Any, claim: Claim) -> str:
    """The label of the measurement of an expectation."""
    return claim.measurements[declared.measurement].label


def labels(declared: Any, claim: Claim) -> list[str]:
    """The labels of the arms of an expectation."""
    return [claim.arms[arm].label for arm in declared.of]


def pair(names: list[str]) -> str:
    """`A and B`; `A, B and C`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def digits(measurement: Measurement) -> int:
    """Digits after the point that a reader sees: ranks are whole, the others as in the papers."""
    match measurement:
        case Reported(digits=stated):
            return stated
        case Rank():
            return 0
        case Bleu():
            return 3
        case _:
            return 2


def arms_of(declared: Any, read: Read) -> list[Arm]:
    """What is known of every arm of an expectation."""
    return [read(arm, declared.measurement) for arm in declared.of]


def samples_of(declared: Any, read: Read) -> list[Sample]:
    """The sample of every arm; ClaimError for one that is known by its summary only."""
    return [require_sample(arm, declared.kind) for arm in arms_of(declared, read)]


def margin_limit(sign: int, margin: Margin, name: str = "margin") -> Limit:
    """A margin as a limit on the effect's axis."""
    value = sign * margin.size
    shown = fmt.signed(f"{value:+g}")
    if margin.relative is not None:
        shown = fmt.signed(f"{100 * value:+g}%")
    return Limit(value=value, label=f"{name}, {shown}", why=margin.why)


def margin_words(margin: Margin, unit: str = "") -> str:
    """A margin as it was declared: `0.3`, `1%`, `0.29, a share of 0.1 of the claimed 2.88`."""
    if margin.relative is not None:
        return fmt.percent(margin.relative)
    size = f"{margin.size:.4g}{unit}"
    if margin.of_gain is None:
        return size
    return f"{size} ({fmt.percent(margin.of_gain.share)} of the claimed {margin.of_gain.gain})"


EffectScale = Literal["difference", "relative", "ratio", "correlation", "share", "none"]


Side = Literal["below", "above", "between", "outside", "none"]


class Interval(Spec):
    """A confidence interval; an end that is absent is infinite."""

    low: float | None
    high: float | None
    level: float


class Limit(Spec):
    """A declared limit on the effect axis of an expectation: a margin, a least ratio, zero."""

    value: float
    label: str
    why: str
