"""A verdict whose word is not the one that it was: the sentence that every output begins with."""

from __future__ import annotations

import re
from itertools import pairwise

from repro.judging.document import Document, HistoryPart
from repro.judging.reason import is_exploratory
from repro.registry.verdicts import KeptNumber, KeptVerdict
from repro.schema import numbers as fmt


def flip(document: Document) -> str:
    """What it was, when, and what was changed; empty where no verdict before has another word.

    `Was CONFIRMED on 20 November, now INCONCLUSIVE: two seeds were added.` Of versions it speaks
    where nothing else was changed. An exploratory claim that was changed asks another question.
    """
    history = document.provenance.history
    before = None if history is None else history.before
    if history is None or before is None:
        return ""
    now = history.verdicts[-1]
    if is_exploratory(document) and (asked := [e.text for e in now.changed if e.kind == "claim"]):
        day = _day(before)
        return fmt.clean(f"Another question than on {day}, when it was {before.word}: {asked[0]}.")
    unit = document.claim.unit
    said = _said(before, now)
    return said if unit == "value" else re.sub(r"\bseed(?=s?\b(?![.\w]))", unit, said)


def last_flip(history: HistoryPart | None) -> tuple[str, str]:
    """When the word changed last, of the verdicts that are here, and the sentence; else nothing."""
    for before, now in reversed([*pairwise(history.verdicts if history else ())]):
        if before.word != now.word:
            return now.created, _said(before, now)
    return "", ""


def _said(before: KeptVerdict, now: KeptVerdict) -> str:
    causes = [each.text for each in now.changed if each.kind != "versions"]
    why = "; ".join(causes or [each.text for each in now.changed])
    unchanged = "nothing that is on record was changed"
    day = _day(before).removesuffix(fmt.date(now.created)[-5:])
    return fmt.clean(f"Was {before.word} on {day}, now {now.word}: {why or unchanged}.")


def _day(before: KeptVerdict) -> str:
    return fmt.date(before.created)


def is_unexpected_flip(document: Document) -> bool:
    """Whether the word is another one than before, and not the expected one.

    An exploratory claim that was changed asks another question of its results, and did not flip.
    """
    if not flip(document) or document.verdict.as_expected:
        return False
    history = document.provenance.history
    changed = () if history is None else history.verdicts[-1].changed
    return not (is_exploratory(document) and any(each.kind == "claim" for each in changed))


def shown_number(number: KeptNumber) -> str:
    """`+2.10 (+1.75 to +2.45)`: the effect and its interval; empty where there is none."""
    if number.effect is None:
        return ""
    effect = fmt.effect(number.effect, number.scale, number.digits)
    if number.low is None and number.high is None:
        return effect
    return f"{effect} ({fmt.ends(number.low, number.high, number.scale, number.digits)})"
