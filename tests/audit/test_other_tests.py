"""An audit accuses no honest test: ranks, permutations and pairs are not t-tests gone wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from repro.audit.audit import audit, audit_paths
from repro.audit.audit_file import TestName
from repro.audit.comparison import Audited, Grade, PrintedArm, PrintedComparison
from repro.errors import ClaimError, SpecError
from repro.evidence.published import PrintedNumber
from tests.audit.printed import audited, welch

Arrays = tuple[np.ndarray, np.ndarray]

ACCUSED = (Grade.DECISION_INCONSISTENT, Grade.INCONSISTENT)
EXACT = stats.PermutationMethod(n_resamples=10_000_000)

TESTS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "mann_whitney": lambda a, b: float(stats.mannwhitneyu(a, b).pvalue),
    "wilcoxon": lambda a, b: float(stats.wilcoxon(a, b).pvalue),
    "permutation": lambda a, b: float(stats.ttest_ind(a, b, method=EXACT).pvalue),
    "paired": lambda a, b: float(stats.ttest_rel(a, b).pvalue),
}


def pairs(generator: np.random.Generator, n: int) -> Arrays:
    """Two arms over the same seeds, with a correlation of about 0.8."""
    shared = generator.normal(0.0, 2.0, n)
    return 70 + shared + generator.normal(0, 1, n), 71 + shared + generator.normal(0, 1, n)


def printed(name: str, arms: Arrays, p: float, test: TestName | None = None) -> PrintedComparison:
    """A row as a paper prints it: two digits of means and deviations, three of p."""
    a, b = (PrintedArm.read(f"{x.mean():.2f}", f"{x.std(ddof=1):.2f}", len(x)) for x in arms)
    return PrintedComparison(name, a, b, PrintedNumber.read(f"{p:.3g}"), test=test)


def table(name: str, seed: int, test: TestName | None = None) -> tuple[Audited, ...]:
    """Six rows whose p-values are those of one test."""
    generator = np.random.default_rng(seed)
    rows = []
    for row in range(6):
        arms = pairs(generator, 6 + row % 2 * 2)
        rows.append(printed(f"row{row}", arms, TESTS[name](*arms), test))
    return audit(rows)


@pytest.mark.parametrize("name", list(TESTS))
def test_no_honest_table_is_accused(name: str) -> None:
    """Undeclared, the p of another test is no t-test's, and that is all that is said."""
    rows = [row for seed in range(6) for row in table(name, seed)]
    assert not [row for row in rows if row.grade in ACCUSED]
    assert sum(row.grade is Grade.NOT_BY_T_TEST for row in rows) >= 5


@pytest.mark.parametrize("name", ["mann_whitney", "wilcoxon", "permutation"])
def test_a_declared_test_of_values_cannot_be_checked(name: TestName) -> None:
    """The p of ranks and permutations is in no summary."""
    for row in table(name, 1, name):
        assert row.grade is Grade.NOT_CHECKABLE
        assert "needs the value of every seed" in row.findings[0]
        assert (row.assumed, row.p_interval) == (None, None)


def test_the_correlation_that_a_paired_test_needs_is_said() -> None:
    """It is about that of the arms, which the rounded summaries do not hold."""
    generator = np.random.default_rng(5)
    arms = pairs(generator, 10)
    truth = float(np.corrcoef(*arms)[0, 1])
    (row,) = audit([printed("row", arms, TESTS["paired"](*arms))])
    assert row.grade is Grade.NOT_BY_T_TEST
    found = re.search(r"would take a correlation (0\.\d\d) of the arms", row.findings[0])
    assert found is not None
    assert float(found[1]) == pytest.approx(truth, abs=0.03)


def test_a_p_below_the_least_of_an_exact_test_is_said() -> None:
    """Five against five values have 252 arrangements: none is rarer than 0.0079, two-sided."""
    arms = (PrintedArm.read("71.2", "1.4", 5), PrintedArm.read("69.9", "0.4", 5))
    row = PrintedComparison("x", *arms, PrintedNumber.read("0.003"), test="mann_whitney")
    (found,) = audit([row])
    assert found.grade is Grade.NOT_CHECKABLE
    assert "gives no p below 0.00794" in found.findings[1]


def test_pairs_need_arms_of_one_size() -> None:
    """Signed ranks too are of pairs."""
    arms = (PrintedArm.read("71.2", "1.4", 5), PrintedArm.read("69.9", "0.4", 6))
    with pytest.raises(ClaimError, match="arms of one size"):
        PrintedComparison("x", *arms, PrintedNumber.read("0.03"), test="wilcoxon")


