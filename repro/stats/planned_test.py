"""A planned test in plain numbers, and its power: that of the very test that is declared."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from repro.errors import ClaimError
from repro.stats import simulated
from repro.stats.power import (
    Design,
    power_above,
    power_difference,
    power_equivalence,
    power_ratio,
    power_student,
)
from repro.stats.power_exact import (
    power_association,
    power_separation,
    power_share,
)
from repro.stats.power_paired import power_paired, power_paired_above, power_paired_equivalence
from repro.stats.result import check_alpha

SMALLNESS = ("equivalence", "non_inferiority", "non_superiority")
SHARES = ("share", "proportion")
RANKS = ("spearman", "kendall")

UNCOMPUTED: Mapping[str, str] = {
    "bound": "no power is computed for a bound on every seed",
    "trend": "no power is computed for a trend over several arms",
    "ordering": "no power is computed for an ordering; plan each of its differences",
    "paired separation": "no power is computed for a separation of pairs",
    "paired trend": "no power is computed for a trend over several arms",
    "paired ordering": "no power is computed for an ordering; plan each of its differences",
    "spearman": "no power is computed for Spearman's correlation",
    "kendall": "no power is computed for Kendall's correlation",
}


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """One expectation and its planned design, in plain numbers; ``ClaimError`` for bad sizes.

    ``n`` and ``sd`` have one entry for each arm, or one for both. ``sd`` is that of the values;
    of the logarithms for ``ratio``; ``share`` and ``association`` need none. Where the arms are
    ``paired`` it is that of the differences, and ``n`` counts pairs. ``alpha`` is two-sided for
    ``difference`` (a one-sided test is a two-sided one at twice its level) and ``sequential``,
    one-sided for the others (a direction of a correlation, tested two-sidedly, is planned at
    half its level).

    ``effect`` is the truth to plan for, positive as claimed; ``low`` and ``high`` bound the
    region that is claimed, in the same units:

    - ``difference``, by ``test``: difference of means; ``low`` its smallest effect (or 0)
    - ``equivalence``: difference of means (0 unless given) between ``low`` and ``high``
    - ``non_inferiority``, ``non_superiority``: gain (0 unless given) above ``low``, below ``high``
    - ``ratio``: ratio of geometric means, at least ``low``
    - ``separation``: distance of the means
    - ``share``, ``proportion``: true share, above ``low``
    - ``association``: true Pearson correlation, above ``low`` or between ``low`` and ``high``
    - ``sequential``: difference of means, found by the t e-process within ``n`` pairs
    """

    kind: str
    n: tuple[int, ...]
    sd: tuple[float, ...] = ()
    alpha: float = 0.05
    test: str = "welch"
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    paired: bool = False

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if len(self.n) not in {1, 2} or len(self.sd) > 2 or min(self.n) < 1:
            raise ClaimError("a design has one or two arms, and one replicate or more in each")
        if self.kind == "sequential" and self.n[0] != self.n[-1]:
            raise ClaimError("a sequential design grows by pairs, so both arms have the same size")

    @property
    def design(self) -> Design:
        """The two arms; ``ClaimError`` where there is no standard deviation.

        Pairs are their differences, against an arm that does not vary.
        """
        if not self.sd:
            raise ClaimError(f"planning for {self.kind} needs a standard deviation")
        if self.paired:
            return Design(self.sd[0], 0.0, self.n[0], self.n[-1], self.alpha)
        return Design(self.sd[0], self.sd[-1], self.n[0], self.n[-1], self.alpha)

    @property
    def claims_smallness(self) -> bool:
        """Whether the claim is that something is small, and the truth to plan for therefore 0."""
        return self.kind in SMALLNESS or self.high is not None

    @property
    def name(self) -> str:
        """What the power belongs to: the test of a difference or association, else the kind.

        A kind that is tested seed by seed is ``paired`` and the kind.
        """
        by_test = self.kind == "difference" or (self.kind == "association" and self.test in RANKS)
        if by_test:
            return self.test
        return f"paired {self.kind}" if self.paired else self.kind

    @property
    def truth(self) -> float:
        """The effect to plan for: as given, or 0 where the claim is one of no difference."""
        if self.effect is None and not self.claims_smallness:
            raise ClaimError(f"planning for {self.kind} needs a true effect")
        return self.effect or 0.0

    def border(self, side: str) -> float:
        """``low`` or ``high``; ``ClaimError`` where it is missing."""
        value = self.low if side == "low" else self.high
        if value is None:
            raise ClaimError(f"planning for {self.kind} needs {side}")
        return value

    def balanced(self, n: int) -> PlannedTest:
        """The same test with ``n`` replicates in each arm."""
        return replace(self, n=(n,))


def power_of_test(planned: PlannedTest) -> tuple[float, float | None]:
    """Power of the declared test, and its Monte Carlo standard error if it is simulated.

    ``ClaimError`` for a kind or test without a power, and for missing or impossible numbers.
    """
    tests = set(TESTS) if planned.kind != "difference" else set()
    known = {
        name
        for name in {*COMPUTED, *SIMULATED} - tests
        if planned.paired or not name.startswith("paired ")
    }
    if planned.name not in known:
        raise ClaimError(
            f"no power is known for {planned.name!r}; known: {', '.join(sorted(known))}"
        )
    if planned.name in SIMULATED:
        distance = planned.truth - (planned.low or 0.0)
        return simulated.simulated_power(planned.design, distance, SIMULATED[planned.name])
    return COMPUTED[planned.name](planned), None


def sized(planned: PlannedTest, size: float) -> PlannedTest:
    """The planned test with a size above 0 in the place of what is to be detected."""
    if planned.kind == "association":
        return _sized_correlation(planned, size)
    if planned.claims_smallness:
        low = None if planned.kind == "non_superiority" else -size
        high = None if planned.kind == "non_inferiority" else size
        return replace(planned, low=low, high=high)
    if planned.kind == "ratio":
        effect = planned.border("low") * math.exp(min(size, 700.0))
    elif planned.kind in SHARES:
        effect = 1 - (1 - planned.border("low")) * math.exp(-size)
    else:
        effect = (planned.low or 0.0) + size
    return replace(planned, effect=effect)


def _sized_correlation(planned: PlannedTest, size: float) -> PlannedTest:
    limit = math.nextafter(1.0, 0.0)
    if planned.high is not None:
        truth = planned.truth
        bound = min(math.tanh(math.atanh(abs(truth)) + size), limit)
        return replace(planned, effect=truth, low=-bound, high=bound)
    effect = min(math.tanh(math.atanh(planned.border("low")) + size), limit)
    return replace(planned, effect=effect)


def _difference(planned: PlannedTest) -> float:
    power = power_student if planned.test == "student" else power_difference
    return power(planned.design, planned.truth, smallest_effect=planned.low or 0.0)


def _paired(planned: PlannedTest) -> float:
    sd, n, least = planned.design.sd_a, planned.n[0], planned.low or 0.0
    return power_paired(sd, n, planned.truth, smallest_effect=least, alpha=planned.alpha)


def _paired_equivalence(planned: PlannedTest) -> float:
    sd, n, truth = planned.design.sd_a, planned.n[0], planned.truth
    low, high = planned.border("low"), planned.border("high")
    return power_paired_equivalence(sd, n, truth, low=low, high=high, alpha=planned.alpha)


def _paired_above(planned: PlannedTest, effect: float, border: float) -> float:
    sd, n = planned.design.sd_a, planned.n[0]
    return power_paired_above(sd, n, effect, border, alpha=planned.alpha)


def _paired_ratio(planned: PlannedTest) -> float:
    truth, least = planned.truth, planned.border("low")
    if not (truth > 0 and least > 0):
        raise ClaimError("ratios lie above 0")
    return _paired_above(planned, math.log(truth), math.log(least))


def _share(planned: PlannedTest) -> float:
    of = planned.border("low")
    return power_share(planned.n[0], planned.truth, of=of, alpha=planned.alpha)


def _association(planned: PlannedTest) -> float:
    low = -1.0 if planned.low is None else planned.low
    high = 1.0 if planned.high is None else planned.high
    return power_association(planned.n[0], planned.truth, low=low, high=high, alpha=planned.alpha)


def _equivalence(planned: PlannedTest) -> float:
    low, high = planned.border("low"), planned.border("high")
    return power_equivalence(planned.design, planned.truth, low=low, high=high)


TESTS = (
    "welch",
    "student",
    "paired",
    "paired_permutation",
    "permutation",
    "brunner_munzel",
    "yuen",
)

COMPUTED: Mapping[str, Callable[[PlannedTest], float]] = {
    "welch": _difference,
    "student": _difference,
    "paired": _paired,
    "equivalence": _equivalence,
    "non_inferiority": lambda p: power_above(p.design, p.truth, p.border("low")),
    "non_superiority": lambda p: power_above(p.design, p.border("high"), p.truth),
    "paired equivalence": _paired_equivalence,
    "paired non_inferiority": lambda p: _paired_above(p, p.truth, p.border("low")),
    "paired ratio": _paired_ratio,
    "paired non_superiority": lambda p: _paired_above(p, p.border("high"), p.truth),
    "ratio": lambda p: power_ratio(p.design, p.truth, at_least=p.border("low")),
    "separation": lambda p: power_separation(p.design, p.truth),
    "share": _share,
    "proportion": _share,
    "association": _association,
}

SIMULATED: Mapping[str, simulated.Decide] = {
    "permutation": simulated.permutation,
    "paired_permutation": simulated.paired_permutation,
    "brunner_munzel": simulated.brunner_munzel,
    "yuen": simulated.yuen,
    "sequential": simulated.eprocess,
    "paired sequential": simulated.paired_eprocess,
}
