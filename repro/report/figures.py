"""The figures: each is drawn once for a page and once for a phone, and never cuts a word.

A row is its words above or beside its strip of marks; words and strips take turns down the
sheet, so that no text can meet another whatever the labels and the numbers are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from repro.report.blocks import CurvePlot, DotPanel, DotPlot, DotRow, EffectRow, Figure
from repro.report.drawing import LINE, Axis, Sheet, axis, plain_style, text_width, ticks, wrap

PAGE, PHONE = 500.0, 258.0
BODY, SMALL, HEAD = 9.6, 8.8, 10.2
TALLEST = 92.0
DASHES: tuple[object, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))


def draw(figure: Figure, *, phone: bool = False) -> str:
    """The figure as an SVG element in stand-in colours; the same bytes every time."""
    plot = figure.plot
    with plain_style():
        sheet = Sheet(PHONE if phone else PAGE)
        end = _dots(sheet, plot) if isinstance(plot, DotPlot) else _curves(sheet, plot)
        return sheet.svg(end + 2, f"{figure.name}-{'phone' if phone else 'page'}")


def parts(figure: Figure) -> list[str]:
    """The figure for paper: a drawing for each panel, so that a page may end between two."""
    plot = figure.plot
    if not isinstance(plot, DotPlot):
        return [draw(figure)]
    plots = [DotPlot((panel,), ()) for panel in plot.panels]
    plots += [DotPlot((), (row,)) for row in plot.effects]
    return [draw(replace(figure, plot=part)) for part in plots]


def _wide(sheet: Sheet) -> bool:
    return sheet.width > 400


def _dots(sheet: Sheet, plot: DotPlot) -> float:
    top = 2.0
    for panel in plot.panels:
        top = _dot_panel(sheet, panel, top) + 14
    for row in plot.effects:
        top = _effect(sheet, row, top) + 14
    return top - 12


def _heading(sheet: Sheet, text: str, top: float) -> float:
    lines = wrap(text, HEAD, sheet.width - 4, 4, weight="bold")
    return sheet.lines(0, top, lines, HEAD, weight="bold") + 4


def _dot_panel(sheet: Sheet, panel: DotPanel, top: float) -> float:
    top = _heading(sheet, panel.title, top)
    values = [v for row in panel.rows for v in (*row.values, *_also(row))]
    left = 178.0 if _wide(sheet) else 10.0
    if not values:
        return _rows(sheet, panel, None, left, top)[-1][1]
    on = axis(values, left, sheet.width - 16, panel.scale)
    spans = _rows(sheet, panel, on, left, top)
    for row, (start, end) in zip(panel.rows, spans, strict=True):
        _strip(sheet, row, on, start, end)
    return _tick_row(sheet, on, spans[-1][1] + 2, panel.axis)


def _also(row: DotRow) -> list[float]:
    return [v for v in (row.mark, row.bound if row.values else None) if v is not None and v > 0]


def _rows(
    sheet: Sheet, panel: DotPanel, on: Axis | None, left: float, top: float
) -> list[tuple[float, float]]:
    """Write the words of every row; return where each row's strip starts and ends."""
    spans = []
    room = left - 14 if _wide(sheet) else sheet.width - 4
    for row in panel.rows:
        strip = _strip_height(row, on)
        end = sheet.lines(0, top, wrap(row.label, BODY, room, 3), BODY)
        end = sheet.lines(0, end, wrap(row.note, SMALL, room, 3), SMALL, colour="muted")
        if not _wide(sheet):
            spans.append((end + 1, end + 1 + strip))
            top = end + strip + 6
        else:
            tall = max(end - top, strip)
            spans.append((top, top + tall))
            top += tall + 7
    return spans


def _dot(row: DotRow) -> float:
    """The size of a dot: smaller where many seeds may have to stand above each other."""
    return min(5.6, max(TALLEST / (len(row.values) or 1), 3.2))


