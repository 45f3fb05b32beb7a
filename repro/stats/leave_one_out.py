"""Does the conclusion hang on one replicate?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from repro.errors import ClaimError
from repro.stats.sample import Arm, Sample

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Omission(Generic[T]):
    """One replicate left out of one arm (of every arm, if paired); ``outcome`` without it.

    ``outcome`` is ``None`` where the replicates that remain are too few for the test.
    """

    arm: str
    replicate: int
    outcome: T | None


@dataclass(frozen=True, slots=True)
class Stability(Generic[T]):
    """The outcome on all replicates, and with each left out in turn."""

    outcome: T
    omissions: tuple[Omission[T], ...]

    @property
    def changed(self) -> tuple[Omission[T], ...]:
        """The omissions that change the outcome."""
        return tuple(
            one for one in self.omissions if one.outcome is not None and one.outcome != self.outcome
        )

    @property
    def refused(self) -> tuple[Omission[T], ...]:
        """The omissions after which the test cannot be done."""
        return tuple(one for one in self.omissions if one.outcome is None)


def leave_one_out(
    arms: Mapping[str, Arm], judge: Callable[[Mapping[str, Arm]], T], *, paired: bool = False
) -> Stability[T]:
    """Judges again with each replicate left out; arms known only by a summary stay as they are.

    ``judge`` returns what is compared (a conclusion, not a p-value). If ``paired``, a
    replicate leaves all arms together. A ``ClaimError`` of ``judge`` on all replicates is
    raised; without one of them it makes the outcome ``None``. METHODS.md 1.7.
    """
    outcome = judge(arms)
    omissions = []
    for name, replicate in _replicates(arms, paired=paired):
        kept = {
            other: arm.without(replicate)
            if isinstance(arm, Sample) and arm.n > 1 and (paired or other == name)
            else arm
            for other, arm in arms.items()
        }
        omissions.append(Omission(name, replicate, _try(judge, kept)))
    return Stability(outcome, tuple(omissions))


def _replicates(arms: Mapping[str, Arm], *, paired: bool) -> list[tuple[str, int]]:
    samples = {name: arm for name, arm in arms.items() if isinstance(arm, Sample) and arm.n > 1}
    first = dict(list(samples.items())[:1]) if paired else samples
    return [(name, replicate) for name, arm in first.items() for replicate in arm.replicates]


def _try(judge: Callable[[Mapping[str, Arm]], T], arms: Mapping[str, Arm]) -> T | None:
    try:
        return judge(arms)
    except ClaimError:
        return None
