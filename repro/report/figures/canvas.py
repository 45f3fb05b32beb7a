"""The canvas that figures are drawn on, and what all share: text, headings, legends, ticks.

One unit is one point, and y grows downwards. matplotlib writes the SVG; the layout is ours, so
that no text can meet another one.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from matplotlib import rc_context, rcdefaults
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator

from repro.report.blocks import Key, Scale
from repro.report.palette import FACE, PRINT, spelled
from repro.schema import numbers as fmt

PAGE, PHONE = 500.0, 258.0
BODY, SMALL, HEAD = 9.6, 8.8, 10.2
DASHED: tuple[float, tuple[float, ...]] = (0, (4, 2.5))
DOTTED: tuple[float, tuple[float, ...]] = (0, (1.5, 1.5))
LINE = 1.36

LARGEST = 690.0
"""The largest logarithm whose number a computer holds, with some air."""


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Width of a line of text in points, in the wide face that the layout is made for."""
    face = FontProperties(family=FACE, size=size, weight=weight)
    shown = spelled(fmt.unbroken(text))
    return float(text_to_path.get_text_width_height_descent(shown, face, ismath=False)[0])


@contextmanager
def plain_style(name: str) -> Iterator[None]:
    """Matplotlib as it comes, whatever the user's own style is; SVG with text as text.

    Ids are made from ``name``, so that none repeats on a page.
    """
    with rc_context(), warnings.catch_warnings():
        rcdefaults()
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a page has it in another face
        with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
            yield


def wrap(text: str, size: float, width: float, most: int, weight: str = "normal") -> list[str]:
    """Lines of at most ``width`` points; long words are broken, and ``most`` lines are kept.

    ``width`` is 75 at least: a character that the face lacks is as wide as `[U+10FFFD]`.
    """
    longest = max(1, min(len(text), int(4 * width / size)))
    while True:
        lines = textwrap.wrap(fmt.unbroken(text[:600]), longest) or [""]
        if len(lines) > most:
            lines = [*lines[: most - 1], f"{lines[most - 1][: longest - 1]}…"]
        widest = max(text_width(line, size, weight) for line in lines)
        if widest <= width or longest == 1:
            return lines
        longest = max(1, min(longest - 1, int(longest * width / widest)))


@dataclass(frozen=True, slots=True)
class Axis:
    """Data -> points between ``left`` and ``right``, linear or logarithmic."""

    low: float
    high: float
    left: float
    right: float
    scale: Scale

    def at(self, value: float) -> float:
        """Where a value lies; values beyond the axis lie on its end."""
        low, high, here = self.low, self.high, value
        if self.scale == "log":
            low, high, here = (math.log(max(v, 1e-300)) for v in (low, high, value))
        share = min(max((here - low) / (high - low), 0.0), 1.0)
        return self.left + share * (self.right - self.left)


def axis(
    values: Sequence[float], left: float, right: float, scale: Scale, pad: float = 0.06
) -> Axis:
    """An axis that holds all values with some air; a single value gets some air as well."""
    low, high = min(values), max(values)
    log = scale == "log"
    if log:
        low, high = math.log(low), math.log(high)
    if high - low < 1e-9 * max(abs(low), abs(high), 1e-300):
        room = 0.2 if log else max(abs(low) * 0.02, 0.5)
        low, high = low - room, high + room
    low, high = low - pad * (high - low), high + pad * (high - low)
    if log:
        low, high = (math.exp(min(max(end, -LARGEST), LARGEST)) for end in (low, high))
    return Axis(low, high, left, right, scale)


def ticks(
    on: Axis, size: float, *, upright: bool = False, percent: bool = False, whole: bool = False
) -> list[tuple[float, str]]:
    """Round values with their labels, as many as stand apart; ``percent`` is for shares."""
    times, unit = (100, "%") if percent else (1, "")
    for most in (6, 5, 4, 3, 2):
        values = [v for v in _round_values(on, most) if on.low <= v <= on.high]
        values = [v for v in values if not whole or v == round(v)]
        scaled = [times * v for v in values]
        labels = [(v, f"{_tick_label(times * v, scaled)}{unit}") for v in values]
        if values and _apart(on, labels, size, upright=upright):
            return labels
    middle = math.sqrt(on.low * on.high) if on.scale == "log" else (on.low + on.high) / 2
    middle = round(middle) if whole else middle
    return [(middle, fmt.share(middle) if percent else fmt.significant(middle))]


