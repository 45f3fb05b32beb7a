"""One printed comparison, every p-value that its numbers allow, and the record an audit returns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Literal, TypeAlias

from repro.audit.audit_file import TestName
from repro.audit.p_range import (
    NEEDS_VALUES,
    Box,
    Span,
    Tails,
    Variant,
    enumerate_variants,
    feasible,
)
from repro.errors import ClaimError
from repro.evidence.published import PrintedNumber
from repro.stats.contrast import Contrast, student_contrast, welch_contrast
from repro.stats.records import Summary, check_alpha


class Grade(StrEnum):
    """How a printed p-value stands to the numbers it was printed with: the first that applies.

    ``LEGEND`` says what each means. The *assumed* test is the declared one, else the one variant
    that fits the whole table, else Welch; its *interval* holds every p that the unrounded numbers
    could have given. A variant *reproduces* p where its interval overlaps what is printed, and is
    *admissible* where it keeps to the declared test and tails. The decision is *the other one*
    where the printed p and the whole interval of the assumed test lie on opposite sides of alpha.
    A paired test is never DECISION-FRAGILE, and reproduces p only for some correlation of the arms.
    """

    DECISION_INCONSISTENT = "DECISION-INCONSISTENT"
    DECISION_FRAGILE = "DECISION-FRAGILE"
    INCONSISTENT = "INCONSISTENT"
    NOT_BY_T_TEST = "NOT-BY-T-TEST"
    NOT_BY_COUNTS = "NOT-BY-COUNTS"
    CONSISTENT_IF = "CONSISTENT-IF"
    CONSISTENT = "CONSISTENT"
    NOT_CHECKABLE = "NOT-CHECKABLE"

    @property
    def rank(self) -> int:
        """0 for the worst; NOT-CHECKABLE comes last."""
        return list(Grade).index(self)


LEGEND = {
    Grade.DECISION_INCONSISTENT: (
        "no admissible test reproduces the printed p, and the decision at alpha is the other one"
    ),
    Grade.DECISION_FRAGILE: (
        "alpha lies inside the interval: the unrounded numbers may decide either way"
    ),
    Grade.INCONSISTENT: (
        "no test reproduces the printed p (numbers disagree); the decision is the same, or open"
    ),
    Grade.NOT_BY_T_TEST: (
        "no t-test of independent arms reproduces the printed p; a rank, permutation or paired "
        "test might, and nothing says which was used"
    ),
    Grade.NOT_BY_COUNTS: (
        "no whole number of right answers gives a printed mean; an average of averages might, and "
        "nothing says how many samples a score has"
    ),
    Grade.CONSISTENT_IF: "reproduced only if x, which is not what is assumed or printed",
    Grade.CONSISTENT: "the assumed test reproduces the printed p (printed numbers agree)",
    Grade.NOT_CHECKABLE: "what the check needs is not printed",
}


def fails(grades: Iterable[Grade], fail_on: Grade | None) -> bool:
    """Whether any grade is as bad as ``fail_on`` or worse; with ``None`` nothing fails."""
    return fail_on is not None and any(grade.rank <= fail_on.rank for grade in grades)


SMALLEST = 1e-100


def printed(text: str | None) -> PrintedNumber | None:
    """The number of a text; ``None`` where nothing is printed."""
    return PrintedNumber.read(text) if text and text.strip() else None


@dataclass(frozen=True, slots=True)
class PrintedArm:
    """Mean, standard deviation and size of one arm, each ``None`` where it is not printed.

    Not a ``Summary``, whose numbers are exact: these stand for all that round to them.
    """

    mean: PrintedNumber | None
    sd: PrintedNumber | None
    n: int | None

    def __post_init__(self) -> None:
        if self.mean is not None:
            check_number(self.mean)
        if self.sd is not None:
            check_deviation(self.sd)
        if self.n is not None:
            check_size(self.n, least=1)

    @classmethod
    def read(cls, mean: str | None, sd: str | None, n: int | None) -> PrintedArm:
        """An arm from its texts; an empty one is a number that is not printed."""
        return cls(printed(mean), printed(sd), n)


@dataclass(frozen=True, slots=True)
class PrintedComparison:
    """One row of a table: two arms, and the p that was printed for them.

    ``test`` and ``tails`` only where the paper declares them. Comparisons with the same
    ``family`` are corrected together; those without one are a family of their own. ``items`` is
    the size of the test set, where the means are shares of it (or percentages) that were got right,
    and ``samples`` the answers to each item of which a score is the average.
    ``locator`` is where it is printed, and ``note`` what is to be said with the findings.
    Raises ClaimError for a p that is not a probability, an alpha outside 0 to 0.5, a paired
    test of arms of different sizes, samples without items, and a single run without items.
    """

    id: str
    a: PrintedArm
    b: PrintedArm
    p: PrintedNumber | None = None
    alpha: float = 0.05
    test: TestName | None = None
    tails: Tails | None = None
    family: str | None = None
    items: int | None = None
    samples: int | None = None
    locator: str = ""
    note: str | None = None

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if self.p is not None:
            check_probability(self.p)
        if self.samples is not None and self.items is None:
            raise ClaimError("samples are answers to each item, and no items are declared")
        for arm in self.arms:
            if arm.n is not None and self.items is None:
                check_size(arm.n)
        pairs = self.test in ("paired", "wilcoxon")
        if pairs and None not in (self.a.n, self.b.n) and self.a.n != self.b.n:
            raise ClaimError(f"a paired test needs arms of one size, not {self.a.n} and {self.b.n}")

    @property
    def arms(self) -> tuple[PrintedArm, PrintedArm]:
        """Both arms, in the order in which their difference is taken."""
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


def check_size(n: int, least: int = 2) -> int:
    """The size itself, or ClaimError if no deviation comes from so few; a mean comes from one."""
    if n < least:
        raise ClaimError(
            f"a test needs at least {least} replicates in each arm, not {n}",
            advice="correct n, or leave p out",
        )
    return n


NOTHING = ("-", "--", "\N{EN DASH}", "\N{EM DASH}")
NOT_SIGNIFICANT = replace(PrintedNumber.read(">0.05"), text="n.s.")
"""What `n.s.` stands for."""


_NO_P = re.compile(r"\(?n\.? ?s\.?\)?|not significant", re.IGNORECASE)


_BEHIND_P = re.compile(
    r"(?<=[0-9]) ?\( ?(?:[*†‡]*|n\.? ?s\.?|(?:not )?sig(?:nificant|\.)?) ?\)$", re.IGNORECASE
)
_RAISED = re.compile(r"(?<=10)([⁻⁰¹²³⁴-⁹]+)")
_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_POWER = re.compile(r"^([<>]?) ?(?=10\^-)")


def printed_p(text: str) -> PrintedNumber | None:
    """The p that a cell or a line prints: `.03`, `p < .05` or `n.s.`; None where there is none.

    ClaimError for anything but a probability.
    """
    text = re.sub(r"^[pP] ?(?=[=<>≤≥.0-9])|[{}$*]", "", text.strip()).strip()
    text = _BEHIND_P.sub("", text)
    text = re.sub("≤|<=|=<", "<", re.sub("≥|>=|=>", ">", text)).removeprefix("=").strip()
    text = _RAISED.sub(lambda found: "^" + found[0].translate(_DIGITS), text)
    text = _POWER.sub(r"\1 1×", text.replace("^\N{MINUS SIGN}", "^-")).strip()
    if text.lower() in ("", *NOTHING, "ref", "ref.", "reference", "baseline"):
        return None
    if _NO_P.fullmatch(text):
        return NOT_SIGNIFICANT
    return check_probability(PrintedNumber.read(text.replace(",", ".")))


def check_probability(p: PrintedNumber) -> PrintedNumber:
    """The number itself, or ClaimError unless it prints a probability."""
    if p.text.lstrip("= ") == "0":
        raise ClaimError("a p of 0 has no digits: .000 or <.001 tells how small it is")
    if not 0 <= p.value <= 1 or (p.relation, p.value) in (("<", 0.0), (">", 1.0)):
        raise ClaimError(f"a p-value lies between 0 and 1, and {p.text} does not")
    return p


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A comparison with the interval of every variant, and those that match its p.

    Without the six numbers of both arms (``lacks`` names the missing) there is no interval.
    ``reading`` is what the printed deviations are taken for, where that is not deviations.
    """

    comparison: PrintedComparison
    lacks: tuple[str, ...]
    intervals: Mapping[Variant, Span]
    matches: tuple[Variant, ...]
    reading: str = ""

    @property
    def n(self) -> tuple[int | None, int | None]:
        """The stated numbers of seeds."""
        return self.comparison.a.n, self.comparison.b.n

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
        if self.lacks or variant.test == "paired" or 1 in self.n:
            return None
        arms = [_summary(arm, variant) for arm in self.comparison.arms]
        kernel = student_contrast if variant.test == "student" else welch_contrast
        try:
            return kernel(*arms)
        except ClaimError:
            return None

    def pairable(self) -> bool:
        """Whether a paired t-test gives the printed p for some correlation of the arms."""
        box, p = _box(self.comparison), self.comparison.p
        if box is None or p is None or box.n_a != box.n_b:
            return False
        (span,) = feasible([box], Variant("paired", self.comparison.tails or 2))
        return p.meets(*span)

    def margin(self) -> float | None:
        """The smallest margin that TOST by Welch could have confirmed, in the units printed."""
        contrast = self.contrast(Variant("welch"))
        if contrast is None:
            return None
        interval = contrast.interval(1 - 2 * self.comparison.alpha)
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
    ids = [each.id for each in comparisons]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise ClaimError(f"two comparisons have the id {twice!r}")
    mentioned = {
        n for each in comparisons for arm in each.arms if (n := arm.n) is not None and n > 1
    }
    intervals = _intervals(comparisons, mentioned | set(other_n))
    return [
        AuditRow(
            comparison=each,
            lacks=tuple(
                f"{name}_{side}"
                for side, arm in zip("ab", each.arms, strict=True)
                for name in ("mean", "sd", "n")
                if getattr(arm, name) is None
            ),
            intervals=found,
            matches=tuple(v for v, span in found.items() if each.p and each.p.meets(*span)),
        )
        for each, found in zip(comparisons, intervals, strict=True)
    ]


