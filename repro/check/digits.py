"""How many digits a reader is shown of a number that was not measured here."""

from __future__ import annotations

import math
from statistics import stdev

from repro.evidence import Evidence
from repro.specs.claim import Claim
from repro.specs.measurement import Reported

MOST = 12


def with_digits(claim: Claim, evidence: Evidence) -> Claim:
    """The claim as it is worded: of each reported measurement so many digits that it varies.

    Its ``digits`` are the fewest. Where the scatter over seeds is less than one in the last of
    them there are more, two of the scatter's own: 0.04 below 0.05 would be all that is seen of
    0.0423 and 0.0497. Without scatter over seeds that of all values counts.
    """
    measurements = dict(claim.measurements)
    for name, one in claim.measurements.items():
        if isinstance(one, Reported):
            scatter = _scatter(name, evidence)
            if 0 < scatter < 10.0**-one.digits:
                shown = min(MOST, 1 - math.floor(math.log10(scatter)))
                measurements[name] = one.model_copy(update={"digits": shown})
    return claim.model_copy(update={"measurements": measurements})


def _scatter(name: str, evidence: Evidence) -> float:
    """The largest standard deviation of an arm, else the range of everything known."""
    largest = 0.0
    values: list[float] = []
    for arm in evidence.arms:
        own = [one.values[name] for one in evidence.counted(arm) if name in one.values]
        values += own
        if len(own) > 1:
            largest = max(largest, stdev(own))
    for printed in evidence.published.values():
        if name in printed:
            values.append(printed[name].mean)
            largest = max(largest, printed[name].sd or 0.0)
    return largest or (max(values) - min(values) if values else 0.0)
