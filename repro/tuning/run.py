"""A search, run: stage by stage into the store, each stage from what the one before has shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repro.errors import (
    ClaimError,
    CodeError,
    RunError,
    SpecError,
)
from repro.execution.options import RunOptions
from repro.plan import state_of
from repro.preflight import require
from repro.specs.load_search import Changes, Search
from repro.specs.run import PlannedRun
from repro.tuning.plan import distinct, over_budget, plan_search
from repro.tuning.ranking import TrialOutcome, kept, outcome, ranked
from repro.tuning.trials import Trial, trials


@dataclass(frozen=True, slots=True)
class Tuned:
    """What came of a search, or of its first stages: the outcome of every trial, in order."""

    search: Search
    trials: tuple[TrialOutcome, ...]

    @property
    def outcomes(self) -> tuple[TrialOutcome, ...]:
        """Of every setting, once, where it was tried first."""
        first: dict[str, TrialOutcome] = {}
        for one in self.trials:
            first.setdefault(one.trial.digest, one)
        return tuple(first.values())

    @property
    def best(self) -> TrialOutcome:
        """The setting that is chosen; ClaimError if there is none without a divergence."""
        best = ranked(self.outcomes)[0]
        if best.diverged:
            raise ClaimError(
                f"{self.search.document.file}: at least one replicate of every setting diverged, "
                "so none can be chosen\n  to do: try lower learning rates, as another search"
            )
        return best


def tune(search: Search, options: RunOptions) -> Tuned:
    """Train every setting that the store lacks, stage by stage.

    Raises SpecError when the search exceeds its budget, RunError when a run failed, ClaimError
    when every setting diverged, and what ``execute`` raises.
    """
    plan_search(search).refuse()
    done: list[TrialOutcome] = []
    layers: tuple[Changes, ...] = ()
    values: dict[str, Sequence[Any]] = {}
    for stage in search.spec.stages:
        values = dict(stage.grid) if stage.grid is not None else values
        found = trials(search, stage, values, layers)
        _stay_in_budget(search, [*(one.trial for one in done), *found])
        try:
            _train(distinct(found), options)
        except CodeError as error:
            raise CodeError(_placed(error.found, search)) from None
        outcomes = [outcome(trial, options.store) for trial in found]
        done += outcomes
        best = Tuned(search, tuple(done)).best.trial
        layers = (*best.layers, best.changes)
        values = dict(kept(stage, values, outcomes)) if stage.keep else values
    return Tuned(search, tuple(done))


def _placed(found: Mapping[str, str], search: Search) -> dict[str, str]:
    """The same sentences, with the place in the search file that leads to the code."""
    places = {code.use: f"{code.arm}: {code.place} names it" for code in search.code}
    file = search.document.file
    return {use: f"{places.get(use, file)}: {said}" for use, said in found.items()}


def _stay_in_budget(search: Search, found: Sequence[Trial]) -> None:
    """Refuse a stage whose settings, now that they are known, take more than was declared."""
    runs = [run for trial in distinct(found) for run in trial.runs()]
    epochs = sum(planned.run.training.recipe.most_epochs for planned in runs)
    problems = list(over_budget(search, len(distinct(found)), epochs))
    if problems:
        raise SpecError(problems)


def _train(found: Sequence[Trial], options: RunOptions) -> None:
    """Do the runs of some trials; PreflightError where they cannot be, RunError where one fails."""
    from repro.execution.execute import execute_with  # noqa: PLC0415 - a plan needs no engine

    runs: list[PlannedRun] = []
    labels: dict[str, str] = {}
    settings: dict[str, str] = {}
    for number, trial in enumerate(found, start=1):
        for planned in trial.runs():
            runs.append(planned)
            settings[planned.run.key] = f"{trial.stage} {number}"
            labels[planned.run.key] = f"{trial.stage} {number}, seed {planned.run.replicate}"
    missing = [planned for planned in runs if state_of(options.store, planned)[0] == "missing"]
    require(missing, settings, options)
    _, failed = execute_with(options, runs, labels)
    if failed:
        raise RunError(list(failed))
