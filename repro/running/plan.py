"""Plans: the distinct runs that a set of claims needs, what the store has, what the rest costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from repro.errors import StoreError, StoreUnreachableError
from repro.machine import cores
from repro.running.cost import is_complete, merged, remaining
from repro.specs.claim import Claim
from repro.store.runs import RunStore
from repro.trainers.cost import FLOPS_PER_CORE
from repro.trainers.run import PlannedRun

State = Literal["complete", "missing", "damaged"]


@dataclass(frozen=True, slots=True)
class Planned:
    """One distinct run, what a reader calls it and its arm, and what the store has of it."""

    planned: PlannedRun
    label: str
    state: State
    work: float
    arm: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Every distinct run of some claims. ``rate`` is in floating-point operations a second."""

    runs: tuple[Planned, ...]
    rate: float
    workers: int

    @property
    def missing(self) -> tuple[PlannedRun, ...]:
        """What has to be trained or measured."""
        return tuple(one.planned for one in self.runs if one.state == "missing")

    @property
    def labels(self) -> dict[str, str]:
        """Key of a run -> what a reader calls it."""
        return {one.planned.run.key: one.label for one in self.runs}

    @property
    def arms(self) -> dict[str, str]:
        """Key of a run -> its arm and the name of its configuration."""
        return {one.planned.run.key: one.arm for one in self.runs}

    @property
    def seconds(self) -> float:
        """Very rough time for what is missing.

        The longest run, or all of them shared by the workers, whichever is more.
        """
        work = [one.work for one in self.runs]
        return max(max(work, default=0.0), sum(work) / self.workers) / self.rate


def plan_runs(claims: Sequence[Claim], store: RunStore, *, workers: int | None = None) -> Plan:
    """The distinct runs of ``claims``, merged over claims that share them."""
    names = {
        claim.run(arm, number).key: (
            f"{claim.arms[arm].label}, seed {number}",
            f"{claim.arms[arm].label} ({claim.arms[arm].configuration_id})",
        )
        for claim in claims
        for arm in claim.trained
        for number in claim.numbers(arm)
    }
    runs = []
    for planned in merged([run for claim in claims for run in claim.runs()]):
        state, work = state_of(store, planned)
        label, arm = names[planned.run.key]
        runs.append(Planned(planned, label, state, work, arm))
    return Plan(tuple(runs), FLOPS_PER_CORE, workers or cores())


def code_to_run(claims: Sequence[Claim], plan: Plan) -> dict[str, str]:
    """What has to be imported of others for the missing runs of ``claims``, in a sentence each.

    By `module:object`, and with the place in the claim that leads to it.
    """
    missing = {planned.run.key for planned in plan.missing}
    found: dict[str, str] = {}
    for claim in claims:
        for name in claim.trained:
            keys = {claim.run(name, number).key for number in claim.numbers(name)}
            for code in claim.arms[name].code if keys & missing else ():
                text = f"arm {name} needs {code.use}, which {code.place} names"
                found.setdefault(code.use, f"{code.arm}: {text}: code of others to be run here")
    return found


def state_of(store: RunStore, planned: PlannedRun) -> tuple[State, float]:
    """What the store has of a run, and the operations that are left.

    Damaged evidence is neither there nor to be trained over: it is reported.
    """
    try:
        if is_complete(store, planned):
            return "complete", 0.0
        return "missing", remaining(store, planned).total
    except StoreUnreachableError:
        raise
    except StoreError:
        return "damaged", 0.0
