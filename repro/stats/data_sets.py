"""Methods over data sets by ranks or signs, which need no normal effects: two, and several.

Wilcoxon's signed-rank test asks whether effects are symmetric about a limit, the sign test whether
half of them lie above it. Effects that equal the limit are left out, and equal sizes share their
rank, as in ``scipy.stats.wilcoxon`` by default (its ``zero_method="wilcox"``). Up to 50 effects the
chances of the ranks are counted, with ties, too, where scipy from 14 effects on takes the normal
distribution; beyond, it is taken here as well, without a correction for continuity.

Several methods have mean ranks, with Friedman's test (1937) that they are alike, Iman and
Davenport's F of it (1980), and Nemenyi's critical difference (Demsar 2006). What two methods come
to by their mean ranks depends on which others there are (Benavoli, Corani & Mangili 2016).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, chdtrc, fdtrc, ndtr

from repro.errors import ClaimError, TooFewError
from repro.stats.coefficients import midranks
from repro.stats.records import ROUND_OFF, Interval, check_alpha

Array: TypeAlias = npt.NDArray[np.floating[Any]]
ByOrder: TypeAlias = Literal["wilcoxon", "sign"]

MOST_COUNTED = 50
"""Effects up to which the chances of signed ranks are counted."""


@dataclass(frozen=True, slots=True)
class OrderedEffects:
    """One effect a data set, compared with limits by ``test``; those nearer than ``near`` are tied.

    ``effect`` is the median of the effects for the sign test; for signed ranks that of their Walsh
    averages, the means of all pairs (Hodges & Lehmann 1963).
    """

    effects: tuple[float, ...]
    test: ByOrder
    near: float = 0.0

    se = None
    df = None

    @property
    def effect(self) -> float:
        return float(np.median(self._steps()))

    def p_greater(self, limit: float) -> float:
        """One-sided p of *the effects lie above the limit*."""
        rest = np.array(self.effects) - limit
        rest = rest[np.abs(rest) > self.near]
        if not rest.size:
            return 1.0
        if self.test == "sign":
            return float(bdtr(int(np.sum(rest < 0)), len(rest), 0.5))
        ranks = _ranks(np.abs(rest), self.near)
        return _chance_of_ranks(ranks, float(ranks[rest > 0].sum()))

    def p_less(self, limit: float) -> float:
        """One-sided p of *the effects lie below the limit*."""
        return self._reversed().p_greater(-limit)

    def interval(self, level: float) -> Interval:
        """All limits that neither one-sided test rejects at half of what ``level`` leaves.

        ``TooFewError`` where even effects of one sign would not reject any.
        """
        alpha = (1 - level) / 2
        refuse_few_tasks(len(self.effects), alpha)
        return Interval(self.lowest(alpha), -self._reversed().lowest(alpha), level)

    def prediction(self, level: float) -> Interval:
        """Where the effect of another data set lies: between two of those that were found.

        The outermost ones, where they are too few for ``level``; the level is that which it has,
        ``1 - 2 k / (n + 1)`` between the kth ones from both ends, whatever the distribution.
        """
        ordered, n = sorted(self.effects), len(self.effects)
        k = max(1, math.floor((1 - level) / 2 * (n + 1) + 1e-9))
        return Interval(ordered[k - 1], ordered[n - k], 1 - 2 * k / (n + 1))

    def _reversed(self) -> OrderedEffects:
        return replace(self, effects=tuple(-effect for effect in self.effects))

    def _steps(self) -> Array:
        """The limits at which p changes, in order: the effects, or their Walsh averages."""
        effects = np.sort(self.effects)
        if self.test == "sign":
            return effects
        first, second = np.triu_indices(len(effects))
        return np.sort((effects[first] + effects[second]) / 2)

    def lowest(self, alpha: float) -> float:
        """The step beyond which *above* is no longer shown; p rises from each to the next."""
        steps = self._steps()
        steps = steps[np.append(True, np.diff(steps) > self.near)]
        low, high = 0, len(steps)
        while high - low > 1:
            middle = (low + high) // 2
            between = (steps[middle - 1] + steps[middle]) / 2
            low, high = (middle, high) if self.p_greater(between) <= alpha else (low, middle)
        return float(steps[low])


def refuse_few_tasks(n: int, alpha: float) -> None:
    """``TooFewError`` where even effects of one sign could not reach ``alpha``."""
    if 0.5**n > alpha * (1 + 1e-9):
        raise TooFewError(
            f"{n} tasks cannot decide by ranks or signs: effects of one sign have a one-sided p of "
            f"{0.5**n:.3g}, above alpha = {alpha:g}",
            advice="add tasks, or declare `test: t`",
        )


def _ranks(sizes: Array, near: float) -> Array:
    """The ranks of sizes that are tied where they lie within ``near`` of the next."""
    order = np.argsort(sizes)
    levels = np.append(0, np.cumsum(np.diff(sizes[order]) > near))
    ranks = np.empty(len(sizes))
    ranks[order] = midranks(levels.astype(float))
    return ranks


def _chance_of_ranks(ranks: Array, total: float) -> float:
    """The chance that ranks with signs by chance add up to ``total`` or more above 0."""
    if len(ranks) > MOST_COUNTED:
        return float(ndtr((ranks.sum() / 2 - total) / (math.sqrt(float(ranks @ ranks)) / 2)))
    doubled = np.rint(2 * ranks).astype(int)  # midranks are halves
    return float(signed_sums(doubled)[round(2 * total) :].sum())


def signed_sums(ranks: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Array:
    """The chance of each sum, from 0 up, of ranks each of which counts or not, by halves."""
    chances = np.zeros(int(sum(ranks)) + 1)
    chances[0] = 1.0
    for rank in ranks:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: len(chances) - rank]
        chances = (chances + moved) / 2
    return chances


def surely_above(test: ByOrder, effects: Array, alpha: float) -> npt.NDArray[np.bool_]:
    """Whether each row of effects, none of them 0 and all sizes different, is found above 0."""
    n = effects.shape[-1]
    refuse_few_tasks(n, alpha)
    if test == "sign":
        return np.asarray(bdtr((effects < 0).sum(-1), n, 0.5) <= alpha)
    ranks = midranks(np.abs(effects))
    total = (ranks * (effects > 0)).sum(-1)
    if n > MOST_COUNTED:
        error = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return np.asarray(ndtr((n * (n + 1) / 4 - total) / error) <= alpha)
    chances = np.cumsum(signed_sums(range(1, n + 1))[::-1])[::-1]
    return np.asarray(chances[np.rint(total).astype(int)] <= alpha)


@dataclass(frozen=True, slots=True)
class MeanRanks:
    """The mean rank of each method over data sets, 1 for the best, and what chance makes of them.

    ``chi_squared`` is Friedman's, corrected for ties as in ``scipy.stats.friedmanchisquare``; ``f``
    that of Iman and Davenport, infinite where all data sets have one order. Mean ranks closer than
    ``critical_difference`` may be alike, by Nemenyi's test of all pairs.
    """

    ranks: tuple[float, ...]
    tasks: int
    chi_squared: float
    p: float
    f: float
    p_of_f: float
    critical_difference: float


def mean_ranks(
    values: Array, *, better: Literal["lower", "higher"], alpha: float = 0.05
) -> MeanRanks:
    """Mean ranks of values (data sets, methods); those equal up to round-off share their rank.

    ``ClaimError`` for fewer than two data sets or methods.
    """
    from scipy.stats import studentized_range  # noqa: PLC0415 - slow to import

    check_alpha(alpha)
    n, k = values.shape
    if min(n, k) < 2:
        raise ClaimError(f"{n} data sets and {k} methods have no order to compare")
    near = ROUND_OFF * float(np.abs(values).max())
    ranks = np.array([_ranks(row if better == "lower" else -row, near) for row in values])
    means = ranks.mean(axis=0)
    middle = (k + 1) / 2
    spread = float(((ranks - middle) ** 2).sum())
    between = n * float(((means - middle) ** 2).sum())
    chi_squared = (k - 1) * n * between / spread if spread else 0.0
    left = n * (k - 1) - chi_squared
    f = (n - 1) * chi_squared / left if left > ROUND_OFF * n * k else math.inf
    q = float(studentized_range.ppf(1 - alpha, k, math.inf))
    return MeanRanks(
        ranks=tuple(map(float, means)),
        tasks=n,
        chi_squared=chi_squared,
        p=float(chdtrc(k - 1, chi_squared)),
        f=f,
        p_of_f=0.0 if math.isinf(f) else float(fdtrc(k - 1, (k - 1) * (n - 1), f)),
        critical_difference=q / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n)),
    )
