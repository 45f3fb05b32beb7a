"""The sections of a report below its verdict, in the reader's order."""

from __future__ import annotations

from repro.judging.document import Document, MeasurementPart, SummaryPart
from repro.report import words
from repro.report.blocks import Block, Column, Section, Step, TableBlock, numbers, texts
from repro.report.figure_data import times_to_target
from repro.report.profiles import profiles
from repro.report.sections.analyses import all_analyses, robustness
from repro.report.sections.interim_looks import all_looks, looks_title, watching
from repro.report.sections.methods import how_it_was_run, provenance, runs, seeds_of, settings
from repro.report.sections.statements import (
    design,
    expectations,
    family,
    published,
    registration,
    tests,
)
from repro.schema import numbers as fmt


def sections(document: Document) -> tuple[Section, ...]:
    d = document
    uncheckable = all(printed.agreement == "NOT-CHECKABLE" for printed in d.published)
    made = (
        Section("numbers", "The numbers", _numbers(d)),
        Section("expectations", "The expectations, one by one", expectations(d)),
        Section("robustness", "Would another choice change the verdict?", robustness(d)),
        Section("looks", looks_title(d), watching(d)),
        Section("registration", "When it was declared", registration(d)),
        Section("family", "The family", family(d)),
        Section("published", "The printed numbers beside ours", published(d), folded=uncheckable),
        Section("method", "How it was run", how_it_was_run(d)),
        Section("tests", "Every test in full", tests(d), folded=True),
        Section("design", "What the design could find, before any result", design(d), folded=True),
        Section("settings", "Every setting", settings(d), folded=True),
        Section("analyses", "All analyses", all_analyses(d), folded=True),
        Section("all-looks", "All looks", all_looks(d), folded=True),
        Section("runs", "All runs", runs(d), folded=True),
        Section("provenance", "Provenance", provenance(d), folded=True),
    )
    return tuple(section for section in made if section.blocks)


def changes(document: Document) -> Section | None:
    """What would change the verdict, which stands right below it."""
    steps = tuple(Step(step.text, step.command or "") for step in document.changes)
    return Section("changes", "What would change the verdict", steps) if steps else None


def _numbers(document: Document) -> tuple[Block, ...]:
    tables = [_arms_table(document)] if document.arms else []
    tables += [_measurement_table(document, m) for m in document.measurements]
    if document.canaries:
        rows = tuple((c.statement, c.expected, c.measured, c.state) for c in document.canaries)
        columns = texts("Control", "Expected", "Measured", "State")
        tables.append(TableBlock("Controls, whose outcome is known beforehand", columns, rows))
    return (*tables, *profiles(document), *times_to_target(document))


def _arms_table(document: Document) -> TableBlock:
    bounded = any(arm.bound is not None for arm in document.arms)
    counted = any(arm.parameters is not None for arm in document.arms)
    heads = ["Parameters"] if counted else []
    heads += ["Rank bound"] if bounded else []
    heads.append("Finished runs" if all(arm.trained for arm in document.arms) else "Seeds")
    rows = []
    for arm in document.arms:
        cells = [arm.label]
        if counted:
            cells.append(fmt.DASH if arm.parameters is None else fmt.count(arm.parameters))
        if bounded:
            cells.append("none" if arm.bound is None else fmt.count(arm.bound))
        rows.append((*cells, seeds_of(arm)))
    return TableBlock("The arms", (Column("Arm"), *numbers(*heads)), tuple(rows))


MEAN = "Mean ± sd"


def _measurement_table(document: Document, m: MeasurementPart) -> TableBlock:
    summaries = [(arm.label, words.summary_of(arm, m.key)) for arm in document.arms]
    geometric = any(found and found.geometric_mean is not None for _, found in summaries)
    shown = ["Runs", "Mean over tasks"] if any(a.tasks for a in document.arms) else ["Seeds", MEAN]
    heads = [*shown, *(["Geometric mean"] if geometric else []), "Range"]
    rows = tuple((label, *_cells(found, m, geometric=geometric)) for label, found in summaries)
    follows = f", of each run: {m.formula}" if m.formula else ""
    caption = f"{fmt.upper_first(m.label)} ({m.better} is better){follows}"
    return TableBlock(caption, (Column("Arm"), *numbers(*heads)), rows)


def _cells(summary: SummaryPart | None, m: MeasurementPart, *, geometric: bool) -> tuple[str, ...]:
    if summary is None:
        return ("0", *([fmt.DASH] * (3 if geometric else 2)))
    middle = summary.geometric_mean
    shown = [fmt.DASH if middle is None else words.value(middle, m)] if geometric else []
    n = "not printed" if summary.n is None else fmt.count(summary.n)
    return (n, words.mean_and_sd(summary, m), *shown, words.value_range(summary, m))
