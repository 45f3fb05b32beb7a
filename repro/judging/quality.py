"""The gate of quality: signs, before any test, that the values are not what they seem.

Every sample is looked at, whatever its source. Each rule raises a false alarm in at most 1 % of
honest tables (`benchmarks/quality`): its chance is divided among the samples or pairs it looks at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from repro.evidence.evidence import Evidence
from repro.expectations.kinds import kind_of
from repro.expectations.ratio import RatioClaim
from repro.expectations.verdict_words import Fault, Flag, FlagKind, Validity
from repro.judging.claim_parts import replicate_of
from repro.judging.tables_of_values import TableOfValues, pairs_in, samples_in, tables_of
from repro.schema import numbers as fmt
from repro.specs.claim import WRITTEN_FROM_RESULTS, AuthorSource, Claim
from repro.stats.correlation import following
from repro.stats.crossed import moving_together
from repro.stats.data_signs import (
    Repeat,
    ScaleOfArm,
    Shared,
    correlated,
    factor_between,
    factor_within,
    gaps,
    in_blocks,
    outlier,
    outside,
    repeats,
    shared,
)
from repro.stats.records import Sample
from repro.stats.shapes import last_decimal
from repro.trainers.derived import with_parts

FALSE_ALARMS = 0.01
"""The largest share of honest tables in which one rule may raise a flag."""

INVALIDATES = 0.001
"""The same for an arm that is taken for a copy of another, unless all its values are where they
stand in the other."""

FEW = 8
"""With so many seeds in the smaller arm the default tests bear unequal numbers."""

PERCENT = 100

UNIT_NAMES = {PERCENT: "one may be in percent and the other a fraction"}


@dataclass(frozen=True, slots=True)
class Quality:
    """What is odd about the evidence; ``invalid`` are the faults for which it cannot be used."""

    flags: tuple[Flag, ...] = ()
    invalid: tuple[Fault, ...] = ()


def examine(claim: Claim, evidence: Evidence) -> Quality:
    """Everything that is odd about the values of a claim."""
    return Gate(claim, evidence, [*tables_of(claim, evidence)]).quality()


@dataclass(slots=True)
class Gate:
    """Looks at the tables of a claim, one per measurement, and words what it finds."""

    claim: Claim
    evidence: Evidence
    tables: Sequence[TableOfValues]
    found: list[Flag] = field(default_factory=list)
    invalid: list[Fault] = field(default_factory=list)
    copied: set[tuple[str, str]] = field(default_factory=set)

    @property
    def unit(self) -> str:
        """What a replicate is called."""
        return replicate_of(self.claim)

    def quality(self) -> Quality:
        """All rules, in the order in which a reader should check them."""
        self._doubt()
        self._units()
        self._shared()
        self._repeats()
        self._chosen()
        self._gaps()
        self._outliers()
        self._correlated()
        self._together()
        self._following()
        self._unequal()
        return Quality(tuple(self.found), tuple(self.invalid))

    def _flag(self, kind: FlagKind, text: str) -> None:
        self.found.append(Flag(kind, text))

    def _doubt(self) -> None:
        """What spoke against the runs when the claim was written from them."""
        said = self.claim.source.own if isinstance(self.claim.source, AuthorSource) else ""
        _, _, doubt = said.partition(f"{WRITTEN_FROM_RESULTS}; ")
        if doubt and self.claim.exploratory:
            self._flag(FlagKind.DOUBT, f"{fmt.upper_first(doubt)}.")

    def _chosen(self) -> None:
        reads = (name for each in self.claim.expectations for name in each.reads)
        known = self.claim.measurements
        read = with_parts(reads, known)
        for name, measurement in known.items():
            if name in read and (caution := measurement.caution_under(name)):
                label = fmt.upper_first(measurement.label)
                self._flag(FlagKind.CHOSEN, f"{label}: {caution}")

    @property
    def _measured(self) -> list[TableOfValues]:
        """The tables in which equal values say something: equal parts give equal derived ones."""
        return [table for table in self.tables if not table.derived]

    def _units(self) -> None:
        for table in self.tables:
            for arm, sample in table.samples.items():
                mixed = factor_within(sample.values)
                if mixed is not None:
                    whose = self._whose(arm, [sample.replicates[i] for i in mixed[1]])
                    text = (
                        f"{self._place(table, arm)}: {whose} and the other {self.unit}s differ by "
                        f"a factor of about {mixed[0]:,}, as where units are mixed. Write every "
                        "value in one unit."
                    )
                    self._in_another_unit(table, mixed[0], text)
            levels = self._levels(table)
            for a, b in combinations(levels, 2):
                factor = factor_between(levels[a], levels[b])
                large = max((a, b), key=lambda arm: abs(levels[arm].mean))
                if factor is not None and not self._claimed(table, (a, b), large, factor):
                    text = self._in_units(table, (a, b), levels, factor)
                    self._in_another_unit(table, factor, text)

    def _in_another_unit(self, table: TableOfValues, factor: int, text: str) -> None:
        """A flag; and no evidence where a declared range leaves values one unit alone."""
        self._flag(FlagKind.UNITS, text)
        scale = self.claim.measurements[table.name].value_scale
        if factor != PERCENT or scale is None or scale.low != 0:
            return
        if scale.high in (1, PERCENT):
            unit = "a fraction" if scale.high == 1 else "a percentage"
            said, _, _ = text.rpartition(". ")
            reason = f"percent beside fractions (its range is 0 to {scale.high:g}): {said}"
            remedy = (
                f"Write every value of {self._label(table)} as {unit}, in the unit of `range`. "
                "Where all are in it already, take `range` out, and this is a flag."
            )
            self.invalid.append(Fault(Validity.INVALID, reason, remedy))

    def _claimed(
        self, table: TableOfValues, arms: tuple[str, str], large: str, factor: int
    ) -> bool:
        """Whether a claim says that the larger arm is about so many times the other."""
        return any(
            isinstance(each, RatioClaim)
            and each.measurement == table.name
            and set(each.of) == set(arms)
            and each.of[0] == large
            and round(math.log10(each.at_least.value)) == round(math.log10(factor))
            for each in self.claim.expectations
        )

    def _levels(self, table: TableOfValues) -> dict[str, ScaleOfArm]:
        """Mean, scatter and last decimal of each arm, printed ones among them."""
        levels = {}
        for arm, sample in table.samples.items():
            summary = sample.summary()
            if summary.sd is not None or not table.task:
                levels[arm] = ScaleOfArm(summary.mean, summary.sd, last_decimal(sample.values))
        for arm, printed in self.evidence.published.items():
            numbers = printed.get(table.name)
            if numbers is not None and numbers.sd is not None:
                mean = float(numbers.mean)
                levels[arm] = ScaleOfArm(mean, float(numbers.sd), last_decimal((mean,)))
        return levels

    def _in_units(
        self,
        table: TableOfValues,
        arms: tuple[str, str],
        levels: Mapping[str, ScaleOfArm],
        factor: int,
    ) -> str:
        small, large = sorted(arms, key=lambda arm: abs(levels[arm].mean))
        means = [f"{levels[arm].mean:.4g}" for arm in (small, large)]
        guess = UNIT_NAMES.get(factor, "one may be in another unit")
        known = all(levels[arm].sd is not None for arm in arms)
        scatter = ", and their standard deviations differ as much" if known else ""
        claimed = "" if factor == PERCENT else ", or claim the factor with `kind: ratio`"
        return (
            f"{self._label(table)}: the mean of {self._arm(small)} is {means[0]} and that of "
            f"{self._arm(large)} {means[1]}, about {factor:,} times as much{scatter}: {guess}. "
            f"Write both in one unit{claimed}."
        )

    def _shared(self) -> None:
        looked_at = pairs_in(self._measured)
        level = FALSE_ALARMS / looked_at
        for table in self._measured:
            for a, b in table.pairs:
                step, arms = max(table.steps[a], table.steps[b]), table.samples
                repeated = shared(arms[a], arms[b], step, paired=table.paired, level=level)
                if repeated is None or repeated.chance > level:
                    continue
                text = self._in_common(table, (a, b), repeated)
                if repeated.copied and (
                    repeated.whole or repeated.chance <= INVALIDATES / looked_at
                ):
                    self.copied.add((a, b))
                    both = f"{self._arm(a)} and {self._arm(b)}"
                    self._flag(FlagKind.COPIED, f"{self._label(table)}: {both} have one's values.")
                    reason = f"copied values: {text.rstrip('.')}"
                    self.invalid.append(Fault(Validity.INVALID, reason, self._to_uncopy(a, b)))
                else:
                    advice = "Check which run each value is from, or declare the granularity."
                    self._flag(FlagKind.SHARED, f"{text} {advice}")

    def _to_uncopy(self, a: str, b: str) -> str:
        """What to do about two arms that are one: the setting that was not read, or the file."""
        both = f"{self._arm(a)} and {self._arm(b)}"
        files = dict.fromkeys(
            self.evidence.tables[arm].file for arm in (a, b) if arm in self.evidence.tables
        )
        if files:
            return f"Find out which of {both} the values in {', '.join(files)} are of."
        first, second = (self.claim.arms[arm].configuration for arm in (a, b))
        differing = "what differs between them"
        if first is not None and second is not None:
            differing = first.training().differing(second.training()) or differing
        return f"{both} ran alike: find out why the program does not read {differing}."

    def _in_common(self, table: TableOfValues, arms: tuple[str, str], shared: Shared) -> str:
        a, b = arms
        values = dict(zip(table.samples[a].replicates, table.samples[a].values, strict=True))
        shown = [
            f"{self._whose(a, [i])} and {self._whose(b, [j])}: {_value(values[i])}"
            for i, j in shared.pairs[: fmt.NAMED]
        ]
        more = f"; {len(shared.pairs) - fmt.NAMED} more" if len(shared.pairs) > fmt.NAMED else ""
        n = fmt.number_of(len(shared.pairs), "value")
        least = min(table.samples[a].n, table.samples[b].n)
        return (
            f"{self._label(table)}: {self._arm(a)} and {self._arm(b)} have {n} of {least} in "
            f"common ({'; '.join(shown)}{more}), more than chance explains."
        )

    def _repeats(self) -> None:
        level = FALSE_ALARMS / (2 * samples_in(self._measured))
        for table in self._measured:
            alarms = repeats(table.samples, table.steps, level)
            for alarm in alarms:
                self._flag(FlagKind.REPEATED, self._repeated(table, alarm))
            chance = in_blocks(table.samples, paired=table.paired)
            if not alarms and chance <= FALSE_ALARMS / len(self._measured) * (1 + 1e-9):
                text = (
                    f"{self._label(table)}: equal values stand side by side in the order of the "
                    f"{self.unit}s, in every arm that has any ({self._blocks(table)}), as where "
                    "one run is written several times. Count each run once."
                )
                self._flag(FlagKind.REPEATED, text)

    def _repeated(self, table: TableOfValues, repeat: Repeat) -> str:
        seeds = self._whose(repeat.arm, repeat.replicates)
        n = fmt.number_of(len(repeat.replicates), self.unit)
        same = f"the same value, {_value(repeat.low)}"
        if repeat.low != repeat.high:
            same = f"nearly the same value, {_value(repeat.low)} to {_value(repeat.high)}"
        return (
            f"{self._place(table, repeat.arm)}: {n} have {same} ({seeds}), nearer to each other "
            f"than different {self.unit}s are by chance. Count each run once; if the measurement "
            "has steps so wide, declare its granularity."
        )

    def _blocks(self, table: TableOfValues) -> str:
        arm = min(table.samples, key=lambda name: len(set(table.samples[name].values)) == 1)
        sample = table.samples[arm]
        inorder = [v for _, v in sorted(zip(sample.replicates, sample.values, strict=True))]
        more = ", ..." if len(inorder) > fmt.NAMED else ""
        return f"{self._arm(arm)}: {', '.join(map(_value, inorder[: fmt.NAMED]))}{more}"

    def _gaps(self) -> None:
        numbers = {
            arm: {run.number for run in replicates}
            for arm, replicates in self.evidence.arms.items()
            if replicates
        }
        for arm in self.evidence.tables:
            rivals = {
                other
                for expectation in self.claim.expectations
                if arm in expectation.of
                for other in expectation.of
                if other != arm and other in numbers
            }
            lacking = {other: gaps(numbers.get(arm, ()), numbers[other]) for other in rivals}
            other = max(sorted(lacking), key=lambda name: len(lacking[name]), default=None)
            if other is not None and lacking[other]:
                lacks = f"{self._arm(arm)} lacks {fmt.seeds(lacking[other], self.unit)}"
                self._flag(FlagKind.GAPS, f"{lacks}, which {self._arm(other)} has. {COMPLETE}")
            self._declared(arm, numbers.get(arm, set()))

    def _declared(self, arm: str, numbers: set[int]) -> None:
        """What an arm of a table has of the numbers that the claim declares."""
        if self.claim.seeds.numbers is None:
            return
        first, last = self.claim.seeds.numbers
        missing, beyond = outside(numbers, first, last)
        declared = f"the declared {first} to {last}"
        if missing:
            text = (
                f"{self._arm(arm)} lacks {fmt.seeds(missing, self.unit)} of {declared}. {COMPLETE}"
            )
            self._flag(FlagKind.GAPS, text)
        if beyond:
            text = f"{self._arm(arm)} has {fmt.seeds(beyond, self.unit)}, outside {declared}."
            self._flag(FlagKind.GAPS, f"{text} Leave out what was not declared.")

    def _outliers(self) -> None:
        level = FALSE_ALARMS / samples_in(self.tables)
        for table in self.tables:
            for arm, sample in ({} if table.units else table.samples).items():
                found = outlier(sample.values, table.steps[arm], level)
                if found is not None:
                    at, far = found
                    whose = self._whose(arm, [sample.replicates[at]])
                    text = (
                        f"{self._place(table, arm)}: {whose} is "
                        f"{_value(sample.values[at])}, {far:,.3g} standard deviations of the "
                        "others from their mean. Check this value; a run that failed is declared "
                        "as diverged, and one that did not stays."
                    )
                    self._flag(FlagKind.OUTLIER, text)

    def _correlated(self) -> None:
        level = FALSE_ALARMS / pairs_in(self.tables)
        for table in self.tables:
            for a, b in () if table.paired else table.pairs:
                if (a, b) in self.copied:
                    continue
                found = correlated(table.samples[a], table.samples[b], level)
                if found is not None:
                    r, n = found
                    harm = "less often right" if r > 0 else "wrong more often"
                    text = (
                        f"{self._label(table)}: {self._arm(a)} and {self._arm(b)} are declared "
                        f"independent, and correlate by {self.unit} (r = {fmt.signed(f'{r:.2f}')} "
                        f"over {n} {self.unit}s), so the test is {harm} than it says. If "
                        f"{self.unit}s of one number share their randomness, declare "
                        "`design: paired`."
                    )
                    self._flag(FlagKind.CORRELATED, text)

    def _together(self) -> None:
        """Seeds that move together over tasks, where each task is said to have its own runs."""
        declared = {
            (expectation.measurement, expectation.of): kind_of(expectation).tasks(expectation)
            for expectation in self.claim.expectations
            if not kind_of(expectation).by_seed(expectation)
        }
        over = {key: tasks for key, tasks in declared.items() if tasks}
        for (measurement, arms), tasks in over.items():
            if moving_together(self._over(measurement, arms, tasks)) <= FALSE_ALARMS / len(over):
                text = (
                    f"{fmt.upper_first(self.claim.measurements[measurement].label)}: values of one "
                    "seed move together over the tasks, more than those of separate runs would, so "
                    "the test is wrong more often than it says. If a run is of all tasks, declare "
                    "`runs: across_tasks`."
                )
                self._flag(FlagKind.TOGETHER, text)

    def _over(
        self, measurement: str, arms: Sequence[str], tasks: Sequence[str]
    ) -> Iterator[Sample]:
        """The values of each arm in these tasks, with their tasks."""
        for arm in arms:
            runs = [
                (run.values[measurement], run.number, run.task)
                for run in self.evidence.finished(arm)
                if measurement in run.values and run.task in tasks
            ]
            if runs:
                values, numbers, own = zip(*runs, strict=True)
                yield Sample(values, numbers, tasks=own)

    def _following(self) -> None:
        """Arms, and differences within pairs, whose values resemble those of the seed before."""
        read = {
            name
            for expectation in self.claim.expectations
            if kind_of(expectation).takes_draws(expectation)
            for name in expectation.reads
        }
        tables = [table for table in self.tables if table.name in read and not table.units]
        looked_at = samples_in(tables) + (pairs_in(tables) if self.claim.design == "paired" else 0)
        for table in tables:
            for arm, sample in table.samples.items():
                self._follows(self._place(table, arm), self._in_order(arm, sample), looked_at)
            for a, b in table.pairs if table.paired else ():
                first, second = (self._in_order(arm, table.samples[arm]) for arm in (a, b))
                common = [number for number in first if number in second]
                differences = {number: first[number] - second[number] for number in common}
                whose = f"{self._label(table)}: {self._arm(a)} minus {self._arm(b)} by pair"
                self._follows(whose, differences, looked_at)

    def _in_order(self, arm: str, sample: Sample) -> dict[int, float]:
        """The values of an arm by seed: as they came where a table declares it, else by number."""
        values = dict(zip(sample.replicates, sample.values, strict=True))
        if arm in self.evidence.tables and self.evidence.order(arm) == "declared":
            return values
        return {number: values[number] for number in sorted(values)}

    def _follows(self, place: str, values: Mapping[int, float], looked_at: int) -> None:
        ratio = following(list(values.values()), FALSE_ALARMS / looked_at)
        if ratio is not None:
            text = (
                f"{place}: in the order of the {self.unit}s, values resemble the one before (rank "
                f"von Neumann ratio {ratio:.2f} over {len(values)} {self.unit}s; about 2 in any "
                "order), as where they are checkpoints of one run, or rows that were sorted. Tests "
                f"take {self.unit}s for independent: count each run once (`unit`), and number "
                f"{self.unit}s as they ran."
            )
            self._flag(FlagKind.FOLLOWING, text)

    def _unequal(self) -> None:
        """Arms of which one has half as many seeds as the other, and few."""
        told = set()
        for expectation in self.claim.expectations:
            kind = kind_of(expectation)
            of_any = not kind.counts_seeds or kind.lone(expectation)
            if expectation.role != "decisive" or of_any:
                continue
            for pair in combinations(sorted(expectation.of, key=self._seeds), 2):
                few, many = map(self._seeds, pair)
                if pair in told or not 0 < few < FEW or many < 2 * few:
                    continue
                told.add(pair)
                text = (
                    f"{self._arm(pair[0])} has {fmt.number_of(few, self.unit)} and "
                    f"{self._arm(pair[1])} {many}: with so few against so many, tests err more "
                    f"often than their level says. Add {self.unit}s to {self._arm(pair[0])}."
                )
                self._flag(FlagKind.UNEQUAL, text)

    def _seeds(self, arm: str) -> int:
        """How many seeds an arm has; for a printed one, the largest number that is printed."""
        printed = self.evidence.published.get(arm, {}).values()
        return len(self.evidence.counted(arm)) or max(
            (summary.n or 0 for summary in printed), default=0
        )

    def _arm(self, arm: str) -> str:
        return self.claim.arms[arm].label

    def _label(self, table: TableOfValues) -> str:
        label = self.claim.measurements[table.name].label
        return f"{label}, task {table.task}" if table.task else label

    def _place(self, table: TableOfValues, arm: str) -> str:
        source = self.evidence.tables.get(arm)
        file = "" if source is None else f" ({source.file})"
        return f"{self._label(table)} of {self._arm(arm)}{file}"

    def _number(self, arm: str, replicate: int) -> int:
        """The number of a seed in the evidence, from that of its pair."""
        first = self.claim.arms[arm].first_seed if self.claim.design == "paired" else 0
        return replicate + first

    def _whose(self, arm: str, replicates: Sequence[int]) -> str:
        return fmt.seeds([self._number(arm, replicate) for replicate in replicates], self.unit)


COMPLETE = (
    "What was left out can decide a verdict: add these seeds, or declare those that failed as "
    "diverged."
)


def _value(number: float) -> str:
    """A value to as many digits as it has, nine at most."""
    return fmt.signed(f"{number:.9g}")
