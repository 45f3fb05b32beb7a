"""Nights made by hand: a store whose runs have chosen values, and claims that look at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from repro.judging.document import Document
from repro.registry.registry import Registry
from repro.specs.claim import Claim
from repro.specs.load import load_claim
from repro.store.run_store import RunStore
from repro.trainers.measurement import Reported
from repro.workflows.verify import Options, verify_claims

GOOD = Path(__file__).parents[1] / "specs" / "good"
WEIGHTS = {"output.weight": np.zeros(2, dtype=np.float32)}


def shipped(name: str, **changes: Any) -> Claim:
    """A claim of the specifications' examples at quick scale, with some of its fields changed."""
    return load_claim(GOOD / f"{name}.yaml", "quick").model_copy(update=changes)


@dataclass
class Nights:
    """A store beside its reports; ``values`` of each arm, by the number of the replicate.

    A run is put into the store when a claim asks for it, as training would; ``None`` diverges.
    """

    place: Path
    values: Mapping[str, Sequence[float | None]]
    looked: list[Document] = field(default_factory=list)

    @property
    def store(self) -> RunStore:
        """The store, which keeps what earlier nights put there."""
        return RunStore(self.place / "store")

    def train(self, claim: Claim, arm: str, numbers: Sequence[int]) -> None:
        """Put the runs of an arm into the store."""
        first = claim.arms[arm].first_seed
        for number in numbers:
            run, value = claim.run(arm, number), self.values[arm][number - first]
            weights = None if value is None else WEIGHTS
            diverged = 1 if weights is None else None
            self.store.put_run(
                run, history=[{"epoch": 1}], weights=weights, best_epoch=1, diverged=diverged
            )
            for spec in claim.measurements.values() if value is not None else ():
                if not isinstance(spec, Reported):
                    self.store.put_measurement(run.key, spec, value=value or 0.0)

    def train_all(self, claim: Claim, seeds: int) -> None:
        """Register, and put the first seeds of every arm into the store, as nights would."""
        Registry(self.store).register(claim)
        for arm in claim.trained:
            first = claim.arms[arm].first_seed
            self.train(claim, arm, range(first, first + seeds))

    def verify(self, *claims: Claim, **options: Any) -> list[Document]:
        """`repro verify` on runs that are all there; the documents."""
        own = Options(store=self.store, reports=self.place / "reports", **options)
        documents = list(verify_claims(claims, own).documents)
        self.looked += documents
        return documents

    def night(self, *claims: Claim) -> Document:
        """One night; the document of the first claim."""
        return self.verify(*claims, nightly=True)[0]
