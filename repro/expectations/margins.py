"""Equivalence, non-superiority, non-inferiority: is the difference within a declared margin?"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar

from repro.expectations import base
from repro.expectations.base import (
    Context,
    Declared,
    Found,
    Kind,
    Pair,
    Read,
    arms_of,
    labels,
    pair,
    what,
)
from repro.expectations.rules import Conclusion, Finding, by_interval, conclude_sequential
from repro.expectations.sentences import (
    OTHER,
    Compared,
    against,
    difference_ends,
    difference_words,
    headed,
    margin_limit,
    margin_words,
    relative_ends,
    relative_size,
    relative_words,
    upper,
)
from repro.expectations.sequential import SEQUENTIAL, as_decided, is_sequential, run_sequential
from repro.schema import numbers as fmt
from repro.schema.base import Margin
from repro.stats.records import TestResult

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest
    from repro.stats.stopping import Question


class Equivalence(Declared):
    """The means of a and b differ by less than the margin; two one-sided tests."""

    kind: Literal["equivalence"]
    of: Pair
    margin: Margin


class NonSuperiority(Declared):
    """a is not better than b by the margin or more; one-sided."""

    kind: Literal["non_superiority"]
    of: Pair
    margin: Margin


class NonInferiority(Declared):
    """a is not worse than b by the margin or more; one-sided."""

    kind: Literal["non_inferiority"]
    of: Pair
    margin: Margin


M = TypeVar("M", bound=Equivalence | NonSuperiority | NonInferiority)
OneSided: TypeAlias = NonSuperiority | NonInferiority


class MarginKind(Kind[M]):
    """What the three kinds share: a margin, absolute or relative, and one-sided tests."""

    on_means = True
    compares_means = True
    assumes = "no difference"

    def scale(self, measurement: M) -> base.EffectScale:
        """In the units of the measurement, or relative to b."""
        return "difference" if measurement.margin.relative is None else "relative"

    def effect_label(self, measurement: M, context: Context) -> str:
        """A minus B, or A relative to B."""
        names, value = labels(measurement, context), what(measurement, context)
        if measurement.margin.relative is not None:
            return f"{value}, {names[0]} relative to {names[1]}"
        return f"{value}, {names[0]} minus {names[1]}"

    def sentence(self, measurement: M, context: Context, found: Found) -> str:
        """How far the means lie apart, and what that says of the margin."""
        if found.conclusion is None:
            return f"{self._found(measurement, context, found)}."
        return as_decided(
            found,
            what(measurement, context),
            lambda at: self._found(measurement, context, at),
            lambda at: self.therefore(measurement, compared(measurement, context, at), at),
        )

    def _found(self, measurement: M, context: Context, found: Found) -> str:
        names, value, size = (
            labels(measurement, context),
            what(measurement, context),
            measurement.margin.size,
        )
        if measurement.margin.relative is not None:
            reach = relative_ends(found.interval, (-size, size))
            return f"{relative_words(found.result, names, value)}{reach}"
        shown = context.measurements[measurement.measurement].digits
        reach = difference_ends(found.interval, (-size, size), shown)
        return f"{difference_words(found.result, names, value, shown)}{reach}"

    def mistakes(self, declared: M, context: Context) -> Iterator[base.Mistake]:
        """Of its margin, where it is judged at looks."""
        if is_sequential(declared, context) and declared.margin.relative is not None:
            what = "a relative margin moves with the mean of b, and a sequential test needs a "
            what += "fixed one"
            advice = "write it as `abs` or `of_gain`"
            yield base.Mistake(("margin", "relative"), what, "one of abs, of_gain", advice)

    def needs_values(self, declared: M, context: Context) -> base.Mistake | None:
        if context.design != "paired":
            return None
        what = "the design pairs the seeds of both arms"
        advice = "give the arm a table, or write `design: independent`"
        return base.Mistake(("of",), what, "an arm that is trained, or has a table", advice)

    @abstractmethod
    def asserted(self, measurement: M) -> str:
        """What the claim asserts, in few words: `not better by 0.9 or more`."""

    @abstractmethod
    def therefore(self, measurement: M, pair: Compared, found: Found) -> str:
        """What follows for the claim: as claimed, against it, or open and why."""

    def conclude(self, measurement: M, result: TestResult) -> Finding:
        """By the interval, which must lie within the margin or beyond it."""
        if result.test in SEQUENTIAL:
            return conclude_sequential(result)
        return by_interval(result)


class EquivalenceKind(MarginKind[Equivalence]):
    """The means differ by less than the margin."""

    Declared = Equivalence

    def test(self, declared: Equivalence, context: Context, read: Read) -> TestResult:
        """Two one-sided tests; a relative margin is tested as a contrast."""
        from repro.stats import t_tests as stats

        a, b = arms_of(declared, read)
        if is_sequential(declared, context):
            return run_sequential(declared, self.question(declared, context), context, a, b)
        size, paired = declared.margin.size, context.design == "paired"
        if declared.margin.relative is not None:
            return stats.tost_relative(a, b, relative=size, alpha=context.alpha, paired=paired)
        return stats.tost(a, b, low=-size, high=size, alpha=context.alpha, paired=paired)

    def question(self, declared: Equivalence, context: Context) -> Question:
        from repro.stats import stopping as ask

        return ask.equivalence(-declared.margin.size, declared.margin.size)

    def statement(self, declared: Equivalence, context: Context) -> str:
        """That the means are equal to within the margin."""
        names = pair(labels(declared, context))
        return headed(
            what(declared, context), f"{names} differ by less than {margin_words(declared.margin)}"
        )

    def asserted(self, declared: Equivalence) -> str:
        """Equal to within the margin."""
        return f"equal to within {margin_words(declared.margin)}"

    def therefore(self, declared: Equivalence, pair: Compared, found: Found) -> str:
        """Inside both margins, beyond one of them, or across one."""
        asserted, margin = self.asserted(declared), margin_words(declared.margin)
        if found.conclusion is Conclusion.CONFIRMED:
            inside = f"{upper(asserted)}, as claimed: the whole interval lies inside"
            if pair.excludes_none():
                return f"{inside}. There is a difference, but smaller than the margin."
            return f"{inside}."
        if found.conclusion is Conclusion.CONTRADICTED:
            said = f"{upper(pair.seen or 'different')} by more than {margin}, against the claim"
            return f"{said} that they are {asserted}."
        side = pair.seen
        if side is not None and abs(pair.effect) >= declared.margin.size:
            return against(f"{pair.a} looks {side} by more than {margin}", pair.reach())
        return f"That they are {asserted} is not shown{pair.reach()}."

    def name_of_test(self, declared: Equivalence, context: Context) -> str:
        tests = "paired t-tests" if context.design == "paired" else "Welch tests"
        return f"two one-sided {tests} (TOST{_of_contrast(declared)})"

    def limits(self, declared: Equivalence, context: Context) -> tuple[base.LimitPart, ...]:
        return tuple(margin_limit(sign, declared.margin) for sign in (-1, 1))

    def planned(
        self, declared: Equivalence, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        from repro.stats.planning import PlannedEquivalence

        size, paired = declared.margin.size, context.design == "paired"
        return PlannedEquivalence(
            (plan.n,), plan.scatter, context.alpha, low=-size, high=size, paired=paired
        )

    def claimed(self, declared: Equivalence, context: Context) -> base.Side:
        return "between"


class OneSidedKind(MarginKind[OneSided]):
    """a is not better than b by the margin or more; or, the other way, not worse."""

    side: ClassVar[Literal["better", "worse"]]

    def test(self, declared: OneSided, context: Context, read: Read) -> TestResult:
        """One-sided t-test against the margin on that side."""
        from repro.stats import t_tests as stats

        a, b = arms_of(declared, read)
        if is_sequential(declared, context):
            return run_sequential(declared, self.question(declared, context), context, a, b)
        better, size = context.measurements[declared.measurement].better, declared.margin.size
        how: dict[str, Any] = {
            "better": better,
            "alpha": context.alpha,
            "paired": context.design == "paired",
        }
        if declared.margin.relative is not None:
            relative = {
                "better": stats.non_superiority_relative,
                "worse": stats.non_inferiority_relative,
            }
            return relative[self.side](a, b, relative=size, **how)
        plain = {"better": stats.non_superiority, "worse": stats.non_inferiority}
        return plain[self.side](a, b, margin=size, **how)

    def question(self, declared: OneSided, context: Context) -> Question:
        """Whether the difference stays short of the margin on that side."""
        from repro.stats import stopping as ask

        asked = {"better": ask.non_superiority, "worse": ask.non_inferiority}[self.side]
        return asked(declared.margin.size, context.measurements[declared.measurement].better)

    def statement(self, declared: OneSided, context: Context) -> str:
        """That a is not better, or not worse."""
        a, b = labels(declared, context)
        size = margin_words(declared.margin)
        return headed(what(declared, context), f"{a} is not {self.side} than {b} by {size} or more")

    def asserted(self, declared: OneSided) -> str:
        """Not better, or not worse, by the margin or more."""
        return f"not {self.side} by {margin_words(declared.margin)} or more"

    def therefore(self, declared: OneSided, pair: Compared, found: Found) -> str:
        """Short of the margin, beyond it, or across it."""
        asserted, margin = self.asserted(declared), margin_words(declared.margin)
        end = pair.farthest(self.side)
        if found.conclusion is Conclusion.CONFIRMED:
            most = "" if end is None else f": at most {pair.size(end)} {self.side}"
            if end is not None and end <= 0:
                most = f": it is {OTHER[self.side]}"
            return f"{upper(asserted)}, as claimed{most}."
        if found.conclusion is Conclusion.CONTRADICTED:
            said = f"{upper(self.side)} by more than {margin}, against the claim"
            return f"{said} that it is {asserted}."
        if pair.seen == self.side and abs(pair.effect) >= declared.margin.size:
            return against(f"{pair.a} looks {self.side} by more than {margin}", pair.reach())
        return f"That it is {asserted} is not shown{pair.reaches(self.side)}."

    def name_of_test(self, declared: OneSided, context: Context) -> str:
        test = "paired t-test" if context.design == "paired" else "Welch's t-test"
        return f"{test} against the margin, one-sided{_of_contrast(declared)}"

    def limits(self, declared: OneSided, context: Context) -> tuple[base.LimitPart, ...]:
        return (margin_limit(self._sign(declared, context), declared.margin),)

    def planned(self, declared: OneSided, context: Context, plan: base.PlannedSeeds) -> PlannedTest:
        """A gain below the margin, or above minus the margin; an e-process must find the margin."""
        from repro.stats.planning import (
            PlannedNonInferiority,
            PlannedNonSuperiority,
            PlannedSequential,
        )

        size, paired, arms = declared.margin.size, context.design == "paired", (plan.n,)
        if isinstance(context.sequential, base.EProcess):
            alpha = 2 * context.alpha
            return PlannedSequential(arms, plan.scatter, alpha, effect=size, paired=paired)
        if self.side == "better":
            return PlannedNonSuperiority(
                arms, plan.scatter, context.alpha, high=size, paired=paired
            )
        return PlannedNonInferiority(arms, plan.scatter, context.alpha, low=-size, paired=paired)

    def claimed(self, declared: OneSided, context: Context) -> base.Side:
        return "above" if self._sign(declared, context) < 0 else "below"

    def _sign(self, declared: OneSided, context: Context) -> int:
        """Of the effect on that side: a minus b is negative where a is better and lower is."""
        better = -1 if context.measurements[declared.measurement].better == "lower" else 1
        return better if self.side == "better" else -better


class NonSuperiorityKind(OneSidedKind):
    """a is not better than b by the margin or more."""

    Declared = NonSuperiority
    side = "better"


class NonInferiorityKind(OneSidedKind):
    """a is not worse than b by the margin or more."""

    Declared = NonInferiority
    side = "worse"


def _of_contrast(declared: Equivalence | NonSuperiority | NonInferiority) -> str:
    return "" if declared.margin.relative is None else ", of a contrast with a share of b"


def compared(declared: Equivalence | OneSided, context: Context, found: Found) -> Compared:
    """The pair as its sentence needs it, in units of the measurement or relative to b."""
    measurement = context.measurements[declared.measurement]
    shown = measurement.digits
    relative = declared.margin.relative is not None
    return Compared(
        a=context.arms[declared.of[0]].label,
        better=measurement.better,
        effect=found.result.effect,
        interval=found.interval,
        limits=(declared.margin.size,),
        text=relative_size if relative else lambda v, more: fmt.fixed(v, shown + more),
    )
