"""A measurement under other settings than the declared one, and how a figure of it is worded."""

from __future__ import annotations

from typing import NamedTuple


class CurveMark(NamedTuple):
    """A known setting on a curve, or a value that something else than a setting decides."""

    label: str
    setting: float | None = None
    value: float | None = None


class Curve(NamedTuple):
    """A measurement under other settings than the ``declared`` one: a value at each of these.

    ``marks`` are other settings that readers know. ``apart``: it is known at these settings alone,
    and nothing is known between them.
    """

    settings: tuple[float, ...]
    values: tuple[int, ...]
    declared: float
    marks: tuple[CurveMark, ...] = ()
    apart: bool = False


class TurnedWords(NamedTuple):
    """How a figure of curves with their axes exchanged is worded: title, both axes, caption.

    ``across`` is said of values that are marked.
    """

    title: str
    place: str
    size: str
    caption: str
    across: str = ""


class CurveWords(NamedTuple):
    """How a figure of such curves is worded: the setting, its axis, its mark, the caption.

    Where a value is the number of things above the setting, relative to the largest of them, a
    second figure has the things in falling order: ``turned`` are its words. ``across`` is said of
    values that are marked, and ``apart`` where values are known at a few settings alone.
    """

    setting: str = "setting"
    axis: str = "setting"
    mark: str = "as declared"
    caption: str = "One line per seed. The upright line A is the declared setting."
    turned: TurnedWords | None = None
    across: str = "A level line is a value that no setting decides."
    apart: str = "Dots are all that is known."
