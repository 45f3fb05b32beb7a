"""Which field of the runs tells the arms apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.errors import ClaimError
from repro.results.forms import FoundRun
from repro.results.run_fields import Hints, arm_field

FILE = Path("results.csv")


def runs(notes: str) -> list[FoundRun]:
    """Two of each way, with a note of one letter for each run; a space is none."""
    pairs = zip("aabb", notes, strict=True)
    return [FoundRun("", {"way": way, "note": note.strip()}, []) for way, note in pairs]


def test_of_two_fields_of_texts_one_has_to_be_named() -> None:
    with pytest.raises(ClaimError, match="several fields may tell the arms apart: way, note"):
        arm_field(FILE, runs("xyxy"), (), Hints())


def test_a_field_that_some_runs_lack_tells_no_arms_apart() -> None:
    assert arm_field(FILE, runs("x x "), (), Hints()) == "way"