def _intervals(
    comparisons: Sequence[PrintedComparison], mentioned: set[int]
) -> list[dict[Variant, Span]]:
    """The interval of every variant of every comparison, one variant at a time."""
    found: list[dict[Variant, Span]] = [{} for _ in comparisons]
    boxes: dict[Variant, dict[int, Box]] = {}
    for index, each in enumerate(comparisons):
        box = _box(each)
        if box is None or each.test in NEEDS_VALUES:
            continue
        others = bool(mentioned - {box.n_a, box.n_b})
        for variant in enumerate_variants(each.test, other_n=others, against=_alternatives(each)):
            if min(box.n_a, box.n_b) + variant.shift >= 2:
                found[index][variant] = (math.nan, math.nan)  # its place in the order
                boxes.setdefault(variant, {})[index] = box
    for variant, of in boxes.items():
        for index, span in zip(of, feasible(list(of.values()), variant), strict=True):
            found[index][variant] = span
    return found


def _alternatives(comparison: PrintedComparison) -> tuple[bool, ...]:
    """Whether a one-sided alternative is against the printed difference; which its p may be of.

    A p above one half is of the one against. A bound such as `> .05` may be of either where
    the table declares one-sided; where it does not, it is no evidence of such a test.
    """
    p, a, b = comparison.p, comparison.a.mean, comparison.b.mean
    if p is None or a is None or b is None or a.value == b.value:
        return (False,)
    if p.relation == "=":
        return (p.low >= 0.5,)
    return (False, True) if comparison.tails == 1 and p.relation == ">" else (False,)


