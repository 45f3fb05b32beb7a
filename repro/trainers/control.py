"""Controls of measurements: what each is given, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from repro.schema.base import Spec


@dataclass(frozen=True, slots=True)
class ControlledArm:
    """What a control knows of an arm: its finished values and details, and its bound."""

    label: str
    bound: int | None
    values: tuple[float, ...]
    details: tuple[Mapping[str, Any], ...]


class ControlOutcome(NamedTuple):
    """What a control says: what must hold, what was expected and measured, and what came out."""

    statement: str
    expected: str
    measured: str
    state: Literal["passed", "flagged", "failed", "missing"]


class Control(Spec):
    """Something about a measurement whose outcome is known beforehand."""

    if TYPE_CHECKING:  # each has them, in the order of its keys
        kind: str
        id: str
        measurement: str

    @property
    def named(self) -> tuple[str, ...]:
        """The arms that it names; none: it is of all."""
        return ()

    def without_effect(self, *, trained: bool) -> str:
        """Why it could control nothing, where nothing is trained; empty where it could."""
        return ""

    def controls(self, arm: ControlledArm) -> bool:
        """Whether it can say something of values that come from a table."""
        raise NotImplementedError

    def outcome(self, arms: Mapping[str, ControlledArm], *, uncontrolled: bool) -> ControlOutcome:
        """What comes out; ``uncontrolled``: it cannot be made for some of its arms."""
        raise NotImplementedError


class ControlOfDetails(Control):
    """A control of what is measured beside values, which no table has; ``subject`` it controls."""

    subject: ClassVar[str]

    def without_effect(self, *, trained: bool) -> str:
        return "" if trained else f"controls {self.subject}, and none is"

    def controls(self, arm: ControlledArm) -> bool:
        return not arm.values
