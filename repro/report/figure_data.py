"""What the figures show: plain data taken from the document, with captions and text alternatives.

Nothing is drawn here, and nothing is computed that the document does not hold.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace

from repro.expectations.base import Point
from repro.judging.document import (
    ArmPart,
    CurvePart,
    Document,
    MeasurementPart,
    Result,
    SummaryPart,
)
from repro.report import words
from repro.report.blocks import (
    CurveLine,
    CurvePlot,
    DotPanel,
    DotPlot,
    DotRow,
    EffectAxis,
    EffectRow,
    Ends,
    Figure,
    Key,
    Mark,
    Paragraph,
    Scale,
    ScatterGroup,
    ScatterPlot,
)
from repro.report.lookup import (
    ARMS,
    arm_label,
    colour_of,
    decisive,
    digits_of,
    measurement_of,
    summary_of,
    upper_first,
)
from repro.schema import numbers as fmt


def main_figure(document: Document) -> Figure | Paragraph:
    """Every seed a dot, and each decisive effect against its limits; words when nothing ran."""
    panels = tuple(_panel(document, m) for m in _shown_measurements(document))
    scatters = tuple(scatter_plot(document, r) for r in decisive(document) if r.points)
    rows = [effect_row(document, result) for result in decisive(document)]
    effects = _merged(row for row in rows if row is not None)
    drawn = any(row.values or row.mark is not None for panel in panels for row in panel.rows)
    if not effects and not scatters and not drawn:
        return Paragraph("No run has been measured so far, so there is nothing to draw.")
    caption = [_dots_said(document, panels)] if panels else []
    caption += [scatter_said(document, r) for r in decisive(document) if r.points]
    if effects:
        caption.append(_effects_said(effects))
    plot = DotPlot(panels, effects, scatters)
    alts = [scatter_alt(document, r) for r in decisive(document) if r.points]
    return Figure("main", _main_alt(panels, alts, effects), " ".join(caption), plot)


def _merged(rows: Iterable[EffectRow]) -> tuple[EffectRow, ...]:
    """Effects that are the same in every number share a strip, named by all of them."""
    found: dict[EffectRow, list[str]] = {}
    for row in rows:
        found.setdefault(replace(row, title=""), []).append(row.title)
    return tuple(replace(row, title="; ".join(titles)) for row, titles in found.items())


def _dots_said(document: Document, panels: tuple[DotPanel, ...]) -> str:
    log = any(panel.scale == "log" for panel in panels)
    mean = "geometric mean of its arm, on a logarithmic axis" if log else "mean of its arm"
    trained = all(arm.trained for arm in document.arms)
    dot = "one trained model" if trained else "one seed"
    rows = [row for panel in panels for row in panel.rows]
    printed = any(row.mark is not None and not row.values for row in rows)
    bar = any(row.spread is not None for row in rows)
    wide = " with one standard deviation either side" if bar else ""
    alone = f" A stroke without dots is a printed mean{wide}." if printed else ""
    said = f"Each dot is {dot}; the upright stroke is the {mean}.{alone}"
    if not any(row.values for row in rows):
        said = f"Each upright stroke is a printed mean{wide}."
    ordered = any(_along(document, m) for m in document.measurements)
    order = " The arms stand in the declared order." if ordered else ""
    return f"{said}{order}"


def _effects_said(effects: tuple[EffectRow, ...]) -> str:
    parts = "parts are" if any(len(row.axis.regions) > 1 for row in effects) else "side is"
    bar = ""
    if any(row.sides for row in effects):
        bar = " The bar below a share divides all that differ between both arms; ties are left out."
    return (
        "Below, each effect that decides the claim: a diamond with its interval, against the"
        f" limits that the claim file declares; the shaded {parts} the claimed one"
        f"{'s' if parts != 'side is' else ''}.{bar}"
    )


def _shown_measurements(document: Document) -> list[MeasurementPart]:
    """Those of the decisive expectations; an association is drawn as points instead."""
    found = decisive(document)
    keys = dict.fromkeys(result.measurement for result in found if not result.points)
    shown = [m for m in (measurement_of(document, key) for key in keys) if m is not None]
    return shown or ([] if any(r.points for r in found) else list(document.measurements[:1]))


def _along(document: Document, m: MeasurementPart) -> list[str]:
    """The arms of a declared trend or order of a measurement, in that order."""
    for result in decisive(document):
        if result.measurement == m.key and result.ordered:
            return list(result.arms)
    return []


def _in_order(document: Document, m: MeasurementPart) -> list[ArmPart]:
    along = _along(document, m)
    place = {arm: i for i, arm in enumerate(along)}
    return sorted(document.arms, key=lambda arm: place.get(arm.id, len(along)))


def _panel(document: Document, m: MeasurementPart) -> DotPanel:
    values = [r.values[m.key] for a in document.arms for r in a.replicates if m.key in r.values]
    values += [s.mean for a in document.arms for s in a.summaries if s.measurement == m.key]
    ratio = any(r.scale == "ratio" and r.measurement == m.key for r in decisive(document))
    log = (m.kind == "rank" or ratio) and all(value > 0 for value in values)
    better = f"{m.better} is better"
    axis = f"{m.label}, logarithmic axis" if log else f"{m.label}, {better}"
    title = upper_first(m.label)
    scale = _scale(log=log)
    rows = tuple(_dot_row(document, arm, m, scale) for arm in _in_order(document, m))
    return DotPanel(title, axis, scale, rows)


def _scale(*, log: bool) -> Scale:
    return "log" if log else "linear"


def _dot_row(document: Document, arm: ArmPart, m: MeasurementPart, scale: Scale) -> DotRow:
    values = tuple(r.values[m.key] for r in arm.replicates if m.key in r.values)
    summary = summary_of(arm, m.key)
    mark = None if summary is None else summary.mean
    if summary is not None and scale == "log" and not arm.printed:
        mark = summary.geometric_mean
    bound = float(arm.rank_bound) if m.kind == "rank" and arm.rank_bound else None
    colour = colour_of(document, arm.id)
    note = _row_note(summary, m, arm, scale)
    return DotRow(
        arm.label, note, colour, values, mark, bound, _printed_spread(arm, summary, scale)
    )


def _printed_spread(
    arm: ArmPart, summary: SummaryPart | None, scale: Scale
) -> tuple[float, float] | None:
    """One standard deviation either side of a printed mean, so that means alone mislead nobody."""
    if not arm.printed or summary is None or not summary.sd:
        return None
    low, high = summary.mean - summary.sd, summary.mean + summary.sd
    return None if scale == "log" and low <= 0 else (low, high)


def _row_note(summary: SummaryPart | None, m: MeasurementPart, arm: ArmPart, scale: Scale) -> str:
    if summary is None:
        return "no value yet"
    if summary.low is None or summary.high is None:
        seeds = "" if summary.n is None else f", {fmt.number_of(summary.n, 'seed')}"
        return f"{words.mean_and_sd(summary, m)}{seeds}, as printed"
    low, high = words.value(summary.low, m), words.value(summary.high, m)
    n = summary.n or len(arm.replicates)
    if summary.low == summary.high:
        note = f"{low} in {_all_seeds(n)}"
    elif scale == "log" and summary.geometric_mean is not None:
        note = f"{fmt.span(low, high)}, geometric mean {words.value(summary.geometric_mean, m)}"
    else:
        note = f"{words.mean_and_sd(summary, m)}, {fmt.number_of(n, 'seed')}"
    bounded = m.kind == "rank" and arm.rank_bound
    return f"{note}; bound {fmt.count(arm.rank_bound or 0)}" if bounded else note


def _all_seeds(n: int) -> str:
    return {1: "the only seed", 2: "both seeds"}.get(n, f"all {fmt.count(n)} seeds")


def _main_alt(
    panels: Iterable[DotPanel], scatters: Iterable[str], effects: Iterable[EffectRow]
) -> str:
    said = [
        f"{panel.title}: " + "; ".join(f"{row.label} {row.note}" for row in panel.rows) + "."
        for panel in panels
    ]
    said += scatters
    for row in effects:
        limits = "".join(f"; {limit.label}" for limit in row.axis.limits)
        limits += "".join(f"; {side.label}" for side in row.sides)
        said.append(f"{row.title}: {row.note}{limits}.")
    return " ".join(said)


def curve_figures(document: Document) -> tuple[Figure, ...]:
    """rank(tolerance), one figure for each measurement that has curves."""
    keys = dict.fromkeys(curve.measurement for curve in document.curves)
    return tuple(_curve_figure(document, key, i) for i, key in enumerate(keys))


def _curve_figure(document: Document, key: str, index: int) -> Figure:
    curves = [curve for curve in document.curves if curve.measurement == key]
    measurement = measurement_of(document, key)
    label = "rank" if measurement is None else measurement.label
    lines = tuple(
        CurveLine(
            arm_label(document, curve.arm),
            colour_of(document, curve.arm),
            curve.tolerances,
            tuple(tuple(float(count) for count in row) for row in curve.ranks),
        )
        for curve in curves
    )
    plot = CurvePlot(
        "tolerance, relative to the largest singular value",
        upper_first(label),
        lines,
        tuple(dict.fromkeys(curve.threshold for curve in curves)),
        "Press's threshold",
    )
    alt = f"{upper_first(label)} against the tolerance. " + " ".join(
        _curve_alt(document, curve) for curve in curves
    )
    caption = (
        "A numerical rank counts the singular values above a threshold, so it depends on the"
        " threshold: one line a seed. The upright line is the threshold that the verdict uses."
    )
    return Figure("curves" if index == 0 else f"curves-{index + 1}", alt, caption, plot)


def _curve_alt(document: Document, curve: CurvePart) -> str:
    """The curve in words: its counts at both ends and at the tolerance nearest the threshold."""
    label = arm_label(document, curve.arm)
    if not curve.tolerances or not curve.ranks:
        return f"{label}: no curve."
    order = sorted(range(len(curve.tolerances)), key=curve.tolerances.__getitem__)
    distance = [abs(curve.tolerances[i] - curve.threshold) for i in order]
    nearest = order[distance.index(min(distance))]
    said = []
    for i in dict.fromkeys((order[0], nearest, order[-1])):
        counts = [row[i] for row in curve.ranks]
        ranks = fmt.span(fmt.count(min(counts)), fmt.count(max(counts)))
        said.append(f"{ranks} at {fmt.significant(curve.tolerances[i], 2)}")
    return f"{label}: {', '.join(said)}."


SPANS = {"correlation": (-1.0, 1.0), "share": (0.0, 1.0)}
"""Scales whose axis has ends."""

PERCENT = ("relative", "share")
"""Scales that are read as percentages."""


def effect_note(document: Document, result: Result) -> str:
    """`23.4 times, 90% interval from 20.1 times up: CONFIRMED`."""
    digits = digits_of(document, result)
    parts = [] if result.effect is None else [fmt.effect(result.effect, result.scale, digits)]
    if result.interval is not None:
        parts.append(words.interval(result.interval, result.scale, digits))
    return f"{', '.join(parts) or 'no effect yet'}: {result.conclusion or 'no conclusion'}"


def limit_text(document: Document, result: Result, at: float, label: str) -> str:
    """A limit by name and value; the value is not repeated where the label says it."""
    if at == 0 and "zero" in label.lower():
        return label
    said = re.findall(r"[-+]?[0-9]+(?:\.[0-9]+)?", label.replace(fmt.MINUS, "-"))
    shown = [at, abs(at)]
    shown += [100 * at, 100 * abs(at)] if result.scale in PERCENT else []
    if any(math.isclose(float(number), one, rel_tol=1e-9) for number in said for one in shown):
        return label
    return f"{label} ({fmt.effect(at, result.scale, digits_of(document, result))})"


def effect_row(document: Document, result: Result) -> EffectRow | None:
    """The strip of an expectation; None where it has no effect on an axis."""
    if result.scale == "none" or (result.effect is None and result.interval is None):
        return None
    ends = None if result.interval is None else (result.interval.low, result.interval.high)
    axis = effect_axis(document, result, [result.effect, *(ends or ())])
    title, note = upper_first(result.effect_label), effect_note(document, result)
    return EffectRow(title, note, axis, result.effect, ends, _sides(document, result))


def effect_axis(document: Document, result: Result, points: list[float | None]) -> EffectAxis:
    """The axis of an expectation; logarithmic for ratios, where all ``points`` allow it."""
    held = [*points, *(limit.value for limit in result.limits)]
    log = result.scale == "ratio" and all(point is None or point > 0 for point in held)
    scale: Scale = "log" if log else "linear"
    limits = tuple(
        Mark(limit.value, limit_text(document, result, limit.value, limit.label))
        for limit in result.limits
    )
    span, percent = SPANS.get(result.scale), result.scale in PERCENT
    return EffectAxis(scale, limits, _regions(result), span, percent)


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
    said = [f"{arm_label(document, arm)} ahead" for arm in result.arms]
    named = [f"{text}: {n}" for text, n in zip(said, counts, strict=True)]
    return tuple(Key(text, ARMS[i], "s") for i, text in enumerate(named))


SHAPES = ("o", "s", "^", "D", "v", "P", "X")
"""More shapes than colours, so that 28 arms differ."""

FEW = 12


def scatter_figure(document: Document, result: Result, number: int) -> Figure:
    """The points of an expectation that is not in the main figure."""
    plot = scatter_plot(document, result)
    alt, caption = scatter_alt(document, result), scatter_said(document, result)
    return Figure(f"points-{number}", alt, caption, plot)


def scatter_plot(document: Document, result: Result) -> ScatterPlot:
    """X is the other measurement, y the expectation's own; a group an arm."""
    x, y = _names(document, result)
    arms = list(dict.fromkeys(point.arm for point in result.points))
    groups = []
    for i, arm in enumerate(arms):
        own = [point for point in result.points if point.arm == arm]
        key = Key(arm_label(document, arm), colour_of(document, arm), SHAPES[i % len(SHAPES)])
        counted = tuple((p.x, p.y) for p in own if p.counted)
        groups.append(ScatterGroup(key, counted, tuple((p.x, p.y) for p in own if not p.counted)))
    return ScatterPlot(f"{upper_first(y)} against {x}", x, y, tuple(groups))


