"""Where the scatter of a table comes from, source by source."""

from __future__ import annotations

from collections.abc import Iterator

from repro.judging.document import Document
from repro.judging.document_parts import VariationPart
from repro.report import words
from repro.report.blocks import Block, Column, Paragraph, TableBlock, numbers, texts
from repro.schema import numbers as fmt


def scatter_sources(document: Document) -> Iterator[Block]:
    """Where the scatter comes from, of each measurement whose rows say what was drawn for them."""
    for m in document.measurements:
        parts = [part for part in document.variation if part.measurement == m.key]
        rows = tuple(
            row for part in parts if not part.refused for row in _components(document, part)
        )
        if rows:
            columns = (
                *texts("Arm", "Source"),
                *numbers("Levels", "Standard deviation", "Share of the variance"),
                Column("95% interval, as a multiple"),
            )
            caption = f"{fmt.upper_first(m.label)}: where the scatter comes from"
            yield TableBlock(caption, columns, rows)
        for part in parts:
            if part.refused:
                label = words.arm_label(document, part.arm)
                yield Paragraph(f"{fmt.upper_first(m.label)}, {label}: {part.refused}.")
    if any(not part.refused for part in document.variation):
        yield Paragraph(
            "A source is what was drawn for a run. The interval is of its standard deviation, as a "
            "multiple of that of the rest. An estimate below 0 is 0."
        )


def _components(document: Document, part: VariationPart) -> Iterator[tuple[str, ...]]:
    label = words.arm_label(document, part.arm)
    for each in part.sources:
        times = fmt.DASH
        if each.low is not None:
            high = "any" if each.high is None else fmt.significant(each.high)
            times = f"{fmt.significant(each.low)} to {high}"
        cells = (fmt.count(each.levels), fmt.significant(each.sd), fmt.share(each.share))
        yield (label, each.source, *cells, times)
    rest = fmt.significant(part.rest_sd or 0.0), fmt.share(part.rest_share or 0.0)
    yield (label, "the rest", fmt.DASH, *rest, fmt.DASH)
