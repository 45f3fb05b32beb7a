"""What is on record of a claim in its store, and how more is put there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from repro.registry.claim_log import ClaimLog, Entry, History, RegistrationVersion
from repro.specs.claim import Claim
from repro.store.places import LEDGER, check_root
from repro.store.run_store import RunStore


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

    def ledger(self, claim: Claim) -> ClaimLog:
        return ClaimLog(self.store.root / LEDGER, claim.id, claim.scale)

    def writes(self, claim: Claim) -> bool:
        """Whether to write about a claim: a store that can only be read is judged all the same."""
        if not self.store.root.exists():
            return self.make
        path = self.ledger(claim).path
        places = (self.store.root, path.parent.parent, path.parent, path)
        return all(os.access(place, os.W_OK) for place in places if place.exists())

    def history(self, claim: Claim) -> History:
        check_root(self.store.root)
        return self.ledger(claim).history(claim.digest())

    def past(self, claim: Claim, *, visible: bool) -> Past:
        """What is on record about a claim at its scale.

        A declaration that could not be written is judged as if it had been, and said to be
        missing from the record; ``visible``: all its results are there already.
        """
        seen, digest = self.history(claim), claim.digest()
        made = self.ledger(claim).registrations()
        if not claim.trained or (made and made[-1].registration.digest == digest):
            return Past(made, seen)
        declared = self.ledger(claim).unwritten(digest, claim.decisive_fields(), visible=visible)
        return Past(declared, seen, on_record=False)

    def register(self, claim: Claim, *, visible: bool) -> None:
        """Write down the decisive fields, before anything of them can be seen.

        ``visible``: all results of the claim are there already. A claim of which nothing is run
        was declared when its results existed, and is not registered.
        """
        if claim.trained and self.writes(claim):
            self.store.prepare()
            fields = claim.decisive_fields()
            self.ledger(claim).register(claim.digest(), fields, visible=visible)

    def record(self, claim: Claim, entry: Entry) -> None:
        """Write down a look at a claim whose evidence is valid, where it is watched.

        StoreError where a value that an earlier look saw has changed.
        """
        watched = claim.trained or claim.sequential is not None
        if watched and self.writes(claim):
            self.store.prepare()
            self.ledger(claim).record(entry)
