"""Over data sets that stand for others of their sort: is a better than b on average?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from repro.errors import ClaimError
from repro.expectations.base import Found, OtherTest, PlannedSeeds, Read
from repro.expectations.decision_rules import by_p
from repro.expectations.declared import Context, Mistake
from repro.expectations.exact import least_pairs
from repro.expectations.phrases import digits
from repro.expectations.tasks import TasksClaim, TasksKind, of_each_task, runs_of
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.stats.records import Arm, TestResult, expect

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest


class MetaAnalysis(TasksClaim):
    """a is better than b over tasks like these, equal to it, or not worse.

    The tasks stand for others: the interval holds for the mean effect of tasks of their sort, and
    the report says where the effect of a new one lies. ``weights: inverse_variance`` are those of
    Hartung, Knapp, Sidik and Jonkman; they err too often with few runs per task, and need
    ``runs: per_task``. Where a run is of all tasks, tasks and seeds both count.

    ``test`` compares the effects of the tasks, for which one run of each arm per task will do: by
    Student's ``t`` their mean, which with one run is the paired t-test over tasks; by
    ``wilcoxon``, the signed-rank test, or by ``sign`` their median.
    """

    kind: Literal["meta_analysis"]
    weights: Literal["equal", "inverse_variance"] = "equal"
    test: Literal["t", "wilcoxon", "sign"] = "t"


WEIGHTS = "weights by inverse variances take the runs of each task apart"

TESTS: Mapping[str, str] = {
    "t": "Student's t of the effects of tasks",
    "wilcoxon": "Wilcoxon's signed-rank test of the effects of tasks",
    "sign": "sign test of the effects of tasks",
}

AVERAGES: Mapping[str, str] = {
    "t": "random effects",
    "wilcoxon": "pseudomedian effect",
    "sign": "median effect",
}

INDEPENDENT = "ranks and signs take the effects of tasks for independent"


class MetaAnalysisKind(TasksKind[MetaAnalysis]):
    """Random effects of tasks; both the tasks and their runs are drawn by chance."""

    Declared = MetaAnalysis
    plans_effects = True

    def least_seeds(self, declared: MetaAnalysis, alpha: float, *, paired: bool) -> int:
        """Of equal weights one: the tasks, and not their runs, say how effects vary."""
        return 1 if declared.weights == "equal" and declared.runs != "across_tasks" else 2

    def replicate(self, declared: MetaAnalysis, planned: int) -> str:
        return "value" if planned == 1 else ""

    def lone(self, declared: MetaAnalysis) -> tuple[str, ...]:
        one_will_do = self.least_seeds(declared, 0.05, paired=False) == 1
        return declared.of if one_will_do else ()

    def mistakes(self, declared: MetaAnalysis, context: Context) -> Iterator[Mistake]:
        least = least_pairs(context.alpha, tails=1)
        if declared.test != "t" and declared.weights != "equal":
            mistake, advice = (
                "ranks and signs have no weights",
                "leave out the weights, or the test",
            )
            yield Mistake(("weights",), mistake, "equal weights", advice)
        elif declared.test != "t" and declared.runs == "across_tasks":
            mistake = f"{INDEPENDENT}, and a run of all tasks moves them together"
            yield Mistake(("test",), mistake, "test: t", "leave out the test")
        elif declared.test != "t" and len(declared.tasks) < least:
            few = fmt.number_of(len(declared.tasks), "task")
            mistake = f"{few} cannot decide by ranks or signs, not even if all are of one sign"
            expected, advice = (
                f"at least {least} tasks at alpha {context.alpha:g}",
                "write `test: t`",
            )
            yield Mistake(("tasks",), mistake, expected, advice)
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
            return meta_analysis(
                a, b, region=region, weights=weights, test=declared.test, alpha=context.alpha
            )
        for key, refused in (("test", declared.test != "t"), ("weights", weights != "equal")):
            if refused:
                raise ClaimError(
                    f"{INDEPENDENT if key == 'test' else WEIGHTS}, and seeds of one number are "
                    "taken for one run on all",
                    advice=f"leave out the {key}, or {DECLARE}",
                )
        return meta_analysis_over_seeds(a, b, region=region, **context.level)

    def conclude(self, declared: MetaAnalysis, result: TestResult) -> Finding:
        """By p for ranks and signs: at the ends of their interval effects are tied."""
        return super().conclude(declared, result) if declared.test == "t" else by_p(result)

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
        return PlannedMetaAnalysis(
            **plan.design(context),
            low=low,
            high=high,
            tasks=len(declared.tasks),
            test=declared.test,
        )

    def on_power(self, declared: MetaAnalysis, context: Context, plan: PlannedSeeds) -> str:
        if declared.runs == "per_task":
            return ""
        return "Each task is taken to have runs of its own; where a run is of all, it is less."

    def doubt(self, declared: MetaAnalysis, context: Context, read: Read) -> str:
        """Effects of tasks that are skewed, or some far from the others."""
        from repro.stats.error_rates import level_of_effects
        from repro.stats.task_aggregates import matched_tasks

        if declared.weights != "equal" or declared.test != "t":
            return ""
        names, a, b = matched_tasks(*self.samples(declared, context, read), fewest=1)
        del names
        return level_of_effects([x.mean() - y.mean() for x, y in zip(a, b, strict=True)]) or ""

    def measured(self, declared: MetaAnalysis, context: Context) -> str:
        tasks = fmt.number_of(len(declared.tasks), "task")
        seeds = " and of seeds" if declared.runs == "across_tasks" else ""
        return f"{context.measured(declared)}, {AVERAGES[declared.test]} of {tasks}{seeds}"

    def name_of_test(self, declared: MetaAnalysis, context: Context) -> str:
        if declared.by_seed:
            return "random effects of tasks and of seeds, equal weights, one-sided"
        if declared.test != "t":
            return f"{TESTS[declared.test]}, one-sided"
        weights = "equal weights" if declared.weights == "equal" else "inverse variances"
        return f"random effects by Hartung and Knapp, {weights}, one-sided"

    def name_of_result(self, result: TestResult) -> str:
        """With one run per task Student's t of equal weights has another name."""
        if result.test == "meta_analysis" and result.n == (1, 1):
            return "paired t-test over tasks, one-sided"
        return ""

    def other_tests(
        self, declared: MetaAnalysis, n: Sequence[int], *, paired: bool
    ) -> tuple[OtherTest[MetaAnalysis], ...]:
        """The tests of means and of medians, where the effects of tasks alone count."""
        if declared.by_seed or declared.weights != "equal":
            return ()
        return tuple(
            OtherTest(declared.model_copy(update={"test": test}), name, same_question=False)
            for test, name in TESTS.items()
            if test != declared.test
        )

    def sentence(self, declared: MetaAnalysis, context: Context, found: Found) -> str:
        from repro.stats.random_effects import MetaAnalysisResult

        result = expect(found.result, MetaAnalysisResult)
        change = digits(fmt.plus, found.digits)
        low, high = (change(end, 0) for end in (result.prediction.low, result.prediction.high))
        level = fmt.percent(round(result.prediction.level, 3))
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
        above, equal, below = found.signs
        a, b = context.labels(declared)
        facts["signs"] = f"{a} above {b} in {above}, equal in {equal}, below in {below}"
        if declared.test != "t" and equal:
            facts["left_out"] = (
                f"{fmt.number_of(equal, 'task')} without a difference, as scipy does"
            )
        if found.heterogeneity is not None:
            tasks = found.heterogeneity
            facts |= {
                "standard_deviation_between_tasks": fmt.fixed(tasks.tau, shown + 1),
                "i_squared": fmt.share(tasks.i_squared),
                "all_tasks_alike": fmt.p_value(tasks.p),
            }
        return {**facts, "effect_in_each_task": of_each_task(parts)}
