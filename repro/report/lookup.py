"""Finding things in a document: measurements, arms, what decides, and the colour of an arm."""

from __future__ import annotations

from repro.judging.document import Arm, Document, MeasurementPart, Result, Summary
from repro.report.palette import ARMS
from repro.schema import format as fmt


def measurement_of(document: Document, key: str) -> MeasurementPart | None:
    """The measurement with that key; None when the document does not describe it."""
    return next((m for m in document.measurements if m.key == key), None)


def summary_of(arm: Arm, key: str) -> Summary | None:
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
