"""Printed numbers that must agree with each other: each kind against an independent computation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from repro.audit.comparison import Grade

SEED = 20171110


@pytest.mark.parametrize(
    ("values", "grade"),
    [
        (("56.3", "56.25"), Grade.CONSISTENT),
        (("56.3", "56.34", "56.30"), Grade.INCONSISTENT),
        (("56.3", "56.36"), Grade.INCONSISTENT),
        (("9980", "9981"), Grade.INCONSISTENT),
        (("21.50e6", "21500620"), Grade.CONSISTENT),
    ],
)
def test_one_quantity_is_one_number_up_to_rounding(audited, values, grade):
    """Numbers agree when some number is printed like all of them; a shared end is none."""
    places = ", ".join(f'{{locator: "here", value: "{value}"}}' for value in values)
    row = audited(f"same_quantity:\n  - {{id: one, what: rank, places: [{places}]}}")["one"]
    assert row.grade is grade


def pooled(mean, sd, part_mean, part_sd, n, run=None):
    text = f"""
pooled:
  - id: all
    what: perplexity
    whole: {{mean: "{mean}", sd: "{sd}", n: {n + 1}, locator: "Table 2"}}
    part: {{mean: "{part_mean}", sd: "{part_sd}", n: {n}, locator: "Table 1"}}
"""
    return text + (f'    run: {{value: "{run}", locator: "Table 3"}}\n' if run else "")


@pytest.mark.parametrize("n", [3, 10])
@pytest.mark.parametrize("with_run", [True, False])
def test_a_part_and_a_run_give_the_whole(audited, n, with_run):
    """The rounded summaries of real samples are never refused, printed run or not."""
    generator = np.random.default_rng(SEED)
    for _ in range(20):
        values = generator.normal(60, 0.3, n + 1).round(3)
        part = values[:n]
        text = pooled(
            f"{values.mean():.2f}",
            f"{values.std(ddof=1):.2f}",
            f"{part.mean():.2f}",
            f"{part.std(ddof=1):.2f}",
            n,
            f"{values[n]:.2f}" if with_run else None,
        )
        row = audited(text)["all"]
        assert row.grade is Grade.CONSISTENT
        if not with_run:
            low, high = row.details["run_implied"]
            assert low <= values[n] <= high


def test_the_bounds_of_the_whole_are_those_of_a_search(audited):
    """Mean and sd of the whole over the box of rounding, found on a fine grid."""
    row = audited(pooled("57.00", "0.14", "57.02", "0.13", 10, "56.78"))["all"]
    means, deviations = [], []
    grid = np.linspace(-0.005, 0.005, 21)
    for a, b, c in itertools.product(grid, repeat=3):
        m, s, x = 57.02 + a, 0.13 + b, 56.78 + c
        whole = (10 * m + x) / 11
        squares = 9 * s**2 + 10 * (m - whole) ** 2 + (x - whole) ** 2
        means.append(whole)
        deviations.append(math.sqrt(squares / 10))
    assert row.details["mean_expected"] == pytest.approx((min(means), max(means)))
    assert row.details["sd_expected"] == pytest.approx((min(deviations), max(deviations)))


@pytest.mark.parametrize(
    ("mean", "sd", "fits"),
    [("57.00", "0.14", (True, True)), ("57.03", "0.14", (False, True)), ("57.00", "0.2", (1, 0))],
)
def test_a_whole_that_cannot_be_is_inconsistent(audited, mean, sd, fits):
    """A mean or a deviation beyond its bounds is found, and which of them."""
    row = audited(pooled(mean, sd, "57.02", "0.13", 10, "56.78"))["all"]
    assert (row.details["mean_fits"], row.details["sd_fits"]) == fits
    assert (row.grade is Grade.CONSISTENT) == all(fits)


def test_a_whole_that_no_run_gives_is_inconsistent(audited):
    """A mean that moves far needs a run far off, and then the deviation must grow."""
    assert audited(pooled("57.10", "0.13", "57.02", "0.13", 10))["all"].grade is Grade.INCONSISTENT


@pytest.mark.parametrize(("run", "inside"), [("57.4", True), ("58.1", False), ("55.9", False)])
def test_a_single_run_is_predicted_by_the_others(audited, run, inside):
    """mean ± t sd sqrt(1 + 1/n) at its widest over rounding, and Student's p."""
    row = audited(f"""
single_runs:
  - id: one
    what: perplexity
    run: {{value: "{run}", locator: "Table 3"}}
    others: {{mean: "57.0", sd: "0.3", n: 10, locator: "Table 1"}}
""")["one"]
    reach = stats.t.ppf(0.975, 9) * math.sqrt(1.1)
    expected = (56.95 - reach * 0.35, 57.05 + reach * 0.35)
    assert row.details["predicted"] == pytest.approx(expected)
    p = 2 * stats.t.sf(abs(float(run) - 57) / 0.3 / math.sqrt(1.1), 9)
    assert row.details["p"] == pytest.approx(p)
    assert (row.grade is Grade.CONSISTENT) == inside


