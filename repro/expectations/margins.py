"""Equivalence, non-superiority, non-inferiority: is the difference within a declared margin?"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from repro.expectations import base
from repro.expectations.base import Found, pair
from repro.expectations.decision_rules import by_interval
from repro.expectations.declared import Context, Declared, Mistake, Pair
from repro.expectations.phrases import (
    OTHER,
    Compared,
    against,
    compared,
    difference_words,
    digits,
    ends,
    headed,
    margin_limit,
    margin_words,
    relative_size,
)
from repro.expectations.sequential import MeansKind, is_sequential
from repro.expectations.verdict_words import Conclusion, Finding
from repro.schema import numbers as fmt
from repro.schema.base import Margin
from repro.stats.records import Arm, TestResult

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest
    from repro.stats.stopping import Question


class MarginClaim(Declared):
    """That the difference of a and b lies within a margin, on both sides or on one."""

    kind: str
    of: Pair
    margin: Margin


class Equivalence(MarginClaim):
    """The means of a and b differ by less than the margin; two one-sided tests."""

    kind: Literal["equivalence"]


class NonSuperiority(MarginClaim):
    """a is not better than b by the margin or more; one-sided."""

    kind: Literal["non_superiority"]


class NonInferiority(MarginClaim):
    """a is not worse than b by the margin or more; one-sided."""

    kind: Literal["non_inferiority"]


M = TypeVar("M", bound=MarginClaim)


class MarginKind(MeansKind[M]):
    """What the three kinds share: a margin, absolute or relative, and one-sided tests."""

    def assumes(self, declared: M) -> str:
        return "no difference"

    def scale(self, declared: M) -> base.EffectScale:
        return "difference" if declared.margin.relative is None else "relative"

    def effect_label(self, declared: M, context: Context) -> str:
        (a, b), value = context.labels(declared), context.measured(declared)
        return f"{value}, {a} {'minus' if declared.margin.relative is None else 'relative to'} {b}"

    def found(self, declared: M, context: Context, found: Found) -> str:
        size, shown = declared.margin.size, found.digits
        change, text = digits(fmt.plus, shown), digits(fmt.fixed, shown)
        if declared.margin.relative is not None:
            change, text = digits(fmt.relative, shown), digits(relative_size, shown)
        names, value = context.labels(declared), context.measured(declared)
        said = difference_words(found.result, names, value, text)
        return f"{said}{ends(found.interval, (-size, size), change)}"

    def therefore(self, declared: M, context: Context, found: Found) -> str:
        if found.conclusion is None:
            return ""
        pair = compared(declared, context, found, (declared.margin.size,))
        if declared.margin.relative is not None:
            pair = replace(pair, text=digits(relative_size, found.digits))
        return self.against_margin(declared, pair, found)

    def mistakes(self, declared: M, context: Context) -> Iterator[Mistake]:
        if is_sequential(declared, context) and declared.margin.relative is not None:
            mistake = "a relative margin moves with the mean of b, and a sequential test needs a "
            mistake += "fixed one"
            advice = "write it as `abs` or `of_gain`"
            yield Mistake(("margin", "relative"), mistake, "one of abs, of_gain", advice)

    def needs_values(self, declared: M, context: Context) -> Mistake | None:
        if not context.paired:
            return None
        mistake = "the design pairs the seeds of both arms"
        advice = "give the arm a table, or write `design: independent`"
        return Mistake(("of",), mistake, "an arm that is trained, or has a table", advice)

    @abstractmethod
    def against_margin(self, declared: M, pair: Compared, found: Found) -> str:
        """As ``therefore``, where there is a conclusion."""

    def conclude_at_once(self, declared: M, result: TestResult) -> Finding:
        return by_interval(result)


class EquivalenceKind(MarginKind[Equivalence]):
    """The means differ by less than the margin."""

    Declared = Equivalence
    claimed_side = "between"

    def test_at_once(
        self, declared: Equivalence, context: Context, arms: Sequence[Arm]
    ) -> TestResult:
        from repro.stats import t_tests as stats

        (a, b), size = arms, declared.margin.size
        if declared.margin.relative is not None:
            return stats.tost_relative(a, b, relative=size, **context.level)
        return stats.tost(a, b, low=-size, high=size, **context.level)

    def question(self, declared: Equivalence, context: Context) -> Question:
        from repro.stats import stopping as ask

        return ask.equivalence(-declared.margin.size, declared.margin.size)

    def statement(self, declared: Equivalence, context: Context) -> str:
        said = f"differ by less than {margin_words(declared.margin)}"
        return headed(context.measured(declared), f"{pair(context.labels(declared))} {said}")

    def against_margin(self, declared: Equivalence, pair: Compared, found: Found) -> str:
        """Inside both margins, beyond one of them, or across one."""
        margin = margin_words(declared.margin)
        asserted = f"equal to within {margin}"
        if found.conclusion is Conclusion.CONFIRMED:
            inside = f"{fmt.upper_first(asserted)}, as claimed: the whole interval lies inside"
            if pair.excludes_none():
                return f"{inside}. There is a difference, but smaller than the margin."
            return f"{inside}."
        if found.conclusion is Conclusion.CONTRADICTED:
            seen = fmt.upper_first(pair.seen or "different")
            return f"{seen} by more than {margin}, against the claim that they are {asserted}."
        side = pair.seen
        if side is not None and abs(pair.effect) >= declared.margin.size:
            return against(f"{pair.a} looks {side} by more than {margin}", pair.reach())
        return f"That they are {asserted} is not shown{pair.reach()}."

    def name_of_test(self, declared: Equivalence, context: Context) -> str:
        tests = "paired t-tests" if context.paired else "Welch tests"
        return f"two one-sided {tests} (TOST{_of_contrast(declared)})"

    def limits(self, declared: Equivalence, context: Context) -> tuple[base.LimitPart, ...]:
        return tuple(margin_limit(sign, declared.margin) for sign in (-1, 1))

    def planned(
        self, declared: Equivalence, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        from repro.stats.planning import PlannedMargin

        size = declared.margin.size
        return PlannedMargin(**plan.design(context), low=-size, high=size)


class OneSidedKind(MarginKind[MarginClaim]):
    """a is not better than b by the margin or more; or, the other way, not worse."""

    side: ClassVar[Literal["better", "worse"]]

    def test_at_once(
        self, declared: MarginClaim, context: Context, arms: Sequence[Arm]
    ) -> TestResult:
        from repro.stats import t_tests as stats

        a, b = arms
        better, size = context.measurement(declared).better, declared.margin.size
        if declared.margin.relative is not None:
            superior, inferior = stats.non_superiority_relative, stats.non_inferiority_relative
            relative = superior if self.side == "better" else inferior
            return relative(a, b, relative=size, better=better, **context.level)
        plain = stats.non_superiority if self.side == "better" else stats.non_inferiority
        return plain(a, b, margin=size, better=better, **context.level)

    def question(self, declared: MarginClaim, context: Context) -> Question:
        from repro.stats import stopping as ask

        asked = {"better": ask.non_superiority, "worse": ask.non_inferiority}[self.side]
        return asked(declared.margin.size, context.measurement(declared).better)

    def statement(self, declared: MarginClaim, context: Context) -> str:
        a, b = context.labels(declared)
        said = f"{a} is not {self.side} than {b} by {margin_words(declared.margin)} or more"
        return headed(context.measured(declared), said)

    def against_margin(self, declared: MarginClaim, pair: Compared, found: Found) -> str:
        """Short of the margin, beyond it, or across it."""
        margin = margin_words(declared.margin)
        asserted = f"not {self.side} by {margin} or more"
        _, end = pair.ends(self.side)
        if found.conclusion is Conclusion.CONFIRMED:
            most = "" if end is None else f": at most {pair.size(end)} {self.side}"
            if end is not None and end <= 0:
                most = f": it is {OTHER[self.side]}"
            return f"{fmt.upper_first(asserted)}, as claimed{most}."
        if found.conclusion is Conclusion.CONTRADICTED:
            said = f"{fmt.upper_first(self.side)} by more than {margin}, against the claim"
            return f"{said} that it is {asserted}."
        if pair.seen == self.side and abs(pair.effect) >= declared.margin.size:
            return against(f"{pair.a} looks {self.side} by more than {margin}", pair.reach())
        return f"That it is {asserted} is not shown{pair.reaches(self.side)}."

    def name_of_test(self, declared: MarginClaim, context: Context) -> str:
        test = "paired t-test" if context.paired else "Welch's t-test"
        return f"{test} against the margin, one-sided{_of_contrast(declared)}"

    def limits(self, declared: MarginClaim, context: Context) -> tuple[base.LimitPart, ...]:
        return (margin_limit(self._sign(declared, context), declared.margin),)

    def planned(
        self, declared: MarginClaim, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        """A gain below the margin, or above minus the margin; an e-process must find the margin."""
        from repro.stats.planning import PlannedMargin, PlannedSequential

        size, design = declared.margin.size, plan.design(context)
        if context.sequential and context.sequential.g:
            design |= {"alpha": 2 * context.alpha, "effect": size, **context.looks}
            return PlannedSequential(**design)
        if self.side == "better":
            return PlannedMargin(**design, high=size)
        return PlannedMargin(**design, low=-size)

    def claimed(self, declared: MarginClaim, context: Context) -> base.Side:
        return "above" if self._sign(declared, context) < 0 else "below"

    def _sign(self, declared: MarginClaim, context: Context) -> int:
        """Of the effect on that side: a minus b is negative where a is better and lower is."""
        better = -1 if context.measurement(declared).better == "lower" else 1
        return better if self.side == "better" else -better


class NonSuperiorityKind(OneSidedKind):
    """a is not better than b by the margin or more."""

    Declared = NonSuperiority
    side = "better"


class NonInferiorityKind(OneSidedKind):
    """a is not worse than b by the margin or more."""

    Declared = NonInferiority
    side = "worse"


def _of_contrast(declared: MarginClaim) -> str:
    return "" if declared.margin.relative is None else ", of a contrast with a share of b"
