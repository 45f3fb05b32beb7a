"""Audit files: one defect a file, its exact message beside it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from repro.audit.audit import audit_file
from repro.errors import SpecError

BAD = Path(__file__).parent / "bad_audit"
DEFECTS = sorted(path.stem for path in BAD.glob("*.yaml"))


@cache
def refused(name: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        audit_file(Path(f"{name}.yaml"))
    return caught.value


@pytest.fixture(autouse=True)
def _beside_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD)


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_message_is_exactly_the_one_that_is_kept(defect: str) -> None:
    """Each defect is refused with the message in the file of the same name."""
    assert str(refused(defect)) + "\n" == Path(f"{defect}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_message_has_four_parts(defect: str) -> None:
    """Every problem says where, what, what was expected, and what to do."""
    for problem in refused(defect).problems:
        assert problem.place.file.endswith((".yaml", ".csv"))
        assert problem.place.line > 0
        assert problem.what
        assert problem.expected
        assert problem.advice


def test_there_is_no_message_without_its_defect() -> None:
    """Every kept message belongs to a file."""
    assert {path.stem for path in BAD.glob("*.txt")} == set(DEFECTS)
    assert len(DEFECTS) > 30
