"""What all figures share: sizes of text, headings, legends and rows of ticks."""

from __future__ import annotations

from collections.abc import Sequence

from repro.report.figures.canvas import LINE, Axis, Sheet, text_width, ticks, wrap
from repro.report.pictures import Key

PAGE, PHONE = 500.0, 258.0
BODY, SMALL, HEAD = 9.6, 8.8, 10.2
DASHED: tuple[float, tuple[float, ...]] = (0, (4, 2.5))
DOTTED: tuple[float, tuple[float, ...]] = (0, (1.5, 1.5))


def is_wide(sheet: Sheet) -> bool:
    """Whether words have room left of their marks."""
    return sheet.width > 400


def heading(sheet: Sheet, text: str, top: float = 2.0) -> float:
    """The name of a panel; returns where the next thing may start, as all of these do."""
    lines = wrap(text, HEAD, sheet.width - 4, 4, weight="bold")
    return sheet.lines(0, top, lines, HEAD, weight="bold") + 4


def tick_row(
    sheet: Sheet, on: Axis, top: float, name: str, *, percent: bool = False, whole: bool = False
) -> float:
    """An axis with its ticks and labels, and its name below them."""
    sheet.line([on.left, on.right], [top, top], "muted", 0.8)
    for value, label in ticks(on, SMALL, percent=percent, whole=whole):
        at = on.at(value)
        sheet.line([at, at], [top, top + 3], "muted", 0.8)
        sheet.text(within(sheet, at, label), top + 4, label, SMALL, "muted", align="center")
    top += 4 + SMALL * LINE
    if not name:
        return top
    lines = wrap(name, SMALL, on.right - on.left, 3)
    middle = (on.left + on.right) / 2
    return sheet.lines(middle, top, lines, SMALL, colour="muted", align="center")


def within(sheet: Sheet, x: float, text: str) -> float:
    """The middle nearest to ``x`` at which ``text`` stays on the sheet."""
    half = text_width(text, SMALL) / 2 + 1
    return min(max(x, half), sheet.width - half)


def legend(sheet: Sheet, keys: Sequence[Key], top: float) -> float:
    """Marks and what they mean, side by side as far as there is room."""
    left = 0.0
    for key in keys:
        mark = 24.0 if key.shape in ("-", "--", "|") else 14.0
        label = wrap(key.label, SMALL, sheet.width - mark - 4, 1)[0]
        width = mark + text_width(label, SMALL)
        if left and left + width > sheet.width:
            left, top = 0.0, top + SMALL * LINE + 1
        _sample(sheet, key, left, top + SMALL * 0.68)
        sheet.text(left + mark, top, label, SMALL)
        left += width + 16
    return top + SMALL * LINE + 3 if keys else top


def _sample(sheet: Sheet, key: Key, left: float, middle: float) -> None:
    if key.shape == "|":
        sheet.line([left + 9] * 2, [middle - 5, middle + 5], key.colour, 1.2, DOTTED)
    elif key.shape.startswith("-"):
        dash = DASHED if key.shape == "--" else "-"
        sheet.line([left + 1, left + 18], [middle, middle], key.colour, 1.4, dash)
    else:
        sheet.marks([left + 5], [middle], key.colour, key.shape, 6, hollow=key.hollow)


def upright_ticks(sheet: Sheet, on: Axis, up: Axis, *, percent: bool = False) -> None:
    """Lines across a panel at the ticks of its upright axis, with their labels left of it."""
    for value, text in ticks(up, SMALL, upright=True, percent=percent):
        sheet.line([on.left, on.right], [up.at(value)] * 2, "rule", 0.8)
        top = up.at(value) - SMALL * 0.68
        sheet.text(on.left - 5, top, text, SMALL, "muted", align="right")


def label_room(up: Axis, *, percent: bool = False) -> float:
    """How wide the labels of an upright axis are, with some air."""
    labels = [text for _, text in ticks(up, SMALL, upright=True, percent=percent)]
    return max(text_width(text, SMALL) for text in labels) + 8
