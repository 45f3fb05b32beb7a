"""What the figures show: plain data taken from the document, with captions and text alternatives.

Nothing is drawn here, and nothing is computed that the document does not hold.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from repro.expectations.base import LimitPart, Point
from repro.judging.document import ArmPart, Document, MeasurementPart, Result, SummaryPart
from repro.report import badges, lookups, palette
from repro.report.blocks import (
    DotPanel,
    DotPlot,
    DotRow,
    EffectAxis,
    EffectRow,
    Ends,
    Figure,
    Key,
    LinePlot,
    Lines,
    Mark,
    Paragraph,
    Scale,
    ScatterGroup,
    ScatterPlot,
)
from repro.schema import numbers as fmt


def main_figure(document: Document) -> Figure | Paragraph:
    """Every seed of the measurement that most parts read, a dot each; words when nothing ran."""
    decisive = lookups.decisive(document)
    panels = _panels(document)[:1]
    points = [scatter_figure(document, result, "main") for result in decisive if result.points]
    scatters = tuple(each.plot for each in points if isinstance(each.plot, ScatterPlot))
    rows = [effect_row(document, result) for result in decisive]
    effects = _merged(row for row in rows if row is not None and row.sides)
    drawn = any(row.values or row.mark is not None for panel in panels for row in panel.rows)
    if not effects and not scatters and not drawn:
        return Paragraph("No run has been measured so far, so there is nothing to draw.")
    caption = [_dots_said(document, panels)] if panels else []
    caption += [each.caption for each in points]
    caption += [BAR] if effects else []
    alt = _main_alt(panels, [each.alt for each in points], effects)
    return Figure("main", alt, " ".join(caption), DotPlot(panels, effects, scatters))


BAR = "The bar below a share divides all that differ between both arms; ties are left out."


def other_dots(document: Document) -> tuple[Figure, ...]:
    """Every seed of all other measurements that a part reads."""
    panels = _panels(document)[1:]
    if not any(row.values or row.mark is not None for panel in panels for row in panel.rows):
        return ()
    caption = _dots_said(document, panels)
    return (Figure("others", _main_alt(panels, (), ()), caption, DotPlot(panels, ())),)


def _panels(document: Document) -> tuple[DotPanel, ...]:
    """A panel for each measurement that is read, that of most parts first."""
    read = Counter(result.measurement for result in lookups.decisive(document))
    shown = sorted(_shown_measurements(document), key=lambda m: -read[m.key])
    return tuple(_panel(document, m) for m in shown)


def _merged(rows: Iterable[EffectRow]) -> tuple[EffectRow, ...]:
    """Shares that are the same in every number have one bar, named by all of them."""
    found: dict[EffectRow, list[str]] = {}
    for row in rows:
        found.setdefault(replace(row, title=""), []).append(row.title)
    return tuple(replace(row, title="; ".join(titles)) for row, titles in found.items())


def _dots_said(document: Document, panels: tuple[DotPanel, ...]) -> str:
    rows = [row for panel in panels for row in panel.rows]
    wide = ""
    if any(row.spread is not None for row in rows):
        wide = " with one standard deviation either side"
    log = any(panel.scale == "log" for panel in panels)
    mean = "geometric mean of its arm, on a logarithmic axis" if log else "mean of its arm"
    unit = document.claim.unit
    dot = "one trained model" if all(arm.trained for arm in document.arms) else f"one {unit}"
    dot = "one run" if badges.items(document) else dot
    dot = "one run of one task" if any(arm.tasks for arm in document.arms) else dot
    joined = f"; a line joins the runs of one {unit}" if any(p.joined for p in panels) else ""
    said = f"Each dot is {dot}{joined}; the upright stroke is the {mean}."
    if not any(row.values for row in rows):
        said = f"Each upright stroke is a printed mean{wide}."
    elif any(row.mark is not None and not row.values for row in rows):
        said += f" A stroke without dots is a printed mean{wide}."
    ordered = any(_along(document, m) for m in document.measurements)
    return f"{said} The arms stand in the declared order." if ordered else said


def _shown_measurements(document: Document) -> list[MeasurementPart]:
    """Those of the decisive expectations; an association is drawn as points instead."""
    found = lookups.decisive(document)
    keys = dict.fromkeys(result.measurement for result in found if not result.points)
    shown = [m for m in (lookups.measurement_of(document, key) for key in keys) if m is not None]
    return shown or ([] if any(r.points for r in found) else list(document.measurements[:1]))


def _along(document: Document, m: MeasurementPart) -> list[str]:
    """The arms of a declared trend or order of a measurement, in that order."""
    for result in lookups.decisive(document):
        if result.measurement == m.key and result.ordered:
            return list(result.arms)
    return []


def _panel(document: Document, m: MeasurementPart) -> DotPanel:
    values = [r.values[m.key] for a in document.arms for r in a.replicates if m.key in r.values]
    values += [s.mean for a in document.arms for s in a.summaries if s.measurement == m.key]
    ratio = any(r.scale == "ratio" and r.measurement == m.key for r in lookups.decisive(document))
    log = (lookups.spec_of(m).bounded or ratio) and all(value > 0 for value in values)
    axis = f"{m.label}, {'logarithmic axis' if log else f'{m.better} is better'}"
    scale: Scale = "log" if log else "linear"
    place = {arm: i for i, arm in enumerate(_along(document, m))}
    arms = sorted(document.arms, key=lambda arm: place.get(arm.id, len(place)))
    rows = tuple(_dot_row(document, arm, m, scale) for arm in arms)
    return DotPanel(fmt.upper_first(m.label), axis, scale, rows, _joined(document, arms, m))


def _joined(
    document: Document, arms: Sequence[ArmPart], m: MeasurementPart
) -> tuple[tuple[float | None, ...], ...]:
    """The values of each seed, in the order of the arms, where seeds are pairs and few."""
    if document.claim.design != "paired" or any(arm.tasks for arm in arms):
        return ()
    found = [{r.number: r.values[m.key] for r in a.replicates if m.key in r.values} for a in arms]
    numbers = sorted({number for values in found for number in values})
    seeds = tuple(tuple(values.get(number) for values in found) for number in numbers)
    return seeds if len(seeds) <= MOST_JOINED and len(arms) > 1 else ()


def _dot_row(document: Document, arm: ArmPart, m: MeasurementPart, scale: Scale) -> DotRow:
    """A printed mean has one standard deviation either side, so that it misleads nobody."""
    values = tuple(r.values[m.key] for r in arm.replicates if m.key in r.values)
    summary = lookups.summary_of(arm, m.key)
    mark: float | None = None
    spread: tuple[float, float] | None = None
    if summary is not None and not lookups.without_mean(summary, m):
        mark = summary.geometric_mean if scale == "log" and not arm.printed else summary.mean
        low, high = summary.mean - (summary.sd or 0.0), summary.mean + (summary.sd or 0.0)
        if arm.printed and summary.sd and (scale == "linear" or low > 0):
            spread = (low, high)
    bound = float(arm.bound) if lookups.spec_of(m).bounded and arm.bound else None
    note, colour = _row_note(document, summary, m, arm, scale), lookups.colour_of(document, arm.id)
    return DotRow(arm.label, note, colour, values, mark, bound, spread)


def _row_note(
    document: Document, summary: SummaryPart | None, m: MeasurementPart, arm: ArmPart, scale: Scale
) -> str:
    unit = document.claim.unit
    if summary is None:
        return "no value yet"
    if summary.low is None or summary.high is None:
        seeds = "" if summary.n is None else f", {fmt.number_of(summary.n, unit)}"
        return f"{lookups.mean_and_sd(summary, m)}{seeds}, as printed"
    low, high = lookups.value(summary.low, m), lookups.value(summary.high, m)
    n = summary.n or len(arm.replicates)
    if summary.low == summary.high:
        seeds = {1: f"the only {unit}", 2: f"both {unit}s"}.get(n, f"all {fmt.count(n)} {unit}s")
        note = f"{low} in {seeds}"
    elif scale == "log" and summary.geometric_mean is not None:
        note = f"{fmt.span(low, high)}, geometric mean {lookups.value(summary.geometric_mean, m)}"
    else:
        runs = fmt.number_of(n, unit)
        if arm.tasks:
            runs = f"{fmt.number_of(n, 'run')} of {fmt.number_of(arm.tasks, 'task')}"
        note = f"{lookups.mean_and_sd(summary, m)}, {runs}"
    bounded = lookups.spec_of(m).bounded and arm.bound
    return f"{note}; bound {fmt.count(arm.bound or 0)}" if bounded else note


def _main_alt(
    panels: Iterable[DotPanel], scatters: Iterable[str], effects: Iterable[EffectRow]
) -> str:
    said = [
        f"{panel.title}: " + "; ".join(f"{row.label} {row.note}" for row in panel.rows) + "."
        for panel in panels
    ]
    said += scatters
    for row in effects:
        labels = [limit.label for limit in row.axis.limits] + [side.label for side in row.sides]
        said.append("; ".join([f"{row.title}: {row.note}", *labels]) + ".")
    return " ".join(said)


MOST_JOINED = 40
"""Seeds whose runs are joined by lines; more would hide the dots."""

SPANS = {"correlation": (-1.0, 1.0), "share": (0.0, 1.0)}
"""Scales whose axis has ends."""

PERCENT = ("relative", "share")
"""Scales that are read as percentages."""


def effect_note(document: Document, result: Result) -> str:
    """`23.4 times, 90% interval from 20.1 times up: CONFIRMED`."""
    digits = lookups.digits_of(document, result)
    parts = []
    if result.effect is not None:
        parts.append(lookups.effect(document, result, result.effect, result.scale))
    if result.interval is not None:
        parts.append(lookups.interval(result.interval, result.scale, digits))
    return f"{', '.join(parts) or 'no effect yet'}: {result.conclusion or 'no conclusion'}"


def limit_text(document: Document, result: Result, limit: LimitPart) -> str:
    """A limit by name and value; the value is not repeated where the label says it."""
    at, label = limit.value, limit.label
    if at == 0 and "zero" in label.lower():
        return label
    said = re.findall(r"[-+]?[0-9]+(?:\.[0-9]+)?", label.replace(fmt.MINUS, "-"))
    shown = [at, abs(at)]
    shown += [100 * at, 100 * abs(at)] if result.scale in PERCENT else []
    if any(math.isclose(float(text), number, rel_tol=1e-9) for text in said for number in shown):
        return label
    return f"{label} ({fmt.effect(at, result.scale, lookups.digits_of(document, result))})"


def effect_row(document: Document, result: Result) -> EffectRow | None:
    """The strip of an expectation; None where it has no effect on an axis."""
    if result.scale == "none" or (result.effect is None and result.interval is None):
        return None
    ends = None if result.interval is None else (result.interval.low, result.interval.high)
    axis = effect_axis(document, result, [result.effect, *(ends or ())])
    title, note = fmt.upper_first(result.effect_label), effect_note(document, result)
    return EffectRow(title, note, axis, result.effect, ends, _sides(document, result))


def effect_axis(document: Document, result: Result, points: list[float | None]) -> EffectAxis:
    """The axis of an expectation; logarithmic for ratios, where all ``points`` allow it."""
    held = [*points, *(limit.value for limit in result.limits)]
    log = result.scale in ("ratio", "spread") and all(point is None or point > 0 for point in held)
    scale: Scale = "log" if log else "linear"
    limits = tuple(
        Mark(limit.value, limit_text(document, result, limit)) for limit in result.limits
    )
    span, percent = SPANS.get(result.scale), result.scale in PERCENT
    zero = result.scale != "level"
    return EffectAxis(scale, limits, _regions(result), span, percent, zero)


def _regions(result: Result) -> tuple[Ends, ...]:
    values = [limit.value for limit in result.limits]
    if not values or result.claimed == "none":
        return ()
    low, high = min(values), max(values)
    regions: dict[str, tuple[Ends, ...]] = {
        "below": ((None, low),),
        "above": ((high, None),),
        "between": ((low, high),),
        "outside": ((None, low), (high, None)),
    }
    return regions[result.claimed]


def _sides(document: Document, result: Result) -> tuple[Key, ...]:
    """Wins and losses, where the effect is a share of them."""
    counts = [result.details.get(name) for name in ("wins", "losses")]
    if None in counts or len(result.arms) != 2:
        return ()
    labels = [lookups.arm_label(document, arm) for arm in result.arms]
    return tuple(
        Key(f"{label} ahead: {n}", colour, "s")
        for label, n, colour in zip(labels, counts, palette.ARMS, strict=False)
    )


SHAPES = ("o", "s", "^", "D", "v", "P", "X")
"""More shapes than colours, so that 28 arms differ."""

FEW = 12


def scatter_figure(document: Document, result: Result, name: str) -> Figure:
    """Points: x is the other measurement, y the expectation's own; a group an arm."""
    keys = (result.against or "", result.measurement)
    found = [lookups.measurement_of(document, key) for key in keys]
    x, y = ("value" if measurement is None else measurement.label for measurement in found)
    groups = []
    for i, (arm, points) in enumerate(_by_arm(result).items()):
        shape = SHAPES[i % len(SHAPES)]
        key = Key(lookups.arm_label(document, arm), lookups.colour_of(document, arm), shape)
        counted = tuple((p.x, p.y) for p in points if p.counted)
        groups.append(
            ScatterGroup(key, counted, tuple((p.x, p.y) for p in points if not p.counted))
        )
    one = f"one {document.claim.unit}"
    mark = "the mean of an arm" if result.points[0].replicate is None else one
    caption = f"Each mark is {mark}: across, its {x}; upwards, its {y}."
    if not all(point.counted for point in result.points):
        caption += " Hollow marks lie outside the declared window and are not counted."
    title = f"{fmt.upper_first(y)} against {x}"
    alt = f"{title}, {fmt.number_of(len(result.points), 'point')}. {_points_said(document, result)}"
    return Figure(name, alt, caption, ScatterPlot(title, x, y, tuple(groups)))


