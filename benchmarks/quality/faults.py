"""Tables with one fault each, and the flag that has to name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.quality.honest import Columns, Drawn

Values = Sequence[float] | np.ndarray


@dataclass(frozen=True, slots=True)
class Fault:
    """A way to spoil a table of two arms; ``flag`` is the kind of the flag that it must raise.

    ``least`` is the share of such tables in which it must: fewer where few seeds hide the fault.
    """

    name: str
    flag: str
    draw: Callable[[np.random.Generator], Drawn]
    least: float = 0.5


def arms(
    rng: np.random.Generator, n: int = 5, m: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two honest arms: accuracies in percent, scatter 0.3, half a point apart."""
    return 90 + 0.3 * rng.standard_normal(n), 90.5 + 0.3 * rng.standard_normal(
        n if m is None else m
    )


def table(a: Values, b: Values, design: str = "independent") -> Drawn:
    """A table of two arms and one measurement, seeds from 0."""
    columns: Columns = {
        name: {"m0": dict(enumerate(map(float, values)))}
        for name, values in (("arm_0", a), ("arm_1", b))
    }
    return Drawn(columns, design)


def _best_half(rng: np.random.Generator) -> Drawn:
    a, b = arms(rng, 10)
    kept = np.sort(np.argsort(a)[:5])
    drawn = table(a, b)
    drawn.columns["arm_0"]["m0"] = {int(i): float(a[i]) for i in kept}
    return drawn


