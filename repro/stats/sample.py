"""What is known about one arm: every replicate's value, or only their summary.

The replicate (one seed, one run) is the unit of replication, so a sample holds exactly
one number for each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from repro.errors import ClaimError, TooFewError

ROUND_OFF = 1e-12
"""Values whose relative spread is no larger than this are one value, summed in another order."""


Order: TypeAlias = Literal["numbers", "declared", "unknown"]
"""What tells in which order the replicates of a sample came: their numbers; their places in the
sample, where their table declares an order; or nothing, as in a table that declares none."""


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
            raise ClaimError("a single value has no standard deviation; leave it out or give n")

    @property
    def spread(self) -> float:
        """The standard deviation; ``ClaimError`` where there is none to be had."""
        if self.n < 2:
            raise TooFewError(
                "a single value has no variance, so no test can compare it; add replicates, "
                "or use a bound"
            )
        if self.sd is None:
            raise ClaimError("this test needs the standard deviation of each arm")
        return self.sd

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; ``ClaimError`` as for ``spread``."""
        return self.spread / math.sqrt(self.n)


@dataclass(frozen=True, slots=True)
class Sample:
    """One finite value for each replicate of an arm; ``replicates`` are their numbers.

    ``diverged`` are those of them that have no value of their own, but one that is worse than
    any: of use to tests of order, and beyond every bound. ``order`` matters to sequential tests.
    Raises ``ClaimError`` for an empty sample, a value that is not finite, and a replicate
    that occurs twice (the same run counted as two would fake precision).
    """

    values: tuple[float, ...]
    replicates: tuple[int, ...]
    diverged: tuple[int, ...] = ()
    order: Order = field(default="numbers", kw_only=True)

    def __post_init__(self) -> None:
        if not self.values:
            raise ClaimError("a sample needs at least one value")
        if len(self.values) != len(self.replicates):
            raise ClaimError(
                f"{len(self.values)} values for {len(self.replicates)} replicates: "
                "each replicate has exactly one value"
            )
        if len(set(self.replicates)) != len(self.replicates):
            raise ClaimError(f"a replicate occurs twice: {sorted(self.replicates)}")
        for replicate, value in zip(self.replicates, self.values, strict=True):
            if not math.isfinite(value):
                raise ClaimError(f"replicate {replicate} has no finite value: {value}")

    @classmethod
    def of(cls, *values: float) -> Sample:
        """The values of replicates 0, 1, 2, ..."""
        return cls(tuple(values), tuple(range(len(values))))

    @property
    def n(self) -> int:
        """The number of replicates."""
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
        """Size, mean, standard deviation; exactly 0 where the replicates agree."""
        if self.n == 1:
            return Summary(1, self.values[0], None)
        if self.constant:
            return Summary(self.n, self.values[0], 0.0)
        mean = math.fsum(self.values) / self.n
        squares = math.fsum((value - mean) ** 2 for value in self.values)
        return Summary(self.n, mean, math.sqrt(squares / (self.n - 1)))

    def log(self) -> Sample:
        """Natural logarithms; ``ClaimError`` unless every value is above 0."""
        if min(self.values) <= 0:
            raise ClaimError(
                f"logarithms and ratios need values above 0; the smallest is {min(self.values)}"
            )
        if self.constant:
            return Sample((math.log(self.values[0]),) * self.n, self.replicates)
        return Sample(tuple(map(math.log, self.values)), self.replicates)

    def without(self, replicate: int) -> Sample:
        """The sample with one replicate left out; ``ClaimError`` if it is absent or the last."""
        if replicate not in self.replicates:
            raise ClaimError(f"there is no replicate {replicate} to leave out")
        kept = [
            (value, number)
            for value, number in zip(self.values, self.replicates, strict=True)
            if number != replicate
        ]
        return replace(
            self,
            values=tuple(value for value, _ in kept),
            replicates=tuple(number for _, number in kept),
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
            "are known; welch, student, equivalence, non_superiority and non_inferiority "
            "work from a summary"
        )
    return arm
