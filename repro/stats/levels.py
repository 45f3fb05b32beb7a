"""Where a test is known to lose its level: error rates that were measured, for the report.

The rates are those of ``benchmarks/levels``, at the boundary of each null: a lookup, nothing is
computed here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from repro.stats.result import TestResult

NAMES = {
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
}

UNEQUAL = math.sqrt(3)
"""Standard deviations in at least this ratio are nearer to 3:1 than to 1:1."""

FEW_LOOKS = 2
"""So few planned looks hold their level: .052 at five and ten pairs, standard deviations 3:1."""

SEVERAL_LOOKS = 4
"""Beyond so many, planned looks are taken for looks at every number of pairs."""

_POINTS = ("association", "at most", "at least")


@dataclass(frozen=True, slots=True)
class MeasuredRate:
    """The rate of false CONFIRMED in one cell; ``loses``: more than half a percent too high."""

    test: str
    n: int
    sd_ratio: float
    tails: str
    rate: float
    loses: bool


@lru_cache(maxsize=1)
def measured_rates() -> tuple[MeasuredRate, ...]:
    """Every cell of each test that loses its level in one of them."""
    text = files("repro.stats").joinpath("levels.json").read_text(encoding="utf-8")
    return tuple(MeasuredRate(**record) for record in json.loads(text)["rates"])


def measured_level(test: str, n: int, *, sd_ratio: float | None = None) -> str | None:
    """What is known of a test's level near a design, in a sentence; ``None``: nothing against it.

    ``test`` as ``key_of`` gives it. ``n`` replicates an arm (or points), the smaller number
    where they differ; the nearest size that was measured counts. ``sd_ratio`` is that of the
    standard deviations, either way round; without it any counts. The worst cell is told. The
    rates belong to alpha = .05; other levels are lost likewise, by another amount.
    """
    own = [one for one in measured_rates() if one.test == test]
    if not own or n < 2:
        return None
    nearest = min({one.n for one in own}, key=lambda size: abs(math.log(size / n)))
    near = [one for one in own if one.n == nearest and one.loses and _like(one, sd_ratio)]
    if not near:
        return None
    worst = max(near, key=lambda one: one.rate)
    return (
        f"{NAMES[test]}: with {_design(worst)} it errs in {100 * worst.rate:.1f} % of cases "
        "instead of 5 % (measured)."
    )


def level_of(
    result: TestResult, *, sd_ratio: float | None = None, looks: Sequence[int] = ()
) -> str | None:
    """``measured_level`` of the test and design that a result comes from.

    ``looks`` are those that a group sequential test planned: its level is that of the whole plan,
    and so it goes by the number of pairs at the last of them, whenever it decided.
    """
    if result.test != "group_obf" or result.paired:
        return measured_level(key_of(result), min(result.n), sd_ratio=sd_ratio)
    if len(looks) <= FEW_LOOKS:
        return None
    many = " every pair" if len(looks) > SEVERAL_LOOKS else ""
    return measured_level(f"group_obf{many}", looks[-1], sd_ratio=sd_ratio)


def key_of(result: TestResult) -> str:
    """The name by which a result's test was measured; that of pairs is another test."""
    if result.paired and result.test != "paired":
        return f"{result.test} paired"
    if result.test == "association":
        clustered = result.details["clusters"] is not None
        return f"association {'clustered' if clustered else result.details['method']}"
    if result.test == "magnitude":
        side = "at least" if result.high is None else "at most"
        return f"{side} {result.details['method']}"
    return f"trend {result.details['test']}" if result.test == "trend" else result.test


def _like(one: MeasuredRate, sd_ratio: float | None) -> bool:
    if sd_ratio is None or one.test.startswith(_POINTS):
        return True
    if sd_ratio <= 0 or not math.isfinite(sd_ratio):
        return one.sd_ratio > 1
    return (max(sd_ratio, 1 / sd_ratio) >= UNEQUAL) == (one.sd_ratio > 1)


def _design(one: MeasuredRate) -> str:
    tails = "" if one.tails == "normal" else f" and heavy tails ({one.tails})"
    if one.test.startswith(_POINTS):
        return f"{one.n} points{tails}"
    spreads = "equal standard deviations"
    if one.sd_ratio != 1:
        spreads = f"standard deviations {one.sd_ratio:g}:1"
    most = "at most " if one.test.startswith("group_obf") else ""
    return f"{most}{one.n} replicates an arm, {spreads}{tails}"
