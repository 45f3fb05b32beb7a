"""The expectations one by one: what was declared, what came out, what it rests on."""

from __future__ import annotations

from repro.judging.document import Document, Result
from repro.judging.document_parts import LevelPart
from repro.report import words
from repro.report.blocks import Badge, Block, Pairs, Paragraph, StatementBlock
from repro.report.figure_data import limit_text, scatter_figure
from repro.report.lookup import arm_label, digits_of, measurement_of, scale_of, upper_first
from repro.schema import numbers as fmt


def expectations(document: Document) -> tuple[Block, ...]:
    """A finding each, the decisive ones first; the points of an association that is context."""
    blocks: list[Block] = []
    for number, result in enumerate(_ordered(document), 1):
        blocks.append(_finding(document, result))
        if result.points and result.role != "decisive":
            blocks.append(scatter_figure(document, result, number))
    return tuple(blocks)


def _finding(document: Document, result: Result) -> StatementBlock:
    role = "decides" if result.role == "decisive" else "context, not counted"
    said = "" if result.sentence in document.verdict.sentence else result.sentence
    found = words.conclusion(result.conclusion)
    word = words.with_strength(found.word, result.strength)
    return StatementBlock(result.statement, Badge(word, found.tone, found.icon), role, said, ())


def tests(document: Document) -> tuple[Block, ...]:
    """What each test was, and every number that it gave."""
    blocks: list[Block] = []
    for result in _ordered(document):
        pairs = tuple(pair for pair in _finding_pairs(document, result) if pair[1])
        blocks += [Paragraph("", f"{result.statement}."), Pairs(pairs)]
    return tuple(blocks)


def _ordered(document: Document) -> list[Result]:
    return sorted(document.results, key=lambda result: result.role != "decisive")


def _finding_pairs(document: Document, result: Result) -> list[tuple[str, str]]:
    return [
        *_declared(document, result),
        *_measured(document, result),
        *_evidence(document, result),
        *((upper_first(fmt.plain_name(name)), text) for name, text in result.details.items()),
    ]


def _declared(document: Document, result: Result) -> list[tuple[str, str]]:
    keys = [result.measurement, *([] if result.against is None else [result.against])]
    found = [(key, measurement_of(document, key)) for key in keys]
    names = [key if one is None else one.label for key, one in found]
    return [
        ("Expectation", f"{result.id} ({fmt.plain_name(result.kind)})"),
        ("Measurement" if len(names) == 1 else "Measurements", " and ".join(names)),
        ("Arms", ", ".join(arm_label(document, arm) for arm in result.arms)),
        ("Test", f"{result.test}, at level α = {fmt.setting(result.alpha)}"),
    ]


def _measured(document: Document, result: Result) -> list[tuple[str, str]]:
    digits, scale = digits_of(document, result), scale_of(result)
    pairs = []
    if result.effect is not None:
        pairs.append((upper_first(result.effect_label), fmt.effect(result.effect, scale, digits)))
    if result.interval is not None:
        pairs.append(("Interval", words.interval(result.interval, scale, digits)))
    for limit in result.limits:
        why = f": {limit.why}" if limit.why else ""
        pairs.append(("Limit", limit_text(document, result, limit.value, limit.label) + why))
    return pairs


def _evidence(document: Document, result: Result) -> list[tuple[str, str]]:
    pairs = []
    if result.p is not None:
        df = "" if result.df is None else f", {result.df:.3g} degrees of freedom"
        against = (
            "" if result.p_against is None else f"; against it, {fmt.p_value(result.p_against)}"
        )
        pairs.append(("Evidence for the claim", f"{fmt.p_value(result.p)}{df}{against}"))
    smallest = result.smallest_confirmable_margin
    if smallest is not None:
        text = fmt.size(smallest, result.scale, digits_of(document, result))
        pairs.append(("Smallest confirmable margin", text))
    levels = [one for one in document.levels if one.expectation == result.id]
    return pairs + [(f"Level of {one.test}", level_said(one)) for one in levels]


def level_said(level: LevelPart) -> str:
    """What a test does that loses its level near the present design."""
    return f"This test loses its level here: {level.text}"
