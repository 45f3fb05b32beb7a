"""How often would a design decide? The power of the tests that are really run.

Welch's test with estimated variances, not the pooled test with known degrees of freedom:
at n = 3 the usual formula promises .80 where Welch has .70 (statistics.md 2.2).

With ``W`` the scaled variance estimates of the two arms, ``W_a + W_b`` is chi-squared and
independent of the share ``W_a / (W_a + W_b)``, which is beta distributed and alone fixes
Welch's degrees of freedom. So each power is a double integral, the normal distribution in
closed form: smooth in the angle whose squared sine is the share, and in the root of the sum.
Of pairs there is one standard deviation, that of the differences, and a single integral.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import (
    bdtrc,
    betaincinv,
    betaln,
    gammainccinv,
    gammaincinv,
    gammaln,
    ndtr,
    ndtri,
    stdtrit,
)

from repro.errors import ClaimError
from repro.stats.group_sequential import legendre
from repro.stats.ranks import separation_p
from repro.stats.records import Arm, Sample, TestResult, check_alpha, check_finite, known, summarise

_POINTS = 80
_EXACT_POINTS = 400
_TAIL = 1e-14
_FAR = 9.0  # standard errors beyond which a normal chance is nothing
Array: TypeAlias = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class PowerDesign:
    """Two independent normal arms: true standard deviations, replicates, declared level.

    ``alpha`` means what it means for the test: two-sided for a difference, one-sided for
    everything else. For a ratio the standard deviations are those of the logarithms.
    ``ClaimError`` for fewer than two replicates and where neither arm varies.
    """

    sd_a: float
    sd_b: float
    n_a: int
    n_b: int
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if min(self.n_a, self.n_b) < 2:
            raise ClaimError("a test with variances needs at least two replicates in each arm")
        for sd in (self.sd_a, self.sd_b):
            if check_finite("a standard deviation", sd) < 0:
                raise ClaimError(f"a standard deviation is not negative: {sd}")
        if self.sd_a == self.sd_b == 0:
            raise ClaimError("where neither arm varies the outcome is certain; there is no power")

    @property
    def se(self) -> float:
        """The true standard error of the difference of the means."""
        return math.hypot(self.sd_a / math.sqrt(self.n_a), self.sd_b / math.sqrt(self.n_b))

    def balanced(self, n: int) -> PowerDesign:
        """The same arms with ``n`` replicates in each."""
        return replace(self, n_a=n, n_b=n)

    def half_widths(
        self, tail: float, widest: float = math.inf, *, pooled: bool = False
    ) -> tuple[Array, Array]:
        """Quadrature of the half-width of Welch's (or the pooled) interval, up to ``widest``."""
        nu_a, nu_b = self.n_a - 1, self.n_b - 1
        angle, outer = _angles(nu_a, nu_b)
        square_a, square_b = (self.sd_a * np.sin(angle)) ** 2, (self.sd_b * np.cos(angle)) ** 2
        if pooled:
            df: Array | int = nu_a + nu_b
            unit = (square_a + square_b) / df * (1 / self.n_a + 1 / self.n_b)
        else:
            part_a, part_b = square_a / (self.n_a * nu_a), square_b / (self.n_b * nu_b)
            unit = part_a + part_b
            df = unit**2 / (part_a**2 / nu_a + part_b**2 / nu_b)
        reach = -stdtrit(df, tail) * np.sqrt(unit)
        radius, weights = _chi_nodes((nu_a + nu_b) / 2, widest / reach)
        return reach[:, None] * radius, outer[:, None] * weights


