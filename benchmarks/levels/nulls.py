"""Every kind of expectation at the boundary of its null: rules and draws.

At the boundary one draw serves two rates: that of a false CONFIRMED, were the truth just beyond
it, and of a false CONTRADICTED, were it just within.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtrit

from benchmarks.levels import (
    clustered,
    exact,
    joined,
    looks,
    means,
    one_sample,
    points,
    references,
)
from benchmarks.levels.cells import (
    COLLAPSED,
    DEPTH,
    LOG_SD,
    Array,
    Cell,
    Data,
    Draw,
    Setup,
    collapsed_moments,
    degrees,
    lognormal_moments,
    noise,
)
from repro.expectations.decision_rules import Direction
from repro.stats import stopping
from repro.stats.coefficients import Method
from repro.stats.trends import TrendTest

FAR = 50.0
"""So many standard errors leave nothing to doubt."""


def arms(cell: Cell, *shifts: float, n: int | None = None) -> Draw:
    """One arm for each shift of its mean; the first has its own spread and number of values."""
    others = len(shifts) - 1
    sds = [cell.sd_ratio] + [1.0] * others
    sizes = [n or cell.n] + [n or cell.n_others] * others

    def draw(rng: np.random.Generator, draws: int) -> Data:
        return tuple(
            shift + sd * noise(rng, cell.distribution, (draws, size))
            for shift, sd, size in zip(shifts, sds, sizes, strict=True)
        )

    return draw


def pairs_of_arms(cell: Cell, *shifts: float) -> Draw:
    """Two arms for each shift of the difference: several measurements, or several claims."""
    draws = [arms(cell, shift, 0.0) for shift in shifts]
    return lambda rng, size: tuple(arm for one in draws for arm in one(rng, size))


def difference(test: str, cell: Cell, *, directed: bool = False) -> Setup:
    direction: Direction = "higher" if directed else "different"
    return Setup(means.difference(test, direction, cell.alpha), arms(cell, 0.0, 0.0), 0.0)


def one_sided(cell: Cell) -> Setup:
    """No difference, where A is claimed to be higher and one side alone is tested."""
    return Setup(means.one_sided(cell.alpha), arms(cell, 0.0, 0.0))


def smallest_effect(cell: Cell) -> Setup:
    least = 2 * cell.se
    rule = means.difference("welch", "higher", cell.alpha, least)
    return Setup(rule, arms(cell, least, 0.0), least)


def margin(kind: str, cell: Cell) -> Setup:
    margin = 4 * cell.se
    low = None if kind == "non_superiority" else -margin
    high = None if kind == "non_inferiority" else margin
    truth = -margin if high is None else margin
    return Setup(means.region(kind, cell.alpha, low, high), arms(cell, truth, 0.0), truth)


def relative_margin(kind: str, cell: Cell) -> Setup:
    """At the lower margin r the contrast has 1 - r of B, and so even more unequal spreads.

    There r is a fifth, so that 3:1 becomes 3.75:1 and not 6:1.
    """
    size = 0.2 if kind == "non_inferiority" else 0.5
    mean_b = 4 * cell.se / size
    low = None if kind == "non_superiority" else -size
    high = None if kind == "non_inferiority" else size
    truth = -size if high is None else size
    rule = means.region(kind, cell.alpha, low, high, relative=True)
    return Setup(rule, arms(cell, (1 + truth) * mean_b, mean_b), truth)


def ratio(cell: Cell) -> Setup:
    def draw(rng: np.random.Generator, draws: int) -> Data:
        a, b = arms(cell, 0.0, 0.0)(rng, draws)
        return 30.0 * np.exp(0.1 * a), 10.0 * np.exp(0.1 * b)

    return Setup(means.ratio(3.0, cell.alpha), draw, 3.0)


def separation(cell: Cell) -> Setup:
    return Setup(exact.separated(cell.alpha), arms(cell, 0.0, 0.0))


def attainable(cell: Cell) -> float:
    """The share that so many replicates exceed, if they all agree, with chance alpha."""
    return math.exp(math.log(cell.alpha) / cell.n) - 1e-6


def share(cell: Cell) -> Setup:
    of = attainable(cell)
    limit = quantile(cell.distribution, of)
    rule = exact.share_within(limit, of, cell.alpha)
    return Setup(rule, arms(cell, 0.0), of)


def level(cell: Cell) -> Setup:
    """The mean is the limit."""
    return Setup(one_sample.mean(0.0, cell.alpha), arms(cell, 0.0), 0.0)


def level_known_sd(cell: Cell) -> Setup:
    """The mean is the limit, and the scatter is the one that is known."""
    return Setup(one_sample.mean_known_sd(0.0, 1.0, cell.alpha), arms(cell, 0.0), 0.0)


def shares(count: int, mean: float, cell: Cell, *, depend: float = 0.0) -> Draw:
    """Shares of ``count`` items; within a seed two of them correlate by ``depend``."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        chance: float | Array = mean
        if depend:
            size = 1 / depend - 1
            chance = rng.beta(mean * size, (1 - mean) * size, (draws, cell.n))
        return (rng.binomial(count, chance, (draws, cell.n)) / count,)

    return draw


