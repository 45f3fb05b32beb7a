"""Finding things in a document, and the colours of a report: those of arms and of themes.

The colours of a report, once for all formats: the light theme is also that of the PDF.

A figure is drawn in the colours of paper; the style sheet of a page finds these and puts its
variables in their place, so that one drawing serves light, dark and paper. Every text colour has
a contrast of at least 4.5 on every ground that it is used on (a test computes it).
"""

from __future__ import annotations

from repro.judging.document import ArmPart, Document, MeasurementPart, Result, SummaryPart
from repro.schema import numbers as fmt

LIGHT = {
    "page": "#fcfcfa", "ink": "#1a1c20", "muted": "#565c66", "rule": "#dcdfe3", "card": "#f2f3f1",
    "accent": "#0b5a9c", "good": "#0f6244", "good-bg": "#e3f2ea", "warn": "#8a4300",
    "warn-bg": "#fcefdd", "bad": "#a11d2b", "bad-bg": "#fbe9e8", "plain": "#3f4a5a",
    "plain-bg": "#e9edf2", "arm-1": "#0b5a9c", "arm-2": "#9a4b00", "arm-3": "#0f6b4b",
    "arm-4": "#77359c", "region": "#d9ecdf",
}  # fmt: skip

DARK = {
    "page": "#14161a", "ink": "#e9e9e5", "muted": "#a9afb9", "rule": "#363a41", "card": "#1e2126",
    "accent": "#84bdf0", "good": "#82d6b1", "good-bg": "#14302a", "warn": "#f2b873",
    "warn-bg": "#362711", "bad": "#ff9f9a", "bad-bg": "#3c1a1d", "plain": "#b9c6d8",
    "plain-bg": "#232a34", "arm-1": "#84bdf0", "arm-2": "#f2b06a", "arm-3": "#82d6b1",
    "arm-4": "#d3aef3", "region": "#1d3a31",
}  # fmt: skip

PRINT = LIGHT | {"page": "#ffffff", "ink": "#000000", "muted": "#444444", "card": "#ffffff"}
TONES = ("good", "warn", "bad", "plain")
ARMS = ("arm-1", "arm-2", "arm-3", "arm-4")

DRAWN = ("page", "ink", "muted", "rule", "region", *TONES, *ARMS)
"""The colours of figures; no two of them are the same on paper."""


def variables(theme: dict[str, str]) -> str:
    """CSS custom properties of a theme."""
    return ";".join(f"--{name}:{colour}" for name, colour in theme.items())


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours by WCAG 2."""

    def luminance(colour: str) -> float:
        channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def measurement_of(document: Document, key: str) -> MeasurementPart | None:
    """The measurement with that key; None when the document does not describe it."""
    return next((m for m in document.measurements if m.key == key), None)


def summary_of(arm: ArmPart, key: str) -> SummaryPart | None:
    """What an arm measured under that key; None before its first run."""
    return next((s for s in arm.summaries if s.measurement == key), None)


def arm_label(document: Document, arm_id: str) -> str:
    """What a reader calls an arm."""
    return next((arm.label for arm in document.arms if arm.id == arm_id), arm_id)


def decisive(document: Document) -> tuple[Result, ...]:
    """The expectations that count."""
    return tuple(r for r in document.results if r.role == "decisive")


def digits_of(document: Document, result: Result) -> int:
    """Digits after the point of a difference on the axis of an expectation."""
    measurement = measurement_of(document, result.measurement)
    return 2 if measurement is None else max(measurement.digits, 0)


def upper_first(text: str) -> str:
    """The text with a capital at its start."""
    return text[:1].upper() + text[1:]


def colour_of(document: Document, arm_id: str) -> str:
    """Each arm keeps its colour through all figures."""
    ids = [arm.id for arm in document.arms]
    return ARMS[ids.index(arm_id) % len(ARMS)] if arm_id in ids else ARMS[0]


def result_of(document: Document, expectation: str) -> Result | None:
    """The tested expectation with that id; None when the document does not hold it."""
    return next((one for one in document.results if one.id == expectation), None)


def title_of(document: Document, expectation: str) -> str:
    """What a reader calls an expectation: measurement and arms, kind and id where needed."""
    own = result_of(document, expectation)
    if own is None or not own.effect_label:
        return upper_first(fmt.plain_name(expectation))
    kinds = [one.kind for one in document.results if one.effect_label == own.effect_label]
    return f"{upper_first(own.effect_label)}{fmt.told_apart(own.id, own.kind, kinds)}"


def scale_of(result: Result) -> str:
    """The scale of an effect; what exact statements count is a share."""
    return "share" if result.scale == "none" else result.scale
