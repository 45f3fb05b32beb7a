"""Where a test is known to lose its level: error rates that were measured, for the report.

The rates are those of ``benchmarks/levels``, at the boundary of each null: a lookup of the
measured designs that the present one resembles, by sizes, spreads and the shape of its values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from repro.errors import ClaimError
from repro.stats.bounded_mean import errors_of_pooled
from repro.stats.correlation import AssociationResult, MagnitudeResult
from repro.stats.item_scores import ItemsResult, PairedItems
from repro.stats.measured_cells import (
    ITEMS,
    POINTS,
    TASKS,
    CellDesign,
    MeasuredRate,
    around,
    beyond,
    of_one_arm,
    of_units,
    rates_of,
    resembling,
)
from repro.stats.records import Arm, Sample, TestResult, summarise
from repro.stats.reference_runs import NIGHTS, WithinResult
from repro.stats.shapes import FEWEST_SKEWED, far_away, heavy_tailed, heavy_together, skewed
from repro.stats.stopping import SequentialResult
from repro.stats.task_aggregates import Runs
from repro.stats.trends import TrendResult

NAMES = {
    "welch": "Welch's test",
    "welch one-sided": "Welch's test, one-sided",
    "paired": "The paired t-test",
    "paired one-sided": "The paired t-test, one-sided",
    "paired_permutation": "The permutation test within pairs",
    "folds paired": "The corrected resampled t-test",
    "folds correlated": "The corrected resampled t-test of folds that correlate by 0.2",
    "halves paired": "The corrected resampled t-test of halves",
    "tost paired": "The test of equivalence of pairs",
    "non_superiority paired": "The test of non-superiority of pairs",
    "non_inferiority paired": "The test of non-inferiority of pairs",
    "ratio paired": "The test of a ratio of pairs",
    "eprocess_t paired": "The e-process of pairs, looked at after every pair",
    "group_obf paired": "The paired t-test at planned looks",
    "tost": "The test of equivalence",
    "tost_relative": "The test of relative equivalence",
    "non_superiority": "The test of non-superiority",
    "non_superiority_relative": "The test of relative non-superiority",
    "non_inferiority": "The test of non-inferiority",
    "non_inferiority_relative": "The test of relative non-inferiority",
    "ratio": "The test of a ratio",
    "share": "The test of a share",
    "level": "The t-test of one sample",
    "level near an end": "The t-test of one sample",
    "level_items": "The exact test of all items together",
    "level_median": "The sign test of a median",
    "level_known_sd": "The z-test of one sample",
    "within": "The prediction interval of one run",
    "within one-sided": "The one-sided prediction limit of one run",
    "within mean": "The prediction interval of a mean of three",
    "within mean one-sided": "The one-sided prediction limit of a mean of three",
    **{f"within {each} nights": f"The prediction interval over {each} nights" for each in NIGHTS},
    **{
        f"within {each} nights one-sided": f"The one-sided prediction limit over {each} nights"
        for each in NIGHTS
    },
    "within tolerance": "The limit of tolerance",
    "items_t": "The t-test of differences per item",
    "items_t clustered": "The t-test of differences per item in unequal clusters",
    "items_t few large clusters": "The t-test of differences per item where two clusters are large",
    "items_t equal clusters": "The t-test of differences per item in clusters of one size",
    "items_crossed": "The t-test of seeds crossed with items",
    "mcnemar": "McNemar's exact test",
    "levene": "Levene's test of scatter",
    "levene paired": "Levene's test of scatter within pairs",
    "f": "The F-test of variances",
    "log_rank": "The log-rank test",
    "log_rank paired": "The log-rank test within pairs",
    "sign": "The sign test",
    "cluster_sign": "The sign test by clusters",
    "trend welch": "The test of a linear trend",
    "ordering": "The test of an order",
    "eprocess_t": "The e-process, looked at after every pair",
    "eprocess_t one arm": "The e-process of one arm, looked at after every seed",
    "group_obf one arm": "The t-test of one sample at planned looks",
    "all": "The conjunction of three",
    "any": "Holm's method for at least one of three",
    "family": "Holm's method for a family of four claims (a false conclusion about any of them)",
    "association clustered": "The permutation of clusters",
    "student": "Student's test",
    "permutation": "The permutation test of Welch's t",
    "brunner_munzel": "The Brunner-Munzel test",
    "yuen": "Yuen's test",
    "group_obf": "Welch's test at three or four planned looks",
    "group_obf every pair": "Welch's test at many planned looks",
    "separation": "Separation",
    "trend jonckheere": "The Jonckheere-Terpstra test",
    "trend kendall": "Kendall's test of trend",
    "association pearson": "The test of Pearson's correlation",
    "association spearman": "The test of Spearman's correlation",
    "association kendall": "The test of Kendall's correlation",
    "at most pearson": "An upper bound on the size of Pearson's correlation",
    "at most spearman": "An upper bound on the size of Spearman's correlation",
    "at most kendall": "An upper bound on the size of Kendall's correlation",
    "at least pearson": "A lower bound on the size of Pearson's correlation",
    "at least spearman": "A lower bound on the size of Spearman's correlation",
    "at least kendall": "A lower bound on the size of Kendall's correlation",
    "meta_analysis": "Random effects of tasks with equal weights",
    "meta_analysis inverse variance": "Random effects of tasks by Hartung and Knapp",
    "meta_analysis wilcoxon": "Wilcoxon's signed-rank test of the effects of tasks",
    "meta_analysis sign": "The sign test of the effects of tasks",
    "meta_analysis by seed": "Random effects of tasks and of seeds",
    "over_tasks improvement by seed": "Welch's test of mean ranks over tasks",
    "over_tasks iqm": "The test of interquartile means over tasks",
    "over_tasks mean": "The test of means over tasks",
    "over_tasks improvement": "The test of the probability of improvement over tasks",
    "over_tasks iqm bootstrap": "The percentile bootstrap of interquartile means over tasks",
    "over_tasks mean bootstrap": "The percentile bootstrap of means over tasks",
    "over_tasks improvement bootstrap": "The percentile bootstrap of improvement over tasks",
}

FEW_LOOKS = 2
"""So few planned looks hold their level: .052 at five and ten pairs, standard deviations 3:1."""

SEVERAL_LOOKS = 4
"""Beyond so many, planned looks are taken for looks at every number of pairs."""

SEEN = {
    "t4": "heavy tails (t4)",
    "lognormal": "skewed values (lognormal)",
    "collapsed": "one seed in five far from the others",
}


def designs_of(arms: Sequence[Arm]) -> tuple[CellDesign, ...]:
    """The design of each pair of arms; none for arms whose standard deviation is not known."""
    return tuple(
        found for a, b in combinations(arms, 2) if (found := _design_of_two(a, b)) is not None
    )


def design_of_one(arm: Arm) -> CellDesign:
    """The design of a single sample of replicates, points, or differences within pairs."""
    return CellDesign(summarise(arm).n, shapes=_shapes(arm), seen=isinstance(arm, Sample))


def design_of_items(paired: PairedItems) -> CellDesign:
    """The design of differences per item, or of the means of their clusters."""
    return design_of_one(Sample.of(*paired.means_of_clusters()))


def design_of_points(x: Sequence[float], y: Sequence[float]) -> CellDesign:
    """The design of points; their tails are heavy where they are together."""
    shapes = (_shapes(Sample.of(*x)) | _shapes(Sample.of(*y))) - {"t4"}
    if heavy_together(x, y):
        shapes |= {"t4"}
    return CellDesign(len(x), shapes=shapes, seen=True)


def design_over_tasks(a: Runs, b: Runs) -> CellDesign:
    """The design of two arms over tasks, by how their runs lie about the mean of their task.

    Each arm has one array of values a task, in the order of the tasks; two runs or more in each.
    """
    arms = sorted((a, b), key=lambda runs: min(map(len, runs)))
    few, many = (min(map(len, runs)) for runs in arms)
    about = [np.concatenate([task - task.mean() for task in runs]) for runs in arms]
    df = tuple(len(each) - len(runs) for each, runs in zip(about, arms, strict=True))
    sds = [math.sqrt(float(each @ each) / size) for each, size in zip(about, df, strict=True)]
    ratio = sds[0] / sds[1] if sds[1] else None if sds[0] == 0 else math.inf
    shapes = frozenset[str]().union(*(_shapes(Sample.of(*map(float, each))) for each in about))
    return CellDesign(few, None if few == many else many, ratio, shapes, (df[0], df[1]), seen=True)


def level_of_effects(effects: Sequence[float]) -> str | None:
    """What is known of a t-test of the mean of these effects of tasks; None where nothing is."""
    worst = _worst("level", [design_of_one(Sample.of(*effects))])
    if worst is None:
        return None
    said = f"with {worst.n} tasks and {SEEN[worst.distribution]} it {_errs(worst)}"
    return f"The mean effect of tasks is tested as that of one sample: {said}."


def _design_of_two(a: Arm, b: Arm) -> CellDesign | None:
    small, large = sorted((a, b), key=lambda arm: summarise(arm).n)
    try:
        spreads = summarise(small).spread, summarise(large).spread
    except ClaimError:
        return None
    ratio = None if max(spreads) == 0 else math.inf
    if spreads[1]:
        ratio = spreads[0] / spreads[1]
    n, others = summarise(small).n, summarise(large).n
    shapes, seen = _shapes(a) | _shapes(b), isinstance(a, Sample) and isinstance(b, Sample)
    return CellDesign(n, None if n == others else others, ratio, shapes, seen=seen)


def _shapes(arm: Arm) -> frozenset[str]:
    if not isinstance(arm, Sample):
        return frozenset()
    signs = (("lognormal", skewed), ("collapsed", far_away), ("t4", heavy_tailed))
    return frozenset(name for name, seen in signs if seen(arm.values))


def worst_level(test: str, designs: Sequence[CellDesign]) -> str | None:
    """What is known of a test's level near one of these designs, the worst, in a sentence.

    ``test`` as ``key_of`` gives it; ``None`` where nothing is known against it. Where its numbers
    of replicates were not measured the worst of those around them counts, and where they are beyond
    all that were, that is said. Spreads are taken as equal unless the data
    refute it, and then as the nearest ratio that was measured; without a ratio any counts. The
    rates belong to alpha = .05; other levels are lost likewise, by another amount.
    """
    worst = _worst(test, designs)
    if worst is None:
        return _not_measured(test, designs)
    sizes = {tuple(sorted(design.sizes)) for design in designs}
    nearest = "" if tuple(sorted(worst.sizes)) in sizes else ", the nearest that was measured,"
    seen = worst.distribution != "t4" or any("t4" in design.shapes for design in designs)
    nearest = nearest if seen else f"{nearest.rstrip(',')}, if tails are heavy (t4),"
    return f"{NAMES[test]}: with {_design(worst, shape=seen)}{nearest} it {_errs(worst)}."


def _worst(test: str, designs: Sequence[CellDesign]) -> MeasuredRate | None:
    """The measured cell near one of these designs whose level is lost by most."""
    found = [cell for design in designs for cell in resembling(test, design) if cell.loses]
    return max(found, key=lambda cell: cell.rate, default=None)


def _not_measured(test: str, designs: Sequence[CellDesign]) -> str | None:
    """That nothing is known of a design; None where values are normal, or cells are there."""
    if test.startswith("within") and not rates_of(test):
        seen_normal = all(design.seen and not design.shapes for design in designs)
        known = f"that of one run, in up to {NIGHTS[-1]} nights that share alpha"
        said = (
            f"How often such a limit errs where values are not normal was not measured, but {known}"
        )
        return None if seen_normal else f"{said}."
    sizes = next((design.sizes for design in designs if beyond(test, design)), None)
    if sizes is None:
        return None
    few, many = sizes
    return (
        f"{NAMES[test]}: how often it errs with {few} against {many} replicates was not measured."
    )


def _errs(cell: MeasuredRate) -> str:
    rate, level = 100 * cell.rate, 100 * cell.level
    if cell.test == "within tolerance":
        return f"fails for {rate:.1f} % of references instead of {level:.2g} % (measured)"
    return f"errs in {rate:.1f} % of cases instead of {level:.2g} % (measured)"


def level_of(
    result: TestResult, designs: Sequence[CellDesign] = (), *, looks: Sequence[int] = ()
) -> str | None:
    """``worst_level`` of the test and designs that a result comes from.

    Without designs only the number of replicates counts. ``looks`` are those that a group
    sequential test planned: its level is that of the whole plan, so it goes by the last of them.
    """
    designs = designs or (
        CellDesign(result.n[-1] if of_one_arm(key_of(result)) else min(result.n)),
    )
    if isinstance(result, WithinResult):
        return _level_of_nights(result.watch.nights, worst_level(key_of(result), designs))
    if result.test != "group_obf" or result.paired or len(result.n) == 1:
        return worst_level(key_of(result), designs)
    if len(looks) <= FEW_LOOKS:
        return None
    many = " every pair" if len(looks) > SEVERAL_LOOKS else ""
    last = [replace(design, n=looks[-1], others=None) for design in designs]
    return worst_level(f"group_obf{many}", last)


def _level_of_nights(nights: int, said: str | None) -> str | None:
    """What is said of the next larger number of nights that was measured, and that it is that."""
    if said is None or nights in (1, *NIGHTS) or nights > NIGHTS[-1]:
        return said
    return f"{said} {nights} nights were not measured: this is the next number that was."


def key_of(result: TestResult) -> str:
    """The name by which a result's test was measured; that of pairs is another test."""
    if isinstance(result, SequentialResult) and len(result.n) == 1:
        return f"{result.test} one arm"
    if isinstance(result, ItemsResult):
        return f"{result.test}{result.grouping}"
    if result.paired and "paired" not in result.test:
        return f"{result.test} paired"
    if result.test in ("welch", "paired") and result.alternative != "two-sided":
        return f"{result.test} one-sided"
    return result.measured_as if isinstance(result, WithinResult) else _of_class(result)


