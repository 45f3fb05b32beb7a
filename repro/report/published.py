"""Parts of the report document about printed numbers, and how ours compare with them."""

from __future__ import annotations

from typing import Literal

from repro.report.judgement import ReplicationPart
from repro.specs.base import Spec

AgreementWord = Literal["COMPATIBLE", "LARGER", "SMALLER", "OPPOSITE", "NOT-CHECKABLE"]


class PublishedArm(Spec):
    """Printed numbers of one arm, as the strings they were printed as."""

    arm: str
    mean: str
    sd: str | None
    n: int | None


class Published(Spec):
    """A printed comparison that an expectation is about, and whether ours agrees with it."""

    expectation: str
    locator: str
    arms: tuple[PublishedArm, ...]
    p: str | None
    agreement: AgreementWord
    reason: str
    replication: ReplicationPart | None = None
