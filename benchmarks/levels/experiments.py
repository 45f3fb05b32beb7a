"""The table of all experiments: every kind of expectation, by every test, and its gate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks.levels import (
    data_sets,
    folds,
    items,
    looks,
    nulls,
    pairs,
    references,
    spreads,
    survivals,
    tasks,
)
from benchmarks.levels.cells import NAMED, SYMMETRIC, Cell, Experiment, Setup, always, never
from repro.stats.coefficients import METHODS
from repro.stats.data_sets import ByOrder
from repro.stats.reference_runs import NIGHTS
from repro.stats.task_aggregates import Aggregate


def _normal(cell: Cell) -> bool:
    return cell.distribution == "normal"


def _alike(cell: Cell) -> bool:
    """Where the null, arms that are alike, is true."""
    return cell.sd_ratio == 1


def near_one(count: int, mean: float) -> str:
    """The kind of a level of shares of so many items, near 1."""
    return f"level, {count} items at {mean}"


def _of_points(
    kind: str,
    test: str,
    make: Callable[[Cell], Setup],
    gated: Callable[[Cell], bool],
    fewest: int,
    *,
    wide: tuple[str, ...] = NAMED,
) -> Experiment:
    return Experiment(kind, test, make, gated, fewest, sd_ratios=False, wide=wide)


FEWER = 20_000
"""Draws off the grid where a draw is dear, or other tests of means have told the same."""

EVERY = 10**9
"""As many draws off the grid as on it."""

_one_spread = partial(Experiment, sd_ratios=False, most_wide=FEWER)
_items = partial(Experiment, sd_ratios=False, distributions=False, wide=())

_folds = partial(Experiment, sd_ratios=False, unequal=False, most_draws=FEWER)

_of_items = partial(Experiment, sd_ratios=False, unequal=False, either=True)

AGGREGATES: tuple[Aggregate, ...] = ("iqm", "mean", "improvement")

BY_ORDER: tuple[ByOrder, ...] = ("wilcoxon", "sign")

BY_SEED: dict[Aggregate, str] = {
    "iqm": "welch by seed",
    "mean": "welch by seed",
    "improvement": "over_tasks improvement by seed",
}
"""Tests of runs that span tasks."""

MORE_TASKS = (
    ("ten tasks", 10, tasks.SHARED),
    ("ten tasks that share little", 10, 0.09),
    ("26 tasks, separate runs", 26, 0.0),
)

ITEMS = (8, 20, 50, 200)
"""Items that are answered rightly or wrongly, or whose scores are tied or unequal."""

CLUSTERS = (5, 8, 12, 20, 40)
"""Numbers of clusters."""

NEAR_ONE = ((10, 0.97), (20, 0.95), (30, 0.985), (50, 0.98), (100, 0.99), (100, 0.95))
"""Items of which each seed gets so large a share right on average, fewer than ten wrong."""

MARGINS = ("equivalence", "non_superiority", "non_inferiority")

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment("difference", "welch", partial(nulls.difference, "welch"), always),
    Experiment(
        "difference, directed",
        "welch",
        partial(nulls.difference, "welch", directed=True),
        always,
        either=True,
        wide=(),
    ),
    Experiment("difference", "student", partial(nulls.difference, "student"), never, wide=()),
    Experiment(
        "difference",
        "permutation",
        partial(nulls.difference, "permutation"),
        never,
        5,
        most_draws=20_000,
        wide=(),
    ),
    Experiment(
        "difference", "brunner_munzel", partial(nulls.difference, "brunner_munzel"), never, wide=()
    ),
    Experiment("difference", "yuen", partial(nulls.difference, "yuen"), never, 5, wide=()),
    Experiment("difference, one-sided", "welch", nulls.one_sided, always, most_wide=FEWER),
    Experiment(
        "difference, paired", "paired", partial(pairs.difference, "paired"), always, unequal=False
    ),
    Experiment(
        "difference, paired",
        "paired_permutation",
        partial(pairs.difference, "paired_permutation"),
        always,
        6,
        10,
        unequal=False,
        wide=(),
    ),
    Experiment(
        "difference, folds",
        "corrected",
        partial(folds.correlated, None),
        always,
        sd_ratios=False,
        distributions=False,
        unequal=False,
        wide=(),
    ),
    _folds(
        "difference, folds that correlate by 0.2",
        "corrected",
        partial(folds.correlated, 0.2),
        never,
        sizes=(5, 10),
        distributions=False,
        wide=(),
    ),
    *(
        _folds(f"difference, {name} of {rows} rows", test, partial(make, rows), always, sizes=sizes)
        for rows in (40, 200)
        for name, test, make, sizes in (
            ("folds", "corrected", folds.of_a_data_set, (5, 10)),
            ("5 x 2 folds", "corrected halves", partial(folds.of_a_data_set, folds=2), (10,)),
        )
    ),
    _folds(
        "difference, 10 x 10 folds of 200 rows",
        "corrected",
        partial(folds.of_a_data_set, 200, folds=10),
        always,
        sizes=(100,),
    ),
    Experiment("difference, smallest effect", "welch", nulls.smallest_effect, always, share=0.5),
    *(Experiment(kind, "welch", partial(nulls.margin, kind), always) for kind in MARGINS),
    *(
        Experiment(
            f"{kind}, relative",
            "contrast",
            partial(nulls.relative_margin, kind),
            always,
            most_wide=FEWER,
        )
        for kind in MARGINS
    ),
    *(
        Experiment(
            f"{kind}, paired",
            "paired",
            partial(pairs.margin, kind),
            always,
            unequal=False,
            most_wide=FEWER,
        )
        for kind in MARGINS
    ),
    Experiment("ratio", "welch of logarithms", nulls.ratio, always, most_wide=FEWER),
    Experiment("ratio, paired", "paired", pairs.ratio, always, unequal=False, most_wide=FEWER),
    Experiment("separation", "separation", nulls.separation, _alike),
    Experiment("bound, share", "binomial", nulls.share, always, sd_ratios=False),
    Experiment("level", "student", nulls.level, always, sd_ratios=False, most_wide=FEWER),
    *(
        Experiment(
            near_one(count, mean),
            "items",
            partial(nulls.level_of_items, count, mean),
            always,
            sd_ratios=False,
            distributions=False,
            wide=(),
        )
        for count, mean in NEAR_ONE
    ),
    *(
        Experiment(
            near_one(count, mean),
            "student",
            partial(nulls.level_near_an_end, count, mean),
            never,
            sd_ratios=False,
            distributions=False,
            wide=(),
        )
        for count, mean in NEAR_ONE
    ),
    Experiment(
        f"{near_one(100, 0.95)} that depend by seed",
        "items",
        partial(nulls.level_of_items, 100, 0.95, depend=0.01),
        never,
        sd_ratios=False,
        distributions=False,
        wide=(),
    ),
    Experiment(
        "level, median", "sign", nulls.level_median, always, 5, sd_ratios=False, most_wide=FEWER
    ),
    Experiment(
        "level, known sd", "z", nulls.level_known_sd, always, sd_ratios=False, most_wide=FEWER
    ),
    _one_spread(
        "within", "one run", partial(references.nothing_changed, 1), _normal, most_wide=EVERY
    ),
    _one_spread(
        "within, one side",
        "one run",
        partial(references.nothing_changed_on_one_side, 1),
        _normal,
        most_wide=EVERY,
    ),
    _one_spread("within, mean of three", "mean", partial(references.nothing_changed, 3), _normal),
    _one_spread(
        "within, mean of three, one side",
        "mean",
        partial(references.nothing_changed_on_one_side, 3),
        _normal,
    ),
    _one_spread(
        "within, margin", "one run", partial(references.at_the_margin, 1), _normal, share=0.5
    ),
    *(
        _one_spread(
            f"within, {nights} nights{side}",
            "one run",
            partial(references.nightly, nights, sides=sides),
            _normal,
            sizes=(3, 5, 8, 10, 15, 20, 30, 100),
            most_draws=FEWER,
        )
        for nights in NIGHTS
        for side, sides in (("", 2), (", one side", 1))
    ),
    _one_spread("within, tolerance", "tolerance", nulls.tolerance, _normal, share=2.0),
    *(
        _items(
            f"within, {count} items at {mean}",
            "one run",
            partial(references.shares_of_items, count, mean),
            never,
        )
        for count, mean in ((50, 0.98), (100, 0.95))
    ),
    _items(
        "within, reference of one batch",
        "one run",
        partial(references.nothing_changed, 1, batch=references.BATCH),
        never,
    ),
    _of_items(
        "items", "items_t", items.scores, always, sizes=(5, 10, 30, 100, 300), most_wide=FEWER
    ),
    *(
        _of_items(f"items, {name}", "items_t", make, never, sizes=ITEMS, wide=())
        for name, make in (
            ("scores with ties", partial(items.scores, step=2.0)),
            ("scores of unequal spread", partial(items.scores, spread=5.0)),
        )
    ),
    *(
        _of_items(
            f"items, {often}",
            test,
            partial(items.answers, test, apart),
            always if test == "mcnemar" else never,
            sizes=ITEMS,
            distributions=False,
            wide=(),
        )
        for often, apart in items.APART.items()
        for test in ("items_t", "mcnemar")
    ),
    *(
        _of_items(f"items, clusters of {name}", test, make, gated, sizes=sizes, most_wide=FEWER)
        for name, test, make, gated, sizes in (
            (
                "one size",
                "items_t equal clusters",
                partial(items.clusters, items.EQUAL),
                always,
                CLUSTERS,
            ),
            (
                "unequal size",
                "items_t clustered",
                partial(items.clusters, items.UNEQUAL),
                never,
                CLUSTERS,
            ),
            (
                "which two are large",
                "items_t few large clusters",
                items.two_large_clusters,
                never,
                (*CLUSTERS, 100),
            ),
        )
    ),
    *(
        Experiment(
            f"items crossed with seeds, mostly of {most}",
            "items_crossed",
            partial(items.seeds, scatter),
            _alike,
            most_wide=FEWER,
            either=True,
        )
        for most, scatter in items.SCATTER.items()
    ),
    Experiment("spread", "levene", partial(spreads.boundary, "levene"), always, 5, most_wide=FEWER),
    Experiment(
        "spread, paired",
        "levene paired",
        spreads.boundary_of_pairs,
        always,
        5,
        sd_ratios=False,
        unequal=False,
        most_wide=FEWER,
    ),
    Experiment("spread", "f", partial(spreads.boundary, "f"), _normal, 5, most_wide=FEWER),
    Experiment("survivals", "log_rank", survivals.alike, always, 4, sd_ratios=False, wide=()),
    Experiment(
        "survivals, paired",
        "log_rank paired",
        survivals.pairs_alike,
        always,
        5,
        sd_ratios=False,
        unequal=False,
        wide=(),
    ),
    Experiment(
        "proportion",
        "sign",
        partial(nulls.wins, half=False),
        always,
        sd_ratios=False,
        distributions=False,
    ),
    Experiment(
        "proportion, one half",
        "sign",
        partial(nulls.wins, half=True),
        always,
        5,
        sd_ratios=False,
        distributions=False,
    ),
    *(
        Experiment(
            f"over_tasks, {aggregate}",
            f"over_tasks {aggregate}",
            partial(tasks.boundary, aggregate),
            always,
            most_wide=FEWER,
            wide=NAMED if aggregate == "mean" else SYMMETRIC,
        )
        for aggregate in AGGREGATES
    ),
    Experiment(
        "over_tasks, iqm, twenty tasks",
        "over_tasks iqm",
        partial(tasks.boundary, "iqm", tasks=20),
        always,
        sizes=(3, 5),
        wide=(),
    ),
    Experiment(
        "over_tasks, iqm, equivalent",
        "over_tasks iqm",
        partial(tasks.boundary, "iqm", equivalent=True),
        always,
        unequal=False,
        wide=(),
    ),
    *(
        Experiment(
            f"over_tasks, {aggregate}, percentiles",
            f"over_tasks {aggregate} bootstrap",
            partial(tasks.boundary, aggregate, bootstrap=True),
            never,
            sizes=(3, 5, 10),
            sd_ratios=False,
            distributions=False,
            most_draws=2_000,
            wide=(),
        )
        for aggregate in AGGREGATES
    ),
    *(
        Experiment(
            f"over_tasks_crossed, {aggregate}",
            test,
            partial(tasks.crossed, aggregate),
            _alike if aggregate == "improvement" else always,
            most_wide=FEWER,
            wide=NAMED if aggregate == "mean" else SYMMETRIC,
        )
        for aggregate, test in BY_SEED.items()
    ),
    *(
        Experiment(
            f"over_tasks_crossed, {aggregate}, {name}",
            test,
            partial(tasks.crossed, aggregate, tasks=count, shared=shared),
            always,
            sd_ratios=False,
            sizes=(5,),
            wide=(),
        )
        for aggregate, test in BY_SEED.items()
        for name, count, shared in MORE_TASKS
    ),
    Experiment(
        "over_tasks_crossed, mean, equivalent",
        "welch by seed",
        partial(tasks.crossed, "mean", equivalent=True),
        always,
        unequal=False,
        wide=(),
    ),
    Experiment(
        "meta_analysis_crossed", "meta_analysis by seed", data_sets.crossed, always, most_wide=FEWER
    ),
    *(
        Experiment(
            f"meta_analysis_crossed, {name}",
            "meta_analysis by seed",
            partial(data_sets.crossed, tasks=count, shared=shared),
            always,
            sd_ratios=False,
            sizes=(5,),
            wide=(),
        )
        for name, count, shared in MORE_TASKS
    ),
    Experiment(
        "meta_analysis", "meta_analysis", data_sets.alike_on_average, always, most_wide=FEWER
    ),
    Experiment(
        "meta_analysis, equivalent",
        "meta_analysis",
        partial(data_sets.alike_on_average, equivalent=True),
        always,
        unequal=False,
        wide=(),
    ),
    Experiment(
        "meta_analysis, inverse variance",
        "meta_analysis inverse variance",
        partial(data_sets.alike_on_average, weights="inverse_variance"),
        never,
        unequal=False,
        wide=(),
    ),
    *(
        Experiment(
            f"data_sets, {test}",
            f"meta_analysis {test}",
            partial(data_sets.one_value_each, test=test),
            always,
            5,
            sd_ratios=False,
            most_wide=FEWER,
            wide=SYMMETRIC,
        )
        for test in BY_ORDER
    ),
    Experiment(
        "proportion, clusters",
        "cluster_sign",
        nulls.clusters,
        always,
        5,
        16,
        sd_ratios=False,
        wide=SYMMETRIC,
    ),
    _of_points("association", "pearson", partial(nulls.independent, "pearson"), always, 4),
    _of_points(
        "association", "spearman", partial(nulls.independent, "spearman"), never, 5, wide=()
    ),
    _of_points("association", "kendall", partial(nulls.independent, "kendall"), never, 5, wide=()),
    _of_points(
        "association, dependent tails",
        "pearson",
        partial(nulls.association, "pearson"),
        _normal,
        4,
        wide=(),
    ),
    Experiment(
        "association, clustered",
        "pearson",
        nulls.clustered_points,
        always,
        sd_ratios=False,
        distributions=False,
        sizes=(5, 8),
    ),
    *(
        _of_points(
            f"association, {side.replace('_', ' ')}",
            method,
            partial(nulls.magnitude, method, side),
            _normal if method == "pearson" else never,
            5,
            wide=NAMED if method == "pearson" else (),
        )
        for method in METHODS
        for side in nulls.SIDES
    ),
    Experiment("trend", "welch", nulls.slope, always, most_wide=FEWER),
    Experiment("trend", "jonckheere", partial(nulls.trend, "jonckheere"), _alike, wide=()),
    Experiment("trend", "kendall", partial(nulls.trend, "kendall"), never, wide=()),
    Experiment("ordering", "welch, holm", nulls.ordering, always, most_wide=FEWER),
    Experiment("ordering, all alike", "welch, holm", nulls.no_order, always, wide=()),
    Experiment(
        "conjunction, one false leaf", "welch", nulls.one_false_leaf, always, most_wide=FEWER
    ),
    Experiment("conjunction, all at the margin", "welch", nulls.all_at_the_margin, always, wide=()),
    Experiment("disjunction", "holm", nulls.disjunction, always, most_wide=FEWER),
    Experiment(
        "family, four claims",
        "holm",
        partial(nulls.family, "holm"),
        _alike,
        either=True,
        most_wide=FEWER,
    ),
    Experiment(
        "family, four claims", "bh", partial(nulls.family, "bh"), never, either=True, wide=()
    ),
    *(
        Experiment(
            f"sequential, {kind}",
            "eprocess_t",
            partial(nulls.nightly, kind),
            always,
            sizes=(60,),
            tolerance=0.0,
            most_wide=FEWER,
            either=kind == "directed",
        )
        for kind in ("difference", "directed", "equivalence", "non_superiority")
    ),
    Experiment(
        "sequential, level",
        "eprocess_t one arm",
        nulls.level_nightly,
        always,
        sizes=(60,),
        sd_ratios=False,
        tolerance=0.0,
        most_wide=FEWER,
    ),
    Experiment(
        "sequential, level",
        "group_obf one arm",
        nulls.level_planned,
        never,
        sizes=(20,),
        sd_ratios=False,
        most_wide=FEWER,
    ),
    *(
        Experiment(
            f"sequential, {kind}",
            "group_obf",
            partial(nulls.planned, kind),
            always,
            sizes=(20,),
            most_wide=FEWER,
        )
        for kind in ("difference", "equivalence")
    ),
    *(
        Experiment(
            f"sequential, {kind}, paired",
            test,
            partial(make, kind),
            gated,
            sizes=(size,),
            tolerance=tolerance,
            most_wide=FEWER,
        )
        for test, make, size, gated, tolerance in (
            ("eprocess_t", pairs.nightly, pairs.NIGHTS, always, 0.0),
            ("group_obf", pairs.planned, pairs.LOOKS, never, 0.005),
        )
        for kind in ("difference", "equivalence")
    ),
    *(
        Experiment(
            f"sequential, difference, {name}",
            "group_obf",
            partial(nulls.planned_early, looks_of),
            never,
            sizes=sizes,
            most_wide=FEWER,
        )
        for name, looks_of, sizes in (
            ("four looks", looks.quarters, (6, 8, 10, 12, 16)),
            ("every pair", looks.every, (5, 10, 15, 20, 30)),
        )
    ),
)
"""All of them; ``difference`` by another test than Welch's is listed and not gated."""
