"""Several arms in a declared order: a trend along them, or every pair in order."""

from __future__ import annotations

from repro.expectations import base
from repro.expectations.base import Found, Kind, Read, digits, labels, pair, samples_of, what
from repro.expectations.rules import Conclusion, Finding, by_p
from repro.expectations.sentences import against, difference_ends, difference_words, headed, p_words
from repro.schema import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import Ordering, Trend
from repro.stats.records import TestResult, expect
from repro.stats.trends import OrderingResult, linear_trend, ordering, trend

OF_SLOPE = ("welch", "paired")
"""Tests of the slope of the means, in the units of the measurement."""


WORDS = {"increasing": "rises", "decreasing": "falls"}


class TrendKind(Kind[Trend]):
    """The slope of the means; Jonckheere-Terpstra; or Kendall's tau of value on position."""

    def scale(self, one: Trend) -> base.EffectScale:
        """In the units of the measurement; the share of pairs in order; or a correlation."""
        if one.test in OF_SLOPE:
            return "difference"
        return "share" if one.test == "jonckheere" else "correlation"

    def test(self, one: Trend, claim: Claim, read: Read) -> TestResult:
        """The declared test of trend, one-sided."""
        groups = samples_of(one, read)
        match one.test:
            case "welch" | "paired":
                paired = one.test == "paired"
                return linear_trend(
                    groups, direction=one.direction, alpha=claim.alpha, paired=paired
                )
            case _:
                return trend(groups, direction=one.direction, test=one.test, alpha=claim.alpha)

    def conclude(self, one: Trend, result: TestResult) -> Finding:
        """By p one way, and p the other."""
        return by_p(result)

    def statement(self, one: Trend, claim: Claim) -> str:
        """That it rises, or falls, along the arms."""
        return headed(what(one, claim), f"{WORDS[one.direction]} along {pair(labels(one, claim))}")

    def name_of_test(self, one: Trend, claim: Claim) -> str:
        """The test of trend."""
        if one.test == "welch":
            return "Welch test of the slope of the means, one-sided"
        if one.test == "paired":
            return "t-test of the slopes of the seeds, one-sided"
        if one.test == "jonckheere":
            return "Jonckheere-Terpstra test, one-sided"
        return "Kendall's tau of value on position, one-sided"

    def effect_label(self, one: Trend, claim: Claim) -> str:
        """The slope, pairs in order, or tau."""
        if one.test in OF_SLOPE:
            return f"slope of the mean {what(one, claim)}, from one arm to the next"
        if one.test == "jonckheere":
            order = "rising" if one.direction == "increasing" else "falling"
            return f"share of pairs of seeds of different arms whose {what(one, claim)} is {order}"
        return f"Kendall's tau of {what(one, claim)} on position"

    def sentence(self, one: Trend, claim: Claim, found: Found) -> str:
        """How steeply the means rise, how many pairs are in order, or tau; then what follows."""
        return f"{self._found(one, claim, found)}. {_trend(one, found)}".rstrip()

    def _found(self, one: Trend, claim: Claim, found: Found) -> str:
        result, value = found.result, what(one, claim)
        if one.test in OF_SLOPE:
            shown = digits(claim.measurements[one.measurement])
            side = "rises" if result.effect > 0 else "falls"
            step = fmt.fixed(abs(result.effect), shown)
            said = f"the mean {side} by {step} from arm to arm, on average"
            if not step.strip("0."):
                said = "the mean neither rises nor falls from arm to arm, as far as printed"
            return headed(value, f"{said}{difference_ends(found.interval, (0.0,), shown)}")
        if one.test == "kendall":
            tau = fmt.plus(result.effect, 2)
            return headed(value, f"Kendall's tau on the position of the arm is {tau}")
        share = fmt.significant(100 * result.effect)
        said = f"it {WORDS[one.direction]} in {share}% of the pairs of seeds of different arms"
        normal = "" if result.exact else " (p by the normal approximation)"
        return headed(value, f"{said}{normal}")

    def limits(self, one: Trend, claim: Claim) -> tuple[base.Limit, ...]:
        """No trend."""
        value = 0.5 if one.test == "jonckheere" else 0.0
        return (base.Limit(value=value, label=f"no trend, {value:g}", why=""),)

    def claimed(self, one: Trend, claim: Claim) -> base.Side:
        """Above, for pairs in the declared order; slope and tau have the direction's sign."""
        signed = one.test != "jonckheere"
        return "below" if signed and one.direction == "decreasing" else "above"


