"""Of which methods of a printed table the text says how many runs they are of."""

from __future__ import annotations

import pytest

from repro.errors import SpecError
from tests.audit.printed import audited, rows_of, welch

OURS = "Our results are over five runs (mean ± std)."


def table(said, names=("Base", "MAML", "Ours")):
    rows = zip(names, ("90.1 ± 0.6", "91.0 ± 0.5", "92.0 ± 0.4"), strict=True)
    body = "".join(f"| {name} | {value} |\n" for name, value in rows)
    return f"{said}\n\n| Method | Acc |\n|---|---|\n{body}"


@pytest.mark.parametrize(
    "said",
    [
        f"Baselines as reported in Smith et al. {OURS}",
        f"{OURS} The numbers of other methods are taken from their papers.",
        f"Results of prior work are from the original papers. {OURS}",
    ],
)
def test_n_of_our_runs_is_not_that_of_numbers_from_elsewhere(tmp_path, said):
    rows, told = audited(tmp_path, table(said))
    assert "n = 5 is taken for Ours alone: other numbers are as reported elsewhere." in told
    assert {row.answer for row in rows.values()} == {"cannot say"}
    details = rows["Ours vs Base, Acc"].details
    assert details["p_sd_n_3"] == pytest.approx(welch((92.0, 0.4, 5), (90.1, 0.6, 3)))
    (first, second) = audited(tmp_path, table(said), n=3)[0].values()
    assert first.p_welch == pytest.approx(welch((92.0, 0.4, 5), (91.0, 0.5, 3)))
    assert second.p_welch == pytest.approx(welch((92.0, 0.4, 5), (90.1, 0.6, 3)))


def test_n_is_not_that_of_methods_with_the_mark_of_other_papers(tmp_path):
    said = "Mean ± std over five runs. † results taken from Smith et al."
    rows, told = audited(tmp_path, table(said, ("Base†", "MAML", "Mine")))
    assert "n = 5 is taken for MAML, Mine alone" in told
    details = rows["Mine vs MAML, Acc"].details
    assert details["p_sd_n_3"] == pytest.approx(welch((92.0, 0.4, 5), (91.0, 0.5, 5)))


def test_n_is_of_all_where_nothing_is_from_elsewhere_and_of_none_where_ours_are_not_named(tmp_path):
    rows, told = audited(tmp_path, table(OURS))
    assert rows["Ours vs Base, Acc"].p_welch == pytest.approx(welch((92, 0.4, 5), (90.1, 0.6, 5)))
    assert "n = 5, as the text" in told
    said = f"Baselines as reported in Smith et al. {OURS}"
    assert "n = 5 is not taken" in audited(tmp_path, table(said, ("A", "B", "C")))[1]


def test_a_deviation_may_be_over_n_where_that_alone_changes_the_answer(tmp_path):
    head = "mean ± {} over 4 seeds\n\n| Method | Acc |\n|---|---|\n| Base | 90.10 ± 0.60 |\n"
    by_n = (4 / 3) ** 0.5
    plain = welch((91.12, 0.5, 4), (90.1, 0.6, 4))
    assert plain < 0.05 < welch((91.12, 0.5 * by_n, 4), (90.1, 0.6 * by_n, 4))
    text = head + "| Ours | {} ± 0.50 |\n"
    (row,) = audited(tmp_path, text.format("std", "91.12"))[0].values()
    assert (row.answer, row.p_welch) == ("cannot say", pytest.approx(plain))
    assert row.reason.endswith("; if deviations are over n and not n - 1 (numpy): no")
    for said in ("std (ddof=1)", "sample standard deviation", "standard error"):
        (row,) = audited(tmp_path, text.format(said, "91.12"))[0].values()
        assert "numpy" not in row.reason
    for mean, answer in (("92.12", "holds"), ("90.40", "does not")):
        (row,) = audited(tmp_path, text.format("std", mean))[0].values()
        assert (row.answer, "numpy" in row.reason) == (answer, False)


@pytest.mark.parametrize("head", ["seed_count", "num_seeds", "No. of trials", "n_seeds"])
def test_a_column_of_numbers_of_runs_goes_by_many_names(tmp_path, head):
    text = f",{head},reward_mean,reward_std\nppo,5,2100.5,300.2\nsac,6,3100.1,150.7\n"
    (row,) = audited(tmp_path, text)[0].values()
    assert row.p_welch == pytest.approx(welch((3100.1, 150.7, 6), (2100.5, 300.2, 5)))
    _, told = audited(tmp_path, text.replace(head, "episodes"), n=5)
    assert "Left unread: episodes" in told


def test_n_stands_in_each_cell(tmp_path):
    """Of that cell alone."""
    cells = ["4.9 ± 1.8 (n=30)", "4.2 ± 1.6 (n = 9)"]
    p = welch((4.9, 1.8, 30), (4.2, 1.6, 9))
    head = "Mean ± SD. Two-sided Welch t-tests.\n\n| Marker | Patients | Controls | P |\n"
    text = f"{head}|---|---|---|---|\n| IL-6 | {cells[0]} | {cells[1]} | {{}} |\n"
    for printed, answer in ((f"{p:.3f}", "holds"), ("0.04", "does not")):
        (row,) = rows_of(tmp_path, text.format(printed))
        assert row.answer == answer
    with pytest.raises(SpecError, match=r"write its n as in 93.4±0.2 \(n=30\)"):
        rows_of(tmp_path, text.replace("n=", "").replace("n = ", "").format(".12"))
