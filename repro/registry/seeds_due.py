"""Which seeds of a claim are due.

An ordinary claim has the seeds that it plans. A sequential one starts with those and, each
night, adds a pair (or goes to its next planned look) until it is decided, futile, or at its
largest number. A negative control takes fresh seeds each night, so that its nights are
independent, and the share of them with a difference can be counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from repro.registry.claim_log import Look
from repro.specs.claim import Claim


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
