"""What the ledger of looks says about a claim: when it was declared, and how often looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from repro.judging import document_parts as part
from repro.registry.log import History, Look, RegistrationVersion
from repro.specs.claim import Claim
from repro.stats.counts import clopper_pearson

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Past:
    """The registrations of a claim at a scale, and the looks of its processes.

    ``on_record`` False: the last registration could not be written down.
    """

    registrations: Sequence[RegistrationVersion]
    history: History
    on_record: bool = True


UNDECLARED = Past((), History((), {}, ()))
"""What is on record of a claim that is judged on a user's own results: nothing."""


def registration_part(claim: Claim, past: Past) -> part.RegistrationPart:
    """Whether the decisive fields were fixed before the first look, and what changed since."""
    digest = claim.digest()
    own = [one for one in past.registrations if one.registration.digest == digest]
    state: Literal["before", "after", "none"] = "none"
    if own:
        state = "after" if own[-1].late else "before"
    return part.RegistrationPart(
        state=state,
        digest=digest,
        edits=tuple(
            part.Edit(paths=one.changed, after_results=one.late) for one in past.registrations[1:]
        ),
        earlier_processes=sum(bool(looks) for looks in past.history.others.values()),
        on_record=past.on_record,
    )


def nights(claim: Claim, looks: Sequence[Look]) -> dict[int, Look]:
    """The nights of a negative control that were judged, each with the first look at it.

    A night is a block of fresh seeds, numbered from 0, not a line of the ledger. Judged again,
    by another version of the program say, it is the same night, and the first judgement stands,
    as the first crossing of a sequential claim does: nobody can judge a night until it fits.
    What was said later stays on record.
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


def control_part(claim: Claim, past: Past) -> part.ControlPart | None:
    """In how many nights a negative control found a difference; None before the first.

    The interval is Clopper and Pearson's, 95 %, two-sided.
    """
    judged = {} if claim.control is None else nights(claim, past.history.looks)
    if not judged:
        return None
    found = sum(look.conclusion == "CONFIRMED" for look in judged.values())
    interval = clopper_pearson(found, len(judged), level=LEVEL)
    return part.ControlPart(
        nights=len(judged),
        found=found,
        alpha=claim.alpha,
        low=interval.low,
        high=interval.high,
    )
