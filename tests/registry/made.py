"""Looks made by hand, and where their log lies."""

from __future__ import annotations

from pathlib import Path

from pydantic import JsonValue

from repro.digest import digest
from repro.registry.claim_log import (
    AuditLog,
    ClaimLog,
    Entry,
    History,
    Look,
    RegistrationVersion,
)

CLAIM, SCALE = "fair_mos", "quick"
FIELDS: dict[str, JsonValue] = {
    "alpha": 0.05,
    "expectations": [{"id": "not_better", "margin": {"abs": 0.3}}],
}
WIDER: dict[str, JsonValue] = {
    "alpha": 0.05,
    "expectations": [{"id": "not_better", "margin": {"abs": 0.5}}],
}
FIRST, SECOND = digest(FIELDS), digest(WIDER)
VALUES = {"mos": {0: 56.1, 1: 56.4, 2: 56.2}, "softmax": {0: 56.5, 1: 56.3, 2: 56.7}}
MORE = {"mos": {**VALUES["mos"], 3: 56.0}, "softmax": {**VALUES["softmax"], 3: 56.6}}


def entry(values=VALUES, digest=FIRST, conclusion="INCONCLUSIVE", **other) -> Entry:
    """A look at some values."""
    fields = {"version": "0.1.0", "time": "2026-01-01T00:00:00"}
    results = {"not_better": {"e": 2.5, "p": None}}
    return Entry(
        digest=digest, values=values, results=results, conclusion=conclusion, **fields | other
    )


def file(place: Path) -> Path:
    """The file of the log."""
    return place / CLAIM / f"{SCALE}.jsonl"


def record(place: Path, entry: Entry, claim_id: str = CLAIM, scale: str = SCALE) -> Look:
    """A look written down."""
    return ClaimLog(place, claim_id, scale).record(entry)


def register(place: Path, claim_id: str, scale: str, digest: str, fields) -> None:
    """Decisive fields written down."""
    ClaimLog(place, claim_id, scale).register(digest, fields)


def read(place: Path, claim_id: str, scale: str) -> AuditLog:
    """All entries of a log."""
    return ClaimLog(place, claim_id, scale).read()


def history(place: Path, claim_id: str, scale: str, digest: str) -> History:
    """The looks of one process, and of the others."""
    return ClaimLog(place, claim_id, scale).history(digest)


def registrations(place: Path, claim_id: str, scale: str) -> tuple[RegistrationVersion, ...]:
    """Every registration of a log."""
    return ClaimLog(place, claim_id, scale).registrations()