@dataclass(frozen=True, slots=True)
class PairedDesign:
    """Pairs with normal differences: their true standard deviation, their number, the level.

    ``ClaimError`` for fewer than two pairs and an ``sd`` not above 0.
    """

    sd: float
    n: int
    alpha: float = 0.05

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if self.n < 2:
            raise ClaimError("a paired test needs at least two pairs")
        if check_finite("a standard deviation", self.sd) <= 0:
            raise ClaimError(
                f"the standard deviation of the differences lies above 0, not at {self.sd}"
            )

    @property
    def se(self) -> float:
        """The true standard error of the mean difference."""
        return self.sd / math.sqrt(self.n)

    def balanced(self, n: int) -> PairedDesign:
        """The same with ``n`` pairs."""
        return replace(self, n=n)

    def half_widths(self, tail: float, widest: float) -> tuple[Array, Array]:
        """Quadrature of the half-width of the interval, up to ``widest``."""
        unit = -float(stdtrit(self.n - 1, tail)) * self.se / math.sqrt(self.n - 1)
        radius, weights = _chi_nodes((self.n - 1) / 2, np.array([widest / unit]))
        return unit * radius[0], weights[0]


Design: TypeAlias = PowerDesign | PairedDesign


def power_difference(design: Design, effect: float, *, smallest_effect: float = 0.0) -> float:
    """Chance that Welch's (or the paired) two-sided test confirms a positive effect.

    With ``smallest_effect`` the whole interval must lie above it.
    """
    return _power_above(design, effect - smallest_effect, design.alpha / 2)


def power_student(design: PowerDesign, effect: float, *, smallest_effect: float = 0.0) -> float:
    """As ``power_difference``, for Student's test.

    ``TTestIndPower`` of statsmodels is the special case of equal standard deviations.
    """
    reach, weights = design.half_widths(design.alpha / 2, pooled=True)
    return _share_above(design, effect - smallest_effect, reach, weights)


def power_above(design: Design, effect: float, border: float) -> float:
    """Chance that the one-sided test finds the effect above ``border``.

    Non-superiority is ``power_above(design, margin - gain, 0)``; at ``effect == border`` this
    is the test's true level.
    """
    return _power_above(design, effect - border, design.alpha)


def power_above_known(design: Design, effect: float, border: float) -> float:
    """The same of the z-test, to which the design's standard deviations are known."""
    return float(ndtr((effect - border) / design.se + ndtri(design.alpha)))


def power_ratio(design: Design, ratio: float, *, at_least: float) -> float:
    """Chance of confirming *at least ``at_least`` times*; the design's sds are of logarithms."""
    if not (ratio > 0 and at_least > 0):
        raise ClaimError("ratios lie above 0")
    return power_above(design, math.log(ratio), math.log(at_least))


def power_equivalence(design: Design, effect: float, *, low: float, high: float) -> float:
    """Chance that two one-sided tests place the effect between ``low`` and ``high``."""
    if not low < high:
        raise ClaimError(f"margins run from low to high, not {low} to {high}")
    reach, weights = design.half_widths(design.alpha, (high - low) / 2)
    inside = ndtr((high - effect - reach) / design.se) - ndtr((low - effect + reach) / design.se)
    return _expected(weights, np.maximum(inside, 0.0))


def seeds_needed(
    design: Design, power: Callable[[Any], float], *, target: float = 0.80, cap: int = 1000
) -> int | None:
    """Replicates in each arm that give ``power`` at least ``target``; ``None`` if ``cap`` do not.

    ``power`` maps a design to a chance that grows with its size; its own sizes are ignored.
    """
    return smallest_size(lambda n: power(design.balanced(n)), target=target, cap=cap)


def smallest_size(
    power: Callable[[int], float], *, target: float = 0.80, cap: int = 1000
) -> int | None:
    """The smallest size from 2 to ``cap`` with ``power`` at least ``target``; ``None`` if none."""
    check_target(target)
    low, high = 1, 2
    while power(high) < target:
        if high >= cap:
            return None
        low, high = high, min(2 * high, cap)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= target else (middle, high)
    return high


def detectable(
    power: Callable[[float], float], unit: float, target: float = 0.80, *, precision: float = 1e-10
) -> float | None:
    """The smallest size at which ``power`` reaches ``target``, to the relative precision.

    ``power`` grows with the size, which is above 0; ``unit`` is a scale for the search, such as
    the standard error. ``None`` where a million units do not suffice.
    """
    check_target(target)
    high = unit
    while power(high) < target:
        high *= 2
        if high > 1e6 * unit:
            return None
    low = 0.0
    while high - low > precision * high:
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= target else (middle, high)
    return high


