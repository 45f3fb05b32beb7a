"""What expectations over tasks share: two arms, the tasks, the question that is asked of them."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import Field

from repro.errors import ClaimError, TooFewError
from repro.expectations import base
from repro.expectations.base import Found, Kind, Read, samples_of
from repro.expectations.decision_rules import by_interval
from repro.expectations.declared import Context, Declared, Mistake, Pair
from repro.expectations.phrases import (
    Compared,
    against,
    both_p,
    compared,
    difference_words,
    digits,
    ends,
    follows,
    headed,
    margin_limit,
    margin_words,
)
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.schema.base import Margin, TaskName
from repro.stats.records import Sample, TestResult

Tasks: TypeAlias = Annotated[tuple[TaskName, ...], Field(min_length=3, max_length=1000)]

CLAIMED: Mapping[str, str] = {
    "better": "is better than",
    "equivalent": "equals",
    "not_worse": "is not worse than",
}


class TasksClaim(Declared):
    """That a is better than b over these tasks, equal to it, or not worse.

    ``runs`` says whether a run is one of a task, or of all: ``across_tasks``, where seeds of one
    number in several tasks are one run. Left out, that is so where numbers recur.
    """

    kind: str
    of: Pair
    tasks: Tasks
    question: Literal["better", "equivalent", "not_worse"] = "better"
    margin: Margin | None = None
    runs: Literal["across_tasks", "per_task"] | None = None

    @property
    def size(self) -> float:
        """The margin in units of the measurement; 0 where none is declared."""
        return 0.0 if self.margin is None else self.margin.size

    @property
    def by_seed(self) -> bool:
        """Whether the seed is the unit; where nothing is known of its numbers, too."""
        return self.runs != "per_task"


T = TypeVar("T", bound=TasksClaim)


class TasksKind(Kind[T]):
    """The effect is a minus b; its interval decides, against no difference or a margin."""

    counts_seeds = False

    @abstractmethod
    def measured(self, declared: T, context: Context) -> str:
        """What is compared: the measurement, its aggregate, and over how many tasks."""

    def tasks(self, declared: T) -> tuple[str, ...]:
        return declared.tasks

    def by_seed(self, declared: T) -> bool:
        return declared.by_seed

    def settled(self, declared: T, read: Read) -> T:
        """Runs are of all tasks where a seed of one number has values of several."""
        if declared.runs is not None:
            return declared
        crossed = False
        for arm in samples_of(declared, read):
            runs = zip(arm.replicates, arm.tasks or ("",) * arm.n, strict=True)
            seeds = [seed for seed, task in runs if task in declared.tasks]
            crossed |= len(set(seeds)) < len(seeds)
        return declared.model_copy(update={"runs": "across_tasks" if crossed else "per_task"})

    def without_task(self, declared: T, task: str) -> T:
        rest = tuple(each for each in declared.tasks if each != task)
        return declared.model_copy(update={"tasks": rest})

    def scale(self, declared: T) -> base.EffectScale:
        return "difference"

    def assumes(self, declared: T) -> str:
        return "" if declared.question == "better" else "no difference"

    def mistakes(self, declared: T, context: Context) -> Iterator[Mistake]:
        for task, times in Counter(declared.tasks).items():
            if times > 1:
                mistake = f"task '{task}' is named {times} times"
                yield Mistake(("tasks",), mistake, "every task once", "remove the repetition")
        if context.paired and declared.runs == "per_task":
            mistake = f"runs of a task are independent here, and {context.design_name} pairs them"
            advice = "write `design: independent`, or `runs: across_tasks` if a run is of all tasks"
            yield Mistake(("runs",), mistake, "independent arms", advice)
        if declared.question == "better" and declared.margin is not None:
            mistake = "a margin belongs to the questions equivalent and not_worse"
            advice = "leave it out, or ask one of these"
            yield Mistake(("margin",), mistake, "no margin", advice)
        elif declared.question != "better" and declared.margin is None:
            mistake = f"{declared.question} within which margin?"
            advice = "add `margin: {abs: ..., why: ...}`"
            yield Mistake(("question",), mistake, "a margin with its reason", advice)
        if declared.margin is not None and declared.margin.relative is not None:
            mistake = "a relative margin has no test over tasks"
            advice = "write it as `abs` or `of_gain`"
            yield Mistake(("margin", "relative"), mistake, "one of abs, of_gain", advice)

    def samples(self, declared: T, context: Context, read: Read) -> list[Sample]:
        """The values of both arms in these tasks; TooFewError where one has none of a task.

        ClaimError for pairs of runs that each task has of its own.
        """
        if context.paired and not declared.by_seed:
            raise ClaimError(
                f"each task has runs of its own by their numbers, and {context.design_name} pairs "
                "them",
                advice="declare `design: independent`, or give a run one number in every task",
            )
        labels, arms = context.labels(declared), samples_of(declared, read)
        return [_of_tasks(a, declared.tasks, label) for a, label in zip(arms, labels, strict=True)]

    def region(self, declared: T, context: Context) -> tuple[float | None, float | None]:
        """Between which limits the effect lies if the claim is true."""
        if declared.question == "equivalent":
            return -declared.size, declared.size
        if self.sign(declared, context) > 0:
            return -declared.size, None
        return None, declared.size

    def gain(self, declared: T) -> tuple[float, float | None]:
        """The same of what a gains, whichever values are better: from where, and up to where."""
        low = 0.0 if declared.question == "better" else -declared.size
        return low, declared.size if declared.question == "equivalent" else None

    def sign(self, declared: T, context: Context) -> int:
        """Of a minus b where a is better."""
        return 1 if context.measurement(declared).better == "higher" else -1

    def conclude(self, declared: T, result: TestResult) -> Finding:
        return by_interval(result)

    def statement(self, declared: T, context: Context) -> str:
        a, b = context.labels(declared)
        by = ""
        if declared.margin is not None:
            within = " to within " if declared.question == "equivalent" else " by "
            by = f"{within}{margin_words(declared.margin)}"
        said = f"{a} {CLAIMED[declared.question]} {b}{by}"
        return headed(self.measured(declared, context), said)

    def effect_label(self, declared: T, context: Context) -> str:
        a, b = context.labels(declared)
        return f"{self.measured(declared, context)}, {a} minus {b}"

    def sentence(self, declared: T, context: Context, found: Found) -> str:
        shown, names = found.digits, context.labels(declared)
        text, size = digits(fmt.fixed, shown), declared.size
        said = difference_words(found.result, names, self.measured(declared, context), text)
        reach = ends(found.interval, (-size, size), digits(fmt.plus, shown))
        pair = compared(declared, context, found, (size,))
        therefore = _better(pair, found)
        if declared.margin is not None:
            therefore = _within(declared.question, declared.margin, pair, found)
        return f"{said}{reach}. {therefore}".rstrip()

    def limits(self, declared: T, context: Context) -> tuple[base.LimitPart, ...]:
        if declared.margin is None:
            return (base.LimitPart(value=0.0, label="no difference, 0", why=""),)
        better = self.sign(declared, context)
        signs = (-1, 1) if declared.question == "equivalent" else (-better,)
        return tuple(margin_limit(sign, declared.margin) for sign in signs)

    def claimed(self, declared: T, context: Context) -> base.Side:
        if declared.question == "equivalent":
            return "between"
        return "above" if self.sign(declared, context) > 0 else "below"


def runs_of(runs: tuple[tuple[int, int], ...], *, by_seed: bool) -> dict[str, str]:
    """`3`, or `3 to 4 and 3` where tasks or arms differ: the fewest and the most, by arm."""
    said = [fmt.span(str(few), str(many)) for few, many in runs]
    many = said[0] if len(set(said)) == 1 else " and ".join(said)
    if by_seed:
        return {"seeds": many, "unit": "the seed, one run on all tasks"}
    return {"runs_per_task": many}


def of_each_task(parts: Mapping[str, str]) -> str:
    """Parts by task on one line, as in `pong +0.50; qbert −0.47`."""
    return "; ".join(f"{task} {part}" for task, part in parts.items())


def _of_tasks(sample: Sample, tasks: tuple[str, ...], label: str) -> Sample:
    missing = [task for task in tasks if task not in sample.tasks]
    if missing:
        named = ", ".join(f"'{task}'" for task in missing[:5])
        raise TooFewError(f"{label} has no run of {fmt.number_of(len(missing), 'task')}: {named}")
    places = [place for place, task in enumerate(sample.tasks) if task in tasks]
    return replace(
        sample,
        values=tuple(sample.values[place] for place in places),
        replicates=tuple(sample.replicates[place] for place in places),
        diverged=(),
        tasks=tuple(sample.tasks[place] for place in places),
    )


def _better(pair: Compared, found: Found) -> str:
    p, contrary = both_p(found.result)
    shown = f"Better is not shown{p}{pair.reach()}."
    if pair.seen == "worse":
        shown = against(f"{pair.a} looks worse", f"{contrary}{pair.reaches('better')}")
    return follows(found, f"Better, as claimed{p}.", f"Worse, against the claim{contrary}.", shown)


def _within(question: str, declared: Margin, pair: Compared, found: Found) -> str:
    margin = margin_words(declared)
    if question == "equivalent":
        asserted = f"equal to within {margin}"
        wrong = f"{(pair.seen or 'different').capitalize()} by more than {margin}"
    else:
        asserted, wrong = f"not worse by {margin} or more", f"Worse by more than {margin}"
    return follows(
        found,
        f"{asserted.capitalize()}, as claimed: the whole interval lies inside.",
        f"{wrong}, against the claim that it is {asserted}.",
        f"That it is {asserted} is not shown{pair.reach()}.",
    )
