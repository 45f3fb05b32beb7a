"""How often it was looked at: every look of a sequential test, and how a control fared."""

from __future__ import annotations

from repro.judging.document import Document, Result
from repro.judging.document_parts import ControlPart, LookPart, SequentialPart
from repro.report import badges, lookups
from repro.report.blocks import (
    Block,
    Column,
    Figure,
    LooksPanel,
    LooksPlot,
    Mark,
    Paragraph,
    TableBlock,
    numbers,
)
from repro.report.figure_data import effect_axis
from repro.schema import numbers as fmt

FEW = 12
"""Looks whose table is shown with their picture; a longer table is folded."""


def watching(document: Document) -> tuple[Block, ...]:
    """The looks of every expectation in words and as a picture, then the nights of a control."""
    blocks: list[Block] = []
    for number, part in enumerate(document.sequential, 1):
        title = lookups.title_of(document, part.expectation)
        blocks.append(Paragraph(looks_said(part), f"{title}:"))
        if part.order != "unknown":
            blocks += _figure(document, part, f"looks-{number}")
        if part.order != "unknown" and 0 < len(part.looks) <= FEW:
            blocks.append(_table(document, part))
        if part.sensitivity and part.looks:
            e_values = part.sensitivity.items()
            said = "; ".join(f"{fmt.plain_name(name)}: {fmt.e_value(e)}" for name, e in e_values)
            text = f"the e-value at the last look would be {said}."
            blocks.append(Paragraph(text, "With other priors:"))
    if document.control is not None:
        blocks.append(Paragraph(_nights(document.control), "Control:"))
    return tuple(blocks)


def all_looks(document: Document) -> tuple[Block, ...]:
    """The tables of those expectations that were looked at often."""
    return tuple(_table(document, p) for p in document.sequential if len(p.looks) > FEW)


def looks_said(part: SequentialPart) -> str:
    """How often, what decides, whether it was decided, and whether to go on."""
    if not part.looks:
        return "It has not been looked at yet."
    if part.order == "unknown":
        return f"{_judged_once(part)} {badges.STOPS[part.stop]}"
    bound = fmt.bound(part.bound)
    if part.method != "eprocess_t":
        rule = (
            "The looks were planned beforehand (O'Brien and Fleming), and p allows for all of "
            f"them: it decides at {bound} and below."
        )
    elif part.bound < 1:
        rule = (
            "It may be looked at every night without fooling anybody: p allows for all looks, and "
            f"decides at {bound} and below."
        )
    else:
        rule = (
            "An e-value may be looked at every night without fooling anybody: it decides when it "
            f"reaches {bound}."
        )
    said = [_times_said(part), rule]
    if part.crossing is not None:
        said.append(f"It was decided with {part.crossing} seeds, and that stands.")
    return " ".join([*said, badges.STOPS[part.stop]])


def looks_title(document: Document) -> str:
    """The heading of the section: nobody is said to have looked at a table."""
    observed = all(part.order == "observed" for part in document.sequential)
    return "How often it was looked at" if observed else "The sequential test"


def _judged_once(part: SequentialPart) -> str:
    """What is said where no order is known, and so no look but the last."""
    said = "Its table has no order in time, so it was judged once, with all its seeds. "
    if part.method == "group_obf":
        return f"{said}It decides at the level that the plan leaves for this look."
    if part.bound < 1:
        return f"{said}p decides at {fmt.bound(part.bound)} and below, also if seeds were added."
    return f"{said}e decides when it reaches {fmt.bound(part.bound)}, also if seeds were added."


def _times_said(part: SequentialPart) -> str:
    seeds = fmt.span(fmt.count(part.looks[0].seeds), fmt.count(part.looks[-1].seeds))
    n = len(part.looks)
    times = {1: "once", 2: "twice"}.get(n, f"{fmt.count(n)} times")
    if part.order == "observed":
        return f"It was looked at {times}, with {seeds} seeds per arm."
    return (
        f"It was judged as if looked at {times}, with {seeds} seeds per arm, by the order that its "
        "table declares; nobody is on record as having looked."
    )


