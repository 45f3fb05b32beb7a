from __future__ import annotations

import re

import pytest

from repro.report.blocks import (
    AnalysisRow,
    DotPanel,
    DotPlot,
    DotRow,
    EffectAxis,
    EffectRow,
    Figure,
    Key,
    LooksPanel,
    LooksPlot,
    Mark,
    Plot,
    ScatterGroup,
    ScatterPlot,
    SpecificationPlot,
)
from repro.report.figures import draw
from repro.report.figures.canvas import axis, ticks
from repro.report.palette import PRINT

WIDTHS = pytest.mark.parametrize("phone", [False, True])


def drawn(plot: Plot, *, phone: bool = False) -> str:
    return "".join(draw(Figure("main", "alt", "caption", plot), phone=phone))


def effect(row: EffectRow) -> str:
    return drawn(DotPlot((), (row,)))


def test_outside_has_two_regions() -> None:
    """A claim that the effect lies beyond two limits shades both sides of the axis."""
    limits = (Mark(-0.3, "low"), Mark(0.3, "high"))
    outside = EffectAxis("linear", limits, ((None, -0.3), (0.3, None)), (-1.0, 1.0))
    between = EffectAxis("linear", limits, ((-0.3, 0.3),), (-1.0, 1.0))
    counts = [
        effect(EffectRow("t", "n", one, -0.9, (-0.98, -0.6))).count(f"fill: {PRINT['region']}")
        for one in (outside, between)
    ]
    assert counts == [2, 1]


@pytest.mark.parametrize(
    ("span", "percent", "first", "last"),
    [
        ((-1.0, 1.0), False, "−1.0", "1.0"),
        ((0.0, 1.0), True, "0\N{NO-BREAK SPACE}%", "100\N{NO-BREAK SPACE}%"),
    ],
)
def test_axes_with_ends(span: tuple[float, float], percent: bool, first: str, last: str) -> None:
    """The axis of a correlation or a share has its own ends, whatever was measured."""
    kind = EffectAxis("linear", span=span, percent=percent)
    svg = effect(EffectRow("t", "n", kind, 0.5, (0.45, 0.55)))
    assert f">{first}<" in svg
    assert f">{last}<" in svg


def test_percent_ticks() -> None:
    """A relative difference is read in per cent."""
    labels = [
        label for _, label in ticks(axis([-0.034, 0.01], 0, 400, "linear"), 8.8, percent=True)
    ]
    assert labels == ["−3%", "−2%", "−1%", "0%", "1%"]


def test_whole_ticks() -> None:
    """Seeds are counted: no tick stands between two of them."""
    for high in range(4, 40):
        values = [value for value, _ in ticks(axis([3, high], 0, 400, "linear"), 8.8, whole=True)]
        assert values
        assert all(value == round(value) for value in values)


def test_wins_and_losses_share_a_bar() -> None:
    """A proportion has a bar of two colours, and a legend that names both sides."""
    kind = EffectAxis("linear", span=(0.0, 1.0), percent=True)
    sides = (Key("MoS ahead: 8", "arm-1", "s"), Key("Softmax ahead: 3", "arm-2", "s"))
    svg = effect(EffectRow("t", "n", kind, 8 / 11, (0.4, 0.9), sides))
    assert ">MoS ahead: 8<" in svg
    assert ">Softmax ahead: 3<" in svg
    plain = effect(EffectRow("t", "n", kind, 8 / 11, (0.4, 0.9)))
    assert PRINT["arm-2"] in svg
    assert PRINT["arm-2"] not in plain


def scatter_of(hollow: tuple[tuple[float, float], ...] = ()) -> ScatterPlot:
    groups = (
        ScatterGroup(Key("A", "arm-1", "o"), ((400.0, 60.0), (402.0, 61.0)), ()),
        ScatterGroup(Key("B", "arm-2", "s"), ((9000.0, 57.0),), hollow),
    )
    return ScatterPlot("y against x", "x", "y", groups)


@WIDTHS
def test_a_mark_a_point(phone: bool) -> None:
    """Every point is drawn once, and every arm once more in the legend."""
    assert drawn(scatter_of(), phone=phone).count("<use ") == 3 + 2


