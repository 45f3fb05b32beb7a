"""Can this design decide? Its power, the seeds it would take, what would settle it.

Can this design decide? Its power, what it can detect, the seeds it would take, or a refusal.

The power is always that of the declared test itself. What a number means depends on the kind
of expectation; see ``PlannedTest``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from repro.errors import ClaimError
from repro.stats import simulated
from repro.stats.power import (
    Design,
    detectable,
    power_above,
    power_association,
    power_difference,
    power_equivalence,
    power_paired,
    power_paired_above,
    power_paired_equivalence,
    power_ratio,
    power_separation,
    power_share,
    power_student,
    seeds_needed,
    smallest_size,
)
from repro.stats.ranks import separation_p
from repro.stats.records import Arm, Sample, TestResult, check_alpha, known, summarise

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

    power: float | None
    monte_carlo_error: float | None
    minimum_detectable: float | None
    seeds80: int | None
    seeds90: int | None
    refused: str
    not_computed: str


def assess(planned: PlannedTest) -> Assessment:
    """Assesses a design; one that cannot decide is refused in a sentence, not by an error.

    ``ClaimError`` for an unknown kind or test and for numbers that are missing or impossible.
    """
    reason = UNCOMPUTED.get(planned.name, "")
    if planned.sd and max(planned.sd) == 0:
        reason = "no replicate is expected to vary, so nothing is left to chance"
    if reason:
        return Assessment(None, None, None, None, None, "", reason)
    refused = cannot_decide(planned)
    smallest = None if refused else minimum_detectable_difference(planned)
    if planned.effect is None and not planned.claims_smallness:
        return Assessment(
            None,
            None,
            smallest,
            None,
            None,
            refused,
            "no effect is assumed, so no power is computed",
        )
    seeds80, seeds90 = (seeds_for(planned, power=target) for target in (0.80, 0.90))
    if refused:
        return Assessment(0.0, None, None, seeds80, seeds90, refused, "")
    power, error = power_of_test(planned)
    if power < LEAST_POWER:
        refused = _too_weak(planned, power, seeds80)
    return Assessment(power, error, smallest, seeds80, seeds90, refused, "")


def minimum_detectable_difference(planned: PlannedTest, *, power: float = 0.80) -> float | None:
    """What has the given power; see ``Assessment``. ``None`` where nothing has."""
    unit = planned.design.se if planned.sd else 0.1

    def chance(size: float) -> float:
        return power_of_test(sized(planned, size))[0]

    precision = 1e-3 if planned.name in SIMULATED else 1e-10
    size = detectable(chance, unit, power, precision=precision)
    if size is None:
        return None
    found = sized(planned, size)
    if not planned.claims_smallness:
        return found.effect
    return found.high if planned.kind == "association" else size


def seeds_for(planned: PlannedTest, *, power: float = 0.80) -> int | None:
    """The fewest replicates in each arm with which the declared test has the power.

    ``None`` if too many, and where no number helps: complete separation becomes the rarer the
    more replicates must be separated.
    """

    def chance(n: int) -> float:
        return power_of_test(planned.balanced(n))[0]

    if planned.kind in SHARES:  # not monotone
        return next((n for n in range(1, 1001) if chance(n) >= power), None)
    if planned.kind == "separation":  # once possible, only ever rarer
        fewest = smallest_size(lambda n: float(separation_p(n, n) <= planned.alpha))
        return fewest if fewest and chance(fewest) >= power else None
    return smallest_size(chance, target=power, cap=100 if planned.name in SIMULATED else 1000)


def cannot_decide(planned: PlannedTest) -> str:
    """Why no data whatever could confirm the claim with this design; empty where some could."""
    a, b, alpha = planned.n[0], planned.n[-1], planned.alpha
    if planned.kind in SHARES:
        p, what = planned.border("low") ** a, "even if every replicate agrees"
    elif min(a, b) < 2:
        return f"{min(a, b)} replicate has no variance, so no test can decide; plan at least 2"
    elif planned.kind == "separation":
        p, what = separation_p(a, b), "even complete separation"
    elif planned.name == "permutation":
        p, what = 2 * separation_p(a, b), "the smallest p of a two-sided permutation test"
    elif planned.name == "paired_permutation":
        p, what = 2 * separation_p(a, b, paired=True), "the smallest p of exchanges within pairs"
    elif planned.kind == "sequential":
        p, what = _smallest_p(a, b, paired=planned.paired), "the smallest p of the e-process"
    elif planned.kind == "association" and a < 4:
        return f"{a} points give no interval of a correlation; plan at least 4"
    else:
        return ""
    if p <= alpha:
        return ""
    verb = "is" if what.startswith("the") else "has p ="
    return f"{_sizes(planned)} cannot decide: {what} {verb} {p:.3g}, above {alpha:g}"


def _smallest_p(a: int, b: int, *, paired: bool) -> float:
    """The p of an e-process with prior variance 1 and infinite t."""
    if paired:
        return float((1 + a) ** ((1 - a) / 2))
    return float((1 + a * b / (a + b)) ** (1 - (a + b) / 2))


def _too_weak(planned: PlannedTest, power: float, seeds: int | None) -> str:
    enough = f"{seeds} would give 80 %" if seeds else "no affordable number gives 80 %"
    spread = f" at the planned standard deviation {planned.sd[0]:g}" if planned.sd else ""
    return (
        f"{_sizes(planned)} give {_words(planned)} a power of {100 * power:.1f} %{spread}, "
        f"below {100 * LEAST_POWER:.0f} %; {enough}"
    )


def _words(planned: PlannedTest) -> str:
    return "a sequential test" if planned.kind == "sequential" else planned.kind.replace("_", "-")


def _sizes(planned: PlannedTest) -> str:
    a, b = planned.n[0], planned.n[-1]
    units = "points" if planned.kind == "association" else "replicates"
    return f"{a} {units}" if a == b else f"{a} and {b} {units}"


DIFFERENCES = ("student", "welch", "permutation", "paired")


MEANS = (*DIFFERENCES, "tost", "non_superiority", "non_inferiority", "ratio")


def seeds_to_settle(
    result: TestResult, a: Arm, b: Arm, *, border: float = 0.0, target: float = 0.80
) -> int | None:
    """Replicates in each arm that would decide with chance ``target``, were the data the truth.

    Of paired arms these are pairs, and the scatter is that of their differences.

    True effect and standard deviations are taken to be the observed ones. Either decision
    counts: confirmed if the effect lies where the claim says, contradicted if it lies
    beyond. ``border`` is the effect that a difference must exceed (0, or its smallest effect
    of interest, signed as A minus B). ``None``: not within 1000, for the effect sits at the
    border. The observed effect is itself uncertain, so this is an order of magnitude.
    ``ClaimError`` for a test that does not compare means. A permutation test has nearly the
    power of Welch's, whose t it uses, and is planned as that.
    """
    if result.test.endswith("_relative"):
        raise ClaimError("no number of seeds is computed for a relative margin")
    if result.test not in MEANS:
        raise ClaimError(f"{result.test} compares no means, so no number of seeds is computed")
    if result.test == "ratio" and result.exact:
        return None
    effect, low, high = _on_test_scale(result, border)
    if result.paired:
        return _pairs(result, effect, low, high, target)
    design = _design(result, a, b)
    if low is not None and high is not None and low < effect < high:
        return seeds_needed(
            design, lambda one: power_equivalence(one, effect, low=low, high=high), target=target
        )
    distance = min(abs(effect - edge) for edge in (low, high) if edge is not None)
    return seeds_needed(design, lambda one: power_above(one, distance, 0.0), target=target)


def _on_test_scale(result: TestResult, border: float) -> tuple[float, float | None, float | None]:
    """Effect and borders on the scale on which the test is done."""
    if result.test in DIFFERENCES:
        return result.effect, border, None
    if result.test == "ratio" and result.low is not None:
        return math.log(result.effect), math.log(result.low), None
    return result.effect, result.low, result.high


def _pairs(
    result: TestResult, effect: float, low: float | None, high: float | None, target: float
) -> int | None:
    sd, alpha = known(result.se) * math.sqrt(result.n[0]), _one_sided(result)
    if low is not None and high is not None and low < effect < high:
        return smallest_size(
            lambda n: power_paired_equivalence(sd, n, effect, low=low, high=high, alpha=alpha),
            target=target,
        )
    distance = min(abs(effect - edge) for edge in (low, high) if edge is not None)
    return smallest_size(
        lambda n: power_paired_above(sd, n, distance, 0, alpha=alpha), target=target
    )


def _one_sided(result: TestResult) -> float:
    """The level of each of the one-sided tests."""
    two_sided = result.alternative == "two-sided"
    return result.alpha / 2 if two_sided else result.alpha


def _design(result: TestResult, a: Arm, b: Arm) -> Design:
    if result.test == "ratio":
        a, b = (arm.log() if isinstance(arm, Sample) else arm for arm in (a, b))
    first, second = summarise(a), summarise(b)
    return Design(first.spread, second.spread, first.n, second.n, _one_sided(result))
