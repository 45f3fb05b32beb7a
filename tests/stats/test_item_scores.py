"""Differences per item, against statsmodels, closed forms and simulation."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import linalg, optimize, stats
from statsmodels.stats.contingency_tables import mcnemar as mcnemar_of_statsmodels

from repro.errors import ClaimError
from repro.expectations.items import ItemsDifference, ItemsKind
from repro.stats.error_rates import design_of_items, key_of, level_of
from repro.stats.item_scores import (
    ItemsResult,
    PairedItems,
    items_crossed,
    items_t,
    mcnemar,
    mcnemar_and_t,
    paired_items,
)
from repro.stats.records import Alternative, Sample, Scored, known


def arm(values: dict[str, float], clusters: dict[str, str] | None = None) -> Sample:
    groups = clusters or {}
    parts = tuple(Scored(name, groups.get(name, ""), 0, x) for name, x in values.items())
    return Sample((float(np.mean([*values.values()])),), (0,), parts=parts)


def drawn(rng: np.random.Generator, sizes: list[int], shared: float) -> tuple[Sample, Sample]:
    """Two arms of one quality: passages differ, and move an arm's answers together."""
    a, b, of = {}, {}, {}
    for group, size in enumerate(sizes):
        effect = shared * rng.standard_normal(2)
        for item in range(size):
            name = f"{group}.{item}"
            of[name] = f"g{group}"
            a[name], b[name] = effect + rng.standard_normal(2)
    return arm(a, of), arm(b, of)


def test_clustered_errors_are_those_of_the_matrices_of_bell_and_mccaffrey() -> None:
    """CR2 and its degrees of freedom written out: (I - H) to the power -1/2, and traces."""
    a, b = drawn(np.random.default_rng(1), [3, 9, 4, 12, 7, 2, 8], 1.0)
    paired = paired_items(a, b)
    found = items_t(paired, alternative="two-sided")
    d, of = np.array(paired.differences), np.array(paired.clusters)
    n = len(d)
    maker = np.eye(n) - np.full((n, n), 1 / n)
    columns, variance = [], 0.0
    for group in dict.fromkeys(of):
        place = np.flatnonzero(of == group)
        within = np.eye(len(place)) - 1 / n
        root = np.linalg.inv(linalg.sqrtm(within))
        variance += float((np.ones(len(place)) @ root @ (maker @ d)[place] / n) ** 2)
        columns.append(maker[:, place] @ root @ np.ones(len(place)) / n)
    gamma = np.array(columns) @ np.array(columns).T
    df = np.trace(gamma) ** 2 / np.sum(gamma**2)
    assert found.effect == pytest.approx(d.mean(), rel=1e-12)
    assert found.se == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert found.df == pytest.approx(df, rel=1e-9)
    assert found.p == pytest.approx(
        2 * stats.t.sf(abs(found.effect / known(found.se)), df), rel=1e-9
    )


def test_with_clusters_of_one_size_it_is_the_error_of_statsmodels() -> None:
    """`cov_type="cluster"` has the factor G / (G - 1) times (n - 1) / (n - 1) of a mean."""
    a, b = drawn(np.random.default_rng(7), [6] * 9, 1.0)
    paired = paired_items(a, b)
    found = items_t(paired, alternative="two-sided")
    d = np.array(paired.differences)
    groups = np.unique(np.array(paired.clusters), return_inverse=True)[1]
    fit = sm.OLS(d, np.ones_like(d)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    assert (found.se, found.df) == pytest.approx((fit.bse[0], 8), rel=1e-9)


def test_a_report_quotes_the_cell_of_its_clusters() -> None:
    """Unequal clusters lose their level; those of one size have cells of their own, and hold it."""
    rng = np.random.default_rng(5)
    for sizes, key, said in (
        ([1, 2, 4, 8, 16] * 2 + [1, 2], "items_t clustered", "12 clusters it errs in 6.2 %"),
        ([5] * 12, "items_t equal clusters", ""),
        ([50, 50] + [1] * 38, "items_t few large clusters", "40 clusters it errs in 8.7 %"),
        ([90, 70, 60] + [1] * 37, "items_t few large clusters", "40 clusters it errs in 8.7 %"),
    ):
        paired = paired_items(*drawn(rng, sizes, 1.0))
        found = items_t(paired, alternative="two-sided")
        assert key_of(found) == key
        quoted = level_of(found, [design_of_items(paired)])
        assert quoted is None if said == "" else quoted is not None and said in quoted


def test_without_clusters_it_is_the_paired_t_test() -> None:
    a, b = drawn(np.random.default_rng(2), [40], 0.0)
    first, second = ([part.value for part in each.parts] for each in (a, b))
    free = [
        Sample(
            each.values,
            each.replicates,
            parts=tuple(part._replace(cluster="") for part in each.parts),
        )
        for each in (a, b)
    ]
    found = items_t(paired_items(*free), alternative="greater", alpha=0.05)
    expected = stats.ttest_rel(first, second, alternative="greater")
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)
    assert found.p_opposite == pytest.approx(1 - expected.pvalue, rel=1e-10)
    low = expected.confidence_interval(0.95).low
    assert found.interval is not None
    assert found.interval.low == pytest.approx(low, rel=1e-10)


