"""What a rendered report is made of: frozen records of finished text, the same for every format.

A template walks through them and decides nothing but looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "warn", "bad", "plain"]
Scale = Literal["linear", "log"]


@dataclass(frozen=True, slots=True)
class Badge:
    """A word with a tone and an icon: meaning never rests on colour alone."""

    word: str
    tone: Tone
    icon: str


@dataclass(frozen=True, slots=True)
class Field:
    """One of the three fields of a verdict: its name, its word, its reason."""

    label: str
    badge: Badge
    reason: str


@dataclass(frozen=True, slots=True)
class Chip:
    """A short fact below the verdict: a control, a flag, a deviation."""

    label: str
    badge: Badge


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: numbers stand right; codes and keys may break anywhere."""

    label: str
    kind: Literal["text", "number", "code", "key"] = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of finished text; the first cell of a row names the row."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    block: Literal["table"] = "table"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; ``lead`` is printed bold before it."""

    text: str
    lead: str = ""
    block: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Terms and what they are."""

    pairs: tuple[tuple[str, str], ...]
    block: Literal["pairs"] = "pairs"


@dataclass(frozen=True, slots=True)
class Finding:
    """One expectation: what was declared, what came out, and everything it rests on."""

    statement: str
    badge: Badge
    role: str
    sentence: str
    pairs: tuple[tuple[str, str], ...]
    block: Literal["finding"] = "finding"


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do next, with its command if there is one."""

    text: str
    command: str
    block: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class DotRow:
    """The values of one arm on one measurement; ``mark`` is their mean, ``bound`` a ceiling."""

    label: str
    note: str
    colour: str
    values: tuple[float, ...]
    mark: float | None
    bound: float | None


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
class EffectRow:
    """One decisive expectation: its effect and interval against its limits.

    ``region`` is the part of the axis that the claim speaks of; an absent end is infinite.
    """

    title: str
    note: str
    scale: Scale
    effect: float | None
    interval: tuple[float | None, float | None] | None
    limits: tuple[Mark, ...]
    region: tuple[float | None, float | None] | None


@dataclass(frozen=True, slots=True)
class DotPlot:
    """The main picture: what was measured, and what follows for each expectation."""

    panels: tuple[DotPanel, ...]
    effects: tuple[EffectRow, ...]


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
class Figure:
    """A picture with its caption and its text alternative; ``name`` is its file's stem."""

    name: str
    alt: str
    caption: str
    plot: DotPlot | CurvePlot
    block: Literal["figure"] = "figure"


Block = Table | Paragraph | Pairs | Finding | Step | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its blocks; a folded one waits for a click on a page."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report as finished text, in the order in which it is read."""

    page_title: str
    over: str
    scale: str
    running: str
    title: str
    quote: str
    citation: str
    verdict: Badge
    sentence: str
    fields: tuple[Field, ...]
    chips: tuple[Chip, ...]
    notice: Paragraph
    figure: Figure | Paragraph
    sections: tuple[Section, ...]
    footer: str

    def figures(self) -> tuple[Figure, ...]:
        """Every picture, in order."""
        blocks = [self.figure, *(b for section in self.sections for b in section.blocks)]
        return tuple(block for block in blocks if isinstance(block, Figure))
