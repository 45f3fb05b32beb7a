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
from repro.verdict import Conclusion, Finding

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Mask: TypeAlias = npt.NDArray[np.bool_]
Data: TypeAlias = tuple[Array, ...]
"""One array an arm (or variable), shape (draw, replicate)."""

SEED = 2021
"""Written once. Every cell has a generator of its own, from this and the cell's name."""

NOTHING = Finding(Conclusion.INCONCLUSIVE, 1.0, 1.0)
"""What is found where the test refuses the evidence; as ``repro.check`` has it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """``n`` replicates an arm; the first arm's sd over the others'; ``normal``, ``t4``, ..."""

    n: int
    sd_ratio: float = 1.0
    tails: str = "normal"
    alpha: float = 0.05

    @property
    def se(self) -> float:
        """The true standard error of the difference of two arms; all but the first have sd 1."""
        return math.hypot(self.sd_ratio, 1) / math.sqrt(self.n)


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

    ``make`` sets up a cell. ``gated`` says whether the cell has to hold its level, to within
    ``tolerance``. ``sd_ratios`` is false where no ratio of two spreads exists, ``tails`` where
    no distribution matters; ``sizes`` where ``n`` is part of the design; ``most_draws`` where a
    draw is dear.
    """

    kind: str
    test: str
    make: Callable[[Cell], Setup]
    gated: Callable[[Cell], bool]
    fewest: int = 3
    most: int = 10**6
    sd_ratios: bool = True
    tails: bool = True
    sizes: tuple[int, ...] | None = None
    tolerance: float = 0.005
    most_draws: int = 10**9

    @property
    def name(self) -> str:
        """The kind and its test."""
        return f"{self.kind}/{self.test}"

    def has(self, cell: Cell) -> bool:
        """Whether the cell makes sense for this experiment."""
        return (
            self.fewest <= cell.n <= self.most
            and (self.sd_ratios or cell.sd_ratio == 1)
            and (self.tails or cell.tails == "normal")
        )


def always(cell: Cell) -> bool:
    """Gated in every cell."""
    return True


def never(cell: Cell) -> bool:
    """Listed, not gated."""
    return False


def generator(name: str, cell: Cell, seed: int) -> np.random.Generator:
    """The generator of one cell: the same whichever other cells are run."""
    label = f"{name} {cell.n} {cell.sd_ratio:g} {cell.tails} {cell.alpha:g}"
    return np.random.default_rng([seed, zlib.crc32(label.encode())])


def noise(rng: np.random.Generator, tails: str, shape: tuple[int, ...]) -> Array:
    """Independent values of mean 0 and standard deviation 1."""
    if tails == "normal":
        return rng.standard_normal(shape)
    if tails == "uniform":
        return rng.uniform(-math.sqrt(3), math.sqrt(3), shape)
    df = degrees(tails)
    return rng.standard_t(df, shape) * math.sqrt((df - 2) / df)


def degrees(tails: str) -> int:
    """The degrees of freedom in ``t4``; ``ValueError`` for anything but t3, t4, ..."""
    if not (tails.startswith("t") and tails[1:].isdecimal() and int(tails[1:]) > 2):
        raise ValueError(f"tails are normal, uniform, or t3, t4, ..., not {tails!r}")
    return int(tails[1:])
