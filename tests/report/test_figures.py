from __future__ import annotations

import math
import re
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from repro.report.blocks import (
    DotPanel,
    DotPlot,
    DotRow,
    EffectAxis,
    EffectRow,
    Figure,
    Mark,
    Scale,
)
from repro.report.figures import draw
from repro.report.figures.canvas import axis, text_width, ticks, wrap
from repro.report.palette import DRAWN, PRINT
from repro.report.view import view
from repro.schema import numbers as fmt
from tests.report.cases import all_documents

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 6))
POSITIVE = st.floats(1e-6, 1e9)


@cache
def first_drawings(name: str, phone: bool) -> list[tuple[Figure, list[str]]]:
    """The figures of a document, each with its panels."""
    figures = view(all_documents()[name]).figures()
    return [(figure, draw(figure, phone=phone)) for figure in figures]


@pytest.mark.parametrize("name", list(all_documents()))
@pytest.mark.parametrize("phone", [False, True])
def test_deterministic(name: str, phone: bool) -> None:
    """Drawing twice gives the same bytes, without a date and with ids of their own."""
    ids: list[str] = []
    for figure, first in first_drawings(name, phone):
        assert first == draw(figure, phone=phone)
        for panel in first:
            assert "date" not in panel.lower()
            ids += re.findall(r' id="([^"]*)"', panel)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", list(all_documents()))
def test_only_the_colours_of_paper(name: str) -> None:
    """A theme can replace every colour: each is one of those that a style sheet looks for."""
    drawn = {PRINT[colour] for colour in DRAWN}
    for _, panels in first_drawings(name, phone=False):
        for panel in panels:
            styles = " ".join(re.findall(r'style="([^"]*)"', re.sub(r">[^<]+<", "><", panel)))
            assert set(re.findall(r"(?:fill|stroke): (#\w+)", styles)) <= drawn


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.sampled_from(["linear", "log"]))
def test_any_numbers_can_be_drawn(numbers: list[float], scale: Scale) -> None:
    """Whatever was measured, dots and ticks lie on the sheet and labels stand apart."""
    values = [abs(x) + 1e-6 for x in numbers] if scale == "log" else numbers
    on = axis(values, 20, 240, scale)
    assert all(20 <= on.at(value) <= 240 for value in values)
    spans = [
        (on.at(value) - text_width(label, 8.8) / 2, on.at(value) + text_width(label, 8.8) / 2)
        for value, label in ticks(on, 8.8)
    ]
    assert spans
    assert all(a[1] < b[0] for a, b in pairwise(spans))


@given(POSITIVE, POSITIVE)
def test_ticks_read_as_their_values(low: float, high: float) -> None:
    """A tick's label is its value."""
    for value, label in ticks(axis([low, high], 0, 400, "linear"), 8.8):
        assert float(label.replace(",", "").replace("−", "-")) == pytest.approx(
            value, rel=1e-6, abs=1e-12
        )


@example("\u07fd", 75, 1)
@example("\U000e0100" * 3, 75, 2)
@given(st.text(min_size=1, max_size=200), st.integers(75, 300), st.integers(1, 4))
def test_wrapped_lines_fit(text: str, width: int, most: int) -> None:
    """Wrapped text has at most so many lines, and none is wider than its room."""
    lines = wrap(fmt.clean(text), 9.6, width, most)
    assert 1 <= len(lines) <= most
    assert all(text_width(line, 9.6) <= width for line in lines)


def test_wrapping_loses_nothing_that_fits() -> None:
    """Text is kept whole when it fits, and ends in an ellipsis when it does not."""
    assert " ".join(wrap("one two three four", 9.6, 60, 4)) == "one two three four"
    assert wrap("one two three four five six", 9.6, 60, 1)[-1].endswith("…")


def drawn(figure: Figure, *, phone: bool = False) -> str:
    return "".join(draw(figure, phone=phone))


def figure_of(*rows: DotRow, effects: tuple[EffectRow, ...] = ()) -> Figure:
    panel = DotPanel("Rank", "rank", "log", rows)
    return Figure("main", "alt", "caption", DotPlot((panel,), effects))


@pytest.mark.parametrize("n", [1, 2, 5, 10, 30])
@pytest.mark.parametrize("phone", [False, True])
def test_ties_stay_countable(n: int, phone: bool) -> None:
    """Equal values are dots at different heights, as many as there are seeds."""
    svg = drawn(figure_of(DotRow("a", "note", "arm-1", (402.0,) * n, 402.0, 402.0)), phone=phone)
    dots = re.findall(r'<use [^>]*x="([\d.]+)" y="([\d.]+)"', svg)
    heights = [float(y) for _, y in dots]
    assert len(dots) == n
    assert len(set(heights)) == n
    assert {x for x, _ in dots} == {dots[0][0]}


def test_open_intervals_have_arrows() -> None:
    """An interval without an end runs to the edge of its strip and ends in an arrow."""
    zero = EffectAxis("linear", (Mark(0.0, "zero"),), ((0.0, None),))
    row = EffectRow("t", "n", zero, 1.0, (0.5, None))
    closed = EffectRow("t", "n", zero, 1.0, (0.5, 1.5))
    dots = DotRow("a", "n", "arm-1", (1.0,), None, None)
    arrows = [drawn(figure_of(dots, effects=(one,))).count("<use ") for one in (row, closed)]
    assert arrows[0] == arrows[1] + 1


def test_dollar_signs_are_no_formulas() -> None:
    """A label with dollar signs is not read as mathematics."""
    label = r"$\frac{1}{$"
    assert label in drawn(figure_of(DotRow(label, "n", "arm-1", (1.0,), None, None)))


def test_arms_without_values_have_their_row() -> None:
    """An arm that has not run is named, and no dot is drawn for it."""
    svg = drawn(figure_of(DotRow("late", "no value yet", "arm-1", (), None, 402.0)))
    assert ">no value yet<" in svg
    assert "<use" not in svg


def test_axis_of_one_value() -> None:
    """A single value lies in the middle of its axis."""
    on = axis([402.0, 402.0], 0, 100, "linear")
    assert math.isclose(on.at(402.0), 50, abs_tol=0.5)
    on = axis([402.0, 402.0], 0, 100, "log")
    assert math.isclose(on.at(402.0), 50, abs_tol=0.5)
