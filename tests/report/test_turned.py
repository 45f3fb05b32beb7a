"""The curve rank(tolerance), turned, is the spectrum: every point lies on its staircase."""

from __future__ import annotations

import numpy as np

from repro.report.blocks import CurvePlot, Figure, LinePlot, Lines, Mark
from repro.report.figure_data import curve_figures
from repro.report.figures import draw
from repro.report.words import PRINT
from tests.report.documents import base, make

SPECTRUM = np.geomspace(1, 1e-9, 300) ** 1.3
TOLERANCES = (1e-8, 1e-7, 2e-5, 1e-3, 0.3)


def test_every_point_lies_between_two_singular_values() -> None:
    counts = [int(np.sum(tolerance < SPECTRUM)) for tolerance in TOLERANCES]
    first = base()["curves"][0]
    curve = {**first, "tolerances": list(TOLERANCES), "ranks": [counts], "threshold": 2e-5}
    counted, turned = curve_figures(make(curves=[curve]))
    assert (counted.name, turned.name) == ("curves", "spectra")
    assert isinstance(counted.plot, CurvePlot)
    assert isinstance(turned.plot, LinePlot)
    (points,) = turned.plot.lines[0].replicates
    assert points[0] == (1.0, 1.0)
    for place, size in points[1:]:
        assert SPECTRUM[int(place) - 1] > size >= SPECTRUM[int(place)]
    assert [mark.at for mark in turned.plot.level] == [2e-5]
    assert f"{counts[-1]} above 0.3" in turned.alt
    assert f"{counts[0]} above 1.0e−08" in turned.alt


def test_every_mark_is_a_line_and_in_the_legend() -> None:
    lines = (Lines("one", "arm-1", (((1.0, 1.0), (10.0, 0.1)), ((1.0, 1.0), (20.0, 0.1)))),)
    plot = LinePlot("title", "x", "y", lines, (Mark(5.0, "five"),), (Mark(0.5, "half"),))
    (svg,) = draw(Figure("spectra", "alt", "caption", plot))
    assert all(f">{text}<" in svg for text in ("title", "x", "y", "one", "five", "half"))
    strokes = [svg.count(f"stroke: {PRINT[colour]}") for colour in ("arm-1", "warn", "arm-3")]
    assert strokes == [2 + 1, 1 + 1, 1 + 1]


def test_no_counts_say_so() -> None:
    (svg,) = draw(Figure("spectra", "alt", "caption", LinePlot("title", "x", "y", ())))
    assert ">nothing to draw<" in svg
