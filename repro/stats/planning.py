"""Can this design decide? Its power, what it can detect, the seeds it would take, or a refusal.

The power is always that of the declared test itself. Each class plans one sort of test; the kind
of an expectation chooses it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

from repro.errors import ClaimError
from repro.stats.power import (
    Design,
    PairedDesign,
    PowerDesign,
    detectable,
    power_above,
    power_above_known,
    power_association,
    power_difference,
    power_equivalence,
    power_ratio,
    power_separation,
    power_share,
    power_student,
    smallest_size,
)
from repro.stats.ranks import separation_p
from repro.stats.records import check_alpha
from repro.stats.simulated import (
    Decide,
    Stopping,
    brunner_munzel,
    eprocess,
    paired_permutation,
    permutation,
    simulated_power,
    stopping,
    yuen,
)


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """A test and its planned design, in plain numbers; ``ClaimError`` for bad sizes.

    ``n`` and ``sd`` have one entry for each arm, or one for both. ``sd`` is that of the values;
    of the logarithms for a ratio; shares and correlations need none. Where the arms are
    ``paired`` it is that of the differences, and ``n`` counts pairs. ``alpha`` is two-sided for a
    difference (a one-sided test is a two-sided one at twice its level) and a sequential test,
    one-sided for the others (a direction of a correlation, tested two-sidedly, is planned at
    half its level).

    ``effect`` is the truth to plan for, positive as claimed; ``low`` and ``high`` bound the
    region that is claimed, in the same units. What they are depends on the test.
    """

    n: tuple[int, ...]
    sd: tuple[float, ...] = ()
    alpha: float = 0.05
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    paired: bool = False

    name: ClassVar[str]
    """What the test is called in a sentence."""

    units: ClassVar[str] = "replicates"

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if len(self.n) not in {1, 2} or len(self.sd) > 2 or min(self.n) < 1:
            raise ClaimError("a design has one or two arms, and one replicate or more in each")

    def computed(self) -> float:
        """The power, where it is not simulated."""
        raise ClaimError(f"the power of {self.name} is simulated")

    @property
    def decide(self) -> Decide | None:
        """The decision that is simulated, where the power is not computed."""
        return None

    def simulated(self, decide: Decide) -> tuple[float, float]:
        """The power by simulation, and its Monte Carlo standard error."""
        return simulated_power(self.arms, self.truth - (self.low or 0.0), decide)

    def sized(self, size: float) -> Self:
        """The planned test with a size above 0 in the place of what is to be detected."""
        return replace(self, effect=(self.low or 0.0) + size)

    def detected(self, size: float) -> float | None:
        """What is detected at such a size: an effect, or the margin itself."""
        return self.sized(size).effect

    def stopping(self, effect: float) -> Stopping | None:  # noqa: ARG002 - of no use to others
        """When a test that is looked at all along stops, if this is the true effect."""
        return None

    def surest(self) -> tuple[float, str] | None:
        """The smallest p that any data could have, and what gives it; None where it is 0."""
        return None

    def refused(self) -> str:
        """Why no data whatever could confirm the claim with this design; empty if some could."""
        if min(self.n) < 2:
            few = min(self.n)
            return f"{few} replicate has no variance, so no test can decide; plan at least 2"
        return self.beyond_reach()

    def beyond_reach(self) -> str:
        """The refusal of a design whose smallest p lies above alpha."""
        least = self.surest()
        if least is None or least[0] <= self.alpha:
            return ""
        p, reached = least
        verb = "is" if reached.startswith("the") else "has p ="
        return f"{self.sizes} cannot decide: {reached} {verb} {p:.3g}, above {self.alpha:g}"

    def seeds(self, power: float) -> int | None:
        """The fewest replicates in each arm with the power; None if too many."""
        cap = 1000 if self.decide is None else 100
        return smallest_size(self.chance, target=power, cap=cap)

    def remedy(self, seeds: int | None) -> str:
        """What would give 80 % power, from ``seeds``."""
        return f"{seeds} would give 80 %" if seeds else "no affordable number gives 80 %"

    def chance(self, n: int) -> float:
        """The power with ``n`` replicates in each arm."""
        return power_of_test(replace(self, n=(n,)))[0]

    @property
    def sizes(self) -> str:
        """`5 replicates`, `5 and 6 replicates`."""
        a, b = self.n[0], self.n[-1]
        return f"{a} {self.units}" if a == b else f"{a} and {b} {self.units}"

    @property
    def arms(self) -> PowerDesign:
        """Two independent arms; pairs are their differences, against an arm that does not vary.

        ``ClaimError`` where there is no standard deviation.
        """
        if not self.sd:
            raise ClaimError(f"planning for {self.name} needs a standard deviation")
        sd_b = 0.0 if self.paired else self.sd[-1]
        return PowerDesign(self.sd[0], sd_b, self.n[0], self.n[-1], self.alpha)

    @property
    def design(self) -> Design:
        """The two arms, or the pairs."""
        arms = self.arms
        return PairedDesign(arms.sd_a, arms.n_a, self.alpha) if self.paired else arms

    @property
    def claims_smallness(self) -> bool:
        """Whether the claim is that something is small, and the truth to plan for therefore 0."""
        return self.high is not None

    @property
    def truth(self) -> float:
        """The effect to plan for: as given, or 0 where the claim is one of no difference."""
        if self.effect is None and not self.claims_smallness:
            raise ClaimError(f"planning for {self.name} needs a true effect")
        return self.effect or 0.0

    @property
    def least(self) -> float:
        """``low``; ``ClaimError`` where it is missing."""
        if self.low is None:
            raise ClaimError(f"planning for {self.name} needs low")
        return self.low


SIMULATED: Mapping[str, Decide] = {
    "permutation": permutation,
    "paired_permutation": paired_permutation,
    "brunner_munzel": brunner_munzel,
    "yuen": yuen,
}


@dataclass(frozen=True, slots=True)
class PlannedDifference(PlannedTest):
    """A difference of means by ``test``, beyond ``low``, its smallest effect (or 0)."""

    test: str = "welch"

    name: ClassVar[str] = "difference"

    @property
    def decide(self) -> Decide | None:
        return SIMULATED.get(self.test)

    def computed(self) -> float:
        least = self.low or 0.0
        if self.test == "student":
            return power_student(self.arms, self.truth, smallest_effect=least)
        design = replace(self, paired=True).design if self.test == "paired" else self.arms
        return power_difference(design, self.truth, smallest_effect=least)

    def surest(self) -> tuple[float, str] | None:
        a, b = self.n[0], self.n[-1]
        if self.test == "permutation":
            return 2 * separation_p(a, b), "the smallest p of a two-sided permutation test"
        if self.test == "paired_permutation":
            smallest = 2 * separation_p(a, b, paired=True)
            return smallest, "the smallest p of exchanges within pairs"
        return None


@dataclass(frozen=True, slots=True)
class PlannedSequential(PlannedTest):
    """A difference of means beyond ``low``, found by the t e-process within ``n`` pairs.

    ``g`` is the variance of its prior; the first look is at ``first`` pairs.
    """

    g: float = 1.0
    first: int = 2

    name: ClassVar[str] = "a sequential test"

    def __post_init__(self) -> None:
        PlannedTest.__post_init__(self)
        if self.n[0] != self.n[-1]:
            raise ClaimError("a sequential design grows by pairs, so both arms have the same size")

    @property
    def decide(self) -> Decide:
        return partial(eprocess, **self._looks)

    @property
    def _looks(self) -> dict[str, Any]:
        first = max(2, min(self.first, self.n[0]))
        return {"g": self.g, "first": first, "paired": self.paired}

    def surest(self) -> tuple[float, str]:
        """The p of an e-process with an infinite t."""
        a, b = self.n[0], self.n[-1]
        if self.paired:
            p = float((1 + self.g * a) ** ((1 - a) / 2))
        else:
            p = float((1 + self.g * a * b / (a + b)) ** (1 - (a + b) / 2))
        return p, "the smallest p of the e-process"

    def stopping(self, effect: float) -> Stopping:
        return stopping(self.arms, effect - (self.low or 0.0), **self._looks)


@dataclass(frozen=True, slots=True)
class PlannedMargin(PlannedTest):
    """A gain above ``low``, below ``high``, or between both; the truth is 0 unless given."""

    @property
    def name(self) -> str:  # type: ignore[override]
        if self.low is None:
            return "non-superiority"
        return "non-inferiority" if self.high is None else "equivalence"

    @property
    def claims_smallness(self) -> bool:
        return True

    def sized(self, size: float) -> Self:
        low, high = (None if self.low is None else -size), (None if self.high is None else size)
        return replace(self, low=low, high=high)

    def detected(self, size: float) -> float | None:
        return size

    def computed(self) -> float:
        if self.high is None:
            return power_above(self.design, self.truth, self.least)
        if self.low is None:
            return power_above(self.design, self.high, self.truth)
        return power_equivalence(self.design, self.truth, low=self.low, high=self.high)


@dataclass(frozen=True, slots=True)
class PlannedRatio(PlannedTest):
    """A ratio of geometric means, at least ``low``."""

    name: ClassVar[str] = "ratio"

    def computed(self) -> float:
        return power_ratio(self.design, self.truth, at_least=self.least)

    def sized(self, size: float) -> Self:
        """A size on logarithms."""
        return replace(self, effect=self.least * math.exp(min(size, 700.0)))


@dataclass(frozen=True, slots=True)
class PlannedLevel(PlannedTest):
    """A mean ``effect`` within its limit; ``paired``, as one arm is; ``known`` for a z-test."""

    known: bool = False
    name: ClassVar[str] = "level"

    def computed(self) -> float:
        power = power_above_known if self.known else power_above
        return power(self.design, self.truth, 0.0)


@dataclass(frozen=True, slots=True)
class PlannedSeparation(PlannedTest):
    """Complete separation of arms whose means are ``effect`` apart."""

    name: ClassVar[str] = "separation"

    def computed(self) -> float:
        return power_separation(self.arms, self.truth)

    def surest(self) -> tuple[float, str]:
        return separation_p(self.n[0], self.n[-1]), "even complete separation"

    def seeds(self, power: float) -> int | None:
        """The fewest with which it can be shown, or none: more make it only rarer."""
        fewest = smallest_size(lambda n: float(separation_p(n, n) <= self.alpha))
        return fewest if fewest and self.chance(fewest) >= power else None


@dataclass(frozen=True, slots=True)
class PlannedCounts(PlannedTest):
    """A test whose chances are counted: a single replicate may do, and one more can cost power."""

    most: ClassVar[int] = 1000
    """So many replicates are looked through for the fewest that do."""

    def refused(self) -> str:
        return self.beyond_reach()

    def seeds(self, power: float) -> int | None:
        return next((n for n in range(1, self.most + 1) if self.chance(n) >= power), None)


@dataclass(frozen=True, slots=True)
class PlannedShare(PlannedCounts):
    """A true share, above ``low``; of replicates that keep a bound."""

    name: ClassVar[str] = "share"

    def computed(self) -> float:
        return power_share(self.n[0], self.truth, of=self.least, alpha=self.alpha)

    def sized(self, size: float) -> Self:
        """A size on logarithms of what the share leaves."""
        return replace(self, effect=1 - (1 - self.least) * math.exp(-size))

    def surest(self) -> tuple[float, str]:
        return self.least ** self.n[0], "even if every replicate agrees"


@dataclass(frozen=True, slots=True)
class PlannedProportion(PlannedShare):
    """A true share, above ``low``; of units that one arm wins."""

    name: ClassVar[str] = "proportion"


@dataclass(frozen=True, slots=True)
class PlannedCorrelation(PlannedTest):
    """A true Pearson correlation, above ``low`` or between ``low`` and ``high``."""

    name: ClassVar[str] = "association"
    units: ClassVar[str] = "points"

    def computed(self) -> float:
        low = -1.0 if self.low is None else self.low
        high = 1.0 if self.high is None else self.high
        return power_association(self.n[0], self.truth, low=low, high=high, alpha=self.alpha)

    def sized(self, size: float) -> Self:
        """A size on Fisher's scale."""
        near = self.least if self.high is None else abs(self.truth)
        reached = min(math.tanh(math.atanh(near) + size), math.nextafter(1.0, 0.0))
        if self.high is None:
            return replace(self, effect=reached)
        return replace(self, effect=self.truth, low=-reached, high=reached)

    def detected(self, size: float) -> float | None:
        """The correlation, or the bound on it."""
        found = self.sized(size)
        return found.effect if found.high is None else found.high

    def beyond_reach(self) -> str:
        if self.n[0] >= 4:
            return ""
        return f"{self.n[0]} points give no interval of a correlation; plan at least 4"


