"""The committed verdicts of trained claims: of claims as they are, declared before."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.expectations.verdict_words import Validity
from repro.judging.claim_parts import claim_part
from repro.report.write import read_document
from repro.specs.load import load_claims

pytestmark = pytest.mark.usefixtures("parsed_once")

LIBRARY = Path(__file__).parents[1] / "reports" / "library"
SMALL = Path(__file__).parents[1] / "claims" / "library"
REPORTS = sorted(LIBRARY.glob("*/*/report.json"))


def test_trained_claims_have_committed_verdicts() -> None:
    assert len(REPORTS) >= 20


def test_every_small_famous_claim_has_a_committed_verdict() -> None:
    """The page about them is made from these."""
    ids = {path.name.removesuffix(".claim.yaml") for path in SMALL.rglob("*.claim.yaml")}
    assert ids <= {path.parents[1].name for path in REPORTS}


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.parents[1].name)
def test_a_committed_verdict_is_of_the_claim_as_it_is(path: Path) -> None:
    """A claim that was changed is verified again, or its verdict here is deleted."""
    document = read_document(path)
    (claim,) = load_claims([Path(document.claim.id)], document.scale.name)
    assert document.claim == claim_part(claim)
    assert document.scale.notice == claim.notice.strip()
    assert document.registration is not None
    assert document.registration.state == "before"
    assert document.verdict.validity is not Validity.INVALID


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.parents[1].name)
def test_a_committed_verdict_is_small(path: Path) -> None:
    assert path.stat().st_size < 200_000
