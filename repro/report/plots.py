"""What the figures show: plain data taken from the document, with captions and text alternatives.

Nothing is drawn here, and nothing is computed that the document does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from repro.report import format as fmt
from repro.report.blocks import (
    CurveLine,
    CurvePlot,
    DotPanel,
    DotPlot,
    DotRow,
    EffectRow,
    Figure,
    Mark,
    Paragraph,
    Scale,
)
from repro.report.document import Arm, Curve, Document, MeasurementPart, Result, Summary
from repro.report.palette import ARMS


def measurement_of(document: Document, key: str) -> MeasurementPart | None:
    """The measurement with that key; None when the document does not describe it."""
    return next((m for m in document.measurements if m.key == key), None)


def summary_of(arm: Arm, key: str) -> Summary | None:
    """What an arm measured under that key; None before its first run."""
    return next((s for s in arm.summaries if s.measurement == key), None)


def arm_label(document: Document, arm_id: str) -> str:
    """What a reader calls an arm."""
    return next((arm.label for arm in document.arms if arm.id == arm_id), arm_id)


def decisive(document: Document) -> tuple[Result, ...]:
    """The expectations that count."""
    return tuple(r for r in document.results if r.role == "decisive")


def digits_of(document: Document, result: Result) -> int:
    """Digits after the point of a difference on the axis of an expectation."""
    measurement = measurement_of(document, result.measurement)
    return 2 if measurement is None else max(measurement.digits, 0)


def effect_note(document: Document, result: Result) -> str:
    """`23.4 times, 90% interval from 20.1 times up: CONFIRMED`."""
    digits = digits_of(document, result)
    parts = [] if result.effect is None else [fmt.effect(result.effect, result.scale, digits)]
    if result.interval is not None:
        parts.append(fmt.interval(result.interval, result.scale, digits))
    return f"{', '.join(parts) or 'no effect yet'}: {result.conclusion or 'no conclusion'}"


def limit_text(document: Document, result: Result, at: float, label: str) -> str:
    """A limit by name and value; the value is not repeated where the label says it."""
    if at == 0 and "zero" in label.lower():
        return label
    said = re.findall(r"[-+]?[0-9]+(?:\.[0-9]+)?", label.replace(fmt.MINUS, "-"))
    if any(float(number) in (at, abs(at)) for number in said):
        return label
    return f"{label} ({fmt.effect(at, result.scale, digits_of(document, result))})"


def upper_first(text: str) -> str:
    """The text with a capital at its start."""
    return text[:1].upper() + text[1:]


def colour_of(document: Document, arm_id: str) -> str:
    """Each arm keeps its colour through all figures."""
    ids = [arm.id for arm in document.arms]
    return ARMS[ids.index(arm_id) % len(ARMS)] if arm_id in ids else ARMS[0]


def main_figure(document: Document) -> Figure | Paragraph:
    """Every seed a dot, and each decisive effect against its limits; words when nothing ran."""
    panels = tuple(_panel(document, m) for m in _shown_measurements(document))
    rows = [_effect(document, result) for result in decisive(document)]
    effects = tuple(row for row in rows if row is not None)
    if not effects and not any(row.values for panel in panels for row in panel.rows):
        return Paragraph("No run has been measured so far, so there is nothing to draw.")
    log = any(panel.scale == "log" for panel in panels)
    mean = "geometric mean of its arm, on a logarithmic axis" if log else "mean of its arm"
    caption = f"Each dot is one trained model; the upright stroke is the {mean}."
    if effects:
        caption += (
            " Below, each effect that decides the claim: a diamond with its interval, against the"
            " limits that the claim file declares; the shaded side is the claimed one."
        )
    return Figure("main", _main_alt(panels, effects), caption, DotPlot(panels, effects))


def _shown_measurements(document: Document) -> list[MeasurementPart]:
    keys = dict.fromkeys(result.measurement for result in decisive(document))
    found = [m for m in (measurement_of(document, key) for key in keys) if m is not None]
    return found or list(document.measurements[:1])


def _panel(document: Document, m: MeasurementPart) -> DotPanel:
    values = [r.values[m.key] for a in document.arms for r in a.replicates if m.key in r.values]
    ratio = any(r.scale == "ratio" and r.measurement == m.key for r in decisive(document))
    log = (m.kind == "rank" or ratio) and all(value > 0 for value in values)
    better = f"{m.better} is better"
    axis = f"{m.label}, logarithmic axis" if log else f"{m.label}, {better}"
    title = upper_first(m.label)
    scale = _scale(log=log)
    rows = tuple(_dot_row(document, arm, m, scale) for arm in document.arms)
    return DotPanel(title, axis, scale, rows)


def _scale(*, log: bool) -> Scale:
    return "log" if log else "linear"


def _dot_row(document: Document, arm: Arm, m: MeasurementPart, scale: Scale) -> DotRow:
    values = tuple(r.values[m.key] for r in arm.replicates if m.key in r.values)
    summary = summary_of(arm, m.key)
    mark = None if summary is None else summary.geometric_mean if scale == "log" else summary.mean
    bound = float(arm.rank_bound) if m.kind == "rank" and arm.rank_bound else None
    colour = colour_of(document, arm.id)
    return DotRow(arm.label, _row_note(summary, m, arm, scale), colour, values, mark, bound)


def _row_note(summary: Summary | None, m: MeasurementPart, arm: Arm, scale: Scale) -> str:
    if summary is None:
        return "no value yet"
    low, high = fmt.value(summary.low, m), fmt.value(summary.high, m)
    if low == high:
        note = f"{low} in {_all_seeds(summary.n)}"
    elif scale == "log" and summary.geometric_mean is not None:
        note = f"{fmt.span(low, high)}, geometric mean {fmt.value(summary.geometric_mean, m)}"
    else:
        note = f"{fmt.mean_and_sd(summary, m)}, {fmt.number_of(summary.n, 'seed')}"
    bounded = m.kind == "rank" and arm.rank_bound
    return f"{note}; bound {fmt.count(arm.rank_bound or 0)}" if bounded else note


def _all_seeds(n: int) -> str:
    return {1: "the only seed", 2: "both seeds"}.get(n, f"all {fmt.count(n)} seeds")


def _effect(document: Document, result: Result) -> EffectRow | None:
    if result.scale == "none" or (result.effect is None and result.interval is None):
        return None
    ends = None if result.interval is None else (result.interval.low, result.interval.high)
    points = [result.effect, *(ends or ()), *(limit.value for limit in result.limits)]
    log = result.scale == "ratio" and all(point is None or point > 0 for point in points)
    limits = tuple(
        Mark(limit.value, limit_text(document, result, limit.value, limit.label))
        for limit in result.limits
    )
    note = effect_note(document, result)
    title, scale = upper_first(result.effect_label), _scale(log=log)
    return EffectRow(title, note, scale, result.effect, ends, limits, _region(result))


def _region(result: Result) -> tuple[float | None, float | None] | None:
    values = [limit.value for limit in result.limits]
    if not values or result.claimed == "none":
        return None
    return {
        "below": (None, min(values)),
        "above": (max(values), None),
        "between": (min(values), max(values)),
    }[result.claimed]


def _main_alt(panels: Iterable[DotPanel], effects: Iterable[EffectRow]) -> str:
    said = [
        f"{panel.title}: " + "; ".join(f"{row.label} {row.note}" for row in panel.rows) + "."
        for panel in panels
    ]
    for row in effects:
        limits = "".join(f"; {limit.label}" for limit in row.limits)
        said.append(f"{row.title}: {row.note}{limits}.")
    return " ".join(said)


def curve_figures(document: Document) -> tuple[Figure, ...]:
    """rank(tolerance), one figure a measurement that has curves."""
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


def _curve_alt(document: Document, curve: Curve) -> str:
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
