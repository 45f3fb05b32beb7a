"""Strip plots: one dot per seed, one row per arm."""

from __future__ import annotations

import math

from repro.report.blocks import DotPanel, DotRow
from repro.report.figures.canvas import (
    BODY,
    DOTTED,
    SMALL,
    Axis,
    Canvas,
    axis,
    heading,
    is_wide,
    tick_row,
    wrap,
)

TALLEST = 92.0


def strip(sheet: Canvas, panel: DotPanel) -> float:
    """A measurement: the words of each arm left of its dots, or above them."""
    top = heading(sheet, panel.title)
    values = [v for row in panel.rows for v in (*row.values, *_also(row))]
    left = 178.0 if is_wide(sheet) else 10.0
    if not values:
        return _rows(sheet, panel, None, left, top)[-1][1]
    on = axis(values, left, sheet.width - 16, panel.scale)
    spans = _rows(sheet, panel, on, left, top)
    for row, (start, end) in zip(panel.rows, spans, strict=True):
        _dots(sheet, row, on, start, end)
    return tick_row(sheet, on, spans[-1][1] + 2, panel.axis)


def _also(row: DotRow) -> list[float]:
    also = (row.mark, row.bound if row.values else None, *(row.spread or ()))
    return [v for v in also if v is not None]


def _rows(
    sheet: Canvas, panel: DotPanel, on: Axis | None, left: float, top: float
) -> list[tuple[float, float]]:
    """Write the words of every row; return where each row's strip starts and ends."""
    spans = []
    room = left - 14 if is_wide(sheet) else sheet.width - 4
    for row in panel.rows:
        height = _height(row, on)
        end = sheet.lines(0, top, wrap(row.label, BODY, room, 3), BODY)
        end = sheet.lines(0, end, wrap(row.note, SMALL, room, 3), SMALL, colour="muted")
        if not is_wide(sheet):
            spans.append((end + 1, end + 1 + height))
            top = end + height + 6
        else:
            tall = max(end - top, height)
            spans.append((top, top + tall))
            top += tall + 7
    return spans


def _dot(row: DotRow) -> float:
    """The size of a dot: smaller where many seeds may have to stand above each other."""
    return min(5.6, max(TALLEST / (len(row.values) or 1), 3.2))


def _offsets(row: DotRow, on: Axis) -> list[float]:
    """How far each dot moves from the middle of its strip so that ties stay countable.

    From left to right, so that only the dots that were placed last can be met.
    """
    dot = _dot(row)
    placed: list[tuple[float, float]] = []
    near = 0
    offsets = [0.0] * len(row.values)
    for i in sorted(range(len(row.values)), key=lambda j: (row.values[j], j)):
        x = on.at(row.values[i])
        while near < len(placed) and x - placed[near][0] >= dot * 0.9:
            near += 1
        y = _free_height(x, dot, placed[near:])
        placed.append((x, y))
        offsets[i] = y
    return offsets


def _free_height(x: float, dot: float, near: list[tuple[float, float]]) -> float:
    """The height nearest to the middle at which a dot at ``x`` meets none of those near it.

    Each of those can stand in the way of three heights, so one of this many is free; the middle
    where no place can be computed, of values too large to draw.
    """
    for k in range(3 * len(near) + 1):
        y = (k + 1) // 2 * dot * 0.92 * (1 if k % 2 else -1)
        if all(math.hypot(x - px, y - py) >= dot * 0.9 for px, py in near):
            return y
    return 0.0


def _height(row: DotRow, on: Axis | None) -> float:
    if on is None or not row.values:
        return 16.0
    spread = [abs(offset) for offset in _offsets(row, on)]
    return min(max(2 * max(spread) + _dot(row) + 4, 20.0), TALLEST + 6)


def _dots(sheet: Canvas, row: DotRow, on: Axis, top: float, bottom: float) -> None:
    middle = (top + bottom) / 2
    sheet.line([on.left, on.right], [middle, middle], "rule", 0.8)
    if row.bound is not None and row.values:
        at = on.at(row.bound)
        sheet.line([at, at], [top, bottom], "muted", 1.0, DOTTED)
    if row.spread is not None:
        low, high = (on.at(end) for end in row.spread)
        sheet.line([low, high], [middle, middle], row.colour, 2.2)
        for end in (low, high):
            sheet.line([end, end], [middle - 4, middle + 4], row.colour, 1.4)
    if row.mark is not None:
        at = on.at(row.mark)
        sheet.line([at, at], [top, bottom], "ink", 1.5)
    if not row.values:
        return
    offsets = _offsets(row, on)
    room, reach = (bottom - top) / 2 - _dot(row) / 2, max(abs(offset) for offset in offsets)
    squeeze = min(1.0, room / reach) if reach else 1.0
    ys = [middle + offset * squeeze for offset in offsets]
    sheet.marks([on.at(v) for v in row.values], ys, row.colour, "o", _dot(row))
