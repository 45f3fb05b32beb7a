"""Several arms in a declared order: a trend along them, or every pair in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from repro.expectations import base
from repro.expectations.base import Found, Kind, Read, pair, samples_of
from repro.expectations.decision_rules import by_p
from repro.expectations.declared import Context, Declared, Mistake, unfitting_test
from repro.expectations.phrases import (
    against,
    both_p,
    difference_words,
    digits,
    ends,
    follows,
    headed,
)
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.schema.base import Name
from repro.stats.records import TestResult, expect

OF_SLOPE = ("welch", "paired")
"""Tests of the slope of the means, in the units of the measurement."""

NAMES = {
    "welch": "Welch test of the slope of the means",
    "paired": "t-test of the slopes of the seeds",
    "jonckheere": "Jonckheere-Terpstra test",
    "kendall": "Kendall's tau of value on position",
}

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

    Declared = Trend
    ordered = True
    several_arms = True
    test_of_design = True
    no_power = "no power is computed for a trend over several arms"

    def mistakes(self, declared: Trend, context: Context) -> Iterator[Mistake]:
        return unfitting_test(declared.test, context)

    def by_order(self, declared: Trend) -> bool:
        return declared.test not in OF_SLOPE

    def scale(self, declared: Trend) -> base.EffectScale:
        if declared.test in OF_SLOPE:
            return "difference"
        return "share" if declared.test == "jonckheere" else "correlation"

    def test(self, declared: Trend, context: Context, read: Read) -> TestResult:
        from repro.stats.trends import linear_trend, trend

        groups = samples_of(declared, read)
        way, alpha = declared.direction, context.alpha
        match declared.test:
            case "welch" | "paired" as test:
                paired = test == "paired"
                return linear_trend(groups, direction=way, alpha=alpha, paired=paired)
            case test:
                return trend(groups, direction=way, test=test, alpha=alpha)

    def conclude(self, declared: Trend, result: TestResult) -> Finding:
        return by_p(result)

    def statement(self, declared: Trend, context: Context) -> str:
        said = f"{WORDS[declared.direction]} along {pair(context.labels(declared))}"
        return headed(context.measured(declared), said)

    def name_of_test(self, declared: Trend, context: Context) -> str:
        return f"{NAMES[declared.test]}, one-sided"

    def effect_label(self, declared: Trend, context: Context) -> str:
        value = context.measured(declared)
        if declared.test in OF_SLOPE:
            return f"slope of the mean {value}, from one arm to the next"
        if declared.test == "jonckheere":
            order = "rising" if declared.direction == "increasing" else "falling"
            return f"share of pairs of {context.unit}s of different arms whose {value} is {order}"
        return f"Kendall's tau of {value} on position"

    def sentence(self, declared: Trend, context: Context, found: Found) -> str:
        return f"{self._found(declared, context, found)}. {_trend(declared, found)}".rstrip()

    def _found(self, declared: Trend, context: Context, found: Found) -> str:
        result, value = found.result, context.measured(declared)
        if declared.test in OF_SLOPE:
            shown = found.digits
            side = "rises" if result.effect > 0 else "falls"
            step = fmt.fixed(abs(result.effect), shown)
            said = f"the mean {side} by {step} from arm to arm, on average"
            if not step.strip("0."):
                said = "the mean neither rises nor falls from arm to arm, as far as printed"
            return headed(value, f"{said}{ends(found.interval, (0.0,), digits(fmt.plus, shown))}")
        if declared.test == "kendall":
            tau = fmt.plus(result.effect, 2)
            return headed(value, f"Kendall's tau on the position of the arm is {tau}")
        share = fmt.share(result.effect)
        pairs = f"{share} of the pairs of {context.unit}s of different arms"
        said = f"it {WORDS[declared.direction]} in {pairs}"
        normal = "" if result.exact else " (p by the normal approximation)"
        return headed(value, f"{said}{normal}")

    def limits(self, declared: Trend, context: Context) -> tuple[base.LimitPart, ...]:
        value = 0.5 if declared.test == "jonckheere" else 0.0
        return (base.LimitPart(value=value, label=f"no trend, {value:g}", why=""),)

    def claimed(self, declared: Trend, context: Context) -> base.Side:
        """Above, for pairs in the declared order; slope and tau have the direction's sign."""
        signed = declared.test != "jonckheere"
        return "below" if signed and declared.direction == "decreasing" else "above"


