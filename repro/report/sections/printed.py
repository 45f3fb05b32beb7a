"""Printed numbers and ours, and whether ours repeat the paper's finding."""

from __future__ import annotations

from repro.judging.document import Document, PublishedPart
from repro.judging.document_parts import ReplicationPart
from repro.report import words
from repro.report.blocks import Block, Column, Paragraph, TableBlock
from repro.report.lookup import (
    arm_label,
    digits_of,
    measurement_of,
    result_of,
    summary_of,
    title_of,
)
from repro.schema import numbers as fmt

Row = tuple[str, str, str]


def published(document: Document) -> tuple[Block, ...]:
    """A table for every printed comparison, its agreement, and the measures of replication."""
    blocks: list[Block] = []
    for printed in document.published:
        blocks.append(_published_table(document, printed))
        p = f" The paper prints p = {printed.p}." if printed.p else ""
        said = f"{fmt.sentence(printed.reason)} {fmt.sentence(f'Printed in {printed.locator}')}{p}"
        blocks.append(Paragraph(said, f"Agreement: {printed.agreement}."))
        if printed.replication is not None:
            blocks.append(_replication_table(document, printed, printed.replication))
            blocks += [Paragraph(note) for note in printed.replication.notes]
    return tuple(blocks)


def _published_table(document: Document, printed: PublishedPart) -> TableBlock:
    result = result_of(document, printed.expectation)
    key = "" if result is None else result.measurement
    measurement = measurement_of(document, key)
    rows = []
    for one in printed.arms:
        arm = next((a for a in document.arms if a.id == one.arm), None)
        ours = None if arm is None else summary_of(arm, key)
        text = "not measured"
        if arm is not None and arm.printed:
            text = "the printed one"
        elif ours is not None and measurement is not None:
            text = words.mean_and_sd(ours, measurement)
        sd = f" ± {one.sd}" if one.sd else ""
        seeds = "not printed" if one.n is None else fmt.count(one.n)
        rows.append((arm_label(document, one.arm), fmt.signed(one.mean + sd), seeds, text))
    caption = f"{title_of(document, printed.expectation)}: printed beside ours"
    heads = ("Printed", "Printed seeds", "Ours at this scale")
    columns = (Column("Arm"), *(Column(head, "number") for head in heads))
    return TableBlock(caption, columns, tuple(rows))


def _replication_table(
    document: Document, printed: PublishedPart, r: ReplicationPart
) -> TableBlock:
    result = result_of(document, printed.expectation)
    digits = 2 if result is None else digits_of(document, result)
    rows = (*_effects(r, digits), *_answers(r), *_measures(r, digits), *_together(r, digits))
    columns = (Column("Measure"), Column("Value", "number"), Column("What it means"))
    caption = f"{title_of(document, printed.expectation)}: does it repeat what the paper found?"
    return TableBlock(caption, columns, rows)


def _effects(r: ReplicationPart, digits: int) -> tuple[Row, ...]:
    inside = "Ours lies inside it" if r.inside else "Ours lies outside it"
    return (
        ("The paper's effect", fmt.effect(r.original, r.scale, digits), "From the printed means."),
        ("Our effect", fmt.effect(r.ours, r.scale, digits), "The same comparison, of our seeds."),
        ("Where a repetition should land", fmt.ends(*r.prediction, r.scale, digits),
         f"{inside}. The scatter of both studies is allowed for, the rounding of neither."),
    )  # fmt: skip


def _answers(r: ReplicationPart) -> tuple[Row, ...]:
    return (
        ("Same direction as printed", _yes(r.same_sign), "Whether both point the same way."),
        ("An effect in ours alone", _yes(r.significant),
         "Whether our seeds alone show an effect in the printed direction."),
        ("Printed effect in our interval", _yes(r.original_in_interval),
         "Whether our seeds allow the effect to be as large as printed."),
    )  # fmt: skip


def _measures(r: ReplicationPart, digits: int) -> tuple[Row, ...]:
    detectable = "" if r.detectable is None else fmt.effect(r.detectable, r.scale, digits)
    telescope = "" if r.telescope_p is None else fmt.p_value(r.telescope_p)
    doubts = (r.sceptical_nominal, r.sceptical_golden, r.sceptical_controlled)
    nominal, golden, controlled = ("" if p is None else fmt.p_value(p) for p in doubts)
    logarithms = "; of logarithms, for a ratio" if r.scale == "ratio" else ""
    rows = (
        ("Ours as a multiple of the printed effect", _multiple(r),
         f"1 is as large as printed, 0 is no effect{logarithms}."),
        ("Effect that the paper's design finds one time in three", detectable,
         "Anything smaller, that design could hardly have seen."),
        ("Ours below that (small telescopes)", telescope,
         "Small: ours is too small for the paper's design to have found it."),
        ("Sceptical p, nominal", nominal,
         "Small: ours would convince even somebody who doubts the paper. Strict; one-sided."),
        ("Sceptical p, golden", golden,
         "The same, adjusted: to be compared with 0.025. Ours must not be much smaller."),
        ("Sceptical p, controlled", controlled,
         "The same, adjusted so that both studies together err as rarely as two tests."),
    )  # fmt: skip
    return tuple(row for row in rows if row[1])


def _multiple(r: ReplicationPart) -> str:
    if r.effect_ratio is None:
        return ""
    ratio = fmt.significant(r.effect_ratio)
    ends = (r.effect_ratio_low, r.effect_ratio_high)
    if ends == (None, None):
        return ratio
    return f"{ratio} ({fmt.ends(*ends, 'number', 0)})"


def _together(r: ReplicationPart, digits: int) -> tuple[Row, ...]:
    pooled = fmt.effect(r.pooled, r.scale, digits)
    ends = fmt.ends(r.pooled_low, r.pooled_high, r.scale, digits)
    q = fmt.significant(r.q)
    return (
        ("Both studies together", f"{pooled} ({ends})",
         "The best estimate, if both measure the same effect."),
        ("Do the two differ?", f"Q = {q}, {fmt.p_value(r.q_p)}",
         "Small p: they differ by more than scatter, so do not put them together."),
    )  # fmt: skip


def _yes(answer: bool) -> str:  # noqa: FBT001 - a word for a truth value
    return "yes" if answer else "no"
