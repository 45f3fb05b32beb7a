"""Trials and the store -> outcomes, their order, and the values that are kept."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from repro.specs.search import Stage
from repro.store import RunStore
from repro.tuning.trials import Trial, Values


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """A trial, the best validation loss of each replicate that finished, and how many diverged.

    Losses are in nats a token, of the epoch with the lowest.
    """

    trial: Trial
    losses: tuple[float, ...]
    diverged: int

    @property
    def mean(self) -> float:
        """Of the replicates that finished; infinite if none did."""
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


def _tries(one: TrialOutcome, path: str, value: Any) -> bool:
    return path in one.trial.changes and one.trial.changes[path] == value
