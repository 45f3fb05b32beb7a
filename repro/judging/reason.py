"""The verdict in a box: its words, and the reason in one or two sentences, at most 30 words in all.

Every report, table and terminal has these same words. A reason counts the parts of a claim and
names the one that matters most; the numbers of every part stand beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from repro.expectations.base import pair
from repro.expectations.verdict_words import Conclusion, FlagKind, Validity
from repro.judging.document import Document, Result
from repro.schema import numbers as fmt
from repro.schema.numbers import NO_BREAK
from repro.specs.claim import UNSCALED
from repro.specs.tree import All, Tree

MOST = 30
"""Words of a box: those of its heading and those of its reason."""

HEADLINES = {
    Conclusion.CONFIRMED: "Confirmed{at_scale}",
    Conclusion.CONTRADICTED: "Contradicted{at_scale}",
    Conclusion.INCONCLUSIVE: "Inconclusive{at_scale}",
    Conclusion.TRIVIAL: "Real, but trivial{at_scale}",
    Conclusion.NOT_TESTED: "Not tested{at_scale}",
    Validity.INVALID: "Invalid: this evidence cannot be judged",
    Validity.INCOMPLETE: "Incomplete: runs are missing",
    Validity.STALE: "Stale: the runs are of an older version",
    Validity.NOT_COMPARABLE: "Not comparable: the arms differ too much",
}

EXPLORATORY = {
    Conclusion.CONFIRMED: "Exploratory: these results agree with the claim",
    Conclusion.CONTRADICTED: "Exploratory: these results speak against the claim",
}
"""For claims that were written from their results, which can confirm nothing."""

DECIDED = (Conclusion.CONFIRMED, Conclusion.CONTRADICTED)
"""Conclusions that a flag makes fragile; one that decides nothing cannot be."""

PARTS: dict[str, str] = {
    Conclusion.CONFIRMED: "{n} hold.",
    Conclusion.CONTRADICTED: "{n} {are} contradicted{others}.",
    Conclusion.INCONCLUSIVE: "{seeds} decide {some} of the claim's {total} parts.",
    Conclusion.TRIVIAL: "{n} {are} real, but smaller than was declared to matter.",
    Conclusion.NOT_TESTED: "{n} could not be tested.",
}

ALONE = "{n} {are} contradicted alone, but not after correction for testing several."
TREES = {
    Conclusion.CONFIRMED: "holds",
    Conclusion.CONTRADICTED: "is contradicted",
    Conclusion.INCONCLUSIVE: "is not decided",
    Conclusion.TRIVIAL: "holds only trivially",
    Conclusion.NOT_TESTED: "is not tested",
}

NUMBERS = ("none", "one", "two", "three", "four", "five", "six")

NEUTRAL = {"difference": 0.0, "relative": 0.0, "correlation": 0.0, "ratio": 1.0, "spread": 1.0}
"""The effect, on its scale, that is none."""

Lean = Literal["to", "against", "short", ""]

_ASIDE = re.compile(r" \((?:(?:one-sided |two-sided )?p [=<>≤]|[^()]*interval)[^()]*\)")
_BRACKETS = re.compile(r" \([^()]*\)")
_CLAIM = re.compile(r"against the claim that (?:\([^()]*\)|\.\d|[^.;:(])*")
_ENDS = re.compile(r": (?:the|it is) [^:]*?(?=\.?$)|, and the interval [^:]*?(?=\.?$)")
_REFUSED = re.compile(r"^Not tested(?:, and |: )")
_CLAUSE = re.compile(r"(?:'[^']*'|[^:;,])+")
_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")


def headline(document: Document) -> str:
    """The verdict in large letters; one that rests on little says so."""
    verdict, scale = document.verdict, document.scale.name
    word = verdict.conclusion if verdict.validity == Validity.VALID else None
    text = HEADLINES.get(word or verdict.validity, "Valid, without a conclusion")
    text = text.format(at_scale="" if scale == UNSCALED else f" at {scale} scale")
    if word in EXPLORATORY and is_exploratory(document):
        text = EXPLORATORY[word] + (", but fragile" if verdict.flags else "")
    elif word in DECIDED and verdict.flags:
        text += ", but fragile"
    return text


def is_exploratory(document: Document) -> bool:
    """Whether the claim was written from the results that it was judged on."""
    declared = document.registration
    return declared is not None and declared.state == "exploratory"


def is_doubtful(document: Document) -> bool:
    """Whether a conclusion is not to be taken as it stands."""
    return is_exploratory(document) or bool(document.verdict.flags)


def sentence(document: Document) -> str:
    """The reason that a document has; one of an older version is told shortly."""
    given = document.verdict.sentence
    return given if _words(given) <= _room(document) else reason(document)


def reason(document: Document, head: str = "") -> str:
    """Why the verdict is what it is, in one or two sentences.

    ``head`` is the first, where the conclusion follows from more than the parts.
    """
    found = [result for result in document.results if result.role == "decisive"]
    room = _room(document)
    if document.verdict.conclusion is None:
        why = fmt.sentence(document.verdict.validity_reason)
        return _first([why, _BRACKETS.sub("", why)], room)
    if len(found) == 1 and not head:
        doubt = _doubt(document)
        said = _first(_told(document, found[0]), room - _words(doubt))
        return f"{said} {doubt}".rstrip()
    head = head or _counted(document, found)
    matters = [f"{head} {said}" for said in _matters(document, found)]
    refused = document.verdict.conclusion == Conclusion.NOT_TESTED
    return _first(matters if refused and matters else [*matters, head], room)


def _room(document: Document) -> int:
    return MOST - _words(headline(document))


def _words(text: str) -> int:
    return len(text.split())


def _first(candidates: Iterable[str], room: int) -> str:
    """The first that is short enough, or else the last, cut."""
    last = ""
    for last in candidates:
        if _words(last) <= room:
            return last
    return _cut(last, room)


def _cut(text: str, room: int) -> str:
    """The text up to the last clause that fits, or else to the last word."""
    words = text.split()
    if len(words) <= room:
        return text
    shown = " ".join(words[:room])
    if shown.count("(") > shown.count(")"):
        shown = shown[: shown.rindex("(")].rstrip()
    ends = [place.start() for place in re.finditer(r"[.;:,](?= )", shown)]
    ends = [end for end in ends if shown[:end].count("`") % 2 == 0]
    clause = next((end for end in reversed(ends) if end > len(shown) / 3), None)
    return f"{shown.rstrip('.,;:')} …" if clause is None else f"{shown[:clause]}."


def _told(document: Document, result: Result) -> list[str]:
    """What an expectation found, from the whole to its first sentence."""
    labels = [arm.label for arm in document.arms] + [m.label for m in document.measurements]
    whole = result.sentence
    for label in labels:  # a full stop or a bracket in a label is none of the sentence
        whole = whole.replace(label, label.replace(" ", NO_BREAK))
    bare = _CLAIM.sub("against the claim", _ASIDE.sub("", whole))
    sentences = [each.replace(NO_BREAK, " ") for each in _SENTENCE.split(bare)]
    first = sentences[0]
    plain = " ".join([first, *(_ENDS.sub("", each) for each in sentences[1:2])])
    return [" ".join(sentences[:2]), plain, first]


def _doubt(document: Document) -> str:
    """`2 of 5 runs of 'base' ended early.`: what speaks against the runs, without its numbers."""
    texts = (flag.text for flag in document.verdict.flags if flag.kind == FlagKind.DOUBT)
    clause = _CLAUSE.match(_BRACKETS.sub("", next(texts, "")))
    return _cut(f"{clause[0].rstrip('.')}.", MOST // 2) if clause else ""


def _counted(document: Document, found: Sequence[Result]) -> str:
    """How many of the parts hold, fail or decide, as a clause that follows the verdict."""
    word, total = document.verdict.conclusion or "", len(found)
    alike = sum(result.conclusion == word for result in found)
    if word == Conclusion.INCONCLUSIVE and (
        lost := sum(r.conclusion == Conclusion.CONTRADICTED for r in found)
    ):
        return ALONE.format(n=_of(lost, total), are=_are(lost))
    held = sum(result.conclusion == Conclusion.CONFIRMED for result in found)
    decided = sum(result.conclusion in DECIDED for result in found)
    return PARTS[word].format(
        n=_of(alike, total), are=_are(alike), total=_number(total),
        others=f"; {_number(held)} hold{'s' if held == 1 else ''}" if held else "",
        seeds=_seeds(document), some=f"only {_number(decided)}" if decided else "none",
    )  # fmt: skip


def _of(n: int, total: int) -> str:
    """`One of its four parts`, `Both parts`, `All four parts`."""
    if n == total:
        return {1: "Its one part", 2: "Both parts"}.get(n, f"All {_number(n)} parts")
    return f"{_number(n).capitalize()} of its {_number(total)} parts"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _number(n: int) -> str:
    return NUMBERS[n] if n < len(NUMBERS) else fmt.count(n)


def _seeds(document: Document) -> str:
    """`Four pairs of seeds`, `Five seeds per arm`, `12 tasks`, or `The printed numbers`."""
    arms = [arm for arm in document.arms if not arm.printed]
    runs = [len({run.number for run in arm.replicates if run.state == "finished"}) for arm in arms]
    if not any(runs):
        return "The printed numbers"
    tasks = max(arm.tasks for arm in arms)
    if max(runs) == 1 and tasks:
        return f"{fmt.upper_first(_number(tasks))} tasks"
    least, most = (_number(n) for n in (min(runs), max(runs)))
    many = fmt.upper_first(least if least == most else f"{least} to {most}")
    if document.claim.design == "paired":
        return f"{many} pairs of {document.claim.unit}s"
    return f"{many} {document.claim.unit}{'' if most == 'one' else 's'} per arm"


def leaning(result: Result) -> Lean:
    """Where the effect lies: on the claimed side, on the other side of none, or short of it.

    Exactly at the limit it leans nowhere.
    """
    values = [limit.value for limit in result.limits]
    if result.effect is None or not values or result.claimed == "none":
        return ""
    low, high, effect = min(values), max(values), result.effect
    inside = low <= effect <= high
    if result.claimed in ("between", "outside"):
        return "to" if inside == (result.claimed == "between") else "against"
    sign, limit = (1, high) if result.claimed == "above" else (-1, low)
    if sign * (effect - limit) >= 0:
        return "to" if effect != limit else ""
    neutral = NEUTRAL.get(result.scale)
    short = neutral is not None and sign * (effect - neutral) >= 0
    return "short" if short else "against"


def _matters(document: Document, found: Sequence[Result]) -> list[str]:
    """What matters most, long and short: what goes against the claim, or what decides it first."""
    word = document.verdict.conclusion
    contrary = [result for result in found if result.conclusion == Conclusion.CONTRADICTED]
    if contrary and word in (Conclusion.CONTRADICTED, Conclusion.INCONCLUSIVE):
        said = _first_sentences(document, contrary[0])
        return [*(f"{each.removesuffix('.')}, against the claim." for each in said), *said]
    deciding = [result for result in found if result.conclusion == word] or list(found[:1])
    if word != Conclusion.INCONCLUSIVE or deciding[0].conclusion != word:
        said = _first_sentences(document, deciding[0])
        return [fmt.upper_first(_REFUSED.sub("", each)) for each in said]
    against = [result for result in deciding if leaning(result) == "against"]
    return [said for said in (_looks(document, against or deciding),) if said]


def _first_sentences(document: Document, result: Result) -> list[str]:
    """The first sentence of a finding, and the same without the name of what was measured."""
    said = _told(document, result)[-1]
    labels = {m.key: m.label for m in document.measurements}
    head = f"{fmt.upper_first(labels.get(result.measurement, ''))}: "
    return [said, fmt.upper_first(said.removeprefix(head))] if said.startswith(head) else [said]


def _looks(document: Document, found: Sequence[Result]) -> str:
    """Which arm looks better: `On test perplexity MoS looks worse than Softmax`, and so what."""
    first = found[0]
    lean, measured = leaning(first), {m.key: m for m in document.measurements}
    of = measured.get(first.measurement)
    sizes = first.scale in ("difference", "relative", "ratio") and first.effect is not None
    if of is None or not sizes or len(first.arms) != 2 or lean not in ("to", "against"):
        return ""
    labels = {arm.id: arm.label for arm in document.arms}
    a, b = (labels.get(arm, arm) for arm in first.arms)
    alike = [r for r in found if r.arms == first.arms and leaning(r) == lean]
    lower = (first.effect or 0.0) < NEUTRAL[first.scale]
    side = "better" if lower == (of.better == "lower") else "worse"
    names = [measured[r.measurement].label for r in alike if r.measurement in measured]
    how = "against the claim" if lean == "against" else "as claimed, but that is not shown"
    return f"On {together(list(dict.fromkeys(names)))} {a} looks {side} than {b}, {how}."


def together(names: Sequence[str]) -> str:
    """`validation and test perplexity`: names that end alike have their last word once."""
    *heads, last = [name.rsplit(" ", 1) for name in names]
    if heads and all(len(each) == 2 and each[1] == last[-1] for each in [*heads, last]):
        return pair([*(each[0] for each in heads), " ".join(last)])
    return pair(list(names))


def combined(conclusion: Conclusion, tree: Tree) -> str:
    """What a claim comes to that joins its parts in another way than all together."""
    return f"The declared combination ({joined_reasons(tree)}) {TREES[conclusion]}."


def joined_reasons(tree: Tree) -> str:
    """How expectations are joined: `all of x, (at least one of y, z by Holm)`."""
    parts = tree.all if isinstance(tree, All) else tree.any
    names = ", ".join(
        part if isinstance(part, str) else f"({joined_reasons(part)})" for part in parts
    )
    return f"all of {names}" if isinstance(tree, All) else f"at least one of {names} by Holm"