def _by_arm(result: Result) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for point in result.points:
        found.setdefault(point.arm, []).append(point)
    return found


def _points_said(document: Document, result: Result) -> str:
    """The points in words: each one where they are few, else where each arm lies."""
    said = []
    if len(result.points) <= FEW:
        for point in result.points:
            named = f", {document.claim.unit} {point.replicate}"
            seed = "" if point.replicate is None else named
            outside = "" if point.counted else ", outside the window"
            place = _place(document, result, [point])
            said.append(f"{lookups.arm_label(document, point.arm)}{seed}: {place}{outside}.")
    else:
        for arm, points in _by_arm(result).items():
            hollow = sum(not point.counted for point in points)
            outside = f", {fmt.count(hollow)} outside the window" if hollow else ""
            many, place = fmt.number_of(len(points), "point"), _place(document, result, points)
            said.append(f"{lookups.arm_label(document, arm)}: {many}, {place}{outside}.")
    return " ".join([*said, f"{effect_note(document, result)}."])


def _place(document: Document, result: Result, points: list[Point]) -> str:
    """`57.1 to 60.3 at 402`: where points lie, upwards and across."""

    def reach(key: str | None, values: list[float]) -> str:
        measurement = lookups.measurement_of(document, key or "")
        low, high = (
            fmt.significant(end) if measurement is None else lookups.value(end, measurement)
            for end in (min(values), max(values))
        )
        return fmt.span(low, high)

    y = reach(result.measurement, [point.y for point in points])
    return f"{y} at {reach(result.against, [point.x for point in points])}"


