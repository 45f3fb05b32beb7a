"""Reports that are still what would be made: of the same claim and evidence, by the same code.

Such a report is neither judged nor drawn again, and keeps the date at which its verdict was found;
its report.json also says when it was checked.
What is compared is noted in the user's cache (`repro.kept`), with the digest of each file: a report
that was edited, damaged or brought from elsewhere is made again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from repro import kept
from repro.digest import digest
from repro.evidence.evidence import Evidence
from repro.files import read_bytes
from repro.judging.claim_parts import collect, shown_file
from repro.judging.document import Document
from repro.machine import now
from repro.registry.registry import Past
from repro.report.write import FAILED, JSON, LARGEST, document_text, replace
from repro.specs.claim import Claim

KIND = "report"


class OfOthersError(TypeError):
    """Code or values that are not of repro, of which no digest tells all."""


@dataclass(frozen=True, slots=True)
class KeptReports:
    """The reports that are there, and the keys of what they are made of; ``use`` False: none."""

    use: bool = True
    keys: dict[Path, str] = field(default_factory=dict)

    def of_evidence(
        self, place: Path, claim: Claim, evidence: Evidence, past: Past, command: str
    ) -> Document | None:
        """The report in the folder ``place``, if it is that of a claim on this evidence."""
        if not self.use:
            return None
        with suppress(OfOthersError):
            made_of = (claim, shown_file(claim.file), evidence, past)
            made = collect(evidence, command).model_dump(mode="json", exclude={"created"})
            self.keys[place] = digest(["evidence", *map(facts, made_of), made])
            return _unchanged(place, self.keys[place])
        return None

    def of_document(self, place: Path, document: Document) -> Document | None:
        """The report in the folder ``place``, if it differs from this in its date alone."""
        if not self.use:
            return None
        rest = document.model_dump(mode="json", exclude={"provenance": {"created"}})
        self.keys.setdefault(place, digest(["document", rest]))
        return _unchanged(place, self.keys[place])

    def checked(self, place: Path, document: Document) -> Document:
        """The report in the folder ``place``, with the time at which it was found unchanged."""
        provenance = document.provenance.model_copy(update={"checked": now()})
        document = document.model_copy(update={"provenance": provenance})
        note, content = kept.read(KIND, place), document_text(document).encode()
        with suppress(OSError, KeyError):
            note["files"][JSON.file] = hashlib.sha256(content).hexdigest()
            replace(place / JSON.file, content)
            kept.write(KIND, place, note)
        return document

    def written(self, place: Path, files: Mapping[str, bytes]) -> None:
        """Note what was written to the folder ``place``, if it is known of what it was made."""
        if place in self.keys:
            digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
            kept.write(KIND, place, {"key": self.keys[place], "files": digests})


def _unchanged(place: Path, key: str) -> Document | None:
    """The report in a folder, if its files are those that were made of what has this key."""
    note = kept.read(KIND, place)
    if note.get("key") != key or (place / FAILED).exists():
        return None
    found = dict[str, bytes]()
    with suppress(OSError, KeyError, ValidationError):
        for name, stated in note["files"].items():
            found[name] = read_bytes(place / name, LARGEST, follow=False)
            if hashlib.sha256(found[name]).hexdigest() != stated:
                return None
        return Document.model_validate_json(found[JSON.file])
    return None


def facts(value: Any) -> Any:
    """All that a value of repro holds, as JSON; OfOthersError for one of another's code."""
    if value is None or isinstance(value, str | int | float | Enum | Path):
        return repr(value)
    if isinstance(value, Mapping):
        return [[facts(key), facts(each)] for key, each in value.items()]
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    if isinstance(value, tuple | list | range):
        return [facts(each) for each in value]
    kind = type(value)
    if not kind.__module__.startswith("repro.") or getattr(value, "use", None):
        raise OfOthersError(kind.__qualname__)
    if isinstance(value, BaseModel):
        return [kind.__qualname__, facts(dict(value))]
    if is_dataclass(value):
        names = [each.name for each in fields(value)]
        return [kind.__qualname__, facts({name: getattr(value, name) for name in names})]
    raise OfOthersError(kind.__qualname__)
