"""An association as points: plain data of its scatter plot, with its words."""

from __future__ import annotations

from repro.report import format as fmt
from repro.report.blocks import Figure
from repro.report.document import Document, Point, Result
from repro.report.effects import effect_note
from repro.report.lookup import arm_label, colour_of, measurement_of, upper_first
from repro.report.pictures import Key, ScatterGroup, ScatterPlot

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
    return fmt.significant(number) if measurement is None else fmt.value(number, measurement)


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
