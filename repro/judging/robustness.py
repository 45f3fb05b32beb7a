"""The verdict under every admissible analysis, and with each seed left out.

A specification curve for each expectation: how much hangs on the declared analysis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from repro.errors import ClaimError
from repro.evidence.evidence import Evidence
from repro.expectations.kinds import Expectation, kind_of, name_of_test
from repro.judging.document_parts import Analysis, Choice, Robustness, finite
from repro.judging.verdict import Judged, detail_reader, judge, log_reader
from repro.schema import numbers as fmt
from repro.specs.claim import Claim
from repro.stats.records import Arm, Sample

PRIORS = (0.25, 1.0, 4.0)
SCHEDULES = {0.5: "after half of the epochs", 1.0: "after the last epoch"}


def robustness(
    claim: Claim, evidence: Evidence, judged: tuple[Judged, ...], cases: tuple[Case, ...]
) -> tuple[Robustness, ...]:
    """All admissible analyses of every decisive expectation that was tested.

    ``cases`` are the claim without each seed in turn.
    """
    found = []
    for part in judged:
        if part.expectation.role != "decisive" or part.refused:
            continue
        name = name_of_test(part.expectation, claim.context(), part.result)
        analyses = [_analysis(part, part, "declared", f"as declared: {name}")]
        for others in OTHERS:
            analyses += others(claim, evidence, part)
        every = (*_distinct(analyses), *_seeds(claim, evidence, part, cases))
        found.append(Robustness(expectation=part.expectation.id, analyses=every))
    return tuple(found)


def _distinct(analyses: Sequence[Analysis]) -> Iterator[Analysis]:
    """Without a schedule that is another analysis once more: the last epoch may be the best."""
    seen = set()
    for analysis in analyses:
        numbers = tuple(
            None if value is None else f"{value:.6g}"
            for value in (analysis.effect, analysis.low, analysis.high)
        )
        if analysis.choice != "schedule" or analysis.effect is None or numbers not in seen:
            seen.add(numbers)
            yield analysis


def _tests(claim: Claim, evidence: Evidence, declared: Judged) -> Iterator[Analysis]:
    if claim.sequential:
        return
    expectation, paired = declared.expectation, claim.design == "paired"
    n = numbers_of_seeds(expectation, evidence)
    for other in kind_of(expectation).other_tests(expectation, n, paired=paired):
        choice: Choice = "test" if other.same_question else "quantity"
        if other.refused:
            yield _not_computed(choice, other.name, other.refused)
        else:
            again = judge(other.declared, claim, evidence.read)
            yield _analysis(declared, again, choice, other.name)


def _ignoring_pairs(claim: Claim, evidence: Evidence, declared: Judged) -> Iterator[Analysis]:
    """As if the arms shared nothing: what the pairs are worth, and no doubt of the conclusion."""
    unpaired = kind_of(declared.expectation).unpaired(declared.expectation)
    if claim.design != "paired" or unpaired is None:
        return
    independent = claim.model_copy(update={"design": "independent"})
    again = judge(unpaired, independent, evidence.read)
    yield _analysis(declared, again, "design", "the arms as independent, pairs ignored")


def _logarithms(claim: Claim, evidence: Evidence, declared: Judged) -> Iterator[Analysis]:
    """A difference of logarithms, shown as the difference it means at the mean of b."""
    expectation = declared.expectation
    if claim.sequential or not kind_of(expectation).on_logarithms(expectation):
        return
    arms = [evidence.read(arm, expectation.measurement) for arm in expectation.of]
    samples = [arm for arm in arms if isinstance(arm, Sample)]
    if len(samples) < 2 or min(min(sample.values) for sample in samples) <= 0:
        return
    again = judge(expectation, claim, log_reader(evidence))
    mean = samples[1].geometric_mean
    yield _analysis(declared, again, "scale", "on logarithms", unit=mean)


def _priors(claim: Claim, evidence: Evidence, declared: Judged) -> Iterator[Analysis]:
    how = claim.sequential
    if how is None or how.g is None:
        return
    for g in PRIORS:
        if g != how.g:
            other = claim.model_copy(update={"sequential": how.model_copy(update={"g": g})})
            again = judge(declared.expectation, other, evidence.read)
            yield _analysis(declared, again, "prior", f"prior variance g = {g:g}")


def _measurements(claim: Claim, evidence: Evidence, declared: Judged) -> Iterator[Analysis]:
    """The same expectation on another split, where the claim measures it."""
    expectation = declared.expectation
    measurement = claim.measurements[expectation.measurement]
    for name, other in claim.measurements.items():
        if (
            name != expectation.measurement
            and measurement.same_elsewhere(other)
            and len(expectation.reads) == 1
        ):
            again = judge(
                expectation.model_copy(update={"measurement": name}), claim, evidence.read
            )
            yield _analysis(declared, again, "measurement", f"on the {other.label}")


def _tolerances(claim: Claim, evidence: Evidence, declared: Judged) -> Iterator[Analysis]:
    expectation = declared.expectation
    if not all(evidence.detailed(arm, expectation.measurement) for arm in expectation.of):
        return
    for name, words in claim.measurements[expectation.measurement].readings.items():
        if not all(evidence.detailed(arm, expectation.measurement, name) for arm in expectation.of):
            continue
        again = judge(expectation, claim, detail_reader(evidence, name))
        yield _analysis(declared, again, "tolerance", f"at {words}")


def _schedules(claim: Claim, evidence: Evidence, declared: Judged) -> Iterator[Analysis]:
    """The same expectation on validation perplexity, had training ended elsewhere."""
    expectation = declared.expectation
    known = claim.measurements[expectation.measurement].from_history()
    if known is None or len(expectation.reads) > 1:
        return
    label, value_of = known
    for share, words in SCHEDULES.items():
        samples = {}
        try:
            for arm in expectation.of:
                losses = evidence.at_epoch(arm, share)
                samples[arm] = replace(losses, values=tuple(map(value_of, losses.values)))
        except ClaimError:
            return
        again = judge(expectation, claim, partial(_of_arm, samples))
        yield _analysis(declared, again, "schedule", f"{label} {words}")


def _of_arm(samples: Mapping[str, Sample], arm: str, _measurement: str) -> Arm:
    return samples[arm]


OTHERS = (
    _tests,
    _ignoring_pairs,
    _logarithms,
    _priors,
    _measurements,
    _schedules,
    _tolerances,
)


def _seeds(
    claim: Claim, evidence: Evidence, declared: Judged, cases: tuple[Case, ...]
) -> Iterator[Analysis]:
    expectation = declared.expectation
    if kind_of(expectation).is_slow(expectation, numbers_of_seeds(expectation, evidence)):
        why = "the splits of the permutation test are too many to be tried for every seed"
        yield _not_computed("seed", "without each seed in turn", why)
        return
    for case in cases:
        again = case.judged.get(expectation.id)
        if again is not None and case.concerns(expectation):
            _, which = case.names(claim, expectation)
            choice: Choice = "task" if case.task else "seed"
            yield _analysis(declared, again, choice, f"without {which}")


def _not_computed(choice: Choice, name: str, why: str) -> Analysis:
    return Analysis(
        choice=choice,
        name=name,
        effect=None,
        low=None,
        high=None,
        p=None,
        conclusion=None,
        refused=f"not computed: {why}",
    )


def _analysis(
    declared: Judged, again: Judged, choice: Choice, name: str, *, unit: float | None = None
) -> Analysis:
    """One row; effect and interval only where they are in the units of the declared analysis."""
    result = again.result
    scales = {kind_of(each.expectation).scale(each.expectation) for each in (declared, again)}
    effect = low = high = None
    if result is not None and len(scales) == 1:
        effect, interval = result.effect, result.interval
        low, high = (None, None) if interval is None else (interval.low, interval.high)
        if unit is not None:
            effect, low, high = (_at(unit, value) for value in (effect, low, high))
    return Analysis(
        choice=choice,
        name=fmt.clean(name),
        effect=finite(effect),
        low=finite(low),
        high=finite(high),
        p=None if result is None else result.p,
        conclusion=None if again.refused else again.conclusion,
        refused=again.refused,
        declared=choice == "declared",
    )


def _at(unit: float, logarithm: float | None) -> float | None:
    """The difference that a difference of logarithms means at the value ``unit``.

    ``None`` where it is too large for a number.
    """
    if logarithm is None:
        return None
    try:
        return unit * math.expm1(logarithm)
    except OverflowError:
        return None


@dataclass(frozen=True, slots=True)
class Case:
    """All expectations, by id, without one seed of ``arm``; ``pair``: without its partners too.

    An expectation that needs the same numbers in all its arms loses the partners in any case.
    ``task``: without that task in every arm, and not without a seed.
    """

    arm: str
    number: int
    pair: bool
    judged: dict[str, Judged]
    task: str = ""

    def concerns(self, expectation: Expectation) -> bool:
        """Whether ``expectation`` counts this as a case: a number that goes whole is one case."""
        kind = kind_of(expectation)
        tasks = kind.tasks(expectation)
        if self.task or (tasks and not kind.by_seed(expectation)):
            return self.task in tasks
        return self.pair or self.arm in (
            expectation.of[:1] if goes_whole(expectation) else expectation.of
        )

    def names(self, claim: Claim, *of: Expectation) -> tuple[str, str]:
        """What is left out in such cases, and in this one, as far as these expectations go."""
        if self.task:
            return "task", f"task {self.task}"
        concerned = [expectation for expectation in of if self.arm in expectation.of]
        if self.pair or (
            concerned
            and all(
                goes_whole(expectation) and len(expectation.of) == 2 for expectation in concerned
            )
        ):
            return "pair", f"pair {self.number}"
        if concerned and all(goes_whole(expectation) for expectation in concerned):
            return "seed of every arm", f"seed {self.number} of every arm"
        return "seed", f"seed {self.number} ({claim.arms[self.arm].label})"


def left_out(
    claim: Claim, evidence: Evidence, judged: tuple[Judged, ...], *, arms: tuple[str, ...]
) -> tuple[Case, ...]:
    """Every finished replicate of ``arms`` left out in turn, but the only one of an arm of several.

    Where replicates are pairs, a pair is left out whole, and is named by the first arm; a table
    without an order in time is judged at once, and has none in a sequential claim. Planned looks
    leave nothing out: without one seed the last of them would not have been reached.
    """
    if claim.sequential and claim.sequential.looks:
        return ()
    in_order = all(evidence.order(arm) != "unknown" for arm in arms)
    pairs = claim.design == "paired" or (claim.sequential is not None and in_order)
    tasks = tuple(dict.fromkeys(task for arm in arms for task in claim.tasks(arm)))
    declared = [each.expectation for each in judged]
    whole = {arm for each in declared if kind_of(each).by_seed(each) for arm in each.of}
    of_seeds = tuple(arm for arm in arms if not claim.tasks(arm) or arm in whole)
    if all(kind_of(each).lone(each) and kind_of(each).keeps_seeds(each) for each in declared):
        of_seeds = ()
    if any(len(evidence.finished(arm)) > 1 for arm in of_seeds):
        of_seeds = tuple(arm for arm in of_seeds if len(evidence.finished(arm)) > 1)
    return (
        *(
            Case(arm, number, pairs, dict(_again(claim, evidence, judged, gone, number)))
            for arm in (of_seeds[:1] if pairs else of_seeds)
            for gone in (of_seeds if pairs else (arm,),)
            for number in dict.fromkeys(run.number for run in evidence.finished(arm))
        ),
        *(_without_task(claim, evidence, judged, task) for task in tasks),
    )


def _without_task(claim: Claim, evidence: Evidence, judged: tuple[Judged, ...], task: str) -> Case:
    """Those that are over the task, without it; the others as they were."""
    rest = evidence.without_task(task)
    found = {}
    for before in judged:
        kind, expectation = kind_of(before.expectation), before.expectation
        again = before
        if task in kind.tasks(expectation):
            again = judge(kind.without_task(expectation, task), claim, rest.read)
        found[expectation.id] = again
    return Case("", 0, pair=False, judged=found, task=task)


def _again(
    claim: Claim, evidence: Evidence, judged: tuple[Judged, ...], gone: tuple[str, ...], number: int
) -> Iterator[tuple[str, Judged]]:
    """Those that read an arm of ``gone``, without the seed; the others as they were."""
    for before in judged:
        expectation = before.expectation
        if not set(expectation.of) & set(gone):
            yield expectation.id, before
            continue
        whole = tuple(arm for arm in expectation.of if goes_whole(expectation) and arm not in gone)
        rest = _rest(claim, evidence, (*gone, *whole), number)
        if reason := kind_of(expectation).keeps_seeds(expectation):
            yield expectation.id, replace(before, result=None, refused=reason)
        elif not all(rest.known(arm) for arm in expectation.of):
            yield expectation.id, replace(before, result=None, refused="no seed is left")
        elif not kind_of(expectation).is_slow(expectation, numbers_of_seeds(expectation, rest)):
            yield expectation.id, judge(expectation, claim, rest.read)


def _rest(claim: Claim, evidence: Evidence, arms: tuple[str, ...], number: int) -> Evidence:
    """Without this seed of the first of ``arms``, and its partners in the others."""
    place = number - claim.arms[arms[0]].first_seed
    for each in arms:
        evidence = evidence.without(each, place + claim.arms[each].first_seed)
    return evidence


def goes_whole(expectation: Expectation) -> bool:
    return kind_of(expectation).goes_whole(expectation)


def numbers_of_seeds(expectation: Expectation, evidence: Evidence) -> list[int]:
    return [len(evidence.counted(arm)) for arm in expectation.of]
