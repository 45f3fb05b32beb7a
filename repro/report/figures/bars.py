"""Intervals in the rows of a table: SVG written by hand, in the colours of a page or of paper."""

from __future__ import annotations

from collections.abc import Callable

from repro.report.blocks import EffectAxis, PartGroup, PartRow
from repro.report.figures.canvas import Axis, ticks
from repro.report.figures.forest import effect_axis
from repro.report.palette import PRINT
from repro.schema import numbers as fmt

WIDTH, HEIGHT, SIZE = 300.0, 34.0, 12.0
ON_PAPER = 16.5
"""The size of labels on paper, where a row is drawn at half its size."""
AIR = 4.0

Colour = Callable[[str], str]
"""The name of a colour -> how it is written."""


def bars(group: PartGroup, *, paper: bool = False) -> tuple[list[str], str]:
    """An SVG for each row, empty where nothing is drawn, and one with the ticks of all."""
    rows = [row for row in group.rows if row.axis is not None]
    if not rows:
        return [""] * len(group.rows), ""
    on = _shared(rows)
    colour = PRINT.__getitem__ if paper else "var(--{})".format
    drawn = [_bar(row, row.axis, on, colour) if row.axis else "" for row in group.rows]
    percent = bool(rows[0].axis and rows[0].axis.percent)
    return drawn, _ticks(on, colour("muted"), ON_PAPER if paper else SIZE, percent=percent)


def _shared(rows: list[PartRow]) -> Axis:
    """The axis that holds every effect, interval and limit of these rows."""
    kinds = [row.axis for row in rows if row.axis is not None]
    limits = tuple(limit for kind in kinds for limit in kind.limits)
    first = kinds[0]
    kind = EffectAxis(first.scale, limits, (), first.span, first.percent, first.zero)
    points = [point for row in rows for point in (row.effect, *(row.ends or ()))]
    held = [point for point in points if point is not None]
    return effect_axis(kind, held, AIR, WIDTH - AIR)


def _bar(row: PartRow, kind: EffectAxis, on: Axis, colour: Colour) -> str:
    parts = []
    for low, high in kind.regions:
        left = 0.0 if low is None else on.at(low)
        right = WIDTH if high is None else on.at(high)
        box = f'x="{left:.1f}" width="{right - left:.1f}" height="{HEIGHT:g}"'
        parts.append(f'<rect {box} fill="{colour("region")}"/>')
    limits = [limit.at for limit in kind.limits]
    if kind.scale == "linear" and kind.zero and on.low <= 0 <= on.high and 0 not in limits:
        parts.append(_upright(on.at(0.0), colour("muted")))
    parts += [_upright(on.at(limit), colour("warn"), "3 3") for limit in limits]
    ink, middle = colour("ink"), HEIGHT / 2
    if row.ends is not None:
        low, high = row.ends
        left = 1.0 if low is None else on.at(low)
        right = WIDTH - 1 if high is None else on.at(high)
        line = f'x1="{left:.1f}" x2="{right:.1f}" y1="{middle:g}" y2="{middle:g}"'
        parts.append(f'<line {line} stroke="{ink}" stroke-width="2"/>')
        for end, x, way in ((low, left, 1), (high, right, -1)):
            if end is None:
                arrow = f"{x:.1f},{middle:g} {x + 7 * way:.1f},{middle - 5:g}"
                arrow += f" {x + 7 * way:.1f},{middle + 5:g}"
                parts.append(f'<polygon points="{arrow}" fill="{ink}"/>')
    if row.effect is not None:
        at = f'cx="{on.at(row.effect):.1f}" cy="{middle:g}"'
        parts.append(f'<circle {at} r="4.5" fill="{ink}"/>')
    return _svg(HEIGHT, parts)


def _upright(x: float, colour: str, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    place = f'x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HEIGHT:g}"'
    return f'<line {place} stroke="{colour}"{dashed}/>'


def _ticks(on: Axis, colour: str, size: float, *, percent: bool) -> str:
    """The labels of the axis; those at its ends stay inside."""
    parts = []
    for value, label in ticks(on, size, percent=percent):
        half = 3.4 * len(label) * size / SIZE
        x = min(max(on.at(value), half), WIDTH - half)
        place = f'x="{x:.1f}" y="{size:g}" text-anchor="middle" font-size="{size:g}"'
        parts.append(f'<text {place} fill="{colour}">{fmt.unbroken(label)}</text>')
    return _svg(size + 5, parts)


def _svg(height: float, parts: list[str]) -> str:
    space = 'xmlns="http://www.w3.org/2000/svg"'
    return f'<svg {space} viewBox="0 0 {WIDTH:g} {height:g}">{"".join(parts)}</svg>'
