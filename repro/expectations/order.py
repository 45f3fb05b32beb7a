"""Several arms in a declared order: a trend along them, or every pair in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from repro.errors import ClaimError
from repro.expectations import base
from repro.expectations.base import (
    Context,
    Declared,
    Found,
    Kind,
    Read,
    labels,
    pair,
    samples_of,
    unfitting_test,
    what,
    with_test_of,
)
from repro.expectations.rules import Conclusion, Finding, by_p
from repro.expectations.sentences import against, difference_ends, difference_words, headed, p_words
from repro.schema import numbers as fmt
from repro.schema.base import Name
from repro.stats.records import TestResult, expect

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest


OF_SLOPE = ("welch", "paired")
"""Tests of the slope of the means, in the units of the measurement."""

WORDS = {"increasing": "rises", "decreasing": "falls"}


class Trend(Declared):
    """The measurement rises (or falls) along the arms, in the order in which they are named.

    By the slope of the line through their means (of pairs, by the slopes of the seeds), unless a
    rank test is named: those ask whether the arms are alike, and err where their spreads differ.
    """

    kind: Literal["trend"]
    of: Annotated[tuple[Name, ...], Field(min_length=3)]
    direction: Literal["increasing", "decreasing"]
    test: Literal["welch", "paired", "jonckheere", "kendall"] = "welch"


class TrendKind(Kind[Trend]):
    """The slope of the means; Jonckheere-Terpstra; or Kendall's tau of value on position."""

    ordered = True

    Declared = Trend
    several_arms = True

    def mistakes(self, declared: Trend, context: Context) -> Iterator[base.Mistake]:
        return unfitting_test(declared.test, context)

    def by_order(self, declared: Trend) -> bool:
        return declared.test not in OF_SLOPE

    def following(self, declared: Trend, design: base.Design) -> Trend:
        """The t-test of the slopes of the seeds, in a paired design."""
        return with_test_of(declared, design)

    def scale(self, declared: Trend) -> base.EffectScale:
        """In the units of the measurement; the share of pairs in order; or a correlation."""
        if declared.test in OF_SLOPE:
            return "difference"
        return "share" if declared.test == "jonckheere" else "correlation"

    def test(self, declared: Trend, context: Context, read: Read) -> TestResult:
        from repro.stats.trends import linear_trend, trend

        groups = samples_of(declared, read)
        match declared.test:
            case "welch" | "paired":
                paired = declared.test == "paired"
                return linear_trend(
                    groups, direction=declared.direction, alpha=context.alpha, paired=paired
                )
            case _:
                return trend(
                    groups, direction=declared.direction, test=declared.test, alpha=context.alpha
                )

    def conclude(self, declared: Trend, result: TestResult) -> Finding:
        """By p one way, and p the other."""
        return by_p(result)

    def statement(self, declared: Trend, context: Context) -> str:
        """That it rises, or falls, along the arms."""
        return headed(
            what(declared, context),
            f"{WORDS[declared.direction]} along {pair(labels(declared, context))}",
        )

    def name_of_test(self, declared: Trend, context: Context) -> str:
        if declared.test == "welch":
            return "Welch test of the slope of the means, one-sided"
        if declared.test == "paired":
            return "t-test of the slopes of the seeds, one-sided"
        if declared.test == "jonckheere":
            return "Jonckheere-Terpstra test, one-sided"
        return "Kendall's tau of value on position, one-sided"

    def effect_label(self, declared: Trend, context: Context) -> str:
        if declared.test in OF_SLOPE:
            return f"slope of the mean {what(declared, context)}, from one arm to the next"
        if declared.test == "jonckheere":
            order = "rising" if declared.direction == "increasing" else "falling"
            value = what(declared, context)
            return f"share of pairs of seeds of different arms whose {value} is {order}"
        return f"Kendall's tau of {what(declared, context)} on position"

    def sentence(self, declared: Trend, context: Context, found: Found) -> str:
        """How steeply the means rise, how many pairs are in order, or tau; then what follows."""
        return f"{self._found(declared, context, found)}. {_trend(declared, found)}".rstrip()

    def _found(self, declared: Trend, context: Context, found: Found) -> str:
        result, value = found.result, what(declared, context)
        if declared.test in OF_SLOPE:
            shown = context.measurements[declared.measurement].digits
            side = "rises" if result.effect > 0 else "falls"
            step = fmt.fixed(abs(result.effect), shown)
            said = f"the mean {side} by {step} from arm to arm, on average"
            if not step.strip("0."):
                said = "the mean neither rises nor falls from arm to arm, as far as printed"
            return headed(value, f"{said}{difference_ends(found.interval, (0.0,), shown)}")
        if declared.test == "kendall":
            tau = fmt.plus(result.effect, 2)
            return headed(value, f"Kendall's tau on the position of the arm is {tau}")
        share = fmt.significant(100 * result.effect)
        said = f"it {WORDS[declared.direction]} in {share}% of the pairs of seeds of different arms"
        normal = "" if result.exact else " (p by the normal approximation)"
        return headed(value, f"{said}{normal}")

    def limits(self, declared: Trend, context: Context) -> tuple[base.LimitPart, ...]:
        value = 0.5 if declared.test == "jonckheere" else 0.0
        return (base.LimitPart(value=value, label=f"no trend, {value:g}", why=""),)

    def planned(self, declared: Trend, context: Context, plan: base.PlannedSeeds) -> PlannedTest:
        raise ClaimError("no power is computed for a trend over several arms")

    def claimed(self, declared: Trend, context: Context) -> base.Side:
        """Above, for pairs in the declared order; slope and tau have the direction's sign."""
        signed = declared.test != "jonckheere"
        return "below" if signed and declared.direction == "decreasing" else "above"

    def unpaired(self, declared: Trend) -> Trend:
        return declared.model_copy(update={"test": "welch"})


