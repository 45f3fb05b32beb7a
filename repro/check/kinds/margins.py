"""Equivalence, non-superiority, non-inferiority: is the difference within a declared margin?"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypeVar

from repro.check.kinds.base import (
    Found,
    Kind,
    Read,
    arms_of,
    digits,
    labels,
    margin_limit,
    margin_words,
    pair,
    what,
)
from repro.check.kinds.phrases import (
    difference_ends,
    difference_words,
    relative_ends,
    relative_words,
)
from repro.check.kinds.sequential import (
    SEQUENTIAL,
    is_sequential,
    run_sequential,
    stands,
)
from repro.report import document as doc
from repro.specs.claim import Claim
from repro.specs.expectation import Equivalence, NonInferiority, NonSuperiority
from repro.stats import equivalence as stats
from repro.stats.result import TestResult
from repro.verdict import (
    Conclusion,
    Finding,
    conclude_equivalence,
    conclude_non_superiority,
    conclude_sequential,
)

M = TypeVar("M", bound=Equivalence | NonSuperiority | NonInferiority)
OneSided: TypeAlias = NonSuperiority | NonInferiority


class MarginKind(Kind[M]):
    """What the three kinds share: a margin, absolute or relative, and one-sided tests."""

    def scale(self, one: M) -> doc.EffectScale:
        """In the units of the measurement, or relative to b."""
        return "difference" if one.margin.relative is None else "relative"

    def effect_label(self, one: M, claim: Claim) -> str:
        """A minus B, or A relative to B."""
        names, value = labels(one, claim), what(one, claim)
        if one.margin.relative is not None:
            return f"{value}, {names[0]} relative to {names[1]}"
        return f"{value}, {names[0]} minus {names[1]}"

    def sentence(self, one: M, claim: Claim, found: Found) -> str:
        """How far the means lie apart, against the margin."""
        names, value = labels(one, claim), what(one, claim)
        size, result = one.margin.size, found.result
        if one.margin.relative is not None:
            said = relative_words(result, names, value)
            reach = relative_ends(found.interval, (-size, size))
        else:
            shown = digits(claim.measurements[one.measurement])
            said = difference_words(result, names, value, shown)
            reach = difference_ends(found.interval, (-size, size), shown)
        declared = f"where a margin of {margin_words(one.margin)} was declared"
        return f"{said}{reach}, {declared}{_excluded_zero(one, found)}{stands(result)}."

    def conclude(self, one: M, result: TestResult) -> Finding:
        """By the interval, which must lie within the margin or beyond it."""
        if result.test in SEQUENTIAL:
            return conclude_sequential(result)
        return conclude_non_superiority(result)


class EquivalenceKind(MarginKind[Equivalence]):
    """The means differ by less than the margin."""

    def test(self, one: Equivalence, claim: Claim, read: Read) -> TestResult:
        """Two one-sided tests; a relative margin is tested as a contrast."""
        a, b = arms_of(one, read)
        if is_sequential(one, claim):
            return run_sequential(one, claim, a, b)
        size, paired = one.margin.size, claim.design == "paired"
        if one.margin.relative is not None:
            return stats.tost_relative(a, b, relative=size, alpha=claim.alpha, paired=paired)
        return stats.tost(a, b, low=-size, high=size, alpha=claim.alpha, paired=paired)

    def conclude(self, one: Equivalence, result: TestResult) -> Finding:
        """By the interval, which must lie inside both margins."""
        if result.test in SEQUENTIAL:
            return conclude_sequential(result)
        return conclude_equivalence(result)

    def statement(self, one: Equivalence, claim: Claim) -> str:
        """That the means are equal to within the margin."""
        names = pair(labels(one, claim))
        return f"The {what(one, claim)} of {names} differs by less than {margin_words(one.margin)}"

    def name_of_test(self, one: Equivalence, claim: Claim) -> str:
        """TOST."""
        tests = "paired t-tests" if claim.design == "paired" else "Welch tests"
        return f"two one-sided {tests} (TOST{_of_contrast(one)})"

    def limits(self, one: Equivalence, claim: Claim) -> tuple[doc.Limit, ...]:
        """The margin on both sides."""
        return tuple(margin_limit(sign, one.margin) for sign in (-1, 1))

    def region(self, one: Equivalence) -> tuple[float | None, float | None]:
        """Between the margins."""
        return -one.margin.size, one.margin.size

    def claimed(self, one: Equivalence, claim: Claim) -> doc.Side:
        """Between the margins."""
        return "between"


class OneSidedKind(MarginKind[OneSided]):
    """a is not better than b by the margin or more; or, the other way, not worse."""

    def __init__(self, side: Literal["better", "worse"]) -> None:
        self.side = side

    def test(self, one: OneSided, claim: Claim, read: Read) -> TestResult:
        """One-sided t-test against the margin on that side."""
        a, b = arms_of(one, read)
        if is_sequential(one, claim):
            return run_sequential(one, claim, a, b)
        better, size = claim.measurements[one.measurement].better, one.margin.size
        how: dict[str, Any] = {
            "better": better,
            "alpha": claim.alpha,
            "paired": claim.design == "paired",
        }
        if one.margin.relative is not None:
            relative = {
                "better": stats.non_superiority_relative,
                "worse": stats.non_inferiority_relative,
            }
            return relative[self.side](a, b, relative=size, **how)
        plain = {"better": stats.non_superiority, "worse": stats.non_inferiority}
        return plain[self.side](a, b, margin=size, **how)

    def statement(self, one: OneSided, claim: Claim) -> str:
        """That a is not better, or not worse."""
        a, b = labels(one, claim)
        size = margin_words(one.margin)
        return f"{a} is not {self.side} than {b} in {what(one, claim)} by {size} or more"

    def name_of_test(self, one: OneSided, claim: Claim) -> str:
        """The t-test of the design, one-sided."""
        test = "paired t-test" if claim.design == "paired" else "Welch's t-test"
        return f"{test} against the margin, one-sided{_of_contrast(one)}"

    def limits(self, one: OneSided, claim: Claim) -> tuple[doc.Limit, ...]:
        """The margin on that side."""
        return (margin_limit(self._sign(one, claim), one.margin),)

    def region(self, one: OneSided) -> tuple[float | None, float | None]:
        """A gain below the margin, or above minus the margin."""
        return (None, one.margin.size) if self.side == "better" else (-one.margin.size, None)

    def claimed(self, one: OneSided, claim: Claim) -> doc.Side:
        """On the other side of the margin."""
        return "above" if self._sign(one, claim) < 0 else "below"

    def _sign(self, one: OneSided, claim: Claim) -> int:
        """Of the effect on that side: a minus b is negative where a is better and lower is."""
        better = -1 if claim.measurements[one.measurement].better == "lower" else 1
        return better if self.side == "better" else -better


def _of_contrast(one: Equivalence | NonSuperiority | NonInferiority) -> str:
    return "" if one.margin.relative is None else ", of a contrast with a share of b"


def _excluded_zero(one: Equivalence | NonSuperiority | NonInferiority, found: Found) -> str:
    """Equivalent does not mean equal: say when a difference was found inside the margin."""
    if not isinstance(one, Equivalence) or found.conclusion is not Conclusion.CONFIRMED:
        return ""
    own = found.interval
    if own is None or own.low is None or own.high is None or own.low <= 0 <= own.high:
        return ""
    return " (there is a difference, smaller than the margin)"
