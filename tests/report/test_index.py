"""The morning page: what changed stands first, what surprises next, and each thing once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest

from repro.judging.document import Document
from repro.report.index import DAYS, Line, VerdictList, chance, index, line, strip
from repro.report.write import read_document
from repro.specs.load import load_claims
from repro.store.run_store import RunStore
from repro.workflows.verify import Options, Verified, verify_claims
from tests.report.documents import with_nights
from tests.report.texts import page, page_text

GOOD = Path(__file__).parents[1] / "specs" / "good"
FIRST = datetime(2026, 11, 18, 2, 17, tzinfo=UTC)

Night = Callable[[int], Verified]


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Night:
    """`repro verify` in the night of a number: two claims of one's own, on tables."""
    for name in ("steady", "moving"):
        folder = tmp_path / "claims" / name
        folder.mkdir(parents=True)
        shutil.copy(GOOD / "table_claim.csv", folder)
        text = (GOOD / "table_claim.yaml").read_text(encoding="utf-8")
        text = text.replace("id: table_claim", f"id: {name}")
        (folder / f"{name}.claim.yaml").write_text(text, encoding="utf-8")

    def verify(number: int) -> Verified:
        at = FIRST + timedelta(days=number)
        monkeypatch.setattr("repro.judging.claim_parts.now", at.isoformat)
        monkeypatch.setattr("repro.report.unchanged.now", at.isoformat)
        claims = load_claims([tmp_path / "claims"], None, allow_code=False)
        options = Options(store=RunStore(tmp_path / "store"), reports=tmp_path / "reports")
        return verify_claims(claims, options)

    return verify


def flip(folder: Path) -> None:
    """Give each arm the values of the other."""
    path = folder / "claims" / "moving" / "table_claim.csv"
    text = path.read_text(encoding="utf-8")
    names = sorted({row.split(",")[0] for row in text.splitlines()[1:]})
    swapped = dict(zip(names, reversed(names), strict=True))
    pattern = re.compile(rf"^({'|'.join(names)}),", re.MULTILINE)
    path.write_text(pattern.sub(lambda name: f"{swapped[name[1]]},", text), encoding="utf-8")


