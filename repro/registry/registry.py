"""What is on record of a claim in its store, how more is put there, and which seeds are due.

An ordinary claim has the seeds that it plans. A sequential one starts with those and, each
night, adds a pair (or goes to its next planned look) until it is decided, futile, or at its
largest number. A negative control takes fresh seeds each night, so that its nights are
independent, and the share of them with a difference can be counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repro.errors import StoreError, StoreUnreachableError
from repro.registry.claim_log import ClaimLog, Entry, History, Look, RegistrationVersion
from repro.specs.claim import Claim
from repro.store.places import LOOKS, check_root
from repro.store.reading import StoreReader
from repro.store.run_store import RunStore
from repro.trainers.derived import with_parts
from repro.trainers.measurement import MeasurementSpec


@dataclass(frozen=True, slots=True)
class Past:
    """The registrations of a claim at a scale, and the looks of its processes.

    ``on_record`` False: the last registration could not be written down. ``exploratory``: the
    claim was written when its results were there.
    """

    registrations: Sequence[RegistrationVersion]
    history: History
    on_record: bool = True
    exploratory: bool = False


UNDECLARED = Past((), History((), {}, ()))
"""What is on record of a claim that is judged on a user's own results: nothing."""

EXPLORATORY = Past((), History((), {}, ()), exploratory=True)
"""What is known of a claim that was written when its results were there."""


@dataclass(frozen=True, slots=True)
class Registry:
    """The registrations and looks in one store. ``make`` False makes no store."""

    store: RunStore
    make: bool = True

    def log(self, claim: Claim) -> ClaimLog:
        return ClaimLog(self.store.root / LOOKS, claim.id, claim.scale)

    def writes(self, claim: Claim) -> bool:
        """Whether to write about a claim: a store that can only be read is judged all the same."""
        if not self.store.root.exists():
            return self.make
        path = self.log(claim).path
        places = (self.store.root, path.parent.parent, path.parent, path)
        return all(os.access(place, os.W_OK) for place in places if place.exists())

    def history(self, claim: Claim) -> History:
        check_root(self.store.root)
        return self.log(claim).history(claim.digest())

    def so_far(self, claim: Claim) -> Claim:
        """The claim with the seeds that it has by now."""
        return with_seeds_so_far(claim, self.history(claim).looks)

    def past(self, claim: Claim) -> Past:
        """What is on record about a claim at its scale.

        A declaration that could not be written is judged as if it had been, and said to be
        missing from the record.
        """
        seen, digest = self.history(claim), claim.digest()
        made = self.log(claim).registrations()
        if not claim.trained or (made and made[-1].registration.digest == digest):
            return Past(made, seen)
        visible, fields = shows_results(self.store, claim), claim.decisive_fields()
        declared = self.log(claim).unwritten(digest, fields, visible=visible)
        return Past(declared, seen, on_record=False)

    def register(self, claim: Claim) -> None:
        """Write down the decisive fields, and whether results could be seen by then.

        A claim of which nothing is run was declared when its results existed, and is not
        registered.
        """
        if claim.trained and self.writes(claim):
            self.store.prepare()
            visible, fields = shows_results(self.store, claim), claim.decisive_fields()
            self.log(claim).register(claim.digest(), fields, visible=visible)

    @staticmethod
    def watches(claim: Claim) -> bool:
        """Whether looks at a claim go on record."""
        return bool(claim.trained) or claim.sequential is not None

    def record(self, claim: Claim, entry: Entry) -> None:
        """Write down a look at a claim whose evidence is valid, where it is watched.

        StoreError where a value that an earlier look saw has changed.
        """
        if self.watches(claim) and self.writes(claim):
            self.store.prepare()
            self.log(claim).record(entry)


def shows_results(store: StoreReader, claim: Claim) -> bool:
    """Whether a decisive expectation of a claim has a result of every arm of it that is run.

    One seed of each arm is enough: whoever has seen it can choose what to claim.
    """
    for expectation in claim.expectations:
        trained = [arm for arm in expectation.of if claim.arms[arm].trained]
        if expectation.role != "decisive" or not trained:
            continue
        read = with_parts(expectation.reads, claim.measurements)
        if all(_has_result(store, claim, arm, read) for arm in trained):
            return True
    return False


