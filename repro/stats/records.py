"""What tests take and return: samples, summaries, pairs, alternatives, results.

The replicate (one seed, one run) is the unit of replication, so a sample holds exactly
one number for each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import ClassVar, Literal, NamedTuple, TypeAlias, TypeVar

from repro.errors import ClaimError, TooFewError

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


def tails(alternative: Alternative) -> int:
    """In how many tails the test rejects; ``ClaimError`` for an unknown alternative."""
    if alternative not in ("two-sided", "greater", "less"):
        raise ClaimError(f"alternative is two-sided, greater or less, not {alternative!r}")
    return 2 if alternative == "two-sided" else 1


def interval_level(alternative: Alternative, alpha: float) -> float:
    """The level of the interval that belongs to the p: ``1 - alpha``, one-sided ``1 - 2 alpha``."""
    return 1 - alpha if tails(alternative) == 2 else 1 - 2 * alpha


def p_values(alternative: Alternative, greater: float, less: float) -> tuple[float, float | None]:
    """The p of what is asked and of its contrary, from the p of *greater* and of *less*.

    Two-sided it is twice the smaller one, and there is no contrary.
    """
    if tails(alternative) == 2:
        return min(1.0, 2 * min(greater, less)), None
    return (greater, less) if alternative == "greater" else (less, greater)


T = TypeVar("T")
R = TypeVar("R", bound="TestResult")


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence (or prediction) interval; ``level`` is its coverage, such as 0.95."""

    low: float
    high: float
    level: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ClaimError(f"an interval runs from low to high, not {self.low} to {self.high}")
        if not 0 < self.level < 1:
            raise ClaimError(f"the level of an interval lies between 0 and 1, not {self.level}")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class TestResult:
    """The outcome of one test; a test with more to say returns a class of its own below this one.

    ``effect`` and ``interval`` are in the units of the measurement (A minus B), but for
    ``ratio`` (A over B), for every ``..._relative`` test (A minus B over mean B), for
    ``separation``, ``bound``, ``share``, ``brunner_munzel`` and proportions (a share, 0 to 1),
    and for associations (a coefficient).
    ``p`` is evidence for what was asked, ``p_opposite`` for its contrary; a two-sided test
    has no contrary, an exact comparison no p at all. ``alpha`` is the level the test was
    declared with: two-sided for ``student`` and ``welch`` unless a one-sided alternative is
    named, one-sided for all others. ``se`` is on the scale of the test (logarithms for
    ``ratio``). ``low`` and ``high`` bound the region of the effect that the claim asserts.
    ``alternative`` is that of a test which may have one side or two, ``paired`` whether the arms
    were taken seed by seed, and ``exact`` whether the chances are counted, not approximated.
    """

    __test__: ClassVar[bool] = False

    test: str
    effect: float
    alpha: float
    n: tuple[int, ...]
    interval: Interval | None = None
    p: float | None = None
    p_opposite: float | None = None
    statistic: float | None = None
    df: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    alternative: Alternative | None = None
    paired: bool = False
    exact: bool = False


def known(value: T | None) -> T:
    """The value itself, or ``ClaimError`` if the result lacks it."""
    if value is None:
        raise ClaimError("this result lacks a number that its rule needs")
    return value


def expect(result: TestResult, kind: type[R]) -> R:
    """The result itself, or ``ClaimError`` if it is not of this kind of test."""
    if not isinstance(result, kind):
        raise ClaimError(f"a result of {result.test} is no {kind.__name__}")
    return result


def check_alpha(alpha: float) -> float:
    """The level itself, or ``ClaimError`` unless it lies strictly between 0 and one half."""
    if not 0 < alpha < 0.5:
        raise ClaimError(f"alpha must lie between 0 and 0.5, not {alpha}")
    return alpha


def check_finite(name: str, value: float) -> float:
    """The value itself, or ``ClaimError`` if it is not a finite number."""
    if not math.isfinite(value):
        raise ClaimError(f"{name} must be a finite number, not {value}")
    return value


ROUND_OFF = 1e-12
"""Values whose relative spread is no larger than this are one value, summed in another order."""

Order: TypeAlias = Literal["numbers", "declared", "unknown"]
"""What tells the order in which replicates came: numbers, places in the sample, or nothing."""


def beyond(a: float, b: float) -> bool:
    """Whether ``a`` is above ``b`` by more than round-off; either may be infinite."""
    return a > b and not math.isclose(a, b, rel_tol=ROUND_OFF, abs_tol=0.0)