@pytest.mark.parametrize(("won", "lost", "same"), [(9, 2, 30), (0, 7, 3), (5, 5, 1), (12, 1, 0)])
def test_mcnemar_is_that_of_statsmodels_and_its_interval_agrees(
    won: int, lost: int, same: int
) -> None:
    """The interval leaves 0 out exactly where p is below alpha."""
    outcomes = [(1.0, 0.0)] * won + [(0.0, 1.0)] * lost + [(1.0, 1.0)] * same
    names = [str(n) for n in range(len(outcomes))]
    a, b = (arm(dict(zip(names, each, strict=True))) for each in zip(*outcomes, strict=True))
    found = mcnemar(paired_items(a, b), alternative="two-sided")
    expected = mcnemar_of_statsmodels([[same, won], [lost, 0]], exact=True).pvalue
    assert found.p == pytest.approx(min(1.0, expected), rel=1e-10)
    assert found.apart == (won, lost)
    differences = np.array([x - y for x, y in outcomes])
    assert found.se == pytest.approx(differences.std() / math.sqrt(len(outcomes)))
    assert found.interval is not None
    assert found.effect == pytest.approx((won - lost) / len(outcomes))
    for alpha in (0.2, 0.05, 0.01):
        again = mcnemar(paired_items(a, b), alternative="two-sided", alpha=alpha)
        assert again.interval is not None
        assert (0 not in again.interval) == (known(found.p) < alpha)


def answers(won: int, lost: int, n: int) -> tuple[Sample, Sample]:
    """Two arms of which each alone has so many of ``n`` items right, and neither the others."""
    a = {str(k): float(k < won) for k in range(n)}
    return arm(a), arm({str(k): float(won <= k < won + lost) for k in range(n)})


def test_the_interval_of_mcnemar_is_that_of_the_score() -> None:
    """At its ends the score, by shares that the likelihood finds, is the normal quantile."""
    found = mcnemar(paired_items(*answers(12, 2, 50)), alternative="two-sided")
    low, high = known(found.interval).low, known(found.interval).high
    assert (low, high) == pytest.approx((0.0611, 0.3447), abs=5e-5)

    def unlikely(q: float, d: float) -> float:
        return float(-12 * np.log(q + d) - 2 * np.log(q) - 36 * np.log(1 - 2 * q - d))

    for end, side in ((low, 1), (high, -1)):
        q = optimize.minimize_scalar(
            unlikely, (1e-9, (1 - end) / 2 - 1e-9), args=(end,), method="bounded",
            bounds=(1e-9, (1 - end) / 2 - 1e-9), options={"xatol": 1e-12},
        ).x  # fmt: skip
        score = (10 - 50 * end) / np.sqrt(50 * (2 * q + end - end**2))
        assert score == pytest.approx(side * stats.norm.isf(0.025), rel=1e-5)


@pytest.mark.parametrize(
    ("alone", "n"), [((0.09, 0.0), 200), ((0.09, 0.01), 200), ((0.3, 0.1), 30)]
)
def test_the_interval_of_mcnemar_covers_a_difference(alone: tuple[float, float], n: int) -> None:
    """Clopper and Pearson's share of the items apart would cover the first in 48 %."""
    rng = np.random.default_rng(9)
    drawn = rng.multinomial(n, [*alone, 1 - sum(alone)], size=4_000)
    covered = 0
    for (won, lost, _), times in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        found = mcnemar(paired_items(*answers(won, lost, n)), alternative="two-sided")
        covered += int(times) * (alone[0] - alone[1] in known(found.interval))
    assert 0.93 <= covered / 4_000 <= 0.98


