"""What is simulated: cells, rules, and the records that tie them together."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from repro.errors import ClaimError
from repro.expectations.verdict_words import Conclusion, Finding

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Mask: TypeAlias = npt.NDArray[np.bool_]
Data: TypeAlias = tuple[Array, ...]
"""One array an arm (or variable), shape (draw, replicate)."""

NAMED = ("normal", "uniform", "lognormal", "collapsed")
"""The distributions that have a name; besides there are t3, t4, ..."""

SYMMETRIC = ("normal", "uniform")
"""Those where equal means are equal medians, whatever the standard deviations."""

SEED = 2021
"""Written once. Every cell has a generator of its own, from this and the cell's name."""

NOTHING = Finding(Conclusion.INCONCLUSIVE, 1.0, 1.0)
"""What is found where the test refuses the evidence; as ``repro.judging.assemble`` has it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """``n`` replicates in the first arm, ``others`` in each other (None: as many).

    ``sd_ratio`` is the first arm's standard deviation over the others', which is 1;
    ``distribution`` one of those that ``noise`` knows.
    """

    n: int
    sd_ratio: float = 1.0
    distribution: str = "normal"
    alpha: float = 0.05
    others: int | None = None

    @property
    def n_others(self) -> int:
        """Replicates in each arm but the first."""
        return self.n if self.others is None else self.others

    @property
    def se(self) -> float:
        """The true standard error of the difference of two arms; all but the first have sd 1."""
        return math.sqrt(self.sd_ratio**2 / self.n + 1 / self.n_others)

    @property
    def place(self) -> str:
        """The design in a few words."""
        n = f"{self.n}" if self.others is None else f"{self.n} v {self.others}"
        return f"n = {n}, sd {self.sd_ratio:g}:1, {self.distribution}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was concluded, draw by draw."""

    confirmed: Mask
    contradicted: Mask


@dataclass(frozen=True, slots=True)
class Rule:
    """One test with its rule of decision, in two forms that must agree.

    ``decide`` judges all draws at once; ``judge`` one draw, by the public functions.
    ``covers``: whether the interval of each draw holds the truth.
    """

    decide: Callable[[Data], Outcome]
    judge: Callable[[Data], Finding]
    covers: Callable[[Data, float], Mask] | None = None

    def conclude(self, row: Data) -> Conclusion:
        """The conclusion from one draw; INCONCLUSIVE where the test refuses."""
        try:
            return self.judge(row).conclusion
        except ClaimError:
            return NOTHING.conclusion


Draw: TypeAlias = Callable[[np.random.Generator, int], Data]


@dataclass(frozen=True, slots=True)
class Setup:
    """A rule with data at the boundary of its null; ``truth`` is the parameter it estimates."""

    rule: Rule
    draw: Draw
    truth: float | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """One kind of expectation, by one test.

    ``make`` sets up a cell. ``gated`` says whether a cell of the gated grid has to hold its
    level, to within ``tolerance``. ``wide`` are the distributions of the cells off that grid:
    those at whose means the test's own null is true.
    ``sd_ratios`` is false where no ratio of two spreads exists, ``distributions`` where no
    distribution matters, ``unequal`` where all arms have as many replicates; ``sizes`` where
    ``n`` is part of the design; ``most_draws`` where a draw is dear, ``most_wide`` where it is
    off the grid.

    ``either``: at this null CONFIRMED and CONTRADICTED are both false, and count together; else
    each is false on another side of the boundary, and the more frequent counts. ``share`` of
    alpha is what either may spend: a half where the question is two-sided and its null is not.
    """

    kind: str
    test: str
    make: Callable[[Cell], Setup]
    gated: Callable[[Cell], bool]
    fewest: int = 3
    most: int = 10**6
    sd_ratios: bool = True
    distributions: bool = True
    unequal: bool = True
    sizes: tuple[int, ...] | None = None
    tolerance: float = 0.005
    most_draws: int = 10**9
    most_wide: int = 10**9
    either: bool = False
    share: float = 1.0
    wide: tuple[str, ...] = NAMED

    @property
    def name(self) -> str:
        """The kind and its test."""
        return f"{self.kind}/{self.test}"

    def has(self, cell: Cell) -> bool:
        """Whether the cell makes sense for this experiment."""
        arms_differ = self.unequal and self.sd_ratios and self.sizes is None
        return (
            self.fewest <= cell.n <= self.most
            and (self.sd_ratios or cell.sd_ratio == 1)
            and (self.distributions or cell.distribution == "normal")
            and (arms_differ or cell.others is None)
        )

    def is_gated(self, cell: Cell) -> bool:
        """Whether the rate of false conclusions must keep within its limit in this cell."""
        return regular(cell) and self.gated(cell)

    def draws(self, cell: Cell, asked: int) -> int:
        """How many draws of a cell are judged, if so many are asked for."""
        most = self.most_draws if regular(cell) else min(self.most_draws, self.most_wide)
        return min(asked, most)

    def limit(self, cell: Cell) -> float:
        """What the rate of false conclusions must not exceed."""
        return self.share * cell.alpha + self.tolerance


