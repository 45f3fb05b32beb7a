"""The sections of a report below its verdict, in the reader's order."""

from __future__ import annotations

from collections import Counter

from repro.report import format as fmt
from repro.report import words
from repro.report.blocks import Block, Column, Finding, Paragraph, Section, Step, Table
from repro.report.document import Document, MeasurementPart, Published, Result, Summary
from repro.report.plots import (
    arm_label,
    curve_figures,
    digits_of,
    limit_text,
    measurement_of,
    summary_of,
    upper_first,
)
from repro.report.running import how_it_was_run, provenance, runs


def sections(document: Document) -> tuple[Section, ...]:
    """Every section that has something to say."""
    made = (
        Section("numbers", "The numbers", _numbers(document)),
        Section("expectations", "The expectations, one by one", _expectations(document)),
        Section("robustness", "Would another choice change the verdict?", _robustness(document)),
        Section("published", "The printed numbers beside ours", _published(document)),
        Section("method", "How it was run", how_it_was_run(document)),
        Section("changes", "What would change the verdict", _changes(document)),
        Section("runs", "All runs", runs(document), folded=True),
        Section("provenance", "Provenance", provenance(document), folded=True),
    )
    return tuple(section for section in made if section.blocks)


def _numbers(document: Document) -> tuple[Block, ...]:
    tables = [_arms_table(document)] if document.arms else []
    tables += [_measurement_table(document, m) for m in document.measurements]
    if document.canaries:
        tables.append(_canary_table(document))
    return tuple(tables)


def _arms_table(document: Document) -> Table:
    bounded = any(arm.rank_bound is not None for arm in document.arms)
    names = [("Parameters", 1), ("Bound of the rank", bounded), ("Finished runs", 1)]
    columns = [Column("Arm"), *(Column(name, "number") for name, wanted in names if wanted)]
    rows = []
    for arm in document.arms:
        finished = sum(r.state == "finished" for r in arm.replicates)
        cells = [arm.label, fmt.count(arm.parameters)]
        if bounded:
            cells.append("none" if arm.rank_bound is None else fmt.count(arm.rank_bound))
        rows.append((*cells, f"{finished} of {len(arm.replicates)}"))
    return Table("The arms", tuple(columns), tuple(rows))


def _measurement_table(document: Document, m: MeasurementPart) -> Table:
    geometric = any(
        s.geometric_mean is not None
        for arm in document.arms
        if (s := summary_of(arm, m.key)) is not None
    )
    heads = ["Seeds", "Mean ± sd", *(["Geometric mean"] if geometric else []), "Range"]
    rows = []
    for arm in document.arms:
        cells = _summary_cells(summary_of(arm, m.key), m, geometric=geometric)
        rows.append((arm.label, *cells))
    caption = f"{upper_first(m.label)} ({m.better} is better)"
    return Table(caption, (Column("Arm"), *(Column(h, "number") for h in heads)), tuple(rows))


def _summary_cells(
    summary: Summary | None, m: MeasurementPart, *, geometric: bool
) -> tuple[str, ...]:
    if summary is None:
        return ("0", *([fmt.DASH] * (3 if geometric else 2)))
    middle = summary.geometric_mean
    shown = [fmt.DASH if middle is None else fmt.value(middle, m)] if geometric else []
    low, high = fmt.value(summary.low, m), fmt.value(summary.high, m)
    return (fmt.count(summary.n), fmt.mean_and_sd(summary, m), *shown, fmt.span(low, high))


def _canary_table(document: Document) -> Table:
    rows = tuple((c.statement, c.expected, c.measured, c.state) for c in document.canaries)
    columns = (Column("Control"), Column("Expected"), Column("Measured"), Column("State"))
    return Table("Controls, whose outcome is known beforehand", columns, rows)


def _expectations(document: Document) -> tuple[Block, ...]:
    ordered = sorted(document.results, key=lambda result: result.role != "decisive")
    return tuple(_finding(document, result) for result in ordered)


def _finding(document: Document, result: Result) -> Finding:
    role = "decides" if result.role == "decisive" else "shown, not counted"
    return Finding(
        result.statement, words.conclusion(result.conclusion), role, result.sentence,
        tuple(pair for pair in _finding_pairs(document, result) if pair[1]),
    )  # fmt: skip