def _round_values(on: Axis, most: int) -> list[float]:
    decades = math.log10(on.high) - math.log10(on.low) if on.scale == "log" else 0.0
    if decades < 0.9:
        return [
            float(v) for v in MaxNLocator(most, steps=[1, 2, 5, 10]).tick_values(on.low, on.high)
        ]
    first, last = math.floor(math.log10(on.low)), math.ceil(math.log10(on.high))
    steps = (1, 2, 5) if 3 * decades <= most else (1, 3) if 2 * decades <= most else (1,)
    stride = max(1, math.ceil(decades / most))
    return [m * 10.0**e for e in range(first, last + 1, stride) for m in steps]


def _tick_label(value: float, values: Sequence[float]) -> str:
    if value and not 1e-3 <= abs(value) < 1e6:
        shortest = (f"{value:.{digits}e}" for digits in range(13))
        exact = (text for text in shortest if math.isclose(float(text), value, rel_tol=1e-9))
        mantissa, exponent = next(exact, f"{value:.12e}").split("e")
        return fmt.signed(f"{mantissa}e{int(exponent)}")
    if len(values) > 1 and max(values) / (min(values) or 1) > 9 and min(values) > 0:
        return fmt.fixed(value, max(0, -math.floor(math.log10(value) + 1e-9)))
    step = min((b - a for a, b in pairwise(values)), default=1.0)
    return fmt.fixed(value, max(0, -math.floor(math.log10(step) + 1e-9)))


def _apart(on: Axis, labels: Sequence[tuple[float, str]], size: float, *, upright: bool) -> bool:
    """Whether no two labels meet, side by side or, on an upright axis, above each other."""
    spans = []
    for value, label in labels:
        half = size * LINE / 2 if upright else text_width(label, size) / 2
        spans.append((on.at(value) - half, on.at(value) + half))
    spans.sort()
    return all(b[0] - a[1] >= (2 if upright else 7) for a, b in pairwise(spans))