def scatter_said(document: Document, result: Result) -> str:
    """The caption: what a mark is."""
    x, y = _names(document, result)
    mark = "the mean of an arm" if result.points[0].replicate is None else "one seed"
    said = f"Each mark is {mark}: across, its {x}; upwards, its {y}."
    if all(point.counted for point in result.points):
        return said
    return f"{said} Hollow marks lie outside the declared window and are not counted."


def scatter_alt(document: Document, result: Result) -> str:
    """The points in words: each one where they are few, else where each arm lies."""
    x, y = _names(document, result)
    said = [f"{upper_first(y)} against {x}, {fmt.number_of(len(result.points), 'point')}."]
    if len(result.points) <= FEW:
        said += [_point_said(document, result, point) for point in result.points]
    else:
        arms = dict.fromkeys(point.arm for point in result.points)
        said += [_arm_said(document, result, arm) for arm in arms]
    return " ".join([*said, f"{effect_note(document, result)}."])


def _names(document: Document, result: Result) -> tuple[str, str]:
    found = [measurement_of(document, key) for key in (result.against or "", result.measurement)]
    x, y = ("value" if one is None else one.label for one in found)
    return x, y


def _value(document: Document, key: str | None, number: float) -> str:
    measurement = measurement_of(document, key or "")
    return fmt.significant(number) if measurement is None else words.value(number, measurement)


def _point_said(document: Document, result: Result, point: Point) -> str:
    x = _value(document, result.against, point.x)
    y = _value(document, result.measurement, point.y)
    seed = "" if point.replicate is None else f", seed {point.replicate}"
    out = "" if point.counted else ", outside the window"
    return f"{arm_label(document, point.arm)}{seed}: {y} at {x}{out}."


def _arm_said(document: Document, result: Result, arm: str) -> str:
    own = [point for point in result.points if point.arm == arm]
    ys, xs = [point.y for point in own], [point.x for point in own]
    y = fmt.span(*(_value(document, result.measurement, f(ys)) for f in (min, max)))
    x = fmt.span(*(_value(document, result.against, f(xs)) for f in (min, max)))
    out = sum(not point.counted for point in own)
    outside = f", {fmt.count(out)} outside the window" if out else ""
    many = fmt.number_of(len(own), "point")
    return f"{arm_label(document, arm)}: {many}, {y} at {x}{outside}."
