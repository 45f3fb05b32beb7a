"""The measured cells of every test, and which of them a design resembles."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import TypeAlias

from scipy.special import fdtr, fdtrc

Sizes: TypeAlias = tuple[int, int]
"""Replicates in the smaller and in the larger arm."""

LEAST = 2
"""Fewest replicates that a test can have."""

ASSUME_ALIKE = {
    "student", "permutation", "brunner_munzel", "yuen", "trend jonckheere", "trend kendall",
}  # fmt: skip
"""Tests whose null is that the arms are alike.

Without values they are told as soon as unequal spreads are nearer.
"""

REFUTED = 0.01
"""Equal standard deviations count as refuted where the F-test has a p below this."""

SAME = {"paired one-sided": "non_inferiority paired"}
"""Tests that are another one at its border, and have its rates."""

ALWAYS = {"normal", "t4"}
"""What a design without values may have; of values heavy tails (t4) count where they are seen."""

POINTS = ("association", "at most", "at least")
TASKS = ("over_tasks", "meta_analysis")
ITEMS = ("items_t", "mcnemar")
_UNITS = (*POINTS, "share", "sign", "cluster_sign", "paired", *TASKS, *ITEMS)
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


def of_units(key: str) -> bool:
    """Whether a test has one sample of points, units or pairs, and no arms to be unequal."""
    return key.startswith(_UNITS) or key.endswith("paired")


def of_one_arm(key: str) -> bool:
    """Whether a test holds the replicates of a single arm to a constant."""
    return key in _ONE_ARM or key.startswith("within")


def resembling(test: str, design: CellDesign) -> list[MeasuredRate]:
    """The cells of a test that a design resembles: of its sizes, or of those around it.

    Cells around it have as few replicates in the smaller arm, or fewer, and are next to it in how
    unequal the arms are, on either side; of equal arms those with more replicates count, too. So
    the worst of them is not milder than the design. None where ``beyond`` all cells.
    """
    every = rates_of(test)
    if not every or design.n < LEAST or beyond(test, design):
        return []
    shapes = ({"normal"} if design.seen else ALWAYS) | design.shapes
    found = []
    for nearest in around({cell.sizes for cell in every}, _sizes(test, design)):
        near = [cell for cell in every if cell.sizes == nearest and cell.distribution in shapes]
        found += [cell for cell in near if _like(cell, design, near)]
    return found


def beyond(test: str, design: CellDesign) -> bool:
    """Whether a test was measured with unequal arms, but with none as unequal, or as small."""
    few, many = _sizes(test, design)
    every = {cell.sizes for cell in rates_of(test)}
    hard = (b / a >= many / few for a, b in every if a <= few)
    return few != many and bool(every) and not any(hard)


def _sizes(test: str, design: CellDesign) -> Sizes:
    """Those of the arms; of a test whose arms have always as many, or of one arm, the smaller."""
    alike = all(cell.others is None for cell in rates_of(test))
    return (design.n, design.n) if alike else design.sizes


def around(every: set[Sizes], sizes: Sizes) -> set[Sizes]:
    """The measured sizes next to these: by the smaller arm first; these alone if they are there."""
    few, many = sizes
    least = max(few, min((a for a, _ in every), default=few))
    hard = [(a, b) for a, b in every if a <= least]
    sides = (
        [(a, b) for a, b in hard if b / a <= many / few],
        [(a, b) for a, b in hard if b / a >= many / few],
        [(a, b) for a, b in every if a == b >= few == many],
    )

    def apart(each: Sizes) -> tuple[float, float]:
        return abs(each[0] - few), abs(math.log(each[1] / many))

    return {min(side, key=apart) for side in sides if side}


def _like(cell: MeasuredRate, design: CellDesign, near: Sequence[MeasuredRate]) -> bool:
    """Whether the standard deviations of a cell resemble those of the design."""
    ratio = design.sd_ratio
    over_tasks = cell.test.startswith(TASKS)
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