def power_of_test(planned: PlannedTest) -> tuple[float, float | None]:
    """Power of the declared test, and its Monte Carlo standard error if it is simulated.

    ``ClaimError`` for missing or impossible numbers.
    """
    decide = planned.decide
    return (planned.computed(), None) if decide is None else planned.simulated(decide)


LEAST_POWER = 0.10
"""A design with less power than this at the planned standard deviation is refused."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a design can do.

    ``power`` is at the planned effect, ``None`` where that is unknown or no power is computed
    (``not_computed`` says why); ``monte_carlo_error`` is its standard error if simulated.
    ``minimum_detectable`` has 80 % power: an effect, ratio, share or correlation; for
    equivalence, non-inferiority and non-superiority a margin, and for a correlation claimed
    to be small its bound. ``seeds80`` and ``seeds90`` are replicates in each arm, ``None``
    beyond 1000 (100 if simulated). ``refused`` is the sentence that refuses, or empty.
    """

    power: float | None = None
    monte_carlo_error: float | None = None
    minimum_detectable: float | None = None
    seeds80: int | None = None
    seeds90: int | None = None
    refused: str = ""
    not_computed: str = ""
    stops_at: float | None = None
    stopping: Stopping | None = None


def assess(planned: PlannedTest) -> Assessment:
    """Assesses a design; one that cannot decide is refused in a sentence, not by an error.

    ``ClaimError`` for numbers that are missing or impossible.
    """
    if planned.sd and max(planned.sd) == 0:
        reason = "no replicate is expected to vary, so nothing is left to chance"
        return Assessment(not_computed=reason)
    refused = planned.refused()
    smallest = None if refused else minimum_detectable_difference(planned)
    effect = smallest if planned.effect is None else planned.effect
    stops = None if refused or effect is None else planned.stopping(effect)
    if planned.effect is None and not planned.claims_smallness:
        reason = "no effect is assumed, so no power is computed"
        return Assessment(None, None, smallest, None, None, refused, reason, effect, stops)
    seeds80, seeds90 = (planned.seeds(target) for target in (0.80, 0.90))
    if refused:
        return Assessment(0.0, seeds80=seeds80, seeds90=seeds90, refused=refused)
    power, error = power_of_test(planned)
    if power < LEAST_POWER:
        refused = _too_weak(planned, power, seeds80)
    return Assessment(power, error, smallest, seeds80, seeds90, refused, "", effect, stops)


def minimum_detectable_difference(planned: PlannedTest, *, power: float = 0.80) -> float | None:
    """What has the given power; see ``Assessment``. ``None`` where nothing has."""
    unit = planned.design.se if planned.sd else 0.1

    def chance(size: float) -> float:
        return power_of_test(planned.sized(size))[0]

    precision = 1e-10 if planned.decide is None else 1e-3
    size = detectable(chance, unit, power, precision=precision)
    return None if size is None else planned.detected(size)


def _too_weak(planned: PlannedTest, power: float, seeds: int | None) -> str:
    spread = f" at the planned standard deviation {planned.sd[0]:g}" if planned.sd else ""
    return (
        f"{planned.sizes} give {planned.name} a power of {100 * power:.1f} %{spread}, "
        f"below {100 * LEAST_POWER:.0f} %; {planned.remedy(seeds)}"
    )
