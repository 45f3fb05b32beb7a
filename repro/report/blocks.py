"""What a rendered report is made of: frozen records of finished text, the same for every format.

A template walks through them and decides nothing but looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from repro.report.pictures import Plot

Tone = Literal["good", "warn", "bad", "plain"]


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
class Figure:
    """A picture with its caption and its text alternative; ``name`` is its file's stem."""

    name: str
    alt: str
    caption: str
    plot: Plot
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
    cautions: tuple[Paragraph, ...]
    fields: tuple[Field, ...]
    chips: tuple[Chip, ...]
    changes: Section | None
    notice: Paragraph
    figure: Figure | Paragraph
    sections: tuple[Section, ...]
    footer: str

    def figures(self) -> tuple[Figure, ...]:
        """Every picture, in order."""
        blocks = [self.figure, *(b for section in self.sections for b in section.blocks)]
        return tuple(block for block in blocks if isinstance(block, Figure))
