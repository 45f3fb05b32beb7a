"""The audit of the shipped tables finds, from their numbers alone, what is known of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from repro.audit.audit import audit_paths
from repro.audit.audit_file import load_audit
from repro.audit.comparison import Audited, Grade
from repro.audit.correlations import turned_points
from repro.schema.yaml import read_document

PUBLISHED = Path(__file__).parents[2] / "claims" / "published"
FILES = sorted(PUBLISHED.glob("*.yaml"))
AUDITS = {Path(audit.source).stem: audit for audit in audit_paths([PUBLISHED])}
ROWS = {name: {row.id: row for row in audit.rows} for name, audit in AUDITS.items()}
P_VALUES = "parthiban2021_p_values"

# facts.md 6.4: printed p, Student's p of the rounded numbers, its interval over all rounding,
# and Welch's p; every number to the digits given there.
ELEVEN = {
    "ptb_ss": ("3.92e-1", "3.92e-1", ".288", ".508", "3.94e-1"),
    "ptb_gss": ("2.62e-1", "2.62e-1", ".176", ".367", "2.63e-1"),
    "ptb_lms_plif": ("1.91e-5", "1.91e-5", "6.7e-6", "5.1e-5", "1.98e-5"),
    "ptb_mos": ("2.02e-15", "2.02e-15", "1.2e-15", "3.3e-15", "1.89e-11"),
    "wt2_ss": ("3.46e-4", "3.46e-4", "1.7e-4", "6.6e-4", "6.89e-4"),
    "wt2_gss": ("2.74e-2", "2.74e-2", ".0141", ".0494", "2.89e-2"),
    "wt2_lms_plif": ("2.98e-7", "2.98e-7", "1.3e-7", "6.5e-7", "1.87e-6"),
    "wt2_mos": ("2.04e-13", "2.04e-13", "1.5e-13", "2.7e-13", "4.41e-9"),
    "ptb_frozen": ("8.26e-1", "8.26e-1", ".645", "1", "8.27e-1"),
    "wt2_frozen": ("6.41e-2", "6.41e-2", ".0438", ".0905", "6.41e-2"),
    "ptb_fair": ("0.62", "0.389", ".301", ".484", "0.392"),
}


def found(file: str, name: str) -> Audited:
    return ROWS[file][name]


def prints(value: object, text: str) -> bool:
    """Whether a number is printed as the text when it is rounded to the text's digits."""
    digits = text.partition("e")[0].replace(".", "").lstrip("0")
    return float(f"{value:.{len(digits)}g}") == pytest.approx(float(text), rel=1e-9)


@pytest.mark.parametrize("name", ELEVEN)
def test_every_p_value_has_its_interval(name: str) -> None:
    """All eleven p-values: Student's, the interval over rounding, and Welch's."""
    printed, student, low, high, welch = ELEVEN[name]
    row = found(P_VALUES, name)
    assert row.p_printed == printed
    assert prints(row.p_student, student)
    assert prints(row.p_welch, welch)
    assert row.p_interval is not None
    assert prints(row.p_interval[0], low)
    assert prints(row.p_interval[1], high)


def test_ten_of_the_eleven_are_students_of_the_rounded_numbers() -> None:
    """One variant fits ten p-values, to every printed digit; 0.62 is the eleventh."""
    rows = [found(P_VALUES, name) for name in ELEVEN]
    assert {row.assumed for row in rows} == {"student two-sided ddof=1 n=10"}
    assert [row.id for row in rows if not row.equals_rounded] == ["ptb_fair"]


def test_a_p_of_062_does_not_follow_from_its_table() -> None:
    """No variant gives 0.62 from 56.39±0.19 and 56.45±0.10; the decision is the same."""
    row = found(P_VALUES, "ptb_fair")
    assert row.grade is Grade.INCONSISTENT
    assert row.matches == ()
    assert row.decision_survives_rounding is True


