"""Stages of a search -> trials; trials and the store -> outcomes, ranked."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from repro.specs.configuration import Configuration
from repro.store.runs import RunStore
from repro.trainers.run import PlannedRun, RunSpec
from repro.tuning.search_file import Changes, Search, Stage, effort

Values = Mapping[str, Sequence[Any]]
"""Path -> the values of it that a stage tries."""


@dataclass(frozen=True)
class Trial:
    """One setting of a stage. ``changes`` are what it tries; ``layers`` those of earlier stages."""

    search: Search
    stage: str
    layers: tuple[Changes, ...]
    changes: Changes

    @cached_property
    def configuration(self) -> Configuration:
        """The whole setting; SpecError where its values do not fit together."""
        return self.search.setting((*self.layers, self.changes), self.stage)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what determines numbers: settings of one digest are one setting."""
        return self.configuration.training().digest()

    @property
    def epochs(self) -> int:
        """Of all its runs, at most."""
        one = effort(self.configuration)
        return 0 if one is None else one.epochs * self.search.spec.seeds

    def runs(self, name: str = "") -> tuple[PlannedRun, ...]:
        """A run per seed, without any measurement: validation losses are in the history.

        ``name`` is what a reader calls the trial.
        """
        training, spec = self.configuration.training(), self.search.spec
        return tuple(
            PlannedRun(
                run=RunSpec(training=training, replicate=number, root=spec.root, streams="paired"),
                measurements=(),
                label=f"{name}, seed {number}",
                arm=name,
            )
            for number in range(spec.seeds)
        )


def trials(
    search: Search, stage: Stage, values: Values, layers: tuple[Changes, ...]
) -> list[Trial]:
    """The trials of a stage around what the stages before have chosen."""
    return [Trial(search, stage.id, layers, changes) for changes in _changes(stage, values)]


def size(stage: Stage, counts: Sequence[int]) -> int:
    """How many trials a stage has, with so many values of each path."""
    return prod(counts) if stage.design == "cross" else 1 + sum(counts)


def _changes(stage: Stage, values: Values) -> Iterator[Changes]:
    """What each trial of a stage changes, in the order of the grid, the last path fastest."""
    if stage.design == "cross":
        for combination in product(*values.values()):
            yield dict(zip(values, combination, strict=True))
        return
    yield {}
    for path, tried in values.items():
        for value in tried:
            yield {path: value}


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """A trial, the best validation loss of each replicate that finished, and how many diverged.

    Losses are in nats per token, of the epoch with the lowest.
    """

    trial: Trial
    losses: tuple[float, ...]
    diverged: int

    @property
    def mean(self) -> float:
        """The mean over the replicates that finished; infinite if none did."""
        return statistics.fmean(self.losses) if self.losses else math.inf

    @property
    def sd(self) -> float | None:
        """Standard deviation over replicates, n - 1 in the denominator; None of fewer than two."""
        return statistics.stdev(self.losses) if len(self.losses) > 1 else None


def outcome(trial: Trial, store: RunStore) -> TrialOutcome:
    """What the histories of a trial's runs say, all of which are done."""
    losses: list[float] = []
    diverged = 0
    for planned in trial.runs():
        key = planned.run.key
        if store.record(key).state == "diverged":
            diverged += 1
            continue
        found = [row["valid_loss"] for row in store.history(key)]
        losses.append(min(loss for loss in found if isinstance(loss, float)))
    return TrialOutcome(trial, tuple(losses), diverged)


def ranked(outcomes: Sequence[TrialOutcome]) -> list[TrialOutcome]:
    """The best first: the fewest diverged, then the lowest mean, then the first as given."""
    return sorted(outcomes, key=lambda one: (one.diverged, one.mean))


def kept(stage: Stage, values: Values, outcomes: Sequence[TrialOutcome]) -> dict[str, list[Any]]:
    """The values of each path that the next stage takes, in the order of the grid.

    A value is as good as the best trial of the stage that tried it; one that has none without a
    divergence is never kept, and a path of which that is true of all is left out: it stays what
    it was.
    """
    sound = [one for one in outcomes if not one.diverged]
    result = {}
    for path, tried in values.items():
        means = [[one.mean for one in sound if _tries(one, path, value)] for value in tried]
        best = sorted((min(found), place) for place, found in enumerate(means) if found)
        chosen = [tried[place] for place in sorted(place for _, place in best[: stage.keep])]
        if chosen:
            result[path] = chosen
    return result


def _tries(outcome: TrialOutcome, path: str, value: Any) -> bool:
    return path in outcome.trial.changes and outcome.trial.changes[path] == value
