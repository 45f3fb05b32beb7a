"""The last page on paper: what was tested and how, the settings, the machine. All else is left out.

Lists end at a number of rows and texts at a number of letters, so that one page holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repro.judging.document import Document
from repro.report import badges, lookups
from repro.report.blocks import Block, Column, Pairs, Paragraph, Section, TableBlock
from repro.report.figure_data import limit_text
from repro.report.formats import ReportFormat
from repro.report.formulas import formula
from repro.report.sections.methods import (
    DIFFER,
    FEW,
    claim_pairs,
    provenance,
    settings_tables,
    trained,
)
from repro.schema import numbers as fmt

Terms = Sequence[tuple[str, str]]

TESTS, LIMITS, SETTINGS, ARMS = 3, 4, 36, 5
LONGEST, CELL = 170, 64
"""Letters of a text, and of a cell."""


def settings_and_methods(document: Document, written: Sequence[ReportFormat]) -> Section:
    """One page, which ends with the names of the files that were ``written`` and hold the rest."""
    blocks: list[Block] = [_pairs([*claim_pairs(document).pairs, *_judged(document)])]
    blocks += _settings(document)
    made = [each for each in provenance(document) if isinstance(each, Pairs)]
    for each in made:
        blocks += [Paragraph("", "When and where it was run"), _pairs(each.pairs)]
    if rest := [each.file for each in written if each.file in HOLDS]:
        said = [f"{file} has {HOLDS[file]}" for file in rest]
        blocks.append(Paragraph(fmt.sentence("; ".join(said)), "The rest is beside this file:"))
    return Section("paper", "Settings and methods", tuple(blocks))


HOLDS = {
    "report.html": "the parts one by one, every analysis, setting and run",
    "report.json": "the same for programs",
    "values.csv": "every value",
}


def _judged(document: Document) -> Iterator[tuple[str, str]]:
    """When it was declared, and each test and limit of what decides it, once."""
    if document.registration is not None:
        yield "Declared", badges.REGISTRATIONS[document.registration.state]
    decisive = lookups.decisive(document)
    tests = [f"{each.test}, at level α = {fmt.setting(each.alpha)}" for each in decisive]
    yield from _few("Test", tests, TESTS)
    found = [formula(each.test, document.claim.unit) for each in decisive]
    yield from _few("Formula", [f"{f.label}: {f.plain}" for f in found if f is not None], TESTS)
    limits = [
        f"{limit_text(document, each, limit)}: {limit.why}".removesuffix(": ")
        for each in decisive
        for limit in each.limits
    ]
    yield from _few("Limit", limits, LIMITS)


def _few(term: str, texts: Sequence[str], most: int) -> Iterator[tuple[str, str]]:
    distinct = list(dict.fromkeys(texts))
    yield from ((term, text) for text in distinct[:most])
    if len(distinct) > most:
        yield "", f"and {fmt.count(len(distinct) - most)} more"


def _settings(document: Document) -> Iterator[Block]:
    """What differs between the arms, and what is the same in all of them."""
    for table in settings_tables(trained(document)):
        most = FEW if table.caption == DIFFER else SETTINGS
        rows = tuple(tuple(_cut(cell, CELL) for cell in row) for row in table.rows[:most])
        if table.caption == DIFFER and len(table.columns) <= ARMS + 1:
            columns = tuple(Column(_cut(column.label, CELL)) for column in table.columns)
            yield TableBlock(_counted(table, most), columns, rows)
        else:  # the values of many arms stand in one line
            pairs = [(name, ", ".join(dict.fromkeys(cells))) for name, *cells in rows]
            yield Paragraph("", _counted(table, most))
            yield _pairs(pairs)


def _counted(table: TableBlock, most: int) -> str:
    more = len(table.rows) - most
    return table.caption if more <= 0 else f"{table.caption} ({fmt.count(more)} more are left out)"


def _pairs(pairs: Terms) -> Pairs:
    return Pairs(tuple((term, _cut(text, LONGEST)) for term, text in pairs))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()}…"
