"""Figures of a measurement under other settings: rank(tolerance) with thresholds, and the spectrum.

Nothing is drawn here, and nothing is computed that the document does not hold.
"""

from __future__ import annotations

from statistics import median_low

from repro.judging.document import CurvePart, Document
from repro.report import lookups
from repro.report.blocks import Figure, LinePlot, Lines, Mark, lettered
from repro.schema import numbers as fmt
from repro.trainers.curve import CurveWords, TurnedWords

Marks = tuple[tuple[Mark, ...], tuple[Mark, ...]]
"""Marked settings, and marked values; each with the letter that it has in both figures."""


def curve_figures(document: Document) -> tuple[Figure, ...]:
    """A figure per measurement with curves, and after it what the same counts say the other way."""
    figures: list[Figure] = []
    for i, key in enumerate(dict.fromkeys(curve.measurement for curve in document.curves)):
        number = "" if i == 0 else f"-{i + 1}"
        curves = [curve for curve in document.curves if curve.measurement == key]
        said = lookups.spec_of(lookups.measurement_of(document, key)).curve_words
        marks = _marks(document, curves, said.mark)
        figures.append(_curve_figure(document, curves, marks, f"curves{number}"))
        if said.turned is not None:
            figures.append(_turned_figure(document, curves, marks, f"spectra{number}"))
    return tuple(figures)


def _curve_words(document: Document, curves: list[CurvePart]) -> tuple[CurveWords, str]:
    """How the figures are worded, and what the measurement is called."""
    key = curves[0].measurement
    measurement = lookups.measurement_of(document, key)
    label = key if measurement is None else measurement.label
    return lookups.spec_of(measurement).curve_words, label


def _curve_figure(document: Document, curves: list[CurvePart], marks: Marks, name: str) -> Figure:
    said, measured = _curve_words(document, curves)
    label = fmt.upper_first(measured)
    lines = tuple(
        Lines(
            lookups.arm_label(document, curve.arm),
            lookups.colour_of(document, curve.arm),
            tuple(tuple(sorted(zip(curve.settings, row, strict=True))) for row in curve.values),
            joined=not curve.apart,
        )
        for curve in curves
    )
    settings, values = marks
    plot = LinePlot(label, said.axis, label, lines, upright=settings, level=values)
    alts = [f"{label} against the {said.setting}.", *(_curve_alt(document, c) for c in curves)]
    caption = _caption(said.caption, said.across if values else "", said, curves)
    return Figure(name, " ".join([*alts, _marks_alt(marks)]), caption, plot)


def _caption(caption: str, across: str, said: CurveWords, curves: list[CurvePart]) -> str:
    apart = said.apart if any(curve.apart for curve in curves) else ""
    return " ".join(filter(None, (caption, across, apart)))


def _turned_figure(document: Document, curves: list[CurvePart], marks: Marks, name: str) -> Figure:
    """Counts above a setting are the places of values: rank(tolerance) is a spectrum, turned."""
    said, label = _curve_words(document, curves)
    turned = said.turned or TurnedWords("", "", "", "")
    title = fmt.upper_first(f"{label}: {turned.title}")
    lines = tuple(
        Lines(
            lookups.arm_label(document, curve.arm),
            lookups.colour_of(document, curve.arm),
            tuple(_turned(curve.settings, row) for row in curve.values),
            joined=not curve.apart,
        )
        for curve in curves
    )
    settings, values = marks
    plot = LinePlot(title, turned.place, turned.size, lines, upright=values, level=settings)
    alts = [f"{title}.", *(_turned_alt(document, curve) for curve in curves)]
    caption = _caption(turned.caption, turned.across if values else "", said, curves)
    return Figure(name, " ".join([*alts, _marks_alt(marks)]), caption, plot)


def _marks(document: Document, curves: list[CurvePart], declared: str) -> Marks:
    """The declared setting first, then all others, then values that no setting decides."""
    settings = [
        Mark(at, f"{declared}, {fmt.significant(at, 2)}", "ink")
        for at in dict.fromkeys(curve.declared for curve in curves)
    ]
    values: list[Mark] = []
    for key in dict.fromkeys((m.measurement, m.label) for curve in curves for m in curve.marks):
        named = [
            (curve, mark)
            for curve in curves
            for mark in curve.marks
            if (mark.measurement, mark.label) == key
        ]
        settings += _mark(document, [(c, m.tolerances) for c, m in named if m.tolerances], key[1])
        values += _mark(document, [(c, m.ranks) for c, m in named if m.ranks], key[1])
    every = lettered([*settings, *values])
    return every[: len(settings)], every[len(settings) :]


def _mark(
    document: Document, found: list[tuple[CurvePart, tuple[float, ...]]], label: str
) -> list[Mark]:
    """One mark where all replicates agree; else one an arm, at the median of its replicates."""
    every = {at for _, places in found for at in places}
    if len(every) == 1:
        return [Mark(at, f"{label}, {_place(at)}", "muted") for at in every]
    marks = []
    for curve, places in found:
        low, high = _place(min(places)), _place(max(places))
        median = "" if low == high else f", the line at {_place(median_low(places))}"
        arm = lookups.arm_label(document, curve.arm)
        text = f"{label}, {arm}: {fmt.span(low, high)}{median}"
        marks.append(Mark(median_low(places), text, lookups.colour_of(document, curve.arm)))
    return marks


def _place(at: float) -> str:
    """A count, or a setting below 1."""
    return fmt.count(int(at)) if at >= 1 and at == int(at) else fmt.significant(at, 2)


def _marks_alt(marks: Marks) -> str:
    shown = [mark.label for each in marks for mark in each]
    return f"Marked: {'; '.join(shown)}."


def _turned(
    settings: tuple[float, ...], counts: tuple[int, ...]
) -> tuple[tuple[float, float], ...]:
    """(count, setting), the largest setting first; the first value is 1 by definition."""
    pairs = sorted(zip(settings, counts, strict=True), reverse=True)
    return ((1.0, 1.0), *((float(count), setting) for setting, count in pairs if count))


def _turned_alt(document: Document, curve: CurvePart) -> str:
    """The counts at the largest and the least setting, as places."""
    label = lookups.arm_label(document, curve.arm)
    if not curve.settings or not curve.values:
        return f"{label}: nothing to draw."
    said = []
    for setting in dict.fromkeys((max(curve.settings), min(curve.settings))):
        counts = [row[curve.settings.index(setting)] for row in curve.values]
        places = fmt.span(fmt.count(min(counts)), fmt.count(max(counts)))
        said.append(f"{places} above {fmt.significant(setting, 2)}")
    return f"{label}: {', '.join(said)}."


def _curve_alt(document: Document, curve: CurvePart) -> str:
    """The curve in words: its counts at both ends and at the setting nearest the declared one."""
    label = lookups.arm_label(document, curve.arm)
    if not curve.settings or not curve.values:
        return f"{label}: no curve."
    order = sorted(range(len(curve.settings)), key=curve.settings.__getitem__)
    distance = [abs(curve.settings[i] - curve.declared) for i in order]
    nearest = order[distance.index(min(distance))]
    said = []
    for i in dict.fromkeys((order[0], nearest, order[-1])):
        counts = [row[i] for row in curve.values]
        ranks = fmt.span(fmt.count(min(counts)), fmt.count(max(counts)))
        said.append(f"{ranks} at {fmt.significant(curve.settings[i], 2)}")
    return f"{label}: {', '.join(said)}."