def _of_class(result: TestResult) -> str:
    if isinstance(result, AssociationResult):
        return f"association {result.method if result.clusters is None else 'clustered'}"
    if isinstance(result, MagnitudeResult):
        return f"{'at least' if result.high is None else 'at most'} {result.method}"
    return f"trend {result.method}" if isinstance(result, TrendResult) else result.test


def _design(cell: MeasuredRate, *, shape: bool) -> str:
    """The sizes and spreads of a cell, and with ``shape`` that of its values."""
    more = f" and {SEEN[cell.distribution]}" if shape and cell.distribution in SEEN else ""
    if of_units(cell.test) or of_one_arm(cell.test):
        unit = "points" if cell.test.startswith(POINTS) else "seeds"
        unit = "folds" if cell.test.startswith(("folds", "halves")) else unit
        if cell.test.startswith(ITEMS):
            unit = "clusters" if "cluster" in cell.test else "items"
        if cell.test.startswith(TASKS):
            return f"{_per_task(cell)}{more}"
        return f"{cell.n} {unit}{more}"
    unequal = f"{cell.n} against {cell.others} replicates"
    n = f"{cell.n} replicates per arm" if cell.others is None else unequal
    apart = f"standard deviations {_ratio(cell.sd_ratio)}"
    spreads = "equal standard deviations" if cell.sd_ratio == 1 else apart
    most = "at most " if cell.test.startswith("group_obf") else ""
    return f"{most}{n}, {spreads}{more}"


