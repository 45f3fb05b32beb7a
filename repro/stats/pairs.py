"""Two samples unit by unit: the values of one number belong together."""

from __future__ import annotations

from repro.errors import TooFewError
from repro.stats.sample import Arm, Sample, require_sample


def match(a: Arm, b: Arm, test: str) -> tuple[Sample, Sample]:
    """Both samples in ascending order of the replicate's number, which is what pairs them.

    ``ClaimError`` for a summary, and for a replicate that only one arm has; it names them.
    """
    first, second = require_sample(a, test), require_sample(b, test)
    alone = [
        f"{', '.join(map(str, missing))} only in {arm}"
        for arm, missing in (
            ("A", sorted(set(first.replicates) - set(second.replicates))),
            ("B", sorted(set(second.replicates) - set(first.replicates))),
        )
        if missing
    ]
    if alone:
        raise TooFewError(
            f"{test} compares pairs with the same number, and some have no partner: "
            f"{'; '.join(alone)}; leave them out of both arms, or add their partners"
        )
    return _ascending(first), _ascending(second)


def _ascending(sample: Sample) -> Sample:
    pairs = sorted(zip(sample.replicates, sample.values, strict=True))
    return Sample(tuple(value for _, value in pairs), tuple(number for number, _ in pairs))
