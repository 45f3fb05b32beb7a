"""Ratios of geometric means: is a at least so many times b?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from repro.expectations import base
from repro.expectations.base import Found, Kind, Read, arms_of
from repro.expectations.decision_rules import conclude_ratio
from repro.expectations.declared import Context, Declared, Mistake, Pair
from repro.expectations.phrases import against, apart, digits, follows, headed
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.schema.base import LeastRatio
from repro.stats.records import TestResult

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest


class RatioClaim(Declared):
    """That a is at least so many times b."""

    kind: str
    of: Pair
    at_least: LeastRatio


class Ratio(RatioClaim):
    """The geometric mean of a is at least so many times that of b; on logarithms, one-sided.

    ``means: arithmetic`` compares arithmetic means, for which printed numbers will do.
    """

    kind: Literal["ratio"]
    means: Literal["arithmetic"] | None = None


R = TypeVar("R", bound=RatioClaim)


class LeastRatioKind(Kind[R]):
    """What kinds with a least ratio share; a scale gives them any limit, which must be one."""

    claimed_side = "above"

    def overridden(self, declared: R, sizes: Mapping[str, Any]) -> R:
        least = sizes.get("at_least")
        ratio = {} if least is None else {"at_least": LeastRatio(**dict(least))}
        return super().overridden(declared, {**sizes, **ratio})

    def unfit_sizes(self, sizes: Mapping[str, Any]) -> Iterator[Mistake]:
        least = sizes.get("at_least")
        if least is not None and (isinstance(least.value, str) or least.value < 1):
            mistake = f"{least.value} is no least ratio"
            expected, advice = "a number of at least 1", "write how many times"
            yield Mistake(("at_least", "value"), mistake, expected, advice)

    def limits(self, declared: R, context: Context) -> tuple[base.LimitPart, ...]:
        least = declared.at_least
        label = f"at least {least_ratio(least)}"
        return (base.LimitPart(value=least.value, label=label, why=least.why),)


class RatioKind(LeastRatioKind[Ratio]):
    """One-sided t-test on logarithms, of the design; of arithmetic means, Fieller's."""

    Declared = Ratio
    effect_scale = "ratio"
    compares_means = True

    def test(self, declared: Ratio, context: Context, read: Read) -> TestResult:
        from repro.stats.t_tests import ratio_of_geometric_means, ratio_of_means

        a, b = arms_of(declared, read)
        test = ratio_of_geometric_means if declared.means is None else ratio_of_means
        return test(a, b, at_least=declared.at_least.value, **context.level)

    def needs_values(self, declared: Ratio, context: Context) -> Mistake | None:
        found = super().needs_values(declared, context)
        if found is None or declared.means is not None:
            return None
        return replace(
            found,
            what="a ratio of geometric means needs the value of every seed",
            expected="`means: arithmetic`, or the value of every seed",
            advice="add `means: arithmetic`, for which mean, sd and n do, or give the arm a table",
        )

    def conclude(self, declared: Ratio, result: TestResult) -> Finding:
        return conclude_ratio(result)

    def statement(self, declared: Ratio, context: Context) -> str:
        a, b = context.labels(declared)
        said = f"{a} is at least {least_ratio(declared.at_least)} {b}"
        return headed(context.measured(declared), said)

    def name_of_test(self, declared: Ratio, context: Context) -> str:
        test = "paired t-test" if context.paired else "Welch's t-test"
        if declared.means is None:
            return f"{test} on logarithms, one-sided (ratio of geometric means)"
        least = f"{declared.at_least.value:g}"
        return f"{test} of mean A - {least} mean B, one-sided (ratio of means, Fieller's interval)"

    def effect_label(self, declared: Ratio, context: Context) -> str:
        a, b = context.labels(declared)
        return f"{context.measured(declared)}, {a} / {b}"

    def sentence(self, declared: Ratio, context: Context, found: Found) -> str:
        a, b = context.labels(declared)
        effect, reach = _texts(found.result, found.interval, declared.at_least.value)
        said = headed(context.measured(declared), f"{a} is {effect} times {b}{reach}")
        less = f"{a} looks less than {least_ratio(declared.at_least)} {b}"
        return f"{said}. {_therefore(declared, less, found)}".rstrip()

    def effect_of_means(self, declared: Ratio, a: float, b: float) -> float | None:
        return a / b if a > 0 and b > 0 else None

    def planned(self, declared: Ratio, context: Context, plan: base.PlannedSeeds) -> PlannedTest:
        from repro.stats.planning import PlannedRatio

        return PlannedRatio(**plan.design(context), low=declared.at_least.value)

    def details(self, declared: Ratio, context: Context, result: TestResult) -> dict[str, str]:
        if not result.exact:
            return {}
        return {"exact": "every seed of an arm gives the same value, so ratios compare exactly"}


def least_ratio(least: LeastRatio) -> str:
    """The declared least ratio, as it was declared: `10 times`."""
    return f"{least.value:g} times"


def _therefore(declared: Ratio, less: str, found: Found) -> str:
    """What follows for the claim; ``less`` says that the ratio looks too small."""
    least, interval = least_ratio(declared.at_least), found.interval
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    shown = f"At least {least} is not shown: the interval reaches down to {_end(low, declared)}."
    if found.result.effect < declared.at_least.value:
        shown = against(less, f": the interval reaches up to {_end(high, declared)}")
    return follows(
        found, f"At least {least}, as claimed.", f"Less than {least}, against the claim.", shown
    )


def _end(value: float | None, declared: Ratio) -> str:
    if value is None:
        return "any ratio"
    return apart([value], (declared.at_least.value,), digits(fmt.significant, 3))[0]


def _texts(result: TestResult, interval: base.IntervalPart | None, least: float) -> tuple[str, str]:
    """A ratio and its interval, with enough digits to be told from the least one."""
    reach = [] if interval is None else [e for e in (interval.low, interval.high) if e is not None]
    texts = apart([result.effect, *reach], (least,), digits(fmt.significant, 3))
    if interval is None or len(reach) < 2:
        return texts[0], ""
    return texts[0], f" ({fmt.percent(interval.level)} interval {texts[1]} to {texts[2]})"
