"""What a table must hold for a claim: the arms and measurements that are read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repro.specs.claim import Claim


@dataclass(frozen=True, slots=True)
class TableSchema:
    """``arms`` are read from the table, ``elsewhere`` says why other arms are not.

    ``needed`` are the measurements without which a decisive expectation cannot be judged,
    ``order`` the column that says in which order the replicates came, where the claim declares one.
    """

    arms: tuple[str, ...]
    measurements: tuple[str, ...]
    needed: Mapping[str, tuple[str, ...]]
    elsewhere: Mapping[str, str]
    order: str | None = None

    @property
    def in_order(self) -> tuple[str, ...]:
        """The column of the order, if there is to be one."""
        return () if self.order is None else (self.order,)


def table_schema(claim: Claim, arms: Sequence[str]) -> TableSchema:
    """What a table must hold from which these arms of a claim are read."""
    own = [one for one in claim.expectations if one.role == "decisive"]
    needed = {
        arm: tuple(dict.fromkeys(name for one in own if arm in one.of for name in one.reads))
        for arm in arms
    }
    elsewhere = {arm: _elsewhere(claim, arm) for arm in claim.arms if arm not in arms}
    order = None if claim.sequential is None else claim.sequential.order
    return TableSchema(tuple(arms), tuple(claim.measurements), needed, elsewhere, order)


def _elsewhere(claim: Claim, arm: str) -> str:
    return {
        "published": "the claim has its printed numbers",
        "runs": "the claim has it trained",
        "table": "the claim names another table for it",
    }[claim.arms[arm].evidence]
