"""A search for hyper-parameters: stages as trials, their cost, run one by one, ranked, written."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from pathlib import Path
from typing import Any

from repro.errors import ClaimError, CodeError, OutputError, Problem, RunError, SpecError
from repro.machine import cores
from repro.running.engine import RunOptions
from repro.running.plan import make_plan
from repro.running.preflight import require
from repro.schema.numbers import number_of
from repro.schema.yaml import Steps
from repro.specs.configuration import Configuration, Tuning, dotted, overlap, value_at
from repro.store.run_store import RunStore
from repro.trainers.run import PlannedRun, RunSpec
from repro.trainers.trainer import FLOPS_PER_CORE, cost
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
        per_run = effort(self.configuration)
        return 0 if per_run is None else per_run.epochs * self.search.spec.seeds

    def runs(self, name: str = "") -> tuple[PlannedRun, ...]:
        """A run per seed, labelled by ``name``, without any measurement."""
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
    """The trials of a stage around what the stages before have chosen.

    They are in the order of the grid, the last path fastest.
    """
    changes: list[Changes] = [{}]
    if stage.design == "cross":
        changes = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
    else:
        changes += [{path: value} for path, tried in values.items() for value in tried]
    return [Trial(search, stage.id, layers, each) for each in changes]


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
    return sorted(outcomes, key=lambda outcome: (outcome.diverged, outcome.mean))


def kept(stage: Stage, values: Values, outcomes: Sequence[TrialOutcome]) -> dict[str, list[Any]]:
    """The values of each path that the next stage takes, in the order of the grid.

    A value is as good as the best trial of the stage that tried it without a divergence. A value
    without such a trial is never kept, and a path without such a value is left out.
    """
    sound = [each for each in outcomes if not each.diverged]
    result = {}
    for path, tried in values.items():
        means = [
            [each.mean for each in sound if (path, value) in each.trial.changes.items()]
            for value in tried
        ]
        best = sorted((min(found), place) for place, found in enumerate(means) if found)
        chosen = [tried[place] for place in sorted(place for _, place in best[: stage.keep])]
        if chosen:
            result[path] = chosen
    return result


MOST_PRICED = 10_000  # settings beyond the budget; more are counted, but not looked at


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
    """All stages of a search, and why it may not be run, if it may not."""

    search: Search
    stages: tuple[StagePlan, ...]
    workers: int

    @property
    def settings(self) -> int:
        """The number of settings of all stages; one that two stages share counts twice."""
        return sum(stage.settings for stage in self.stages)

    @property
    def epochs(self) -> int:
        return sum(stage.epochs for stage in self.stages)

    @property
    def seconds(self) -> float:
        """Very roughly, with none of the runs in the store; 0 where the settings are not priced."""
        return sum(stage.work for stage in self.stages) / FLOPS_PER_CORE / self.workers

    @property
    def problems(self) -> list[Problem]:
        """Where the search is beyond its budget."""
        return over_budget(self.search, self.settings, self.epochs)

    def refuse(self) -> None:
        """SpecError if the search is not within its budget."""
        if self.problems:
            raise SpecError(self.problems)


def plan_search(search: Search, *, workers: int | None = None) -> SearchPlan:
    """What a search trains at most; it needs neither the store nor the corpus.

    Every stage is priced as if it began with the base; one without a grid by the dearest setting
    of the stage whose values it keeps. Raises SpecError for settings that do not fit together.
    """
    plans = []
    counts: list[int] = []
    keep = None
    for stage in search.spec.stages:
        if stage.grid is not None:
            counts = [len(values) for values in stage.grid.values()]
        elif keep is not None:
            counts = [min(keep, count) for count in counts]
        settings = math.prod(counts) if stage.design == "cross" else 1 + sum(counts)
        plans.append(StagePlan(stage.id, stage.design, settings))
        keep = stage.keep
    if sum(plan.settings for plan in plans) <= max(search.spec.budget.settings, MOST_PRICED):
        plans = _priced(search, plans)
    return SearchPlan(search, tuple(plans), workers or cores())


def over_budget(search: Search, settings: int, epochs: int) -> list[Problem]:
    """Where so many settings, and epochs of their runs, are more than the search has declared."""
    per_run = effort(search.base)
    tokens = epochs * (0 if per_run is None else per_run.tokens)
    problems = []
    for name, found in (("settings", settings), ("epochs", epochs), ("tokens", tokens)):
        declared = getattr(search.spec.budget, name)
        if declared is not None and found > declared:
            mistake = f"the stages take up to {found:,}, and {declared:,} are declared"
            expected = f"at most {declared:,} {name} in all"
            advice = "take values out of the grids, or declare what they take"
            steps: Steps = ("budget", name)
            problems.append(search.document.problem(steps, mistake, expected, advice))
    return problems


def distinct(found: Sequence[Trial]) -> list[Trial]:
    """The trials of which none before has the same setting."""
    first: dict[str, Trial] = {}
    for trial in found:
        first.setdefault(trial.digest, trial)
    return list(first.values())


def _priced(search: Search, plans: Sequence[StagePlan]) -> list[StagePlan]:
    """The plans with their costs; the first, whose settings are known, with their exact number."""
    priced: list[StagePlan] = []
    known: list[Trial] = []
    for number, (stage, plan) in enumerate(zip(search.spec.stages, plans, strict=True)):
        if stage.grid is not None:
            known = distinct(trials(search, stage, stage.grid, ()))
        settings = plan.settings if number else len(known)
        epochs = [trial.epochs for trial in known]
        work = [sum(cost(run).total for run in trial.runs()) for trial in known]
        if stage.grid is None or settings > len(known):
            epochs, work = [max(epochs)] * settings, [max(work)] * settings
        priced.append(replace(plan, settings=settings, epochs=sum(epochs), work=sum(work)))
    return priced


@dataclass(frozen=True, slots=True)
class Tuned:
    """What came of a search, or of its first stages: the outcome of every trial, in order."""

    search: Search
    trials: tuple[TrialOutcome, ...]

    @property
    def outcomes(self) -> tuple[TrialOutcome, ...]:
        """Every setting once, where it was tried first."""
        first: dict[str, TrialOutcome] = {}
        for each in self.trials:
            first.setdefault(each.trial.digest, each)
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
        settings = distinct([*(each.trial for each in done), *found])
        epochs = sum(trial.epochs for trial in settings)
        if problems := over_budget(search, len(settings), epochs):
            raise SpecError(problems)
        try:
            _train(distinct(found), options)
        except CodeError as error:
            places = {code.use: code.arm for code in search.code}
            located = {use: places.get(use, search.document.file) for use in error.found}
            raise CodeError(located, error.outside) from None
        outcomes = [outcome(trial, options.store) for trial in found]
        done += outcomes
        best = Tuned(search, tuple(done)).best.trial
        layers = (*best.layers, best.changes)
        values = dict(kept(stage, values, outcomes)) if stage.keep else values
    return Tuned(search, tuple(done))


def _train(found: Sequence[Trial], options: RunOptions) -> None:
    """Do the runs of some trials; PreflightError where they cannot be, RunError where one fails."""
    from repro.running.execute import execute_with  # noqa: PLC0415 - a plan needs no engine

    runs = [
        planned
        for number, trial in enumerate(found, start=1)
        for planned in trial.runs(f"{trial.stage} {number}")
    ]
    require(make_plan(runs, options.store).missing, options)
    _, failed = execute_with(options, runs)
    if failed:
        raise RunError(list(failed))


def rows(tuned: Tuned) -> list[dict[str, str]]:
    """Every setting, the best first, with the values of all paths that any stage tries."""
    return [
        {
            "rank": str(rank),
            "stage": each.trial.stage,
            **{
                path: ("" if value is None else json.dumps(value))
                for path, value in _values(tuned, each).items()
            },
            "valid_loss": f"{each.mean:.5f}" if each.losses else "",
            "sd": "" if each.sd is None else f"{each.sd:.5f}",
            "seeds": str(len(each.losses)),
            "diverged": str(each.diverged),
            "setting": each.trial.digest[:12],
        }
        for rank, each in enumerate(ranked(tuned.outcomes), start=1)
    ]


def write_tuned(tuned: Tuned, folder: Path) -> list[Path]:
    """Write `<search>.yaml`, the chosen configuration, and `<search>.csv`, all settings.

    A file that is there with the same text is left as it is; OutputError where it has another.
    """
    table, found = io.StringIO(), rows(tuned)
    writer = csv.DictWriter(table, list(found[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    chosen = "".join(f"{line}\n" for line in _lines(document(tuned)))
    name = tuned.search.spec.search
    files = {folder / f"{name}.yaml": chosen, folder / f"{name}.csv": table.getvalue()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        missing = [path for path in files if not path.exists()]
        for path, text in files.items():
            if path not in missing and path.read_bytes() != text.encode():
                mistake = "there is another one, which is never overwritten"
                raise FileExistsError(errno.EEXIST, mistake, str(path))
        for path in missing:
            with path.open("x", encoding="utf-8") as stream:
                stream.write(files[path])
    except OSError as error:
        raise OutputError(error.filename or folder, error) from None
    return list(files)


def document(tuned: Tuned) -> dict[str, Any]:
    """The chosen configuration as it is written: how it was found, and why each value."""
    search, best = tuned.search, tuned.best
    spec, base, chosen = search.spec, search.base, best.trial.configuration
    settings, values = len(tuned.outcomes), _values(tuned, best)
    how = f"the best of {number_of(settings, 'setting')} by validation loss"
    reason = f"chosen by the search '{spec.search}': {how}, {number_of(spec.seeds, 'seed')} each"
    fixed = f"changed in the base of the search '{spec.search}'"
    assumed = dict.fromkeys(_there(chosen, search.overridden), fixed) | {
        path: why
        for path, why in chosen.assumed.items()
        if not any(overlap(path, tried) for tried in values)
    }
    source = f"search '{spec.search}', root {spec.root}: {spec.source}"
    tuning = Tuning(settings=settings, selected_on="valid", source=source[:600])
    if base.tuning is not None:  # a base chosen on the test split makes this so chosen too
        tried, split = base.tuning.settings, base.tuning.selected_on
        before = f"; its base was chosen among {tried:,} before, on {split}"
        source = source[: 600 - len(before)] + before
        tuning = Tuning(settings=settings + tried, selected_on=split, source=source)
    update = {
        "title": f"{base.title}, tuned by {spec.search}",
        "assumed": assumed | dict.fromkeys(_there(chosen, values), reason),
        "tuning": tuning,
    }
    written = chosen.model_copy(update=update).model_dump(mode="json", by_alias=True)
    return (
        type(chosen)
        .model_validate_json(json.dumps(written))
        .model_dump(mode="json", by_alias=True, exclude_none=True)
    )


def _there(chosen: Configuration, paths: Iterable[str]) -> Iterator[str]:
    """Each path, or its beginning that leads to a value; not one that leads to none, as a title."""
    values = set(dotted(chosen.training().model_dump(mode="json")))
    for path in paths:
        steps = path.split(".")
        beginnings = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
        yield from islice((path for path in beginnings if path in values), 1)


def _values(tuned: Tuned, outcome: TrialOutcome) -> dict[str, Any]:
    """The values that a setting has at all paths that any stage tries; None where it has none."""
    paths = dict.fromkeys(p for stage in tuned.search.spec.stages for p in stage.grid or {})
    training = outcome.trial.configuration.training().model_dump(mode="json", exclude_none=True)
    return {path: value_at(training, path) for path in paths}


def _lines(data: dict[str, Any], indent: str = "") -> Iterator[str]:
    """A mapping in YAML: blocks of `key: value`, each value as in JSON, which is YAML too."""
    for key, value in data.items():
        if isinstance(value, dict) and value:
            yield f"{indent}{key}:"
            yield from _lines(value, f"{indent}  ")
        else:
            yield f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}"