def check_target(target: float) -> float:
    """The power asked for itself, or ``ClaimError`` unless it lies between 0 and 1."""
    if not 0 < target < 1:
        raise ClaimError(f"a power lies between 0 and 1, not {target}")
    return target


def _power_above(design: Design, distance: float, tail: float) -> float:
    check_finite("the effect", distance)
    widest = math.inf
    if isinstance(design, PairedDesign):  # the nodes lie where the chance is not yet nothing
        widest = max(distance, 0.0) + _FAR * design.se
    return _share_above(design, distance, *design.half_widths(tail, widest))


def _share_above(design: Design, distance: float, reach: Array, weights: Array) -> float:
    check_finite("the effect", distance)
    return _expected(weights, ndtr((distance - reach) / design.se))


def _expected(weights: Array, chances: Array) -> float:
    return min(1.0, max(0.0, float(np.sum(weights * chances))))


def _angles(nu_a: int, nu_b: int) -> tuple[Array, Array]:
    """Quadrature of the angle whose squared sine is beta distributed, without its tails."""
    lowest = math.asin(math.sqrt(betaincinv(nu_a / 2, nu_b / 2, _TAIL)))
    highest = math.acos(math.sqrt(betaincinv(nu_b / 2, nu_a / 2, _TAIL)))
    nodes, weights = legendre(_POINTS)
    angle = lowest + (highest - lowest) / 2 * (nodes + 1)
    log_density = (
        (nu_a - 1) * np.log(np.sin(angle))
        + (nu_b - 1) * np.log(np.cos(angle))
        + math.log(2)
        - float(betaln(nu_a / 2, nu_b / 2))
    )
    return angle, (highest - lowest) / 2 * weights * np.exp(log_density)


def _chi_nodes(half: float, limit: Array) -> tuple[Array, Array]:
    """Nodes and weights of the chi distribution with ``2 half`` df, one row per limit."""
    lowest = math.sqrt(2 * float(gammaincinv(half, _TAIL)))
    highest = np.minimum(math.sqrt(2 * float(gammainccinv(half, _TAIL))), limit)
    span = np.maximum(highest - lowest, 0.0)[:, None] / 2
    nodes, weights = legendre(_POINTS)
    radius = lowest + span * (nodes + 1)
    log_density = (
        (2 * half - 1) * np.log(radius)
        - radius**2 / 2
        - (half - 1) * math.log(2)
        - float(gammaln(half))
    )
    return radius, span * weights * np.exp(log_density)


def power_separation(design: PowerDesign, distance: float) -> float:
    """Chance that every replicate of A lies beyond every one of B, and that this is significant.

    Normal arms whose means are ``distance`` apart; an integral over the share ``u`` of all values
    that lie below B's largest. 0 where even complete separation would not reach the one-sided
    level.
    """
    check_finite("the distance", distance)
    if separation_p(design.n_a, design.n_b) > design.alpha:
        return 0.0
    if design.sd_a == 0:
        return float(ndtr(distance / design.sd_b)) ** design.n_b
    nodes, weights = legendre(_EXACT_POINTS)
    angle = np.pi / 4 * (nodes + 1)
    u = np.sin(angle) ** 2
    largest = design.sd_b * ndtri(u ** (1 / design.n_b))
    beyond = ndtr((distance - largest) / design.sd_a) ** design.n_a
    return float(np.sum(weights * np.pi / 4 * np.sin(2 * angle) * beyond))


def power_share(n: int, share: float, *, of: float, alpha: float = 0.05) -> float:
    """Chance that the exact binomial test finds more than ``of``, when the truth is ``share``.

    Not monotone in ``n``: a replicate more can cost power. ``ClaimError`` for shares outside
    0 to 1.
    """
    check_alpha(alpha)
    if not (0 < of < 1 and 0 <= share <= 1):
        raise ClaimError(f"shares lie between 0 and 1, not at {of} and {share}")
    enough = [k for k in range(1, n + 1) if bdtrc(k - 1, n, of) <= alpha]
    return float(bdtrc(enough[0] - 1, n, share)) if enough else 0.0


