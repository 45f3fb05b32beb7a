"""Lines on two logarithmic axes, or two linear ones, with marked values."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from repro.report.blocks import LinePlot, Lines, Mark, Scale
from repro.report.figures.canvas import (
    DASHED,
    LINE,
    SMALL,
    Axis,
    Canvas,
    axis,
    label_room,
    text_width,
    wrap,
)

DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
"""Dashes of the arms, in their order."""

DOT = 5.0
LETTER = 9.0
"""Room for the letter of a mark."""


def lines(sheet: Canvas, plot: LinePlot, top: float = 2.0) -> float:
    """Every arm in its own colour and dashes; a legend says what the marks are."""
    top = sheet.heading(plot.title, top)
    top = _legend(sheet, plot, top) + 2
    drawn = [
        (i, [(x, y) for x, y in points if plot.scale == "linear" or (x > 0 and y > 0)])
        for i, each in enumerate(plot.lines)
        for points in each.replicates
    ]
    shown = [point for _, points in drawn for point in points]
    if not shown:
        return sheet.lines(0, top, ["nothing to draw"], SMALL, colour="muted")
    top = sheet.lines(0, top, wrap(plot.y_label, SMALL, sheet.width - 4, 2), SMALL, colour="muted")
    top += SMALL * LINE if any(mark.letter for mark in plot.upright) else 0
    bottom = top + 4 + (150 if sheet.wide else 130)
    heights = [*(y for _, y in shown), *_drawable(plot.level, plot.scale)]
    up = axis(heights, bottom, top + 4, plot.scale, 0.06)
    span = [*(x for x, _ in shown), *_drawable(plot.upright, plot.scale)]
    on = axis(span, label_room(up), sheet.width - 16, plot.scale, 0.03)
    sheet.upright_ticks(on, up)
    _marks(sheet, plot, on, up)
    for i, points in drawn:
        _line(sheet, plot, i, [on.at(x) for x, _ in points], [up.at(y) for _, y in points])
    return sheet.tick_row(on, bottom, plot.x_label) + SMALL * (LINE - 1)


def _line(sheet: Canvas, plot: LinePlot, i: int, xs: list[float], ys: list[float]) -> None:
    """A replicate of the i-th arm: a line, or dots where nothing is known between its points."""
    each = plot.lines[i]
    if not each.joined:
        sheet.marks(xs, ys, each.colour, "o", DOT)
        return
    opacity = 1.0 if len(each.replicates) == 1 else 0.75
    sheet.line(xs, ys, each.colour, 1.4, DASHES[i % len(DASHES)], opacity)


def _marks(sheet: Canvas, plot: LinePlot, on: Axis, up: Axis) -> None:
    """Upright and level lines, each with its letter at its end; letters that are close give way."""
    bottom, top = up.left, up.right
    uprights = sorted(plot.upright, key=lambda mark: mark.at)
    for mark in uprights:
        sheet.line([on.at(mark.at)] * 2, [top, bottom], mark.colour, 1.1, DASHED)
    middles = _apart([on.at(mark.at) for mark in uprights], LETTER, sheet.width - LETTER / 2)
    for mark, middle in zip(uprights, middles, strict=True):
        row = top - SMALL * LINE
        sheet.text(middle, row, mark.letter, SMALL, mark.colour, "bold", "center")
    levels = sorted(plot.level, key=lambda mark: -mark.at)
    for mark in levels:
        sheet.line([on.left, on.right], [up.at(mark.at)] * 2, mark.colour, 1.2, DASHED)
    middles = _apart([up.at(mark.at) for mark in levels], SMALL * 1.15, bottom)
    for mark, middle in zip(levels, middles, strict=True):
        place = middle - SMALL * 0.68
        sheet.text(on.right + 4, place, mark.letter, SMALL, mark.colour, "bold")


def _apart(places: Sequence[float], gap: float, most: float) -> list[float]:
    """The rising places, moved as little as a ``gap`` between them needs, up to ``most``."""
    groups: list[list[float]] = []  # of places that touch, less the gaps before each
    for i, place in enumerate(places):
        groups.append([place - i * gap])
        while len(groups) > 1 and fmean(groups[-2]) > fmean(groups[-1]):
            last = groups.pop()
            groups[-1] += last
    firsts = [fmean(group) for group in groups for _ in group]
    limit = most - gap * (len(firsts) - 1)
    return [min(first, limit) + i * gap for i, first in enumerate(firsts)]


def _legend(sheet: Canvas, plot: LinePlot, top: float) -> float:
    """Arms and marks, side by side as far as there is room."""
    marks = sorted(dict.fromkeys((*plot.upright, *plot.level)), key=lambda mark: mark.letter)
    keys: list[tuple[Lines | Mark, Any]] = [
        *((each, DASHES[i % len(DASHES)]) for i, each in enumerate(plot.lines)),
        *((mark, DASHED) for mark in marks),
    ]
    left, height = 0.0, 0.0
    for key, dash in keys:
        room = LETTER + 4 if isinstance(key, Mark) and key.letter else 28.0
        text = wrap(key.label, SMALL, sheet.width - room - 4, 2)
        width = room + max(text_width(line, SMALL) for line in text)
        if left and left + width > sheet.width:
            left, top, height = 0.0, top + height, 0.0
        middle = top + SMALL * 0.68
        if isinstance(key, Mark) and key.letter:
            sheet.text(left, top, key.letter, SMALL, key.colour, "bold")
        elif isinstance(key, Lines) and not key.joined:
            sheet.marks([left + 11], [middle], key.colour, "o", DOT)
        else:
            sheet.line([left + 1, left + 21], [middle] * 2, key.colour, 1.4, dash)
        bottom = sheet.lines(left + room, top, text, SMALL)
        left, height = left + width + 16, max(height, bottom - top + 1)
    return top + height + 2


def _drawable(marks: Sequence[Mark], scale: Scale) -> list[float]:
    return [mark.at for mark in marks if scale == "linear" or mark.at > 0]
