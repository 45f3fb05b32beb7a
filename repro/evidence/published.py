"""Printed numbers: a mean, its scatter and its number of seeds, and no value of any seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from repro.evidence.source import EvidenceSource, PublishedArm
from repro.schema.base import Name


class PublishedNumbers(EvidenceSource):
    """Printed numbers, by measurement."""

    elsewhere: ClassVar[str] = "the claim has its printed numbers"
    shown = "published"

    published: dict[Name, PublishedArm] | None = None

    @property
    def printed(self) -> Mapping[str, PublishedArm] | None:
        """The numbers as they are declared."""
        return self.published

    def identity(self, configuration: Any) -> Any:
        """The numbers as they are printed."""
        del configuration
        return self.model_dump(mode="json", exclude_none=True)