def test_only_one_decision_does_not_survive_rounding() -> None:
    """The interval of 6.41e-2 spans 0.05; that of no other p-value does."""
    fragile = [row.id for row in ROWS[P_VALUES].values() if row.grade is Grade.DECISION_FRAGILE]
    assert fragile == ["wt2_frozen"]
    row = found(P_VALUES, "wt2_frozen")
    assert row.decision_survives_rounding is False
    assert row.p_interval is not None
    assert row.p_interval[0] < 0.05 < row.p_interval[1]


def test_gss_on_wt2_fails_holm_over_the_eight() -> None:
    """0.0274 is 0.082 after Holm and 0.037 after Benjamini and Hochberg; no other changes."""
    family = [row for row in ROWS[P_VALUES].values() if row.family == "parthiban2021_table_2"]
    assert len(family) == 8
    changed = [
        row.id
        for row in family
        if row.holm is not None and float(row.p_printed or "nan") <= 0.05 < row.holm
    ]
    assert changed == ["wt2_gss"]
    row = found(P_VALUES, "wt2_gss")
    assert row.holm == pytest.approx(0.0274 * 3)
    assert row.bh == pytest.approx(0.0274 * 8 / 6)


def test_the_frozen_layer_differs_from_softmax() -> None:
    """No p is printed for it; Student's are 9e-6 and 4e-5 (facts.md 6.1 j)."""
    ptb, wt2 = (found(P_VALUES, f"{set_}_frozen_against_softmax") for set_ in ("ptb", "wt2"))
    assert ptb.grade is wt2.grade is Grade.NOT_CHECKABLE
    assert ptb.p_student == pytest.approx(9e-6, rel=0.01)
    assert wt2.p_student == pytest.approx(4e-5, rel=0.08)


def test_the_full_correlations_are_as_printed_or_truncated() -> None:
    """0.48 is r = 0.483, and 0.53 is r = 0.538 with its digits cut off."""
    ptb, wt2 = (found("parthiban2021_figure_2", name) for name in ("ptb", "wt2"))
    assert ptb.grade is Grade.CONSISTENT
    assert ptb.details["n"] == 70
    assert ptb.details["r"] == pytest.approx(0.483, abs=5e-4)
    assert ptb.details["spearman"] == pytest.approx(0.50, abs=5e-3)
    assert wt2.grade is Grade.CONSISTENT_IF
    assert wt2.condition == "r truncated"
    assert wt2.details["n"] == 35
    assert wt2.details["r"] == pytest.approx(0.538, abs=5e-4)
    assert wt2.details["spearman"] == pytest.approx(0.46, abs=7e-3)


def test_the_correlation_in_the_window_of_wt2_lost_its_sign() -> None:
    """Printed 0.21, the 26 points give -0.212: the other sign, and nothing significant."""
    row = found("parthiban2021_figure_2", "wt2_window")
    assert row.grade is Grade.INCONSISTENT
    assert row.details["sign_matches"] is False
    assert row.details["n"] == 26
    assert row.details["r"] == pytest.approx(-0.212, abs=1e-3)
    assert row.details["p"] == pytest.approx(0.30, abs=5e-3)
    assert row.matches
    assert all("sign dropped" in match for match in row.matches)
    assert row.details["predicted"] == pytest.approx(0.118, abs=5e-4)
    assert row.details["predicted_inside"] is True


def test_the_drop_on_ptb_is_what_the_window_alone_does() -> None:
    """The strict window has 50 points and r = 0.178, predicted 0.172; 52 points give 0.24."""
    row = found("parthiban2021_figure_2", "ptb_window")
    assert row.grade is Grade.CONSISTENT_IF
    assert row.condition == "points that round into it, r truncated"
    assert row.details["sign_matches"] is True
    strict = {"n": 50, "r": 0.178, "predicted": 0.172}
    rounded = {"rounded_edges_n": 52, "rounded_edges_r": 0.246, "rounded_edges_predicted": 0.197}
    for name, value in {**strict, **rounded}.items():
        assert row.details[name] == pytest.approx(value, abs=5e-4), name
    assert row.details["predicted_inside"] is True
    assert row.details["rounded_edges_predicted_inside"] is True


