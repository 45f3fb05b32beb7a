"""Ratios of geometric means: is a at least so many times b?"""

from __future__ import annotations

from repro.expectations import base
from repro.expectations.base import Found, Kind, Read, arms_of, labels, what
from repro.expectations.rules import Conclusion, Finding, conclude_ratio
from repro.expectations.sentences import against, apart, headed
from repro.schema import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import Ratio, Separation
from repro.stats.records import TestResult
from repro.stats.t_tests import ratio_of_geometric_means


class RatioKind(Kind[Ratio]):
    """One-sided t-test on logarithms, of the design."""

    def scale(self, declared: Ratio) -> base.EffectScale:
        """A multiple."""
        return "ratio"

    def test(self, declared: Ratio, claim: Claim, read: Read) -> TestResult:
        """The t-test on logarithms, or an exact comparison of constant arms."""
        a, b = arms_of(declared, read)
        least, paired = declared.at_least.value, claim.design == "paired"
        return ratio_of_geometric_means(a, b, at_least=least, alpha=claim.alpha, paired=paired)

    def conclude(self, declared: Ratio, result: TestResult) -> Finding:
        """By the interval, which must lie above the least ratio."""
        return conclude_ratio(result)

    def statement(self, declared: Ratio, claim: Claim) -> str:
        """At least so many times."""
        a, b = labels(declared, claim)
        return headed(what(declared, claim), f"{a} is at least {least_ratio(declared)} {b}")

    def name_of_test(self, declared: Ratio, claim: Claim) -> str:
        """The t-test of the design, on logarithms."""
        test = "paired t-test" if claim.design == "paired" else "Welch's t-test"
        return f"{test} on logarithms, one-sided (ratio of geometric means)"

    def effect_label(self, declared: Ratio, claim: Claim) -> str:
        """A over B."""
        a, b = labels(declared, claim)
        return f"{what(declared, claim)}, {a} / {b}"

    def sentence(self, declared: Ratio, claim: Claim, found: Found) -> str:
        """How many times, with its interval; then what that says of the least ratio."""
        a, b = labels(declared, claim)
        effect, reach = _texts(found.result, found.interval, declared.at_least.value)
        said = headed(what(declared, claim), f"{a} is {effect} times {b}{reach}")
        less = f"{a} looks less than {least_ratio(declared)} {b}"
        return f"{said}. {_therefore(declared, less, found)}".rstrip()

    def limits(self, declared: Ratio, claim: Claim) -> tuple[base.Limit, ...]:
        """The least ratio."""
        return (least_limit(declared),)

    def region(self, declared: Ratio) -> tuple[float | None, float | None]:
        """Above the least ratio."""
        return declared.at_least.value, None

    def claimed(self, declared: Ratio, claim: Claim) -> base.Side:
        """Above the least ratio."""
        return "above"

    def details(self, declared: Ratio, claim: Claim, result: TestResult) -> dict[str, str]:
        """That constant arms compare exactly."""
        if not result.exact:
            return {}
        return {"exact": "every seed of an arm gives the same value, so ratios compare exactly"}


def least_ratio(declared: Ratio | Separation) -> str:
    """The declared least ratio, as it was declared: `10 times`."""
    return f"{declared.at_least.value:g} times"


def least_limit(declared: Ratio | Separation) -> base.Limit:
    """The least ratio as a limit on the axis."""
    label = f"at least {least_ratio(declared)}"
    return base.Limit(value=declared.at_least.value, label=label, why=declared.at_least.why)


def _therefore(declared: Ratio, less: str, found: Found) -> str:
    """What follows for the claim; ``less`` says that the ratio looks too small."""
    least, own = least_ratio(declared), found.interval
    if found.conclusion is Conclusion.CONFIRMED:
        return f"At least {least}, as claimed."
    if found.conclusion is Conclusion.CONTRADICTED:
        return f"Less than {least}, against the claim."
    if found.conclusion is not Conclusion.INCONCLUSIVE:
        return ""
    low, high = (None, None) if own is None else (own.low, own.high)
    if found.result.effect < declared.at_least.value:
        return against(less, f": the interval reaches up to {_end(high, declared)}")
    return f"At least {least} is not shown: the interval reaches down to {_end(low, declared)}."


def _end(value: float | None, declared: Ratio) -> str:
    if value is None:
        return "any ratio"
    return apart([value], (declared.at_least.value,), lambda v, more: fmt.significant(v, 3 + more))[
        0
    ]


def _texts(result: TestResult, interval: base.Interval | None, least: float) -> tuple[str, str]:
    """A ratio and its interval, with enough digits to be told from the least one."""
    reach = [] if interval is None else [e for e in (interval.low, interval.high) if e is not None]
    texts = apart([result.effect, *reach], (least,), lambda v, more: fmt.significant(v, 3 + more))
    if interval is None or len(reach) < 2:
        return texts[0], ""
    return texts[0], f" ({fmt.percent(interval.level)} interval {texts[1]} to {texts[2]})"
