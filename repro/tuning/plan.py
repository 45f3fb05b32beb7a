"""A search -> what it would train and cost, and whether that is within its declared budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repro.errors import Problem, SpecError
from repro.machine import cores
from repro.specs.load_search import Search
from repro.store.work import FLOPS_PER_CORE, cost
from repro.tuning.trials import Trial, size, trials

MOST_PRICED = 10_000
"""Settings that are looked at one by one although they are too many; more are only counted."""


@dataclass(frozen=True, slots=True)
class StagePlan:
    """One stage at most: its settings, and the epochs and the work of all their runs together."""

    id: str
    design: str
    settings: int
    epochs: int = 0
    work: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """All stages, and why the search may not be run, if it may not."""

    stages: tuple[StagePlan, ...]
    problems: tuple[Problem, ...]
    workers: int

    @property
    def settings(self) -> int:
        """Of all stages; one that two of them have counts twice."""
        return sum(stage.settings for stage in self.stages)

    @property
    def epochs(self) -> int:
        """Of all runs."""
        return sum(stage.epochs for stage in self.stages)

    @property
    def seconds(self) -> float:
        """Very roughly, with none of the runs in the store; 0 where the settings are not priced."""
        return sum(stage.work for stage in self.stages) / FLOPS_PER_CORE / self.workers

    def refuse(self) -> None:
        """SpecError if the search is not within its budget."""
        if self.problems:
            raise SpecError(list(self.problems))


def plan_search(search: Search, *, workers: int | None = None) -> SearchPlan:
    """What a search trains at most; it needs neither the store nor the corpus.

    What a stage begins with is known only when those before it are done; it is priced as if it
    began with the base. One without a grid is priced by the dearest setting of the stage whose
    values it keeps. Raises SpecError for settings that do not fit together.
    """
    sizes = _sizes(search)
    named = [(stage.id, stage.design) for stage in search.spec.stages]
    plans = [StagePlan(*name, settings) for name, settings in zip(named, sizes, strict=True)]
    if sum(sizes) <= max(search.spec.budget.settings, MOST_PRICED):
        plans = _priced(search, plans)
    settings, epochs = (sum(getattr(p, name) for p in plans) for name in ("settings", "epochs"))
    problems = tuple(over_budget(search, settings, epochs))
    return SearchPlan(tuple(plans), problems, workers or cores())


def over_budget(search: Search, settings: int, epochs: int) -> Iterator[Problem]:
    """Where so many settings, and epochs of their runs, are more than the search has declared."""
    budget, tokens = search.spec.budget, epochs * search.base.corpus.tokens.train
    for name, declared, found in (
        ("settings", budget.settings, settings),
        ("epochs", budget.epochs, epochs),
        ("tokens", budget.tokens, tokens),
    ):
        if declared is not None and found > declared:
            what = f"budget.{name}: the stages take up to {found:,}, and {declared:,} are declared"
            advice = "take values out of the grids, or declare what they take"
            place = search.document.place(("budget", name))
            yield Problem(place, what, f"at most {declared:,} {name} in all", advice)


def distinct(found: Sequence[Trial]) -> list[Trial]:
    """The trials of which none before has the same setting."""
    first: dict[str, Trial] = {}
    for trial in found:
        first.setdefault(trial.digest, trial)
    return list(first.values())


def _sizes(search: Search) -> list[int]:
    """How many trials each stage has at most."""
    sizes: list[int] = []
    counts: list[int] = []
    keep = None
    for stage in search.spec.stages:
        if stage.grid is not None:
            counts = [len(values) for values in stage.grid.values()]
        elif keep is not None:
            counts = [min(keep, count) for count in counts]
        sizes.append(size(stage, counts))
        keep = stage.keep
    return sizes


def _priced(search: Search, plans: Sequence[StagePlan]) -> list[StagePlan]:
    """The plans with their costs; the first, whose settings are known, with their exact number."""
    priced: list[StagePlan] = []
    known: list[Trial] = []
    for number, (stage, plan) in enumerate(zip(search.spec.stages, plans, strict=True)):
        if stage.grid is not None:
            known = distinct(trials(search, stage, stage.grid, ()))
        settings = plan.settings if number else len(known)
        epochs = [sum(run.run.training.recipe.most_epochs for run in t.runs()) for t in known]
        work = [sum(cost(run).total for run in trial.runs()) for trial in known]
        if stage.grid is None or settings > len(known):
            epochs, work = [max(epochs)] * settings, [max(work)] * settings
        priced.append(StagePlan(plan.id, plan.design, settings, sum(epochs), sum(work)))
    return priced