def _per_task(cell: MeasuredRate) -> str:
    few, many = cell.sizes
    seeds = f"{few} seeds" if few == many else f"{few} against {many} seeds"
    spreads = "" if cell.sd_ratio == 1 else f", standard deviations {_ratio(cell.sd_ratio)}"
    per = "on all tasks" if cell.test.endswith("by seed") else "per task"
    return f"{seeds} {per}{spreads}"


def _ratio(ratio: float) -> str:
    return f"{ratio:g}:1" if ratio > 1 else f"1:{1 / ratio:g}"


T_TESTS = frozenset(
    {"level", "student", "trend welch", "ordering"}
    | {name for name in NAMES if name.startswith("within")}
    | {f"{test}{sides}" for test in ("welch", "paired") for sides in ("", " one-sided")}
    | {
        f"{test}{paired}"
        for test in ("tost", "non_inferiority", "non_superiority", "ratio")
        for paired in ("", "_relative", " paired")
    }
)
"""Tests of means whose seeds are taken for normal."""

UNSEEN = ("lognormal", "collapsed")
"""Distributions that fewer than ``FEWEST_SKEWED`` values do not show."""


def few_seeds(result: TestResult) -> str:
    """What so few seeds cannot show of a test's assumptions, with the measured rates, in a line.

    The rates are the highest at the numbers ``around`` these, at any ratio of spreads. Empty for
    eight seeds or more, and for tests that take no seeds for normal and pool no items.
    """
    key, sizes = key_of(result), (min(result.n), max(result.n))
    if of_one_arm(key):
        sizes = (result.n[-1], result.n[-1])
    if key == "level_items":
        return errors_of_pooled(sizes[0])
    if key not in T_TESTS or result.p is None or sizes[0] >= FEWEST_SKEWED:
        return ""
    unit = "pairs" if result.paired else "seeds"
    said = f"With {sizes[0]} {unit}, skew and rare failures cannot be seen"
    known = [cell for cell in rates_of(key) if cell.distribution in UNSEEN]
    measured = set() if beyond(key, CellDesign(*sizes)) else {cell.sizes for cell in known}
    near = [cell for cell in known if cell.sizes in around(measured, sizes)]
    worst = {cell.distribution: cell for cell in sorted(near, key=lambda cell: cell.rate)}
    if len(worst) < len(UNSEEN):
        return f"{said}."
    skewed_rate, failing = (f"{100 * worst[shape].rate:.2g} %" for shape in UNSEEN)
    level = f"{100 * near[0].level:.2g} %"
    return (
        f"{said}: with skew the test errs in up to {skewed_rate} of cases instead of {level}, and "
        f"where one seed in five fails, in up to {failing} (measured)."
    )
