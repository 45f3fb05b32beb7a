"""Report -> JUnit XML: what a build server shows, a suite per claim and a case per statement.

A claim that comes out as its file expects is a pass, whatever the word, and any other is a
failure, one that nothing could be concluded of too: a build is red when something changed or is
missing, and both words stand in the message. Invalid evidence is an error.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from repro.judging.document import Document, Result, VerdictPart
from repro.report import words
from repro.report.formats import ReportFormat
from repro.report.sections.analyses import agreement_of_analyses, several_analyses
from repro.report.sections.expectations import level_said
from repro.report.sections.interim_looks import looks_said
from repro.schema import numbers as fmt


def junit(document: Document) -> str:
    """The test suite of a claim, with a trailing newline."""
    suite = ET.Element("testsuite", name=fmt.clean(_name(document)))
    _validity_case(suite, document)
    _verdict_case(suite, document)
    for result in words.decisive(document):
        _expectation_case(suite, document, result)
    return _text(suite)


def junit_error(name: str, why: str) -> str:
    """The test suite of a claim (`claim.scale`) that could not be judged: one error."""
    suite = ET.Element("testsuite", name=fmt.clean(name))
    _outcome(_case(suite, name, "judged", why), "error", "NOT-JUDGED", why)
    return _text(suite)


JUNIT = ReportFormat(
    "junit.xml",
    lambda document: junit(document).encode(),
    lambda name, why: junit_error(name, why).encode("utf-8", "backslashreplace"),
    label="JUnit",
)


def _text(suite: ET.Element) -> str:
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{kind}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    text = ET.tostring(suites, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _name(document: Document) -> str:
    return f"{document.claim.id}.{document.scale.name}"


def _case(suite: ET.Element, place: str, name: str, said: str) -> ET.Element:
    case = ET.SubElement(suite, "testcase", classname=fmt.clean(place), name=fmt.clean(name))
    ET.SubElement(case, "system-out").text = fmt.clean(said)
    return case


def _outcome(case: ET.Element, kind: str, word: str, message: str) -> None:
    element = ET.Element(kind, message=fmt.clean(message))
    if kind != "skipped":
        element.set("type", word)
    case.insert(0, element)


def _validity_case(suite: ET.Element, document: Document) -> None:
    verdict = document.verdict
    reason = f": {verdict.validity_reason}" if verdict.validity_reason else ""
    controls = [f"{c.statement}: {c.state}, {c.measured}" for c in document.canaries]
    chips = [f"{chip.label}: {chip.badge.word}" for chip in words.cautions(document)]
    said = "; ".join([f"{verdict.validity}{reason}", *controls, *chips])
    case = _case(suite, _name(document), "validity and controls", said)
    if verdict.validity != "VALID":
        _unusable(case, document)


def _unusable(case: ET.Element, document: Document) -> None:
    """Evidence that carries no conclusion: an error where it is invalid, else a failure."""
    verdict = document.verdict
    kind = "error" if verdict.validity == "INVALID" else "failure"
    _outcome(case, kind, verdict.validity, f"{verdict.validity}: {verdict.validity_reason}")


def _verdict_case(suite: ET.Element, document: Document) -> None:
    """What the claim comes to, as its file expects or not."""
    verdict = document.verdict
    found, message = _compared(verdict, verdict)
    case = _case(suite, _name(document), "verdict of the claim", message)
    if verdict.validity != "VALID":
        _unusable(case, document)
    elif not verdict.as_expected:
        _outcome(case, "failure", found, message)


def _compared(verdict: VerdictPart, part: VerdictPart | Result) -> tuple[str, str]:
    """What the claim, or an expectation, comes to, and what was expected of it."""
    found = part.conclusion or verdict.validity
    said = words.with_strength(found, part.strength)
    return found, f"expected {_expected(verdict)}, found {said}: {part.sentence}"


def _expected(verdict: VerdictPart) -> str:
    return verdict.expected or "CONFIRMED"


def _expectation_case(suite: ET.Element, document: Document, result: Result) -> None:
    """How many analyses agree, how often it was looked at, where its test loses its level."""
    verdict, name = document.verdict, result.id
    found, message = _compared(verdict, result)
    facts = [f"{result.statement} {message}"]
    several = several_analyses(document)
    facts += [agreement_of_analyses(part) for part in several if part.expectation == name]
    facts += [looks_said(part) for part in document.sequential if part.expectation == name]
    facts += [level_said(part) for part in document.levels if part.expectation == name]
    case = _case(suite, _name(document), name, " ".join(facts))
    if verdict.validity != "VALID":
        _unusable(case, document)
    elif verdict.as_expected:
        if found not in (_expected(verdict), "CONFIRMED"):
            _outcome(case, "skipped", found, f"the claim is as expected; {message}")
    elif found != _expected(verdict):
        _outcome(case, "failure", found, message)
