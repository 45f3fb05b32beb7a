from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from repro.judging.document import Document
from repro.report.blocks import (
    DotPlot,
    Figure,
    LooksPlot,
    Pairs,
    Paragraph,
    Section,
    SpecificationPlot,
    StatementBlock,
    TableBlock,
)
from repro.report.junit import junit
from repro.report.markdown import summary
from repro.report.view import view
from repro.schema.numbers import unbroken
from tests.report.documents import PPL, arm, base, make
from tests.report.judgements import registration

MERGED = {
    "registration": "method", "family": "method", "design": "tests", "analyses": "robustness",
    "all-looks": "looks",
}  # fmt: skip
"""What stands in a fold with something else."""


def section(document: Document, name: str) -> Section:
    return next(one for one in view(document).sections if one.id == MERGED.get(name, name))


def main_plot(document: Document) -> DotPlot:
    figure = view(document).figure
    assert isinstance(figure, Figure)
    assert isinstance(figure.plot, DotPlot)
    return figure.plot


def table(shown: Section, words: str) -> TableBlock:
    return next(b for b in shown.blocks if isinstance(b, TableBlock) and words in b.caption)


def said(shown: Section) -> str:
    return " ".join(f"{b.lead} {b.text}" for b in shown.blocks if isinstance(b, Paragraph))


def test_order_of_reading(documents: dict[str, Document]) -> None:
    """Everything but what decides waits in folds, in this order."""
    assert [one.id for one in view(documents["everything"]).sections] == [
        "steps", "numbers", "expectations", "robustness", "looks", "published", "method", "tests",
        "settings", "runs", "provenance",
    ]  # fmt: skip


def test_empty_parts_say_nothing() -> None:
    """A document without these parts has none of their sections, chips or pictures."""
    shown = view(make())
    new = {"design", "looks", "registration", "family", "all-looks"}
    assert not new & {one.id for one in shown.sections}
    assert [figure.name for figure in shown.figures()] == ["main", "curves", "spectra"]
    assert [chip.label for chip in shown.chips] == ["Validity", "Agreement with the paper", "Flag"]


def test_the_declared_analysis_is_first(documents: dict[str, Document]) -> None:
    """The specification curve begins with the declared analysis, which alone is marked."""
    figures = view(documents["everything"]).figures()
    plot = next(one.plot for one in figures if one.name == "analyses-1")
    assert isinstance(plot, SpecificationPlot)
    assert [row.declared for row in plot.rows] == [True] + [False] * 7
    assert [row.word for row in plot.rows][:3] == ["CONFIRMED", "CONFIRMED", "refused"]
    assert [row.note for row in plot.rows][:3] == ["", "in other units", "cannot be made"]


def test_what_other_analyses_conclude(documents: dict[str, Document]) -> None:
    """The section counts the analyses that agree, and names those that do not."""
    text = said(section(documents["everything"], "robustness"))
    assert (
        "5 of 7 other analyses conclude CONFIRMED, as the declared one does; 1 concludes "
        "INCONCLUSIVE (at ten times Press's threshold); 1 cannot be made (Yuen's test" in text
    )


def test_many_analyses_wait_in_a_fold(documents: dict[str, Document]) -> None:
    """Every table of analyses is there, however short or long."""
    fold = section(documents["watched"], "analyses")
    assert len(table(fold, "all 60 analyses").rows) == 60
    assert len(table(section(documents["everything"], "analyses"), "all 8 analyses").rows) == 8


def test_refusals_are_given_in_full(documents: dict[str, Document]) -> None:
    """The table says why an analysis could not be made."""
    rows = table(section(documents["everything"], "analyses"), "all 8 analyses").rows
    assert rows[2][-1] == "refused: five seeds leave three after trimming; four are needed"
    assert rows[2][2:5] == ("–", "–", "–")


def test_decisive_points_are_the_main_picture(documents: dict[str, Document]) -> None:
    """A decisive association is drawn as points instead of dots; one of context below its text."""
    plot = main_plot(documents["associated"])
    assert plot.panels == ()
    assert [len(group.hollow) for group in plot.scatters[0].groups] == [0, 0, 2]
    assert len({(g.key.colour, g.key.shape) for g in plot.scatters[0].groups}) == 3
    blocks = section(documents["associated"], "expectations").blocks
    assert [type(block) for block in blocks] == [StatementBlock, StatementBlock, Figure]


