"""A claim judged again with each seed, or each task, left out in turn (the jackknife)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from repro.evidence.evidence import Evidence
from repro.expectations.kinds import Expectation, kind_of
from repro.judging.verdict import Judged, judge
from repro.specs.claim import Claim


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
    """Every finished replicate of ``arms`` left out in turn.

    Where replicates are pairs, a pair is left out whole, and is named by the first arm; a table
    without an order in time is judged at once, and has none in a sequential claim. Planned looks
    leave nothing out: without one seed the last of them would not have been reached.
    """
    if claim.sequential and claim.sequential.looks:
        return ()
    in_order = all(evidence.order(arm) != "unknown" for arm in arms)
    pairs = claim.design == "paired" or (claim.sequential is not None and in_order)
    tasks = tuple(dict.fromkeys(task for arm in arms for task in claim.tasks(arm)))
    whole = {arm for each in judged for arm in each.expectation.of if _by_seed(each)}
    of_seeds = tuple(arm for arm in arms if not claim.tasks(arm) or arm in whole)
    return (
        *(
            Case(arm, number, pairs, dict(_again(claim, evidence, judged, gone, number)))
            for arm in (of_seeds[:1] if pairs else of_seeds)
            for gone in (of_seeds if pairs else (arm,),)
            for number in dict.fromkeys(run.number for run in evidence.finished(arm))
        ),
        *(_without_task(claim, evidence, judged, task) for task in tasks),
    )


def _by_seed(judged: Judged) -> bool:
    return kind_of(judged.expectation).by_seed(judged.expectation)


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
