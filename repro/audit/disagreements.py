"""Printed numbers that must agree: with each other, derivations, bounds, spectra, counts of wins.

Every check is on intervals: a printed number stands for all numbers that are printed like it.
Two numbers disagree when no number is printed like both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import starmap

import numpy as np
from scipy.special import stdtr, stdtrit

from repro.audit.audit_file import (
    Derivation,
    Derived,
    FromDifference,
    Pooled,
    PrintedPlace,
    SameQuantity,
    SingleRun,
    Spectrum,
    StatedBound,
    Wins,
)
from repro.audit.comparison import Audited, Grade, Value, noted
from repro.audit.p_range import Span
from repro.errors import ClaimError
from repro.evidence.published import PrintedNumber
from repro.rank.rounded import eps_of
from repro.rank.spectrum import count_above, effective_rank, press_threshold
from repro.stats.coefficients import Array
from repro.stats.records import ROUND_OFF

LEVEL = 0.95
"""The level of the interval that predicts a single run."""


def _row(
    entry: SameQuantity | Pooled | SingleRun | StatedBound,
    kind: str,
    said: str,
    details: Mapping[str, Value],
    *,
    agree: bool,
) -> Audited:
    """A row that is CONSISTENT or INCONSISTENT, and one sentence."""
    return Audited(
        id=entry.id,
        grade=Grade.CONSISTENT if agree else Grade.INCONSISTENT,
        kind=kind,
        findings=noted([f"{entry.what}: {said}"], entry.note),
        details=details,
    )


def same_quantity(entry: SameQuantity) -> Audited:
    """Whether every place prints the same number, up to rounding."""
    agree = _common([_span(place.value) for place in entry.places])
    values = tuple(_value(place.value) for place in entry.places)
    difference = max(values) - min(values)
    places = "; ".join(f"{place.locator} prints {place.value}" for place in entry.places)
    said = "they agree up to rounding" if agree else f"they differ by {difference:.6g}"
    details: dict[str, Value] = {"values": values, "difference": difference}
    return _row(entry, "same_quantity", f"{places}; {said}", details, agree=agree)


def derived(entry: Derived) -> Audited:
    """Whether a printed number follows from others, by which derivation, and which is nearest.

    DECISION-INCONSISTENT when it follows from none and has the other sign than all of them.
    What is derived from another quantity never makes it consistent; where that gives the
    printed number it is named, because the two may have been confused.
    """
    value, span = _value(entry.value), _span(entry.value)
    every = (*entry.sources, *entry.other_quantities)
    values = {source.id: _derived_value(source) for source in every}
    fitting = [source.id for source in every if _common([span, _derived_span(source)])]
    names = [source.id for source in entry.sources]
    matches = tuple(name for name in names if name in fitting)
    confused = [source.id for source in entry.other_quantities if source.id in fitting]
    grade, condition = Grade.CONSISTENT, ""
    if not matches:
        opposite = all(values[name] * value < 0 for name in names)
        grade = Grade.DECISION_INCONSISTENT if opposite else Grade.INCONSISTENT
    elif len(matches) < len(names):
        grade, condition = Grade.CONSISTENT_IF, " or ".join(matches)
    signs = {values[name] > 0 for name in names if values[name]}
    said = _derived_words(entry, values, matches, confused)
    if len(signs) > 1:
        said += "; even the sign depends on which is taken"
    return Audited(
        id=entry.id,
        grade=grade,
        kind="derived",
        matches=matches,
        condition=condition,
        findings=noted([said], entry.note),
        details={
            "value": value,
            "nearest": min(values, key=lambda name: abs(values[name] - value)),
            "signs_agree": len(signs) < 2,
            "confused_with": ", ".join(confused) or None,
            **{f"from_{name}": number for name, number in values.items()},
        },
    )


def _derived_words(
    entry: Derived, values: dict[str, float], matches: tuple[str, ...], confused: list[str]
) -> str:
    def listed(names: Sequence[str]) -> str:
        return ", ".join(f"{values[name]:.6g} ({locators[name]})" for name in names)

    locators = {source.id: source.locator for source in (*entry.sources, *entry.other_quantities)}
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
    part, whole, n = entry.part, entry.whole, entry.part.n
    part_mean, part_sd = _span(part.mean), _deviation(part.sd)
    mean, sd = _span(whole.mean), _deviation(whole.sd)
    details: dict[str, Value] = {"n": n + 1}
    if entry.run is not None:
        run = _span(entry.run.value)
        expected = _mean_with(part_mean, run, n), _sd_with(part_mean, part_sd, run, n)
        mean_fits, sd_fits = _common([mean, expected[0]]), _common([sd, expected[1]])
        fits = mean_fits and sd_fits
        details |= {"mean_expected": expected[0], "sd_expected": expected[1]}
        details |= {"mean_fits": mean_fits, "sd_fits": sd_fits}
        said = (
            f"with the run of {entry.run.value} ({entry.run.locator}) the mean is "
            f"{_shown(expected[0])} and the sd {_shown(expected[1])}"
        )
    else:
        implied = ((n + 1) * mean[0] - n * part_mean[1], (n + 1) * mean[1] - n * part_mean[0])
        fits = _common([sd, _sd_with(part_mean, part_sd, implied, n)])
        details |= {"run_implied": implied}
        said = f"the run that was added must lie in {_shown(implied)}"
    head = f"{part.mean}±{part.sd} (n={n}, {part.locator}) and "
    head += f"{whole.mean}±{whole.sd} (n={n + 1}, {whole.locator}): {said}"
    return _row(entry, "pooled", head + ("" if fits else "; that cannot be"), details, agree=fits)


def single_run(entry: SingleRun) -> Audited:
    """Whether a run lies where one more of the others would, with 95 % (Student's t).

    The interval is ``mean ± t sd sqrt(1 + 1/n)``, at its widest over rounding; it supposes
    normal values. A run outside was not made like the others.
    """
    others, run = entry.others, _value(entry.run.value)
    mean, sd = _span(others.mean), _deviation(others.sd)
    wider = math.sqrt(1 + 1 / others.n)
    reach = float(stdtrit(others.n - 1, (1 + LEVEL) / 2)) * wider
    interval = (mean[0] - reach * sd[1], mean[1] + reach * sd[1])
    away = (run - _value(others.mean)) / (_value(others.sd) or sd[1])
    p = 2 * float(stdtr(others.n - 1, -abs(away) / wider))
    said = (
        f"{entry.run.locator} prints {entry.run.value}; one more of the "
        f"{others.n} runs of {others.mean}±{others.sd} ({others.locator}) would lie in "
        f"{_shown(interval)}, and it is {abs(away):.1f} sd {'below' if away < 0 else 'above'} them"
    )
    details: dict[str, Value] = {"value": run, "predicted": interval, "sd_away": away, "p": p}
    inside = _common([interval, _span(entry.run.value)])
    return _row(entry, "single_run", said, details, agree=inside)


def bound(entry: StatedBound) -> Audited:
    """Whether printed values keep a bound that the document states; each that does not is named."""
    text, words = entry.at_most or "", f"at most {entry.at_most}"
    if entry.at_most is None:
        text, words = entry.at_least or "", f"at least {entry.at_least}"
    low, high = _span(text)

    def breaks(place: PrintedPlace) -> bool:
        least, most = _span(place.value)
        return least >= high if entry.at_most is not None else most <= low

    beyond = [place for place in entry.values if breaks(place)]
    said = f"kept by all {len(entry.values)} printed values"
    if beyond:
        names = ", ".join(f"{place.value} ({place.locator})" for place in beyond)
        said = f"beyond it: {names}"
    values = tuple(_value(place.value) for place in beyond)
    details: dict[str, Value] = {"limit": _value(text), "beyond": values}
    said = f"{entry.locator} states {words}; {said}"
    return _row(entry, "bound", said, details, agree=not beyond)


def _value(text: str) -> float:
    return PrintedNumber.read(text).value


def _span(text: str) -> Span:
    """All numbers that are printed like this."""
    printed = PrintedNumber.read(text)
    return printed.low, printed.high


def _deviation(text: str) -> Span:
    low, high = _span(text)
    return max(low, 0.0), high


def _derived_value(source: Derivation) -> float:
    """The number that a derivation gives from the numbers as printed."""
    if isinstance(source, FromDifference):
        return _value(source.of[0]) - _value(source.of[1])
    return math.prod(math.fsum(map(_value, factor)) for factor in source.of)


def _derived_span(source: Derivation) -> Span:
    """All numbers that a derivation can give; factors of a product are taken as positive."""
    if isinstance(source, FromDifference):
        first, second = map(_span, source.of)
        return first[0] - second[1], first[1] - second[0]
    factors = [[_span(text) for text in factor] for factor in source.of]
    return (
        math.prod(math.fsum(low for low, _ in factor) for factor in factors),
        math.prod(math.fsum(high for _, high in factor) for factor in factors),
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


def spectrum(entry: Spectrum, columns: Mapping[str, Sequence[str]]) -> Audited:
    """Whether each printed rank is that of the drawn singular values, to their accuracy.

    A rank agrees within that share of it, and always within one. The papers' numbers are of single
    precision. ClaimError for singular values
    that do not descend, or are not above 0.
    """
    values = singular_values(columns["index"], columns[entry.column])
    drawn: dict[str, tuple[str, int]] = {}
    if entry.press is not None:
        threshold = press_threshold(entry.rows, len(values), eps_of("float32"))
        drawn["press"] = (entry.press, count_above(values, threshold))
    for each in entry.effective:
        rank = effective_rank(values, _value(each.epsilon))
        drawn[f"effective_{each.epsilon}"] = (each.rank, rank)
    wrong = [name for name, pair in drawn.items() if not _agree(*pair, entry.accuracy)]
    said = f"{entry.locator}: {len(drawn) - len(wrong)} of {len(drawn)} printed ranks of "
    findings = [f"{said}{entry.column} are those of its singular values, to {entry.accuracy:.0%}"]
    for name in wrong:
        text, rank = drawn[name]
        findings.append(
            f"{entry.locator}: {name.replace('_', ' ')} rank is printed {text}; the singular "
            f"values of {entry.column} give {rank}"
        )
    details: dict[str, Value] = {name: rank for name, (_, rank) in drawn.items()}
    return Audited(
        id=entry.id,
        grade=Grade.INCONSISTENT if wrong else Grade.CONSISTENT,
        kind="spectrum",
        findings=noted(findings, entry.note),
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
    return np.asarray(np.exp(np.interp(every, places, np.log(values))))


def _agree(text: str, rank: int, accuracy: float) -> bool:
    low, high = _span(text)
    return max(low - rank, rank - high, 0.0) <= max(1.0, accuracy * _value(text))


def wins(entry: Wins, columns: Mapping[str, Sequence[str]]) -> Audited:
    """Whether every printed count follows from the printed scores of two models.

    Scores that are printed alike may each be the higher one before rounding: a count that needs
    such a tie is CONSISTENT-IF. ``details`` count the cells of each sort; ``ties`` are pairs of
    models on one benchmark.
    """
    cells = [
        (f"{model} over {other}", count, *_counted(columns[model], columns[other]))
        for model, row in entry.counts.items()
        for other, count in row.items()
    ]
    unlike = [cell for cell in cells if cell[1] != cell[2]]
    wrong = [name for name, count, least, ties in unlike if not least <= count <= least + ties]
    exact = len(cells) - len(unlike)
    grade, condition = Grade.CONSISTENT, ""
    if wrong:
        grade = Grade.INCONSISTENT
    elif unlike:
        grade, condition = Grade.CONSISTENT_IF, "equal scores differ before rounding"
    said = f"{entry.locator}: {exact} of {len(cells)} counts follow from the printed scores"
    return Audited(
        id=entry.id,
        grade=grade,
        kind="wins",
        condition=condition,
        findings=noted([said, *starmap(_unlike, unlike)], entry.note),
        details={
            "cells": len(cells),
            "exact": exact,
            "wrong": len(wrong),
            "ties": sum(ties for *_, ties in cells) // 2,
            "benchmarks": len(next(iter(columns.values()))),
        },
    )


def _unlike(name: str, count: int, least: int, ties: int) -> str:
    most = f" to {least + ties}" if ties else ""
    return f"{name}: printed {count}, counted {least}{most}"


def _counted(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """How often the first score is higher as printed, and how often rounding leaves it open."""
    higher = equal = 0
    for mine, other in zip(first, second, strict=True):
        (low, high), (other_low, other_high) = _span(mine), _span(other)
        if max(low, other_low) < min(high, other_high):
            equal += 1
        elif _value(mine) > _value(other):
            higher += 1
    return higher, equal
