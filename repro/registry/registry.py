"""What is on record of a claim in its store, and how more is put there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from repro.errors import StoreError, StoreUnreachableError
from repro.registry.claim_log import ClaimLog, Entry, History, RegistrationVersion
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