@pytest.mark.parametrize(
    ("sizes", "most"),
    [([4, 4, 10, 20, 60], 0.05), ([3, 5, 8, 8, 10, 12, 14, 16, 20, 40], 0.06), ([5] * 30, 0.05)],
)
def test_the_level_holds_where_items_of_a_cluster_move_together(
    sizes: list[int], most: float
) -> None:
    """By `G - 1` degrees of freedom it would err in 21 % of the first case."""
    rng, draws = np.random.default_rng(3), 3_000
    groups = np.repeat(np.arange(len(sizes)), sizes)
    names = [str(n) for n in range(len(groups))]
    wrong, plain = 0, 0
    for _ in range(draws):
        d = rng.standard_normal(len(sizes))[groups] + rng.standard_normal(len(groups))
        of = dict(zip(names, map(str, groups), strict=True))
        a = arm(dict(zip(names, map(float, d), strict=True)), of)
        b = arm(dict.fromkeys(names, 0.0), of)
        found = items_t(paired_items(a, b), alternative="two-sided")
        wrong += known(found.p) < 0.05
        plain += bool(stats.ttest_1samp(d, 0).pvalue < 0.05)
    assert wrong / draws < most + 3 * np.sqrt(most / draws)
    assert plain / draws > 0.2


def test_several_runs_of_an_arm_are_averaged_per_item() -> None:
    parts = [Scored(str(n), "", run, n + run / 10) for n in range(6) for run in range(2)]
    two = Sample((2.5, 2.6), (0, 1), parts=tuple(parts))
    one = arm({str(n): float(n % 2) for n in range(6)})
    paired = paired_items(two, one)
    assert paired.runs == (2, 1)
    assert paired.differences == pytest.approx([n + 0.05 - n % 2 for n in range(6)])
    with pytest.raises(ClaimError, match="in one run of each arm"):
        mcnemar(paired, alternative="two-sided")


def test_what_cannot_be_compared_is_refused() -> None:
    some = {str(n): float(n % 3) for n in range(8)}
    with pytest.raises(ClaimError, match="A has no answer to 1 of 9 items, such as"):
        paired_items(arm(some), arm({**some, "9": 1.0}))
    with pytest.raises(ClaimError, match="mean over items alone"):
        paired_items(Sample.of(0.5), arm(some))
    of = {str(n): "ab"[n % 2] for n in range(8)}
    with pytest.raises(ClaimError, match="an item is of two clusters"):
        paired_items(arm(some, of), arm(some, {**of, "0": "b"}))
    other = arm({name: x * x for name, x in some.items()}, of)
    with pytest.raises(ClaimError, match="2 clusters are too few"):
        paired_items(arm(some, of), other).contrast()
    with pytest.raises(ClaimError, match="on all 8 items"):
        paired_items(arm(some), arm(some)).contrast()
    with pytest.raises(ClaimError, match="too few"):
        paired_items(arm({"a": 1.0, "b": 0.0}), arm({"a": 0.0, "b": 0.0})).contrast()


@pytest.mark.parametrize("clustered", [True, False])
def test_order_arms_and_units_are_respected(clustered: bool) -> None:
    """Rows in any order are the same; arms exchanged, or a unit, change what they should."""
    rng = np.random.default_rng(12)
    a, b = drawn(rng, [3, 5, 4, 6, 7], 1.0)
    if not clustered:
        a, b = (arm({part.item: part.value for part in each.parts}) for each in (a, b))
    found = items_t(paired_items(a, b), alternative="greater")
    mixed = [
        Sample(each.values, each.replicates, parts=tuple(each.parts[k] for k in order))
        for each, order in ((a, rng.permutation(25)), (b, rng.permutation(25)))
    ]
    again = items_t(paired_items(*mixed), alternative="greater")
    assert (again.p, again.se) == pytest.approx((found.p, found.se), rel=1e-12)
    exchanged = items_t(paired_items(b, a), alternative="less")
    assert (exchanged.p, exchanged.effect) == pytest.approx((found.p, -found.effect), rel=1e-12)
    in_hundredths = [
        Sample(
            tuple(100 * value for value in each.values),
            each.replicates,
            parts=tuple(part._replace(value=100 * part.value) for part in each.parts),
        )
        for each in (a, b)
    ]
    scaled = items_t(paired_items(*in_hundredths), alternative="greater")
    assert (scaled.p, scaled.df) == pytest.approx((found.p, found.df), rel=1e-9)
    assert scaled.se == pytest.approx(100 * known(found.se), rel=1e-12)


