"""What decides the claim, a row a part: what is claimed, its interval, its verdict, one remark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from repro.expectations.base import pair
from repro.expectations.phrases import RULE
from repro.expectations.verdict_words import Conclusion
from repro.judging.document import Document, Result
from repro.judging.reason import DECIDED, Lean, leaning
from repro.report import badges, lookups
from repro.report.blocks import Badge, PartGroup, PartRow, Parts
from repro.report.figure_data import effect_axis
from repro.schema import numbers as fmt

SHOWN = 6
"""Rows in sight; of more parts those that go against the claim stand first."""

MANY = 4
"""Arms of a part that a row names; more are counted."""

WORDS = {
    Conclusion.CONTRADICTED: "contradicted",
    Conclusion.NOT_TESTED: "not tested",
    Conclusion.TRIVIAL: "real, but trivial",
    Conclusion.INCONCLUSIVE: "not decided",
    None: "no conclusion",
    Conclusion.CONFIRMED: "confirmed",
}
"""In the order in which parts stand, where they are many."""

LEANS: dict[Lean, str] = {
    "to": "leans to the claim",
    "against": "leans against it",
    "short": "smaller than claimed",
    "": "",
}


def parts(document: Document) -> Parts | None:
    """The rows in sight; None where nothing was judged."""
    shown, hidden = _split(document)
    table = _table(document, shown)
    if table is None or not hidden:
        return table
    more = f"{fmt.number_of(len(hidden), 'more row')} among the parts, one by one."
    return replace(table, note=f"{table.note} {more}".lstrip())


def other_parts(document: Document) -> Parts | None:
    """The rows of a claim of very many parts that are not in sight."""
    _, hidden = _split(document)
    return _table(document, hidden)


_SHARE = re.compile(r", share (of \w+) ")

Alike = tuple[Result, ...]
"""Parts that say the same of several arms."""


def _split(document: Document) -> tuple[list[Alike], list[Alike]]:
    every = _merged(document)
    if len(every) > SHOWN:
        order = list(WORDS)
        every = sorted(every, key=lambda alike: order.index(alike[0].conclusion))
    return every[:SHOWN], every[SHOWN:]


def _merged(document: Document) -> list[Alike]:
    """Parts that differ in one arm alone, and read the same, stand together."""
    found: list[tuple[object, list[Result]]] = []
    for result in lookups.decisive(document):
        text = result.statement
        for arm in result.arms:
            text = text.replace(lookups.arm_label(document, arm), "\0")
        reads = (
            text, result.measurement, _found(document, result),
            result.conclusion, [(limit.label, limit.value) for limit in result.limits],
        )  # fmt: skip
        fitting = (each for key, each in found if key == reads and _one_arm_differs(each, result))
        alike = next(fitting, None)
        if alike is None:
            found.append((reads, [result]))
        else:
            alike.append(result)
    return [tuple(alike) for _, alike in found]


def _one_arm_differs(alike: Sequence[Result], other: Result) -> bool:
    places = [
        {i for i, arm in enumerate(each.arms) if i < len(other.arms) and arm != other.arms[i]}
        for each in alike
    ]
    return len(places[0]) == 1 and all(each == places[0] for each in places)


def _claim(document: Document, alike: Alike) -> str:
    """The statement of the first; where only one arm differs, with each of these arms."""
    first = alike[0]
    statement = first.statement.removesuffix(".")
    if len(alike) == 1:
        every = pair([lookups.arm_label(document, arm) for arm in first.arms])
        many = len(first.arms) > MANY
        return statement.replace(every, f"{len(first.arms)} arms") if many else statement
    for place, arm in enumerate(first.arms):
        names = [lookups.arm_label(document, result.arms[place]) for result in alike]
        if len(set(names)) == len(alike):
            label = lookups.arm_label(document, arm)
            before, _, after = statement.rpartition(label)
            return f"{before}each of {pair(names)}{after}"
    return statement


def _found(document: Document, result: Result) -> tuple[str, str]:
    """The effect, and its interval, as they are shown."""
    if result.scale == "none":
        share = "" if result.effect is None else fmt.share(result.effect)
        of = _SHARE.search(result.effect_label)
        return (share, of[1] if of else f"of {document.claim.unit}s") if share else ("", "")
    effect = ""
    if result.effect is not None:
        effect = lookups.effect(document, result, result.effect, result.scale)
    if result.interval is None:
        return effect, ""
    low, high, level = result.interval.low, result.interval.high, result.interval.level
    ends = fmt.ends(low, high, result.scale, lookups.digits_of(document, result))
    return effect, f"{ends} ({fmt.percent(level)})"


def _row(document: Document, alike: Alike) -> PartRow:
    result = alike[0]
    effect, interval = _found(document, result)
    ends = None if result.interval is None else (result.interval.low, result.interval.high)
    axis = None
    if result.scale != "none" and (result.effect is not None or ends is not None):
        axis = effect_axis(document, result, [result.effect, *(ends or ())])
    found = badges.conclusion(result.conclusion)
    word = WORDS[result.conclusion]
    limits = [] if axis is None else [limit.label for limit in axis.limits]
    alt = "; ".join(filter(None, (f"{effect} {interval}".strip(), *limits, word)))
    badge = Badge(word, found.tone, found.icon)
    remark = _remark(document, result)
    return PartRow(
        _claim(document, alike), effect, interval, badge, remark, alt, axis, result.effect, ends
    )


def _remark(document: Document, result: Result) -> str:
    """Which way it leans, what it rests on, or how strong it is."""
    if result.conclusion is None:
        return ""
    if result.conclusion == Conclusion.INCONCLUSIVE:
        p = "" if result.p in (None, 1.0) or document.sequential else _p(document, result)
        return "; ".join(filter(None, (LEANS[leaning(result)], p)))
    shown = result.conclusion in DECIDED or RULE in result.details
    said = [_p(document, result)] if shown else []
    if any(item.conclusion not in {None, result.conclusion} for item in result.left_out):
        said.append(f"leaving out one {document.claim.unit} changes it")
    return "; ".join(filter(None, said))


def _p(document: Document, result: Result) -> str:
    """p, of how many sides it is, and what a family makes of it."""
    said = lookups.p_said(result)
    if not said or RULE in result.details:
        return said
    sides = [side for side in ("two-sided", "one-sided") if side in result.test]
    members = () if document.family is None else document.family.members
    for each in members:
        mine = each.claim == document.claim.id and each.value == result.p
        if mine and each.adjusted not in (None, result.p):
            said += f" ({fmt.p_value(each.adjusted)} in its family)"
    return " ".join((*sides[:1], said))


def _unit(document: Document, result: Result) -> tuple[object, str]:
    """What the axis of an effect is in, and its name; rows of one unit share an axis."""
    measurement = lookups.measurement_of(document, result.measurement)
    label = "value" if measurement is None else measurement.label
    names = {
        "difference": f"difference in {label}",
        "relative": "relative difference",
        "ratio": "ratio, logarithmic axis",
        "spread": "ratio of scatters",
        "correlation": "correlation",
        "share": "share",
        "level": label,
        "none": "",
    }
    own = result.scale in ("difference", "level") and measurement is not None
    kind = "" if measurement is None else measurement.kind
    unit = (kind if kind in ("perplexity", "rank") else result.measurement) if own else ""
    name = names[result.scale]
    if own and kind == "perplexity" and result.scale == "difference":
        name = "difference in perplexity"
    return (result.scale, unit), name


def _table(document: Document, rows: Sequence[Alike]) -> Parts | None:
    if not rows:
        return None
    groups: dict[object, PartGroup] = {}
    for alike in rows:
        row = _row(document, alike)
        key, name = _unit(document, alike[0])
        scale = None if row.axis is None else row.axis.scale
        group = groups.setdefault((key, scale), PartGroup(name if row.axis else "", ()))
        groups[key, scale] = replace(group, rows=(*group.rows, row))
    found = tuple(groups.values())
    results = [result for alike in rows for result in alike]
    shaded = any(r.scale != "none" and r.claimed != "none" and r.limits for r in results)
    said = ["Shaded: what is claimed; dashed: its limit."] if shaded else []
    return Parts(found, " ".join(filter(None, [*said, fmt.sentence(badges.error_rate(document))])))
