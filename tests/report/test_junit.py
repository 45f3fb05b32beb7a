from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from repro.report.document import Document
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
        ("mos_rank", ["passed", "passed", "passed"]),
        ("invalid", ["error", "error", "error"]),
        ("incomplete", ["skipped"]),
        ("stale", ["skipped", "skipped", "skipped"]),
        ("thirty_seeds", ["passed", "failure"]),
        ("plif", ["passed", "passed", "passed", "passed"]),
        ("fair_mos", ["passed", "passed"]),
    ],
)
def test_outcomes(name: str, expected: list[str], documents: dict[str, Document]) -> None:
    """A case for validity and one a decisive expectation; a declared conclusion is a pass."""
    assert list(outcomes(documents[name]).values()) == expected


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("CONFIRMED", "passed"), ("CONTRADICTED", "failure"), ("TRIVIAL", "failure"),
     ("INCONCLUSIVE", "skipped")],
)  # fmt: skip
def test_conclusions(word: str, outcome: str) -> None:
    """With nothing declared only CONFIRMED passes, and INCONCLUSIVE is no failure."""
    results = [{**base()["results"][0], "conclusion": word}]
    document = make(
        results=results, verdict=verdict(conclusion=word, as_expected=word == "CONFIRMED")
    )
    assert outcomes(document)["far_above_moc"] == outcome


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
    failure = ET.fromstring(junit(documents["thirty_seeds"])).find(".//failure")
    assert failure is not None
    assert failure.get("message") == "expected CONFIRMED, found CONTRADICTED: Less than 25 times."


@pytest.mark.parametrize("name", list(all_documents()))
def test_legal(name: str, documents: dict[str, Document], reports: dict[str, Path]) -> None:
    """Whatever the document says, the file is XML, and it is the file that was written."""
    ET.fromstring(junit(documents[name]))
    assert (reports[name] / "junit.xml").read_text(encoding="utf-8") == junit(documents[name])