def test_arms_in_the_declared_order(documents: dict[str, Document]) -> None:
    """A trend shows its arms in the order that was declared, each in its own colour."""
    rows = main_plot(documents["ordered"]).panels[0].rows
    assert [row.label for row in rows] == ["Softmax (K = 1)", "MoS, K = 4", "MoS, K = 15"]
    assert [row.colour for row in rows] == ["arm-2", "arm-3", "arm-1"]


def test_scales_have_their_axes(documents: dict[str, Document]) -> None:
    """Shares run from 0 to 1, differences as far as they go; relative ones are in per cent."""
    parts = view(documents["ordered"]).parts
    assert parts is not None
    rows = [row.axis for group in parts.groups for row in group.rows]
    axes = [axis for axis in rows if axis is not None]
    spans = sorted((str(one.span), one.percent) for one in axes)
    assert spans == [("(0.0, 1.0)", True)] * 3 + [("None", False), ("None", True)]
    assert "margin, −1%" in {limit.label for one in axes for limit in one.limits}


def test_wins_and_losses(documents: dict[str, Document]) -> None:
    """The sides of a proportion are named with their counts."""
    sides = main_plot(documents["ordered"]).effects[0].sides
    assert [side.label for side in sides] == ["MoS, K = 15 ahead: 8", "Softmax (K = 1) ahead: 3"]


def test_looks(documents: dict[str, Document]) -> None:
    """Sixty looks have two panels, their crossing, and a sentence that counts them."""
    shown = section(documents["watched"], "looks")
    (figure,) = view(documents["watched"]).more
    assert isinstance(figure.plot, LooksPlot)
    evidence, effect = figure.plot.panels
    assert (evidence.scale, len(evidence.values), evidence.values[0]) == ("log", 60, None)
    assert effect.intervals[0] == (None, None)
    assert evidence.crossing is not None
    assert evidence.crossing.label == "decided with 34 seeds"
    text = said(shown)
    assert "It was looked at 60 times, with 3 to 62 seeds per arm." in text
    assert "It was looked at 3 times, with 5 to 15 seeds per arm." in text
    assert "It has not been looked at yet." in text
    assert "found in 12 of them (20%; the rate lies between 11% and 32%)" in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("everything", ["edited after results were visible", "too few seeds"]),
        ("ordered", ["declared after results were visible"]),
        ("watched", ["edited after results were visible",
                     "differences where there are none, too often"]),
        ("associated", []),
    ],
)  # fmt: skip
def test_cautions(name: str, words: list[str], documents: dict[str, Document]) -> None:
    """What a reader must know of the judgement stands beside the verdict, and in the summary."""
    shown = [chip.badge.word for chip in view(documents[name]).chips]
    cautions = ("edited", "declared after", "too few seeds", "differences where")
    assert [word for word in shown if word.startswith(cautions)] == words
    assert all(word in summary([documents[name]]) for word in words)


def test_late_changes_come_first(documents: dict[str, Document]) -> None:
    """A change after results were visible leads its section, and names the fields."""
    late = "Changed after results were visible:"
    blocks = section(documents["everything"], "registration").blocks
    shown = next(b for b in blocks if isinstance(b, Paragraph) and b.lead == late)
    assert shown.text.startswith("alpha, arms.mos.model.output.experts.")
    rows = table(section(documents["everything"], "registration"), "Changes").rows
    assert [row[2] for row in rows] == [
        "before any result was visible", "after results were visible",
    ]  # fmt: skip


def test_other_versions_were_seen() -> None:
    """What was seen under other versions is told, whether the claim is sequential or not."""
    for earlier, words in ((1, "1 other version of this claim was"), (2, "2 other versions")):
        part = registration("after", (["alpha"], True), earlier=earlier)
        shown = said(section(make(registration=part), "registration"))
        assert words in shown
        assert "seeds that had been seen are looked at again" in shown


@pytest.mark.parametrize(
    ("values", "note"),
    [([34.0] * 3, "34 in all 3 seeds"), ([34.0, 34.1, 34.2], "34 ± 0.1, 3 seeds")],
)
def test_only_equal_values_are_called_alike(values: list[float], note: str) -> None:
    """Seeds that differ by less than a printed digit are not said to be the same."""
    measurements = [{**one, "digits": 0} for one in base()["measurements"]]
    one = arm("moc", "MoC", {PPL: values})
    result = {**base()["results"][0], "measurement": PPL, "scale": "difference", "arms": ["moc"]}
    document = make(measurements=measurements, arms=[one], results=[result])
    assert main_plot(document).panels[0].rows[0].note == note


