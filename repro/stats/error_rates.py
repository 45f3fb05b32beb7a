"""Where a test is known to lose its level: error rates that were measured, for the report.

The rates are those of ``benchmarks/levels``, at the boundary of each null: a lookup of the
measured designs that the present one resembles, by sizes, spreads and the shape of its values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from itertools import combinations

import numpy as np
from scipy.special import fdtr, fdtrc, ndtr, stdtr

from repro.errors import ClaimError
from repro.stats.correlation import AssociationResult, MagnitudeResult
from repro.stats.records import ROUND_OFF, Arm, Sample, TestResult, summarise
from repro.stats.stopping import SequentialResult
from repro.stats.task_aggregates import Runs
from repro.stats.trends import TrendResult

NAMES = {
    "welch": "Welch's test",
    "welch one-sided": "Welch's test, one-sided",
    "paired": "The paired t-test",
    "paired one-sided": "The paired t-test, one-sided",
    "paired_permutation": "The permutation test within pairs",
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
    "meta_analysis by seed": "Random effects of tasks and of seeds",
    "over_tasks improvement by seed": "Welch's test of mean ranks over tasks",
    "over_tasks iqm": "The test of interquartile means over tasks",
    "over_tasks mean": "The test of means over tasks",
    "over_tasks improvement": "The test of the probability of improvement over tasks",
    "over_tasks iqm bootstrap": "The percentile bootstrap of interquartile means over tasks",
    "over_tasks mean bootstrap": "The percentile bootstrap of means over tasks",
    "over_tasks improvement bootstrap": "The percentile bootstrap of improvement over tasks",
}

ASSUME_ALIKE = {
    "student", "permutation", "brunner_munzel", "yuen", "trend jonckheere", "trend kendall",
}  # fmt: skip
"""Tests whose null is that the arms are alike.