def derived(value, *sources, others=()):
    lines = [f"derived:\n  - id: one\n    what: gain\n    locator: text\n    value: '{value}'"]
    for key, entries in (("sources", sources), ("other_quantities", others)):
        lines += [f"    {key}:"] if entries else []
        lines += [
            f"      - {{kind: difference, id: {name}, of: ['{a}', '{b}'], locator: {name} table}}"
            for name, a, b in entries
        ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("value", "grade", "matches"),
    [
        ("2.17", Grade.CONSISTENT, ("means",)),
        ("2.18", Grade.CONSISTENT, ("means",)),
        ("2.19", Grade.INCONSISTENT, ()),
        ("2.2", Grade.CONSISTENT, ("means",)),
        ("-2.17", Grade.DECISION_INCONSISTENT, ()),
    ],
)
def test_a_difference_follows_within_the_rounding_of_all_three(audited, value, grade, matches):
    """57.08 - 54.91 is 2.16 to 2.18 before rounding; the other sign is the other decision."""
    row = audited(derived(value, ("means", "57.08", "54.91")))["one"]
    assert (row.grade, row.matches) == (grade, matches)


def test_a_number_that_one_of_two_sources_gives_is_conditional(audited):
    """CONSISTENT-IF names the source; sources of different sign are said to be so."""
    row = audited(derived("-0.06", ("first", "57.10", "57.16"), ("second", "58.07", "57.75")))
    assert row["one"].grade is Grade.CONSISTENT_IF
    assert row["one"].condition == "first"
    assert row["one"].details["signs_agree"] is False


def test_another_quantity_never_makes_a_number_consistent(audited):
    """What fits only another quantity is INCONSISTENT, and the confusion is named."""
    text = derived("1.28", ("own", "57.10", "55.11"), others=[("moc", "57.10", "55.81")])
    row = audited(text)["one"]
    assert row.grade is Grade.INCONSISTENT
    assert row.details["confused_with"] == row.details["nearest"] == "moc"


def test_a_product_of_sums_is_multiplied_out(audited):
    """K^2 (M + N) with rounded factors, from its least to its greatest value."""
    rows = audited("""
derived:
  - id: cost
    what: operations
    locator: text
    value: "9e12"
    sources:
      - kind: product_of_sums
        id: k
        locator: text
        of: [["10000"], ["10000"], ["10000", "78669"]]
""")
    assert rows["cost"].details["from_k"] == 10_000**2 * 88_669
    assert rows["cost"].grade is Grade.CONSISTENT


@pytest.mark.parametrize(
    ("limit", "beyond"),
    [("at_most: '401'", (402.0,)), ("at_most: '402'", ()), ("at_least: '402'", (400.0,))],
)
def test_a_stated_bound_names_what_is_beyond_it(audited, limit, beyond):
    """A whole number above the bound is beyond it, the bound itself is not."""
    values = "[{locator: here, value: '402'}, {locator: there, value: '400'}]"
    if limit == "at_most: '401'":
        values = "[{locator: here, value: '402'}, {locator: there, value: '401'}]"
    row = audited(f"bounds:\n  - {{id: d, what: rank, locator: text, {limit}, values: {values}}}")
    assert row["d"].details["beyond"] == beyond
    assert (row["d"].grade is Grade.INCONSISTENT) == bool(beyond)
