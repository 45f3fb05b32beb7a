"""The expectations: what came out of each, what was fixed beforehand, and the printed numbers."""

from __future__ import annotations

from repro.judging.document import FEW_SEEDS, Document, PublishedPart, Result
from repro.judging.document_parts import (
    DesignPart,
    FamilyPart,
    LevelPart,
    RegistrationPart,
    ReplicationPart,
)
from repro.report import badges, lookups
from repro.report.blocks import (
    Block,
    Column,
    Pairs,
    Paragraph,
    StatementBlock,
    TableBlock,
    numbers,
    texts,
)
from repro.report.figure_data import limit_text, scatter_figure
from repro.report.formulas import formula
from repro.schema import numbers as fmt

Row = tuple[str, str, str]


def expectations(document: Document) -> tuple[Block, ...]:
    """A finding each, the decisive ones first; the points of an association that is context.

    Then what a t-test of few seeds rests on unseen, of the first that is one.
    """
    blocks: list[Block] = []
    for number, result in enumerate(_ordered(document), 1):
        role = "decides" if result.role == "decisive" else "context, not counted"
        badge = badges.conclusion(result.conclusion, badges.rate_of(document, result))
        blocks.append(StatementBlock(result.statement, badge, role, result.sentence, ()))
        if result.points and result.role != "decisive":
            blocks.append(scatter_figure(document, result, f"points-{number}"))
    few = [each.details[FEW_SEEDS] for each in _ordered(document) if FEW_SEEDS in each.details]
    return (*blocks, *map(Paragraph, few[:1]))


def tests(document: Document) -> tuple[Block, ...]:
    """The formula of each test, what it was, and every number that it gave."""
    found = (formula(result.test, document.claim.unit) for result in _ordered(document))
    blocks: list[Block] = [each for each in dict.fromkeys(found) if each is not None]
    for result in _ordered(document):
        pairs = [*_declared(document, result), *_measured(document, result)]
        pairs += _evidence(document, result)
        for name, text in result.details.items():
            if name != FEW_SEEDS:
                pairs.append((fmt.upper_first(fmt.plain_name(name)), text))
        said = Pairs(tuple(pair for pair in pairs if pair[1]))
        blocks += [Paragraph("", f"{result.statement}."), said]
    return tuple(blocks)


def _ordered(document: Document) -> list[Result]:
    return sorted(document.results, key=lambda result: result.role != "decisive")


def _declared(document: Document, result: Result) -> list[tuple[str, str]]:
    keys = [result.measurement, *([] if result.against is None else [result.against])]
    found = [(key, lookups.measurement_of(document, key)) for key in keys]
    names = [key if measurement is None else measurement.label for key, measurement in found]
    return [
        ("Expectation", f"{result.id} ({fmt.plain_name(result.kind)})"),
        ("Measurement" if len(names) == 1 else "Measurements", " and ".join(names)),
        ("Arms", ", ".join(lookups.arm_label(document, arm) for arm in result.arms)),
        ("Test", f"{result.test}, at level α = {fmt.setting(result.alpha)}"),
    ]


def _measured(document: Document, result: Result) -> list[tuple[str, str]]:
    scale, digits = lookups.scale_of(result), lookups.digits_of(document, result)
    pairs = []
    if result.effect is not None:
        effect = lookups.effect(document, result, result.effect, scale)
        pairs.append((fmt.upper_first(result.effect_label), effect))
    if result.interval is not None:
        pairs.append(("Interval", lookups.interval(result.interval, scale, digits)))
    for limit in result.limits:
        why = f": {limit.why}" if limit.why else ""
        pairs.append(("Limit", limit_text(document, result, limit) + why))
    return pairs


def _evidence(document: Document, result: Result) -> list[tuple[str, str]]:
    pairs = []
    if result.p is not None:
        said = f"{fmt.p_value(result.p)}{lookups.null(result)}"
        if result.df is not None:
            said += f", {result.df:.3g} degrees of freedom"
        if result.p_against is not None:
            said += f"; against it, {fmt.p_value(result.p_against)}"
        pairs.append(("Evidence for the claim", said))
    smallest = result.smallest_confirmable_margin
    if smallest is not None:
        text = fmt.size(smallest, result.scale, lookups.digits_of(document, result))
        pairs.append(("Smallest confirmable margin", text))
    levels = [level for level in document.levels if level.expectation == result.id]
    return pairs + [
        ("Level of Holm's method" if level.test == "holm" else "Level", level_said(level))
        for level in levels
    ]


