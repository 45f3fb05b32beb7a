"""One printed comparison and every p-value that its numbers allow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repro.audit.feasible import Box, Span, feasible
from repro.audit.printed import PrintedNumber
from repro.audit.variants import Declared, Tails, Variant, enumerate_variants, needs_values
from repro.errors import ClaimError
from repro.stats.contrast import Contrast, student_contrast, welch_contrast
from repro.stats.result import Interval, check_alpha
from repro.stats.sample import Summary

SMALLEST = 1e-100
HALF = 0.5


@dataclass(frozen=True, slots=True)
class PrintedArm:
    """Mean, standard deviation and size of one arm, each ``None`` where it is not printed."""

    mean: PrintedNumber | None
    sd: PrintedNumber | None
    n: int | None

    def __post_init__(self) -> None:
        if self.mean is not None:
            check_number(self.mean)
        if self.sd is not None:
            check_deviation(self.sd)
        if self.n is not None:
            check_size(self.n)

    @classmethod
    def read(cls, mean: str, sd: str, n: int | None) -> PrintedArm:
        """An arm from its texts; an empty one is a number that is not printed."""
        first, second = (PrintedNumber.read(text) if text.strip() else None for text in (mean, sd))
        return cls(first, second, n)


@dataclass(frozen=True, slots=True)
class PrintedComparison:
    """One row of a table: two arms, and the p that was printed for them.

    ``test`` and ``tails`` only where the paper declares them. Comparisons with the same
    ``family`` are corrected together; those without one are a family of their own. ``items`` is
    the size of the test set, where the means are shares of it (or percentages) that were got right.
    Raises ClaimError for a p that is no probability, an alpha outside 0 to 0.5, and a paired
    test of arms of different sizes.
    """

    id: str
    a: PrintedArm
    b: PrintedArm
    p: PrintedNumber | None = None
    alpha: float = 0.05
    test: Declared | None = None
    tails: Tails | None = None
    family: str | None = None
    items: int | None = None

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if self.p is not None:
            check_probability(self.p)
        pairs = self.test in ("paired", "wilcoxon")
        if pairs and None not in (self.a.n, self.b.n) and self.a.n != self.b.n:
            raise ClaimError(f"a paired test needs arms of one size, not {self.a.n} and {self.b.n}")

    @property
    def arms(self) -> tuple[PrintedArm, PrintedArm]:
        """Both arms, A first."""
        return self.a, self.b


def check_number(number: PrintedNumber) -> PrintedNumber:
    """The number itself, or ClaimError if it is a bound or too small to compute with."""
    if number.relation != "=":
        raise ClaimError(f"{number.text!r} is a bound; only a p may be one")
    if 0 < abs(number.value) < SMALLEST:
        raise ClaimError(f"{number.text!r} is smaller than any mean or deviation that is printed")
    return number


def check_deviation(sd: PrintedNumber) -> PrintedNumber:
    """The number itself, or ClaimError unless it prints a standard deviation."""
    if check_number(sd).text.startswith(("-", "\N{MINUS SIGN}", "\N{EN DASH}")):
        raise ClaimError(f"a standard deviation is not negative, and {sd.text} is")
    return sd


def check_size(n: int) -> int:
    """The size itself, or ClaimError if no deviation comes from so few."""
    if n < 2:
        raise ClaimError(f"a test needs at least 2 replicates in each arm, not {n}")
    return n


def check_probability(p: PrintedNumber) -> PrintedNumber:
    """The number itself, or ClaimError unless it prints a probability."""
    if not 0 <= p.value <= 1 or (p.relation, p.value) in (("<", 0.0), (">", 1.0)):
        raise ClaimError(f"a p-value lies between 0 and 1, and {p.text} does not")
    return p


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A comparison with the interval of every variant, and those that match its p.

    Without the six numbers of both arms (``lacks`` names the missing) there is no interval.
    """

    comparison: PrintedComparison
    lacks: tuple[str, ...]
    intervals: Mapping[Variant, Span]
    matches: tuple[Variant, ...]

    @property
    def n(self) -> tuple[int | None, int | None]:
        """The stated sizes."""
        return self.comparison.a.n, self.comparison.b.n

    @property
    def p_span(self) -> Span | None:
        """The probabilities that are printed like the p; ``None`` where none is printed."""
        p = self.comparison.p
        return None if p is None else (max(p.low, 0.0), min(p.high, 1.0))

    def significant(self) -> bool | None:
        """Whether the printed p is at most alpha; ``None`` if its rounding leaves that open."""
        p, alpha = self.comparison.p, self.comparison.alpha
        if p is None:
            return None
        if p.high <= alpha:
            return True
        return False if p.low > alpha or (p.relation == ">" and p.low == alpha) else None

    def nominal(self, variant: Variant) -> float | None:
        """The p of a variant from the numbers as printed, if they have one."""
        contrast = self.contrast(variant)
        if contrast is None:
            return None
        if variant.tails == 2:
            return contrast.p_two_sided()
        greater = (contrast.effect >= 0) != variant.against
        return contrast.p_greater() if greater else contrast.p_less()

    def contrast(self, variant: Variant) -> Contrast | None:
        """Mean A minus mean B as printed; ``None`` if not printed, paired, or without variance."""
        if self.lacks or variant.test == "paired":
            return None
        arms = [_summary(arm, variant) for arm in self.comparison.arms]
        kernel = student_contrast if variant.test == "student" else welch_contrast
        try:
            return kernel(*arms)
        except ClaimError:
            return None

    def pairable(self) -> bool:
        """Whether a paired t-test gives the printed p for some correlation of the arms."""
        box, p = _box(self.comparison), self.p_span
        if box is None or p is None or box.n_a != box.n_b:
            return False
        ((low, high),) = feasible([box], Variant("paired", self.comparison.tails or 2))
        return low <= p[1] and p[0] <= high

    def margin(self) -> float | None:
        """The smallest margin that TOST by Welch could have confirmed, in the units printed."""
        contrast = self.contrast(Variant("welch"))
        if contrast is None:
            return None
        interval: Interval = contrast.interval(1 - 2 * self.comparison.alpha)
        return max(-interval.low, interval.high)

    def equals_rounded(self, variant: Variant) -> bool | None:
        """Whether the variant's p from the rounded numbers is the printed one, digit by digit.

        ``None`` where there is nothing to compare: no p, a bound for p, or no p to be had.
        """
        p, nominal = self.comparison.p, self.nominal(variant)
        if p is None or nominal is None or p.relation != "=":
            return None
        return p.low <= nominal <= p.high


