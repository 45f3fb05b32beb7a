"""Over a fixed benchmark of tasks, with few runs each: is a better than b, equal, or not worse?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from repro.errors import ClaimError
from repro.expectations import base
from repro.expectations.base import Found, Read
from repro.expectations.declared import Context, Mistake
from repro.expectations.phrases import against, both_p, digits, ends, follows, headed
from repro.expectations.tasks import TasksClaim, TasksKind, of_each_task, runs_of
from repro.schema import numbers as fmt
from repro.stats.records import Arm, TestResult, expect

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest


class OverTasks(TasksClaim):
    """a is better than b over a fixed benchmark of tasks, equal to it, or not worse.

    ``aggregate``: the difference of the interquartile means of all runs of all tasks (``iqm``), or
    of the means over tasks (``mean``), whose values must be comparable between tasks; or the
    probability of ``improvement``, the mean over tasks of the chance that a run of a beats one of
    b. ``margin`` belongs to equivalent and not_worse. Where a run is of all tasks, each seed has
    one number, and the test is that of the design, Welch's t or that of pairs. With ``runs:
    per_task`` it is Student's t on the standard error within tasks; ``stratified_bootstrap`` takes
    percentiles of resamples within each task, and errs too often with few runs a task.
    """

    kind: Literal["over_tasks"]
    aggregate: Literal["iqm", "mean", "improvement"] = "iqm"
    test: Literal["stratified_t", "stratified_bootstrap"] = "stratified_t"


AGGREGATES: Mapping[str, str] = {
    "iqm": "interquartile mean",
    "mean": "mean",
    "improvement": "probability of improvement",
}
TESTS: Mapping[str, str] = {
    "stratified_t": "Student's t on the standard error within tasks",
    "stratified_bootstrap": "stratified bootstrap, percentiles",
}
FEW_TASKS, FEW_RUNS, REFUTED = 3, 4, 0.01
"""With so few tasks and runs interquartile means err more often where one task scatters most.

