"""Can this design decide? Its power, what it can detect, the seeds it would take, or a refusal.

The power is always that of the declared test itself. What a number means depends on the kind
of expectation; see ``PlannedTest``.
"""

from __future__ import annotations

from dataclasses import dataclass

from repro.stats.planned_test import (
    SHARES,
    SIMULATED,
    UNCOMPUTED,
    PlannedTest,
    power_of_test,
    sized,
)
from repro.stats.power import detectable, smallest_size
from repro.stats.separation import separation_p

LEAST_POWER = 0.10
"""A design with less power than this at the planned standard deviation is refused."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a design can do.

    ``power`` is at the planned effect, ``None`` where that is unknown or no power is computed
    (``not_computed`` says why); ``monte_carlo_error`` is its standard error if simulated.
    ``minimum_detectable`` has 80 % power: an effect, ratio, share or correlation; for
    equivalence, non-inferiority and non-superiority a margin, and for a correlation claimed
    to be small its bound. ``seeds80`` and ``seeds90`` are replicates in each arm, ``None``
    beyond 1000 (100 if simulated). ``refused`` is the sentence that refuses, or empty.
    """

    power: float | None
    monte_carlo_error: float | None
    minimum_detectable: float | None
    seeds80: int | None
    seeds90: int | None
    refused: str
    not_computed: str


def assess(planned: PlannedTest) -> Assessment:
    """Assesses a design; one that cannot decide is refused in a sentence, not by an error.

    ``ClaimError`` for an unknown kind or test and for numbers that are missing or impossible.
    """
    reason = UNCOMPUTED.get(planned.name, "")
    if planned.sd and max(planned.sd) == 0:
        reason = "no replicate is expected to vary, so nothing is left to chance"
    if reason:
        return Assessment(None, None, None, None, None, "", reason)
    refused = cannot_decide(planned)
    smallest = None if refused else minimum_detectable_difference(planned)
    if planned.effect is None and not planned.claims_smallness:
        return Assessment(
            None,
            None,
            smallest,
            None,
            None,
            refused,
            "no effect is assumed, so no power is computed",
        )
    seeds80, seeds90 = (seeds_for(planned, power=target) for target in (0.80, 0.90))
    if refused:
        return Assessment(0.0, None, None, seeds80, seeds90, refused, "")
    power, error = power_of_test(planned)
    if power < LEAST_POWER:
        refused = _too_weak(planned, power, seeds80)
    return Assessment(power, error, smallest, seeds80, seeds90, refused, "")


def minimum_detectable_difference(planned: PlannedTest, *, power: float = 0.80) -> float | None:
    """What has the given power; see ``Assessment``. ``None`` where nothing has."""
    unit = planned.design.se if planned.sd else 0.1

    def chance(size: float) -> float:
        return power_of_test(sized(planned, size))[0]

    precision = 1e-3 if planned.name in SIMULATED else 1e-10
    size = detectable(chance, unit, power, precision=precision)
    if size is None:
        return None
    found = sized(planned, size)
    if not planned.claims_smallness:
        return found.effect
    return found.high if planned.kind == "association" else size


def seeds_for(planned: PlannedTest, *, power: float = 0.80) -> int | None:
    """The fewest replicates in each arm with which the declared test has the power.

    ``None`` if too many, and where no number helps: complete separation becomes the rarer the
    more replicates must be separated.
    """

    def chance(n: int) -> float:
        return power_of_test(planned.balanced(n))[0]

    if planned.kind in SHARES:  # not monotone
        return next((n for n in range(1, 1001) if chance(n) >= power), None)
    if planned.kind == "separation":  # once possible, only ever rarer
        fewest = smallest_size(lambda n: float(separation_p(n, n) <= planned.alpha))
        return fewest if fewest and chance(fewest) >= power else None
    return smallest_size(chance, target=power, cap=100 if planned.name in SIMULATED else 1000)


def cannot_decide(planned: PlannedTest) -> str:
    """Why no data whatever could confirm the claim with this design; empty where some could."""
    a, b, alpha = planned.n[0], planned.n[-1], planned.alpha
    if planned.kind in SHARES:
        p, what = planned.border("low") ** a, "even if every replicate agrees"
    elif min(a, b) < 2:
        return f"{min(a, b)} replicate has no variance, so no test can decide; plan at least 2"
    elif planned.kind == "separation":
        p, what = separation_p(a, b), "even complete separation"
    elif planned.name == "permutation":
        p, what = 2 * separation_p(a, b), "the smallest p of a two-sided permutation test"
    elif planned.name == "paired_permutation":
        p, what = 2 * separation_p(a, b, paired=True), "the smallest p of exchanges within pairs"
    elif planned.kind == "sequential":
        p, what = _smallest_p(a, b, paired=planned.paired), "the smallest p of the e-process"
    elif planned.kind == "association" and a < 4:
        return f"{a} points give no interval of a correlation; plan at least 4"
    else:
        return ""
    if p <= alpha:
        return ""
    verb = "is" if what.startswith("the") else "has p ="
    return f"{_sizes(planned)} cannot decide: {what} {verb} {p:.3g}, above {alpha:g}"


def _smallest_p(a: int, b: int, *, paired: bool) -> float:
    """Of the e-process with prior variance 1, whose t is infinite."""
    if paired:
        return float((1 + a) ** ((1 - a) / 2))
    return float((1 + a * b / (a + b)) ** (1 - (a + b) / 2))


def _too_weak(planned: PlannedTest, power: float, seeds: int | None) -> str:
    enough = f"{seeds} would give 80 %" if seeds else "no affordable number gives 80 %"
    spread = f" at the planned standard deviation {planned.sd[0]:g}" if planned.sd else ""
    return (
        f"{_sizes(planned)} give {_words(planned)} a power of {100 * power:.1f} %{spread}, "
        f"below {100 * LEAST_POWER:.0f} %; {enough}"
    )


def _words(planned: PlannedTest) -> str:
    return "a sequential test" if planned.kind == "sequential" else planned.kind.replace("_", "-")


def _sizes(planned: PlannedTest) -> str:
    a, b = planned.n[0], planned.n[-1]
    units = "points" if planned.kind == "association" else "replicates"
    return f"{a} {units}" if a == b else f"{a} and {b} {units}"
