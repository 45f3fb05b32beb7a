"""Runs cells and says what was found: rates, their bounds, and whether each gate holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.levels.cells import SEED, Cell, Experiment, Mask, generator
from repro.stats.counts import clopper_pearson

SIZES = (3, 5, 10, 30)
BETWEEN = (4, 6, 7, 8, 9, 12, 15, 20)
"""Further sizes of the cells that need not hold their level, for the reports that look them up."""
WIDE_SIZES = (3, 4, 5, 8, 10, 20, 30)
WIDE_RATIOS = (1.0, 4.0)
UNEQUAL = (
    *((3, 6), (3, 10), (3, 30), (3, 300), (4, 20), (5, 10), (5, 60)),
    *((8, 16), (8, 40), (8, 300), (20, 60)),
)
UNEQUAL_OF_FIVE = ((5, 30), (5, 300))
"""The same for tests that take no fewer than five, in the place of three or four against many."""
UNEQUAL_RATIOS = (0.25, 1.0, 4.0)
"""Off the grid: the designs that ``off_grid`` adds."""
SD_RATIOS = (1.0, 3.0)
DISTRIBUTIONS = ("normal", "t4")
DRAWS = 100_000
CHUNK = 4_000_000
"""Values held at once."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The error rates of one cell.

    ``error`` is the rate of false conclusions: of false CONFIRMED or of false CONTRADICTED,
    whichever is larger, or of both together where both are false at this null
    (``Experiment.either``). ``upper`` is its one-sided 95 % Clopper-Pearson bound, which must not
    exceed ``limit`` where ``gated``. The coverage of the interval is listed.
    """

    kind: str
    test: str
    n: int
    others: int | None
    sd_ratio: float
    distribution: str
    alpha: float
    draws: int
    confirmed: float
    contradicted: float
    error: float
    upper: float
    coverage: float | None
    gated: bool
    limit: float
    seed: int

    @property
    def holds(self) -> bool:
        """Whether the rate of false conclusions is at most the limit, with confidence."""
        return self.upper <= self.limit

    @property
    def failed(self) -> bool:
        """Whether a gate is broken."""
        return self.gated and not self.holds

    @property
    def verdict(self) -> str:
        """In a word; a listed cell loses its level where the rate itself is above the limit."""
        if self.gated:
            return "holds" if self.holds else "FAILS"
        return "listed, loses its level" if self.error > self.limit else "listed"

    def record(self) -> dict[str, Any]:
        """As plain numbers, for JSON."""
        return {**asdict(self), "verdict": self.verdict}


def grid(
    experiment: Experiment,
    sizes: Iterable[int] = SIZES,
    sd_ratios: Iterable[float] = SD_RATIOS,
    distribution: Iterable[str] = DISTRIBUTIONS,
    alpha: float = 0.05,
) -> Iterator[Cell]:
    """The cells of an experiment that make sense; a design that fixes its size has only that."""
    for n in experiment.sizes or tuple(sizes):
        for ratio in sd_ratios:
            for name in distribution:
                cell = Cell(n, ratio, name, alpha)
                if experiment.has(cell):
                    yield cell


def off_grid(experiment: Experiment) -> Iterator[Cell]:
    """The cells beside ``grid``: sizes between, unequal numbers, other distributions, 4:1."""
    seen = set(grid(experiment))
    for cell in (*_between(experiment), *_wide(experiment)):
        if cell not in seen:
            seen.add(cell)
            yield cell


def _between(experiment: Experiment) -> Iterator[Cell]:
    """The listed cells of an experiment at the sizes between; none where the size is fixed."""
    if experiment.sizes is None:
        yield from (cell for cell in grid(experiment, BETWEEN) if not experiment.is_gated(cell))


def _wide(experiment: Experiment) -> Iterator[Cell]:
    """Where default tests may lose their level: each distribution with each design."""
    yield from grid(experiment, WIDE_SIZES, WIDE_RATIOS, experiment.wide)
    few = UNEQUAL_OF_FIVE if experiment.fewest == UNEQUAL_OF_FIVE[0][0] else ()
    for n, others in (*UNEQUAL, *few):
        for ratio in UNEQUAL_RATIOS:
            for name in experiment.wide:
                cell = Cell(n, ratio, name, others=others)
                if experiment.has(cell):
                    yield cell


def measure(
    experiment: Experiment,
    cell: Cell,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    coverage: bool = True,
) -> Rate:
    """Judges so many draws at the boundary of the null, or fewer where they are dear."""
    draws = min(draws, experiment.most_draws)
    setup = experiment.make(cell)
    rng = generator(experiment.name, cell, seed)
    width = sum(arm.size for arm in setup.draw(np.random.default_rng(0), 1))
    covers = setup.rule.covers if coverage and setup.truth is not None else None
    hits = np.zeros(3, dtype=int)
    left = draws
    while left:
        size = min(left, max(1, CHUNK // width))
        data = setup.draw(rng, size)
        outcome = setup.rule.decide(data)
        covered = np.zeros(size, bool)
        if covers is not None and setup.truth is not None:
            covered = covers(data, setup.truth)
        hits += [_count(outcome.confirmed), _count(outcome.contradicted), _count(covered)]
        left -= size
    confirmed, contradicted, inside = (int(hit) for hit in hits)
    errors = confirmed + contradicted if experiment.either else max(confirmed, contradicted)
    return Rate(
        kind=experiment.kind,
        test=experiment.test,
        n=cell.n,
        others=cell.others,
        sd_ratio=cell.sd_ratio,
        distribution=cell.distribution,
        alpha=cell.alpha,
        draws=draws,
        confirmed=confirmed / draws,
        contradicted=contradicted / draws,
        error=errors / draws,
        upper=upper_bound(errors, draws),
        coverage=None if covers is None else inside / draws,
        gated=experiment.is_gated(cell),
        limit=experiment.limit(cell),
        seed=seed,
    )


def upper_bound(hits: int, draws: int) -> float:
    """The one-sided 95 % Clopper-Pearson bound of a rate."""
    return clopper_pearson(hits, draws, level=0.90).high


def _count(mask: Mask) -> int:
    return int(np.count_nonzero(mask))
