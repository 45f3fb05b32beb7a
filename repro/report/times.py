"""Times to a target as a figure: which share of the runs of each arm is not there yet.

With one budget for all runs that share is the estimate of Kaplan and Meier (1958).
"""

from __future__ import annotations

from collections.abc import Sequence

from repro.judging.document import Document, MeasurementPart
from repro.report import words
from repro.report.blocks import Figure, LinePlot, Lines, Mark
from repro.schema import numbers as fmt


def times_to_target(document: Document) -> tuple[Figure, ...]:
    """A figure for each censored measurement that a decisive expectation reads."""
    figures: list[Figure] = []
    for key in dict.fromkeys(result.measurement for result in words.decisive(document)):
        measurement = words.measurement_of(document, key)
        if measurement is not None and measurement.censored_at is not None:
            number = f"-{len(figures) + 1}" if figures else ""
            figures.append(
                _figure(document, measurement, measurement.censored_at, f"times{number}")
            )
    return tuple(figures)


def _figure(document: Document, measurement: MeasurementPart, budget: float, name: str) -> Figure:
    key = measurement.key
    found = {
        arm.id: [run.values[key] for run in arm.replicates if key in run.values]
        for arm in document.arms
    }
    values = {arm: times for arm, times in found.items() if times}
    lines = tuple(
        Lines(
            words.arm_label(document, arm),
            words.colour_of(document, arm),
            (not_there(times, budget),),
        )
        for arm, times in values.items()
    )
    title = fmt.upper_first(f"{measurement.label}: runs that are not there yet")
    marks = (Mark(budget, f"budget, {words.value(budget, measurement).removeprefix('> ')}"),)
    plot = LinePlot(title, measurement.label, "share of runs", lines, upright=marks, scale="linear")
    caption = (
        "Each line is the share of an arm's runs that have not got there yet; what is left at the "
        "budget never did."
    )
    alts = [f"{title}."]
    for arm, times in values.items():
        left = sum(time >= budget for time in times)
        alts.append(f"{words.arm_label(document, arm)}: {left} of {len(times)} never.")
    return Figure(name, " ".join(alts), caption, plot)


def not_there(values: Sequence[float], budget: float) -> tuple[tuple[float, float], ...]:
    """The share that is not there, before and after the time of each run, from 0 to the budget."""
    points, left = [(min(0.0, *values), 1.0)], len(values)
    for value in sorted(value for value in values if value < budget):
        points.append((value, left / len(values)))
        left -= 1
        points.append((value, left / len(values)))
    return (*points, (budget, left / len(values)))
