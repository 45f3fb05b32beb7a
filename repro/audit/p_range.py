"""Every p-value that the unrounded numbers behind printed means and deviations could give.

The printed numbers are a box. For fixed deviations p falls as the difference grows. Student's p
rises with either deviation, so its extremes lie at corners. Welch's p rises along a ray from 0, so
they lie on the two lower or the two upper edges of the box, which are searched (statistics.md 1.5).
A one-sided p against the printed difference is 1 minus the one in its direction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, fdtrc, ndtr, stdtr

from repro.audit.audit_file import TestName
from repro.errors import ClaimError
from repro.evidence.published import PrintedNumber

Floats: TypeAlias = NDArray[np.float64]
Span: TypeAlias = tuple[float, float]
GRID = np.linspace(0, 1, 25)
ZOOMS = 5
SIGNED = "trρz"


@dataclass(frozen=True, slots=True)
class Box:
    """What two printed arms allow: the difference of means, both deviations, both sizes.

    ``difference`` is turned so that the printed one is not negative.
    """

    difference: Span
    sd_a: Span
    sd_b: Span
    n_a: int
    n_b: int


class _Arrays:
    """The boxes as arrays (R,), deviations and sizes as the variant takes them."""

    def __init__(self, boxes: Sequence[Box], variant: Variant) -> None:
        self.test = variant.test
        self.n_a = np.array([box.n_a for box in boxes], dtype=float) + variant.shift
        self.n_b = np.array([box.n_b for box in boxes], dtype=float) + variant.shift
        self.low, self.high = np.array([box.difference for box in boxes], dtype=float).T
        self.sd_a = np.array([box.sd_a for box in boxes], dtype=float)
        self.sd_b = np.array([box.sd_b for box in boxes], dtype=float)
        if variant.ddof == 0:
            self.sd_a *= np.sqrt(self.n_a / (self.n_a - 1))[:, None]
            self.sd_b *= np.sqrt(self.n_b / (self.n_b - 1))[:, None]


@np.errstate(all="ignore")
def feasible(boxes: Sequence[Box], variant: Variant) -> list[Span]:
    """The least and the greatest p of ``variant`` over each box, of which there is at least one.

    For a paired test the correlation of the two arms is unknown too: any is possible.
    """
    arrays = _Arrays(boxes, variant)
    crosses = arrays.low < 0
    near = np.maximum(arrays.low, 0)
    least, most = _extreme(arrays, arrays.high, -1), _extreme(arrays, near, 1)
    contrary = _extreme(arrays, np.abs(arrays.low), -1)
    if variant.tails == 2:
        farther = np.maximum(np.abs(arrays.low), arrays.high) > arrays.high
        low = 2 * np.where(farther, contrary, least)
        high = np.where(crosses, 1.0, 2 * most)
    elif variant.against:
        low, high = np.where(crosses, contrary, 1 - most), 1 - least
    else:
        low, high = least, np.where(crosses, 1 - contrary, most)
    return list(zip(low.tolist(), np.minimum(high, 1.0).tolist(), strict=True))


def _extreme(arrays: _Arrays, distance: Floats, side: int) -> Floats:
    """The least (side -1) or greatest (+1) upper tail at a ``distance`` of 0 or more."""
    end = 0 if side < 0 else 1
    a, b = arrays.sd_a[:, end], arrays.sd_b[:, end]
    if arrays.test == "student":
        return _student_tail(distance, a, b, arrays.n_a, arrays.n_b)
    if arrays.test == "paired":
        apart = np.maximum(arrays.sd_a[:, 0] - arrays.sd_b[:, 1], 0)
        apart = np.maximum(apart, arrays.sd_b[:, 0] - arrays.sd_a[:, 1])
        error = (apart if side < 0 else a + b) / np.sqrt(arrays.n_a)
        return _tail(distance, error, arrays.n_a - 1)
    column = [each[:, None] for each in (distance, a, b, arrays.n_a, arrays.n_b)]
    far, at_a, at_b, n_a, n_b = column
    along_a = _search(lambda u: _welch_tail(far, _between(arrays.sd_a, u), at_b, n_a, n_b), side)
    along_b = _search(lambda u: _welch_tail(far, at_a, _between(arrays.sd_b, u), n_a, n_b), side)
    return np.maximum(along_a, along_b) if side > 0 else np.minimum(along_a, along_b)


def _between(ends: Floats, share: Floats) -> Floats:
    return ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * share


def _search(value: Callable[[Floats], Floats], side: int) -> Floats:
    """The extreme over [0, 1] of ``value``, (1 or R, G) to (R, G): a grid, then finer ones."""
    shares = GRID[None, :]
    for _ in range(ZOOMS):
        values = side * value(shares)
        best = values.argmax(axis=1)
        rows = np.arange(len(values))
        shares = np.broadcast_to(shares, values.shape)
        left = shares[rows, np.maximum(best - 1, 0)][:, None]
        right = shares[rows, np.minimum(best + 1, len(GRID) - 1)][:, None]
        found = values[rows, best]
        shares = left + (right - left) * GRID
    return np.asarray(side * found)


def _student_tail(distance: Floats, a: Floats, b: Floats, n_a: Floats, n_b: Floats) -> Floats:
    df = n_a + n_b - 2
    pooled = np.hypot(a * np.sqrt((n_a - 1) / df), b * np.sqrt((n_b - 1) / df))
    return _tail(distance, pooled * np.sqrt(1 / n_a + 1 / n_b), df)


def _welch_tail(distance: Floats, a: Floats, b: Floats, n_a: Floats, n_b: Floats) -> Floats:
    error_a, error_b = a / np.sqrt(n_a), b / np.sqrt(n_b)
    error = np.hypot(error_a, error_b)
    share = np.where(error > 0, (error_a / error) ** 2, 0.5)
    df = 1 / (share**2 / (n_a - 1) + (1 - share) ** 2 / (n_b - 1))
    return _tail(distance, error, df)


def _tail(distance: Floats, error: Floats, df: Floats) -> Floats:
    """P(T > distance / error); with an error of 0 every distance above 0 is certain."""
    certain = np.where(distance > 0, 0.0, 0.5)
    return np.where(error > 0, stdtr(df, -distance / error), certain)


Test: TypeAlias = Literal["student", "welch", "paired"]
Tails: TypeAlias = Literal[1, 2]

NEEDS_VALUES: Mapping[str | None, str] = {
    "mann_whitney": "Mann-Whitney test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "permutation": "permutation test",
}
"""Tests that need every value: means and deviations do not tell their p."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A test, its tails, the ddof of the printed deviations, and n as stated, or one more or less.

    The alternative of a one-sided test has the direction of the printed difference, or, with
    ``against``, the opposite one. ``ddof`` 0 means that the printed deviations had n in the
    denominator.
    """

    test: Test = "welch"
    tails: Tails = 2
    ddof: int = 1
    shift: int = 0
    against: bool = False

    def label(self, n: tuple[int | None, int | None]) -> str:
        """A stable name, such as `student two-sided ddof=1 n=10`."""
        return " ".join(filter(None, self.parts(n)))

    def parts(self, n: tuple[int | None, int | None]) -> tuple[str, str, str, str]:
        """The parts of the name: test, tails, ddof, n; the last empty where n is unknown."""
        one_sided = "one-sided against the difference" if self.against else "one-sided"
        tails = "two-sided" if self.tails == 2 else one_sided
        sizes = [str(size + self.shift) for size in n if size is not None]
        stated = f"n={'+'.join(dict.fromkeys(sizes))}" if len(sizes) == len(n) else ""
        return self.test, tails, f"ddof={self.ddof}", stated

    def beyond(self, other: Variant, n: tuple[int | None, int | None]) -> tuple[str, ...]:
        """The parts in which this variant is not the other."""
        both = zip(self.parts(n), other.parts(n), strict=True)
        return tuple(mine for mine, theirs in both if mine != theirs)


def enumerate_variants(
    test: TestName | None, *, other_n: bool, against: Sequence[bool] = (False,)
) -> Iterator[Variant]:
    """Student and Welch, and paired where declared; each two- and one-sided, ddof 1 and 0.

    With ``other_n`` (the paper mentions another n) also n - 1 and n + 1. ``against`` are the
    alternatives that a one-sided test may have.
    """
    tests: list[Test] = ["student", "welch"]
    if test == "paired":
        tests.append("paired")
    sides: list[tuple[Tails, bool]] = [(2, False), *((1, way) for way in against)]
    shifts = (0, -1, 1) if other_n else (0,)
    for shift, ddof, each, (tails, way) in product(shifts, (1, 0), tests, sides):
        yield Variant(each, tails, ddof, shift, way)


def ends_of(df: PrintedNumber, *, rounded: bool) -> tuple[float, ...]:
    """What printed degrees of freedom may be: whole ones are exact, unless they are rounded."""
    if df.text.isdecimal() and not rounded:
        return (df.value,)
    return (max(df.low, df.value / 2), df.high)


def tail_of(kind: str, df: Sequence[float], value: float) -> float:
    """P of a statistic above 0: two-sided of z, r, ρ and t, else the upper tail."""
    match kind:
        case "z":
            return float(2 * ndtr(-value))
        case "F":
            return float(fdtrc(df[0], df[1], value))
        case "q":
            from scipy.stats import studentized_range  # noqa: PLC0415 - slow to import

            return float(studentized_range.sf(value, *df))
        case "χ²" | "H" | "Q":
            return float(chdtrc(df[0], value))
        case "r" | "ρ":
            share = min(value, 1.0) ** 2
            value = (share * df[0] / (1 - share)) ** 0.5 if share < 1 else float("inf")
    return float(2 * stdtr(df[0], -value))


def may_be_exact(
    kind: str, df: Sequence[PrintedNumber], value: PrintedNumber, p: PrintedNumber, span: Span
) -> bool:
    """Whether the exact p of few values may be printed, where an approximation gives ``span``.

    An exact p is up to 3.2 times as large (Q of one unlike pair), and any share of a small one.
    That of Spearman is 0.9 to 3.5 times as large; the normal approximation may be larger.
    """
    if kind == "ρ":
        least = max(abs(value.value) - value.half, 0.0)
        normal = tail_of("z", (), least * (df[0].value + 1) ** 0.5)
        few = 3.5 if df[0].value < 10 else 1.1
        return p.high >= 0.9 * span[0] and p.low <= max(few * span[1], normal)
    return p.low <= 4 * span[1] and (p.high >= span[0] / 2 or span[0] < 0.2)


def df_of(kind: str, text: str) -> tuple[PrintedNumber, ...]:
    """Degrees of freedom, whole ones exact; those of Welch may have been rounded, see `welch`."""
    thousands = r"(?<![0-9,])([0-9]{1,3}),([0-9]{3})(?![0-9,])"
    text = re.sub(thousands, r"\1\2", text) if ", " in text or kind in "trρ" else text
    parts = re.split(r" ?[,;] ?", re.sub(r"[,;] ?[Nn] ?= ?[0-9,]+$", "", text.strip("() ")))
    wanted = {"F": 2, "q": 2, "z": 0}.get(kind, 1)
    parts = [re.sub(r"^(?:df ?[12]? ?= ?)", "", part) for part in parts if part]
    if kind == "z":
        return ()
    if len(parts) != wanted or not all(re.fullmatch(r"[0-9]{1,7}(?:\.[0-9]+)?", e) for e in parts):
        raise ClaimError(f"{kind}({text}) needs {wanted} degrees of freedom")
    found = tuple(map(PrintedNumber.read, parts))
    if not all(each.value > 0 for each in found):
        raise ClaimError(f"{kind}({text}): degrees of freedom are above 0")
    return found


def possible(kind: str, value: PrintedNumber) -> PrintedNumber:
    if kind not in SIGNED and value.value < 0:
        raise ClaimError(f"{kind} is not negative, and {value.text} is")
    if kind in "rρ" and abs(value.value) > 1:
        raise ClaimError(f"a correlation lies between -1 and 1, and {value.text} does not")
    return value
