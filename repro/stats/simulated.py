"""Power by simulation, of tests whose power has no formula.

Every call draws the same numbers from a constant seed: the same question has the same answer,
and answers to neighbouring questions can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from repro.stats.anytime import at_looks, e_value, running
from repro.stats.coefficients import POWER_SEED
from repro.stats.contrast import scaled_contrast, trimmed
from repro.stats.power import PowerDesign
from repro.stats.ranks import (
    brunner_munzel_p,
    every_exchange,
    every_split,
    exchange_p,
    welch_p,
)

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Confirmed: TypeAlias = npt.NDArray[np.bool_]

Decide: TypeAlias = Callable[[Array, Array, float], Confirmed]
"""From values of A and of B (one row per draw) and the two-sided level: was A found higher?"""

DRAWS = 4000
SPLITS = 1000

ALL_EXCHANGES = 10
"""With so many pairs or fewer all exchanges are tried: 1,024."""


def simulated_power(
    design: PowerDesign, effect: float, decide: Decide, *, draws: int = DRAWS
) -> tuple[float, float]:
    """Chance that ``decide`` finds A higher by ``effect``, and its Monte Carlo standard error.

    Normal values with the design's standard deviations.
    """
    return frequency(decide(*_values(design, effect, draws), design.alpha))


def _values(design: PowerDesign, effect: float, draws: int) -> tuple[Array, Array]:
    """Normal values of A and of B, a row per draw: always the same noise."""
    generator = np.random.default_rng(POWER_SEED)
    noise_a = generator.standard_normal((draws, design.n_a))
    noise_b = generator.standard_normal((draws, design.n_b))
    return effect + design.sd_a * noise_a, design.sd_b * noise_b


def frequency(confirmed: Confirmed) -> tuple[float, float]:
    """How often a claim was confirmed, and the standard error of that.

    The error is never given as smaller than that of one draw more or less.
    """
    power, draws = float(np.mean(confirmed)), len(confirmed)
    return power, max(math.sqrt(power * (1 - power) / draws), 1 / draws)


def permutation(a: Array, b: Array, alpha: float) -> Confirmed:
    """Permutation test of Welch's t: all splits up to a thousand, else so many at random.

    The test itself tries more; that costs power only in the third digit.
    """
    n_a, n_b = a.shape[1], b.shape[1]
    in_a = draw_splits(n_a, n_a + n_b)
    return np.asarray(welch_p(a, b, in_a, most=alpha / 2) <= alpha / 2)


def brunner_munzel(a: Array, b: Array, alpha: float) -> Confirmed:
    """Brunner-Munzel test with its t approximation; complete separation has its exact p."""
    return np.asarray(brunner_munzel_p(a, b, "greater") <= alpha / 2)


def yuen(a: Array, b: Array, alpha: float) -> Confirmed:
    """Yuen's test: Welch's on means without the lowest and highest fifth of each arm."""
    effect, se, df = scaled_contrast(trimmed(a, 0.2), trimmed(b, 0.2), 1.0)
    return np.asarray(stdtr(df, -effect / se) <= alpha / 2)


def eprocess(
    a: Array, b: Array, alpha: float, *, g: float = 1.0, first: int = 2, paired: bool = False
) -> Confirmed:
    """The t e-process, looked at after every pair from ``first`` on: does A first cross as higher?

    ``g`` is the variance of the prior; both arms have as many replicates. statistics.md 1.8.
    """
    statistic, n = _looks(a, b, first, paired=paired)
    crossed = e_value(statistic, n, None if paired else n, g) >= 1 / alpha
    at_first = np.take_along_axis(statistic, crossed.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.asarray(crossed.any(axis=1) & (at_first > 0))


PRIORS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
"""Variances of the prior of an e-process among which the one is sought that stops first."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """When an e-process decides, either way, in pairs.

    ``mean`` is what it takes on average, with all that there are where it does not decide, and
    ``nine_in_ten`` what is enough in nine cases of ten; None if all are not. ``best_g`` is the
    variance of the prior, of ``PRIORS``, that takes the fewest: ``best_mean``.
    """

    mean: float
    nine_in_ten: int | None
    best_g: float
    best_mean: float


def stopping(design: PowerDesign, effect: float, *, g: float, first: int, paired: bool) -> Stopping:
    """When the t e-process of ``eprocess`` decides if A is higher by ``effect``."""
    statistic, n = _looks(*_values(design, effect, DRAWS), first, paired=paired)

    def pairs(g: float) -> Array:
        crossed = e_value(statistic, n, None if paired else n, g) >= 1 / design.alpha
        return np.where(crossed.any(axis=1), first + crossed.argmax(axis=1), np.inf)

    most, taken = design.n_a, pairs(g)
    means = {g: float(np.minimum(pairs(g), most).mean()) for g in PRIORS}
    best = min(means, key=lambda g: (means[g], abs(math.log(g))))
    enough = float(np.quantile(taken, 0.9, method="inverted_cdf"))
    nine_in_ten = int(enough) if math.isfinite(enough) else None
    return Stopping(float(np.minimum(taken, most).mean()), nine_in_ten, best, means[best])


def _looks(a: Array, b: Array, first: int, *, paired: bool) -> tuple[Array, Array]:
    """The t statistic at each look from ``first`` pairs on, a column each, and the sizes there."""
    n = np.arange(1, a.shape[1] + 1)
    arms = [running(values, n) for values in ([a - b] if paired else [a, b])]
    looks = slice(first - 1, None)
    effect, se = at_looks([(mean[:, looks], squares[:, looks]) for mean, squares in arms], n[looks])
    return effect / se, n[looks]


def paired_permutation(a: Array, b: Array, alpha: float) -> Confirmed:
    """Permutation test within pairs: all exchanges of up to ten pairs, else a thousand."""
    signs = draw_signs(a.shape[1])
    return np.asarray(exchange_p(a - b, signs, most=alpha / 2) <= alpha / 2)


def draw_splits(n_a: int, n: int) -> Array:
    """One column per split, with 1 for a member of A; the first is the one observed."""
    if math.comb(n, n_a) <= SPLITS:
        return every_split(n_a, n).astype(float)
    generator = np.random.default_rng(POWER_SEED + 1)
    order = generator.permuted(np.tile(np.arange(n), (SPLITS - 1, 1)), axis=1)
    return np.concatenate([np.arange(n)[None, :] < n_a, order < n_a]).T.astype(float)


def draw_signs(n: int) -> Array:
    """One column per exchange, with -1 for a pair that is turned; the first is the one observed."""
    if n <= ALL_EXCHANGES:
        return every_exchange(n)
    turned = np.random.default_rng(POWER_SEED + 2).integers(0, 2, (n, SPLITS))
    turned[:, 0] = 0
    return 1.0 - 2 * turned
