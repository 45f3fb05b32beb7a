"""What was fixed beforehand: the design and its power, when it was declared, the family."""

from __future__ import annotations

from repro.judging.document import Document
from repro.judging.document_parts import DesignPart, FamilyPart, RegistrationPart
from repro.report import words
from repro.report.blocks import Block, Column, Paragraph, TableBlock
from repro.report.lookup import digits_of, result_of, scale_of, title_of
from repro.schema import numbers as fmt


def design(document: Document) -> tuple[Block, ...]:
    """How likely the declared design was to decide, and how many seeds would do."""
    if not document.design:
        return ()
    blocks: list[Block] = [
        Paragraph(
            part.refused,
            f"{title_of(document, part.expectation)} cannot be decided by this design:",
        )
        for part in document.design
        if part.refused
    ]
    blocks.append(_design_table(document))
    for part in document.design:
        said = [f"The planned standard deviation is from {part.sd_source}."] * bool(part.sd_source)
        text = " ".join([*said, *([part.note] if part.note else [])])
        if text:
            blocks.append(Paragraph(text, f"{title_of(document, part.expectation)}:"))
    return tuple(blocks)


def _design_table(document: Document) -> TableBlock:
    rows = []
    for part in document.design:
        power = fmt.DASH if part.power is None else fmt.chance(part.power)
        rows.append((
            title_of(document, part.expectation), fmt.count(part.seeds), _sds(part),
            part.assumed_effect or fmt.DASH, power, _detectable(document, part),
            *(fmt.DASH if n is None else fmt.count(n) for n in (part.seeds_80, part.seeds_90)),
        ))  # fmt: skip
    heads = ("Seeds", "Planned sd", "If the truth is", "Chance to confirm",
             "Smallest effect found at 80%", "Seeds for 80%", "Seeds for 90%")  # fmt: skip
    columns = [Column("Expectation"), *(Column(head, "number") for head in heads)]
    columns[3] = Column(heads[2])
    caption = "From the plan alone: what its seeds and its scatter let the declared tests find"
    return TableBlock(caption, tuple(columns), tuple(rows))


def _sds(part: DesignPart) -> str:
    return " and ".join(dict.fromkeys(fmt.significant(sd, 2) for sd in part.sd)) or fmt.DASH


def _detectable(document: Document, part: DesignPart) -> str:
    result, found = result_of(document, part.expectation), part.minimum_detectable
    if found is None:
        return fmt.DASH
    scale = "number" if result is None else scale_of(result)
    digits = 2 if result is None else digits_of(document, result)
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
    blocks += [Paragraph(_declared(part)), *_edits(part)]
    if part.earlier_processes:
        blocks.append(Paragraph(_earlier(part.earlier_processes)))
    return tuple(blocks)


def _declared(part: RegistrationPart) -> str:
    said = words.REGISTRATIONS[part.state]
    if not part.on_record:
        said += " This is not on record, because the store can only be read, or is not there."
    if part.edits or part.state == "none":
        return said
    return (
        f"{said} It has not been changed since. What was tried in other stores, or with other "
        "recipes, is not on record here."
    )


def _edits(part: RegistrationPart) -> list[TableBlock]:
    when = {True: "after results were visible", False: "before any result was visible"}
    rows = tuple(
        (str(number), ", ".join(edit.paths), when[edit.after_results])
        for number, edit in enumerate(part.edits, 1)
    )
    columns = (Column("Change"), Column("Fields of the claim", "code"), Column("When"))
    return [TableBlock("Changes of what decides", columns, rows)] if rows else []


def _earlier(n: int) -> str:
    those = "other version of this claim was" if n == 1 else "other versions of this claim were"
    return (
        f"{fmt.count(n)} {those} looked at before. Looking began anew with each version and no "
        "earlier look counts, but seeds that had been seen are looked at again."
    )


def family(document: Document) -> tuple[Block, ...]:
    """The claims that are judged together, with their evidence before and after."""
    part = document.family
    if part is None:
        return ()
    name, good = words.FAMILIES[part.method]
    why = f" Why they are one family: {part.why}" if part.why else ""
    many = fmt.number_of(len(part.members), "claim")
    text = f"This claim is judged together with others, {many} in all, by {name}. {good}{why}"
    return (Paragraph(text), _members(document, part, name))


def _members(document: Document, part: FamilyPart, name: str) -> TableBlock:
    letter = "e" if part.method == "e_bh" else "p"
    rows = []
    for member in part.members:
        own = " (this one)" if member.claim == document.claim.id else ""
        values = [_value(part, number) for number in (member.value, member.adjusted)]
        judged = "judged" if member.judged else "not yet judged"
        rows.append((f"{member.claim}{own}", judged, *values))
    columns = (
        *(Column("Claim"), Column("State")),
        *(Column(letter, "number"), Column(f"{letter} in the family", "number")),
    )
    return TableBlock(f"{part.name}: {letter} alone, and by {name}", columns, tuple(rows))


def _value(part: FamilyPart, number: float | None) -> str:
    if number is None:
        return fmt.DASH
    return fmt.e_value(number) if part.method == "e_bh" else fmt.bare_p(number)