class Canvas:
    """An SVG in the making; draw from top to bottom, then `svg`."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.figure = Figure()
        FigureCanvasSVG(self.figure)
        self.axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set_axis_off()

    def text(
        self, x: float, top: float, text: str, size: float, colour: str = "ink",
        weight: str = "normal", align: str = "left",
    ) -> None:  # fmt: skip
        """A line of text whose box starts at ``top``; no character is markup."""
        self.axes.text(
            x, top + size * 1.02, fmt.unbroken(text), fontsize=size, color=PRINT[colour], ha=align,
            va="baseline", weight=weight, parse_math=False, family=FACE,
        )  # fmt: skip

    def lines(self, x: float, top: float, lines: Sequence[str], size: float, **how: Any) -> float:
        """Lines below each other; returns where the next thing may start."""
        for i, line in enumerate(lines):
            self.text(x, top + i * size * LINE, line, size, **how)
        return top + len(lines) * size * LINE

    def line(
        self, xs: Sequence[float], ys: Sequence[float], colour: str, width: float = 0.8,
        dash: Any = "-", opacity: float = 1.0,
    ) -> None:  # fmt: skip
        self.axes.add_line(Line2D(
            xs, ys, color=PRINT[colour], linewidth=width, linestyle=dash, alpha=opacity,
            solid_capstyle="round", solid_joinstyle="round", clip_on=False,
        ))  # fmt: skip

    def marks(
        self, xs: Sequence[float], ys: Sequence[float], colour: str, shape: str, size: float, *,
        hollow: bool = False,
    ) -> None:  # fmt: skip
        """Markers of one shape, ringed by the page so that neighbours stay countable."""
        face, edge = ("page", colour) if hollow else (colour, "page")
        self.axes.add_line(Line2D(
            xs, ys, linestyle="", marker=shape, markersize=size, color=PRINT[face],
            markeredgecolor=PRINT[edge], markeredgewidth=1.1 if hollow else 0.6, clip_on=False,
        ))  # fmt: skip

    def box(self, left: float, right: float, top: float, bottom: float, colour: str) -> None:
        """A filled rectangle behind everything."""
        xs, ys = [left, right, right, left], [top, top, bottom, bottom]
        self.axes.fill(xs, ys, color=PRINT[colour], linewidth=0, zorder=0, clip_on=False)

    @property
    def wide(self) -> bool:
        """Whether words have room left of their marks."""
        return self.width > 400

    def heading(self, text: str, top: float = 2.0) -> float:
        """The name of a panel; returns where the next thing may start, as all of these do."""
        lines = wrap(text, HEAD, self.width - 4, 4, weight="bold")
        return self.lines(0, top, lines, HEAD, weight="bold") + 4

    def legend(self, keys: Sequence[Key], top: float) -> float:
        """Marks and what they mean, side by side as far as there is room."""
        left = 0.0
        for key in keys:
            mark = 24.0 if key.shape in ("-", "--", "|") else 14.0
            label = wrap(key.label, SMALL, self.width - mark - 4, 1)[0]
            width = mark + text_width(label, SMALL)
            if left and left + width > self.width:
                left, top = 0.0, top + SMALL * LINE + 1
            middle = top + SMALL * 0.68
            if key.shape == "|":
                self.line([left + 9] * 2, [middle - 5, middle + 5], key.colour, 1.2, DOTTED)
            elif key.shape.startswith("-"):
                dash = DASHED if key.shape == "--" else "-"
                self.line([left + 1, left + 18], [middle, middle], key.colour, 1.4, dash)
            else:
                self.marks([left + 5], [middle], key.colour, key.shape, 6, hollow=key.hollow)
            self.text(left + mark, top, label, SMALL)
            left += width + 16
        return top + SMALL * LINE + 3 if keys else top

    def tick_row(
        self, on: Axis, top: float, name: str, *, percent: bool = False, whole: bool = False
    ) -> float:
        """An axis with its ticks and labels, and its name below them."""
        self.line([on.left, on.right], [top, top], "muted", 0.8)
        for value, label in ticks(on, SMALL, percent=percent, whole=whole):
            at = on.at(value)
            self.line([at, at], [top, top + 3], "muted", 0.8)
            self.text(self.within(at, label), top + 4, label, SMALL, "muted", align="center")
        top += 4 + SMALL * LINE
        if not name:
            return top
        lines = wrap(name, SMALL, on.right - on.left, 3)
        middle = (on.left + on.right) / 2
        return self.lines(middle, top, lines, SMALL, colour="muted", align="center")

    def upright_ticks(self, on: Axis, up: Axis, *, percent: bool = False) -> None:
        """Lines across a panel at the ticks of its upright axis, with their labels left of it."""
        for value, text in ticks(up, SMALL, upright=True, percent=percent):
            self.line([on.left, on.right], [up.at(value)] * 2, "rule", 0.8)
            top = up.at(value) - SMALL * 0.68
            self.text(on.left - 5, top, text, SMALL, "muted", align="right")

    def within(self, x: float, text: str) -> float:
        """The middle nearest to ``x`` at which ``text`` stays on the self."""
        half = text_width(text, SMALL) / 2 + 1
        return min(max(x, half), self.width - half)

    def svg(self, height: float) -> str:
        """The drawing as an SVG element, without prologue, metadata and the ids of groups."""
        self.figure.set_size_inches(self.width / 72, height / 72)
        self.axes.set_xlim(0, self.width)
        self.axes.set_ylim(height, 0)
        self.figure.patch.set_visible(False)
        out = io.StringIO()
        bare = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        self.figure.savefig(out, format="svg", metadata=bare)
        drawn = out.getvalue()
        return re.sub(r'<g id="[^"]*"', "<g", drawn[drawn.index("<svg") :])


def label_room(up: Axis, *, percent: bool = False) -> float:
    """How wide the labels of an upright axis are, with some air."""
    labels = [text for _, text in ticks(up, SMALL, upright=True, percent=percent)]
    return max(text_width(text, SMALL) for text in labels) + 8