def level_said(level: LevelPart) -> str:
    """What a test does that loses its level near the present design."""
    return f"This test loses its level here: {level.text}"


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
    result = lookups.result_of(document, printed.expectation)
    key = "" if result is None else result.measurement
    measurement = lookups.measurement_of(document, key)
    rows = []
    for theirs in printed.arms:
        arm = next((arm for arm in document.arms if arm.id == theirs.arm), None)
        ours = None if arm is None else lookups.summary_of(arm, key)
        text = "not measured"
        if arm is not None and arm.printed:
            text = "the printed one"
        elif ours is not None and measurement is not None:
            text = lookups.mean_and_sd(ours, measurement)
        mean = fmt.signed(f"{theirs.mean} ± {theirs.sd}" if theirs.sd else theirs.mean)
        seeds = "not printed" if theirs.n is None else fmt.count(theirs.n)
        rows.append((lookups.arm_label(document, theirs.arm), mean, seeds, text))
    caption = f"{lookups.title_of(document, printed.expectation)}: printed beside ours"
    columns = (Column("Arm"), *numbers("Printed", "Printed seeds", "Ours at this scale"))
    return TableBlock(caption, columns, tuple(rows))


def _replication_table(
    document: Document, printed: PublishedPart, r: ReplicationPart
) -> TableBlock:
    result = lookups.result_of(document, printed.expectation)
    in_units = result is not None and result.scale == r.scale
    digits = (lookups.digits_of if in_units else lookups.measured_digits)(document, result)
    rows = (*_effects(r, digits), *_measures(r, digits), *_together(r, digits))
    columns = (Column("Measure"), Column("Value", "number"), Column("What it means"))
    caption = (
        f"{lookups.title_of(document, printed.expectation)}: does it repeat what the paper found?"
    )
    return TableBlock(caption, columns, rows)


def _effects(r: ReplicationPart, digits: int) -> tuple[Row, ...]:
    inside = "Ours lies inside it" if r.inside else "Ours lies outside it"
    return (
        ("The paper's effect", fmt.effect(r.original, r.scale, digits), "From the printed means."),
        ("Our effect", fmt.effect(r.ours, r.scale, digits), "The same comparison, of our seeds."),
        ("Where a repetition should land", fmt.ends(*r.prediction, r.scale, digits),
         f"{inside}. The scatter of both studies is allowed for, the rounding of neither."),
        ("Same direction as printed", fmt.setting(r.same_sign), "Whether both point the same way."),
        ("An effect in ours alone", fmt.setting(r.significant),
         "Whether our seeds alone show an effect in the printed direction."),
        ("Printed effect in our interval", fmt.setting(r.original_in_interval),
         "Whether our seeds allow the effect to be as large as printed."),
    )  # fmt: skip


def _measures(r: ReplicationPart, digits: int) -> tuple[Row, ...]:
    detectable = "" if r.detectable is None else fmt.effect(r.detectable, r.scale, digits)
    p_values = (r.telescope_p, r.sceptical_nominal, r.sceptical_golden, r.sceptical_controlled)
    telescope, nominal, golden, controlled = ("" if p is None else fmt.p_value(p) for p in p_values)
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
    return ratio if ends == (None, None) else f"{ratio} ({fmt.ends(*ends, 'number', 0)})"


def _together(r: ReplicationPart, digits: int) -> tuple[Row, ...]:
    pooled = fmt.effect(r.pooled, r.scale, digits)
    ends = fmt.ends(r.pooled_low, r.pooled_high, r.scale, digits)
    return (
        ("Both studies together", f"{pooled} ({ends})",
         "The best estimate, if both measure the same effect."),
        ("Do the two differ?", f"Q = {fmt.significant(r.q)}, {fmt.p_value(r.q_p)}",
         "Small p: they differ by more than scatter, so do not put them together."),
    )  # fmt: skip


def design(document: Document) -> tuple[Block, ...]:
    """How likely the declared design was to decide, and how many seeds would do."""
    if not document.design:
        return ()
    refused: list[Block] = []
    notes: list[Block] = []
    for part in document.design:
        title = lookups.title_of(document, part.expectation)
        if part.refused:
            refused.append(Paragraph(part.refused, f"{title} cannot be decided by this design:"))
        sd = f"The planned standard deviation is from {part.sd_source}." if part.sd_source else ""
        if sd or part.note:
            notes.append(Paragraph(f"{sd} {part.note}".strip(), f"{title}:"))
    empty = all(
        (part.power, part.minimum_detectable, part.seeds_80) == (None,) * 3 and not part.sd
        for part in document.design
    )
    return (*refused, *([] if empty else [_design_table(document)]), *notes)


