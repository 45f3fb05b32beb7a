"""What a rendered report is made of: frozen records of finished text and of pictures.

A template walks through them and decides nothing but looks. A picture holds numbers and finished
text, before anything is drawn; its colours are names of the palette, and an absent end of a
region or an interval is infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Literal

Tone = Literal["good", "warn", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class Badge:
    """A word with a tone and an icon: meaning never rests on colour alone."""

    word: str
    tone: Tone
    icon: str


@dataclass(frozen=True, slots=True)
class Chip:
    """A short fact below the verdict: validity, agreement, a control, a flag, a deviation."""

    label: str
    badge: Badge


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: numbers stand right; codes and keys may break anywhere."""

    label: str
    kind: Literal["text", "number", "code", "key"] = "text"


def texts(*labels: str) -> tuple[Column, ...]:
    return tuple(Column(label) for label in labels)


def numbers(*labels: str) -> tuple[Column, ...]:
    return tuple(Column(label, "number") for label in labels)


@dataclass(frozen=True, slots=True)
class TableBlock:
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
class PartRow:
    """A decisive part, or several that say the same: claim, finding, verdict, one remark.

    ``found`` is its effect, ``interval`` what lies around it; ``alt`` says both in words.
    ``ends`` is the interval as numbers, and ``axis`` has the claimed side and the limits; without
    an effect on an axis there is no ``axis``, and nothing is drawn.
    """

    claim: str
    found: str
    interval: str
    badge: Badge
    remark: str
    alt: str
    axis: EffectAxis | None
    effect: float | None
    ends: Ends | None


@dataclass(frozen=True, slots=True)
class PartGroup:
    """Rows of one unit, which share an axis and its ``name``."""

    name: str
    rows: tuple[PartRow, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """What decides the claim, a row a part, and one line that explains the drawing."""

    groups: tuple[PartGroup, ...]
    note: str
    block: Literal["parts"] = "parts"


@dataclass(frozen=True, slots=True)
class StatementBlock:
    """One expectation: what was declared, what came out, and everything it rests on."""

    statement: str
    badge: Badge
    role: str
    sentence: str
    pairs: tuple[tuple[str, str], ...]
    block: Literal["finding"] = "finding"


@dataclass(frozen=True, slots=True)
class Formula:
    """What a test computes: its name, MathML of our own, and the same in one line of text."""

    label: str
    mathml: str
    plain: str
    block: Literal["formula"] = "formula"


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do next, with its command if there is one."""

    text: str
    command: str
    block: Literal["step"] = "step"


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with its caption and its text alternative; ``name`` is its file's stem."""

    name: str
    alt: str
    caption: str
    plot: Plot
    block: Literal["figure"] = "figure"


Block = TableBlock | Paragraph | Pairs | Parts | Formula | StatementBlock | Step | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its blocks."""

    id: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report as finished text, in the order in which it is read.

    All up to ``more`` is in sight; ``sections`` are folded on a page. ``cure`` is what to do
    about evidence that carries no conclusion. ``flip`` is what changed since the last verdict, and
    ``paper`` the address of the paper, where one is known.
    """

    page_title: str
    paper: str
    over: str
    scale: str
    running: str
    title: str
    quote: str
    citation: str
    flip: str
    verdict: Badge
    sentence: str
    cure: str
    parts: Parts | None
    chips: tuple[Chip, ...]
    notice: Paragraph
    changes: Section | None
    figure: Figure | Paragraph
    more: tuple[Figure, ...]
    sections: tuple[Section, ...]
    footer: str

    def figures(self) -> tuple[Figure, ...]:
        blocks = [self.figure, *self.more, *(b for part in self.sections for b in part.blocks)]
        return tuple(block for block in blocks if isinstance(block, Figure))


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
    """One measurement: one dot per seed, one row per arm; a line for each seed that is ``joined``.

    Of each of these the values in the order of the rows, None where an arm has none.
    """

    title: str
    axis: str
    scale: Scale
    rows: tuple[DotRow, ...]
    joined: tuple[tuple[float | None, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A declared limit on an axis; a ``letter`` at its line is that of its entry in the legend."""

    at: float
    label: str
    colour: str = "warn"
    letter: str = ""


def lettered(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """The marks with letters from A on; those past Z have none."""
    letters = [*ascii_uppercase, *[""] * len(marks)]
    return tuple(replace(mark, letter=letters[i]) for i, mark in enumerate(marks))


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
    labels shares as percentages; ``zero`` is false where 0 means nothing, as for a level.
    """

    scale: Scale
    limits: tuple[Mark, ...] = ()
    regions: tuple[Ends, ...] = ()
    span: tuple[float, float] | None = None
    percent: bool = False
    zero: bool = True


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
class Lines:
    """The lines of one arm, one a replicate, each by its points, which may not be ``joined``."""

    label: str
    colour: str
    replicates: tuple[tuple[tuple[float, float], ...], ...]
    joined: bool = True


@dataclass(frozen=True, slots=True)
class LinePlot:
    """Lines on two logarithmic axes, or two linear ones, with marks at values of either axis."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Lines, ...]
    upright: tuple[Mark, ...] = ()
    level: tuple[Mark, ...] = ()
    scale: Scale = "log"


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


Plot = DotPlot | LinePlot | ScatterPlot | SpecificationPlot | LooksPlot
