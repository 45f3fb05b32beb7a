"""What judging reads from the registry of a claim, and the look that it leaves there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from repro.errors import StoreError, StoreUnreachableError
from repro.evidence.evidence import Evidence
from repro.expectations.verdict_words import Conclusion
from repro.judging import document_parts as part
from repro.judging.gather import gather
from repro.judging.interim import sequential_parts, should_stop
from repro.judging.judge import Judgement, judge_claim
from repro.judging.validity import damage
from repro.machine import package_version
from repro.registry.claim_log import Entry, Seen
from repro.registry.registry import Past, Registry, nights, with_every_night
from repro.specs.claim import Claim
from repro.stats.anytime import EProcessResult
from repro.stats.counts import clopper_pearson
from repro.stats.records import TestResult
from repro.store.run_store import RunStore


def undecided(claim: Claim, store: RunStore) -> bool:
    """Whether the seeds so far are all there and leave it open; else more would not help.

    A member of a family goes on until it is decided at alpha divided by the number of members,
    which is enough in the family, whatever the others find.
    """
    if claim.family is not None:
        share = claim.alpha / len(claim.family.members)
        claim = claim.model_copy(update={"alpha": share})
    judgement = judge_claim(claim, gather(claim, store))
    if judgement.finding is None:
        return False
    parts = sequential_parts(claim, judgement.evidence, judgement.judged)
    return not should_stop(judgement.finding, parts)


def recorded(judgement: Judgement, registry: Registry) -> Judgement:
    """The judgement, with this look on record and the past that now includes it.

    A look is about one claim alone: what its family makes of it depends on which others are
    judged, and is not recorded. Where a value that an earlier look saw has changed, the
    evidence is INVALID, and so is what was found in it.
    """
    claim = judgement.claim
    if judgement.valid:
        try:
            registry.record(claim, _entry(judgement, registry.store))
        except StoreUnreachableError:
            raise
        except StoreError as error:
            judgement = replace(judgement, faults=(damage(str(error)),), finding=None)
    return replace(judgement, past=registry.past(claim))


def _entry(judgement: Judgement, store: RunStore) -> Entry:
    """What is written down of a look; of a control, the values of its earlier nights too."""
    claim, evidence = judgement.claim, judgement.evidence
    if claim.control is not None:
        evidence = gather(with_every_night(claim), store)
    return Entry(
        digest=claim.digest(),
        values=_values(evidence),
        results={each.expectation.id: _numbers(each.result) for each in judgement.decisive},
        conclusion="" if judgement.finding is None else judgement.finding.conclusion.value,
        version=package_version("repro-verdict"),
        planned=claim.due,
    )


def _values(evidence: Evidence) -> Seen:
    """The values of each seed by measurement, and by its task where there are tasks."""
    seen: dict[str, dict[int, Any]] = {}
    for arm, replicates in evidence.arms.items():
        if not replicates:
            continue
        seeds = seen.setdefault(arm, {})
        for place, each in enumerate(evidence.counted(arm)):
            of_task = f", task {each.task}" if each.task else ""
            values = {f"{name}{of_task}": value for name, value in each.values.items()}
            seeds.setdefault(each.number, {}).update(values | _place(evidence, arm, place))
    return seen


def _place(evidence: Evidence, arm: str, place: int) -> dict[str, float]:
    """Which seed it is in the order that a table declares: a look saw that too."""
    return {"order in time": place} if evidence.order(arm) == "declared" else {}


def _numbers(result: TestResult | None) -> Mapping[str, float | None]:
    """The numbers of a test that a later reader of the log may want."""
    if result is None:
        return {}
    return {"p": result.p} | ({"e": result.e} if isinstance(result, EProcessResult) else {})


def registration_part(claim: Claim, past: Past) -> part.RegistrationPart:
    """Whether the decisive fields were fixed before the first look, and what changed since."""
    digest = claim.digest()
    records = [record for record in past.registrations if record.registration.digest == digest]
    state: Literal["before", "after", "none", "exploratory"] = "none"
    if past.exploratory:
        state = "exploratory"
    elif records:
        state = "after" if records[-1].late else "before"
    return part.RegistrationPart(
        state=state,
        digest=digest,
        edits=tuple(
            part.Edit(paths=record.changed, after_results=record.late)
            for record in past.registrations[1:]
        ),
        earlier_processes=sum(bool(looks) for looks in past.history.others.values()),
        on_record=past.on_record,
    )


def control_part(claim: Claim, past: Past) -> part.ControlPart | None:
    """In how many nights a negative control found a difference; None before the first.

    The interval is Clopper and Pearson's, 95 %, two-sided.
    """
    judged = {} if claim.control is None else nights(claim, past.history.looks)
    if not judged:
        return None
    found = sum(look.conclusion == Conclusion.CONFIRMED for look in judged.values())
    interval = clopper_pearson(found, len(judged), level=0.95)
    return part.ControlPart(
        nights=len(judged), found=found, alpha=claim.alpha, low=interval.low, high=interval.high
    )