def _design_table(document: Document) -> TableBlock:
    rows = []
    for part in document.design:
        power = fmt.DASH if part.power is None else fmt.chance(part.power)
        sds = " and ".join(dict.fromkeys(fmt.significant(sd, 2) for sd in part.sd))
        rows.append((
            lookups.title_of(document, part.expectation), fmt.count(part.seeds), sds or fmt.DASH,
            part.assumed_effect or fmt.DASH, power, _detectable(document, part),
            *(fmt.DASH if n is None else fmt.count(n) for n in (part.seeds_80, part.seeds_90)),
        ))  # fmt: skip
    columns = (
        Column("Expectation"),
        *numbers("Seeds", "Planned sd"),
        Column("If the truth is"),
        *numbers("Chance to confirm", "Smallest effect found at 80%"),
        *numbers("Seeds for 80%", "Seeds for 90%"),
    )
    caption = "From the plan alone: what its seeds and its scatter let the declared tests find"
    return TableBlock(caption, columns, tuple(rows))


def _detectable(document: Document, part: DesignPart) -> str:
    result, found = lookups.result_of(document, part.expectation), part.minimum_detectable
    if found is None:
        return fmt.DASH
    scale, digits = lookups.scale_of(result), lookups.digits_of(document, result)
    if scale == "difference" and abs(found) < 10 ** (1 - digits):
        return fmt.significant(found)
    return fmt.size(found, scale, digits)


def registration(document: Document) -> tuple[Block, ...]:
    """When it was declared, and every later change of what decides; late ones first."""
    part = document.registration
    if part is None:
        return ()
    blocks: list[Block] = []
    late = [path for edit in part.edits if edit.after_results for path in edit.paths]
    if late:
        fields = ", ".join(dict.fromkeys(late))
        text = f"{fields}. A claim that is changed after a look at its results can be made to fit."
        blocks.append(Paragraph(text, "Changed after results were visible:"))
    blocks.append(Paragraph(_registered(part)))
    if part.edits:
        when = {True: "after results were visible", False: "before any result was visible"}
        rows = tuple(
            (str(number), ", ".join(edit.paths), when[edit.after_results])
            for number, edit in enumerate(part.edits, 1)
        )
        columns = (Column("Change"), Column("Fields of the claim", "code"), Column("When"))
        blocks.append(TableBlock("Changes of what decides", columns, rows))
    if part.earlier_processes:
        many = fmt.number_of(part.earlier_processes, "other version")
        text = (
            f"{many} of this claim {'was' if part.earlier_processes == 1 else 'were'} looked at "
            "before. Looking started over with each version and no earlier look counts, but seeds "
            "that had been seen are looked at again."
        )
        blocks.append(Paragraph(text))
    return tuple(blocks)


def _registered(part: RegistrationPart) -> str:
    said = badges.REGISTRATIONS[part.state]
    if not part.on_record:
        said += " This is not on record, because the store can only be read, or is not there."
    if part.edits or part.state in ("none", "exploratory"):
        return said
    return (
        f"{said} It has not been changed since. What was tried in other stores, or with other "
        "recipes, is not on record here."
    )


def family(document: Document) -> tuple[Block, ...]:
    """The claims that are judged together, with their evidence before and after."""
    part = document.family
    if part is None:
        return ()
    name, good = badges.FAMILIES[part.method]
    why = f" Why they are one family: {part.why}" if part.why else ""
    many = fmt.number_of(len(part.members), "claim")
    text = f"This claim is judged together with others, {many} in all, by {name}. {good}{why}"
    return (Paragraph(text), _members(document, part, name))


def _members(document: Document, part: FamilyPart, name: str) -> TableBlock:
    letter, shown = ("e", fmt.e_value) if part.method == "e_bh" else ("p", fmt.bare_p)
    rows = []
    for member in part.members:
        this = " (this one)" if member.claim == document.claim.id else ""
        values = (member.value, member.adjusted)
        cells = [fmt.DASH if value is None else shown(value) for value in values]
        judged = "judged" if member.judged else "not yet judged"
        rows.append((f"{member.claim}{this}", judged, *cells))
    columns = (*texts("Claim", "State"), *numbers(letter, f"{letter} in the family"))
    return TableBlock(f"{part.name}: {letter} alone, and by {name}", columns, tuple(rows))