@dataclass(frozen=True, slots=True)
class Summary:
    """Size, mean and standard deviation (``n - 1`` in the denominator) of one arm.

    ``sd`` is ``None`` where it is unknown: not printed, or a single value.
    """

    n: int
    mean: float
    sd: float | None

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ClaimError(f"a summary needs at least one value, not n = {self.n}")
        if not math.isfinite(self.mean):
            raise ClaimError(f"a mean must be a finite number, not {self.mean}")
        if self.sd is not None and not (math.isfinite(self.sd) and self.sd >= 0):
            raise ClaimError(f"a standard deviation must be finite and not negative: {self.sd}")
        if self.sd is not None and self.n == 1:
            raise ClaimError(
                "a single value has no standard deviation", advice="leave it out or give n"
            )

    @property
    def spread(self) -> float:
        """The standard deviation; ``ClaimError`` where there is none to be had."""
        if self.n < 2:
            raise TooFewError(
                "a single value has no variance, so no test can compare it",
                advice="add replicates, or use a bound",
            )
        if self.sd is None:
            raise ClaimError(
                "this test needs the standard deviation of each arm",
                advice="add the printed sd, or judge the other arm alone against it with level",
            )
        return self.sd

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; ``ClaimError`` as for ``spread``."""
        return self.spread / math.sqrt(self.n)


class Scored(NamedTuple):
    """The value of one item in one run, the ``unit``; ``cluster`` is empty where it is of none."""

    item: str
    cluster: str
    unit: int
    value: float


@dataclass(frozen=True, slots=True)
class Sample:
    """One finite value for each replicate of an arm; ``replicates`` are their numbers.

    ``diverged`` are those of them that have no value of their own, but one that is worse than
    any: of use to tests of order, and beyond every bound. ``order`` matters to sequential tests.
    ``tasks`` has the task of each value where there are several; then a replicate of each task
    may have the same number, and there is no mean over all. ``parts`` are the items that each value
    is the mean of, where they are known.
    Raises ``ClaimError`` for an empty sample, a value that is not finite, and a replicate
    that occurs twice (the same run counted as two would fake precision).
    """

    values: tuple[float, ...]
    replicates: tuple[int, ...]
    diverged: tuple[int, ...] = ()
    order: Order = field(default="numbers", kw_only=True)
    tasks: tuple[str, ...] = field(default=(), kw_only=True)
    parts: tuple[Scored, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if not self.values:
            raise ClaimError("a sample needs at least one value")
        if len(self.values) != len(self.replicates):
            raise ClaimError(
                f"{len(self.values)} values for {len(self.replicates)} replicates: "
                "each replicate has exactly one value"
            )
        runs = zip(self.tasks, self.replicates, strict=True) if self.tasks else self.replicates
        if len(set(runs)) != len(self.replicates):
            raise ClaimError(f"a replicate occurs twice: {sorted(self.replicates)}")
        if not all(map(math.isfinite, self.values)):
            pairs = zip(self.replicates, self.values, strict=True)
            replicate, value = next(pair for pair in pairs if not math.isfinite(pair[1]))
            raise ClaimError(f"replicate {replicate} has no finite value: {value}")

    @classmethod
    def of(cls, *values: float) -> Sample:
        """The values of replicates 0, 1, 2, ..."""
        return cls(tuple(values), tuple(range(len(values))))

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def constant(self) -> bool:
        """Whether all replicates agree, up to the order of floating-point additions."""
        low, high = min(self.values), max(self.values)
        return high - low <= ROUND_OFF * max(abs(low), abs(high))

    @property
    def geometric_mean(self) -> float:
        """The geometric mean; ``ClaimError`` unless every value is above 0."""
        if len(set(self.values)) == 1 and self.values[0] > 0:
            return self.values[0]
        return math.exp(self.log().summary().mean)

    def summary(self) -> Summary:
        """Size, mean, standard deviation; exactly 0 where the replicates agree.

        ``ClaimError`` where the values are of several tasks.
        """
        if self.tasks:
            raise ClaimError(
                f"the values are of {len(set(self.tasks))} tasks, so no mean is one of runs"
            )
        if self.n == 1:
            return Summary(1, self.values[0], None)
        if self.constant:
            return Summary(self.n, self.values[0], 0.0)
        mean = math.fsum(self.values) / self.n
        squares = math.fsum([(value - mean) ** 2 for value in self.values])
        return Summary(self.n, mean, math.sqrt(squares / (self.n - 1)))

    def log(self) -> Sample:
        """Natural logarithms; ``ClaimError`` unless every value is above 0."""
        if min(self.values) <= 0:
            raise ClaimError(
                f"logarithms and ratios need values above 0; the smallest is {min(self.values)}",
                advice="use difference",
            )
        if self.constant:
            return Sample((math.log(self.values[0]),) * self.n, self.replicates)
        return Sample(tuple(map(math.log, self.values)), self.replicates)

    def by_task(self) -> dict[str, Sample]:
        """The sample of each task; ``ClaimError`` where the values are not those of tasks."""
        if not self.tasks:
            raise ClaimError("this test needs the task of every value, and there is no column task")
        found = {}
        for task in dict.fromkeys(self.tasks):
            places = [place for place, each in enumerate(self.tasks) if each == task]
            values = tuple(self.values[place] for place in places)
            numbers = tuple(self.replicates[place] for place in places)
            found[task] = Sample(values, numbers)
        return found

    def without(self, replicate: int) -> Sample:
        """The sample with one replicate left out; ``ClaimError`` if it is absent or the last."""
        if replicate not in self.replicates:
            raise ClaimError(f"there is no replicate {replicate} to leave out")
        place = self.replicates.index(replicate)
        return replace(
            self,
            values=self.values[:place] + self.values[place + 1 :],
            replicates=self.replicates[:place] + self.replicates[place + 1 :],
            diverged=tuple(number for number in self.diverged if number != replicate),
        )


def levelled(*samples: Sample) -> tuple[Sample, ...]:
    """The samples with values equal up to round-off made equal: the ties of a test of order."""
    same: dict[float, float] = {}
    least = -math.inf
    for value in sorted({value for sample in samples for value in sample.values}):
        if beyond(value, least):
            least = value
        same[value] = least
    return tuple(
        replace(sample, values=tuple(same[value] for value in sample.values)) for sample in samples
    )


Arm: TypeAlias = Sample | Summary
"""The evidence about one arm."""


def summarise(arm: Arm) -> Summary:
    """The summary of an arm, whichever way it is known."""
    return arm.summary() if isinstance(arm, Sample) else arm


def require_sample(arm: Arm, test: str) -> Sample:
    """The arm as a sample; of a mere summary a ``ClaimError`` that names tests that would do."""
    if isinstance(arm, Summary):
        raise ClaimError(
            f"{test} needs the value of every replicate, and only mean and standard deviation "
            "are known",
            advice="use welch, student, equivalence, non_superiority or non_inferiority, which "
            "work from a summary",
        )
    return arm


NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PARTNERS = "add their partners, or leave them out of every arm"


class UnmatchedError(TooFewError):
    """Replicates without a partner: ``alone`` are those of each arm, by its place."""

    def __init__(self, test: str, alone: Sequence[tuple[int, Sequence[int]]]) -> None:
        self.test, self.alone = test, tuple(alone)
        super().__init__(self.told(NAMES))
        self.advice = PARTNERS

    def told(self, names: Sequence[str]) -> str:
        """The message with these names of the arms."""
        listed = [
            f"{', '.join(map(str, numbers))} only in {names[place % len(names)]}"
            for place, numbers in self.alone
        ]
        return (
            f"{self.test} compares pairs with the same number, and some have no partner: "
            f"{'; '.join(listed)}; {PARTNERS}"
        )


def match(arms: Sequence[Arm], test: str) -> tuple[Sample, ...]:
    """All samples in ascending order of the replicate's number, which is what pairs them.

    ``ClaimError`` for a summary; ``UnmatchedError`` for a replicate that not every arm has.
    """
    samples = [require_sample(arm, test) for arm in arms]
    for (i, first), (j, second) in combinations(enumerate(samples), 2):
        sides = (
            (i, sorted(set(first.replicates) - set(second.replicates))),
            (j, sorted(set(second.replicates) - set(first.replicates))),
        )
        alone = [(place, missing) for place, missing in sides if missing]
        if alone:
            raise UnmatchedError(test, alone)
    return tuple(map(_ascending, samples))


def _ascending(sample: Sample) -> Sample:
    pairs = sorted(zip(sample.replicates, sample.values, strict=True))
    return Sample(tuple(value for _, value in pairs), tuple(number for number, _ in pairs))