def power_association(
    n: int, correlation: float, *, low: float = -1.0, high: float = 1.0, alpha: float = 0.05
) -> float:
    """Chance that one-sided tests on Fisher's z place Pearson's correlation in ``low`` to ``high``.

    Bivariate normal points; z is taken as normal with mean ``atanh r + r / (2 (n - 1))`` and
    variance ``1 / (n - 3)`` (Fisher 1921), which the test allows for at its borders. 0 for
    fewer than four points. ``ClaimError`` unless ``-1 <= low < high <= 1``, and for a true
    correlation that is not inside -1 to 1.
    """
    check_alpha(alpha)
    if not (-1 <= low < high <= 1 and -1 < correlation < 1):
        raise ClaimError(f"correlations lie between -1 and 1, not {low}, {high}, {correlation}")
    if n < 4:
        return 0.0
    z = math.atanh(correlation) + correlation / (2 * (n - 1))
    reach = -float(ndtri(alpha)) / math.sqrt(n - 3)
    above = -math.inf if low == -1 else math.atanh(low) + low / (2 * (n - 1)) + reach
    below = math.inf if high == 1 else math.atanh(high) + high / (2 * (n - 1)) - reach
    chance = ndtr((below - z) * math.sqrt(n - 3)) - ndtr((above - z) * math.sqrt(n - 3))
    return max(0.0, float(chance))


DIFFERENCES = ("student", "welch", "permutation", "paired")
MEANS = (*DIFFERENCES, "tost", "non_superiority", "non_inferiority", "ratio")


def seeds_to_settle(
    result: TestResult, a: Arm, b: Arm, *, border: float = 0.0, target: float = 0.80
) -> int | None:
    """Replicates in each arm (or pairs) that would decide with chance ``target``.

    True effect and standard deviations are taken to be the observed ones, so this is an order of
    magnitude. Either decision counts: confirmed or contradicted. ``border`` is the effect that a
    difference must exceed (0, or its smallest effect of interest, signed as A minus B). ``None``:
    not within 1000, for the effect sits at the border. A permutation test is planned as Welch's.
    ``ClaimError`` for a test that does not compare means.
    """
    if result.test.endswith("_relative") or result.test == "ratio_of_means":
        raise ClaimError("no number of seeds is computed for a margin relative to a mean")
    if result.test not in MEANS:
        raise ClaimError(f"{result.test} compares no means, so no number of seeds is computed")
    if result.test == "ratio" and result.exact:
        return None
    effect, low, high = _on_test_scale(result, border)
    design = _observed_design(result, a, b)

    def power(sized: Design) -> float:
        if low is not None and high is not None and low < effect < high:
            return power_equivalence(sized, effect, low=low, high=high)
        distance = min(abs(effect - edge) for edge in (low, high) if edge is not None)
        return power_above(sized, distance, 0.0)

    return seeds_needed(design, power, target=target)


def _on_test_scale(result: TestResult, border: float) -> tuple[float, float | None, float | None]:
    """Effect and borders on the scale on which the test is done."""
    if result.test in DIFFERENCES:
        return result.effect, border, None
    if result.test == "ratio" and result.low is not None:
        return math.log(result.effect), math.log(result.low), None
    return result.effect, result.low, result.high


def _observed_design(result: TestResult, a: Arm, b: Arm) -> Design:
    """The scatter that was found, at the level of each of the one-sided tests."""
    alpha = result.alpha / 2 if result.alternative == "two-sided" else result.alpha
    if result.paired:
        return PairedDesign(known(result.se) * math.sqrt(result.n[0]), result.n[0], alpha)
    if result.test == "ratio":
        a, b = (arm.log() if isinstance(arm, Sample) else arm for arm in (a, b))
    first, second = summarise(a), summarise(b)
    return PowerDesign(first.spread, second.spread, first.n, second.n, alpha)