That it does is shown by an F-test with a p of at most ``REFUTED``.
"""

HALF = 0.5
"""The probability of improvement of arms that are alike."""

RESAMPLES = "the bootstrap draws the runs of each task apart"


BY_SEED: Mapping[str, str] = {
    "iqm": "interquartile mean of each seed",
    "mean": "mean of each seed",
    "improvement": "probability of improvement by seed",
}
"""The aggregates where a run is of all tasks."""


class OverTasksKind(TasksKind[OverTasks]):
    """Only runs are drawn by chance; the tasks are those of the claim, all and no others."""

    Declared = OverTasks

    def scale(self, declared: OverTasks) -> base.EffectScale:
        return "share" if declared.aggregate == "improvement" else "difference"

    def by_order(self, declared: OverTasks) -> bool:
        return declared.aggregate == "improvement"

    def mistakes(self, declared: OverTasks, context: Context) -> Iterator[Mistake]:
        if context.paired and declared.aggregate == "improvement":
            mistake = "the probability of improvement compares each run of a with each one of b"
            advice = "write `aggregate: iqm` or `mean`, or `design: independent`"
            yield Mistake(("aggregate",), mistake, "independent arms", advice)
        if declared.test == "stratified_bootstrap" and declared.runs == "across_tasks":
            mistake, advice = f"{RESAMPLES}, and here a run is of all", "leave out the test"
            yield Mistake(("test",), mistake, "stratified_t, by seed", advice)
        if declared.aggregate == "improvement" and declared.question != "better":
            mistake = "the probability of improvement says which arm is better, and by no size"
            advice = "write `aggregate: iqm` or `mean`, or ask whether a is better"
            yield Mistake(("question",), mistake, "better", advice)
        else:
            yield from super().mistakes(declared, context)

    def test(self, declared: OverTasks, context: Context, read: Read) -> TestResult:
        from repro.stats.crossed import DECLARE, over_seeds
        from repro.stats.task_aggregates import over_tasks

        a, b = self.samples(declared, context, read)
        bootstrap = declared.test == "stratified_bootstrap"
        if declared.by_seed and bootstrap:
            raise ClaimError(
                f"{RESAMPLES}, and seeds of one number are taken for one run on all",
                advice=f"leave out the test, or {DECLARE}",
            )
        tested = (
            partial(over_seeds, paired=context.paired)
            if declared.by_seed
            else partial(over_tasks, bootstrap=bootstrap)
        )
        return tested(
            a,
            b,
            aggregate=declared.aggregate,
            better=context.measurement(declared).better,
            region=self.region(declared, context),
            alpha=context.alpha,
        )

    def compared(self, declared: OverTasks, context: Context, read: Read) -> list[Arm]:
        """One number a seed, where a run is of all tasks."""
        from repro.stats.crossed import Crossed

        if not declared.by_seed:
            return super().compared(declared, context, read)
        crossed = Crossed.of(*self.samples(declared, context, read))
        better = context.measurement(declared).better
        return [*crossed.by_seed(declared.aggregate, better)]

    def doubt(self, declared: OverTasks, context: Context, read: Read) -> str:
        """One of three tasks that scatters far more than the others, in interquartile means."""
        from repro.stats.task_aggregates import matched_tasks, widest_task

        few = len(declared.tasks) <= FEW_TASKS
        if declared.by_seed or declared.aggregate != "iqm" or not few:
            return ""
        names, a, b = matched_tasks(*self.samples(declared, context, read))
        place, times, p = widest_task(a, b)
        if p > REFUTED or min(map(len, (*a, *b))) > FEW_RUNS:
            return ""
        much = "and those of the other two tasks do not vary"
        if times < math.inf:
            size = fmt.significant(times, 2)
            much = f"{size} times as much as those of the other two tasks ({fmt.p_value(p)})"
        return (
            f"Runs of '{names[place]}' scatter {much}. Where one of three tasks is ten times as "
            "wide, interquartile means of 3 runs per task err in 7.2 % of cases instead of 5 %, "
            "and of 3 against 10 in 9.1 % (simulated). Add runs, or declare `aggregate: mean`."
        )

    def region(self, declared: OverTasks, context: Context) -> tuple[float | None, float | None]:
        if declared.aggregate == "improvement":
            return HALF, None
        return super().region(declared, context)

    def planned(
        self, declared: OverTasks, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        from repro.stats.crossed import PlannedBySeed
        from repro.stats.planning import PlannedDifference, PlannedMargin
        from repro.stats.task_aggregates import PlannedOverTasks

        if declared.test == "stratified_bootstrap":
            raise ClaimError("no power is computed for a bootstrap")
        improvement = declared.aggregate == "improvement"
        low, high = (HALF, None) if improvement else self.gain(declared)
        if declared.by_seed and improvement:
            return PlannedBySeed((plan.n,), alpha=context.alpha, low=low)
        design: dict[str, Any] = {"n": (plan.n,), **context.level}
        design = design if improvement else plan.design(context)
        if declared.by_seed and declared.question == "better":
            design["alpha"] *= 2
            return PlannedDifference(**design, test="paired" if context.paired else "welch")
        if declared.by_seed:
            return PlannedMargin(**design, low=low, high=high)
        tasks = len(declared.tasks)
        return PlannedOverTasks(
            **design, low=low, high=high, tasks=tasks, aggregate=declared.aggregate
        )

    def on_power(self, declared: OverTasks, context: Context, plan: base.PlannedSeeds) -> str:
        if declared.by_seed and declared.aggregate == "improvement":
            return "The tasks of a run are taken to go wholly together, the least that it can be."
        if declared.by_seed:
            return "The planned scatter is taken for that of the seeds, each with one number."
        if declared.aggregate != "iqm":
            return ""
        return "The tasks are taken to lie one standard deviation of a run apart."

    def measured(self, declared: OverTasks, context: Context) -> str:
        names = BY_SEED if declared.runs == "across_tasks" else AGGREGATES
        tasks = fmt.number_of(len(declared.tasks), "task")
        return f"{context.measured(declared)}, {names[declared.aggregate]} over {tasks}"

    def name_of_test(self, declared: OverTasks, context: Context) -> str:
        if not declared.by_seed:
            return f"{AGGREGATES[declared.aggregate]}, {TESTS[declared.test]}, one-sided"
        test = "the paired t-test" if context.paired else "Welch's t-test"
        of = " of mean ranks" if declared.aggregate == "improvement" else ""
        return f"{BY_SEED[declared.aggregate]}, {test}{of}, one-sided"

    def effect_label(self, declared: OverTasks, context: Context) -> str:
        if declared.aggregate != "improvement":
            return super().effect_label(declared, context)
        a, b = context.labels(declared)
        return f"{self.measured(declared, context)}, {a} better than {b}"

    def sentence(self, declared: OverTasks, context: Context, found: Found) -> str:
        if declared.aggregate != "improvement":
            return super().sentence(declared, context, found)
        a, b = context.labels(declared)
        share, (p, contrary) = fmt.share(found.result.effect), both_p(found.result)
        said = f"a run of {a} beats one of {b} in {share} of cases"
        reach = ends(found.interval, (HALF,), digits(fmt.share, 2))
        shown = f"More than half is not shown{p}."
        if found.result.effect < HALF:
            shown = against("it looks like less than half", contrary)
        more, less = (
            f"More than half, as claimed{p}.",
            f"Less than half, against the claim{contrary}.",
        )
        therefore = follows(found, more, less, shown)
        return f"{headed(self.measured(declared, context), said)}{reach}. {therefore}".rstrip()

    def limits(self, declared: OverTasks, context: Context) -> tuple[base.LimitPart, ...]:
        if declared.aggregate == "improvement":
            return (base.LimitPart(value=HALF, label="no improvement, 0.5", why=""),)
        return super().limits(declared, context)

    def claimed(self, declared: OverTasks, context: Context) -> base.Side:
        if declared.aggregate == "improvement":
            return "above"
        return super().claimed(declared, context)

    def other_tests(
        self, declared: OverTasks, n: Sequence[int], *, paired: bool
    ) -> tuple[base.OtherTest[OverTasks], ...]:
        """The bootstrap that is usual with few runs, or what corrects it."""
        if declared.by_seed:
            return ()
        return tuple(
            base.OtherTest(declared.model_copy(update={"test": test}), name, same_question=True)
            for test, name in TESTS.items()
            if test != declared.test
        )

    def details(self, declared: OverTasks, context: Context, result: TestResult) -> dict[str, str]:
        """How many runs each task has, and the effect in each task alone."""
        from repro.stats.task_aggregates import OverTasksResult

        found = expect(result, OverTasksResult)
        shown, shares = context.measurement(declared).digits, declared.aggregate == "improvement"
        parts = {
            task: fmt.share(part) if shares else fmt.plus(part, shown)
            for task, part in found.parts.items()
        }
        return {
            "tasks": str(found.tasks),
            **runs_of(found.runs, by_seed=declared.by_seed),
            "effect_in_each_task": of_each_task(parts),
        }