def _finding_pairs(document: Document, result: Result) -> list[tuple[str, str]]:
    digits, scale = digits_of(document, result), result.scale
    measurement = measurement_of(document, result.measurement)
    arms = [arm_label(document, arm) for arm in result.arms]
    smallest = result.smallest_confirmable_margin
    pairs = [
        ("Expectation", f"{result.id} ({fmt.plain_name(result.kind)})"),
        ("Measurement", result.measurement if measurement is None else measurement.label),
        ("Arms", ", ".join(arms)),
        ("Test", f"{result.test}, at level α = {fmt.setting(result.alpha)}"),
    ]
    if result.effect is not None:
        pairs.append((upper_first(result.effect_label), fmt.effect(result.effect, scale, digits)))
    if result.interval is not None:
        pairs.append(("Interval", fmt.interval(result.interval, scale, digits)))
    pairs += [
        ("Limit", f"{limit_text(document, result, limit.value, limit.label)}: {limit.why}")
        for limit in result.limits
    ]
    if result.p is not None:
        df = "" if result.df is None else f", {fmt.significant(result.df)} degrees of freedom"
        pairs.append(("Evidence", f"{fmt.p_value(result.p)}{df}"))
    if smallest is not None:
        text = fmt.times(smallest) if scale == "ratio" else fmt.fixed(smallest, digits)
        pairs.append(("Smallest confirmable margin", text))
    return pairs + [
        (upper_first(fmt.plain_name(name)), text) for name, text in result.details.items()
    ]


def _robustness(document: Document) -> tuple[Block, ...]:
    blocks: list[Block] = [
        Paragraph(flag.text, f"Fragile, {fmt.plain_name(flag.kind)}:")
        for flag in document.verdict.flags
    ]
    if not document.verdict.flags and document.verdict.conclusion is not None:
        blocks.append(
            Paragraph(
                "No flag: no other choice that was tried changes the conclusion of the claim."
            )
        )
    left_out = [r for r in document.results if r.left_out]
    if left_out:
        blocks.append(_left_out_table(document, left_out))
    return (*blocks, *curve_figures(document))


def _left_out_table(document: Document, results: list[Result]) -> Table:
    rows = []
    for result in results:
        for arm in dict.fromkeys(item.arm for item in result.left_out):
            role = "" if result.role == "decisive" else " (not counted)"
            name = f"{fmt.plain_name(result.id)}{role}"
            rows.append((name, arm_label(document, arm), _left_out_text(result, arm)))
    columns = (Column("Expectation"), Column("One seed left out of"), Column("Conclusion"))
    return Table("Each seed left out in turn", columns, tuple(rows))


def _left_out_text(result: Result, arm: str) -> str:
    items = [item for item in result.left_out if item.arm == arm]
    counts = Counter(item.conclusion for item in items)
    said = []
    for word, times in counts.most_common():
        if word is None:
            said.append(f"too few seeds left to test {times} of {len(items)} times")
            continue
        text = f"{word} {times} of {len(items)} times"
        if word != result.conclusion:
            numbers = ", ".join(str(i.replicate) for i in items if i.conclusion == word)
            text += f" (without seed {numbers})"
        said.append(text)
    return "; ".join(said)


def _published(document: Document) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for published in document.published:
        blocks.append(_published_table(document, published))
        printed = f" The paper prints p = {published.p}." if published.p else ""
        lead = f"Agreement: {published.agreement}."
        blocks.append(Paragraph(f"{published.reason}{printed}", lead))
    return tuple(blocks)


def _published_table(document: Document, published: Published) -> Table:
    result = next((r for r in document.results if r.id == published.expectation), None)
    key = "" if result is None else result.measurement
    measurement = measurement_of(document, key)
    rows = []
    for printed in published.arms:
        arm = next((a for a in document.arms if a.id == printed.arm), None)
        ours = None if arm is None else summary_of(arm, key)
        text = "not measured"
        if ours is not None and measurement is not None:
            text = fmt.mean_and_sd(ours, measurement)
        sd = f" ± {printed.sd}" if printed.sd else ""
        seeds = "not printed" if printed.n is None else fmt.count(printed.n)
        rows.append((arm_label(document, printed.arm), fmt.signed(printed.mean + sd), seeds, text))
    label = "" if measurement is None else f", {measurement.label}"
    name = upper_first(fmt.plain_name(published.expectation))
    caption = f"{name}{label}: printed in {published.locator}"
    heads = ("Printed", "Printed seeds", "Ours at this scale")
    columns = (Column("Arm"), *(Column(head, "number") for head in heads))
    return Table(caption, columns, tuple(rows))


def _changes(document: Document) -> tuple[Block, ...]:
    return tuple(Step(step.text, step.command or "") for step in document.changes)
