"""The curve rank(tolerance), turned, is the spectrum: every point lies on its staircase."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from repro.report.blocks import Figure, LinePlot, Lines, Mark, lettered
from repro.report.curve_figures import curve_figures
from repro.report.figures import draw
from repro.report.palette import PRINT
from tests.report.documents import base, make

SPECTRUM = np.geomspace(1, 1e-9, 300) ** 1.3
TOLERANCES = (1e-8, 1e-7, 2e-5, 1e-3, 0.3)


def test_every_point_lies_between_two_singular_values() -> None:
    counts = [int(np.sum(tolerance < SPECTRUM)) for tolerance in TOLERANCES]
    first = base()["curves"][0]
    curve = {**first, "tolerances": list(TOLERANCES), "ranks": [counts], "threshold": 2e-5}
    curve["marks"] = []
    counted, turned = curve_figures(make(curves=[curve]))
    assert (counted.name, turned.name) == ("curves", "spectra")
    assert isinstance(counted.plot, LinePlot)
    assert [mark.at for mark in counted.plot.upright] == [2e-5]
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
    five, half = Mark(5.0, "five", "warn", "A"), Mark(0.5, "half", "arm-3", "B")
    plot = LinePlot("title", "x", "y", lines, (five,), (half,))
    (svg,) = draw(Figure("spectra", "alt", "caption", plot))
    assert all(f">{text}<" in svg for text in ("title", "x", "y", "one", "five", "half"))
    assert [svg.count(f">{letter}<") for letter in "AB"] == [2, 2]  # in the legend, at its line
    strokes = [svg.count(f"stroke: {PRINT[colour]}") for colour in ("arm-1", "warn", "arm-3")]
    assert strokes == [2 + 1, 1, 1]


def test_no_counts_say_so() -> None:
    (svg,) = draw(Figure("spectra", "alt", "caption", LinePlot("title", "x", "y", ())))
    assert ">nothing to draw<" in svg


def test_letters_of_lines_that_are_close_stand_apart() -> None:
    """Those of 1.81e-5 and 2e-5 would lie on each other."""
    lines = (Lines("one", "arm-1", (((1e-6, 900.0), (1e-2, 3.0)),)),)
    marks = lettered([Mark(1.81e-5, "a"), Mark(2e-5, "b"), Mark(2.1e-5, "c"), Mark(9.9e-3, "d")])
    for plot in (
        LinePlot("title", "x", "y", lines, upright=marks),
        LinePlot("title", "x", "y", lines, level=marks),
    ):
        (svg,) = draw(Figure("curves", "alt", "caption", plot))
        places = [place_of(letter, svg) for letter in "ABCD"]
        distances = [abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(places)]
        assert min(distances) >= 8.8


def place_of(text: str, svg: str) -> tuple[float, float]:
    """Where the letter of a mark stands at its line."""
    pattern = r'<text [^>]*?x="([-.0-9]+)" y="([-.0-9]+)"[^>]*>' + text + "<"
    _, found = re.finditer(pattern, svg)  # the legend is before it
    return float(found[1]), float(found[2])


def test_counts_without_a_spectrum_are_dots() -> None:
    """Nothing is known between them, so nothing is drawn there, and the caption says so."""
    curve = {
        "arm": "mos", "measurement": base()["curves"][0]["measurement"], "apart": True,
        "tolerances": [1e-5, 1e-4], "ranks": [[900, 300]], "threshold": 1e-5,
    }  # fmt: skip
    for figure in curve_figures(make(curves=[curve])):
        assert isinstance(figure.plot, LinePlot)
        assert not figure.plot.lines[0].joined
        assert "without a spectrum" in figure.caption
        (svg,) = draw(figure)
        assert svg.count("<use") >= 2