def _trend(declared: Trend, found: Found) -> str:
    p, contrary = both_p(found.result)
    rising = declared.direction == "increasing"
    asserted, other = WORDS[declared.direction], WORDS["decreasing" if rising else "increasing"]
    flat = 0.5 if declared.test == "jonckheere" else 0.0
    along = (found.result.effect - flat) * (1 if flat or rising else -1)
    shown = f"That it {asserted} is not shown{p}."
    if along < -1e-12:
        shown = against(f"it seems that it {other}", contrary)
    return follows(
        found, f"It {asserted}, as claimed{p}.", f"It {other}, against the claim{contrary}.", shown
    )


class Ordering(Declared):
    """Every arm lies above (or below) each one named before it: every two of them, Holm."""

    kind: Literal["ordering"]
    of: Annotated[tuple[Name, ...], Field(min_length=2)]
    direction: Literal["increasing", "decreasing"]


class OrderingKind(Kind[Ordering]):
    """Every two arms in the declared order, each by a t-test, by Holm's method."""

    Declared = Ordering
    ordered = True
    several_arms = True
    no_power = "no power is computed for an ordering; plan each of its differences"

    def test(self, declared: Ordering, context: Context, read: Read) -> TestResult:
        from repro.stats.trends import ordering

        return ordering(samples_of(declared, read), direction=declared.direction, **context.level)

    def conclude(self, declared: Ordering, result: TestResult) -> Finding:
        """All pairs in order, or one reversed, at Holm's level."""
        return by_p(result)

    def statement(self, declared: Ordering, context: Context) -> str:
        sign = " < " if declared.direction == "increasing" else " > "
        said = f"in order, {sign.join(context.labels(declared))}"
        return headed(context.measured(declared), said)

    def name_of_test(self, declared: Ordering, context: Context) -> str:
        if context.paired:
            return "one-sided paired t-tests of every two arms, Holm"
        return "one-sided Welch tests of all pairs, Holm"

    def effect_label(self, declared: Ordering, context: Context) -> str:
        return f"{context.measured(declared)}, the step with the least evidence"

    def sentence(self, declared: Ordering, context: Context, found: Found) -> str:
        from repro.stats.trends import OrderingResult

        result, names = found.result, context.labels(declared)
        a, b = expect(result, OrderingResult).weakest
        value, text = context.measured(declared), digits(fmt.fixed, found.digits)
        said = difference_words(result, [names[b], names[a]], value, text)
        said += ends(found.interval, (0.0,), digits(fmt.plus, found.digits))
        pairs = len(names) * (len(names) - 1) // 2
        least = f" No other of the {pairs} pairs supports the claim less." if pairs > 1 else ""
        return f"{said}.{least} {_ordered(declared, found, several=pairs > 1)}".rstrip()

    def limits(self, declared: Ordering, context: Context) -> tuple[base.LimitPart, ...]:
        return (base.LimitPart(value=0, label="no difference, 0", why=""),)

    def claimed(self, declared: Ordering, context: Context) -> base.Side:
        return "above" if declared.direction == "increasing" else "below"


def _ordered(declared: Ordering, found: Found, *, several: bool) -> str:
    p, contrary = both_p(found.result)
    if several:
        p, contrary = (text.replace("one-sided p", "one-sided Holm p") for text in (p, contrary))
    reverse = "this pair" if several else "it"
    shown = f"That every pair is in order is not shown{p}."
    if found.result.effect * (1 if declared.direction == "increasing" else -1) < 0:
        shown = against(f"{reverse} looks the other way round", contrary)
    contradicted = (
        f"{fmt.upper_first(reverse)} is the other way round, against the claim{contrary}."
    )
    return follows(found, f"Every pair is in order, as claimed{p}.", contradicted, shown)
