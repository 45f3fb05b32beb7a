"""The power of tests that compare no two independent means: counts, orders, correlations."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtrc, ndtr, ndtri

from repro.errors import ClaimError
from repro.stats.power import Design
from repro.stats.result import check_alpha, check_finite
from repro.stats.separation import separation_p

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(400)


def power_separation(design: Design, distance: float) -> float:
    """Chance that every replicate of A lies beyond every one of B, and that this is significant.

    Normal arms whose means are ``distance`` apart. Given the share ``u`` of all values of B's
    largest that lie below it, each of A's replicates lies beyond with a known chance, so the
    power is an integral over ``u``; by symmetry it holds for *below*, too. 0 where even
    complete separation would not reach the one-sided level.
    """
    check_finite("the distance", distance)
    if separation_p(design.n_a, design.n_b) > design.alpha:
        return 0.0
    if design.sd_a == 0:
        return float(ndtr(distance / design.sd_b)) ** design.n_b
    angle = np.pi / 4 * (_NODES + 1)
    u = np.sin(angle) ** 2
    largest = design.sd_b * ndtri(u ** (1 / design.n_b))
    beyond = ndtr((distance - largest) / design.sd_a) ** design.n_a
    return float(np.sum(_WEIGHTS * np.pi / 4 * np.sin(2 * angle) * beyond))


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
