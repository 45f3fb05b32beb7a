"""What running receives: resolved runs and their keys.

A run is one configuration with one seed. Its key is the SHA-256 of everything that determines
its numbers and of nothing else: no host, no path, no device, no name of a claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, Protocol

from pydantic import Field

from repro.digest import digest
from repro.schema.base import Spec
from repro.trainers.base import older_revisions
from repro.trainers.table import AnyTraining, Measurable

ENDED: Final = "checkpoint-ended.json"
"""In a working folder: what is run there has ended, and is to be recorded before anything else."""


class Keyed(Protocol):
    """What a store keeps under a key, which is the digest of its identity."""

    @property
    def key(self) -> str: ...

    def identity(self) -> dict[str, Any]: ...


class RunSpec(Spec):
    """One replicate of one configuration.

    ``streams`` says what the random streams are keyed by: ``independent`` (configuration and
    replicate: arms share no randomness) or ``paired`` (replicate only: common random numbers).
    """

    training: AnyTraining
    replicate: int = Field(ge=0, lt=2**32)
    root: int = Field(default=0, ge=0, lt=2**32)
    streams: Literal["independent", "paired"] = "independent"

    def identity(self, revisions: Mapping[str, int] | None = None) -> dict[str, Any]:
        """The document that is hashed into the key."""
        return {
            "schema": 1,
            "training": self.training.identity(revisions),
            "replicate": self.replicate,
            "root": self.root,
            "streams": self.streams,
        }

    @property
    def key(self) -> str:
        """64 hexadecimal digits that name this run in every store in the world."""
        return digest(self.identity())

    def older_keys(self) -> Iterator[str]:
        """The keys that this run had under earlier revisions of its components."""
        for revisions in older_revisions(self.training.components):
            yield digest(self.identity(revisions))


class PlannedRun(Spec):
    """A run and the measurements that are asked for.

    ``label`` is what a reader calls it, ``arm`` its arm and the name of its configuration.
    """

    run: RunSpec
    measurements: tuple[Measurable, ...]
    label: str = ""
    arm: str = ""