def _box(comparison: PrintedComparison) -> Box | None:
    a, b = comparison.arms
    if a.mean is None or b.mean is None or a.sd is None or b.sd is None:
        return None
    if a.n is None or b.n is None or 1 in (a.n, b.n):
        return None
    low, high = a.mean.low - b.mean.high, a.mean.high - b.mean.low
    if a.mean.value < b.mean.value:
        low, high = -high, -low
    sd_a, sd_b = ((max(sd.low, 0.0), sd.high) for sd in (a.sd, b.sd))
    return Box((low, high), sd_a, sd_b, a.n, b.n)


def _summary(arm: PrintedArm, variant: Variant) -> Summary:
    if arm.mean is None or arm.sd is None or arm.n is None:
        raise ClaimError("this arm is not printed in full")
    n = arm.n + variant.shift
    factor = math.sqrt(n / (n - 1)) if variant.ddof == 0 else 1.0
    return Summary(n, arm.mean.value, arm.sd.value * factor)


Answer: TypeAlias = Literal["holds", "does not", "cannot say"]
"""Whether what is printed follows from the numbers it is printed with."""

Value = bool | int | float | str | tuple[float, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """One printed statement and what was found about it, in the order of the JSON.

    Rows that are no comparison of two means (``kind``: "correlation", "disagreement", ...)
    leave the fields of a comparison at their defaults and keep their own numbers in
    ``details``. ``p_interval`` holds every p that the assumed test could give from the
    unrounded numbers; ``p_student`` and ``p_welch`` are two-sided, from the numbers as
    printed. ``holm`` and ``bh`` are adjusted over ``family``, ``holm_interval`` over all rounding.
    ``smallest_confirmable_margin`` is in the units of the means: TOST by Welch, alpha
    one-sided. ``equals_rounded`` says whether the assumed test on the rounded numbers gives
    the printed p to every printed digit. ``condition`` is the x of CONSISTENT-IF(x),
    ``findings`` are plain sentences. ``answer`` says whether what is printed follows from the
    numbers, or, where no p is, whether the difference is significant; ``reason`` why.
    """

    id: str
    p_printed: str | None = None
    p_interval: tuple[float, float] | None = None
    p_student: float | None = None
    p_welch: float | None = None
    matches: tuple[str, ...] = ()
    grade: Grade
    condition: str = ""
    decision_survives_rounding: bool | None = None
    holm: float | None = None
    smallest_confirmable_margin: float | None = None
    assumed: str | None = None
    assumed_why: str = ""
    bh: float | None = None
    alpha: float | None = None
    family: str | None = None
    rounding: str = "round"
    equals_rounded: bool | None = None
    kind: str = "comparison"
    details: Mapping[str, Value] = field(default_factory=dict, hash=False)
    findings: tuple[str, ...] = ()
    answer: Answer = "cannot say"
    reason: str = ""
    holm_interval: tuple[float, float] | None = None

    @property
    def graded(self) -> bool:
        """Whether it has a grade: none that is answered without a printed p, or in readings."""
        checked = self.p_printed is not None and self.grade is not Grade.NOT_CHECKABLE
        return not self.reason or checked

    @property
    def grade_text(self) -> str:
        """The grade as it is printed: CONSISTENT-IF with what it takes."""
        return f"{self.grade}({self.condition})" if self.condition else str(self.grade)


def noted(findings: Iterable[str], note: str | None) -> tuple[str, ...]:
    """The findings, and last the note of the entry, if it has one."""
    return (*findings, note) if note else tuple(findings)


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of one file: ``source`` is its path, ``findings`` concern the whole of it.

    ``lead`` are the findings that are to be read before any answer. ``unread`` is how many printed
    p-values are not judged.
    """

    title: str
    source: str
    rows: tuple[Audited, ...]
    findings: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    unread: int = 0

    @property
    def said(self) -> tuple[str, ...]:
        """Every sentence on the whole of it."""
        return (*self.lead, *self.findings)
