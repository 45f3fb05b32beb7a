"""The scatter of one arm against that of another: the ratio of their standard deviations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from repro.expectations import base
from repro.expectations.base import Found, Kind, OtherTest, Read, arms_of
from repro.expectations.decision_rules import by_interval
from repro.expectations.declared import Context, Declared, Mistake, Pair
from repro.expectations.phrases import against, apart, both_p, digits, ends, follows, headed
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.schema.base import Factor, Limit
from repro.stats.records import TestResult

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest

TestOfSpread = Literal["levene", "f"]
LEAST_OF_SCATTER = 5
"""Fewest seeds in each arm, as in repro.stats.spreads."""

Key = Literal["at_least", "at_most", "within_factor"]

NAMES: Mapping[TestOfSpread, str] = {
    "levene": "Levene's test of deviations from the median",
    "f": "the F-test of variances (normal values)",
}


class Spread(Declared):
    """The standard deviation of a is at least, or at most, so many times that of b.

    ``within_factor`` claims that neither is larger than the other by the factor. ``test: f``
    needs normal values.
    """

    kind: Literal["spread"]
    of: Pair
    at_least: Limit | None = None
    at_most: Limit | None = None
    within_factor: Factor | None = None
    test: TestOfSpread = "levene"

    @property
    def sizes(self) -> dict[Key, Limit | Factor]:
        """What is declared, by key; one, in a claim without mistakes."""
        every: dict[Key, Limit | Factor | None] = {
            "at_least": self.at_least,
            "at_most": self.at_most,
            "within_factor": self.within_factor,
        }
        return {key: size for key, size in every.items() if size is not None}

    @property
    def region(self) -> tuple[float | None, float | None]:
        """The ratios that are claimed, from low to high."""
        ((key, size),) = self.sizes.items()
        value = float(size.value)
        if key == "within_factor":
            return 1 / value, value
        return (value, None) if key == "at_least" else (None, value)


class SpreadKind(Kind[Spread]):
    """One-sided tests of the logarithm of a ratio of scatters, on either side of the region."""

    Declared = Spread
    effect_scale = "spread"

    def mistakes(self, declared: Spread, context: Context) -> Iterator[Mistake]:
        keys = "at_least, at_most or within_factor"
        if len(declared.sizes) != 1:
            several = f"{' and '.join(declared.sizes)} together" if declared.sizes else "no limit"
            advice = "keep one of them" if declared.sizes else "add one of the three"
            yield Mistake((), f"a spread with {several}", f"either {keys}", advice)
        yield from self.unfit_sizes(declared.sizes)
        if declared.test == "f" and context.paired:
            mistake = f"test f takes the arms as independent, and {context.design_name} pairs them"
            advice = "leave the test out, or write `design: independent`"
            yield Mistake(("test",), mistake, "levene", advice)

    def unfit_sizes(self, sizes: Mapping[Any, Any]) -> Iterator[Mistake]:
        for key in ("at_most", "at_least"):
            limit = sizes.get(key)
            if limit is not None and (isinstance(limit.value, str) or limit.value <= 0):
                mistake = f"{limit.value} is no ratio of standard deviations"
                expected, advice = "a number above 0", "write how many times that of b"
                yield Mistake((key, "value"), mistake, expected, advice)

    def needs_values(self, declared: Spread, context: Context) -> Mistake | None:
        found = super().needs_values(declared, context)
        if found is None or declared.test == "f":
            return None
        return replace(
            found,
            what="deviations from the median need the value of every seed",
            expected="the value of every seed, or `test: f`",
            advice="give the arm a table, or add `test: f`, which trusts that values are normal",
        )

    def least_seeds(self, declared: Spread, alpha: float, *, paired: bool) -> int:
        return LEAST_OF_SCATTER

    def test(self, declared: Spread, context: Context, read: Read) -> TestResult:
        from repro.stats.spreads import TESTS

        a, b = arms_of(declared, read)
        low, high = declared.region
        return TESTS[declared.test](a, b, low=low, high=high, **context.level)

    def unpaired(self, declared: Spread) -> Spread | None:
        return declared if declared.test == "levene" else None

    def other_tests(
        self, declared: Spread, n: Sequence[int], *, paired: bool
    ) -> tuple[OtherTest[Spread], ...]:
        other: TestOfSpread = "f" if declared.test == "levene" else "levene"
        if paired:
            return ()
        return (OtherTest(declared.model_copy(update={"test": other}), NAMES[other], True),)

    def conclude(self, declared: Spread, result: TestResult) -> Finding:
        return by_interval(result, edge_is_claimed=declared.within_factor is None)

    def statement(self, declared: Spread, context: Context) -> str:
        a, b = context.labels(declared)
        said = f"{a} scatters {_claim(declared)} as much as {b}"
        if declared.within_factor is not None:
            said = f"{base.pair([a, b])} scatter {_claim(declared)}"
        return headed(context.measured(declared), said)

    def name_of_test(self, declared: Spread, context: Context) -> str:
        name = NAMES[declared.test]
        name += " within pairs" if context.paired else ""
        tails = "one-sided" if declared.within_factor is None else "two one-sided tests"
        return f"{name}, {tails}, against the declared ratio"

    def effect_label(self, declared: Spread, context: Context) -> str:
        a, b = context.labels(declared)
        return f"scatter of the {context.measured(declared)}, {a} / {b}"

    def sentence(self, declared: Spread, context: Context, found: Found) -> str:
        a, b = context.labels(declared)
        edges = [edge for edge in declared.region if edge is not None]
        text = digits(fmt.significant, 3)
        (effect,) = apart([found.result.effect], edges, text)
        reach = ends(found.interval, edges, text)
        said = headed(context.measured(declared), f"{a} scatters {effect} times as much as {b}")
        return f"{said}{reach}. {_therefore(declared, a, found)}".rstrip()

    def limits(self, declared: Spread, context: Context) -> tuple[base.LimitPart, ...]:
        ((key, size),) = declared.sizes.items()
        name = "alike" if key == "within_factor" else key.replace("_", " ")
        return tuple(
            base.LimitPart(value=edge, label=f"{name}, {fmt.times(edge)}", why=size.why)
            for edge in declared.region
            if edge is not None
        )

    def claimed(self, declared: Spread, context: Context) -> base.Side:
        low, high = declared.region
        if low is not None and high is not None:
            return "between"
        return "above" if high is None else "below"

    def planned(self, declared: Spread, context: Context, plan: base.PlannedSeeds) -> PlannedTest:
        from repro.stats.spreads import PlannedSpread

        low, high = declared.region
        return PlannedSpread(
            (plan.n,), low=low, high=high, test=declared.test, effect=plan.effect, **context.level
        )

    def details(self, declared: Spread, context: Context, result: TestResult) -> dict[str, str]:
        if declared.test == "f":
            return {}
        return {"effect": "mean absolute deviation from the median, of a over that of b"}


def _claim(declared: Spread) -> str:
    """`at least 2 times`, `within a factor of 2`: as it was declared."""
    ((key, size),) = declared.sizes.items()
    if key == "within_factor":
        return f"within a factor of {fmt.setting(size.value)}"
    return f"{key.replace('_', ' ')} {fmt.setting(size.value)} times"


def _therefore(declared: Spread, label: str, found: Found) -> str:
    """What follows for the claim; ``label`` is that of the first arm."""
    low, high = declared.region
    words, (p, contrary) = _claim(declared).capitalize(), both_p(found.result)
    less = low is not None and found.result.effect < low
    more = high is not None and found.result.effect > high
    beyond = low if less else high if more else None
    side = "less" if less else "more"
    shown = f"{words} is not shown{p}."
    if beyond is not None:
        limit = f"{fmt.significant(beyond, 3)} times"
        shown = against(f"{label} looks to scatter {side} than {limit} as much", contrary)
    confirmed = f"{words}, as claimed{p}."
    contradicted = f"{side.capitalize()} than that, against the claim{contrary}."
    if declared.within_factor is not None:
        contradicted = f"Further apart than that, against the claim{contrary}."
    return follows(found, confirmed, contradicted, shown)
