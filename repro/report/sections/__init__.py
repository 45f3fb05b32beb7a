"""The sections of a report below its verdict, in the reader's order."""

from __future__ import annotations

from collections.abc import Iterator

from repro.expectations.verdict_words import Conclusion, Validity
from repro.judging.document import Document, MeasurementPart, SummaryPart
from repro.report import lookups
from repro.report.blocks import (
    Block,
    Column,
    Figure,
    Paragraph,
    Section,
    Step,
    TableBlock,
    numbers,
    texts,
)
from repro.report.curve_figures import curve_figures
from repro.report.figure_data import main_figure, other_dots, times_to_target
from repro.report.parts import other_parts
from repro.report.profiles import by_task, mean_ranks, profiles
from repro.report.sections.analyses import agreeing, all_analyses, robustness
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

SETTLES: dict[str, str] = {
    Conclusion.INCONCLUSIVE: "What would settle it",
    Conclusion.NOT_TESTED: "What it needs",
}


def sections(document: Document) -> tuple[Section, ...]:
    """What waits in folds, in the order of reading."""
    d = document
    more = other_parts(d)
    others = tuple(Step(step.text, step.command or "") for step in d.changes[1:])
    made = (
        ("steps", "What else would change it", others),
        ("numbers", "The values", _numbers(d)),
        ("expectations", "The parts, one by one", (*([more] if more else ()), *expectations(d))),
        ("robustness", _robustness_title(d), (*robustness(d), *all_analyses(d))),
        ("looks", looks_title(d), (*watching(d), *all_looks(d))),
        ("published", "The paper's numbers and ours", published(d)),
        ("method", "How it was run", (*how_it_was_run(d), *registration(d), *family(d))),
        ("tests", "Methods, with formulas", (*tests(d), *design(d))),
        ("settings", "Every setting", settings(d)),
        ("runs", "Every run", runs(d)),
        ("provenance", "Provenance", provenance(d)),
    )
    shown = {figure.name for figure in main_figures(d) if isinstance(figure, Figure)}
    folded = [
        Section(
            name,
            title,
            tuple(b for b in blocks if not (isinstance(b, Figure) and b.name in shown)),
        )
        for name, title, blocks in made
    ]
    return tuple(section for section in folded if section.blocks)


def main_figures(document: Document) -> tuple[Figure | Paragraph, ...]:
    """Every seed a dot, or every task, and then the figure that matters for the kind."""
    points = any(result.points for result in lookups.decisive(document))
    curves = () if points else curve_figures(document)[:1]
    looks = [block for block in watching(document) if isinstance(block, Figure)]
    kinds = (*looks, *curves, *profiles(document), *times_to_target(document))
    forest = by_task(document)
    return (main_figure(document) if forest is None else forest, *kinds[:1])


def next_step(document: Document) -> Step:
    """What is to be done first; empty where nothing would change the verdict."""
    first = document.changes[0] if document.changes else None
    return Step("", "") if first is None else Step(first.text, first.command or "")


def changes(document: Document) -> Section | None:
    """One thing that would settle the claim, or make its evidence usable, with its command."""
    step = next_step(document)
    if document.verdict.validity != Validity.VALID:  # its text is in the box
        return Section("changes", "What to do", (Step("", step.command),)) if step.command else None
    title = SETTLES.get(document.verdict.conclusion or "", "What would test it further")
    return Section("changes", title, (step,)) if step.text else None


def _robustness_title(document: Document) -> str:
    """The question, and how many other analyses answer as the declared one does."""
    same, total = agreeing(document)
    question = "Would another choice change it?"
    if not total:
        return question
    return f"{question} {fmt.count(same)} of {fmt.count(total)} other analyses conclude the same"


def _numbers(document: Document) -> tuple[Block, ...]:
    tables = [_arms_table(document)] if document.arms else []
    tables += [_measurement_table(document, m) for m in document.measurements]
    if document.canaries:
        rows = tuple((c.statement, c.expected, c.measured, c.state) for c in document.canaries)
        columns = texts("Control", "Expected", "Measured", "State")
        tables.append(TableBlock("Controls, whose outcome is known beforehand", columns, rows))
    return (*tables, *mean_ranks(document), *_figures(document))


def _figures(document: Document) -> Iterator[Figure]:
    """Every figure of values; those in sight are left out of the fold.

    A strip would mix the values of all tasks, which have rows of their difference instead.
    """
    if by_task(document) is None:
        first = main_figure(document)
        if isinstance(first, Figure):
            yield first
        yield from other_dots(document)
    yield from curve_figures(document)
    yield from profiles(document)
    yield from times_to_target(document)


def _arms_table(document: Document) -> TableBlock:
    bounded = any(arm.bound is not None for arm in document.arms)
    counted = any(arm.parameters is not None for arm in document.arms)
    heads = ["Parameters"] if counted else []
    heads += ["Rank bound"] if bounded else []
    trained = all(arm.trained for arm in document.arms)
    heads.append("Finished runs" if trained else lookups.replicates(document))
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
    summaries = [(arm.label, lookups.summary_of(arm, m.key)) for arm in document.arms]
    geometric = any(found and found.geometric_mean is not None for _, found in summaries)
    shown = [lookups.replicates(document), MEAN]
    if any(arm.tasks for arm in document.arms):
        shown = ["Runs", "Mean over tasks"]
    heads = [*shown, *(["Geometric mean"] if geometric else []), "Range"]
    rows = tuple((label, *_cells(found, m, geometric=geometric)) for label, found in summaries)
    follows = f", of each run: {m.formula}" if m.formula else ""
    caption = f"{fmt.upper_first(m.label)} ({m.better} is better){follows}"
    return TableBlock(caption, (Column("Arm"), *numbers(*heads)), rows)


def _cells(summary: SummaryPart | None, m: MeasurementPart, *, geometric: bool) -> tuple[str, ...]:
    if summary is None:
        return ("0", *([fmt.DASH] * (3 if geometric else 2)))
    middle = summary.geometric_mean
    shown = [fmt.DASH if middle is None else lookups.value(middle, m)] if geometric else []
    n = "not printed" if summary.n is None else fmt.count(summary.n)
    return (n, lookups.mean_and_sd(summary, m), *shown, lookups.value_range(summary, m))
