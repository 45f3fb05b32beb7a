"""Find results, arms and measurements in a document, and write their numbers."""

from __future__ import annotations

from repro.expectations.base import IntervalPart
from repro.expectations.phrases import RULE, SMALLEST
from repro.expectations.verdict_words import Conclusion
from repro.judging.document import ArmPart, Document, MeasurementPart, Result, SummaryPart
from repro.report.palette import ARMS
from repro.schema import numbers as fmt
from repro.trainers.measurement import MeasurementSpec
from repro.trainers.table import MEASUREMENTS


def measurement_of(document: Document, key: str) -> MeasurementPart | None:
    return next((m for m in document.measurements if m.key == key), None)


def spec_of(measurement: MeasurementPart | None) -> type[MeasurementSpec]:
    """The class of a built-in measurement, which says how it is drawn; else what all have."""
    if measurement is None or measurement.kind not in MEASUREMENTS.names():
        return MeasurementSpec
    return MEASUREMENTS.get(measurement.kind)


def summary_of(arm: ArmPart, key: str) -> SummaryPart | None:
    """What an arm measured under that key; None before its first run."""
    return next((s for s in arm.summaries if s.measurement == key), None)


def arm_label(document: Document, arm_id: str) -> str:
    return next((arm.label for arm in document.arms if arm.id == arm_id), arm_id)


def replicates(document: Document) -> str:
    """What replicates are called at the head of a column, such as `Seeds`."""
    return f"{fmt.upper_first(document.claim.unit)}s"


def decisive(document: Document) -> tuple[Result, ...]:
    return tuple(r for r in document.results if r.role == "decisive")


def digits_of(document: Document, result: Result | None) -> int:
    """Digits after the point of a difference on the axis of an expectation."""
    if result is not None and result.digits is not None:
        return result.digits
    if result is not None and result.scale == "relative":
        return 1
    return measured_digits(document, result)


def measured_digits(document: Document, result: Result | None) -> int:
    """Digits after the point of what an expectation measures, in its units."""
    measurement = None if result is None else measurement_of(document, result.measurement)
    return 2 if measurement is None else max(measurement.digits, 0)


def colour_of(document: Document, arm_id: str) -> str:
    """Each arm keeps its colour through all figures."""
    ids = [arm.id for arm in document.arms]
    return ARMS[ids.index(arm_id) % len(ARMS)] if arm_id in ids else ARMS[0]


def result_of(document: Document, expectation: str) -> Result | None:
    return next((result for result in document.results if result.id == expectation), None)


def title_of(document: Document, expectation: str) -> str:
    """What a reader calls an expectation: measurement and arms, kind and id where needed."""
    result = result_of(document, expectation)
    if result is None or not result.effect_label:
        return fmt.upper_first(fmt.plain_name(expectation))
    label = result.effect_label
    kinds = [other.kind for other in document.results if other.effect_label == label]
    return f"{fmt.upper_first(label)}{fmt.told_apart(result.id, result.kind, kinds)}"


def p_said(result: Result) -> str:
    """`p = 0.013`, of the claim, or of the contrary where that was found; empty without one.

    That of a smallest effect, by which it is judged, comes first.
    """
    contrary = result.conclusion == Conclusion.CONTRADICTED
    contrary = contrary and not result.test.endswith("two-sided")
    p = result.p_against if contrary else result.p
    said = "" if p is None else f"{fmt.p_value(p)}{null(result)}"
    return f"{rule(result)}; {said}" if RULE in result.details else said


def rule(result: Result) -> str:
    """`by more than 0.3: p = 0.013`, and against it where it is not as claimed; or empty."""
    said = result.details.get(RULE, "")
    both = result.conclusion in (Conclusion.CONTRADICTED, Conclusion.TRIVIAL)
    return said if both else said.partition("; ")[0]


def null(result: Result) -> str:
    """What p is against where a smallest effect was declared, which the interval decides."""
    wanted = any(limit.label.startswith(SMALLEST) for limit in result.limits)
    return " against no difference" if wanted else ""


def scale_of(result: Result | None) -> str:
    """The scale of an effect; what exact statements count is a share."""
    if result is None:
        return "number"
    return "share" if result.scale == "none" else result.scale


def value(number: float, measurement: MeasurementPart) -> str:
    """A measured value as its measurement is printed; `> 4,000` where that is all that is known."""
    shown = fmt.fixed(number, measurement.digits)
    return f"> {shown}" if is_censored(number, measurement) else shown


def is_censored(number: float, measurement: MeasurementPart) -> bool:
    """Whether a value says only that it is as large, or larger."""
    return measurement.censored_at is not None and number >= measurement.censored_at


def effect(document: Document, result: Result | None, number: float, scale: str) -> str:
    """An effect on its scale; a level as a value of its measurement."""
    if result is not None and scale == "level":
        measurement = measurement_of(document, result.measurement)
        if measurement is not None:
            return value(number, measurement)
    return fmt.effect(number, scale, digits_of(document, result))


def without_mean(summary: SummaryPart, measurement: MeasurementPart) -> bool:
    """Whether some run did not get there in its budget, so that no mean is known."""
    return summary.high is not None and is_censored(summary.high, measurement)


def mean_and_sd(summary: SummaryPart, measurement: MeasurementPart) -> str:
    """`57.31 ± 0.13`; the mean alone when there is no deviation; a printed one as it is printed.

    The deviation has one digit more where whole numbers would hide it.
    """
    if summary.as_printed is not None:
        return fmt.signed(summary.as_printed)
    if without_mean(summary, measurement):
        return "none: not all got there"
    mean = value(summary.mean, measurement)
    if summary.sd is None:
        return mean
    digits = 1 if measurement.digits == 0 and 0 < summary.sd < 10 else measurement.digits
    return f"{mean} ± {fmt.fixed(summary.sd, digits)}"


def value_range(summary: SummaryPart, measurement: MeasurementPart) -> str:
    """`56.10 to 56.61`: from the least to the largest value, of an arm whose values are known."""
    if summary.low is None or summary.high is None:
        return fmt.DASH
    return fmt.span(value(summary.low, measurement), value(summary.high, measurement))


def interval(given: IntervalPart, scale: str, digits: int) -> str:
    """`90% interval +0.11 to +0.42`."""
    return f"{fmt.percent(given.level)} interval {fmt.ends(given.low, given.high, scale, digits)}"
