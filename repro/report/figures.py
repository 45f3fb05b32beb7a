"""The figures: each is drawn once for a page and once for a phone, and never cuts a word.

A row is its words above or beside its strip of marks; words and strips take turns down the
sheet, so that no text can meet another whatever the labels and the numbers are.
"""

from __future__ import annotations

from dataclasses import replace

from repro.report.blocks import Figure
from repro.report.curves import curves
from repro.report.dots import dot_panel
from repro.report.drawing import Sheet, plain_style
from repro.report.layout import PAGE, PHONE
from repro.report.looks import looks
from repro.report.pictures import CurvePlot, DotPlot, LooksPlot, Plot, SpecificationPlot
from repro.report.scatter import scatter
from repro.report.specification import pieces, specification
from repro.report.strips import effect

START = 2.0


def draw(figure: Figure, *, phone: bool = False) -> str:
    """The figure as an SVG element in stand-in colours; the same bytes every time."""
    with plain_style():
        sheet = Sheet(PHONE if phone else PAGE)
        end = _drawn(sheet, figure.plot)
        return sheet.svg(end + 2, f"{figure.name}-{'phone' if phone else 'page'}")


def parts(figure: Figure) -> list[str]:
    """The figure for paper: a drawing for each panel, so that a page may end between two."""
    return [draw(replace(figure, plot=part)) for part in _parted(figure.plot)]


def _parted(plot: Plot) -> list[Plot]:
    if isinstance(plot, DotPlot):
        panels = [DotPlot((panel,), ()) for panel in plot.panels]
        scatters = [DotPlot((), (), (one,)) for one in plot.scatters]
        return [*panels, *scatters, *(DotPlot((), (row,)) for row in plot.effects)]
    if isinstance(plot, SpecificationPlot):
        return [*pieces(plot)]
    return [plot]


def _drawn(sheet: Sheet, plot: Plot) -> float:
    if isinstance(plot, DotPlot):
        return _main(sheet, plot)
    if isinstance(plot, CurvePlot):
        return curves(sheet, plot)
    if isinstance(plot, SpecificationPlot):
        return specification(sheet, plot, START)
    return looks(sheet, plot, START) if isinstance(plot, LooksPlot) else scatter(sheet, plot, START)


def _main(sheet: Sheet, plot: DotPlot) -> float:
    top = START
    for panel in plot.panels:
        top = dot_panel(sheet, panel, top) + 14
    for one in plot.scatters:
        top = scatter(sheet, one, top) + 14
    for row in plot.effects:
        top = effect(sheet, row, top) + 14
    return top - 12