def test_the_shipped_points_are_the_printed_grids_less_three() -> None:
    """70 of 72 points on PTB, 35 of 36 on WT2, with the two that can be named."""
    spec, tables = load_audit(read_document(PUBLISHED / "parthiban2021_figure_2.yaml"))
    named = {"ptb": (8989.0, -56.782), "wt2": (10145.0, -64.377)}
    for entry in spec.points:
        x, y = turned_points(entry, tables[entry.file or ""])
        assert named[entry.id] in set(zip(x.values, y.values, strict=True))


def test_the_gain_of_mos_in_table_1_follows_from_nothing() -> None:
    """1.28 is none of 1.99, 2.00, 2.17 and 2.20; it is within rounding of MoC's 1.29."""
    row = found("parthiban2021_table_1", "ours_mos")
    assert row.grade is Grade.INCONSISTENT
    assert row.matches == ()
    assert row.details["from_epoch_triggered"] == pytest.approx(1.99)
    assert row.details["from_non_monotone"] == pytest.approx(2.00)
    assert row.details["from_eleven_seeds"] == pytest.approx(2.17)
    assert row.details["nearest"] == row.details["confused_with"] == "moc_epoch_triggered"


def test_the_schedule_turns_the_sign_of_lms_plif() -> None:
    """0.43 is of ET-ASGD; by NT-ASGD LMS-PLIF is worse than Softmax by 0.38 (6.1 e)."""
    row = found("parthiban2021_table_1", "ours_lms_plif")
    assert row.condition == "epoch_triggered"
    assert row.details["signs_agree"] is False
    assert row.details["from_non_monotone"] == pytest.approx(-0.38)


def test_the_rank_of_mos_in_table_1_is_of_the_other_schedule() -> None:
    """9,979 and 580 and 4,979 stand in one row; only the first is not of ET-ASGD (6.2 a)."""
    names = ("rank_of_ss", "rank_of_lms_plif", "rank_of_mos", "reported_rank_of_mos")
    rows = [found("parthiban2021_table_1", name) for name in names]
    assert [row.grade is Grade.INCONSISTENT for row in rows] == [False, False, True, True]


CONFLICTS = {
    "parthiban2021_ranks": {
        "wt2_mos_non_monotone_rank": 14,
        "wt2_mos_non_monotone_train": 3.19,
        "wt2_test_contexts": 199,
    },
    "parthiban2021_mixtures": {"right_panel_first_rank": 14},
    "lim2018_table_1": {"moc_ptb": 0.30, "vocabulary": 450},
    "mos_of_one_component": {"rank": 2602},
    "yang2018_tables": {"rank_of_softmax": 2, "rank_of_moc": 2},
    "parthiban2021_table_1": {"reported_rank_of_mos": 1, "rank_of_mos": 4},
    "parthiban2021_figure_4": {},
    "parthiban2021_table_4": {},
}


@pytest.mark.parametrize("file", CONFLICTS)
def test_these_and_no_other_tables_disagree(file: str) -> None:
    """Numbers that are printed twice and differ, with their difference (facts.md 6.2)."""
    disagreeing = {
        row.id: row.details["difference"]
        for row in AUDITS[file].rows
        if row.kind == "same_quantity" and row.grade is Grade.INCONSISTENT
    }
    assert disagreeing == pytest.approx(CONFLICTS[file])


def test_every_printed_rank_of_a_softmax_is_beyond_the_stated_bound() -> None:
    """The bound d + 1 is stated, 402, 282 and 302 are printed, d + 2 each (facts.md 6.2 g)."""
    beyond = {
        row.id: set(row.details["beyond"])  # type: ignore[arg-type]
        for row in AUDITS["parthiban2021_ranks"].rows
        if row.kind == "bound" and row.details["beyond"]
    }
    assert beyond == {"softmax_400": {402}, "moc_280": {282}, "moc_300": {302}}
    assert found("yang2018_tables", "corollary").grade is Grade.CONSISTENT


def test_the_complexity_on_wt2_does_not_follow() -> None:
    """2.25e14 is not the product of the numbers beside it; 9e12 on PTB is (facts.md 6.2 h)."""
    assert found("lim2018_table_1", "complexity_wt2").grade is Grade.INCONSISTENT
    assert found("lim2018_table_1", "complexity_ptb").grade is Grade.CONSISTENT


