"""Samples unit by unit: the values of one number belong together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from repro.errors import TooFewError
from repro.stats.sample import Arm, Sample, require_sample

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class UnmatchedError(TooFewError):
    """Replicates without a partner: ``alone`` are those of each arm, by its place."""

    def __init__(self, test: str, alone: Sequence[tuple[int, Sequence[int]]]) -> None:
        self.test, self.alone = test, tuple(alone)
        super().__init__(self.told(NAMES))

    def told(self, names: Sequence[str]) -> str:
        """The message with these names of the arms."""
        listed = [
            f"{', '.join(map(str, numbers))} only in {names[place % len(names)]}"
            for place, numbers in self.alone
        ]
        return (
            f"{self.test} compares pairs with the same number, and some have no partner: "
            f"{'; '.join(listed)}; leave them out of both arms, or add their partners"
        )


def match(arms: Sequence[Arm], test: str) -> tuple[Sample, ...]:
    """All samples in ascending order of the replicate's number, which is what pairs them.

    ``ClaimError`` for a summary; ``UnmatchedError`` for a replicate that not every arm has.
    """
    samples = [require_sample(arm, test) for arm in arms]
    for (i, first), (j, second) in combinations(enumerate(samples), 2):
        sides = (
            (i, sorted(set(first.replicates) - set(second.replicates))),
            (j, sorted(set(second.replicates) - set(first.replicates))),
        )
        alone = [(place, missing) for place, missing in sides if missing]
        if alone:
            raise UnmatchedError(test, alone)
    return tuple(map(_ascending, samples))


def _ascending(sample: Sample) -> Sample:
    pairs = sorted(zip(sample.replicates, sample.values, strict=True))
    return Sample(tuple(value for _, value in pairs), tuple(number for number, _ in pairs))