Of a design without values they are told as soon as unequal spreads are nearer.
"""

REFUTED = 0.01
"""Equal standard deviations count as refuted where the F-test has a p below this."""

SAME = {"paired one-sided": "non_inferiority paired"}
"""Tests that are another one at its border, and have its rates."""

FEW_LOOKS = 2
"""So few planned looks hold their level: .052 at five and ten pairs, standard deviations 3:1."""

SEVERAL_LOOKS = 4
"""Beyond so many, planned looks are taken for looks at every number of pairs."""

ALWAYS = {"normal", "t4"}
"""What a design without values may have; of values heavy tails (t4) count where they are seen."""

SEEN = {
    "t4": "heavy tails (t4)",
    "lognormal": "skewed values (lognormal)",
    "collapsed": "one seed in five far from the others",
}

_POINTS = ("association", "at most", "at least")
_TASKS = ("over_tasks", "meta_analysis")
_UNITS = (*_POINTS, "share", "sign", "cluster_sign", "paired", *_TASKS)
_ONE_ARM = (
    *("level", "level near an end", "level_items", "level_known_sd", "level_median"),
    *("eprocess_t one arm", "group_obf one arm"),
)


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """The rate of false conclusions in one cell, where ``level`` is what it should be at most.

    ``n`` replicates in the first arm, ``others`` in each other (``None``: as many); ``sd_ratio``
    is the first arm's over the others'. ``loses``: more than half a percent too high.
    """

    test: str
    n: int
    others: int | None
    sd_ratio: float
    distribution: str
    rate: float
    level: float
    loses: bool

    @property
    def sizes(self) -> tuple[int, int]:
        """Replicates in the first arm and in each other."""
        return self.n, self.n if self.others is None else self.others


@dataclass(frozen=True, slots=True)
class CellDesign:
    """What of the evidence says which measured cells it resembles.

    ``n`` replicates in the smaller arm (or points, or units), ``others`` in the larger;
    ``sd_ratio`` is the smaller arm's over the larger one's, ``None`` where it is not known, and
    ``df`` the degrees of freedom of both where these are not one less than the replicates.
    ``shapes`` may hold ``lognormal`` (skewed), ``collapsed`` (a few far away) and ``t4`` (heavy
    tails). Where values were ``seen``, nothing else is supposed of them, nor unequal spreads that
    they do not show.
    """

    n: int
    others: int | None = None
    sd_ratio: float | None = None
    shapes: frozenset[str] = frozenset()
    df: tuple[int, int] | None = None
    seen: bool = False

    @property
    def sizes(self) -> tuple[int, int]:
        """Replicates in the smaller and in the larger arm."""
        return self.n, self.n if self.others is None else self.others

    @property
    def alike(self) -> bool:
        """Whether the data do not refute equal standard deviations (F-test, two-sided)."""
        ratio = self.sd_ratio
        if ratio is None:
            return True
        if ratio == 0 or not math.isfinite(ratio):
            return False
        df = self.df or (self.sizes[0] - 1, self.sizes[1] - 1)
        tails = float(fdtr(*df, ratio**2)), float(fdtrc(*df, ratio**2))
        return 2 * min(tails) >= REFUTED


def designs_of(arms: Sequence[Arm]) -> tuple[CellDesign, ...]:
    """The design of each pair of arms; none for arms whose standard deviation is not known."""
    return tuple(
        found for a, b in combinations(arms, 2) if (found := _design_of_two(a, b)) is not None
    )


def design_of_one(arm: Arm) -> CellDesign:
    """The design of a single sample of replicates, points, or differences within pairs."""
    return CellDesign(summarise(arm).n, shapes=_shapes(arm), seen=isinstance(arm, Sample))


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
    return (
        f"The mean effect of tasks is tested as that of one sample: with {worst.n} tasks and "
        f"{SEEN[worst.distribution]} it {_errs(worst)}."
    )


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
    seen = {
        "lognormal": skewed(arm.values),
        "collapsed": far_away(arm.values),
        "t4": heavy_tailed(arm.values),
    }
    return frozenset(name for name, yes in seen.items() if yes)


@lru_cache(maxsize=1)
def measured_rates() -> tuple[MeasuredRate, ...]:
    """Every measured cell of every test."""
    text = files("repro.stats").joinpath("levels.json").read_text(encoding="utf-8")
    data = json.loads(text)
    rows = (dict(zip(data["columns"], row, strict=True)) for row in data["rates"])
    return tuple(MeasuredRate(**row) for row in rows)


@lru_cache(maxsize=64)
def rates_of(test: str) -> tuple[MeasuredRate, ...]:
    """The cells of one test, or of the one that it is at its border."""
    same = SAME.get(test, test)
    return tuple(replace(cell, test=test) for cell in measured_rates() if cell.test == same)


def worst_level(test: str, designs: Sequence[CellDesign]) -> str | None:
    """What is known of a test's level near one of these designs, the worst, in a sentence.

    ``test`` as ``key_of`` gives it; ``None`` where nothing is known against it. The nearest
    numbers of replicates that were measured count. Spreads are taken as equal unless the data
    refute it, and then as the nearest ratio that was measured; without a ratio any counts. The
    rates belong to alpha = .05; other levels are lost likewise, by another amount.
    """
    worst = _worst(test, designs)
    if worst is None:
        return None
    sizes = {tuple(sorted(design.sizes)) for design in designs}
    nearest = "" if tuple(sorted(worst.sizes)) in sizes else ", the nearest that was measured,"
    return f"{NAMES[test]}: with {_design(worst)}{nearest} it {_errs(worst)}."


def _worst(test: str, designs: Sequence[CellDesign]) -> MeasuredRate | None:
    """The measured cell near one of these designs whose level is lost by most."""
    found = [cell for design in designs for cell in _resembling(test, design) if cell.loses]
    return max(found, key=lambda cell: cell.rate, default=None)


def _errs(cell: MeasuredRate) -> str:
    rate, level = 100 * cell.rate, 100 * cell.level
    return f"errs in {rate:.1f} % of cases instead of {level:.2g} % (measured)"


def level_of(
    result: TestResult, designs: Sequence[CellDesign] = (), *, looks: Sequence[int] = ()
) -> str | None:
    """``worst_level`` of the test and designs that a result comes from.

    Without designs only the number of replicates counts. ``looks`` are those that a group
    sequential test planned: its level is that of the whole plan, so it goes by the last of them.
    """
    designs = designs or (CellDesign(min(result.n)),)
    if result.test != "group_obf" or result.paired or len(result.n) == 1:
        return worst_level(key_of(result), designs)
    if len(looks) <= FEW_LOOKS:
        return None
    many = " every pair" if len(looks) > SEVERAL_LOOKS else ""
    last = [replace(design, n=looks[-1], others=None) for design in designs]
    return worst_level(f"group_obf{many}", last)


def key_of(result: TestResult) -> str:
    """The name by which a result's test was measured; that of pairs is another test."""
    if isinstance(result, SequentialResult) and len(result.n) == 1:
        return f"{result.test} one arm"
    if result.paired and "paired" not in result.test:
        return f"{result.test} paired"
    if result.test in ("welch", "paired") and result.alternative != "two-sided":
        return f"{result.test} one-sided"
    if isinstance(result, AssociationResult):
        return f"association {result.method if result.clusters is None else 'clustered'}"
    if isinstance(result, MagnitudeResult):
        return f"{'at least' if result.high is None else 'at most'} {result.method}"
    return f"trend {result.method}" if isinstance(result, TrendResult) else result.test


