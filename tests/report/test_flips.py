"""A verdict with another word than before: what every output says of it, and of hostile text."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from repro.errors import Stopped
from repro.judging.document import Document
from repro.report.differences import differences
from repro.report.flips import flip, is_unexpected_flip
from repro.report.index import VerdictList, line
from repro.report.junit import junit
from repro.report.markdown import github, summary
from repro.report.view import view
from repro.report.write import read_document, write_report
from tests.report.cases import all_documents
from tests.report.documents import make, provenance, verdict
from tests.report.texts import page_text, pdf_text, squeezed

HOSTILE = "</p><script>alert(1)</script>\n::error::x,y:%0A | `a` @me ##[error]"


def kept(word: str, day: int, *changed: tuple[str, str]) -> dict[str, Any]:
    """A verdict of a day of November."""
    number = {
        "expectation": "better", "effect": 1.5, "low": 0.5, "high": 2.5, "scale": "difference",
        "digits": 1, "conclusion": word,
    }  # fmt: skip
    return {
        "created": f"2026-11-{day}T02:17:00+00:00", "validity": "VALID", "conclusion": word,
        "agreement": "NOT-CHECKABLE", "expected": "", "as_expected": word == "CONFIRMED",
        "numbers": [number], "claim": "d",
        "changed": [{"kind": kind, "text": text} for kind, text in changed],
    }  # fmt: skip


def flipped(
    *changed: tuple[str, str],
    now: str = "INCONCLUSIVE",
    before: str = "CONFIRMED",
    news: bool = True,
) -> Document:
    """Another word on the 21st than on the 20th."""
    history = {"verdicts": [kept(before, 20), kept(now, 21, *changed)], "news": news}
    said = verdict(conclusion=now, as_expected=now == "CONFIRMED", expected="", expected_why="")
    return make(provenance={**provenance(), "history": history}, verdict=said)


SEEDS = ("runs", "two seeds were added")
VERSION = ("versions", "numpy 2.1 is now 2.2")


WAS = "Was CONFIRMED on 20 November, now INCONCLUSIVE:"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (flipped(SEEDS), f"{WAS} two seeds were added."),
        (flipped(("claim", "the claim was changed (alpha)"), SEEDS, VERSION),
         f"{WAS} the claim was changed (alpha); two seeds were added."),
        (flipped(VERSION), f"{WAS} numpy 2.1 is now 2.2."),
        (flipped(), f"{WAS} nothing that is on record was changed."),
        (flipped(SEEDS, news=False), ""),
        (flipped(SEEDS, now="CONFIRMED"), ""),
        (make(), ""),
    ],
)  # fmt: skip
def test_the_sentence(document: Document, said: str) -> None:
    """What it was, when, what it is and why; none where the word is as it was, or is no news."""
    assert flip(document) == said
    assert is_unexpected_flip(document) == bool(said)


def test_replicates_are_called_what_they_are() -> None:
    """Folds are no seeds; the names of keys and files stay."""
    changes = (("claim", "the claim was changed (seeds.plan)"), SEEDS)
    document = flipped(*changes)
    folds = document.model_copy(
        update={"claim": document.claim.model_copy(update={"unit": "fold"})}
    )
    assert flip(folds) == f"{WAS} the claim was changed (seeds.plan); two folds were added."


def test_a_flip_of_another_year_says_the_year() -> None:
    """Else the year is that of the report."""
    document = flipped(SEEDS)
    history = document.provenance.history
    assert history is not None
    old = history.verdicts[0].model_copy(update={"created": "2025-12-31T02:00:00+00:00"})
    changed = history.model_copy(update={"verdicts": (old, history.verdicts[1])})
    moved = document.provenance.model_copy(update={"history": changed})
    assert "on 31 December 2025, now" in flip(document.model_copy(update={"provenance": moved}))


def test_report_and_summary_say_it(tmp_path: Path) -> None:
    """On the page, in the PDF, and first in the summary; report.json alone is enough."""
    document = flipped(SEEDS)
    write_report(document, tmp_path)
    assert read_document(tmp_path / "report.json") == document
    said = squeezed(flip(document))
    assert said in squeezed(page_text(tmp_path / "report.html"))
    assert said in squeezed(pdf_text(tmp_path / "report.pdf"))
    first = summary([make(), document]).splitlines()[0]
    assert first.endswith(f".** {flip(document)}")


def test_flips_come_first() -> None:
    """Before what is not as expected, which comes before the rest."""
    others = [make(), make(verdict=verdict(as_expected=False)), flipped(SEEDS, before="TRIVIAL")]
    rows = [row for part in VerdictList(map(line, others)).parts() for row in part.lines]
    assert [bool(row.flip) for row in rows] == [True, False, False]


def cases(document: Document) -> dict[str, list[tuple[str, str | None]]]:
    found = ET.fromstring(junit(document)).iter("testcase")
    return {
        each.get("name", ""): [(e.tag, e.get("type")) for e in each if e.tag != "system-out"]
        for each in found
    }


def test_junit_has_a_failure_of_its_own_type() -> None:
    """For a flip that is not as expected; one that is, and a word that stays, are a pass."""
    name = "the word of the verdict before"
    assert cases(flipped(SEEDS))[name] == [("failure", "FLIP")]
    assert cases(flipped(SEEDS))["verdict of the claim"] == [("failure", "INCONCLUSIVE")]
    assert cases(flipped(SEEDS, now="CONFIRMED", before="TRIVIAL"))[name] == []
    assert cases(flipped(now="CONFIRMED"))[name] == []
    assert name not in cases(make())


def test_annotations() -> None:
    """Errors first, and of these the flips; nothing of what is as it was and as expected."""
    expected = make(verdict=verdict(conclusion="CONFIRMED", as_expected=True))
    assert github([expected]) == []
    failed = make(verdict=verdict(conclusion="CONTRADICTED", as_expected=False, expected=""))
    undecided = make(verdict=verdict(conclusion="INCONCLUSIVE", as_expected=False, expected=""))
    as_wished = flipped(SEEDS, now="CONFIRMED", before="TRIVIAL")
    told = [undecided, as_wished, failed, expected, flipped(SEEDS)]
    lines = github(told, [Stopped("other", "no: such\nfile", 2)])
    assert [each.split()[0] for each in lines] == [
        "::error", "::error", "::error", "::warning", "::notice",
    ]  # fmt: skip
    assert "::Was CONFIRMED on 20 November, now INCONCLUSIVE: two seeds were added. " in lines[0]
    assert lines[0].startswith("::error file=claims/mos_rank.yaml,line=1,title=mos_rank at quick")
    assert lines[2] == "::error title=other::no: such file"


@pytest.mark.parametrize("name", all_documents())
def test_any_two_reports_can_be_told_apart(name: str, documents: dict[str, Document]) -> None:
    """Whatever a stranger's report holds; and none differs from itself."""
    assert differences(documents[name], documents[name]) == []
    others = [each for other, each in documents.items() if other != name]
    assert all(differences(documents[name], other) for other in others[:5])


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    """In a history that somebody wrote, as in any other text."""
    document = flipped(("claim", HOSTILE))
    claim = document.claim.model_copy(update={"file": HOSTILE})
    document = document.model_copy(update={"claim": claim})
    write_report(document, tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "<script>" not in page
    assert squeezed("<script>alert(1)") in squeezed(pdf_text(tmp_path / "report.pdf"))
    assert "<script>" not in summary([document])
    assert "@me" not in summary([document])
    ET.fromstring(junit(document))
    (annotation,) = github([document])
    assert "\n" not in annotation
    properties = annotation.removeprefix("::error ").partition("::")[0]
    names = [each.partition("=")[0] for each in properties.split(",")]
    assert names == ["file", "line", "title"]
    assert "%0A" not in annotation
    assert view(document).flip.count("\n") == 0