def test_design(documents: dict[str, Document]) -> None:
    """A design says what it could find in units of the effect, and why it cannot decide."""
    shown = section(documents["everything"], "design")
    assert table(shown, "plan alone").rows == (
        (
            "Rank of MoS / rank of MoC",
            "5",
            "0.018 and 0.0020",
            "a ratio of 20",
            "81%",
            "11.8 times",
            "5",
            "7",
        ),
        ("Separated", "3", "–", "0.3", "–", "–", "–", "–"),
    )
    assert "Separated cannot be decided by this design: Three seeds" in said(shown)
    assert table(section(documents["ordered"], "design"), "plan alone").rows[0][4:6] == (
        "2.7%", "2.1%",
    )  # fmt: skip


def test_family(documents: dict[str, Document]) -> None:
    """The family shows p-values, or e-values, and which of its claims is this one."""
    rows = table(section(documents["everything"], "family"), "e-BH").rows
    assert rows[0] == ("mos_rank (this one)", "judged", "412", "103")
    assert rows[3][1:] == ("not yet judged", "–", "–")
    heads = [c.label for c in table(section(documents["associated"], "family"), "Hochberg").columns]
    assert heads[2:] == ["p", "p in the family"]


def test_replication(documents: dict[str, Document]) -> None:
    """Every measure of replication that exists has a row, and those that do not have none."""
    rows = table(section(documents["everything"], "published"), "repeat").rows
    cells = {row[0]: row[1] for row in rows}
    assert cells["Where a repetition should land"] == "18.2 to 69.9 times"
    assert cells["Ours as a multiple of the printed effect"] == "0.880 (0.810 to 0.970)"
    assert "Ours below that (small telescopes)" not in cells
    watched = table(section(documents["watched"], "published"), "repeat").rows
    assert not any(row[0].startswith("Sceptical") for row in watched)
    assert "Ours lies outside it" in watched[2][2]


def test_levels(documents: dict[str, Document]) -> None:
    """Where a test loses its level, the finding that used it says so, and no other."""
    blocks = section(documents["everything"], "tests").blocks
    pairs = [dict(block.pairs) for block in blocks if isinstance(block, Pairs)]
    texts = [one.get("Level", "") for one in pairs]
    assert texts[0].startswith("This test loses its level here: false CONFIRMED in 6.1%")
    assert texts[1:] == ["", ""]


def test_a_level_is_named_after_nothing_that_a_program_says(
    documents: dict[str, Document],
) -> None:
    """`tost` and `magnitude` are words of the program; what joins several tests has its name."""
    document = documents["everything"]
    (level,) = document.levels
    levels = (level.model_copy(update={"test": "tost"}), level.model_copy(update={"test": "holm"}))
    blocks = section(document.model_copy(update={"levels": levels}), "tests").blocks
    (named,) = [
        [name for name, _ in block.pairs if name.startswith("Level")]
        for block in blocks
        if isinstance(block, Pairs) and any(name == "Level" for name, _ in block.pairs)
    ]
    assert named == ["Level", "Level of Holm's method"]


def test_what_concludes_nothing_says_so() -> None:
    """A rule that only repeats the paper's has no conclusion; `none` would be a strange one."""
    result = base()["results"][0] | {"conclusion": None, "strength": None}
    blocks = section(make(results=[result]), "expectations").blocks
    assert [each.badge.word for each in blocks if isinstance(each, StatementBlock)] == [
        "no conclusion"
    ]


def test_build_servers_are_told(documents: dict[str, Document]) -> None:
    """The cases of a build say what was changed, how analyses agree and how often was looked."""
    suite = ET.fromstring(junit(documents["watched"]))[0]
    said = [case.findtext("system-out") or "" for case in suite.findall("testcase")]
    assert "Claim: edited after results were visible" in said[0]
    assert "56 of 59 other analyses conclude CONFIRMED" in said[2]
    assert "It was looked at 60 times" in said[2]
    assert unbroken("This test loses its level here: 6.3% at n = 3.") in said[2]


def test_exact_statements_are_shares() -> None:
    """The effect of a separation is the share of its pairs."""
    results = base()["results"]
    results[2] |= {"effect": 1.0, "effect_label": "share of pairs"}
    blocks = section(make(results=results), "tests").blocks
    shown = [dict(block.pairs) for block in blocks if isinstance(block, Pairs)]
    assert shown[2]["Share of pairs"] == "100%"
