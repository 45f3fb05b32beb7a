"""The effect of an expectation as words and as a strip: estimate, interval, limits, regions."""

from __future__ import annotations

import math
import re

from repro.report import format as fmt
from repro.report.document import Document, Result
from repro.report.lookup import arm_label, digits_of, upper_first
from repro.report.palette import ARMS
from repro.report.pictures import EffectAxis, EffectRow, Ends, Key, Mark, Scale

SPANS = {"correlation": (-1.0, 1.0), "share": (0.0, 1.0)}
"""Scales whose axis has ends."""
PERCENT = ("relative", "share")
"""Scales that are read as percentages."""


def effect_note(document: Document, result: Result) -> str:
    """`23.4 times, 90% interval from 20.1 times up: CONFIRMED`."""
    digits = digits_of(document, result)
    parts = [] if result.effect is None else [fmt.effect(result.effect, result.scale, digits)]
    if result.interval is not None:
        parts.append(fmt.interval(result.interval, result.scale, digits))
    return f"{', '.join(parts) or 'no effect yet'}: {result.conclusion or 'no conclusion'}"


def limit_text(document: Document, result: Result, at: float, label: str) -> str:
    """A limit by name and value; the value is not repeated where the label says it."""
    if at == 0 and "zero" in label.lower():
        return label
    said = re.findall(r"[-+]?[0-9]+(?:\.[0-9]+)?", label.replace(fmt.MINUS, "-"))
    shown = [at, abs(at)]
    shown += [100 * at, 100 * abs(at)] if result.scale in PERCENT else []
    if any(math.isclose(float(number), one, rel_tol=1e-9) for number in said for one in shown):
        return label
    return f"{label} ({fmt.effect(at, result.scale, digits_of(document, result))})"


def effect_row(document: Document, result: Result) -> EffectRow | None:
    """The strip of an expectation; None where it has no effect on an axis."""
    if result.scale == "none" or (result.effect is None and result.interval is None):
        return None
    ends = None if result.interval is None else (result.interval.low, result.interval.high)
    axis = effect_axis(document, result, [result.effect, *(ends or ())])
    title, note = upper_first(result.effect_label), effect_note(document, result)
    return EffectRow(title, note, axis, result.effect, ends, _sides(document, result))


def effect_axis(document: Document, result: Result, points: list[float | None]) -> EffectAxis:
    """The axis of an expectation; logarithmic for ratios, where all ``points`` allow it."""
    held = [*points, *(limit.value for limit in result.limits)]
    log = result.scale == "ratio" and all(point is None or point > 0 for point in held)
    scale: Scale = "log" if log else "linear"
    limits = tuple(
        Mark(limit.value, limit_text(document, result, limit.value, limit.label))
        for limit in result.limits
    )
    span, percent = SPANS.get(result.scale), result.scale in PERCENT
    return EffectAxis(scale, limits, _regions(result), span, percent)


def _regions(result: Result) -> tuple[Ends, ...]:
    values = [limit.value for limit in result.limits]
    if not values or result.claimed == "none":
        return ()
    low, high = min(values), max(values)
    regions: dict[str, tuple[Ends, ...]] = {
        "below": ((None, low),),
        "above": ((high, None),),
        "between": ((low, high),),
        "outside": ((None, low), (high, None)),
    }
    return regions[result.claimed]


def _sides(document: Document, result: Result) -> tuple[Key, ...]:
    """Wins and losses, where the effect is a share of them."""
    if result.kind != "proportion" or len(result.arms) != 2:
        return ()
    counts = [result.details.get(name) for name in ("wins", "losses")]
    said = [f"{arm_label(document, arm)} ahead" for arm in result.arms]
    named = [text if n is None else f"{text}: {n}" for text, n in zip(said, counts, strict=True)]
    return tuple(Key(text, ARMS[i], "s") for i, text in enumerate(named))
