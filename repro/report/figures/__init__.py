"""The figures: each panel is drawn once for a page and once for a phone, and never cuts a word.

A row is its words above its marks or left of them; words and marks take turns down the sheet, so
that no text can meet another whatever the labels and the numbers are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from repro.report.blocks import (
    DotPanel,
    DotPlot,
    EffectRow,
    Figure,
    LinePlot,
    LooksPlot,
    Plot,
    ScatterPlot,
    SpecificationPlot,
)
from repro.report.figures.canvas import PAGE, PHONE, Canvas, plain_style
from repro.report.figures.forest import forest, pieces, specification
from repro.report.figures.lines import lines
from repro.report.figures.points import looks, scatter, strip

PANELS: dict[type, Callable[[Canvas, Any], float]] = {
    DotPanel: strip,
    EffectRow: forest,
    ScatterPlot: scatter,
    LinePlot: lines,
    SpecificationPlot: specification,
    LooksPlot: looks,
}
"""What draws a panel, and returns where it ends."""


def draw(figure: Figure, *, phone: bool = False, paper: bool = False) -> list[str]:
    """The panels of a figure as SVG elements, the same bytes every time.

    On paper none is higher than a sheet, so that a page may end between two.
    """
    width = "phone" if phone else "page"
    panels = enumerate(_panels(figure.plot, paper=paper))
    return [_drawn(panel, f"{figure.name}-{i}-{width}", phone=phone) for i, panel in panels]


@lru_cache(maxsize=64)
def _drawn(panel: Any, name: str, *, phone: bool) -> str:
    """One panel; those of a page serve on paper, too."""
    with plain_style(name):
        sheet = Canvas(PHONE if phone else PAGE)
        return sheet.svg(PANELS[type(panel)](sheet, panel) + 2)


def draw_on_one_sheet(plots: Sequence[LinePlot], name: str) -> str:
    """Plots below each other as one SVG element, the same bytes every time."""
    with plain_style(name):
        sheet, top = Canvas(PAGE), 2.0
        for plot in plots:
            top = lines(sheet, plot, top) + 14
        return sheet.svg(top - 12)


def _panels(plot: Plot, *, paper: bool) -> list[object]:
    if isinstance(plot, DotPlot):
        return [*plot.panels, *plot.scatters, *plot.effects]
    return [*pieces(plot)] if paper and isinstance(plot, SpecificationPlot) else [plot]
