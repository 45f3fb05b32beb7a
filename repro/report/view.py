"""Document -> ReportView: every number and sentence as text, once, for all formats.

Computes no statistic: it formats, orders and counts what the document holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import is_
from typing import Any

from pydantic import BaseModel

from repro.judging.document import Document, SourcePart, VerdictPart
from repro.report import words
from repro.report.blocks import Badge, Chip, Field, Paragraph, ReportView
from repro.report.figure_data import main_figure
from repro.report.flips import flip
from repro.report.sections import changes, sections
from repro.schema import numbers as fmt
from repro.specs.claim import UNSCALED


def view(document: Document) -> ReportView:
    d: Document = tidied(document)
    verdict = words.headline(d)
    lead, _, rest = d.scale.notice.partition(". ")
    source = d.claim.source
    return ReportView(
        page_title=f"{verdict.word}: {d.claim.title}",
        over=f"Verdict report · {seeds(d)} · {fmt.date(d.provenance.created)}",
        flip=flip(d),
        scale="as declared" if d.scale.name == UNSCALED else f"{d.scale.name} scale",
        running=f"{d.claim.id}{words.at_scale(d.scale.name)}",
        title=d.claim.title,
        quote=source.quote if isinstance(source, SourcePart) else "",
        citation=_citation(d),
        verdict=verdict,
        sentence=d.verdict.sentence,
        fields=_fields(d),
        cautions=_cautions(d),
        chips=_chips(d),
        changes=changes(d),
        notice=Paragraph(rest, f"{lead}.") if rest else Paragraph(d.scale.notice),
        figure=main_figure(d),
        sections=sections(d),
        footer=f"Written by repro {d.provenance.repro_version}; claim digest {d.claim.digest[:19]}",
    )


def _citation(document: Document) -> str:
    """Where the claim is printed, or why its author makes it."""
    source = document.claim.source
    if isinstance(source, SourcePart):
        return f"{source.citation}, {source.locator}"
    whose = "" if words.is_exploratory(document) else "The author's own claim: "
    return fmt.sentence(fmt.upper_first(f"{whose}{source.own}"))


def tidied(value: Any) -> Any:
    """The same with text that every format can hold, and its mappings in order.

    What is so already is given back as it is: that is nearly everything, of many reports.
    """
    if isinstance(value, str):
        return fmt.clean(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, BaseModel):
        found = ((name, part, tidied(part)) for name, part in vars(value).items())
        changed = {name: tidy for name, part, tidy in found if tidy is not part}
        return value.model_copy(update=changed) if changed else value
    if isinstance(value, Mapping):
        items = ((tidied(key), tidied(item)) for key, item in value.items())
        return dict(sorted(items, key=lambda item: str(item[0]))) if value else value
    if isinstance(value, list | tuple):
        tidy = [tidied(each) for each in value]
        return value if all(map(is_, tidy, value)) else type(value)(tidy)
    return value


def seeds(document: Document) -> str:
    """`5 seeds per arm`: finished replicates, a range when the arms differ; printed arms apart."""
    arms = [arm for arm in document.arms if not arm.printed]
    runs = Counter(
        (arm.id, run.task) for arm in arms for run in arm.replicates if run.state == "finished"
    )
    of_tasks = any(arm.tasks for arm in arms)
    counts = list(runs.values()) if of_tasks else [runs[arm.id, ""] for arm in arms]
    if document.arms and not arms:
        return "printed numbers"
    if not counts or max(counts) == 0:
        return "no finished run"
    low, high = fmt.count(min(counts)), fmt.count(max(counts))
    per = "task" if of_tasks else "arm"
    return f"{fmt.span(low, high)} {'seed' if max(counts) == 1 else 'seeds'} per {per}"


def _fields(document: Document) -> tuple[Field, ...]:
    verdict = document.verdict
    checked = verdict.validity_reason or words.checked(document)
    conclusion = words.conclusion(verdict.conclusion, verdict.strength)
    agreement, why = words.badge(verdict.agreement), fmt.sentence(verdict.agreement_reason)
    fields = (
        Field("Validity", words.badge(verdict.validity), checked),
        Field("Conclusion", conclusion, _conclusion_reason(verdict)),
    )
    if not isinstance(document.claim.source, SourcePart):
        return fields
    return (*fields, Field("Agreement with the paper", agreement, why))


def _conclusion_reason(verdict: VerdictPart) -> str:
    if verdict.conclusion is None:
        return "Only valid evidence carries a conclusion."
    if not verdict.expected:
        return "" if verdict.as_expected else "Not as expected: a claim is to be confirmed."
    outcome = "the outcome" if verdict.as_expected else "not the outcome"
    why = f": {verdict.expected_why}" if verdict.expected_why else ""
    declared = f"its file declares {verdict.expected} at this scale, which is {outcome}"
    return fmt.sentence(f"{declared}{why}")


def _cautions(document: Document) -> tuple[Paragraph, ...]:
    """What makes a conclusion fragile and why, or what to know; a paragraph for each kind."""
    fragile = "Fragile" if document.verdict.conclusion in words.DECIDED else "To know"
    told: dict[str, list[str]] = {}
    for flag in document.verdict.flags:
        told.setdefault(flag.kind, []).append(fmt.sentence(flag.text))
    return tuple(
        Paragraph(" ".join(dict.fromkeys(texts)), f"{fragile}, {fmt.plain_name(kind)}:")
        for kind, texts in told.items()
    )


def _chips(document: Document) -> tuple[Chip, ...]:
    """Controls that did not pass, and what to know of how the judgement was reached."""
    chips = [
        Chip(f"Control: {c.statement}", Badge(f"{c.state}: {c.measured}", *words.BADGES[c.state]))
        for c in document.canaries
        if c.state != "passed"
    ]
    return (*chips, *words.cautions(document))