def test_points_that_do_not_count_are_hollow() -> None:
    """A point outside the window is an outline, and the legend says what that means."""
    svg = drawn(scatter_of(((9100.0, 56.0),)))
    assert ">outside the declared window, not counted<" in svg
    assert svg.count("<use ") == 4 + 3
    outline = rf"fill: {PRINT['page']}; stroke: {PRINT['arm-2']}"
    assert re.search(outline, svg)
    assert not re.search(outline, drawn(scatter_of()))


def specification_of(n: int) -> SpecificationPlot:
    rows = tuple(
        AnalysisRow(
            f"analysis {i}", "CONFIRMED", "good", 0.01 * i, (0.01 * i - 1, None), "", i == 0
        )
        for i in range(n)
    )
    return SpecificationPlot("effect", EffectAxis("linear"), rows, (-1.0, 0.01 * n))


@WIDTHS
def test_a_row_an_analysis(phone: bool) -> None:
    """Sixty analyses are sixty rows, each with its name and its word."""
    svg = drawn(specification_of(60), phone=phone)
    assert all(f">analysis {i}<" in svg for i in range(60))
    assert svg.count(">CONFIRMED<") == 60


def test_long_curves_go_over_pages() -> None:
    """On paper no piece of a long curve is higher than a page, and all have the same axis."""
    pieces = draw(Figure("main", "alt", "caption", specification_of(60)), paper=True)
    assert sum(piece.count(">CONFIRMED<") for piece in pieces) == 60
    heights = [float(re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)"', piece)[0]) for piece in pieces]
    assert max(heights) < 690
    scales = {tuple(re.findall(r">([−\d.]+)</text>", piece)) for piece in pieces}
    assert len(scales) == 1


def test_analyses_without_effect_say_so() -> None:
    """An analysis in other units, or that refuses, has words where the others have a mark."""
    rows = (
        AnalysisRow("first", "CONFIRMED", "good", 1.0, (0.5, 1.5), "", True),
        AnalysisRow("second", "refused", "plain", None, None, "cannot be made", False),
    )
    svg = drawn(SpecificationPlot("effect", EffectAxis("linear"), rows, (0.5, 1.0, 1.5)))
    assert ">cannot be made<" in svg
    assert svg.count("<use ") == 1


def looks_of(intervals: tuple[tuple[float | None, float | None], ...]) -> LooksPlot:
    seeds = tuple(range(3, 3 + len(intervals)))
    panel = LooksPanel("effect", "linear", seeds, (), intervals, (Mark(0.0, "zero"),), None)
    return LooksPlot((panel,))


def test_intervals_beyond_the_axis_have_arrows() -> None:
    """The first looks know little: their intervals run off the axis, and arrows say so."""
    steady = looks_of(((-1.0, 1.0),) * 6)
    wide = looks_of(((-50.0, 60.0), *((-1.0, 1.0),) * 5))
    endless = looks_of(((None, None), *((-1.0, 1.0),) * 5))
    assert [drawn(one).count("<use ") for one in (steady, wide, endless)] == [0, 2, 2]


def test_looks_without_evidence_can_be_drawn() -> None:
    """A look without an e-value, or with one of zero, leaves a gap on the logarithmic axis."""
    panel = LooksPanel("e", "log", (3, 4, 5), (None, 0.0, 2.0), (), (Mark(20.0, "bound"),), None)
    assert drawn(LooksPlot((panel,))).count("<use ") == 1


def test_printed_means_are_drawn() -> None:
    """An arm of printed numbers has its stroke, though it has no dot."""
    row = DotRow("printed", "as printed", "arm-1", (), 56.4, None)
    other = DotRow("ours", "note", "arm-2", (57.0, 58.0), 57.5, None)
    panel = DotPanel("Perplexity", "perplexity", "linear", (row, other))
    strokes = [
        drawn(DotPlot((one,), ())).count(f"stroke: {PRINT['ink']}")
        for one in (panel, DotPanel("Perplexity", "perplexity", "linear", (other,)))
    ]
    assert strokes[0] == strokes[1] + 1