def _offsets(row: DotRow, on: Axis) -> list[float]:
    """How far each dot moves from the middle of its strip so that ties stay countable."""
    dot = _dot(row)
    placed: list[tuple[float, float]] = []
    offsets = [0.0] * len(row.values)
    for i in sorted(range(len(row.values)), key=lambda j: (row.values[j], j)):
        x, k = on.at(row.values[i]), 0
        while True:
            y = (k + 1) // 2 * dot * 0.92 * (1 if k % 2 else -1)
            if all(math.hypot(x - px, y - py) >= dot * 0.9 for px, py in placed):
                break
            k += 1
        placed.append((x, y))
        offsets[i] = y
    return offsets


def _strip_height(row: DotRow, on: Axis | None) -> float:
    if on is None or not row.values:
        return 16.0
    spread = [abs(offset) for offset in _offsets(row, on)]
    return min(max(2 * max(spread) + _dot(row) + 4, 20.0), TALLEST + 6)


def _strip(sheet: Sheet, row: DotRow, on: Axis, top: float, bottom: float) -> None:
    middle = (top + bottom) / 2
    sheet.line([on.left, on.right], [middle, middle], "rule", 0.8)
    if row.bound is not None and row.values:
        at = on.at(row.bound)
        sheet.line([at, at], [top, bottom], "muted", 1.0, (0, (1.5, 1.5)))
    if not row.values:
        return
    offsets = _offsets(row, on)
    room, reach = (bottom - top) / 2 - _dot(row) / 2, max(abs(offset) for offset in offsets)
    squeeze = min(1.0, room / reach) if reach else 1.0
    if row.mark is not None:
        at = on.at(row.mark)
        sheet.line([at, at], [top, bottom], "ink", 1.5)
    ys = [middle + offset * squeeze for offset in offsets]
    sheet.marks([on.at(v) for v in row.values], ys, row.colour, "o", _dot(row))


def _tick_row(sheet: Sheet, on: Axis, top: float, name: str) -> float:
    sheet.line([on.left, on.right], [top, top], "muted", 0.8)
    for value, label in ticks(on, SMALL):
        sheet.line([on.at(value)] * 2, [top, top + 3], "muted", 0.8)
        sheet.text(
            _within(sheet, on.at(value), label), top + 4, label, SMALL, "muted", align="center"
        )
    top += 4 + SMALL * LINE
    if not name:
        return top
    room = on.right - on.left
    return _centred(sheet, wrap(name, SMALL, room, 3), (on.left + on.right) / 2, top)


def _centred(sheet: Sheet, lines: Sequence[str], middle: float, top: float) -> float:
    return sheet.lines(middle, top, lines, SMALL, colour="muted", align="center")


def _within(sheet: Sheet, x: float, text: str) -> float:
    """The middle nearest to ``x`` at which ``text`` stays on the sheet."""
    half = text_width(text, SMALL) / 2 + 1
    return min(max(x, half), sheet.width - half)


def _effect(sheet: Sheet, row: EffectRow, top: float) -> float:
    top = _heading(sheet, row.title, top)
    top = sheet.lines(0, top - 3, wrap(row.note, SMALL, sheet.width - 4, 3), SMALL, colour="muted")
    ends = [end for end in row.interval or () if end is not None]
    points = [*ends, *(limit.at for limit in row.limits)]
    points += [] if row.effect is None else [row.effect]
    if row.scale == "linear":
        points.append(0.0)
    on = axis(points, 10, sheet.width - 16, row.scale, 0.09)
    strip = _limit_labels(sheet, row, on, top + 3)
    bottom = strip + 24
    if row.region is not None:
        low, high = row.region
        left = on.left if low is None else on.at(low)
        sheet.box(left, on.right if high is None else on.at(high), strip, bottom, "region")
    for limit in row.limits:
        sheet.line([on.at(limit.at)] * 2, [strip, bottom], "warn", 1.2, (0, (4, 2.5)))
    if row.scale == "linear" and all(limit.at for limit in row.limits):
        sheet.line([on.at(0.0)] * 2, [strip, bottom], "rule", 1.0)
    _estimate(sheet, row, on, (strip + bottom) / 2)
    return _tick_row(sheet, on, bottom, "")


