"""Controls of ranks: outcomes that are known beforehand, without which no rank counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from repro.schema.base import Name
from repro.trainers.measurement import Control, ControlledArm, ControlOutcome


class RankBound(Control):
    """Canary: no rank of these arms is above the structural bound d + 2; below is a flag."""

    kind: Literal["rank_bound"]
    id: Name
    measurement: Name
    arms: Annotated[tuple[Name, ...], Field(min_length=1)]

    @property
    def named(self) -> tuple[str, ...]:
        """The arms with a bound."""
        return self.arms

    def controls(self, arm: ControlledArm) -> bool:
        """Where there is a rank and a bound."""
        return bool(arm.values) and arm.bound is not None

    def outcome(self, arms: Mapping[str, ControlledArm], *, uncontrolled: bool) -> ControlOutcome:
        """Above d + 2: failed. Below: flagged, for a model trained normally reaches it."""
        having = list(arms.values())
        pairs = [(v, arm.bound) for arm in having for v in arm.values if arm.bound is not None]
        known = [f"{arm.label} {arm.bound:,}" for arm in having if arm.bound is not None]
        seen = [f"{arm.label} {span(arm.values)}" for arm in having if arm.values]
        outcome = ControlOutcome(
            f"No rank of {' and '.join(arm.label for arm in having)} is above its structural "
            "bound, d + 2",
            ", ".join(known) or "d + 2",
            "; ".join(seen) or "nothing measured",
            "passed",
        )
        if any(rank > bound for rank, bound in pairs):
            return outcome._replace(state="failed")
        if uncontrolled or not all(arm.values for arm in having):
            return outcome._replace(state="missing")
        below = any(rank < bound for rank, bound in pairs)
        return outcome._replace(state="flagged") if below else outcome


class KnownRank(Control):
    """Canary: a synthetic matrix of known rank, measured with every rank, must come out exactly."""

    kind: Literal["known_rank"]
    id: Name
    measurement: Name

    def without_effect(self, *, trained: bool) -> str:
        """Where nothing is trained, no rank is computed."""
        return "" if trained else "controls how ranks are computed, and none is"

    def controls(self, arm: ControlledArm) -> bool:
        """Where there is nothing to control: no table has the matrix beside its ranks."""
        return not arm.values

    def outcome(self, arms: Mapping[str, ControlledArm], *, uncontrolled: bool) -> ControlOutcome:
        """Exact in every one of the ranks that have it."""
        del uncontrolled
        statement = "A synthetic matrix of known rank, by the same reduction, comes out exactly"
        pairs = [details["known_rank"] for arm in arms.values() for details in arm.details]
        if not pairs:
            return ControlOutcome(statement, "exact", "nothing measured", "missing")
        exact = sum(pair["measured"] == pair["expected"] for pair in pairs)
        measured = f"{span([int(p['measured']) for p in pairs])}, exact in {exact} of {len(pairs)}"
        expected = span(sorted({int(pair["expected"]) for pair in pairs}))
        state: Literal["passed", "failed"] = "passed" if exact == len(pairs) else "failed"
        return ControlOutcome(statement, expected, measured, state)


def span(values: Sequence[float]) -> str:
    """`42`, or `42 to 60`."""
    low, high = min(values), max(values)
    return f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"
