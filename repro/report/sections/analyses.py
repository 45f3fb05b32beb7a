"""Would another choice change the verdict? Flags, every analysis, every seed left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from repro.expectations.verdict_words import Conclusion
from repro.judging.document import Document, Result
from repro.judging.document_parts import Analysis, Choice, Robustness
from repro.report import badges, lookups
from repro.report.blocks import (
    AnalysisRow,
    Block,
    Figure,
    Paragraph,
    SpecificationPlot,
    TableBlock,
    numbers,
    texts,
)
from repro.report.figure_data import effect_axis
from repro.schema import numbers as fmt

FEW = 12
"""Analyses that the text alternative of a picture names one by one; of twice as many one."""

NAMED = 4

DRAWN = 40
"""Seeds, or tasks, left out that a picture shows; of more those that move the effect most."""

COVERED: Mapping[Choice, str] = {
    "seed": "without each seed in turn",
    "task": "without each task in turn",
    "test": "by every other test of the same means",
    "tolerance": "at a tenth of and at ten times the threshold of the rank",
}
"""The choices that raise a flag where they change the conclusion."""

LEFT_OUT: tuple[Choice, ...] = ("seed", "task")

ROUNDED = "within the rounding of the printed numbers"


def robustness(document: Document) -> tuple[Block, ...]:
    """The flags in full, a specification curve an expectation, each seed left out."""
    told: dict[str, list[str]] = {}
    for flag in document.verdict.flags:
        kind = badges.name_of_flag(flag.kind, document.claim.unit)
        told.setdefault(kind, []).append(fmt.sentence(flag.text))
    blocks: list[Block] = [
        Paragraph(" ".join(dict.fromkeys(texts)), f"{fmt.upper_first(fmt.plain_name(kind))}:")
        for kind, texts in told.items()
    ]
    if not document.verdict.flags and document.verdict.conclusion is not None:
        blocks.append(Paragraph(_no_flag(document)))
    for number, parts in enumerate(_alike(several_analyses(document)), 1):
        names = "; ".join(lookups.title_of(document, part.expectation) for part in parts)
        blocks.append(Paragraph(agreement_of_analyses(parts[0]), f"{names}:"))
        blocks += _figure(document, parts[0], f"analyses-{number}")
    left_out = [(r, item) for r in lookups.decisive(document) for item in r.left_out]
    if left_out:
        same = fmt.count(sum(item.conclusion == result.conclusion for result, item in left_out))
        text = f"{same} of {fmt.count(len(left_out))} times the conclusion of a test is the same."
        blocks.append(Paragraph(text, f"Each {document.claim.unit} left out in turn:"))
    return tuple(blocks)


def agreeing(document: Document) -> tuple[int, int]:
    """How many other analyses conclude as their declared one does, and of how many."""
    pairs = [
        (declared.conclusion, other.conclusion)
        for declared, others in map(_declared, several_analyses(document))
        for other in others
    ]
    return sum(a == b for a, b in pairs), len(pairs)


def _no_flag(document: Document) -> str:
    """What was tried and changes nothing, what could not be, and what else concludes otherwise."""
    parts = several_analyses(document)
    tried = [  # of each expectation that has such a choice: the claim is all of them
        text.replace("seed", document.claim.unit)
        for choice, text in COVERED.items()
        if (found := _of(parts, choice)) and all(map(_any_concludes, found))
    ]
    decisive = lookups.decisive(document)
    left_out = [result for result in decisive if result.left_out]
    if left_out and all(_together(document, result) for result in left_out):
        tried = [text.replace("turn", "turn, in every arm") for text in tried]
    read = {arm for result in decisive for arm in result.arms}
    if any(arm.printed for arm in document.arms if arm.id in read):
        tried.append(ROUNDED)
    said = ["No flag, but none of the choices that could raise one was tried."]
    if tried:
        every = " and ".join([", ".join(tried[:-1]), tried[-1]] if len(tried) > 1 else tried)
        said = [f"No flag: the conclusion of the claim is the same {every}."]
    untried = [found[0].refused for found in _of(parts, "seed") if not _any_concludes(found)]
    if untried:
        said.append(f"Leaving out a {document.claim.unit} could not be tried: {untried[0]}.")
    return " ".join([*said, *_otherwise(parts)])


def _of(parts: list[Robustness], choice: Choice) -> list[list[Analysis]]:
    """The analyses of each expectation in which this was chosen, where there are any."""
    found = [[each for each in part.analyses if each.choice == choice] for part in parts]
    return [analyses for analyses in found if analyses]


def _any_concludes(analyses: list[Analysis]) -> bool:
    return any(analysis.conclusion is not None for analysis in analyses)


def _declared(part: Robustness) -> tuple[Analysis, list[Analysis]]:
    declared = next((each for each in part.analyses if each.declared), part.analyses[0])
    return declared, [each for each in part.analyses if each is not declared]


def _otherwise(parts: list[Robustness]) -> list[str]:
    """How many of all other analyses conclude otherwise than as declared, or cannot be made."""
    others = [
        (declared.conclusion, other.conclusion)
        for declared, rest in map(_declared, parts)
        for other in rest
    ]
    changed = [found for declared, found in others if found != declared]
    refused = changed.count(None)
    other = len(changed) - refused
    every = f"of {fmt.number_of(len(others), 'other analysis', 'other analyses')}"
    said = []
    if other:
        said.append(f"{fmt.count(other)} {every} conclude{'s' if other == 1 else ''} otherwise")
    if refused:
        said.append(f"{fmt.count(refused)} {'' if other else every + ' '}cannot be made")
    return [f"{', and '.join(said)}."] if said else []


def all_analyses(document: Document) -> tuple[Block, ...]:
    """The table of every expectation that has several, and every seed left out in turn."""
    left_out = [result for result in document.results if result.left_out]
    tables = [_table(document, part) for part in several_analyses(document)]
    return (*tables, *([_left_out_table(document, left_out)] if left_out else []))


def agreement_of_analyses(part: Robustness) -> str:
    """How many other analyses conclude as the declared one does, and which do not."""
    declared, others = _declared(part)
    counts = Counter(each.conclusion for each in others)
    same = counts.pop(declared.conclusion, 0)
    word = declared.conclusion or "no conclusion"
    every = fmt.number_of(len(others), "other analysis", "other analyses")
    agree = f"conclude{'s' if same == 1 else ''} {word}, as the declared one does"
    said = [f"{fmt.count(same)} of {every} {agree}"]
    for other, times in sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))):
        alike = [each for each in others if each.conclusion == other]
        names = list(dict.fromkeys(_called(each, declared) for each in alike))
        more = "" if len(names) <= NAMED else f" and {fmt.count(len(names) - NAMED)} more"
        verb = "cannot be made" if other is None else f"conclude{'s' if times == 1 else ''} {other}"
        said.append(f"{fmt.count(times)} {verb} ({', '.join(names[:NAMED])}{more})")
    return f"{'; '.join(said)}."


def _called(analysis: Analysis, declared: Analysis) -> str:
    """Its name; a seed is named only where one less would cost a claim its confirmation."""
    named = declared.conclusion == Conclusion.CONFIRMED or not analysis.conclusion
    if analysis.choice in LEFT_OUT and not named:
        return f"one {analysis.choice} left out"
    return analysis.name


def several_analyses(document: Document) -> list[Robustness]:
    return [part for part in document.robustness if len(part.analyses) > 1]


def _alike(parts: list[Robustness]) -> list[list[Robustness]]:
    """Expectations whose analyses give the same numbers and conclusions share a picture."""
    found: dict[object, list[Robustness]] = {}
    for part in parts:
        key = tuple((a.choice, a.effect, a.low, a.high, a.conclusion) for a in part.analyses)
        found.setdefault(key, []).append(part)
    return list(found.values())


def _declared_first(part: Robustness) -> list[Analysis]:
    return sorted(part.analyses, key=lambda analysis: not analysis.declared)


def _figure(document: Document, part: Robustness, name: str) -> list[Figure]:
    result = lookups.result_of(document, part.expectation)
    with_effect = [each for each in part.analyses if each.effect is not None]
    if result is None or result.scale == "none" or len(with_effect) < 2:
        return []
    points = [value for each in with_effect for value in (each.effect, each.low, each.high)]
    shown = drawn(_declared_first(part))
    plot = SpecificationPlot(
        f"{fmt.upper_first(result.effect_label)}, under every analysis",
        effect_axis(document, result, points),
        tuple(map(_row, shown)),
        tuple(value for value in points if value is not None),
    )
    caption = (
        "Each row is another analysis of the same runs. The verdict uses the declared one"
        " alone, with the diamond."
    )
    if len(shown) < len(part.analyses):
        apart = fmt.count(len(part.analyses) - len(shown))
        left_out = " and ".join(f"{choice}s" for choice in LEFT_OUT if _of([part], choice))
        caption += (
            f" Drawn are the {DRAWN} {left_out} whose absence moves the effect most; the other"
            f" {apart} lie between."
        )
    return [Figure(name, _alt(document, result, part), caption, plot)]


def drawn(analyses: list[Analysis]) -> list[Analysis]:
    """What a picture shows: everything, but of many seeds left out the outermost effects alone."""
    seeds = [each for each in analyses if each.choice in LEFT_OUT and each.effect is not None]
    if len(seeds) <= DRAWN:
        return analyses
    inner = sorted(seeds, key=lambda each: each.effect or 0.0)[DRAWN // 2 : -DRAWN // 2]
    hidden = {id(each) for each in inner}
    return [each for each in analyses if id(each) not in hidden]


def _row(analysis: Analysis) -> AnalysisRow:
    badge = badges.conclusion(analysis.conclusion)
    ends = (analysis.low, analysis.high)
    note = "cannot be made" if analysis.refused else "in other units"
    return AnalysisRow(
        analysis.name,
        "refused" if analysis.refused else badge.word,
        badge.tone,
        analysis.effect,
        None if ends == (None, None) else ends,
        note if analysis.effect is None else "",
        analysis.declared,
    )


def _alt(document: Document, result: Result, part: Robustness) -> str:
    shown = _declared_first(part)[: 1 if len(part.analyses) > 2 * FEW else None]
    label = fmt.upper_first(result.effect_label)
    said = [f"{label} under {fmt.count(len(part.analyses))} analyses."]
    for each in shown:
        effect = ""
        if each.effect is not None:
            effect = f" {lookups.effect(document, result, each.effect, result.scale)},"
        said.append(f"{each.name}:{effect} {_row(each).word}.")
    return " ".join([*said, agreement_of_analyses(part)])


def _table(document: Document, part: Robustness) -> TableBlock:
    result = lookups.result_of(document, part.expectation)
    scale, digits = lookups.scale_of(result), lookups.digits_of(document, result)
    rows = []
    for each in _declared_first(part):
        effect = fmt.DASH
        if each.effect is not None:
            effect = lookups.effect(document, result, each.effect, scale)
        ends = fmt.DASH
        if (each.low, each.high) != (None, None):
            ends = fmt.ends(each.low, each.high, scale, digits)
        p = fmt.DASH if each.p is None else fmt.bare_p(each.p)
        word = f"refused: {each.refused}" if each.refused else each.conclusion or "none"
        choice = document.claim.unit if each.choice == "seed" else each.choice
        rows.append((each.name, choice, effect, ends, p, word))
    of_claim = any(
        a.conclusion == Conclusion.CONTRADICTED and (a.p or 0) > 0.5 for a in part.analyses
    )
    columns = (
        *texts("Analysis", "Choice"),
        *numbers("Effect", "Interval", f"p{' of the claim' * of_claim}"),
        *texts("Conclusion"),
    )
    caption = f"{lookups.title_of(document, part.expectation)}: all {fmt.count(len(rows))} analyses"
    return TableBlock(caption, columns, tuple(rows))


def _left_out_table(document: Document, results: list[Result]) -> TableBlock:
    rows, unit = [], document.claim.unit
    for result in results:
        role = "" if result.role == "decisive" else " (not counted)"
        name = f"{lookups.title_of(document, result.id)}{role}"
        together = _together(document, result)
        for arm in dict.fromkeys(item.arm for item in result.left_out):
            which = "every arm" if together else lookups.arm_label(document, arm)
            rows.append((name, which, _left_out_text(result, arm, unit)))
    columns = texts("Expectation", f"One {unit} left out of", "Conclusion")
    return TableBlock(f"Each {unit} left out in turn", columns, tuple(rows))


def _together(document: Document, result: Result) -> bool:
    """Whether one number at a time is left out of all arms that have seeds."""
    seeds = [arm for arm in document.arms if arm.id in result.arms and arm.replicates]
    return len(seeds) > 1 and len({item.arm for item in result.left_out}) == 1


def _left_out_text(result: Result, arm: str, unit: str) -> str:
    items = [item for item in result.left_out if item.arm == arm]
    counts = Counter(item.conclusion for item in items)
    said = []
    for word, times in counts.most_common():
        if word is None:
            why = next(item.refused for item in items if item.conclusion is None)
            reason = f" ({why})" if why else ""
            said.append(f"cannot be tested {times} of {len(items)} times{reason}")
            continue
        text = f"{word} {times} of {len(items)} times"
        if word != result.conclusion and result.conclusion == Conclusion.CONFIRMED:
            numbers = ", ".join(str(i.replicate) for i in items if i.conclusion == word)
            text += f" (without {unit} {numbers})"
        said.append(text)
    return "; ".join(said)
