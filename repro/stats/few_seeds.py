"""What a test of few seeds rests on unseen, for every report of one."""

from __future__ import annotations

from repro.stats.error_rates import distance, key_of, rates_of
from repro.stats.records import TestResult
from repro.stats.shapes import FEWEST_SKEWED

T_TESTS = frozenset(
    {"level", "student", "trend welch", "ordering"}
    | {f"{test}{sides}" for test in ("welch", "paired") for sides in ("", " one-sided")}
    | {
        f"{test}{paired}"
        for test in ("tost", "non_inferiority", "non_superiority", "ratio")
        for paired in ("", "_relative", " paired")
    }
)
"""Tests of means whose seeds are taken for normal."""

UNSEEN = ("lognormal", "collapsed")
"""Distributions that fewer than ``FEWEST_SKEWED`` values do not show."""


POOLED = {2: 0.199, 3: 0.172, 4: 0.137, 5: 0.097, 6: 0.075, 7: 0.057}
"""How often all items together err at 5 %, by seeds, where two items of a seed correlate by .05
(shares of 100 items at .95, 200,000 draws)."""


def few_seeds(result: TestResult) -> str:
    """What so few seeds cannot show of a test's assumptions, with the measured rates, in a line.

    The rates are the highest of the nearest numbers that were measured, at any ratio of spreads.
    Empty for eight seeds or more, and for tests that take no seeds for normal and pool no items.
    """
    key, sizes = key_of(result), (min(result.n), max(result.n))
    if key == "level_items":
        return _pooled(sizes[0])
    if key not in T_TESTS or result.p is None or sizes[0] >= FEWEST_SKEWED:
        return ""
    unit = "pairs" if result.paired else "seeds"
    said = f"With {sizes[0]} {unit}, skew and rare failures cannot be seen"
    known = [cell for cell in rates_of(key) if cell.distribution in UNSEEN]
    nearest = min((distance(cell.sizes, sizes) for cell in known), default=0.0)
    near = [cell for cell in known if distance(cell.sizes, sizes) == nearest]
    worst = {cell.distribution: cell for cell in sorted(near, key=lambda cell: cell.rate)}
    if len(worst) < len(UNSEEN):
        return f"{said}."
    skewed_rate, failing = (f"{100 * worst[shape].rate:.2g} %" for shape in UNSEEN)
    level = f"{100 * near[0].level:.2g} %"
    return (
        f"{said}: with skew the test errs in up to {skewed_rate} of cases instead of {level}, and "
        f"where one seed in five fails, in up to {failing} (measured)."
    )


def _pooled(n: int) -> str:
    """The line of a test that pools the items of ``n`` seeds; empty where nothing was measured."""
    if n not in POOLED:
        return ""
    return (
        f"With {n} seeds, scatter beyond that of their items is seldom seen: where two items of a "
        f"seed correlate by .05, the test errs in {100 * POOLED[n]:.2g} % of cases instead of 5 % "
        "(measured with 100 items at .95)."
    )
