"""Over data sets that stand for others of their sort: is a better than b on average?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from repro.errors import ClaimError
from repro.expectations.base import Found, PlannedSeeds, Read
from repro.expectations.declared import Context, Mistake
from repro.expectations.phrases import digits
from repro.expectations.tasks import TasksClaim, TasksKind, of_each_task, runs_of
from repro.schema import numbers as fmt
from repro.stats.records import Arm, TestResult, expect

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest


class MetaAnalysis(TasksClaim):
    """a is better than b on average over tasks like these, equal to it, or not worse.

    The tasks stand for others: the interval holds for the mean effect of tasks of their sort, and
    the report says where the effect of a new one lies. ``weights: inverse_variance`` are those of
    Hartung, Knapp, Sidik and Jonkman; they err too often with few runs per task, and need
    ``runs: per_task``. Where a run is of all tasks, tasks and seeds both count.
    """

    kind: Literal["meta_analysis"]
    weights: Literal["equal", "inverse_variance"] = "equal"


WEIGHTS = "weights by inverse variances take the runs of each task apart"


class MetaAnalysisKind(TasksKind[MetaAnalysis]):
    """Random effects of tasks; both the tasks and their runs are drawn by chance."""

    Declared = MetaAnalysis
    plans_effects = True

    def least_seeds(self, declared: MetaAnalysis, alpha: float, *, paired: bool) -> int:
        """Of equal weights one: the tasks, and not their runs, say how effects vary."""
        return 1 if declared.weights == "equal" and declared.runs != "across_tasks" else 2

    def mistakes(self, declared: MetaAnalysis, context: Context) -> Iterator[Mistake]:
        if declared.weights == "inverse_variance" and declared.runs == "across_tasks":
            mistake, advice = f"{WEIGHTS}, and here a run is of all", "leave out the weights"
            yield Mistake(("weights",), mistake, "equal weights", advice)
        yield from super().mistakes(declared, context)

    def test(self, declared: MetaAnalysis, context: Context, read: Read) -> TestResult:
        from repro.stats.crossed import DECLARE, meta_analysis_over_seeds
        from repro.stats.random_effects import meta_analysis

        (a, b), weights = self.samples(declared, context, read), declared.weights
        region = self.region(declared, context)
        if not declared.by_seed:
            return meta_analysis(a, b, region=region, weights=weights, alpha=context.alpha)
        if weights == "inverse_variance":
            raise ClaimError(
                f"{WEIGHTS}, and seeds of one number are taken for one run on all",
                advice=f"leave out the weights, or {DECLARE}",
            )
        return meta_analysis_over_seeds(a, b, region=region, **context.level)

    def compared(self, declared: MetaAnalysis, context: Context, read: Read) -> list[Arm]:
        """The mean of each seed, where a run is of all tasks."""
        from repro.stats.crossed import Crossed

        if not declared.by_seed:
            return super().compared(declared, context, read)
        crossed = Crossed.of(*self.samples(declared, context, read))
        return [*crossed.by_seed("mean", "higher")]

    def planned(self, declared: MetaAnalysis, context: Context, plan: PlannedSeeds) -> PlannedTest:
        from repro.stats.random_effects import PlannedMetaAnalysis

        if declared.weights == "inverse_variance":
            raise ClaimError("no power is computed for weights by inverse variances")
        if declared.runs == "across_tasks":
            raise ClaimError("no power is computed where the scatter of tasks and of seeds counts")
        low, high = self.gain(declared)
        tasks = len(declared.tasks)
        return PlannedMetaAnalysis(**plan.design(context), low=low, high=high, tasks=tasks)

    def on_power(self, declared: MetaAnalysis, context: Context, plan: PlannedSeeds) -> str:
        if declared.runs == "per_task":
            return ""
        return "Each task is taken to have runs of its own; where a run is of all, it is less."

    def doubt(self, declared: MetaAnalysis, context: Context, read: Read) -> str:
        """Effects of tasks that are skewed, or some far from the others."""
        from repro.stats.error_rates import level_of_effects
        from repro.stats.task_aggregates import matched_tasks

        if declared.weights != "equal":
            return ""
        names, a, b = matched_tasks(*self.samples(declared, context, read), fewest=1)
        del names
        return level_of_effects([x.mean() - y.mean() for x, y in zip(a, b, strict=True)]) or ""

    def measured(self, declared: MetaAnalysis, context: Context) -> str:
        tasks = fmt.number_of(len(declared.tasks), "task")
        seeds = " and of seeds" if declared.runs == "across_tasks" else ""
        return f"{context.measured(declared)}, random effects of {tasks}{seeds}"

    def name_of_test(self, declared: MetaAnalysis, context: Context) -> str:
        if declared.by_seed:
            return "random effects of tasks and of seeds, equal weights, one-sided"
        weights = "equal weights" if declared.weights == "equal" else "inverse variances"
        return f"random effects by Hartung and Knapp, {weights}, one-sided"

    def sentence(self, declared: MetaAnalysis, context: Context, found: Found) -> str:
        from repro.stats.random_effects import MetaAnalysisResult

        result = expect(found.result, MetaAnalysisResult)
        change = digits(fmt.plus, found.digits)
        low, high = (change(end, 0) for end in (result.prediction.low, result.prediction.high))
        level = fmt.percent(result.prediction.level)
        new = f"On a new task of their sort the effect lies between {low} and {high} ({level})."
        return f"{super().sentence(declared, context, found)} {new}"

    def details(
        self, declared: MetaAnalysis, context: Context, result: TestResult
    ) -> dict[str, str]:
        """The interval of a new task, how much the tasks differ, and the effect in each."""
        from repro.stats.random_effects import MetaAnalysisResult

        found = expect(result, MetaAnalysisResult)
        shown = context.measurement(declared).digits
        parts = {task: fmt.plus(part, shown) for task, part in found.parts.items()}
        facts = {"tasks": str(found.tasks), **runs_of(found.runs, by_seed=declared.by_seed)}
        if found.heterogeneity is not None:
            tasks = found.heterogeneity
            facts |= {
                "standard_deviation_between_tasks": fmt.fixed(tasks.tau, shown + 1),
                "i_squared": fmt.share(tasks.i_squared),
                "all_tasks_alike": fmt.p_value(tasks.p),
            }
        return {**facts, "effect_in_each_task": of_each_task(parts)}
