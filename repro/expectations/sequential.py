"""Sequential claims: an expectation on means becomes a question that is asked at every look.

Which looks were taken is a function of the seeds alone: every number of pairs from the least on
(e-process), or every planned one (group sequential). So a look that nobody recorded changes
nothing, and nobody can start again. It takes an order in time: runs are trained in the order of
their numbers, and a table may declare one; any other table is judged once, with all its seeds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from repro.errors import ClaimError, TooFewError
from repro.expectations.base import E, Found, Kind, Read, arms_of
from repro.expectations.decision_rules import conclude_sequential
from repro.expectations.declared import Context, Declared, EProcess
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.stats.records import Arm, Sample, TestResult, expect, require_sample

if TYPE_CHECKING:
    from repro.stats.stopping import Question, SequentialResult

SEQUENTIAL = ("eprocess_t", "group_obf")

NAMES = {
    ("eprocess_t", "independent"): "t e-process, valid at every look",
    ("eprocess_t", "paired"): "t e-process of pairs, valid at every look",
    ("eprocess_t", "one arm"): "t e-process of one sample, one-sided, valid at every look",
    ("group_obf", "one arm"): "t-test of one sample at planned looks (O'Brien-Fleming spending)",
    ("group_obf", "independent"): "Welch's t-test at planned looks (O'Brien-Fleming spending)",
    ("group_obf", "paired"): "paired t-test at planned looks (O'Brien-Fleming spending)",
}


def is_sequential(declared: Declared, context: Context) -> bool:
    """Whether the expectation is judged at every look: the decisive ones of such a claim are."""
    return context.sequential is not None and declared.role == "decisive"


def looked_at(declared: Declared, context: Context) -> Context:
    """The context of the looks: the values of one arm are differences of pairs, from 0."""
    return replace(context, design="paired") if len(declared.of) == 1 else context


def run_sequential(
    declared: Declared, asked: Question, context: Context, arms_read: Sequence[Arm]
) -> SequentialResult:
    """The result after all seeds so far; ClaimError while there are too few for a first look."""
    from repro.stats.anytime import balanced

    arms, context = aligned(declared, context, arms_read), looked_at(declared, context)
    if in_order(arms):
        found = at_looks(asked, context, arms, looks_so_far(context, arms))
        return _of_arms(declared, found)
    fewest = min(arm.n for arm in (balanced(*arms) if context.paired else arms))
    if fewest < context.min_seeds:
        raise ClaimError(f"{fewest} seeds are fewer than the first look needs")
    return _of_arms(declared, at_looks(asked, context, arms, None))


def _of_arms(declared: Declared, result: SequentialResult) -> SequentialResult:
    """The result of one arm, whose values were pairs for the test alone."""
    if len(declared.of) > 1:
        return result
    return replace(result, n=result.n[:1], paired=False, units="seeds")


def in_order(arms: tuple[Sample, Sample]) -> bool:
    """Whether the seeds of both arms have an order in time, so that there were looks."""
    return all(arm.order != "unknown" for arm in arms)


def aligned(declared: Declared, context: Context, arms: Sequence[Arm]) -> tuple[Sample, Sample]:
    """The samples with replicates counted from the first of each arm, so that pairs match.

    Where a table declares an order, they are counted in that order; but what pairs the arms of a
    paired design is the number of the seed, and a pair is complete when the later one is. One arm
    is paired with zeros.
    """
    samples = [require_sample(arm, declared.kind) for arm in arms]
    if len(samples) == 1:
        alone = _from(samples[0], context.arms[declared.of[0]].first_seed)
        return alone, replace(alone, values=(0.0,) * alone.n, diverged=())
    first, second = samples
    if context.paired and "declared" in (first.order, second.order):
        return _pairs_in_order(first, second)
    start_a, start_b = (context.arms[arm].first_seed for arm in declared.of)
    return _from(first, start_a), _from(second, start_b)


def _pairs_in_order(a: Sample, b: Sample) -> tuple[Sample, Sample]:
    """Both samples with pairs counted in the order in which they were complete."""
    place_a, place_b = ({n: i for i, n in enumerate(arm.replicates)} for arm in (a, b))
    common = sorted(
        place_a.keys() & place_b.keys(),
        key=lambda n: (max(place_a[n], place_b[n]), min(place_a[n], place_b[n]), n),
    )
    alone = [n for n in (*a.replicates, *b.replicates) if (n in place_a) != (n in place_b)]
    number = {n: i for i, n in enumerate((*common, *alone))}

    def counted(arm: Sample) -> Sample:
        return replace(arm, replicates=tuple(number[n] for n in arm.replicates), diverged=())

    return counted(a), counted(b)


def looks_so_far(context: Context, arms: tuple[Sample, Sample]) -> tuple[int, ...]:
    """The numbers of pairs at which the claim has been judged."""
    from repro.stats.anytime import balanced

    pairs = balanced(*arms)[0].n
    if isinstance(context.sequential, EProcess):
        looks = tuple(range(context.min_seeds, pairs + 1))
    else:
        planned = () if context.sequential is None else context.sequential.looks
        looks = tuple(n for n in planned if n <= pairs)
    if not looks:
        raise TooFewError(f"{pairs} pairs of seeds are fewer than the first look needs")
    return looks


def at_looks(
    asked: Question, context: Context, arms: tuple[Sample, Sample], looks: tuple[int, ...] | None
) -> SequentialResult:
    """The result at the last of ``looks``; of all seeds together where ``looks`` is None."""
    from repro.stats.anytime import sequential
    from repro.stats.group_sequential import group_obf

    how = context.sequential
    if how is None:
        raise ClaimError("this claim is not sequential")
    if isinstance(how, EProcess):
        return sequential(*arms, asked, looks=looks, g=how.g, **context.level)
    return group_obf(*arms, asked, looks=looks, planned_looks=how.looks, **context.level)


def chance_of_more(
    asked: Question, context: Context, arms: tuple[Sample, Sample], most: int
) -> float:
    """The chance that seeds up to ``most`` per arm decide what is open, were this the truth."""
    from repro.stats.anytime import predicted_power
    from repro.stats.group_sequential import conditional_power

    how = context.sequential
    if isinstance(how, EProcess):
        return predicted_power(*arms, asked, maximum=most, g=how.g, **context.level)
    planned = () if how is None else how.looks
    looks = looks_so_far(context, arms)
    return conditional_power(*arms, asked, looks=looks, planned_looks=planned, **context.level)


class LooksKind(Kind[E]):
    """What kinds on means share: a sequential claim asks about them at every look."""

    on_means = True

    def test(self, declared: E, context: Context, read: Read) -> TestResult:
        """The sequential test where the claim has one, or that of all seeds at once."""
        arms = arms_of(declared, read)
        if is_sequential(declared, context):
            return run_sequential(declared, self.question(declared, context), context, arms)
        return self.test_at_once(declared, context, arms)

    def conclude(self, declared: E, result: TestResult) -> Finding:
        if result.test in SEQUENTIAL:
            return conclude_sequential(result)
        return self.conclude_at_once(declared, result)

    def sentence(self, declared: E, context: Context, found: Found) -> str:
        """What was found and what follows; of a first crossing at that look, then of all."""
        from repro.stats.stopping import SequentialResult

        early, said = _at_crossing(found), self.found(declared, context, found)
        if early is None:
            return f"{said}. {self.therefore(declared, context, found)}".rstrip()
        value = fmt.upper_first(context.measured(declared))
        result, head = expect(found.result, SequentialResult), f"{value}: "
        look = f"{result.decided_at} {result.units}"
        at_look = self.found(declared, context, early).removeprefix(head)
        first = f"{value}, first {look}: {at_look}"
        stands = f"That was decided at {look} and stands, whatever came later."
        later = f"All {min(result.n)} {result.units}: {said.removeprefix(head)}."
        return f"{first}. {self.therefore(declared, context, early)} {stands} {later}"

    @abstractmethod
    def test_at_once(self, declared: E, context: Context, arms: Sequence[Arm]) -> TestResult:
        """The declared test of all seeds."""

    @abstractmethod
    def conclude_at_once(self, declared: E, result: TestResult) -> Finding:
        """The finding by the rule of the kind."""

    @abstractmethod
    def found(self, declared: E, context: Context, found: Found) -> str:
        """What was found, headed by the measurement, without a full stop."""

    @abstractmethod
    def therefore(self, declared: E, context: Context, found: Found) -> str:
        """What follows for the claim: as claimed, against it, or open and why."""


class MeansKind(LooksKind[E]):
    """What kinds on two means share."""

    compares_means = True


def _at_crossing(found: Found) -> Found | None:
    """What was found at the first look that decided, without its p; None for the last, or none."""
    from repro.stats.stopping import SequentialResult

    result, last = found.result, found.interval
    if not isinstance(result, SequentialResult) or result.crossing is None:
        return None
    if found.conclusion is None or last is None or result.decided_at == min(result.n):
        return None
    low, high = result.crossing.low, result.crossing.high
    at_crossing = replace(
        result, effect=(low + high) / 2, interval=result.crossing, p=None, p_opposite=None
    )
    interval = last.model_copy(update={"low": low, "high": high})
    return replace(found, result=at_crossing, interval=interval)


def _from(sample: Sample, first: int) -> Sample:
    if sample.order == "declared":
        return replace(sample, replicates=tuple(range(sample.n)), diverged=())
    if sample.order == "unknown":
        return sample
    return Sample(sample.values, tuple(number - first for number in sample.replicates))