def of_units(key: str) -> bool:
    """Whether a test has one sample of points, units or pairs, and no arms to be unequal."""
    return key.startswith(_UNITS) or key.endswith("paired")


def of_one_arm(key: str) -> bool:
    """Whether a test holds the replicates of a single arm to a constant."""
    return key in _ONE_ARM


def _resembling(test: str, design: CellDesign) -> list[MeasuredRate]:
    every = rates_of(test)
    if not every or design.n < 2:
        return []
    sizes = design.sizes
    if all(cell.others is None for cell in every):
        sizes = (design.n, design.n)
    nearest = min({cell.sizes for cell in every}, key=lambda measured: distance(measured, sizes))
    near = [
        cell
        for cell in every
        if cell.sizes == nearest
        and cell.distribution in ({"normal"} if design.seen else ALWAYS) | design.shapes
    ]
    return [cell for cell in near if _like(cell, design, near)]


def distance(pair: tuple[int, int], other: tuple[int, int]) -> float:
    """How far two pairs of numbers of replicates are apart, as ratios count."""
    return math.hypot(*(math.log(a / b) for a, b in zip(pair, other, strict=True)))


def _like(cell: MeasuredRate, design: CellDesign, near: Sequence[MeasuredRate]) -> bool:
    """Whether the standard deviations of a cell resemble those of the design."""
    ratio = design.sd_ratio
    over_tasks = cell.test.startswith(_TASKS)
    if ratio is None or (of_units(cell.test) and not over_tasks):
        return True
    if design.alike and (design.seen or cell.test not in ASSUME_ALIKE):
        return cell.sd_ratio == 1
    measured = {other.sd_ratio for other in near if other.distribution == cell.distribution}
    log = math.log(min(max(ratio, 1e-9), 1e9))
    if cell.others is None:
        log = abs(log)
    return cell.sd_ratio == min(
        measured, key=lambda measured_ratio: abs(math.log(measured_ratio) - log)
    )


def _design(cell: MeasuredRate) -> str:
    shape = SEEN.get(cell.distribution)
    more = f" and {shape}" if shape else ""
    if of_units(cell.test) or of_one_arm(cell.test):
        unit = "points" if cell.test.startswith(_POINTS) else "seeds"
        if cell.test.startswith(_TASKS):
            return f"{_per_task(cell)}{more}"
        return f"{cell.n} {unit}{more}"
    n = f"{cell.n} replicates per arm"
    if cell.others is not None:
        n = f"{cell.n} against {cell.others} replicates"
    spreads = "equal standard deviations"
    if cell.sd_ratio != 1:
        spreads = f"standard deviations {_ratio(cell.sd_ratio)}"
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


LEVEL = 0.01
"""How often a normal sample is taken for skewed, or for one with values far away, at most."""

FEWEST_SKEWED = 8
"""Values from which on the skewness has a test (D'Agostino 1970)."""

FEWEST_HEAVY = 10
"""Values from which on their kurtosis tells something: 1 % of normal samples are told at most."""

MARDIA = {
    10: 9.73, 12: 10.24, 15: 10.63, 20: 10.91, 30: 10.93,
    50: 10.61, 100: 9.99, 200: 9.43, 500: 8.91, 1000: 8.63,
}  # fmt: skip
"""Numbers of points, and the kurtosis that 1 % of normal samples pass (100,000 draws or more)."""

MOST_FAR = 10
"""So many values at one end are looked at, and never more than a third."""


