"""Runs cells and says what was found: rates, their bounds, and whether each gate holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.levels.cells import SEED, Cell, Experiment, Mask, generator
from repro.stats.bound import clopper_pearson

SIZES = (3, 5, 10, 30)
BETWEEN = (4, 6, 7, 8, 9, 12, 15, 20)
"""Further sizes of the cells that need not hold their level, for the reports that look them up."""
SD_RATIOS = (1.0, 3.0)
TAILS = ("normal", "t4")
DRAWS = 100_000
CHUNK = 4_000_000
"""Values held at once."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The error rates of one cell.

    ``upper`` is the one-sided 95 % Clopper-Pearson bound of the rate of false CONFIRMED, which
    must not exceed ``limit`` where ``gated``. The rate of false CONTRADICTED and the coverage of
    the interval are listed.
    """

    kind: str
    test: str
    n: int
    sd_ratio: float
    tails: str
    alpha: float
    draws: int
    confirmed: float
    upper: float
    contradicted: float
    coverage: float | None
    gated: bool
    limit: float

    @property
    def holds(self) -> bool:
        """Whether the rate of false CONFIRMED is at most the limit, with confidence."""
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
        return "listed, loses its level" if self.confirmed > self.limit else "listed"

    def record(self) -> dict[str, Any]:
        """As plain numbers, for JSON."""
        return {**asdict(self), "verdict": self.verdict}


def grid(
    experiment: Experiment,
    sizes: Iterable[int] = SIZES,
    sd_ratios: Iterable[float] = SD_RATIOS,
    tails: Iterable[str] = TAILS,
    alpha: float = 0.05,
) -> Iterator[Cell]:
    """The cells of an experiment that make sense; a design that fixes its size has only that."""
    for n in experiment.sizes or tuple(sizes):
        for ratio in sd_ratios:
            for name in tails:
                cell = Cell(n, ratio, name, alpha)
                if experiment.has(cell):
                    yield cell


def between(experiment: Experiment) -> Iterator[Cell]:
    """The listed cells of an experiment at the sizes between; none where the size is fixed."""
    if experiment.sizes is None:
        yield from (cell for cell in grid(experiment, BETWEEN) if not experiment.gated(cell))


def measure(
    experiment: Experiment,
    cell: Cell,
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    coverage: bool = True,
) -> Rate:
    """Judges so many draws at the boundary of the null, or as many as the experiment allows."""
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
    return Rate(
        kind=experiment.kind,
        test=experiment.test,
        n=cell.n,
        sd_ratio=cell.sd_ratio,
        tails=cell.tails,
        alpha=cell.alpha,
        draws=draws,
        confirmed=confirmed / draws,
        upper=upper_bound(confirmed, draws),
        contradicted=contradicted / draws,
        coverage=None if covers is None else inside / draws,
        gated=experiment.gated(cell),
        limit=cell.alpha + experiment.tolerance,
    )


def upper_bound(hits: int, draws: int) -> float:
    """The one-sided 95 % Clopper-Pearson bound of a rate."""
    return clopper_pearson(hits, draws, level=0.90).high


def _count(mask: Mask) -> int:
    return int(np.count_nonzero(mask))
