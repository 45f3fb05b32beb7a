"""Printed numbers that must agree: with each other, with what they derive from, with a bound.

Every check is on intervals: a printed number stands for all numbers that are printed like it.
Two numbers disagree when no number is printed like both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from scipy.special import stdtr, stdtrit

from repro.audit.grade import Grade
from repro.audit.printed import PrintedNumber
from repro.audit.record import Audited, Value
from repro.specs.audit import (
    Derivation,
    Derived,
    FromDifference,
    Pooled,
    SameQuantity,
    SingleRun,
    StatedBound,
)
from repro.stats.sample import ROUND_OFF

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


def _shown(one: Span) -> str:
    return f"[{one[0]:.6g}, {one[1]:.6g}]"


def _findings(said: str, note: str | None) -> tuple[str, ...]:
    return (said, note) if note else (said,)