def skewed(values: Sequence[float]) -> bool:
    """Whether the values are more skewed than normal ones (D'Agostino's test, two-sided)."""
    if len(values) < FEWEST_SKEWED or min(values) == max(values):
        return False
    return 2 * float(ndtr(-abs(skewness_z(values)))) <= LEVEL


def skewness_z(values: Sequence[float]) -> float:
    """The skewness as a standard normal deviate (D'Agostino 1970), for 8 values or more."""
    n, deviations = len(values), _deviations(values)
    second = math.fsum(d**2 for d in deviations) / n
    skewness = math.fsum(d**3 for d in deviations) / n / second**1.5
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    kurtosis = 3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3)
    kurtosis /= (n - 2) * (n + 5) * (n + 7) * (n + 9)
    w_squared = math.sqrt(2 * (kurtosis - 1)) - 1
    return math.asinh(y / math.sqrt(2 / (w_squared - 1))) / math.sqrt(math.log(w_squared) / 2)


def heavy_tailed(values: Sequence[float]) -> bool:
    """Whether the tails are heavier than normal ones (Anscombe and Glynn 1983, one-sided)."""
    n = len(values)
    if n < FEWEST_HEAVY or min(values) == max(values):
        return False
    deviations = np.array(_deviations(values))
    kurtosis = float(np.mean(deviations**4) / np.mean(deviations**2) ** 2)
    mean = 3 * (n - 1) / (n + 1)
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    skewness = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
    skewness *= math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6 + 8 / skewness * (2 / skewness + math.sqrt(1 + 4 / skewness**2))
    share = (1 - 2 / a) / (1 + (kurtosis - mean) / math.sqrt(variance) * math.sqrt(2 / (a - 4)))
    z = (1 - 2 / (9 * a) - math.copysign(abs(share) ** (1 / 3), share)) / math.sqrt(2 / (9 * a))
    return float(ndtr(-z)) <= LEVEL


def heavy_together(x: Sequence[float], y: Sequence[float]) -> bool:
    """Whether points scatter with heavier tails than normal ones, whatever their correlation.

    Mardia's kurtosis: the mean fourth power of the distances from the mean, in standard
    deviations along every direction, is beyond that of 1 % of normal samples (simulated).
    """
    n = len(x)
    points = np.array([_deviations(x), _deviations(y)]) if min(map(np.ptp, (x, y))) else None
    if n < FEWEST_HEAVY or points is None:
        return False
    covariance = points @ points.T / n
    if np.linalg.det(covariance) <= ROUND_OFF * covariance[0, 0] * covariance[1, 1]:
        return False
    squares = np.sum(points * np.linalg.solve(covariance, points), axis=0)
    limit = np.interp(math.log(n), np.log(list(MARDIA)), list(MARDIA.values()))
    return bool(np.mean(squares**2) > limit)


def far_away(values: Sequence[float]) -> bool:
    """Whether a few values at one end lie far from all others.

    The nearest of the m values at an end is set against the mean of the rest, as if it were one
    more value of theirs: Student's t with ``n - m - 1`` degrees of freedom. p is multiplied by
    the numbers of values, of ends, and of m (Bonferroni; simulated, too: below 1 % at any n).
    """
    ordered = sorted(_deviations(values)) if min(values) < max(values) else []
    most = min(len(ordered) // 3, MOST_FAR)
    return any(
        _p_far(end, m) * 2 * most <= LEVEL
        for end in (ordered, [-value for value in reversed(ordered)])
        for m in range(1, most + 1)
    )


def _p_far(ordered: Sequence[float], m: int) -> float:
    """One-sided p that the first m values, from below, belong to the others."""
    rest = ordered[m:]
    n = len(rest)
    mean = math.fsum(rest) / n
    variance = math.fsum((value - mean) ** 2 for value in rest) / (n - 1)
    if n < 3 or variance == 0:
        return 1.0
    t = (mean - ordered[m - 1]) / math.sqrt(variance * (1 + 1 / n))
    return len(ordered) * float(stdtr(n - 1, -t))


def _deviations(values: Sequence[float]) -> list[float]:
    """From the mean, the largest of them 1, so that no power overflows."""
    mean = math.fsum(value / len(values) for value in values)
    largest = max(abs(value - mean) for value in values)
    return [(value - mean) / largest for value in values]
