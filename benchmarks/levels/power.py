"""Power and coverage: what the design doctor promises, and what comes out."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.levels.cells import SEED, Cell, Setup, generator
from benchmarks.levels.measure import CHUNK, DRAWS
from benchmarks.levels.plans import Plan
from repro.stats.planning import power_of_test

ERRORS = 4
"""Standard errors by which promise and outcome may differ by chance (1 in 16,000)."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What was promised and what came out; ``error`` is the Monte Carlo error of the difference."""

    kind: str
    plan: str
    n: int
    sd: tuple[float, ...]
    effect: float
    draws: int
    promised: float
    power: float
    error: float
    promised_coverage: float | None
    coverage: float | None
    coverage_at_least: bool

    @property
    def power_kept(self) -> bool:
        """Whether the power is the promised one, within Monte Carlo error."""
        return abs(self.power - self.promised) <= ERRORS * self.error

    @property
    def coverage_kept(self) -> bool:
        """Whether the interval covers as promised, within Monte Carlo error."""
        if self.coverage is None or self.promised_coverage is None:
            return True
        level = self.promised_coverage
        reach = ERRORS * math.sqrt(level * (1 - level) / self.draws)
        excess = self.coverage - level
        return excess >= -reach and (self.coverage_at_least or excess <= reach)

    def record(self) -> dict[str, Any]:
        """As plain numbers, for JSON."""
        return {**asdict(self), "kept": self.power_kept and self.coverage_kept}


def keep(plan: Plan, *, draws: int = DRAWS, seed: int = SEED) -> Promise:
    """Simulates a planned design and holds the outcome against the promise."""
    promised, promise_error = power_of_test(plan.planned)
    draws = min(draws, plan.most_draws)
    rng = generator(plan.name, Cell(plan.planned.n[0]), seed)
    confirmed, covered = _simulate(plan.setup, rng, draws)
    own = max(promised * (1 - promised), 1 / draws) / draws
    known = plan.level is not None
    return Promise(
        kind=plan.kind,
        plan=plan.name,
        n=plan.planned.n[0],
        sd=plan.planned.sd,
        effect=plan.planned.truth,
        draws=draws,
        promised=promised,
        power=confirmed / draws,
        error=math.hypot(math.sqrt(own), promise_error or 0.0),
        promised_coverage=plan.level,
        coverage=covered / draws if known else None,
        coverage_at_least=plan.at_least,
    )


def _simulate(setup: Setup, rng: np.random.Generator, draws: int) -> tuple[int, int]:
    width = sum(arm.size for arm in setup.draw(np.random.default_rng(0), 1))
    confirmed = covered = 0
    left = draws
    while left:
        size = min(left, max(1, CHUNK // width))
        data = setup.draw(rng, size)
        confirmed += int(np.count_nonzero(setup.rule.decide(data).confirmed))
        if setup.rule.covers is not None and setup.truth is not None:
            covered += int(np.count_nonzero(setup.rule.covers(data, setup.truth)))
        left -= size
    return confirmed, covered