def _figure(document: Document, part: SequentialPart, name: str) -> list[Figure]:
    result = lookups.result_of(document, part.expectation)
    evidence = _evidence(part)
    sequence = [] if result is None else _sequence(document, part, result)
    if not evidence and not sequence:
        return []
    caption = []
    if evidence:
        caption.append("The evidence after each look decides beyond the dashed line.")
    if sequence:
        caption.append(
            "The upright lines are where the effect may lie, as known at each look; an arrow means "
            "that it goes on beyond the axis."
        )
    told = part.looks if len(part.looks) <= FEW else (part.looks[0], part.looks[-1])
    alt = " ".join([looks_said(part), *map(_look_said, told)])
    return [Figure(name, alt, " ".join(caption), LooksPlot((*evidence, *sequence)))]


def _look_said(look: LookPart) -> str:
    e = "" if look.e is None else f"e = {fmt.e_value(look.e)}, "
    return f"With {look.seeds} seeds: {e}{fmt.p_value(look.p)}, {look.conclusion}."


def _evidence(part: SequentialPart) -> list[LooksPanel]:
    bound = fmt.bound(part.bound)
    values: tuple[float | None, ...] = tuple(look.p for look in part.looks)
    letter, label = "p", f"decides at {bound} and below"
    if part.bound > 1:
        values = tuple(look.e for look in part.looks)
        letter, label = "e", f"decides from {bound} up"
    if all(value is None for value in values):
        return []
    seeds = tuple(look.seeds for look in part.looks)
    title, limits = f"{letter}-value, on a logarithmic axis", (Mark(part.bound, label),)
    return [LooksPanel(title, "log", seeds, values, (), limits, _crossing(part))]


def _crossing(part: SequentialPart) -> Mark | None:
    if part.crossing is None:
        return None
    return Mark(float(part.crossing), f"decided with {fmt.number_of(part.crossing, 'seed')}")


def _sequence(document: Document, part: SequentialPart, result: Result) -> list[LooksPanel]:
    ends = tuple((look.low, look.high) for look in part.looks)
    if all(pair == (None, None) for pair in ends):
        return []
    axis = effect_axis(document, result, [end for pair in ends for end in pair])
    limits = axis.limits or ((Mark(0.0, "zero"),) if axis.scale == "linear" else ())
    seeds = tuple(look.seeds for look in part.looks)
    title, crossing = fmt.upper_first(result.effect_label), _crossing(part)
    return [LooksPanel(title, axis.scale, seeds, (), ends, limits, crossing, axis.percent)]


def _table(document: Document, part: SequentialPart) -> TableBlock:
    result = lookups.result_of(document, part.expectation)
    scale, digits = lookups.scale_of(result), lookups.digits_of(document, result)
    with_e = any(look.e is not None for look in part.looks)
    rows = []
    for look in part.looks:
        e = [fmt.DASH if look.e is None else fmt.e_value(look.e)] if with_e else []
        ends = fmt.ends(look.low, look.high, scale, digits)
        rows.append((fmt.count(look.seeds), *e, fmt.bare_p(look.p), ends, look.conclusion))
    heads = ("Seeds", *(["e"] if with_e else []), "p", "Where the effect may lie")
    columns = (*numbers(*heads), Column("Conclusion"))
    caption = f"{lookups.title_of(document, part.expectation)}: every look"
    return TableBlock(caption, columns, tuple(rows))


def _nights(control: ControlPart) -> str:
    if not control.nights:
        return "two arms that are the same have not been compared yet."
    rate = fmt.share(control.found / control.nights, 2)
    nights = fmt.number_of(control.nights, "night")
    low, high = fmt.share(control.low, 2), fmt.share(control.high, 2)
    return (
        f"two arms that are the same were compared in {nights}, and a difference was found in "
        f"{fmt.count(control.found)} of them ({rate}; the rate lies between {low} and {high}). At "
        f"most {fmt.percent(control.alpha)} may be found by accident."
    )