def _without(*numbers: int) -> Callable[[np.random.Generator], Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        a, b = arms(rng, 10)
        drawn = table(a, b)
        for number in numbers:
            del drawn.columns["arm_1"]["m0"][number]
        return drawn

    return draw


def _copied(
    n: int, of: int, decimals: int = 15, *, shuffled: bool = False, design: str = "independent"
) -> Callable[[np.random.Generator], Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        a, b = (np.round(one, decimals) for one in arms(rng, n))
        b[:of] = a[:of]
        return table(a, rng.permutation(b) if shuffled else b, design)

    return draw


def _repeated(n: int, times: int, decimals: int = 15, jitter: float = 0.0) -> Callable[..., Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        a, b = (np.round(one, decimals) for one in arms(rng, n))
        a[rng.permutation(n)[:times]] = a[0]
        return table(a + jitter * rng.standard_normal(n), b)

    return draw


def _fixed(a: Sequence[float], b: Sequence[float]) -> Callable[[np.random.Generator], Drawn]:
    return lambda rng: table(a, b)


def _shared(n: int, pairs: Mapping[int, int], decimals: int = 15) -> Callable[..., Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        a, b = (np.round(one, decimals) for one in arms(rng, n))
        for i, j in pairs.items():
            b[j] = a[i]
        return table(a, b)

    return draw


def _whole_run(rng: np.random.Generator) -> Drawn:
    """All measurements of one seed of an arm stand in the other arm too."""
    drawn = table(*arms(rng, 8))
    for name in ("m1", "m2"):
        more = table(*arms(rng, 8)).columns
        for arm, measured in more.items():
            drawn.columns[arm][name] = measured["m0"]
    for values in zip(*(one.values() for one in drawn.columns.values()), strict=True):
        values[1][2] = values[0][6]
    return drawn


def _units(
    factor: float, n: int = 6, decimals: int | None = None, *, lower: float = 0.0
) -> Callable[..., Drawn]:
    """The second arm divided by ``factor``, and ``lower`` than the first in one unit."""

    def draw(rng: np.random.Generator) -> Drawn:
        a, b = arms(rng, n)
        b = b - lower
        if decimals is not None:
            a, b = np.round(a, decimals), np.round(b, decimals)
        return table(a, np.round(b / factor, 12))

    return draw


def _one_in_fractions(rng: np.random.Generator) -> Drawn:
    a, b = arms(rng, 6)
    a[3] /= 100
    return table(a, b)


def _far(n: int, by: float, lost: int = 1, decimals: int = 15) -> Callable[..., Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        a, b = (np.round(one, decimals) for one in arms(rng, n))
        a[rng.permutation(n)[:lost]] -= by
        return table(np.round(a, 12), b)

    return draw


def _sizes(n: int, m: int) -> Callable[[np.random.Generator], Drawn]:
    return lambda rng: table(*arms(rng, n, m))


def _correlated(n: int, r: float) -> Callable[[np.random.Generator], Drawn]:
    def draw(rng: np.random.Generator) -> Drawn:
        a, b = arms(rng, n)
        common = (a - 90) / 0.3
        return table(a, 90.5 + 0.3 * (r * common + (1 - r * r) ** 0.5 * (b - 90.5) / 0.3))

    return draw


def _sorted(rng: np.random.Generator) -> Drawn:
    a, b = arms(rng, 12)
    return table(sorted(a), sorted(b, reverse=True))


def _one_sorted(rng: np.random.Generator) -> Drawn:
    a, b = arms(rng, 12)
    return table(sorted(a), b)


def _following(n: int, rho: float, design: str = "independent") -> Callable[..., Drawn]:
    """Both arms autoregressive, of lag-one correlation ``rho``."""

    def draw(rng: np.random.Generator) -> Drawn:
        a, b = arms(rng, n)
        for values, mean in ((a, 90), (b, 90.5)):
            for t in range(1, n):
                new = (1 - rho * rho) ** 0.5 * (values[t] - mean)
                values[t] = mean + rho * (values[t - 1] - mean) + new
        return table(a, b, design)

    return draw


def _walks(rng: np.random.Generator) -> Drawn:
    steps = [0.3 * rng.standard_normal(20) for _ in range(2)]
    return table(90 + np.cumsum(steps[0]), 90.5 + np.cumsum(steps[1]))


THREE, FOUR = [1.0] * 3 + [1.1] * 3, [71.234] * 4 + [71.235]

FAULTS = (
    Fault("the best 5 of 10 seeds kept in one arm", "gaps in the seeds", _best_half),
    Fault("one seed of ten left out", "gaps in the seeds", _without(4)),
    Fault("three seeds of ten left out", "gaps in the seeds", _without(2, 5, 6)),
    Fault("two seeds in a row left out", "gaps in the seeds", _without(7, 8)),
    Fault("an arm copied, 3 seeds", "one arm copied from another", _copied(3, 3)),
    Fault("an arm copied, 5 seeds, 2 decimals", "one arm copied from another", _copied(5, 5, 2)),
    Fault("an arm copied, 10 seeds", "one arm copied from another", _copied(10, 10)),
    Fault(
        "an arm copied in another order",
        "one arm copied from another",
        _copied(6, 6, 3, shuffled=True),
    ),
    Fault("4 of 5 values copied", "one arm copied from another", _copied(5, 4, 2)),
    Fault("7 of 10 values copied, 1 decimal", "one arm copied from another", _copied(10, 7, 1)),
    Fault("a paired arm copied", "one arm copied from another", _copied(6, 6, 3, design="paired")),
    Fault("a run counted twice", "repeated values", _repeated(5, 2)),
    Fault("a run counted twice, 20 seeds", "repeated values", _repeated(20, 2)),
    Fault(
        "a run counted twice, float printed to 6 decimals", "repeated values", _repeated(6, 2, 6)
    ),
    Fault("a run counted three times, 3 decimals", "repeated values", _repeated(6, 3, 3)),
    Fault("a run counted five times of nine, 2 decimals", "repeated values", _repeated(9, 5, 2)),
    Fault("a run counted five times of ten, 2 decimals", "repeated values", _repeated(10, 5, 2)),
    Fault("three nearly equal seeds of eight", "repeated values", _repeated(8, 3, 15, 1e-5)),
    Fault(
        "two runs three times, in both arms",
        "repeated values",
        _fixed(THREE, [1.2] * 3 + [1.3] * 3),
    ),
    Fault(
        "71.234 four times and 71.235, in both arms",
        "repeated values",
        _fixed(FOUR, [71.834] * 4 + [71.835]),
    ),
    Fault(
        "one value in all seeds", "repeated values", lambda rng: table([71.23] * 6, arms(rng, 6)[1])
    ),
    Fault("one run in both arms, same seed", "values shared between arms", _shared(5, {2: 2})),
    Fault("one run in both arms, another seed", "values shared between arms", _shared(8, {1: 6})),
    Fault("one run in both arms, 5 decimals", "values shared between arms", _shared(5, {0: 3}, 5)),
    Fault(
        "two runs in both arms, 3 decimals",
        "values shared between arms",
        _shared(8, {0: 0, 3: 3}, 3),
    ),
    Fault("all measurements of one run in both arms", "values shared between arms", _whole_run),
    Fault("percent against fractions", "units that differ", _units(100)),
    Fault("percent against fractions, 90.2 v 0.905", "units that differ", _units(100, 8, 1)),
    Fault("percent against fractions, 90 v 0.65", "units that differ", _units(100, lower=25)),
    Fault("a factor of 10", "units that differ", _units(10, 10)),
    Fault("a factor of 1,000", "units that differ", _units(1000)),
    Fault("one seed in fractions", "units that differ", _one_in_fractions),
    Fault("one collapsed seed of 5", "a seed far from its arm", _far(5, 60)),
    Fault("one collapsed seed of 5, 1 decimal", "a seed far from its arm", _far(5, 60, 1, 1)),
    Fault("one seed of 10, 40 deviations away", "a seed far from its arm", _far(10, 12)),
    Fault("two collapsed seeds of 10", "a seed far from its arm", _far(10, 60, 2)),
    Fault("one seed of 20, 40 deviations away", "a seed far from its arm", _far(20, 12)),
    Fault("3 seeds against 30", "unequal numbers of seeds", _sizes(3, 30)),
    Fault("4 seeds against 20", "unequal numbers of seeds", _sizes(4, 20)),
    Fault("10 seeds against 5", "unequal numbers of seeds", _sizes(10, 5)),
    Fault(
        "arms that go together, r = 0.99, 8 seeds", "arms correlate by seed", _correlated(8, 0.99)
    ),
    Fault(
        "arms that go apart, r = -0.95, 10 seeds", "arms correlate by seed", _correlated(10, -0.95)
    ),
    Fault(
        "arms that go together, r = 0.9, 20 seeds", "arms correlate by seed", _correlated(20, 0.9)
    ),
    Fault("seeds numbered by rank", "arms correlate by seed", _sorted),
    Fault("seeds numbered by rank, followed", "values follow each other", _sorted),
    Fault("one arm sorted, 12 seeds", "values follow each other", _one_sorted),
    Fault("two random walks, 20 rows", "values follow each other", _walks),
    Fault("AR(0.9), 20 rows", "values follow each other", _following(20, 0.9)),
    Fault("AR(0.9), 20 pairs", "values follow each other", _following(20, 0.9, "paired")),
    Fault("AR(0.5), 10 rows", "values follow each other", _following(10, 0.5), 0.0),
    Fault("AR(0.5), 20 rows", "values follow each other", _following(20, 0.5), 0.1),
    Fault("AR(0.5), 30 rows", "values follow each other", _following(30, 0.5), 0.3),
)
