"""Which seeds of a claim are due, and what the registry of its store holds about it.

An ordinary claim has the seeds that it plans. A sequential one starts with those and, each
night, adds a pair (or goes to its next planned look) until it is decided, futile, or at its
largest number. A negative control takes fresh seeds each night, so that its nights are
independent, and the share of them with a difference can be counted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repro.errors import StoreError, StoreUnreachableError
from repro.evidence.base import Evidence
from repro.evidence.gather import gather
from repro.expectations.base import GroupSequential
from repro.expectations.rules import Validity
from repro.judging.interim import sequential_parts, should_stop
from repro.judging.judge import Judgement, judge_claim
from repro.judging.registration import Past, nights
from repro.machine import package_version
from repro.registry import record
from repro.registry.log import Entry, History, Look, Seen
from repro.running.plan import plan_runs
from repro.specs.claim import Claim
from repro.stats.anytime import EProcessResult
from repro.stats.records import TestResult
from repro.store.places import LEDGER, check_root
from repro.store.runs import RunStore


@dataclass(frozen=True, slots=True)
class Registry:
    """The registrations and looks in one store. ``make`` False makes no store."""

    store: RunStore
    make: bool = True

    def writes(self, claim: Claim) -> bool:
        """Whether to write about a claim: a store that can only be read is judged all the same."""
        root = self.store.root
        if not root.exists():
            return self.make
        folder = root / LEDGER / claim.id
        places = (root, folder.parent, folder, folder / f"{claim.scale}.jsonl")
        return all(os.access(place, os.W_OK) for place in places if place.exists())

    def history(self, claim: Claim) -> History:
        """The looks at a claim at its scale."""
        check_root(self.store.root)
        return record.history(self._place, claim.id, claim.scale, claim.digest())

    def past(self, claim: Claim) -> Past:
        """What is on record about a claim at its scale.

        A declaration that could not be written is judged as if it had been, and said to be
        missing from the record.
        """
        seen, digest = self.history(claim), claim.digest()
        made = record.registrations(self._place, claim.id, claim.scale)
        if not claim.trained or (made and made[-1].registration.digest == digest):
            return Past(made, seen)
        visible, fields = self._visible(claim), claim.decisive_fields()
        declared = record.unwritten(
            self._place, claim.id, claim.scale, digest, fields, visible=visible
        )
        return Past(declared, seen, on_record=False)

    def register(self, claim: Claim) -> None:
        """Write down the decisive fields, before anything of them can be seen.

        Where every run is in the store already, the results were visible before. A claim of
        which nothing is run was declared beside results that exist, and is not registered.
        """
        if claim.trained and self.writes(claim):
            self.store.prepare()
            there, fields = self._visible(claim), claim.decisive_fields()
            record.register(
                self._place, claim.id, claim.scale, claim.digest(), fields, visible=there
            )

    def recorded(self, one: Judgement) -> Judgement:
        """The judgement, with this look on record and the past that now includes it.

        A look is a claim by itself: what its family makes of it depends on which others are
        judged, and is not recorded. Where a value that an earlier look saw has changed, the
        evidence is INVALID, and so is what was found in it.
        """
        watched = one.claim.trained or one.claim.sequential is not None
        if one.valid and watched and self.writes(one.claim):
            self.store.prepare()
            try:
                record.record(self._place, self._entry(one))
            except StoreUnreachableError:
                raise
            except StoreError as error:
                reason = str(error).replace("\n", " ")
                one = replace(one, validity=Validity.INVALID, reason=reason, finding=None)
        return replace(one, past=self.past(one.claim))

    @property
    def _place(self) -> Path:
        return self.store.root / LEDGER

    def _visible(self, claim: Claim) -> bool:
        """Whether all results of a claim are there already."""
        return not plan_runs([claim], self.store).missing

    def _entry(self, judgement: Judgement) -> Entry:
        return Entry(
            claim_id=judgement.claim.id,
            scale=judgement.claim.scale,
            digest=judgement.claim.digest(),
            values=self._seen(judgement),
            results={each.expectation.id: _numbers(each.result) for each in judgement.decisive},
            conclusion="" if judgement.finding is None else judgement.finding.conclusion.value,
            version=package_version("repro-verdict"),
            planned=judgement.claim.wanted,
        )

    def _seen(self, judgement: Judgement) -> Seen:
        """Every value that was looked at by now: a control's earlier nights too."""
        if judgement.claim.control is None:
            return _values(judgement.evidence)
        return _values(gather(with_every_night(judgement.claim), self.store))


def with_seeds_due(claim: Claim, registry: Registry, *, nightly: bool) -> Claim:
    """The claim with the seeds that it should have now; ``nightly`` asks for new ones."""
    seen = registry.history(claim).looks
    if claim.control is not None:
        return claim.at_night(night=max(0, _last_night(claim, seen) + nightly))
    if claim.sequential is None or not seen:
        return claim
    now = max(seen[-1].planned, claim.seeds.plan)
    if nightly and _open(claim.at_night(so_far=now), registry.store):
        now = _next(claim, now)
    return claim.at_night(so_far=now)


def with_every_night(claim: Claim) -> Claim:
    """The claim with all seeds that it has had by now: of a control, those of earlier nights."""
    if claim.control is None:
        return claim
    return claim.at_night(so_far=(claim.night + 1) * claim.seeds.plan)


def _last_night(claim: Claim, seen: Sequence[Look]) -> int:
    """The last night of a negative control that was judged; -1 before the first.

    There were never more nights than looks. What lies beyond are seeds that the claim no longer
    has, and the audit log will say so when they are compared.
    """
    return min(max(nights(claim, seen), default=-1), len(seen) - 1)


def _next(claim: Claim, now: int) -> int:
    """One pair more, or the next planned look; never beyond the largest number."""
    most = claim.seeds.max or claim.seeds.plan
    if isinstance(claim.sequential, GroupSequential):
        return next((look for look in claim.sequential.looks if look > now), most)
    return min(now + 1, most)


def _open(claim: Claim, store: RunStore) -> bool:
    """Whether the seeds so far are all there and leave it open; else more would not help.

    A member of a family goes on until it is decided at alpha divided by the number of members,
    which is enough in the family, whatever the others find.
    """
    if claim.family is not None:
        share = claim.alpha / len(claim.family.members)
        claim = claim.model_copy(update={"alpha": share})
    one = judge_claim(claim, gather(claim, store))
    if one.finding is None:
        return False
    return not should_stop(one.finding, sequential_parts(claim, one.evidence, one.judged))


def _values(evidence: Evidence) -> Seen:
    return {
        arm: {
            each.number: {**each.values, **_place(evidence, arm, place)}
            for place, each in enumerate(evidence.counted(arm))
        }
        for arm, replicates in evidence.arms.items()
        if replicates
    }


def _place(evidence: Evidence, arm: str, place: int) -> dict[str, float]:
    """Which seed it is in the order that a table declares: a look saw that too."""
    return {"order in time": place} if evidence.order(arm) == "declared" else {}


def _numbers(result: TestResult | None) -> Mapping[str, float | None]:
    """The numbers of a test that a later reader of the log may want."""
    if result is None:
        return {}
    found = {"p": result.p}
    return {**found, "e": result.e} if isinstance(result, EProcessResult) else found
