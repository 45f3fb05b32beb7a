"""Canonical JSON and its SHA-256: the identity of specifications.

Canonical: keys sorted, no blanks, ASCII only, no NaN or infinity, floats as Python's shortest
form that reads back the same. Two documents have one digest exactly if they are equal.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def canonical_json(value: Any) -> str:
    """The one JSON text of ``value``; raises ValueError for NaN and infinity."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON of ``value``, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
