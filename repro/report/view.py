"""Document -> ReportView: every number and sentence as text, once, for all formats.

Computes no statistic: it formats, orders and counts what the document holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from operator import is_
from typing import Any

from pydantic import BaseModel

from repro.expectations.verdict_words import Validity
from repro.judging import reason
from repro.judging.document import AuthorPart, Document, SourcePart, VerdictPart
from repro.report import badges
from repro.report.blocks import Badge, Chip, Figure, Paragraph, ReportView
from repro.report.flips import flip
from repro.report.parts import parts
from repro.report.sections import changes, main_figures, next_step, sections
from repro.schema import numbers as fmt
from repro.specs.claim import UNSCALED


def view(document: Document) -> ReportView:
    d: Document = tidied(document)
    verdict = badges.headline(d)
    source = d.claim.source
    first, *more = main_figures(d)
    return ReportView(
        page_title=f"{verdict.word}: {d.claim.title}",
        paper=_paper(source),
        over=f"Verdict on this claim · {seeds(d)} · {fmt.date(d.provenance.created)}",
        scale=_scale(d),
        running=f"{d.claim.id}{badges.at_scale(d.scale.name)}",
        title=d.claim.title,
        quote=source.quote if isinstance(source, SourcePart) else "",
        citation=_citation(d),
        flip=flip(d),
        verdict=verdict,
        sentence=reason.sentence(d),
        cure=next_step(d).text if d.verdict.validity != Validity.VALID else "",
        parts=parts(d) if d.verdict.validity == Validity.VALID else None,
        chips=_chips(d),
        notice=_notice(d),
        changes=changes(d),
        figure=first,
        more=tuple(each for each in more if isinstance(each, Figure)),
        sections=sections(d),
        footer=f"Written by repro {d.provenance.repro_version}; claim digest {d.claim.digest[:19]}",
    )


def _notice(document: Document) -> Paragraph:
    """What the scale means, or that a claim was written from its results."""
    lead, _, rest = document.scale.notice.partition(". ")
    if reason.is_exploratory(document):
        return Paragraph(rest, "Written from these results, which cannot confirm it.")
    return Paragraph(rest, f"{lead}.") if rest else Paragraph(document.scale.notice)


def _scale(document: Document) -> str:
    """The name of the scale, or how a claim without scales came about."""
    if document.scale.name != UNSCALED:
        return f"{document.scale.name} scale"
    return "exploratory" if reason.is_exploratory(document) else "as declared"


_ADDRESSES = (
    (re.compile(r"https://[^\s<>\"'`]{4,200}[^\s<>\"'`.,;:)]"), "{}"),
    (re.compile(r"\b10\.\d{4,9}/[-._;()/:A-Za-z0-9]{1,100}[A-Za-z0-9]"), "https://doi.org/{}"),
    (re.compile(r"(?<=arXiv )\d{4}\.\d{4,5}(?:v\d+)?|(?<=arXiv:)\d{4}\.\d{4,5}(?:v\d+)?"),
     "https://arxiv.org/abs/{}"),
)  # fmt: skip


def _paper(source: SourcePart | AuthorPart) -> str:
    """The address of the paper, where its citation has one, a DOI or a number of arXiv."""
    if not isinstance(source, SourcePart):
        return ""
    for pattern, address in _ADDRESSES:
        if found := pattern.search(f"{source.citation} {source.locator}"):
            return address.format(found[0])
    return ""


def _citation(document: Document) -> str:
    """Where the claim is printed, or why its author makes it."""
    source = document.claim.source
    if isinstance(source, SourcePart):
        return f"{source.citation}, {source.locator}"
    whose = "" if reason.is_exploratory(document) else "The author's own claim: "
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
    if (items := badges.items(document)) and max(counts) == 1:
        return items
    if document.claim.unit == "value":
        return fmt.number_of(max(arm.tasks for arm in arms), "task")
    low, high = fmt.count(min(counts)), fmt.count(max(counts))
    per = "task" if of_tasks else "arm"
    return f"{fmt.span(low, high)} {document.claim.unit}{'s' * (max(counts) > 1)} per {per}"


def _chips(document: Document) -> tuple[Chip, ...]:
    """Validity, agreement, controls that did not pass, flags, and what else to know, each once."""
    verdict = document.verdict
    chips = []
    if verdict.validity == Validity.VALID:
        checked = badges.checked(document).rstrip(".")
        chips.append(Chip("Validity", Badge(f"valid, {checked}", "good", "check")))
        if isinstance(document.claim.source, SourcePart):
            chips.append(Chip("Agreement with the paper", badges.agreement(document)))
    if verdict.conclusion is not None and (word := _unexpected(verdict)):
        chips.append(Chip("Outcome", word))
    chips += [
        Chip(f"Control: {c.statement}", Badge(f"{c.state}: {c.measured}", *badges.BADGES[c.state]))
        for c in document.canaries
        if c.state != "passed"
    ]
    for kind in dict.fromkeys(flag.kind for flag in verdict.flags):
        text = badges.flag(kind, document.claim.unit)
        chips.append(Chip("Flag", Badge(text, "warn", "alarm")))
    said = {chip.badge.word for chip in chips}
    others = (chip for chip in badges.cautions(document) if chip.badge.word not in said)
    return (*chips, *(chip for chip in others if chip.badge.word != badges.EXPLORATORY))


def _unexpected(verdict: VerdictPart) -> Badge | None:
    if not verdict.as_expected:
        return Badge(f"not as expected: {verdict.expected or 'CONFIRMED'} was", "warn", "unequal")
    if verdict.expected:
        return Badge("as expected", "plain", "check")
    return None
