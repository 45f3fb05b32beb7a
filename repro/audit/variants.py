"""The ways in which a p-value may have been computed from two means and deviations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias, TypeGuard

Test: TypeAlias = Literal["student", "welch", "paired"]
ByRanks: TypeAlias = Literal["mann_whitney", "wilcoxon", "permutation"]
Declared: TypeAlias = Test | ByRanks
Tails: TypeAlias = Literal[1, 2]
Ddof: TypeAlias = Literal[0, 1]
Shift: TypeAlias = Literal[-1, 0, 1]

NEEDS_VALUES: Mapping[ByRanks, str] = {
    "mann_whitney": "Mann-Whitney test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "permutation": "permutation test",
}
"""Tests that need every value: means and deviations do not tell their p."""


SHIFTS: tuple[Shift, ...] = (0, -1, 1)


def needs_values(test: Declared | None) -> TypeGuard[ByRanks]:
    """Whether a declared test cannot be computed from means and deviations."""
    return test in NEEDS_VALUES


@dataclass(frozen=True, slots=True)
class Variant:
    """A test, its tails, the ddof of the printed deviations, and n as stated or one beside it.

    The alternative of a one-sided test has the direction of the printed difference, or, with
    ``against``, the opposite one. ``ddof`` 0 means that the printed deviations had n in the
    denominator.
    """

    test: Test = "welch"
    tails: Tails = 2
    ddof: Ddof = 1
    shift: Shift = 0
    against: bool = False

    def label(self, n: tuple[int | None, int | None]) -> str:
        """A stable name, such as `student two-sided ddof=1 n=10`."""
        return " ".join(part for part in self.parts(n) if part)

    def parts(self, n: tuple[int | None, int | None]) -> tuple[str, str, str, str]:
        """The parts of the name: test, tails, ddof, n; the last empty where n is unknown."""
        one_sided = "one-sided against the difference" if self.against else "one-sided"
        tails = "two-sided" if self.tails == 2 else one_sided
        return self.test, tails, f"ddof={self.ddof}", _sizes(n, self.shift)

    def beyond(self, other: Variant, n: tuple[int | None, int | None]) -> tuple[str, ...]:
        """The parts in which this variant is not the other."""
        mine, theirs = self.parts(n), other.parts(n)
        return tuple(one for one, two in zip(mine, theirs, strict=True) if one != two)


def enumerate_variants(
    test: Declared | None, *, other_n: bool, against: Sequence[bool] = (False,)
) -> Iterator[Variant]:
    """Student and Welch, and paired where declared; each two- and one-sided, ddof 1 and 0.

    With ``other_n`` (the paper mentions another n) also n - 1 and n + 1. ``against`` are the
    alternatives that a one-sided test may have.
    """
    tests: list[Test] = ["student", "welch"]
    if test == "paired":
        tests.append("paired")
    ddofs: Sequence[Ddof] = (1, 0)
    sides: list[tuple[Tails, bool]] = [(2, False), *((1, one) for one in against)]
    for shift, ddof, each, (tails, way) in product(
        SHIFTS[: 3 if other_n else 1], ddofs, tests, sides
    ):
        yield Variant(each, tails, ddof, shift, way)


def _sizes(n: tuple[int | None, int | None], shift: int) -> str:
    if n[0] is None or n[1] is None:
        return ""
    sizes = dict.fromkeys(str(size + shift) for size in n if size is not None)
    return f"n={'+'.join(sizes)}"
