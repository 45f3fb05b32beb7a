"""What pictures show: frozen records of numbers and finished text, before anything is drawn.

Colours are names of the palette. An absent end of a region or an interval is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scale = Literal["linear", "log"]
Ends = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class DotRow:
    """The values of one arm on one measurement; ``mark`` is their mean, ``bound`` a ceiling.

    ``spread`` is one standard deviation either side of the mean, where values are not known.
    """

    label: str
    note: str
    colour: str
    values: tuple[float, ...]
    mark: float | None
    bound: float | None
    spread: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class DotPanel:
    """One measurement: every seed a dot, a row an arm."""

    title: str
    axis: str
    scale: Scale
    rows: tuple[DotRow, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A declared limit on the axis of an effect."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of a legend: a mark of a ``shape`` (or a line: ``-``, ``--``) and what it means."""

    label: str
    colour: str
    shape: str
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class EffectAxis:
    """The axis of an effect, with its declared limits and the regions that the claim speaks of.

    ``span`` fixes the ends of an axis that has some, such as that of a correlation; ``percent``
    labels shares as percentages.
    """

    scale: Scale
    limits: tuple[Mark, ...] = ()
    regions: tuple[Ends, ...] = ()
    span: tuple[float, float] | None = None
    percent: bool = False


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One decisive expectation: its effect and interval against its limits.

    ``sides`` name what lies left and right of a share: a bar is divided between them.
    """

    title: str
    note: str
    axis: EffectAxis
    effect: float | None
    interval: Ends | None
    sides: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True)
class ScatterGroup:
    """The points of one arm; ``hollow`` ones lie outside the declared window."""

    key: Key
    points: tuple[tuple[float, float], ...]
    hollow: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class ScatterPlot:
    """An association: one measurement against another."""

    title: str
    x_label: str
    y_label: str
    groups: tuple[ScatterGroup, ...]


@dataclass(frozen=True, slots=True)
class DotPlot:
    """The main picture: what was measured, and what follows for each expectation."""

    panels: tuple[DotPanel, ...]
    effects: tuple[EffectRow, ...]
    scatters: tuple[ScatterPlot, ...] = ()


@dataclass(frozen=True, slots=True)
class CurveLine:
    """rank(tolerance) of one arm, one tuple of heights a replicate."""

    label: str
    colour: str
    xs: tuple[float, ...]
    replicates: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """How a count depends on its threshold."""

    x_label: str
    y_label: str
    lines: tuple[CurveLine, ...]
    thresholds: tuple[float, ...]
    threshold_label: str


@dataclass(frozen=True, slots=True)
class AnalysisRow:
    """One analysis: its effect and interval, or a note instead; its word in its colour."""

    label: str
    word: str
    colour: str
    effect: float | None
    interval: Ends | None
    note: str
    declared: bool


@dataclass(frozen=True, slots=True)
class SpecificationPlot:
    """An effect under every analysis; ``reach`` is all that the axis must hold."""

    title: str
    axis: EffectAxis
    rows: tuple[AnalysisRow, ...]
    reach: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LooksPanel:
    """What each look saw, a value or an interval, against upright lines and level ``limits``."""

    title: str
    scale: Scale
    seeds: tuple[int, ...]
    values: tuple[float | None, ...]
    intervals: tuple[Ends, ...]
    limits: tuple[Mark, ...]
    crossing: Mark | None
    percent: bool = False


@dataclass(frozen=True, slots=True)
class LooksPlot:
    """Evidence look by look, a panel below the other."""

    panels: tuple[LooksPanel, ...]
    x_label: str


Plot = DotPlot | CurvePlot | ScatterPlot | SpecificationPlot | LooksPlot
