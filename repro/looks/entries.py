"""What an audit log holds: registrations of a claim's decisive fields, and looks at results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from repro.specs.base import Spec

Seen = Mapping[str, Mapping[int, JsonValue]]
"""What was looked at: for each arm, by replicate number, a value or several by name."""


class SeenArm(Spec):
    """Which replicates of an arm were looked at, and the digest of their values."""

    replicates: tuple[int, ...]
    sha256: str


class Look(Spec):
    """One look: ``number`` counts from 1 within its process, ``time`` is provenance only.

    ``planned`` is how many replicates an arm had by then, those that diverged included;
    ``results`` holds, for each expectation, the numbers that were reported (e, p).
    """

    kind: Literal["look"] = "look"
    digest: str
    number: Annotated[int, Field(ge=1)]
    time: str
    arms: dict[str, SeenArm]
    results: dict[str, dict[str, float | None]]
    conclusion: str
    version: str
    planned: Annotated[int, Field(ge=0)] = 0

    @property
    def n(self) -> dict[str, int]:
        """The number of replicates in each arm."""
        return {name: len(arm.replicates) for name, arm in self.arms.items()}


class Registration(Spec):
    """The decisive fields of a claim as declared at this point of the log.

    ``visible``: all its results were there already, whether or not a look is on record.
    """

    kind: Literal["registration"] = "registration"
    digest: str
    time: str
    fields: dict[str, JsonValue]
    visible: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """What one look saw and said; the log adds number and digests.

    ``digest`` is that of the claim's decisive fields, 64 hexadecimal digits.
    """

    claim_id: str
    scale: str
    digest: str
    values: Seen
    results: Mapping[str, Mapping[str, float | None]]
    conclusion: str
    version: str
    time: str = ""
    planned: int = 0


@dataclass(frozen=True, slots=True)
class RegistrationVersion:
    """A registration as it follows the one before it.

    ``changed`` are the dotted paths of the fields that differ; ``looks_before`` says how many
    looks at results, of whatever process, had been taken by then.
    """

    registration: Registration
    changed: tuple[str, ...]
    looks_before: int

    @property
    def late(self) -> bool:
        """Whether results were visible by then."""
        return self.looks_before > 0 or self.registration.visible


@dataclass(frozen=True, slots=True)
class AuditLog:
    """All that an audit log holds; ``torn`` names lines (file:line) that a crash cut short."""

    entries: tuple[Look | Registration, ...] = ()
    torn: tuple[str, ...] = ()

    @property
    def processes(self) -> dict[str, tuple[Look, ...]]:
        """The looks of each process, by the digest of the decisive fields, in order."""
        found: dict[str, tuple[Look, ...]] = {}
        for entry in self.entries:
            if isinstance(entry, Look):
                found[entry.digest] = (*found.get(entry.digest, ()), entry)
        return found


@dataclass(frozen=True, slots=True)
class History:
    """The looks of the present process, and those of the processes of other versions."""

    looks: tuple[Look, ...]
    others: Mapping[str, tuple[Look, ...]]
    torn: tuple[str, ...]
