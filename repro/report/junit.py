"""Report -> JUnit XML: what a build server shows, a suite per claim and a case per statement.

A claim that comes out as its file expects is a pass, whatever the word, and any other is a
failure, one that nothing could be concluded of too: a build is red when something changed or is
missing, and both words stand in the message. Invalid evidence is an error. That the word is another
one than before, and not the expected one, is a failure of the type FLIP.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree as ET

from repro.expectations.verdict_words import Conclusion, Validity
from repro.judging.document import Document, Result, VerdictPart
from repro.report import badges, lookups
from repro.report.flips import flip, is_unexpected_flip
from repro.report.formats import ReportFormat
from repro.report.sections.analyses import agreement_of_analyses, several_analyses
from repro.report.sections.interim_looks import looks_said
from repro.report.sections.statements import level_said
from repro.schema import numbers as fmt

Case = tuple[str, str, tuple[str, str, str] | None]
"""Name and output; of one that does not pass an element, the word that was found, a message."""


def junit(document: Document) -> str:
    """The test suite of a claim, with a trailing newline."""
    verdict, place = document.verdict, f"{document.claim.id}.{document.scale.name}"
    found, message = _compared(document, verdict)
    failure = None if verdict.as_expected else ("failure", found, message)
    reason = f": {verdict.validity_reason}" if verdict.validity_reason else ""
    controls = [f"{c.statement}: {c.state}, {c.measured}" for c in document.canaries]
    chips = [f"{chip.label}: {chip.badge.word}" for chip in badges.cautions(document)]
    cases = [
        (
            "validity and controls",
            "; ".join([f"{verdict.validity}{reason}", *controls, *chips]),
            None,
        ),
        ("verdict of the claim", message, failure),
        *(_expectation(document, result) for result in lookups.decisive(document)),
    ]
    if verdict.validity != Validity.VALID:
        kind = "error" if verdict.validity == Validity.INVALID else "failure"
        why = f"{verdict.validity}: {verdict.validity_reason}"
        cases = [(name, said, (kind, verdict.validity, why)) for name, said, _ in cases]
    return _text(place, [*_flip(document), *cases])


def _flip(document: Document) -> Iterator[Case]:
    """Whether the word is that of the verdict before, if there was one: a type of its own."""
    history = document.provenance.history
    if history is None or len(history.verdicts) < 2:
        return
    said = flip(document) or f"{history.verdicts[-1].word} since {fmt.date(history.since)}"
    outcome = ("failure", "FLIP", said) if is_unexpected_flip(document) else None
    yield "the word of the verdict before", said, outcome


def junit_error(name: str, why: str) -> str:
    """The test suite of a claim (`claim.scale`) that could not be judged: one error."""
    return _text(name, [("judged", why, ("error", "NOT-JUDGED", why))])


JUNIT = ReportFormat(
    "junit.xml",
    lambda document: junit(document).encode(),
    lambda name, why: junit_error(name, why).encode("utf-8", "backslashreplace"),
    label="JUnit",
)


def _text(place: str, cases: Iterable[Case]) -> str:
    suite = ET.Element("testsuite", name=fmt.clean(place))
    for name, said, outcome in cases:
        case = ET.SubElement(suite, "testcase", classname=fmt.clean(place), name=fmt.clean(name))
        if outcome is not None:
            kind, word, message = outcome
            element = ET.SubElement(case, kind, message=_shown(message))
            if kind != "skipped":
                element.set("type", word)
        ET.SubElement(case, "system-out").text = _shown(said)
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{kind}"))))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    text = ET.tostring(suites, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _shown(text: str) -> str:
    return fmt.unbroken(fmt.clean(text))


def _compared(document: Document, part: VerdictPart | Result) -> tuple[str, str]:
    """What the claim, or an expectation, comes to, and what was expected of it."""
    verdict = document.verdict
    found = part.conclusion or verdict.validity
    said = badges.with_words(found, badges.rate_of(document, part))
    return found, f"expected {_expected(verdict)}, found {said}: {part.sentence}"


def _expected(verdict: VerdictPart) -> str:
    return verdict.expected or Conclusion.CONFIRMED


def _expectation(document: Document, result: Result) -> Case:
    """How many analyses agree, how often it was looked at, where its test loses its level."""
    verdict, name = document.verdict, result.id
    found, message = _compared(document, result)
    facts = [f"{result.statement} {message}"]
    several = several_analyses(document)
    facts += [agreement_of_analyses(part) for part in several if part.expectation == name]
    facts += [looks_said(part) for part in document.sequential if part.expectation == name]
    facts += [level_said(part) for part in document.levels if part.expectation == name]
    outcome = None
    if not verdict.as_expected and found != _expected(verdict):
        outcome = ("failure", found, message)
    elif verdict.as_expected and found not in (_expected(verdict), Conclusion.CONFIRMED):
        outcome = ("skipped", found, f"the claim is as expected; {message}")
    return name, " ".join(facts), outcome
