"""Printed numbers that must agree: with each other, with spectra, with counts of wins, with bounds.

Printed numbers that must agree: with each other, with what they derive from, with a bound.

Every check is on intervals: a printed number stands for all numbers that are printed like it.
Two numbers disagree when no number is printed like both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from repro.audit.audit_file import (
    Derivation,
    Derived,
    FromDifference,
    Pooled,
    SameQuantity,
    SingleRun,
    Spectrum,
    StatedBound,
    Wins,
)
from repro.audit.comparison import Audited, Grade, Value
from repro.errors import ClaimError
from repro.evidence.published import PrintedNumber
from repro.stats.records import ROUND_OFF

Span: TypeAlias = tuple[float, float]
"""The least and the greatest number that is possible."""

LEVEL = 0.95
"""The level of the interval that predicts a single run."""


def same_quantity(entry: SameQuantity) -> Audited:
    """Whether every place prints the same number, up to rounding."""
    printed = [PrintedNumber.read(place.value) for place in entry.places]
    agree = _common([span(one) for one in printed])
    values = tuple(one.value for one in printed)
    difference = max(values) - min(values)
    places = "; ".join(f"{place.locator} prints {place.value}" for place in entry.places)
    said = "they agree up to rounding" if agree else f"they differ by {difference:.6g}"
    return Audited(
        id=entry.id,
        grade=Grade.CONSISTENT if agree else Grade.INCONSISTENT,
        kind="same_quantity",
        findings=_findings(f"{entry.what}: {places}; {said}", entry.note),
        details={"values": values, "difference": difference},
    )


def derived(entry: Derived) -> Audited:
    """Whether a printed number follows from others, by which derivation, and which is nearest.

    DECISION-INCONSISTENT when it follows from none and has the other sign than all of them.
    What is derived from another quantity never makes it consistent; where that gives the
    printed number it is named, because the two may have been confused.
    """
    printed = PrintedNumber.read(entry.value)
    every = (*entry.sources, *entry.other_quantities)
    values = {source.id: derivation_value(source) for source in every}
    fitting = {one.id for one in every if _common([span(printed), derivation_span(one)])}
    own = [source.id for source in entry.sources]
    matches = tuple(name for name in own if name in fitting)
    confused = [one.id for one in entry.other_quantities if one.id in fitting]
    opposite = all(values[name] * printed.value < 0 for name in own)
    grade, condition = Grade.CONSISTENT, ""
    if not matches:
        grade = Grade.DECISION_INCONSISTENT if opposite else Grade.INCONSISTENT
    elif len(matches) < len(own):
        grade, condition = Grade.CONSISTENT_IF, " or ".join(matches)
    nearest = min(values, key=lambda name: abs(values[name] - printed.value))
    signs = {value > 0 for value in map(values.__getitem__, own) if value}
    details: dict[str, Value] = {"value": printed.value, "nearest": nearest}
    details |= {"signs_agree": len(signs) < 2, "confused_with": ", ".join(confused) or None}
    details |= {f"from_{name}": value for name, value in values.items()}
    findings = _derived_words(entry, values, matches, confused)
    if len(signs) > 1:
        findings += "; even the sign depends on which is taken"
    return Audited(
        id=entry.id,
        grade=grade,
        kind="derived",
        matches=matches,
        condition=condition,
        findings=_findings(findings, entry.note),
        details=details,
    )


def _derived_words(
    entry: Derived, values: dict[str, float], matches: tuple[str, ...], confused: list[str]
) -> str:
    def listed(names: Sequence[str]) -> str:
        return ", ".join(f"{values[name]:.6g} ({locators[name]})" for name in names)

    locators = {one.id: one.locator for one in (*entry.sources, *entry.other_quantities)}
    others = [source.id for source in entry.sources if source.id not in matches]
    said = f"{entry.what}: {entry.locator} prints {entry.value}; "
    if matches:
        said += f"it follows from {listed(matches)}"
        said += f", not from {listed(others)}" if others else ""
    else:
        said += f"it follows from none of {listed(others)}"
    return said + (f"; it fits another quantity, {listed(confused)}" if confused else "")


def pooled(entry: Pooled) -> Audited:
    """Whether a part and one added run can give the printed mean and sd of the whole.

    Where the added run is printed, mean and sd of the whole follow from it, and each must
    overlap what is printed. Where it is not, there must be a run that gives both.
    """
    part_mean, part_sd = span(PrintedNumber.read(entry.part.mean)), _deviation(entry.part.sd)
    mean, sd = span(PrintedNumber.read(entry.whole.mean)), _deviation(entry.whole.sd)
    n = entry.part.n
    details: dict[str, Value] = {"n": n + 1}
    if entry.run is not None:
        run = span(PrintedNumber.read(entry.run.value))
        expected_mean = _mean_with(part_mean, run, n)
        expected_sd = _sd_with(part_mean, part_sd, run, n)
        mean_fits, sd_fits = _common([mean, expected_mean]), _common([sd, expected_sd])
        fits = mean_fits and sd_fits
        details |= {"mean_expected": expected_mean, "sd_expected": expected_sd}
        details |= {"mean_fits": mean_fits, "sd_fits": sd_fits}
        said = (
            f"with the run of {entry.run.value} ({entry.run.locator}) the mean is "
            f"{_shown(expected_mean)} and the sd {_shown(expected_sd)}"
        )
    else:
        implied = ((n + 1) * mean[0] - n * part_mean[1], (n + 1) * mean[1] - n * part_mean[0])
        fits = _common([sd, _sd_with(part_mean, part_sd, implied, n)])
        details |= {"run_implied": implied}
        said = f"the run that was added must lie in {_shown(implied)}"
    head = f"{entry.what}: {entry.part.mean}±{entry.part.sd} (n={n}, {entry.part.locator}) and "
    head += f"{entry.whole.mean}±{entry.whole.sd} (n={n + 1}, {entry.whole.locator}): {said}"
    return Audited(
        id=entry.id,
        grade=Grade.CONSISTENT if fits else Grade.INCONSISTENT,
        kind="pooled",
        findings=_findings(head + ("" if fits else "; that cannot be"), entry.note),
        details=details,
    )


def single_run(entry: SingleRun) -> Audited:
    """Whether a run lies where one more of the others would, with 95 % (Student's t).

    The interval is ``mean ± t sd sqrt(1 + 1/n)``, at its widest over rounding; it supposes
    normal values. A run outside was not made like the others.
    """
    others, run = entry.others, PrintedNumber.read(entry.run.value)
    mean, sd = span(PrintedNumber.read(others.mean)), _deviation(others.sd)
    reach = float(stdtrit(others.n - 1, (1 + LEVEL) / 2)) * math.sqrt(1 + 1 / others.n)
    interval = (mean[0] - reach * sd[1], mean[1] + reach * sd[1])
    inside = _common([interval, span(run)])
    middle, spread = PrintedNumber.read(others.mean).value, PrintedNumber.read(others.sd).value
    away = (run.value - middle) / (spread or sd[1])
    p = 2 * float(stdtr(others.n - 1, -abs(away) / math.sqrt(1 + 1 / others.n)))
    said = (
        f"{entry.what}: {entry.run.locator} prints {entry.run.value}; one more of the "
        f"{others.n} runs of {others.mean}±{others.sd} ({others.locator}) would lie in "
        f"{_shown(interval)}, and it is {abs(away):.1f} sd {'below' if away < 0 else 'above'} them"
    )
    return Audited(
        id=entry.id,
        grade=Grade.CONSISTENT if inside else Grade.INCONSISTENT,
        kind="single_run",
        findings=_findings(said, entry.note),
        details={"value": run.value, "predicted": interval, "sd_away": away, "p": p},
    )


def bound(entry: StatedBound) -> Audited:
    """Whether printed values keep a bound that the document states; each that does not is named."""
    at_most = entry.at_most is not None
    text = entry.at_most if entry.at_most is not None else entry.at_least
    limit = PrintedNumber.read(text or "")
    beyond = []
    for place in entry.values:
        one = PrintedNumber.read(place.value)
        if (one.low >= limit.high) if at_most else (one.high <= limit.low):
            beyond.append(place)
    words = f"at {'most' if at_most else 'least'} {text}"
    said = f"{entry.what}: {entry.locator} states {words}; "
    names = ", ".join(f"{place.value} ({place.locator})" for place in beyond)
    said += f"beyond it: {names}" if beyond else f"kept by all {len(entry.values)} printed values"
    return Audited(
        id=entry.id,
        grade=Grade.INCONSISTENT if beyond else Grade.CONSISTENT,
        kind="bound",
        findings=_findings(said, entry.note),
        details={
            "limit": limit.value,
            "beyond": tuple(PrintedNumber.read(place.value).value for place in beyond),
        },
    )


def span(printed: PrintedNumber) -> Span:
    """All numbers that are printed like this."""
    return printed.low, printed.high


def _deviation(text: str) -> Span:
    low, high = span(PrintedNumber.read(text))
    return max(low, 0.0), high


def derivation_value(source: Derivation) -> float:
    """The number that a derivation gives from the numbers as printed."""
    if isinstance(source, FromDifference):
        return PrintedNumber.read(source.of[0]).value - PrintedNumber.read(source.of[1]).value
    return math.prod(
        math.fsum(PrintedNumber.read(one).value for one in factor) for factor in source.of
    )


def derivation_span(source: Derivation) -> Span:
    """All numbers that a derivation can give; factors of a product are taken as positive."""
    if isinstance(source, FromDifference):
        first, second = (span(PrintedNumber.read(text)) for text in source.of)
        return first[0] - second[1], first[1] - second[0]
    factors = [[PrintedNumber.read(text) for text in factor] for factor in source.of]
    return (
        math.prod(math.fsum(one.low for one in factor) for factor in factors),
        math.prod(math.fsum(one.high for one in factor) for factor in factors),
    )


def _common(spans: Sequence[Span]) -> bool:
    """Whether some number lies inside all of them; a shared end is none."""
    low, high = max(low for low, _ in spans), min(high for _, high in spans)
    return low < high - ROUND_OFF * max(abs(low), abs(high))


def _mean_with(mean: Span, run: Span, n: int) -> Span:
    return (n * mean[0] + run[0]) / (n + 1), (n * mean[1] + run[1]) / (n + 1)


def _sd_with(mean: Span, sd: Span, run: Span, n: int) -> Span:
    """The sd of n + 1 values: ``n sd'^2 = (n-1) sd^2 + n/(n+1) (run - mean)^2``."""
    farthest = max(run[1] - mean[0], mean[1] - run[0])
    nearest = max(run[0] - mean[1], mean[0] - run[1], 0.0)
    return tuple(  # type: ignore[return-value]
        math.sqrt(((n - 1) * s**2 + n / (n + 1) * away**2) / n)
        for s, away in ((sd[0], nearest), (sd[1], farthest))
    )


def _shown(span: Span) -> str:
    return f"[{span[0]:.6g}, {span[1]:.6g}]"


def _findings(said: str, note: str | None) -> tuple[str, ...]:
    return (said, note) if note else (said,)


Array: TypeAlias = npt.NDArray[np.floating[Any]]

PRECISION = float(np.finfo(np.float32).eps)
"""The rounding unit of the numbers whose rank is printed; single precision, as in the papers."""


def spectrum(entry: Spectrum, columns: Mapping[str, Sequence[str]]) -> Audited:
    """Whether each printed rank is that of the drawn singular values, to their accuracy.

    A rank agrees within that share of it, and always within one. ClaimError for singular values
    that do not descend, or are not above 0.
    """
    values = singular_values(columns["index"], columns[entry.column])
    drawn: dict[str, tuple[str, int]] = {}
    if entry.press is not None:
        drawn["press"] = (entry.press, press_rank(values, entry.rows))
    for one in entry.effective:
        rank = effective_rank(values, PrintedNumber.read(one.epsilon).value)
        drawn[f"effective_{one.epsilon}"] = (one.rank, rank)
    wrong = [name for name, pair in drawn.items() if not _agree(*pair, entry.accuracy)]
    findings = [
        f"{entry.locator}: {name.replace('_', ' ')} rank is printed {text}; the singular values of "
        f"{entry.column} give {rank}"
        for name, (text, rank) in drawn.items()
        if name in wrong
    ]
    said = f"{entry.locator}: {len(drawn) - len(wrong)} of {len(drawn)} printed ranks of "
    said += f"{entry.column} are those of its singular values, to {entry.accuracy:.0%}"
    details: dict[str, Value] = {name: rank for name, (_, rank) in drawn.items()}
    return Audited(
        id=entry.id,
        grade=Grade.INCONSISTENT if wrong else Grade.CONSISTENT,
        kind="spectrum",
        findings=tuple(filter(None, [said, *findings, entry.note])),
        details={**details, "wrong": ", ".join(wrong) or None},
    )


def singular_values(index: Sequence[str], cells: Sequence[str]) -> Array:
    """Every singular value, from those at some indices; their logarithm is linear between."""
    places, values = (np.array([float(cell) for cell in column]) for column in (index, cells))
    if places[0] != 1 or np.any(np.diff(places) <= 0) or not np.all(values > 0):
        raise ClaimError("singular values are above 0, and their indices ascend from 1")
    if np.any(np.diff(values) > 0):
        raise ClaimError("singular values descend")
    every = np.arange(1, int(places[-1]) + 1)
    filled: Array = np.exp(np.interp(every, places, np.log(values)))
    return filled


def press_rank(values: Array, rows: int) -> int:
    """The number above the expected roundoff error of single precision (Press et al. 2007)."""
    tolerance = 0.5 * math.sqrt(rows + len(values) + 1) * float(values[0]) * PRECISION
    return int(np.sum(values > tolerance))


def effective_rank(values: Array, epsilon: float) -> int:
    """The fewest whose squares sum to the share ``1 - epsilon`` of all (Parthiban et al. 2021)."""
    sums = np.cumsum(values**2)
    return int(np.searchsorted(sums, (1 - epsilon) * sums[-1])) + 1


def _agree(text: str, rank: int, accuracy: float) -> bool:
    printed = PrintedNumber.read(text)
    away = max(printed.low - rank, rank - printed.high, 0.0)
    return away <= max(1.0, accuracy * printed.value)


def wins(entry: Wins, columns: Mapping[str, Sequence[str]]) -> Audited:
    """Whether every printed count follows from the printed scores of two models.

    Scores that are printed alike may each be the higher one before rounding: a count that needs
    such a tie is CONSISTENT-IF. ``details`` count the cells of each sort; ``ties`` are pairs of
    models on one benchmark.
    """
    counts = [
        (model, other, count, *_counted(columns[model], columns[other]))
        for model, row in entry.counts.items()
        for other, count in row.items()
    ]
    exact = [cell for cell in counts if cell[2] == cell[3]]
    wrong = [cell for cell in counts if not cell[3] <= cell[2] <= cell[3] + cell[4]]
    grade, condition = Grade.CONSISTENT, ""
    if wrong:
        grade = Grade.INCONSISTENT
    elif len(exact) < len(counts):
        grade, condition = Grade.CONSISTENT_IF, "equal scores differ before rounding"
    said = f"{entry.locator}: {len(exact)} of {len(counts)} counts follow from the printed scores"
    findings = [said]
    findings += [
        f"{model} over {other}: printed {count}, counted {least}"
        + (f" to {least + equal}" if equal else "")
        for model, other, count, least, equal in counts
        if count != least
    ]
    return Audited(
        id=entry.id,
        grade=grade,
        kind="wins",
        condition=condition,
        findings=(*findings, entry.note) if entry.note else tuple(findings),
        details={
            "cells": len(counts),
            "exact": len(exact),
            "wrong": len(wrong),
            "ties": sum(cell[4] for cell in counts) // 2,
            "benchmarks": len(next(iter(columns.values()))),
        },
    )


def _counted(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """How often the first score is higher as printed, and how often rounding leaves it open."""
    higher = equal = 0
    for one, other in zip(first, second, strict=True):
        a, b = PrintedNumber.read(one), PrintedNumber.read(other)
        if max(a.low, b.low) < min(a.high, b.high):
            equal += 1
        elif a.value > b.value:
            higher += 1
    return higher, equal