def _has_result(store: StoreReader, claim: Claim, arm: str, read: Sequence[str]) -> bool:
    """Whether a run of an arm has one of the measurements that are ``read``, or diverged."""
    taken = [each for name, each in claim.taken_of(arm).items() if name in read]
    keys = (claim.run(arm, number).key for number in claim.numbers(arm))
    return any(_can_be_seen(store, key, taken) for key in keys)


def _can_be_seen(store: StoreReader, key: str, measurements: Sequence[MeasurementSpec]) -> bool:
    """Whether a run diverged, or shows one of the measurements; a damaged run had been there.

    A run of which nothing could be measured, as where a claim named its numbers wrongly, has shown
    none: what its program left is read without a word about values.
    """
    try:
        record = store.committed(key)
        if record is None:
            return False
        if record.state == "diverged":
            return True
        return store.is_measured(key) and any(_shown(store, key, each) for each in measurements)
    except StoreUnreachableError:
        raise
    except StoreError:
        return True


def _shown(store: StoreReader, key: str, measurement: MeasurementSpec) -> bool:
    """Whether it is stored, lies open in what the run left, or follows from what does."""
    if measurement.lies_open or store.measurement(key, measurement) is not None:
        return True
    sources = measurement.sources
    return bool(sources) and all(_shown(store, key, each) for each in sources)


def with_seeds_so_far(claim: Claim, looks: Sequence[Look]) -> Claim:
    """The claim with the seeds that it has by now, after these ``looks`` at it."""
    if claim.control is not None:
        return claim.at_night(night=max(0, _last_night(claim, looks)))
    if claim.sequential is None or not looks:
        return claim
    return claim.at_night(so_far=max(looks[-1].planned, claim.seeds.plan))


def with_seeds_tonight(
    claim: Claim, looks: Sequence[Look], undecided: Callable[[Claim], bool]
) -> Claim:
    """The claim with the seeds that it should have tonight, new ones among them.

    ``undecided`` judges the seeds so far: whether they are all there and leave the claim open.
    """
    if claim.control is not None:
        return claim.at_night(night=_last_night(claim, looks) + 1)
    now = with_seeds_so_far(claim, looks)
    if claim.sequential is None or not looks or not undecided(now):
        return now
    most = claim.seeds.max or claim.seeds.plan
    planned = claim.sequential.looks or (min(now.due + 1, most),)
    return claim.at_night(so_far=next((n for n in planned if n > now.due), most))


def with_every_night(claim: Claim) -> Claim:
    """The claim with all seeds that it has had by now: of a control, those of earlier nights."""
    if claim.control is None:
        return claim
    return claim.at_night(so_far=(claim.night + 1) * claim.seeds.plan)


def nights(claim: Claim, looks: Sequence[Look]) -> dict[int, Look]:
    """The nights of a negative control that were judged, each with the first look at it.

    A night is a block of fresh seeds, numbered from 0. Judged again, it is the same night, and the
    first judgement counts: nobody can judge a night until it fits.
    """
    found: dict[int, Look] = {}
    for look in looks:
        found.setdefault(_night(claim, look), look)
    return found


def _night(claim: Claim, look: Look) -> int:
    """The block of the last seed that was looked at; a look sees all nights until then."""
    last = {name: max(arm.replicates) for name, arm in look.arms.items() if arm.replicates}
    blocks = [
        (last[name] - claim.arms[name].first_seed) // claim.seeds.plan
        for name in claim.trained
        if name in last
    ]
    return max(blocks, default=0)


def _last_night(claim: Claim, looks: Sequence[Look]) -> int:
    """The last night of a negative control that was judged; -1 before the first.

    There were never more nights than looks: beyond are seeds that the claim no longer has.
    """
    return min(max(nights(claim, looks), default=-1), len(looks) - 1)