def times_to_target(document: Document) -> tuple[Figure, ...]:
    """A figure for each censored measurement that a decisive expectation reads."""
    figures: list[Figure] = []
    for key in dict.fromkeys(result.measurement for result in lookups.decisive(document)):
        measurement = lookups.measurement_of(document, key)
        if measurement is not None and measurement.censored_at is not None:
            number = f"-{len(figures) + 1}" if figures else ""
            figures.append(
                _times_figure(document, measurement, measurement.censored_at, f"times{number}")
            )
    return tuple(figures)


def _times_figure(
    document: Document, measurement: MeasurementPart, budget: float, name: str
) -> Figure:
    key = measurement.key
    found = {
        arm.id: [run.values[key] for run in arm.replicates if key in run.values]
        for arm in document.arms
    }
    values = {arm: times for arm, times in found.items() if times}
    lines = tuple(
        Lines(
            lookups.arm_label(document, arm),
            lookups.colour_of(document, arm),
            (not_there(times, budget),),
        )
        for arm, times in values.items()
    )
    title = fmt.upper_first(f"{measurement.label}: runs that are not there yet")
    marks = (Mark(budget, f"budget, {lookups.value(budget, measurement).removeprefix('> ')}"),)
    plot = LinePlot(title, measurement.label, "share of runs", lines, upright=marks, scale="linear")
    caption = (
        "Each line is the share of an arm's runs that have not got there yet; what is left at the "
        "budget never did."
    )
    alts = [f"{title}."]
    for arm, times in values.items():
        left = sum(time >= budget for time in times)
        alts.append(f"{lookups.arm_label(document, arm)}: {left} of {len(times)} never.")
    return Figure(name, " ".join(alts), caption, plot)


def not_there(values: Sequence[float], budget: float) -> tuple[tuple[float, float], ...]:
    """The share that is not there, before and after the time of each run, from 0 to the budget.

    With one budget for all runs it is the estimate of Kaplan and Meier (1958).
    """
    points, left = [(min(0.0, *values), 1.0)], len(values)
    for value in sorted(value for value in values if value < budget):
        points.append((value, left / len(values)))
        left -= 1
        points.append((value, left / len(values)))
    return (*points, (budget, left / len(values)))