def level_of_items(count: int, mean: float, cell: Cell, *, depend: float = 0.0) -> Setup:
    """The mean share is the limit, and all items are pooled."""
    rule = one_sample.items(count, mean, cell.alpha)
    return Setup(rule, shares(count, mean, cell, depend=depend), mean)


def level_near_an_end(count: int, mean: float, cell: Cell) -> Setup:
    """The same by Student's t of the shares."""
    return Setup(one_sample.mean(mean, cell.alpha), shares(count, mean, cell), mean)


def level_median(cell: Cell) -> Setup:
    """The median is the limit."""
    median = quantile(cell.distribution, 0.5)
    return Setup(one_sample.median(median, cell.alpha), arms(cell, 0.0), median)


def quantile(distribution: str, share: float) -> float:
    if distribution == "normal":
        return float(ndtri(share))
    if distribution == "uniform":
        return math.sqrt(3) * (2 * share - 1)
    if distribution == "lognormal":
        mean, sd = lognormal_moments()
        return (math.exp(LOG_SD * float(ndtri(share))) - mean) / sd
    if distribution == "collapsed":
        return collapsed_quantile(share)
    df = degrees(distribution)
    return float(stdtrit(df, share)) * math.sqrt((df - 2) / df)


def collapsed_quantile(share: float) -> float:
    """By root finding: the distribution function has no inverse in closed form."""

    def excess(x: float) -> float:
        return float((1 - COLLAPSED) * ndtr(x) + COLLAPSED * ndtr(x + DEPTH)) - share

    mean, sd = collapsed_moments()
    return (float(brentq(excess, -DEPTH - 40, 40)) - mean) / sd


def tolerance(cell: Cell) -> Setup:
    """A limit of tolerance, and the value that ``alpha`` of all runs exceed."""
    return references.references(quantile(cell.distribution, 1 - cell.alpha), cell)


def wins(cell: Cell, *, half: bool) -> Setup:
    share = 0.5 if half else attainable(cell)

    def draw(rng: np.random.Generator, draws: int) -> Data:
        won = rng.random((draws, cell.n)) < share
        return won.astype(float), np.full((draws, cell.n), 0.5)

    return Setup(exact.wins(share, cell.alpha), draw, share)


def clusters(cell: Cell) -> Setup:
    def draw(rng: np.random.Generator, draws: int) -> Data:
        shared = noise(rng, cell.distribution, (draws, cell.n, 1))
        own = noise(rng, cell.distribution, (draws, cell.n, exact.CLUSTER))
        values = (2 * shared + own).reshape(draws, -1)
        return values, np.zeros(values.shape)

    return Setup(exact.clustered_wins(cell.alpha), draw)


def scatter(cell: Cell, rho: float) -> Draw:
    """Two variables with this Pearson correlation: y is a multiple of x and independent noise.

    Bivariate t variables share one divisor a point, so that they depend on each other also
    where their correlation is 0.
    """

    def draw(rng: np.random.Generator, draws: int) -> Data:
        bivariate_t = cell.distribution.startswith("t")
        marginal = "normal" if bivariate_t else cell.distribution
        x, y = (noise(rng, marginal, (draws, cell.n)) for _ in range(2))
        y = rho * x + math.sqrt(1 - rho**2) * y
        if bivariate_t:
            df = degrees(cell.distribution)
            divisor = np.sqrt(rng.chisquare(df, (draws, cell.n)) / df)
            x, y = x / divisor, y / divisor
        return x, y

    return draw


def association(method: Method, cell: Cell) -> Setup:
    return Setup(points.associated(method, "different", cell.alpha), scatter(cell, 0.0), 0.0)


def independent(method: Method, cell: Cell) -> Setup:
    """No association because the variables are independent, whatever their tails."""
    return Setup(points.associated(method, "different", cell.alpha), arms(cell, 0.0, 0.0), 0.0)