def rows_of(comparisons: Sequence[PrintedComparison], other_n: Sequence[int]) -> list[AuditRow]:
    """The comparisons with their intervals; ClaimError if two have the same id."""
    ids = [one.id for one in comparisons]
    if len(set(ids)) < len(ids):
        twice = next(one for one in ids if ids.count(one) > 1)
        raise ClaimError(f"two comparisons have the id {twice!r}")
    mentioned = {n for one in comparisons for arm in one.arms if (n := arm.n) is not None}
    intervals = _intervals(comparisons, mentioned | set(other_n))
    return [
        AuditRow(one, _lacks(one), found, _matches(one, found))
        for one, found in zip(comparisons, intervals, strict=True)
    ]


def _intervals(
    comparisons: Sequence[PrintedComparison], mentioned: set[int]
) -> list[dict[Variant, Span]]:
    """The interval of every variant of every comparison, one variant at a time.

    Those of a comparison stand in the order of their enumeration, whatever the other rows are.
    """
    found: list[dict[Variant, Span]] = [{} for _ in comparisons]
    tried: list[list[Variant]] = [[] for _ in comparisons]
    wanted: dict[Variant, list[tuple[int, Box]]] = {}
    for index, one in enumerate(comparisons):
        box = _box(one)
        if box is None or needs_values(one.test):
            continue
        others = bool(mentioned - {box.n_a, box.n_b})
        for variant in enumerate_variants(one.test, other_n=others, against=_alternatives(one)):
            if min(box.n_a, box.n_b) + variant.shift >= 2:
                tried[index].append(variant)
                wanted.setdefault(variant, []).append((index, box))
    for variant, entries in wanted.items():
        spans = feasible([box for _, box in entries], variant)
        for (index, _), span in zip(entries, spans, strict=True):
            found[index][variant] = span
    return [{one: spans[one] for one in its} for its, spans in zip(tried, found, strict=True)]


def _alternatives(comparison: PrintedComparison) -> tuple[bool, ...]:
    """Whether a one-sided alternative is against the printed difference; which its p may be of.

    A p above one half is of the one against. A bound such as `> .05` may be of either where
    the table declares one-sided; where it does not, it is no evidence of such a test.
    """
    p, a, b = comparison.p, comparison.a.mean, comparison.b.mean
    if p is None or a is None or b is None or a.value == b.value:
        return (False,)
    if p.relation == "=":
        return (p.low >= HALF,)
    return (False, True) if comparison.tails == 1 and p.relation == ">" else (False,)


def _box(comparison: PrintedComparison) -> Box | None:
    a, b = comparison.arms
    if a.mean is None or b.mean is None or a.sd is None or b.sd is None:
        return None
    if a.n is None or b.n is None:
        return None
    low, high = a.mean.low - b.mean.high, a.mean.high - b.mean.low
    if a.mean.value < b.mean.value:
        low, high = -high, -low
    sd_a, sd_b = ((max(sd.low, 0.0), sd.high) for sd in (a.sd, b.sd))
    return Box((low, high), sd_a, sd_b, a.n, b.n)


def _lacks(comparison: PrintedComparison) -> tuple[str, ...]:
    return tuple(
        f"{name}_{side}"
        for side, arm in zip("ab", comparison.arms, strict=True)
        for name in ("mean", "sd", "n")
        if getattr(arm, name) is None
    )


def _matches(comparison: PrintedComparison, found: Mapping[Variant, Span]) -> tuple[Variant, ...]:
    if comparison.p is None:
        return ()
    low, high = comparison.p.low, comparison.p.high
    return tuple(one for one, span in found.items() if span[0] <= high and low <= span[1])


def _summary(arm: PrintedArm, variant: Variant) -> Summary:
    if arm.mean is None or arm.sd is None or arm.n is None:
        raise ClaimError("this arm is not printed in full")
    n = arm.n + variant.shift
    factor = math.sqrt(n / (n - 1)) if variant.ddof == 0 else 1.0
    return Summary(n, arm.mean.value, arm.sd.value * factor)