def test_about_so_many_items_would_settle_it() -> None:
    """With that many the power is about 80 %, by simulation."""
    rng = np.random.default_rng(8)
    names = [str(n) for n in range(200)]
    d = rng.normal(0.1, 1, 200)
    d += 0.1 - d.mean()
    a = arm(dict(zip(names, map(float, d), strict=True)))
    found = items_t(paired_items(a, arm(dict.fromkeys(names, 0.0))), alternative="two-sided")
    draws = rng.normal(0.1, float(d.std(ddof=1)), (4_000, known(found.settling(0.0))))
    power = float(np.mean(np.asarray(stats.ttest_1samp(draws, 0, axis=1).pvalue) < 0.05))
    assert power == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(("alternative", "sides"), [("two-sided", 2), ("greater", 1)])
def test_few_clusters_are_settled_by_more_of_them(alternative: Alternative, sides: int) -> None:
    """Six clusters have t(5) now, and more of them a smaller t. One side has all of alpha."""
    names = [str(n) for n in range(30)]
    of = {name: str(int(name) // 5) for name in names}
    d = np.repeat(stats.zscore([1.0, -0.4, 0.3, 1.2, -0.8, 0.6], ddof=1), 5) + 0.3
    a, b = (arm(dict(zip(names, map(float, x), strict=True)), of) for x in (d, 0 * d))
    found = items_t(paired_items(a, b), alternative=alternative)
    settle = known(found.settling(0.0))
    clusters = round(settle / 5)
    draws = np.random.default_rng(3).normal(0.3, 1, (20_000, clusters))
    t = draws.mean(1) / draws.std(1, ddof=1) * np.sqrt(clusters)
    power = np.mean(t > stats.t.isf(0.05 / sides, clusters - 1))
    assert power == pytest.approx(0.8, abs=0.03)


def test_what_so_many_items_can_find_is_found_so_often() -> None:
    """By simulation, for the difference of 80 % power and for a smaller one, with 12 and 200."""
    rng = np.random.default_rng(9)
    for n in (12, 200):
        d = stats.zscore(rng.standard_normal(n), ddof=1)
        a = arm({str(k): float(x) for k, x in enumerate(d)})
        b = arm({str(k): 0.0 for k in range(n)})
        found = items_t(paired_items(a, b), alternative="two-sided")
        for truth, power in ((found.detectable, 0.8), (0.4, found.power(0.4))):
            draws = rng.normal(truth, 1, (20_000, n))
            p = np.asarray(stats.ttest_1samp(draws, 0, axis=1).pvalue)
            assert float(np.mean(p < 0.05)) == pytest.approx(power, abs=0.015)


def test_more_runs_settle_what_seeds_make_uncertain() -> None:
    """The number that is named has 80 % power by simulation; more items would never do."""
    rng = np.random.default_rng(10)

    def crossed(runs: int, gain: float) -> ItemsResult:
        arms = []
        for mean in (gain, 0.0):
            table = mean + rng.normal(0, 1, (runs, 1)) + rng.normal(0, 0.5, (1, 60))
            arms.append(runs_of(table + rng.normal(0, 0.5, (runs, 60))))
        return items_crossed(*arms, alternative="two-sided")

    seeds, others = 2 / 5, 2 * 0.25 / 60 + 2 * 0.25 / 300
    se = math.sqrt(seeds + others)
    found = replace(crossed(5, 1.0), effect=1.0, se=se, of_seeds=seeds / se**2, df=8.0)
    needed = found.more(known(found.of_seeds), 5)
    assert replace(found, effect=1.3).more(known(found.of_seeds), 5, border=0.3) == needed
    assert needed is not None
    reach = float(np.sum(stats.t.ppf([0.975, 0.8], 8 * needed / 5)))
    assert needed == pytest.approx(2 / (reach**-2 - others), abs=1.5)
    power = np.mean([known(crossed(needed, 1.0).p) < 0.05 for _ in range(400)])
    assert power == pytest.approx(0.8, abs=0.07)
    assert found.more(others / se**2, 60) is None


@pytest.mark.parametrize(("of_seeds", "said"), [(1.0, "Seeds make 9"), (0.01, "Items make 9")])
def test_what_makes_most_of_the_variance_is_named(of_seeds: float, said: str) -> None:
    """With how many of it would settle the claim, of runs or of items."""
    rng = np.random.default_rng(11)
    declared = ItemsDifference(
        id="e", kind="items", measurement="m", of=("a", "b"), direction="higher", test="crossed"
    )
    scatter = rng.normal(0, of_seeds, (2, 5, 1)) + rng.normal(0, 0.3, (2, 1, 60))
    tables = scatter + rng.normal(0, 0.01, (2, 5, 60))
    found = items_crossed(*map(runs_of, tables), alternative="two-sided")
    text = ItemsKind().cannot_settle(declared, replace(found, effect=1.1 * known(found.se)))
    assert text.startswith(said)
    what = "runs of each arm" if of_seeds == 1 else "items"
    assert re.search(rf": about \d+ {what} would settle it in four cases of five", text)


def runs_of(table: np.ndarray) -> Sample:
    """An arm of so many runs, a row each, on as many items as there are columns."""
    parts = tuple(
        Scored(f"q{item}", "", run, float(x))
        for run, row in enumerate(table)
        for item, x in enumerate(row)
    )
    return Sample(tuple(map(float, table.mean(axis=1))), tuple(range(len(table))), parts=parts)


def test_seeds_crossed_with_items_are_two_analyses_of_variance() -> None:
    """By the mean squares of statsmodels' tables of each arm, and Satterthwaite's formula."""
    rng = np.random.default_rng(3)
    easy = rng.standard_normal(40)
    tables = [
        easy
        + 0.4 * rng.standard_normal(40)
        + s * rng.standard_normal((n, 1))
        + rng.standard_normal((n, 40))
        for n, s in ((4, 0.8), (6, 0.5))
    ]
    found = items_crossed(*map(runs_of, tables), alternative="two-sided")
    d = tables[0].mean(axis=0) - tables[1].mean(axis=0)
    of_items = d.var(ddof=1) / 40
    of_seeds, rest, errors = 0.0, 0.0, [of_items**2 / 39]
    for table in tables:
        frame = pd.DataFrame(
            [(r, i, x) for r, row in enumerate(table) for i, x in enumerate(row)],
            columns=["run", "item", "y"],
        )
        squares = sm.stats.anova_lm(smf.ols("y ~ C(run) + C(item)", frame).fit())["mean_sq"]
        of_seeds += squares["C(run)"] / table.size
        rest += squares["Residual"] / table.size
        errors.append((squares["C(run)"] / table.size) ** 2 / (len(table) - 1))
    variance = of_items + of_seeds - rest
    assert found.effect == pytest.approx(d.mean(), rel=1e-9)
    assert known(found.se) ** 2 == pytest.approx(variance, rel=1e-9)
    assert found.df == pytest.approx(variance**2 / sum(errors), rel=1e-9)
    assert found.of_seeds == pytest.approx(1 - of_items / variance, rel=1e-9)
    assert (found.n, found.runs, found.items, key_of(found)) == (
        (4, 6),
        (4, 6),
        40,
        "items_crossed",
    )


def test_crossed_takes_three_runs_and_every_item_in_each() -> None:
    rng = np.random.default_rng(4)
    few, enough = rng.standard_normal((2, 20)), rng.standard_normal((3, 20))
    with pytest.raises(ClaimError, match="A has 2 runs"):
        items_crossed(runs_of(few), runs_of(enough), alternative="two-sided")
    whole = runs_of(enough)
    torn = Sample(whole.values, whole.replicates, parts=whole.parts[:-1])
    with pytest.raises(ClaimError, match="B has no answers to item q19 in run 2; give it one"):
        items_crossed(whole, torn, alternative="two-sided")


@pytest.mark.parametrize(
    ("n", "won", "lost"),
    [(100, 0.10, 0.0), (50, 0.12, 0.02), (30, 0.30, 0.10), (60, 0.15, 0.05), (200, 0.021, 0.02)],
)
def test_at_a_margin_the_wider_interval_holds_the_level(n: int, won: float, lost: float) -> None:
    """Counted over all tables, where the difference is the margin; the score's alone errs more."""
    margin, chance, alone = won - lost, 0.0, 0.0
    for a in range(n + 1):
        for b in range(n + 1 - a if lost else 1):
            weight = stats.multinomial.pmf([a, b, n - a - b], n, [won, lost, 1 - won - lost])
            if weight < 1e-9 or a + b in (0, n) or a <= b:
                continue
            differences = (1.0,) * a + (-1.0,) * b + (0.0,) * (n - a - b)
            paired = PairedItems(differences, ("",) * n, (1, 1), right=1.0)
            both = mcnemar_and_t(paired, alternative="two-sided")
            chance += weight * (known(both.interval).low > margin)
            exact = mcnemar(paired, alternative="two-sided")
            alone += weight * (known(exact.interval).low > margin)
    assert chance <= min(0.0255, alone)
    assert (alone > 0.037) == (lost == 0.0)
