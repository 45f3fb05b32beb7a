"""What the ledger of looks says about a claim: when it was declared, and how often looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from repro.looks import Edit, History
from repro.report import judgement as part
from repro.specs.claim import Claim
from repro.stats.bound import clopper_pearson

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Past:
    """The registrations of a claim at a scale, and the looks of its processes."""

    registrations: Sequence[Edit]
    history: History


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
    )


def control_part(claim: Claim, past: Past) -> part.ControlPart | None:
    """In how many nights a negative control found a difference; None before the first.

    The interval is Clopper and Pearson's, 95 %, two-sided.
    """
    looks = past.history.looks
    if claim.control is None or not looks:
        return None
    found = sum(look.conclusion == "CONFIRMED" for look in looks)
    interval = clopper_pearson(found, len(looks), level=LEVEL)
    return part.ControlPart(
        nights=len(looks),
        found=found,
        alpha=claim.alpha,
        low=interval.low,
        high=interval.high,
    )