def test_the_least_complexity_on_a_part_of_wt2_does_not_follow() -> None:
    """K = M and N > M give more than twice 33,728 cubed, and 3.6e13 is below once."""
    row = found("lim2018_table_1", "complexity_subset")
    assert row.grade is Grade.INCONSISTENT
    assert 3.6e13 < 33_728**3


def test_the_caption_of_lims_second_figure_is_against_the_table() -> None:
    """It has ranks 2 above ranks 1; the table prints 9,980 as rank1 and 1,445 as rank2."""
    row = found("lim2018_table_1", "caption")
    assert row.grade is Grade.INCONSISTENT
    assert row.details["beyond"] == (9980,)


def test_the_rank_that_kanai_reported_is_outside_the_spread_of_seeds() -> None:
    """4,640 is 5.6 sd below 5,113±85; no other single run is outside (facts.md 6.2 n)."""
    outside = {
        row.id: row.details["sd_away"]
        for audit in AUDITS.values()
        for row in audit.rows
        if row.kind == "single_run" and row.grade is not Grade.CONSISTENT
    }
    assert outside == pytest.approx({"reported_rank_of_ss": (4640 - 5113) / 85})


def test_eleven_seeds_are_the_ten_and_the_authors_run() -> None:
    """All means and deviations of Table 2 fit those of the supplement (facts.md 6.2 o)."""
    rows = [row for row in AUDITS["parthiban2021_table_2"].rows if row.kind == "pooled"]
    assert len(rows) == 10
    for row in rows:
        assert row.grade is Grade.CONSISTENT
        assert row.details["mean_fits"] is row.details["sd_fits"] is True


def test_the_counts_of_figure_4_follow_from_the_scores() -> None:
    """All 60 counts are those of the 13 benchmarks of the supplement (facts.md 4)."""
    for name in ("ptb_wins", "wt2_wins"):
        row = found("parthiban2021_figure_4", name)
        assert row.grade is Grade.CONSISTENT
        assert row.details["cells"] == row.details["exact"] == 30
        assert row.details["benchmarks"] == 13


# facts.md 6.2 k and 3.3: the printed rank and that of the digitised singular values.
SPECTRA = {
    "ptb_softmax": ("effective_1e-5", 335),
    "ptb_lms_plif": ("press", 407),
}


def test_two_of_forty_ranks_are_not_those_of_the_drawn_spectra() -> None:
    """580 for LMS-PLIF is 407 in the figure, and 306 for Softmax is 335; both on PTB."""
    rows = AUDITS["parthiban2021_table_6"].rows
    wrong = {
        row.id: (row.details["wrong"], row.details[str(row.details["wrong"])])
        for row in rows
        if row.grade is Grade.INCONSISTENT
    }
    assert len(rows) == 10
    assert wrong == SPECTRA


def test_more_mixtures_and_less_dropout_pull_apart() -> None:
    """Rank goes with better perplexity over K, and with worse over dropout, as stated."""
    signs = {"ptb_over_k": 1, "wt2_over_k": 1, "wt2_over_dropout": -1, "ptb_over_dropout": -1}
    for name, sign in signs.items():
        row = found("parthiban2021_mixtures", name)
        assert row.details["sign_matches"] is True
        assert float(row.details["r"]) * sign > 0.89  # type: ignore[arg-type]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_named_like_its_audit(path: Path) -> None:
    """The name in the file is the name of the file, and each is listed in the README."""
    assert load_audit(read_document(path))[0].audit == path.stem
    assert f"`{path.name}`" in (PUBLISHED / "README.md").read_text(encoding="utf-8")


def test_no_decision_is_the_contrary_of_what_is_printed() -> None:
    """The papers contradict themselves in numbers, not in a decision."""
    grades = [row.grade for audit in AUDITS.values() for row in audit.rows]
    assert Grade.DECISION_INCONSISTENT not in grades
    assert grades.count(Grade.DECISION_FRAGILE) == 1
