"""Would a replication convince somebody who doubts the original? The sceptical p-value.

The original's result is set against the prior that would just make it unconvincing; the
replication succeeds as far as it contradicts that prior (Held 2020). Both studies enter by
their z-values and by the ratio of their variances alone.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

from scipy.special import log_ndtr, ndtr, ndtri

from repro.errors import ClaimError
from repro.stats.contrast import Contrast
from repro.stats.records import check_finite

GOLDEN_RATIO = (1 + math.sqrt(5)) / 2

NEGLIGIBLE = 1e-12
"""A peak so near to z changes the chance in its tenth digit at most."""

LEAST_LOG = math.log(sys.float_info.min)
"""Below it a chance is 0 in floating point."""


@dataclass(frozen=True, slots=True)
class Sceptical:
    """One-sided sceptical p-values, in the direction of the original's effect.

    ``nominal`` is that of Held 2020, and too strict to be read like an ordinary p-value.
    ``golden`` (Held, Micheloud & Pawel 2022) and ``controlled`` (Micheloud, Balabdaoui & Held
    2023) are recalibrated, to be compared with a one-sided level such as 0.025: golden lets an
    original that is just significant succeed only if the replication's effect is as large,
    controlled errs in both studies together as rarely as two significant ones, ``level²``.
    Effects of opposite signs give values above one half.
    """

    z: float
    nominal: float
    golden: float
    controlled: float


def z_value(contrast: Contrast) -> float:
    """The normal quantile with the one-sided p-value of a t statistic.

    Never effect over standard error: at few degrees of freedom that is far too large.
    """
    statistic = contrast.statistic()
    p = contrast.p_less() if statistic < 0 else contrast.p_greater()
    return math.copysign(float(ndtri(max(p, sys.float_info.min))), statistic)


def sceptical(z_original: float, z_ours: float, variance_ratio: float) -> Sceptical:
    """The sceptical p-values of two z-values; ``variance_ratio`` is the original's over ours.

    ``z²`` solves ``(z_o²/z² - 1)(z_r²/z² - 1) = variance_ratio``. ``ClaimError`` for a number
    that is not finite and a ratio not above 0. statistics.md 1.9.
    """
    check_finite("a z-value", z_original)
    check_finite("a z-value", z_ours)
    if check_finite("a ratio of variances", variance_ratio) <= 0:
        raise ClaimError(f"a ratio of variances lies above 0, not at {variance_ratio}")
    z = _solve(z_original, z_ours, variance_ratio)
    p_values = (
        float(ndtr(-z)),
        float(ndtr(-math.sqrt(GOLDEN_RATIO) * z)),
        math.sqrt(both_positive(z, variance_ratio)),
    )
    if z_original * z_ours < 0:
        p_values = (1 - p_values[0], 1 - p_values[1], 1 - p_values[2])
    return Sceptical(z, *p_values)


def both_positive(z: float, variance_ratio: float) -> float:
    """Chance of a sceptical z of at least ``z`` with both effects positive, where there is none.

    For a ratio of 1 it is ``(1 - Phi(2 z)) / 2``; else an integral over the original's z-value,
    around the peak of the integrand, whose relative error is below 1e-6.
    """
    if z == 0:
        return 0.25
    if variance_ratio == 1:
        return float(ndtr(-2 * z)) / 2
    from scipy.integrate import quad  # noqa: PLC0415 - slow to import, needed only here

    def log_chance(distance: float) -> float:
        """The log chance of an original this far above ``z``, however small the distance."""
        beyond = distance / z * (distance / z + 2)
        if beyond <= 0:
            return -math.inf
        ours = z * math.sqrt(1 + variance_ratio / beyond)
        return float(log_ndtr(-ours)) - (z + distance) ** 2 / 2 - math.log(2 * math.pi) / 2

    root = math.sqrt(variance_ratio)
    peak = z * root / (1 + math.sqrt(1 + root))
    if peak < NEGLIGIBLE:  # both z-values above z, and nothing else
        return float(ndtr(-z)) ** 2
    top = log_chance(peak)
    if top < LEAST_LOG:
        return 0.0
    total = sum(
        float(quad(lambda x: math.exp(log_chance(x) - top), *ends, epsabs=0, epsrel=1e-9)[0])
        for ends in ((0.0, peak), (peak, peak + 3), (peak + 3, peak + 12))
    )
    return math.exp(top) * total


def _solve(z_original: float, z_ours: float, variance_ratio: float) -> float:
    """The root, through the harmonic and arithmetic means of the squared z-values."""
    length = math.hypot(z_original, z_ours)
    if length == 0:
        return 0.0
    product = abs(z_original / length) * abs(z_ours / length)
    harmonic_root = math.sqrt(2) * product * length
    means_ratio = min((2 * product) ** 2, 1.0)
    root = math.sqrt(1 + (variance_ratio - 1) * means_ratio)
    return harmonic_root / math.sqrt(1 + root)