def _trend(one: Trend, found: Found) -> str:
    p, contrary = p_words(found.result), p_words(found.result, opposite=True)
    asserted = WORDS[one.direction]
    other = WORDS["decreasing" if one.direction == "increasing" else "increasing"]
    flat = 0.5 if one.test == "jonckheere" else 0.0
    along = (found.result.effect - flat) * (1 if flat or one.direction == "increasing" else -1)
    if found.conclusion is Conclusion.CONFIRMED:
        return f"It {asserted}, as claimed{p}."
    if found.conclusion is Conclusion.CONTRADICTED:
        return f"It {other}, against the claim{contrary}."
    if found.conclusion is not Conclusion.INCONCLUSIVE:
        return ""
    if along < -1e-12:
        return against(f"it seems that it {other}", contrary)
    return f"That it {asserted} is not shown{p}."


def _ordered(one: Ordering, found: Found, *, several: bool) -> str:
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
    if found.result.effect * (1 if one.direction == "increasing" else -1) < 0:
        which = "this pair" if several else "it"
        return against(f"{which} looks the other way round", contrary)
    return f"That every pair is in order is not shown{p}."


class OrderingKind(Kind[Ordering]):
    """Every two arms in the declared order, each by a t-test, by Holm's method."""

    def scale(self, one: Ordering) -> base.EffectScale:
        """In the units of the measurement: the least step."""
        return "difference"

    def test(self, one: Ordering, claim: Claim, read: Read) -> TestResult:
        """One-sided t-tests of every two arms."""
        paired, groups = claim.design == "paired", samples_of(one, read)
        return ordering(groups, direction=one.direction, alpha=claim.alpha, paired=paired)

    def conclude(self, one: Ordering, result: TestResult) -> Finding:
        """All pairs in order, or one reversed, at Holm's level."""
        return by_p(result)

    def statement(self, one: Ordering, claim: Claim) -> str:
        """The arms in order."""
        sign = " < " if one.direction == "increasing" else " > "
        return headed(what(one, claim), f"in order, {sign.join(labels(one, claim))}")

    def name_of_test(self, one: Ordering, claim: Claim) -> str:
        """All pairs of arms."""
        if claim.design == "paired":
            return "one-sided paired t-tests of every two arms, Holm"
        return "one-sided Welch tests of all pairs, Holm"

    def effect_label(self, one: Ordering, claim: Claim) -> str:
        """The step with the least evidence."""
        return f"{what(one, claim)}, the step with the least evidence"

    def sentence(self, one: Ordering, claim: Claim, found: Found) -> str:
        """The pair with the least evidence, and whether every pair is in order."""
        result, names = found.result, labels(one, claim)
        a, b = expect(result, OrderingResult).weakest
        shown = digits(claim.measurements[one.measurement])
        said = difference_words(result, [names[b], names[a]], what(one, claim), shown)
        said += difference_ends(found.interval, (0.0,), shown)
        pairs = len(names) * (len(names) - 1) // 2
        least = f" Of the {pairs} pairs, this one supports the claim least." if pairs > 1 else ""
        return f"{said}.{least} {_ordered(one, found, several=pairs > 1)}".rstrip()

    def limits(self, one: Ordering, claim: Claim) -> tuple[base.Limit, ...]:
        """No step."""
        return (base.Limit(value=0, label="no difference, 0", why=""),)

    def claimed(self, one: Ordering, claim: Claim) -> base.Side:
        """A step up, or down."""
        return "above" if one.direction == "increasing" else "below"