def regular(cell: Cell) -> bool:
    """Equal numbers, standard deviations up to 3:1, normal or t: where the gates are."""
    near = 1 / 3 <= cell.sd_ratio <= 3
    return cell.others is None and near and cell.distribution not in NAMED[1:]


def always(cell: Cell) -> bool:
    """Gated in every cell."""
    return True


def never(cell: Cell) -> bool:
    """Listed, not gated."""
    return False


def generator(name: str, cell: Cell, seed: int) -> np.random.Generator:
    """The generator of one cell: the same whichever other cells are run."""
    n = f"{cell.n}" if cell.others is None else f"{cell.n}v{cell.others}"
    label = f"{name} {n} {cell.sd_ratio:g} {cell.distribution} {cell.alpha:g}"
    return np.random.default_rng([seed, zlib.crc32(label.encode())])


LOG_SD = 0.5
"""The standard deviation of the logarithm of ``lognormal`` values."""

COLLAPSED, DEPTH = 0.2, 10.0
"""The share of ``collapsed`` seeds, and how far below the others they lie, in their sds."""


def noise(rng: np.random.Generator, distribution: str, shape: tuple[int, ...]) -> Array:
    """Independent values of mean 0 and standard deviation 1.

    ``normal``, ``uniform``, ``t3`` and up; ``lognormal``, whose logarithm has sd .5; and
    ``collapsed``: normal values of which one in five lies ten standard deviations below.
    """
    if distribution == "normal":
        return rng.standard_normal(shape)
    if distribution == "uniform":
        return rng.uniform(-math.sqrt(3), math.sqrt(3), shape)
    if distribution == "lognormal":
        mean, sd = lognormal_moments()
        return (np.exp(LOG_SD * rng.standard_normal(shape)) - mean) / sd
    if distribution == "collapsed":
        values = rng.standard_normal(shape)
        values -= DEPTH * (rng.random(shape) < COLLAPSED)
        mean, sd = collapsed_moments()
        return (values - mean) / sd
    df = degrees(distribution)
    return rng.standard_t(df, shape) * math.sqrt((df - 2) / df)


def lognormal_moments() -> tuple[float, float]:
    """Mean and standard deviation of lognormal values before they are scaled."""
    square = LOG_SD**2
    return math.exp(square / 2), math.sqrt(math.expm1(square) * math.exp(square))


def collapsed_moments() -> tuple[float, float]:
    """Mean and standard deviation of collapsed values before they are scaled."""
    return -COLLAPSED * DEPTH, math.sqrt(1 + COLLAPSED * (1 - COLLAPSED) * DEPTH**2)


def degrees(distribution: str) -> int:
    """The degrees of freedom in ``t4``; ``ValueError`` for anything but t3, t4, ..."""
    df = distribution[1:]
    if not (distribution.startswith("t") and df.isdecimal() and int(df) > 2):
        names = ", ".join(NAMED)
        raise ValueError(f"a distribution is {names}, or t3, t4, ..., not {distribution!r}")
    return int(df)