def accuracies(
    mean: str, n: int, items: int, other: str = "90.00", samples: int | None = 1
) -> Audited:
    """The audit of a printed accuracy against another one that is possible."""
    sd = "0.5" if n > 1 else None
    arms = (PrintedArm.read(mean, sd, n), PrintedArm.read(other, sd, n))
    (row,) = audit([PrintedComparison("x", *arms, items=items, samples=samples)])
    return row


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("items", [10, 49])
def test_every_possible_accuracy_is_possible(n: int, items: int) -> None:
    """Every number of right answers, printed to two digits, passes; as a percentage or a share."""
    for right in range(n * items // 50, n * items + 1):
        share = right / (n * items)
        for mean in (f"{100 * share:.2f}", f"{share:.4f}"):
            assert accuracies(mean, n, items, mean).grade is Grade.NOT_CHECKABLE


@pytest.mark.parametrize("mean", ["0.0", "0.00", "100.0"])
def test_all_or_none_of_the_answers_may_be_right(mean: str) -> None:
    """A mean of 0, whose rounding reaches below it, was called impossible."""
    row = accuracies(mean, 3, 1319)
    assert not any(said.startswith(f"Mean {mean} of arm A") for said in row.findings)


@pytest.mark.parametrize(
    ("mean", "n", "items", "nearest"),
    [("93.47", 3, 100, ("93.3333", "93.6667")), ("71.1", 1 + 1, 10, ("70", "75"))],
)
def test_an_impossible_accuracy_is_inconsistent(
    mean: str, n: int, items: int, nearest: tuple[str, str]
) -> None:
    """No whole number of right answers gives it, and the nearest possible means are named."""
    row = accuracies(mean, n, items)
    assert row.grade is Grade.INCONSISTENT
    assert row.findings[0].startswith(f"Mean {mean} of arm A cannot be")
    assert all(end in row.findings[0] for end in nearest)
    assert "unless" not in row.findings[0]
    undeclared = accuracies(mean, n, items, samples=None)
    assert undeclared.grade is Grade.NOT_BY_COUNTS
    assert undeclared.findings[0].startswith(row.findings[0][:-1])
    assert ", unless a score is itself an average" in undeclared.findings[0]


@pytest.mark.parametrize(
    ("mean", "items"), [("28.8", 164), ("67.0", 164), ("79.8", 30), ("63.6", 30)]
)
def test_published_averages_of_samples_are_not_accused(mean: str, items: int) -> None:
    """Codex and GPT-4 on HumanEval, DeepSeek-R1 on AIME: of one model, of samples per problem."""
    row = accuracies(mean, 1, items, mean, samples=None)
    assert row.grade is Grade.NOT_BY_COUNTS
    assert "say how many `samples` an item has" in row.findings[0]
    sampled = accuracies(mean, 1, items, mean, samples=64)
    assert sampled.grade is Grade.NOT_CHECKABLE
    assert not any("cannot be" in said for said in sampled.findings)


def test_an_accuracy_beyond_all_answers_is_no_average_of_any_kind() -> None:
    assert accuracies("101.2", 1, 164, samples=None).grade is Grade.INCONSISTENT


def test_a_single_run_is_checked_by_its_items_alone(tmp_path: Path) -> None:
    """A t-test needs two; samples need the items of which they are."""
    header = "id,mean_a,sd_a,n_a,mean_b,sd_b,n_b,p,items,samples\n"
    path = tmp_path / "t.csv"
    path.write_text(header + "x,28.8,,1,67.1,,1,,164,1\n")
    (row,) = audit_paths([path])[0].rows
    assert row.grade is Grade.INCONSISTENT
    assert any("no p can be computed with fewer than two" in said for said in row.findings)
    path.write_text(header + "x,28.7,,1,67.1,,1,,164,1\n")  # 47 and 110 of 164
    (row,) = audit_paths([path])[0].rows
    assert row.findings[0].startswith("The means fit whole numbers of right answers, but one run")
    path.write_text(header + "x,28.8,,1,67.1,,1,,,4\n")
    with pytest.raises(SpecError) as caught:
        audit_paths([path])
    assert "column n_a: a test needs at least 2 replicates in each arm, not 1" in str(caught.value)
    path.write_text(header + "x,28.8,,2,67.1,,2,,,4\n")
    with pytest.raises(SpecError, match="column samples: samples are answers to each item"):
        audit_paths([path])


def printed_as(seeds: int, beside: str, rows: int = 8, p: str = "") -> tuple[Audited, ...]:
    """A table of Welch tests, what is printed beside its means, and a p that replaces the first."""
    generator = np.random.default_rng(seeds)
    factor = {"sd": 1.0, "se": seeds**-0.5, "ci": stats.t.ppf(0.975, seeds - 1) * seeds**-0.5}[
        beside
    ]
    made = []
    for index in range(rows):
        a, b = generator.normal(70, 1, seeds), generator.normal(69, 1, seeds)
        first, second = (
            PrintedArm.read(f"{x.mean():.2f}", f"{x.std(ddof=1) * factor:.2f}", seeds)
            for x in (a, b)
        )
        value = f"{stats.ttest_ind(a, b, equal_var=False).pvalue:.4f}"
        text = p if p and not index else value
        made.append(PrintedComparison(f"row_{index}", first, second, PrintedNumber.read(text)))
    return audit(made)


@pytest.mark.parametrize("seeds", [3, 5, 10])
@pytest.mark.parametrize(("beside", "words"), [("se", "standard errors"), ("ci", "95 % intervals")])
def test_standard_errors_printed_as_deviations_are_recognised(
    seeds: int, beside: str, words: str
) -> None:
    """Over the whole table: each row is consistent if they are that."""
    for row in printed_as(seeds, beside):
        assert row.grade in (Grade.CONSISTENT_IF, Grade.DECISION_FRAGILE)
        assert words in row.findings[0]
        assert row.grade is Grade.DECISION_FRAGILE or words in row.condition


@pytest.mark.parametrize("beside", ["sd", "se"])
def test_one_wrong_p_stays_what_it_is(beside: str) -> None:
    """No reading of the deviations explains it away."""
    (first, *rest) = printed_as(5, beside, p="0.5013")
    assert first.grade is Grade.NOT_BY_T_TEST
    assert not any("standard errors" in row.condition for row in rest)


def test_an_accuracy_over_many_items_says_nothing() -> None:
    """A hundredth of a per cent holds a multiple of 1 in 50,000 whatever it is."""
    row = accuracies("93.47", 5, 10_000, "90.00")
    assert row.grade is Grade.NOT_CHECKABLE
    assert any("its digits say nothing" in said for said in row.findings)


def test_a_table_names_its_test_set_and_its_test(tmp_path: Path) -> None:
    """By two optional columns; a bad cell is named by row and column."""
    header = "id,mean_a,sd_a,n_a,mean_b,sd_b,n_b,p,test,items\n"
    path = tmp_path / "t.csv"
    path.write_text(header + "x,93.47,0.5,3,90.00,0.5,3,0.01,mann-whitney,100\n")
    (found,) = audit_paths([path])
    assert found.rows[0].grade is Grade.NOT_BY_COUNTS
    path.write_text(header + "x,93.47,0.5,3,90.00,0.5,3,0.01,ranks,0\n")
    with pytest.raises(SpecError) as caught:
        audit_paths([path])
    assert "column test: 'ranks' is not known" in str(caught.value)
    assert "column items: '0' is not a number of items" in str(caught.value)


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    """Neither a table of a folder nor one that an audit names: its cells would be quoted."""
    secret = tmp_path / "secret.csv"
    secret.write_text("id,mean_a\nroot,hash\n")
    folder = tmp_path / "audits"
    folder.mkdir()
    (folder / "t.csv").symlink_to(secret)
    with pytest.raises(SpecError) as caught:
        audit_paths([folder])
    assert "leads out of the folder" in str(caught.value)
    assert "hash" not in str(caught.value)
    (folder / "a.yaml").write_text(
        "schema: 1\naudit: a\ntitle: An audit of a link\n"
        'source: {paper: x2024, citation: "X (2024), a paper", locator: "Fig 1"}\n'
        "wins:\n  - {id: w, locator: Fig 1, file: t.csv, counts: {a: {b: 1}, b: {a: 1}}}\n"
    )
    with pytest.raises(SpecError) as caught:
        audit_paths([folder / "a.yaml"])
    assert "'t.csv' is a link that leads elsewhere" in str(caught.value)
    assert "hash" not in str(caught.value)


def test_before_and_after_may_be_of_the_same_subjects(tmp_path):
    """Unpaired, 50 ± 8 and 47 ± 8 of 13 each differ by chance; paired with r = .9 they do not."""
    assert welch((50, 8, 13), (47, 8, 13)) > 0.3
    t = 3 / (8 * (2 * (1 - 0.9) / 13) ** 0.5)
    assert 2 * stats.t.sf(t, 12) < 0.05
    text = (
        "| Outcome | {} | {} |\n|---|---|---|\n| Pain | 50.0 ± 8.0 | 47.0 ± 8.0 |\n\nSD, n = 13\n"
    )
    for names, answer in (
        (("Before", "After"), "cannot say"),
        (("Follow-up", "Baseline"), "cannot say"),
        (("Drug", "Baseline"), "does not"),
    ):
        rows, _ = audited(tmp_path, text.format(*names), methods="columns")
        (row,) = rows.values()
        assert row.answer == answer
        assert ("correlated suitably" in row.reason) == (answer == "cannot say")
