"""Would another choice change the verdict? Flags, every analysis, every seed left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from repro.judging.document import Document, Result
from repro.judging.document_parts import Analysis, Choice, Robustness
from repro.report import words
from repro.report.blocks import (
    AnalysisRow,
    Block,
    Column,
    Figure,
    Paragraph,
    SpecificationPlot,
    TableBlock,
)
from repro.report.figure_data import curve_figures, effect_axis
from repro.report.lookup import (
    arm_label,
    decisive,
    digits_of,
    result_of,
    scale_of,
    title_of,
    upper_first,
)
from repro.schema import numbers as fmt

FEW = 12
"""Analyses that the text alternative of a picture names one by one; of twice as many one."""

NAMED = 4

DRAWN = 40
"""Seeds left out that a picture shows; of more those that move the effect most."""

COVERED: Mapping[Choice, str] = {
    "seed": "without each seed in turn",
    "test": "by every other test of the same means",
    "tolerance": "at a tenth of and at ten times the threshold of the rank",
}
"""The choices that raise a flag where they change the conclusion."""

ROUNDED = "within the rounding of the printed numbers"


def robustness(document: Document) -> tuple[Block, ...]:
    """The flags, a specification curve an expectation, each seed left out, every tolerance."""
    blocks: list[Block] = []
    if not document.verdict.flags and document.verdict.conclusion is not None:
        blocks.append(Paragraph(_no_flag(document)))
    for number, parts in enumerate(_alike(several_analyses(document)), 1):
        blocks += _curve(document, parts, number)
    blocks += _left_out_said(document)
    return (*blocks, *curve_figures(document))


def _no_flag(document: Document) -> str:
    """What was tried and changes nothing, what could not be, and what else concludes otherwise."""
    parts = several_analyses(document)
    tried = [words for choice, words in COVERED.items() if _tried(parts, choice)]
    own = decisive(document)
    left_out = [one for one in own if one.left_out]
    if left_out and all(_together(document, one) for one in left_out):
        tried = [words.replace("turn", "turn, in every arm") for words in tried]
    read = {arm for result in own for arm in result.arms}
    if any(arm.printed for arm in document.arms if arm.id in read):
        tried.append(ROUNDED)
    said = ["No flag, but none of the choices that could raise one was tried."]
    if tried:
        every = " and ".join([", ".join(tried[:-1]), tried[-1]] if len(tried) > 1 else tried)
        said = [f"No flag: the conclusion of the claim is the same {every}."]
    untried = [one[0].refused for one in _of(parts, "seed") if not _any_concludes(one)]
    if untried:
        said.append(f"Leaving out a seed could not be tried: {untried[0]}.")
    return " ".join([*said, *_otherwise(parts)])


def _of(parts: list[Robustness], choice: Choice) -> list[list[Analysis]]:
    """The analyses of each expectation in which this was chosen, where there are any."""
    found = [[one for one in part.analyses if one.choice == choice] for part in parts]
    return [one for one in found if one]


def _any_concludes(analyses: list[Analysis]) -> bool:
    return any(one.conclusion is not None for one in analyses)


def _tried(parts: list[Robustness], choice: Choice) -> bool:
    """Whether it was tried of each expectation that has such a choice: the claim is all of them."""
    found = _of(parts, choice)
    return bool(found) and all(map(_any_concludes, found))


def _otherwise(parts: list[Robustness]) -> list[str]:
    """How many of all other analyses conclude otherwise than as declared, or cannot be made."""
    words = []
    for part in parts:
        declared = next((one for one in part.analyses if one.declared), part.analyses[0])
        others = [one for one in part.analyses if one is not declared]
        words += ["" if one.conclusion == declared.conclusion else one.conclusion for one in others]
    refused = words.count(None)
    other = len(words) - words.count("") - refused
    every = f"of {fmt.number_of(len(words), 'other analysis', 'other analyses')}"
    counts = [
        f"{fmt.count(other)} {every} conclude{'s' if other == 1 else ''} otherwise"
        if other
        else "",
        f"{fmt.count(refused)} {'' if other else every + ' '}cannot be made" if refused else "",
    ]
    said = ", and ".join(one for one in counts if one)
    return [f"{said}."] if said else []


def all_analyses(document: Document) -> tuple[Block, ...]:
    """The table of every expectation that has several, and every seed left out in turn."""
    left_out = [r for r in document.results if r.left_out]
    tables = [_table(document, part) for part in several_analyses(document)]
    return (*tables, *([_left_out_table(document, left_out)] if left_out else []))


def agreement_of_analyses(part: Robustness) -> str:
    """How many other analyses conclude as the declared one does, and which do not."""
    declared = next((one for one in part.analyses if one.declared), part.analyses[0])
    others = [one for one in part.analyses if one is not declared]
    counts = Counter(one.conclusion for one in others)
    same = counts.pop(declared.conclusion, 0)
    word = declared.conclusion or "no conclusion"
    every = fmt.number_of(len(others), "other analysis", "other analyses")
    said = [f"{fmt.count(same)} of {every} conclude{'s' if same == 1 else ''} {word}"]
    said[0] += ", as the declared one does"
    for other, times in sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))):
        own = [one for one in others if one.conclusion == other]
        names = list(dict.fromkeys(_called(one, declared) for one in own))
        more = "" if len(names) <= NAMED else f" and {fmt.count(len(names) - NAMED)} more"
        shown = f"({', '.join(names[:NAMED])}{more})"
        what = "cannot be made" if other is None else f"conclude{'s' if times == 1 else ''} {other}"
        said.append(f"{fmt.count(times)} {what} {shown}")
    return f"{'; '.join(said)}."


def _called(analysis: Analysis, declared: Analysis) -> str:
    """Its name; a seed is named only where one less would cost a claim its confirmation."""
    recipe = (
        analysis.choice == "seed" and declared.conclusion != "CONFIRMED" and analysis.conclusion
    )
    return "one seed left out" if recipe else analysis.name


def several_analyses(document: Document) -> list[Robustness]:
    """What has another analysis than the declared one."""
    return [part for part in document.robustness if len(part.analyses) > 1]


def _alike(parts: list[Robustness]) -> list[list[Robustness]]:
    """Expectations whose analyses give the same numbers and conclusions share a picture."""
    found: dict[object, list[Robustness]] = {}
    for part in parts:
        key = tuple(
            (one.choice, one.effect, one.low, one.high, one.conclusion) for one in part.analyses
        )
        found.setdefault(key, []).append(part)
    return list(found.values())


def _curve(document: Document, parts: list[Robustness], number: int) -> list[Block]:
    names = "; ".join(title_of(document, part.expectation) for part in parts)
    blocks: list[Block] = [Paragraph(agreement_of_analyses(parts[0]), f"{names}:")]
    figure = _figure(document, parts[0], number)
    return [*blocks, *([] if figure is None else [figure])]


def _declared_first(part: Robustness) -> list[Analysis]:
    return sorted(part.analyses, key=lambda one: not one.declared)


def _figure(document: Document, part: Robustness, number: int) -> Figure | None:
    result = result_of(document, part.expectation)
    with_effect = [one for one in part.analyses if one.effect is not None]
    if result is None or result.scale == "none" or len(with_effect) < 2:
        return None
    points = [value for one in with_effect for value in (one.effect, one.low, one.high)]
    reach = tuple(value for value in points if value is not None)
    title = f"{upper_first(result.effect_label)}, under every analysis"
    shown = drawn(_declared_first(part))
    rows = tuple(_row(one) for one in shown)
    plot = SpecificationPlot(title, effect_axis(document, result, points), rows, reach)
    caption = (
        "Each row is another analysis of the same runs. The verdict uses the declared one"
        " alone, with the diamond."
    )
    if len(shown) < len(part.analyses):
        apart = fmt.count(len(part.analyses) - len(shown))
        caption += (
            f" Of the seeds left out, the {DRAWN} that move the effect most are drawn; {apart}"
            " others lie between."
        )
    return Figure(f"analyses-{number}", _alt(document, result, part), caption, plot)


def drawn(analyses: list[Analysis]) -> list[Analysis]:
    """What a picture shows: everything, but of many seeds left out the outermost effects alone."""
    seeds = [one for one in analyses if one.choice == "seed" and one.effect is not None]
    if len(seeds) <= DRAWN:
        return analyses
    inner = sorted(seeds, key=lambda one: one.effect or 0.0)[DRAWN // 2 : -DRAWN // 2]
    hidden = {id(one) for one in inner}
    return [one for one in analyses if id(one) not in hidden]


def _row(analysis: Analysis) -> AnalysisRow:
    badge = words.conclusion(analysis.conclusion)
    interval = (
        None if analysis.low is None and analysis.high is None else (analysis.low, analysis.high)
    )
    note = (
        ""
        if analysis.effect is not None
        else "cannot be made"
        if analysis.refused
        else "in other units"
    )
    word = "refused" if analysis.refused else badge.word
    return AnalysisRow(
        analysis.name, word, badge.tone, analysis.effect, interval, note, analysis.declared
    )


def _alt(document: Document, result: Result, part: Robustness) -> str:
    digits = digits_of(document, result)
    shown = _declared_first(part)[: 1 if len(part.analyses) > 2 * FEW else None]
    said = [f"{upper_first(result.effect_label)} under {fmt.count(len(part.analyses))} analyses."]
    for one in shown:
        effect = "" if one.effect is None else f" {fmt.effect(one.effect, result.scale, digits)},"
        said.append(f"{one.name}:{effect} {_row(one).word}.")
    return " ".join([*said, agreement_of_analyses(part)])


def _table(document: Document, part: Robustness) -> TableBlock:
    result = result_of(document, part.expectation)
    digits = 2 if result is None else digits_of(document, result)
    scale = "number" if result is None else scale_of(result)
    rows = []
    for one in _declared_first(part):
        effect = fmt.DASH if one.effect is None else fmt.effect(one.effect, scale, digits)
        ends = fmt.DASH
        if one.low is not None or one.high is not None:
            ends = fmt.ends(one.low, one.high, scale, digits)
        p = fmt.DASH if one.p is None else fmt.bare_p(one.p)
        word = f"refused: {one.refused}" if one.refused else one.conclusion or "none"
        rows.append((one.name, one.choice, effect, ends, p, word))
    columns = (
        *(Column("Analysis"), Column("Choice"), Column("Effect", "number")),
        *(Column("Interval", "number"), Column("p", "number"), Column("Conclusion")),
    )
    caption = f"{title_of(document, part.expectation)}: all {fmt.count(len(rows))} analyses"
    return TableBlock(caption, columns, tuple(rows))


def _left_out_said(document: Document) -> list[Block]:
    """Every seed left out in turn, in one line; the numbers are in a fold."""
    items = [item for result in decisive(document) for item in result.left_out]
    if not items:
        return []
    same = sum(
        item.conclusion == result.conclusion
        for result in decisive(document)
        for item in result.left_out
    )
    text = (
        f"{fmt.count(same)} of {fmt.count(len(items))} times the conclusion of a test is the same."
    )
    return [Paragraph(text, "Each seed left out in turn:")]


def _left_out_table(document: Document, results: list[Result]) -> TableBlock:
    rows = []
    for result in results:
        for arm in dict.fromkeys(item.arm for item in result.left_out):
            role = "" if result.role == "decisive" else " (not counted)"
            name = f"{title_of(document, result.id)}{role}"
            rows.append((name, _left_out_of(document, result, arm), _left_out_text(result, arm)))
    columns = (Column("Expectation"), Column("One seed left out of"), Column("Conclusion"))
    return TableBlock("Each seed left out in turn", columns, tuple(rows))


def _left_out_of(document: Document, result: Result, arm: str) -> str:
    return "every arm" if _together(document, result) else arm_label(document, arm)


def _together(document: Document, result: Result) -> bool:
    """Whether one number at a time is left out of all arms that have seeds."""
    seeds = [one.id for one in document.arms if one.id in result.arms and one.replicates]
    return len(seeds) > 1 and len({item.arm for item in result.left_out}) == 1


def _left_out_text(result: Result, arm: str) -> str:
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
        if word != result.conclusion and result.conclusion == "CONFIRMED":
            numbers = ", ".join(str(i.replicate) for i in items if i.conclusion == word)
            text += f" (without seed {numbers})"
        said.append(text)
    return "; ".join(said)
