"""Many tasks: the effect in each of them, performance profiles, and mean ranks.

A profile is the share of the runs of an arm that is better than a value, for all values. As
Agarwal et al. (2021, section 4.3) draw them: the mean over tasks of the share within each. A
profile that lies above another everywhere belongs to an arm that is better whatever counts as good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, quantiles

from repro.judging.document import ArmPart, Document, MeasurementPart
from repro.judging.document_parts import RanksPart
from repro.report import lookups
from repro.report.blocks import (
    AnalysisRow,
    Block,
    EffectAxis,
    Figure,
    LinePlot,
    Lines,
    SpecificationPlot,
)
from repro.schema import numbers as fmt


def profiles(document: Document) -> tuple[Figure, ...]:
    """A figure for each measurement of which a decisive expectation is over tasks."""
    arms = {arm.id: arm for arm in document.arms if arm.tasks}
    figures: list[Figure] = []
    for key in dict.fromkeys(result.measurement for result in lookups.decisive(document)):
        named = dict.fromkeys(
            arm
            for result in lookups.decisive(document)
            if result.measurement == key
            for arm in result.arms
            if arm in arms
        )
        measurement = lookups.measurement_of(document, key)
        values = {name: _by_task(arms[name], key) for name in named}
        if measurement is not None and values and all(values.values()):
            number = f"-{len(figures) + 1}" if figures else ""
            figures.append(_figure(document, measurement, values, f"profiles{number}"))
    return tuple(figures)


TASKS = 30
"""Tasks that a picture shows; of more those with the outermost effects."""


def by_task(document: Document) -> Figure | None:
    """The difference of two arms in every task, the largest first; None without tasks."""
    tasks = {arm.id for arm in document.arms if arm.tasks}
    over = (r for r in lookups.decisive(document) if len(r.arms) == 2 and tasks.issuperset(r.arms))
    result = next(over, None)
    measurement = None if result is None else lookups.measurement_of(document, result.measurement)
    if result is None or measurement is None:
        return None
    arms = {arm.id: arm for arm in document.arms}
    a, b = (_by_task(arms[arm], measurement.key) for arm in result.arms)
    found = sorted(((fmean(a[t]) - fmean(b[t]), t) for t in a.keys() & b.keys()), reverse=True)
    if not found:
        return None
    words = [fmt.plus(effect, measurement.digits) for effect, _ in found]
    rows = tuple(
        AnalysisRow(task, word, "plain", effect, None, "", declared=False)
        for (effect, task), word in zip(found, words, strict=True)
    )
    if len(rows) > TASKS:
        rows = (*rows[: TASKS // 2], *rows[-TASKS // 2 :])
    first, second = (arms[arm].label for arm in result.arms)
    sense = f"{measurement.better} is better"
    title = fmt.upper_first(f"{measurement.label} by task: {first} minus {second} ({sense})")
    plot = SpecificationPlot(
        title, EffectAxis("linear"), rows, tuple(effect for effect, _ in found)
    )
    ahead = sum((effect > 0) == (measurement.better == "higher") for effect, _ in found if effect)
    said = f"{first} is ahead in {ahead} of {fmt.number_of(len(found), 'task')}"
    unit = document.claim.unit
    of = "two values" if unit == "value" else f"means over its {unit}s"
    caption = f"One dot a task: the difference of the {of}. {said}."
    shown = "; ".join(f"{row.label} {row.word}" for row in rows)
    return Figure("tasks", f"{title}. {said}: {shown}.", caption, plot)


def mean_ranks(document: Document) -> Iterator[Block]:
    """Where three arms or more have values of the same tasks: their mean ranks, which are context.

    Intervals reach half of the critical difference, so that those that overlap may be alike.
    """
    for number, part in enumerate(document.mean_ranks, 1):
        measurement = lookups.measurement_of(document, part.measurement)
        label = fmt.upper_first(part.measurement if measurement is None else measurement.label)
        half = part.critical_difference / 2
        reach = tuple(each.rank + side * half for each in part.arms for side in (-1, 1))
        rows = tuple(
            AnalysisRow(
                lookups.arm_label(document, each.arm),
                fmt.fixed(each.rank, 2),
                "plain",
                each.rank,
                (each.rank - half, each.rank + half),
                "",
                declared=False,
            )
            for each in part.arms
        )
        title = f"{label}: mean ranks over {fmt.number_of(part.tasks, 'task')} (1 is best)"
        plot = SpecificationPlot(title, EffectAxis("linear", zero=False), rows, reach)
        shown = "; ".join(f"{row.label} {row.word}" for row in rows)
        yield Figure(f"ranks-{number}", f"{title}. {shown}.", _on_ranks(part), plot)


def _on_ranks(part: RanksPart) -> str:
    f = "infinite" if part.f is None else fmt.significant(part.f)
    far, level = fmt.fixed(part.critical_difference, 2), fmt.percent(part.level)
    chi_squared, df = fmt.significant(part.chi_squared), len(part.arms) - 1
    return (
        "Arms whose intervals do not overlap are further apart than Nemenyi's critical difference, "
        f"{far} (level {level}). That all rank alike: Friedman's chi-squared {chi_squared}, "
        f"corrected for ties, {df} degrees of freedom ({fmt.p_value(part.p)}); Iman and "
        f"Davenport's F {f} ({fmt.p_value(part.p_of_f)}). Context, which decides nothing: how two "
        "arms rank depends on which others are there."
    )


Values = Mapping[str, Sequence[float]]
"""The values of an arm by task."""


def _by_task(arm: ArmPart, key: str) -> Values:
    found: dict[str, list[float]] = {}
    for run in arm.replicates:
        if key in run.values:
            found.setdefault(run.task, []).append(run.values[key])
    return found


def profile(values: Values, at: float, *, higher: bool, reached: bool = False) -> float:
    """The mean over tasks of the share of runs better than ``at``, or ``reached`` it."""

    def counts(value: float) -> bool:
        return (value > at if higher else value < at) or (reached and value == at)

    return fmean(fmean(map(counts, runs)) for runs in values.values())


def _figure(
    document: Document, measurement: MeasurementPart, values: Mapping[str, Values], name: str
) -> Figure:
    higher = measurement.better == "higher"
    side = "above" if higher else "below"
    every = sorted(v for tasks in values.values() for runs in tasks.values() for v in runs)
    ends = every[0], every[-1]
    lines = tuple(
        Lines(
            lookups.arm_label(document, arm),
            lookups.colour_of(document, arm),
            (_staircase(tasks, ends, higher=higher),),
        )
        for arm, tasks in values.items()
    )
    title = fmt.upper_first(f"{measurement.label}: performance profiles")
    share = f"share of runs {side} the value, mean over tasks"
    plot = LinePlot(title, measurement.label, share, lines, scale="linear")
    caption = (
        f"Each line is the share of an arm's runs {side} a value, averaged over tasks. The line of "
        "an arm that is better lies higher."
    )
    alts = [f"{title}."]
    for arm, tasks in values.items():
        shares = [
            f"{fmt.share(profile(tasks, at, higher=higher))} {side} "
            f"{lookups.value(at, measurement)}"
            for at in (quantiles(every) if len(every) > 1 else every)
        ]
        alts.append(f"{lookups.arm_label(document, arm)}: {', '.join(shares)}.")
    return Figure(name, " ".join(alts), caption, plot)


def _staircase(
    values: Values, ends: tuple[float, float], *, higher: bool
) -> tuple[tuple[float, float], ...]:
    """The profile on both sides of every value of the arm, between the ends of all arms."""
    weights: dict[float, float] = dict.fromkeys(ends, 0.0)
    for runs in values.values():
        for value in runs:
            weights[value] = weights.get(value, 0.0) + 1 / (len(values) * len(runs))
    points = []
    share = 1.0 if higher else 0.0
    for step in sorted(weights):
        points.append((step, share))
        share += -weights[step] if higher else weights[step]
        points.append((step, min(1.0, max(0.0, share))))
    return tuple(points)