def _trend(declared: Trend, found: Found) -> str:
    p, contrary = p_words(found.result), p_words(found.result, opposite=True)
    asserted = WORDS[declared.direction]
    other = WORDS["decreasing" if declared.direction == "increasing" else "increasing"]
    flat = 0.5 if declared.test == "jonckheere" else 0.0
    along = (found.result.effect - flat) * (1 if flat or declared.direction == "increasing" else -1)
    if found.conclusion is Conclusion.CONFIRMED:
        return f"It {asserted}, as claimed{p}."
    if found.conclusion is Conclusion.CONTRADICTED:
        return f"It {other}, against the claim{contrary}."
    if found.conclusion is not Conclusion.INCONCLUSIVE:
        return ""
    if along < -1e-12:
        return against(f"it seems that it {other}", contrary)
    return f"That it {asserted} is not shown{p}."


def _ordered(declared: Ordering, found: Found, *, several: bool) -> str:
    p, contrary = (p_words(found.result, opposite=side) for side in (False, True))
    if several:
        p, contrary = (text.replace("(p", "(Holm p") for text in (p, contrary))
    if found.conclusion is Conclusion.CONFIRMED:
        return f"Every pair is in order, as claimed{p}."
    if found.conclusion is Conclusion.CONTRADICTED:
        which = "This pair" if several else "It"
        return f"{which} is the other way round, against the claim{contrary}."
    if found.conclusion is not Conclusion.INCONCLUSIVE:
        return ""
    if found.result.effect * (1 if declared.direction == "increasing" else -1) < 0:
        which = "this pair" if several else "it"
        return against(f"{which} looks the other way round", contrary)
    return f"That every pair is in order is not shown{p}."


class Ordering(Declared):
    """Every arm lies above (or below) each one named before it: every two of them, Holm."""

    kind: Literal["ordering"]
    of: Annotated[tuple[Name, ...], Field(min_length=2)]
    direction: Literal["increasing", "decreasing"]


class OrderingKind(Kind[Ordering]):
    """Every two arms in the declared order, each by a t-test, by Holm's method."""

    ordered = True

    Declared = Ordering
    several_arms = True

    def scale(self, declared: Ordering) -> base.EffectScale:
        """In the units of the measurement: the least step."""
        return "difference"

    def test(self, declared: Ordering, context: Context, read: Read) -> TestResult:
        from repro.stats.trends import ordering

        paired, groups = context.design == "paired", samples_of(declared, read)
        return ordering(groups, direction=declared.direction, alpha=context.alpha, paired=paired)

    def conclude(self, declared: Ordering, result: TestResult) -> Finding:
        """All pairs in order, or one reversed, at Holm's level."""
        return by_p(result)

    def statement(self, declared: Ordering, context: Context) -> str:
        sign = " < " if declared.direction == "increasing" else " > "
        return headed(what(declared, context), f"in order, {sign.join(labels(declared, context))}")

    def name_of_test(self, declared: Ordering, context: Context) -> str:
        if context.design == "paired":
            return "one-sided paired t-tests of every two arms, Holm"
        return "one-sided Welch tests of all pairs, Holm"

    def effect_label(self, declared: Ordering, context: Context) -> str:
        return f"{what(declared, context)}, the step with the least evidence"

    def sentence(self, declared: Ordering, context: Context, found: Found) -> str:
        """The pair with the least evidence, and whether every pair is in order."""
        from repro.stats.trends import OrderingResult

        result, names = found.result, labels(declared, context)
        a, b = expect(result, OrderingResult).weakest
        shown = context.measurements[declared.measurement].digits
        said = difference_words(result, [names[b], names[a]], what(declared, context), shown)
        said += difference_ends(found.interval, (0.0,), shown)
        pairs = len(names) * (len(names) - 1) // 2
        least = f" Of the {pairs} pairs, this one supports the claim least." if pairs > 1 else ""
        return f"{said}.{least} {_ordered(declared, found, several=pairs > 1)}".rstrip()

    def limits(self, declared: Ordering, context: Context) -> tuple[base.LimitPart, ...]:
        return (base.LimitPart(value=0, label="no difference, 0", why=""),)

    def planned(self, declared: Ordering, context: Context, plan: base.PlannedSeeds) -> PlannedTest:
        raise ClaimError("no power is computed for an ordering; plan each of its differences")

    def claimed(self, declared: Ordering, context: Context) -> base.Side:
        return "above" if declared.direction == "increasing" else "below"
