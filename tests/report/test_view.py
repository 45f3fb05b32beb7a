from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from repro.judging.document import AuthorPart, CostPart, Document, FlagPart, ParametersOfPart
from repro.judging.document_parts import RegistrationPart
from repro.report.blocks import Paragraph, StatementBlock, TableBlock
from repro.report.view import view
from tests.report.judgements import registration

GOLDEN = Path(__file__).parent / "golden" / "mos_rank.view.json"


def golden_text(document: Document) -> str:
    return json.dumps(asdict(view(document)), indent=1, ensure_ascii=False) + "\n"


def test_golden_view(documents: dict[str, Document]) -> None:
    """The view of mos_rank is the one that was read and found good, to the letter."""
    assert golden_text(documents["mos_rank"]) == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "words", "tone"),
    [
        ("plain_confirmed", "Confirmed at quick scale", "good"),
        ("mos_rank", "Confirmed at quick scale, but fragile", "warn"),
        ("plif", "Contradicted at quick scale", "bad"),
        ("fair_mos", "Inconclusive at quick scale", "plain"),
        ("trivial", "Real, but trivial at quick scale", "warn"),
        ("invalid", "Invalid: this evidence cannot be judged", "bad"),
        ("incomplete", "Incomplete: runs are missing", "plain"),
        ("stale", "Stale: the runs are of an older version", "plain"),
        ("not_comparable",
         "Not comparable: the arms differ too much", "plain"),
    ],
)  # fmt: skip
def test_headline(name: str, words: str, tone: str, documents: dict[str, Document]) -> None:
    """Each verdict has its words and tone; confirmed with a flag is amber, never green."""
    verdict = view(documents[name]).verdict
    assert (verdict.word, verdict.tone) == (words, tone)


def test_a_claim_written_from_its_results_is_never_green(documents: dict[str, Document]) -> None:
    """Its conclusion is what the results suggested: amber, exploratory, and nobody's claim."""
    document = documents["plain_confirmed"]
    own = "exploratory: not declared beforehand, but written when the results were there"
    claim = document.claim.model_copy(update={"source": AuthorPart(own=own)})
    registered = RegistrationPart(**registration("exploratory") | {"edits": ()})
    shown = view(document.model_copy(update={"claim": claim, "registration": registered}))
    assert shown.verdict.word == "Exploratory: these results agree with the claim"
    assert shown.verdict.tone == "warn"
    assert shown.citation == f"{own[0].upper()}{own[1:]}."


def test_icons_differ(documents: dict[str, Document]) -> None:
    """Verdicts of one tone have different icons, so that colour is never alone."""
    badges = {view(document).verdict for document in documents.values()}
    by_tone = {(badge.tone, badge.icon): badge.word.split()[0] for badge in badges}
    assert len({badge.icon for badge in badges}) >= 7
    assert len(by_tone) >= 8


def test_order_of_reading(documents: dict[str, Document]) -> None:
    """Folded sections come in the reader's order."""
    sections = view(documents["mos_rank"]).sections
    assert [section.id for section in sections] == [
        "steps", "numbers", "expectations", "robustness", "published", "method", "tests",
        "settings", "runs", "provenance",
    ]  # fmt: skip


def test_context_is_not_counted(documents: dict[str, Document]) -> None:
    """Expectations that are context stand last and say so."""
    section = next(s for s in view(documents["fair_mos"]).sections if s.id == "expectations")
    roles = [block.role for block in section.blocks if isinstance(block, StatementBlock)]
    assert roles == ["decides", "context, not counted", "context, not counted"]


def test_conjunction_draws_a_row_each(documents: dict[str, Document]) -> None:
    """Every decisive expectation has a row, and rows of one unit share an axis."""
    parts = view(documents["plif"]).parts
    assert parts is not None
    (group,) = parts.groups
    assert group.name == "difference in perplexity"
    assert [(row.found, row.interval, row.badge.word) for row in group.rows] == [
        ("0.00", "−0.09 to +0.09 (90%)", "confirmed"),
        ("+4.41", "+4.30 to +4.52 (95%)", "confirmed"),
        ("+0.51", "+0.40 to +0.62 (95%)", "contradicted"),
    ]


def test_nothing_ran(documents: dict[str, Document]) -> None:
    """Without any run there is no picture, and the report says why."""
    figure = view(documents["incomplete"]).figure
    assert isinstance(figure, Paragraph)
    assert "no run has been measured" in figure.text.lower()


def test_left_out_names_the_seed(documents: dict[str, Document]) -> None:
    """Where leaving out a seed changes the conclusion, the seed is named."""
    text = golden_text(documents["mos_rank"])
    assert "CONFIRMED 4 of 5 times; INCONCLUSIVE 1 of 5 times (without seed 1)" in text


def test_unexpected_verdict_is_marked(documents: dict[str, Document]) -> None:
    """A conclusion other than the declared one is said below it, once."""
    words = [chip.badge.word for chip in view(documents["thirty_seeds"]).chips]
    assert words.count("not as expected: CONFIRMED was") == 1
    assert not any("expect" in chip.badge.word for chip in view(documents["mos_rank"]).chips)


