from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from repro.judging.document import Document
from repro.report.junit import junit
from tests.report.cases import all_documents
from tests.report.documents import base, make, verdict


def outcomes(document: Document) -> dict[str, str]:
    suite = ET.fromstring(junit(document))[0]
    found = {}
    for case in suite.findall("testcase"):
        kinds = [child.tag for child in case if child.tag != "system-out"]
        found[case.get("name", "")] = kinds[0] if kinds else "passed"
    for kind, total in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert int(suite.get(total, "-1")) == list(found.values()).count(kind)
    assert int(suite.get("tests", "-1")) == len(found)
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mos_rank", ["passed"] * 4),
        ("invalid", ["error"] * 4),
        ("incomplete", ["failure"] * 2),
        ("stale", ["failure"] * 4),
        ("thirty_seeds", ["passed", "failure", "failure"]),
        ("plif", ["passed"] * 5),
        ("fair_mos", ["passed"] * 3),
    ],
)
def test_outcomes(name: str, expected: list[str], documents: dict[str, Document]) -> None:
    """A case for validity, for the verdict and for each decisive expectation.

    A declared conclusion is a pass, and evidence that concludes nothing a failure.
    """
    assert list(outcomes(documents[name]).values()) == expected


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("CONFIRMED", "passed"), ("CONTRADICTED", "failure"), ("TRIVIAL", "failure"),
     ("INCONCLUSIVE", "failure"), ("NOT-TESTED", "failure")],
)  # fmt: skip
def test_conclusions(word: str, outcome: str) -> None:
    """With nothing declared only CONFIRMED passes: what is not decided is a failure too."""
    results = [{**base()["results"][0], "conclusion": word}]
    document = make(
        results=results, verdict=verdict(conclusion=word, as_expected=word == "CONFIRMED")
    )
    assert outcomes(document)["far_above_moc"] == outcome
    assert outcomes(document)["verdict of the claim"] == outcome


@pytest.mark.parametrize("word", ["CONTRADICTED", "INCONCLUSIVE", "NOT-TESTED", "TRIVIAL"])
def test_what_is_expected_is_a_pass(word: str) -> None:
    """The word that its file declares, whatever it is; a part that says another is no failure."""
    first, second = base()["results"][0], {**base()["results"][0], "id": "another"}
    document = make(
        results=[{**first, "conclusion": word}, {**second, "conclusion": "INCONCLUSIVE"}],
        verdict=verdict(conclusion=word, expected=word, as_expected=True),
    )
    found = outcomes(document)
    assert found["verdict of the claim"] == found["far_above_moc"] == "passed"
    assert found["another"] == ("passed" if word == "INCONCLUSIVE" else "skipped")


def test_a_claim_that_its_family_leaves_open_is_a_failure() -> None:
    """Every part of it holds, and the claim does not, which nobody declared."""
    document = make(verdict=verdict(conclusion="INCONCLUSIVE", as_expected=False))
    assert outcomes(document)["far_above_moc"] == "passed"
    assert outcomes(document)["verdict of the claim"] == "failure"


def test_a_valid_claim_needs_no_reason() -> None:
    """What is printed of validity ends with its reason, or with the word where there is none."""
    said = {}
    for reason in ("", "all as declared"):
        own = verdict(validity="VALID", validity_reason=reason)
        said[reason] = ET.fromstring(junit(make(verdict=own, canaries=[])))[0][0][0].text or ""
    assert said[""].split(";")[0] == "VALID"
    assert said["all as declared"].split(";")[0] == "VALID: all as declared"


def test_messages_hold_both_words(documents: dict[str, Document]) -> None:
    """A failure says what was expected and what was found."""
    _, failure = ET.fromstring(junit(documents["thirty_seeds"])).iter("failure")
    assert failure.get("message") == "expected CONFIRMED, found CONTRADICTED: Less than 25 times."


@pytest.mark.parametrize("name", list(all_documents()))
def test_legal(name: str, documents: dict[str, Document], reports: dict[str, Path]) -> None:
    """Whatever the document says, the file is XML, and it is the file that was written."""
    ET.fromstring(junit(documents[name]))
    assert (reports[name] / "junit.xml").read_text(encoding="utf-8") == junit(documents[name])
