"""Audit files: one defect per file, its exact message at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.audit.audit import audit_file
from repro.errors import SpecError
from tests.specs.kept import has_four_parts, kept_message

BAD = Path(__file__).parent / "bad_audit"
DEFECTS = sorted(path.stem for path in BAD.glob("*.yaml"))


def refused(name: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        audit_file(Path(f"{name}.yaml"))
    return caught.value


@pytest.fixture(autouse=True)
def _beside_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD)


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_message_is_exactly_the_one_that_is_kept(defect: str) -> None:
    """Each defect is refused with the message at the end of its file, which has four parts."""
    kept = kept_message(Path(f"{defect}.yaml"))
    assert f"{refused(defect)}\n" == kept
    assert has_four_parts(kept)


def test_the_defects_are_found() -> None:
    """None is lost with its file."""
    assert len(DEFECTS) > 30
