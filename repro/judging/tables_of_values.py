"""The values of a claim by measurement and task, as the gate of quality looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from repro.evidence.evidence import Evidence
from repro.expectations.kinds import kind_of
from repro.specs.claim import Claim
from repro.stats.records import Sample
from repro.stats.shapes import granularity


@dataclass(frozen=True, slots=True)
class TableOfValues:
    """The arms of a claim on one measurement, as they were found; ``steps`` are granularities.

    Replicates of a paired design have the number of their pair. ``units``: the numbers are those
    of tasks or points and not of seeds, which differ from each other and are alike in all arms.
    ``task`` is that of all values, where the claim is over tasks. ``derived``: they follow from
    those of other tables.
    """

    name: str
    task: str
    samples: Mapping[str, Sample]
    steps: Mapping[str, float]
    paired: bool
    units: bool
    derived: bool

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every two arms that have values."""
        return list(combinations(self.samples, 2))


def tables_of(claim: Claim, evidence: Evidence) -> Iterator[TableOfValues]:
    """A table for every measurement of a claim, and for every task of it."""
    matched = {
        name
        for expectation in claim.expectations
        if kind_of(expectation).goes_whole(expectation)
        for name in expectation.reads
    }
    tasks = dict.fromkeys(run.task for runs in evidence.arms.values() for run in runs) or ("",)
    for (name, measurement), task in product(claim.measurements.items(), tasks):
        samples = {}
        for arm in claim.arms:
            first = claim.arms[arm].first_seed if claim.design == "paired" else 0
            having = {
                run.number - first: run.values[name]
                for run in evidence.finished(arm)
                if name in run.values and run.task == task
            }
            if having:
                samples[arm] = Sample(tuple(having.values()), tuple(having))
        declared = measurement.least_step()
        together = [value for sample in samples.values() for value in sample.values]
        steps = {
            arm: declared or granularity(sample.values, together) for arm, sample in samples.items()
        }
        units = name in matched
        paired = units or claim.design == "paired"
        derived = bool(measurement.made_of)
        yield TableOfValues(name, task, samples, steps, paired, units, derived)


def samples_in(tables: Sequence[TableOfValues]) -> int:
    """How many samples a rule looks at, at least one, which share its rate of false alarms."""
    return max(1, sum(len(table.samples) for table in tables))


def pairs_in(tables: Sequence[TableOfValues]) -> int:
    """The same of pairs of arms."""
    return max(1, sum(len(table.pairs) for table in tables))
