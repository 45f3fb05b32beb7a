"""How many seeds the scatter of a pilot asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Final

from repro.stats.power import PowerDesign, power_equivalence, seeds_needed

MARGIN: Final = 0.01
"""Share of the mean perplexity."""

POWER: Final = 0.80


def report(pilot: Mapping[str, Sequence[float]]) -> str:
    """Planned seeds an arm, from a pilot of both arms; no true difference is assumed."""
    ours, theirs = pilot["ours"], pilot["theirs"]
    margin = MARGIN * mean([mean(ours), mean(theirs)])
    planned = seeds_needed(
        PowerDesign(stdev(ours), stdev(theirs), len(ours), len(theirs)),
        lambda one: power_equivalence(one, 0.0, low=-margin, high=margin),
        target=POWER,
    )
    return (
        f"mean {mean(ours):.2f} and {mean(theirs):.2f}, standard deviation {stdev(ours):.2f} and "
        f"{stdev(theirs):.2f} (ours, theirs), margin {margin:.2f}: {planned} seeds an arm for "
        f"{POWER:.0%} power"
    )