def _limit_labels(sheet: Sheet, row: EffectRow, on: Axis, top: float) -> float:
    """Labels above their limits, on as many lines as they need; returns where the strip starts."""
    rows: list[list[tuple[float, float]]] = []
    for limit in sorted(row.limits, key=lambda mark: mark.at):
        label = wrap(limit.label, SMALL, sheet.width - 8, 1)[0]
        middle = _within(sheet, on.at(limit.at), label)
        half = text_width(label, SMALL) / 2
        box = (middle - half - 5, middle + half + 5)
        free = (
            i for i, others in enumerate(rows) if all(box[0] >= b or box[1] <= a for a, b in others)
        )
        line = next(free, len(rows))
        if line == len(rows):
            rows.append([])
        rows[line].append(box)
        sheet.text(middle, top + line * SMALL * LINE, label, SMALL, "warn", align="center")
    return top + len(rows) * SMALL * LINE + 1


def _estimate(sheet: Sheet, row: EffectRow, on: Axis, y: float) -> None:
    if row.interval is not None:
        low, high = row.interval
        left = on.left if low is None else on.at(low)
        right = on.right if high is None else on.at(high)
        sheet.line([left, right], [y, y], "ink", 2.2)
        for end, x, arrow in ((low, left, "<"), (high, right, ">")):
            if end is None:
                sheet.marks([x], [y], "ink", arrow, 7)
            else:
                sheet.line([x, x], [y - 4, y + 4], "ink", 1.6)
    if row.effect is not None:
        sheet.marks([on.at(row.effect)], [y], "ink", "D", 7)


def _curves(sheet: Sheet, plot: CurvePlot) -> float:
    top = _heading(sheet, plot.y_label, 2)
    top = _legend(sheet, plot, top) + 4
    points = [
        (x, y) for line in plot.lines for ys in line.replicates
        for x, y in zip(line.xs, ys, strict=False) if x > 0 and y > 0
    ]  # fmt: skip
    if not points:
        return sheet.lines(0, top, ["no curve"], SMALL, colour="muted")
    limits = [t for t in plot.thresholds if t > 0]
    left = 8 + _label_room([y for _, y in points])
    on = axis([*(x for x, _ in points), *limits], left, sheet.width - 16, "log", 0.03)
    label = _within(sheet, on.at(limits[0]), plot.threshold_label) if limits else 0
    if limits:
        sheet.text(label, top, plot.threshold_label, SMALL, "warn", align="center")
    top += SMALL * LINE + 2
    bottom = top + (150 if _wide(sheet) else 130)
    up = axis([y for _, y in points], bottom, top, "log", 0.06)
    for value, text in ticks(up, SMALL, upright=True):
        sheet.line([on.left, on.right], [up.at(value)] * 2, "rule", 0.8)
        sheet.text(left - 5, up.at(value) - SMALL * 0.68, text, SMALL, "muted", align="right")
    for limit in limits:
        sheet.line([on.at(limit)] * 2, [top, bottom], "warn", 1.2, (0, (4, 2.5)))
    _curve_lines(sheet, plot, on.at, up.at)
    return _tick_row(sheet, on, bottom, plot.x_label)


def _label_room(values: Sequence[float]) -> float:
    return max(text_width(f"{value:,.0f}", SMALL) for value in (max(values), 100)) + 6


def _legend(sheet: Sheet, plot: CurvePlot, top: float) -> float:
    for i, line in enumerate(plot.lines):
        y = top + SMALL * 0.7
        sheet.line([1, 25], [y, y], line.colour, 1.8, DASHES[i % len(DASHES)])
        top = sheet.lines(32, top, wrap(line.label, SMALL, sheet.width - 36, 2), SMALL)
    return top


def _curve_lines(
    sheet: Sheet, plot: CurvePlot, across: Callable[[float], float], up: Callable[[float], float]
) -> None:
    for i, line in enumerate(plot.lines):
        opacity = 1.0 if len(line.replicates) == 1 else 0.75
        for ys in line.replicates:
            shown = sorted((x, y) for x, y in zip(line.xs, ys, strict=False) if x > 0 and y > 0)
            xs, heights = [across(x) for x, _ in shown], [up(y) for _, y in shown]
            sheet.line(xs, heights, line.colour, 1.4, DASHES[i % len(DASHES)], opacity)