def clustered_points(cell: Cell) -> Setup:
    """Independent variables, whose points share an effect of their cluster twice their spread."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        shared = noise(rng, cell.distribution, (2, draws, cell.n, 1))
        own = noise(rng, cell.distribution, (2, draws, cell.n, clustered.POINTS))
        x, y = (2 * shared + own).reshape(2, draws, -1)
        return x, y

    return Setup(clustered.associated(cell.alpha), draw, 0.0)


PEARSON_OF: dict[Method, Callable[[float], float]] = {
    "pearson": lambda bound: bound,
    "spearman": lambda bound: 2 * math.sin(math.pi * bound / 6),
    "kendall": lambda bound: math.sin(math.pi * bound / 2),
}
"""The Pearson correlation of bivariate normal points with such a coefficient (Kendall 1970)."""


Side: TypeAlias = Literal["at_most", "at_least"]
SIDES: tuple[Side, ...] = ("at_most", "at_least")


def magnitude(method: Method, side: Side, cell: Cell) -> Setup:
    rho = PEARSON_OF[method](0.5)
    return Setup(points.size(method, side, 0.5, cell.alpha), scatter(cell, rho), 0.5)


def trend(test: TrendTest, cell: Cell) -> Setup:
    return Setup(points.rising(test, cell.alpha), arms(cell, 0.0, 0.0, 0.0))


def slope(cell: Cell) -> Setup:
    return Setup(points.sloping(cell.alpha), arms(cell, 0.0, 0.0, 0.0), 0.0)


def ordering(cell: Cell) -> Setup:
    """Two arms alike, the third far above: one pair is out of order."""
    return Setup(points.ordered(cell.alpha), arms(cell, 0.0, 0.0, FAR * cell.se))


def no_order(cell: Cell) -> Setup:
    """All arms alike: where a reversed pair is most often found by chance."""
    return Setup(points.ordered(cell.alpha), arms(cell, 0.0, 0.0, 0.0))


def one_false_leaf(cell: Cell) -> Setup:
    """Three equivalences of which the first is at its margin, the others beyond doubt."""
    margin = 4 * cell.se
    leaves = [(-margin, margin)] + [(-FAR * cell.se, FAR * cell.se)] * 2
    return Setup(joined.joined("all", leaves, cell.alpha), pairs_of_arms(cell, margin, 0, 0))


def all_at_the_margin(cell: Cell) -> Setup:
    """Three claims of non-inferiority, each just true: one is contradicted by chance."""
    margin = 4 * cell.se
    rule = joined.joined("all", [(-margin, None)] * 3, cell.alpha)
    return Setup(rule, pairs_of_arms(cell, *[-margin] * 3))


def disjunction(cell: Cell) -> Setup:
    """Three claims of non-inferiority, each just false: one is confirmed by chance."""
    margin = 4 * cell.se
    rule = joined.joined("any", [(-margin, None)] * 3, cell.alpha)
    return Setup(rule, pairs_of_arms(cell, *[-margin] * 3))


def family(method: Literal["holm", "bh"], cell: Cell) -> Setup:
    return Setup(joined.family(method, cell.alpha), pairs_of_arms(cell, 0, 0, 0, 0))


def nightly(kind: str, cell: Cell) -> Setup:
    question, truth = asked(kind, 1.0)
    return Setup(looks.nightly(question, cell.alpha), arms(cell, truth, 0.0, n=60), truth)


def level_nightly(cell: Cell) -> Setup:
    """The mean of one arm is the limit, looked at after every seed."""
    rule = looks.nightly(stopping.level("at_least", 0.0), cell.alpha, paired=True)
    return Setup(rule, _alone(cell, 60), 0.0)


def level_planned(cell: Cell) -> Setup:
    """The mean of one arm is the limit, looked at as planned."""
    rule = looks.planned(stopping.level("at_least", 0.0), cell.alpha, paired=True)
    return Setup(rule, _alone(cell, 20), 0.0)


def _alone(cell: Cell, n: int) -> Callable[[np.random.Generator, int], Data]:
    """The values of one arm, paired with zeros."""

    def draw(rng: np.random.Generator, draws: int) -> Data:
        (values,) = arms(cell, 0.0, n=n)(rng, draws)
        return values, np.zeros_like(values)

    return draw


def planned(kind: str, cell: Cell) -> Setup:
    question, truth = asked(kind, 4 * math.hypot(cell.sd_ratio, 1) / math.sqrt(20))
    return Setup(looks.planned(question, cell.alpha), arms(cell, truth, 0.0, n=20), truth)


def planned_early(looks_of: Callable[[int], tuple[int, ...]], cell: Cell) -> Setup:
    """A difference at planned looks of which the last is at ``n`` pairs."""
    question, truth = asked("difference", 0.0)
    rule = looks.planned(question, cell.alpha, looks_of(cell.n))
    return Setup(rule, arms(cell, truth, 0.0), truth)


def asked(kind: str, margin: float) -> tuple[stopping.Question, float]:
    if kind == "difference":
        return stopping.difference("different"), 0.0
    if kind == "directed":
        return stopping.difference("higher"), 0.0
    if kind == "equivalence":
        return stopping.equivalence(-margin, margin), margin
    return stopping.non_superiority(margin, "higher"), margin
