"""Samples unit by unit: the values of one number belong together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from repro.errors import TooFewError
from repro.stats.sample import Arm, Sample, require_sample

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def match(arms: Sequence[Arm], test: str) -> tuple[Sample, ...]:
    """All samples in ascending order of the replicate's number, which is what pairs them.

    ``ClaimError`` for a summary, and for a replicate that not every arm has; it names them.
    """
    samples = [require_sample(arm, test) for arm in arms]
    for (i, first), (j, second) in combinations(enumerate(samples), 2):
        alone = [
            f"{', '.join(map(str, missing))} only in {NAMES[place % len(NAMES)]}"
            for place, missing in (
                (i, sorted(set(first.replicates) - set(second.replicates))),
                (j, sorted(set(second.replicates) - set(first.replicates))),
            )
            if missing
        ]
        if alone:
            raise TooFewError(
                f"{test} compares pairs with the same number, and some have no partner: "
                f"{'; '.join(alone)}; leave them out of both arms, or add their partners"
            )
    return tuple(map(_ascending, samples))


def _ascending(sample: Sample) -> Sample:
    pairs = sorted(zip(sample.replicates, sample.values, strict=True))
    return Sample(tuple(value for _, value in pairs), tuple(number for number, _ in pairs))