def headings(folder: Path) -> list[str]:
    """The sections of the page, which are those of the Markdown, too."""
    found = [
        "".join(h.itertext()) for h in page(folder / "reports" / "index.html").findall(".//h2")
    ]
    text = (folder / "reports" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^### (.*)$", text, re.MULTILINE) == found
    return found


def test_three_nights_the_third_with_a_flip(night: Night, tmp_path: Path) -> None:
    """Two nights say that nothing changed; on the third what did stands first, and why it did."""
    place = tmp_path / "reports" / "index.html"
    for number in (0, 1):
        done = night(number)
        assert {each.verdict.conclusion for each in done.documents} == {"CONFIRMED"}
        assert "Changed" not in headings(tmp_path)
        assert "None changed, 0 not as expected, of 2 verdicts: 2 CONFIRMED." in page_text(place)
    flip(tmp_path)
    night(2)
    assert headings(tmp_path)[0] == "Changed"
    text = page_text(place)
    assert "1 changed, 1 not as expected, of 2 verdicts: 1 CONFIRMED, 1 CONTRADICTED." in text
    changed, steady = page(place).findall(".//li")
    assert "Was CONFIRMED on 18 November, now CONTRADICTED: " in "".join(changed.itertext())
    assert "since 20 November" in "".join(changed.itertext())
    assert "since 18 November" in "".join(steady.itertext())
    strips = [each.get("aria-label") for each in page(place).iter() if each.get("role") == "img"]
    assert strips == [
        "Last 14 days: not judged on 11, CONFIRMED on 2, CONTRADICTED on 1",
        "Last 14 days: not judged on 11, CONFIRMED on 3",
    ]
    first, *_ = place.with_suffix(".md").read_text(encoding="utf-8").splitlines()
    assert "(moving, paper).** Was CONFIRMED on 18 November, now CONTRADICTED: " in first


def test_the_night_after_a_flip(night: Night, tmp_path: Path) -> None:
    """It is not news any more, but still not as expected, and says since when."""
    night(0)
    flip(tmp_path)
    night(1)
    night(1)  # again in the morning: still news
    assert headings(tmp_path)[0] == "Changed"
    night(2)
    first, *_ = headings(tmp_path)
    assert first == "Not as expected"
    (row, _) = page(tmp_path / "reports" / "index.html").findall(".//li")
    assert "CONFIRMED was expected" in "".join(row.itertext())
    assert "since 19 November" in "".join(row.itertext())


def test_the_pages_open_wherever_they_are_copied(night: Night, tmp_path: Path) -> None:
    """As an artefact: every link that is not of the web leads to a file among them."""
    night(0)
    copy = shutil.copytree(tmp_path / "reports", tmp_path / "unpacked" / "artefact")
    found = 0
    for path in copy.rglob("*.html"):
        for link in page(path).iter("a"):
            target = unquote((link.get("href") or "").partition("#")[0])
            if target and "://" not in target:
                inside = (path.parent / target).resolve()
                assert inside.is_file(), (path, target)
                assert inside.is_relative_to(copy.resolve())
                found += 1
    assert found > 4


def lines(documents: dict[str, Document], *names: str) -> list[Line]:
    return [line(documents[name], f"{name}/report.html") for name in names or documents]


def test_every_claim_is_there_once(documents: dict[str, Document]) -> None:
    """In one section, under its paper; what is not as expected before all papers."""
    found = VerdictList(lines(documents)).parts()
    assert sorted(row.link for each in found for row in each.lines) == sorted(
        f"{name}/report.html" for name in documents
    )
    assert found[0].heading == "Not as expected"
    assert not any(row.as_expected for row in found[0].lines)
    assert all(row.as_expected for each in found[1:] for row in each.lines)


def test_a_flag_is_said_once(documents: dict[str, Document]) -> None:
    """A flag of the verdict that is a caution, too, or is there for several parts."""
    for each in lines(documents):
        said = (*each.fragile, *each.cautions)
        assert len(said) == len({*said})


def test_nothing_is_in_every_row(documents: dict[str, Document]) -> None:
    """What all lines have alike is said once, above them, and no strip without a past."""
    text = index(lines(documents, "mos_rank", "plif"))
    (said,) = {line(documents[name]).since for name in ("mos_rank", "plif")}
    assert text.count("since ") == 0
    assert "Since " in text, said
    assert text.count("at quick scale") == 1
    assert 'role="img"' not in text
    mixed = [line(documents["mos_rank"]), line(with_nights(documents["plif"]))]
    assert index(mixed).count('role="img"') == 2
    assert index(mixed).count("since ") == 2


def test_a_strip_says_nothing_of_days_without_a_verdict(documents: dict[str, Document]) -> None:
    """Neither before the first one, nor after the last."""
    row = line(with_nights(documents["plif"]))
    last = datetime.fromisoformat(row.checked)
    days = strip(row, last + timedelta(days=2))
    assert len(days) == DAYS
    assert [day.word for day in days[-2:]] == ["", ""]
    assert days[-3].word == "CONTRADICTED"
    assert {day.word for day in days} == {"", "CONFIRMED", "CONTRADICTED"}


def test_what_was_postponed_is_said_with_its_claim(documents: dict[str, Document]) -> None:
    """And in the summary once more, apart."""
    document = documents["mos_rank"]
    why = "MoS, seed 3: not started: the budget of 2 h was spent"
    provenance = document.provenance.model_copy(update={"postponed": (why,)})
    late = document.model_copy(update={"provenance": provenance})
    assert index([line(late)]).count(why) == 1


def test_false_confirmations_to_expect(documents: dict[str, Document]) -> None:
    """Claims that are judged each by itself may err together; one alone says nothing of it."""
    several = lines(documents)
    assert sum(each.chance > 0 for each in several) > 1
    assert "to come out as CONFIRMED" in chance(several)
    assert chance(several[:1]) == ""


def test_what_a_page_says_first(documents: dict[str, Document]) -> None:
    assert VerdictList([]).total() == "0 verdicts."
    assert VerdictList(lines(documents, "plif")).total(2) == (
        "0 not as expected, 2 not judged, of 1 verdict: 1 CONTRADICTED."
    )


def test_the_page_is_read_back(night: Night, tmp_path: Path) -> None:
    """What the index takes is in report.json: the same page without the claims and the store."""
    night(0)
    before = (tmp_path / "reports" / "index.html").read_bytes()
    shown = [
        line(read_document(path), f"{path.parent.relative_to(tmp_path / 'reports')}/report.html")
        for path in (tmp_path / "reports").glob("*/*/report.json")
    ]
    assert index(shown).encode() == before
