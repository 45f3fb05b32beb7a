"""Sequential claims: an expectation on means becomes a question that is asked at every look.

Which looks were taken is a function of the seeds alone: every number of pairs from the least on
(e-process), or every planned one (group sequential). So a look that nobody recorded changes
nothing, and nobody can start again. It takes an order in time: runs are trained in the order of
their numbers, and a table may declare one. The seeds of any other table are mere names, so that
it is judged once, with all that it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, TypedDict

from repro.errors import ClaimError, TooFewError
from repro.expectations.base import Found
from repro.expectations.sentences import upper
from repro.specs.claim import Claim, EProcess
from repro.specs.expectation import Difference, Equivalence, NonInferiority, NonSuperiority
from repro.stats import stopping as ask
from repro.stats.anytime import balanced, sequential, single_look
from repro.stats.group_sequential import group_obf, group_obf_single_look
from repro.stats.records import Arm, Sample, expect, require_sample
from repro.stats.stopping import Question, SequentialResult

OnMeans: TypeAlias = Difference | Equivalence | NonSuperiority | NonInferiority


SEQUENTIAL = ("eprocess_t", "group_obf")


NAMES = {
    ("eprocess_t", "independent"): "t e-process, valid at every look",
    ("eprocess_t", "paired"): "t e-process of pairs, valid at every look",
    ("group_obf", "independent"): "Welch's t-test at planned looks (O'Brien-Fleming spending)",
    ("group_obf", "paired"): "paired t-test at planned looks (O'Brien-Fleming spending)",
}


def is_sequential(declared: OnMeans, claim: Claim) -> bool:
    """Whether the expectation is judged at every look: the decisive ones of such a claim are."""
    return claim.sequential is not None and declared.role == "decisive"


def question_of(declared: OnMeans, claim: Claim) -> Question:
    """What the expectation asserts of mean a minus mean b."""
    better = claim.measurements[declared.measurement].better
    match declared:
        case Difference():
            smallest = 0.0 if declared.smallest_effect is None else declared.smallest_effect.size
            return ask.difference(declared.direction, smallest_effect=smallest)
        case Equivalence():
            return ask.equivalence(-declared.margin.size, declared.margin.size)
        case NonSuperiority():
            return ask.non_superiority(declared.margin.size, better)
        case NonInferiority():
            return ask.non_inferiority(declared.margin.size, better)


def run_sequential(declared: OnMeans, claim: Claim, a: Arm, b: Arm) -> SequentialResult:
    """The result after all seeds so far; ClaimError while there are too few for a first look."""
    arms = aligned(declared, claim, a, b)
    if not in_order(arms):
        return _at_once(declared, claim, arms)
    return at_looks(declared, claim, arms, looks_so_far(claim, arms))


def in_order(arms: tuple[Sample, Sample]) -> bool:
    """Whether the seeds of both arms have an order in time, so that there were looks."""
    return all(arm.order != "unknown" for arm in arms)


class Level(TypedDict):
    """What every test of a claim's looks is told of the claim."""

    alpha: float
    paired: bool


def level_of(claim: Claim) -> Level:
    """The level and the design, for a test of the claim's looks."""
    return {"alpha": claim.alpha, "paired": claim.design == "paired"}


def aligned(declared: OnMeans, claim: Claim, a: Arm, b: Arm) -> tuple[Sample, Sample]:
    """The samples with replicates counted from the first of each arm, so that pairs match.

    Where a table declares an order, they are counted in that order; but what pairs the arms of a
    paired design is the number of the seed, and a pair is complete when the later one is.
    """
    first, second = require_sample(a, declared.kind), require_sample(b, declared.kind)
    if claim.design == "paired" and "declared" in (first.order, second.order):
        return _pairs_in_order(first, second)
    start_a, start_b = (claim.arms[arm].first_seed for arm in declared.of)
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


def looks_so_far(claim: Claim, arms: tuple[Sample, Sample]) -> tuple[int, ...]:
    """The numbers of pairs at which the claim has been judged."""
    pairs = balanced(*arms)[0].n
    if isinstance(claim.sequential, EProcess):
        looks = tuple(range(claim.seeds.min, pairs + 1))
    else:
        planned = () if claim.sequential is None else claim.sequential.looks
        looks = tuple(n for n in planned if n <= pairs)
    if not looks:
        raise TooFewError(f"{pairs} pairs of seeds are fewer than the first look needs")
    return looks


def at_looks(
    declared: OnMeans, claim: Claim, arms: tuple[Sample, Sample], looks: tuple[int, ...]
) -> SequentialResult:
    """The result at the last of ``looks``."""
    asked, how = question_of(declared, claim), claim.sequential
    if how is None:
        raise ClaimError("this claim is not sequential")
    if isinstance(how, EProcess):
        return sequential(*arms, asked, looks=looks, g=how.g, **level_of(claim))
    return group_obf(*arms, asked, looks=looks, planned_looks=how.looks, **level_of(claim))


def _at_once(declared: OnMeans, claim: Claim, arms: tuple[Sample, Sample]) -> SequentialResult:
    """The result of all seeds together, in whatever order they are numbered."""
    asked, how = question_of(declared, claim), claim.sequential
    fewest = min(arm.n for arm in (balanced(*arms) if claim.design == "paired" else arms))
    if how is None:
        raise ClaimError("this claim is not sequential")
    if fewest < claim.seeds.min:
        raise ClaimError(f"{fewest} seeds are fewer than the first look needs")
    if isinstance(how, EProcess):
        return single_look(*arms, asked, g=how.g, **level_of(claim))
    return group_obf_single_look(*arms, asked, planned_looks=how.looks, **level_of(claim))


def as_decided(
    found: Found, value: str, said: Callable[[Found], str], therefore: Callable[[Found], str]
) -> str:
    """What was found and what follows; of a first crossing at that look, then what all pairs say.

    ``said`` gives what was found of ``value``, which heads it, and ``therefore`` what follows for
    the claim. A sentence beside the word of a verdict has the numbers on which that word rests.
    """
    early = _at_crossing(found)
    if early is None:
        return f"{said(found)}. {therefore(found)}".rstrip()
    head, pairs = f"{upper(value)}: ", expect(found.result, SequentialResult).decided_at
    first = f"{upper(value)}, first {pairs} pairs: {said(early).removeprefix(head)}"
    stands = f"That was decided at {pairs} pairs and stands, whatever came later."
    later = f"All {min(found.result.n)} pairs: {said(found).removeprefix(head)}."
    return f"{first}. {therefore(early)} {stands} {later}"


def _at_crossing(found: Found) -> Found | None:
    """What was found at the first look that decided; None where that is the last one, or none.

    It has no p: that of the result is the smallest of all looks.
    """
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
    return Found(at_crossing, interval, found.conclusion)


def _from(sample: Sample, first: int) -> Sample:
    if sample.order == "declared":
        return replace(sample, replicates=tuple(range(sample.n)), diverged=())
    if sample.order == "unknown":
        return sample
    return Sample(sample.values, tuple(number - first for number in sample.replicates))