def test_valid_evidence_says_what_was_checked(documents: dict[str, Document]) -> None:
    """So many runs, and the controls."""
    one = documents["mos_rank"]
    silent = one.model_copy(
        update={"verdict": one.verdict.model_copy(update={"validity_reason": ""})}
    )
    said = view(silent).chips[0].badge.word
    assert said == "valid, 15 of 15 runs finished; both controls passed"


def test_a_chip_for_each_kind_of_flag_and_the_full_text_in_a_fold(
    documents: dict[str, Document],
) -> None:
    """However many flags it has."""
    one = documents["mos_rank"]
    flags = [
        *one.verdict.flags,
        *one.verdict.flags,
        FlagPart(kind="rounding", text="it could turn"),
    ]
    twice = one.model_copy(
        update={"verdict": one.verdict.model_copy(update={"flags": tuple(flags)})}
    )
    shown = view(twice)
    assert [chip.badge.word for chip in shown.chips if chip.label == "Flag"] == [
        "another threshold would change it", "rounding of printed numbers could change it",
    ]  # fmt: skip
    fold = next(section for section in shown.sections if section.id == "robustness")
    told = [(b.lead, b.text) for b in fold.blocks if isinstance(b, Paragraph)]
    assert told[:2] == [
        ("Tolerance:", one.verdict.flags[0].text), ("Rounding:", "It could turn."),
    ]  # fmt: skip


def test_provenance_is_all_that_time_changes(documents: dict[str, Document]) -> None:
    """Two documents that differ in provenance have the same verdict, numbers and figures."""
    one = documents["mos_rank"]
    moved = one.provenance.model_copy(update={"created": "2031-01-01T00:00:00Z", "cores": 64})
    first, second = view(one), view(one.model_copy(update={"provenance": moved}))
    assert first.figures() == second.figures()
    assert first.sections[:-1] == second.sections[:-1]


def test_order_of_keys_means_nothing(documents: dict[str, Document]) -> None:
    """Equal documents have equal views, whatever order their mappings were written in."""
    one = documents["mos_rank"]
    arms = [a.model_copy(update={"training": dict(reversed(a.training.items()))}) for a in one.arms]
    other = one.model_copy(update={"arms": tuple(arms)})
    assert other == one
    assert view(other) == view(one)


def test_parameters_by_part(documents: dict[str, Document]) -> None:
    """A row per part, a dash where an arm lacks it, and the sums; none where nothing is known."""

    def tables(document: Document) -> list[TableBlock]:
        section = next(each for each in view(document).sections if each.id == "settings")
        blocks = [each for each in section.blocks if isinstance(each, TableBlock)]
        return [each for each in blocks if each.caption == "Parameters by part"]

    document = documents["mos_rank"]
    assert tables(document) == []
    parts: tuple[dict[str, int], ...] = (
        {"recurrent layers": 100_000, "decoder bias": 2_760},
        {},
        {"mixture weights": 7},
    )
    counted = [
        tuple(ParametersOfPart(part=name, parameters=number) for name, number in each.items())
        for each in parts
    ]
    arms = tuple(
        arm.model_copy(update={"parameters_by_part": each})
        for arm, each in zip(document.arms, counted, strict=True)
    )
    (table,) = tables(document.model_copy(update={"arms": arms}))
    assert table.rows == (
        ("recurrent layers", "100,000", "–", "–"),
        ("decoder bias", "2,760", "–", "–"),
        ("mixture weights", "–", "–", "7"),
        ("all", "102,760", "214,432", "214,432"),
    )


def test_costs_are_told_with_the_machine(documents: dict[str, Document]) -> None:
    """In Provenance, with ratios to the least; columns of which nothing is known are left out."""

    def tables(document: Document) -> list[TableBlock]:
        section = next(each for each in view(document).sections if each.id == "provenance")
        return [each for each in section.blocks if isinstance(each, TableBlock)]

    document = documents["mos_rank"]
    assert tables(document) == []
    nothing: dict[str, Any] = {"seconds_per_epoch": None, "tokens_per_second": None}
    costs = (
        CostPart(arm="softmax", runs=0, flops=1e6, peak_memory=None, **nothing),
        CostPart(arm="mos", runs=0, flops=2.5e6, peak_memory=None, **nothing),
    )
    provenance = document.provenance.model_copy(update={"costs": costs})
    (table,) = tables(document.model_copy(update={"provenance": provenance}))
    assert [column.label for column in table.columns] == [
        "Arm", "FLOPs a token", "FLOPs, times the least",
    ]  # fmt: skip
    assert table.rows == (("Softmax", "1,000,000", "1.00"), ("MoS, K = 4", "2,500,000", "2.50"))
    timed = {"seconds_per_epoch": 8.25, "tokens_per_second": 4000.0, "peak_memory": 512_000_000}
    costs = (costs[0], costs[1].model_copy(update=timed))
    provenance = document.provenance.model_copy(update={"costs": costs})
    (table,) = tables(document.model_copy(update={"provenance": provenance}))
    assert table.rows[1] == ("MoS, K = 4", "2,500,000", "2.50", "8.25", "4,000", "512")
