"""The mean, or the median, of one arm against a constant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from repro.expectations import base
from repro.expectations.base import Found, Read
from repro.expectations.decision_rules import by_interval, by_p
from repro.expectations.declared import Context, Declared, Mistake
from repro.expectations.exact import unknown_limits
from repro.expectations.phrases import against, apart, both_p, digits, ends, follows, headed
from repro.expectations.sequential import LooksKind, is_sequential
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.schema.base import Limit, Name, PositiveSize, Reason, Spec
from repro.stats.records import Arm, Summary, TestResult, known, summarise

if TYPE_CHECKING:
    from repro.stats.one_sample import Side
    from repro.stats.planning import PlannedTest
    from repro.stats.stopping import Question


REFUTED = 0.01
"""A known standard deviation counts as refuted where chi-squared has a p of this or less."""


class KnownSd(Spec):
    """A standard deviation that is known beforehand, with the reason why it is."""

    value: PositiveSize
    why: Reason


class Level(Declared):
    """The mean of one arm is at most, or at least, a constant; one-sided.

    ``statistic: median`` asks it of the median, by the exact sign test. With ``sd`` the standard
    deviation is known and not estimated: a z-test.
    """

    kind: Literal["level"]
    of: tuple[Name]
    at_most: Limit | None = None
    at_least: Limit | None = None
    statistic: Literal["mean", "median"] = "mean"
    sd: KnownSd | None = None

    @property
    def sides(self) -> dict[Side, Limit]:
        """The limits that are declared, by key; one, in a claim without mistakes."""
        both: dict[Side, Limit | None] = {"at_most": self.at_most, "at_least": self.at_least}
        return {side: limit for side, limit in both.items() if limit is not None}


class LevelKind(LooksKind[Level]):
    """Student's t-test of one sample, by looks where the claim has any; a z-test; a sign test."""

    Declared = Level
    effect_scale = "level"
    paired = False

    def mistakes(self, declared: Level, context: Context) -> Iterator[Mistake]:
        if len(declared.sides) != 1:
            mistake = f"a level with {'two limits' if declared.sides else 'no limit'}"
            advice = "keep one of the two" if declared.sides else "add one of the two"
            yield Mistake((), mistake, "either at_most or at_least", advice)
        yield from self.unfit_sizes(declared.sides)
        if declared.statistic == "median" and is_sequential(declared, context):
            mistake, advice = "a median has no sequential test", "leave `sequential` out"
            yield Mistake(("statistic",), mistake, "statistic: mean", advice)
        if declared.sd is not None:
            yield from _unfit_sd(declared, context)
        measurement = context.measurement(declared)
        yield from unknown_limits(declared.sides, measurement.censored_at)
        for key, limit in declared.sides.items():
            scale = None if isinstance(limit.value, str) else measurement.scale
            refused = None if scale is None else scale.outside(known_value(limit))
            if refused is not None:
                yield Mistake((key, "value"), *refused)

    def unfit_sizes(self, sizes: Mapping[Any, Any]) -> Iterator[Mistake]:
        for key in ("at_most", "at_least"):
            if sizes.get(key) is not None and isinstance(sizes[key].value, str):
                mistake = f"{sizes[key].value} is no constant"
                yield Mistake((key, "value"), mistake, "a number", "write the number")

    def needs_values(self, declared: Level, context: Context) -> Mistake | None:
        return None if declared.statistic == "mean" else super().needs_values(declared, context)

    def by_order(self, declared: Level) -> bool:
        return declared.statistic == "median"

    def least_seeds(self, declared: Level, alpha: float, *, paired: bool) -> int:
        """Enough for all on one side to be unlikely, where that is what is counted."""
        if declared.statistic == "mean":
            return base.LEAST_SEEDS if declared.sd is None else 1
        n = 1
        while 0.5**n > alpha:
            n += 1
        return n

    def lone(self, declared: Level) -> tuple[str, ...]:
        """A single run will do where its scatter is known beforehand."""
        return () if declared.sd is None else declared.of

    def known_sd(self, declared: Level) -> float:
        return 0.0 if declared.sd is None else declared.sd.value

    def question(self, declared: Level, context: Context) -> Question:
        from repro.stats import stopping as ask

        return ask.level(*_limit(declared))

    def test_at_once(self, declared: Level, context: Context, arms: Sequence[Arm]) -> TestResult:
        from repro.stats.one_sample import mean_level, mean_level_known_sd, median_level

        (arm,), (side, limit) = arms, _limit(declared)
        measurement = context.measurement(declared)
        if declared.sd is not None:
            sd = declared.sd.value
            return mean_level_known_sd(arm, sd=sd, side=side, limit=limit, alpha=context.alpha)
        if declared.statistic == "mean":
            return mean_level(
                arm, side=side, limit=limit, alpha=context.alpha, scale=measurement.scale
            )
        return median_level(
            arm,
            side=side,
            limit=limit,
            alpha=context.alpha,
            better=measurement.better,
            censored_at=measurement.censored_at,
        )

    def conclude_at_once(self, declared: Level, result: TestResult) -> Finding:
        if declared.statistic == "median" or result.exact:
            return by_p(result)
        return by_interval(result, edge_is_claimed=True)

    def statement(self, declared: Level, context: Context) -> str:
        (name,) = context.labels(declared)
        said = f"the {declared.statistic} of {name} is {_limit_words(declared)}"
        return headed(context.measured(declared), said)

    def name_of_test(self, declared: Level, context: Context) -> str:
        if declared.statistic == "median":
            return "exact sign test of the median, one-sided"
        if declared.sd is not None:
            sd = fmt.setting(declared.sd.value)
            return f"z-test of one sample with a known standard deviation of {sd}, one-sided"
        return "Student's t-test of one sample, one-sided"

    def name_of_result(self, result: TestResult) -> str:
        names = {
            "level_items": "exact binomial test of all items together, one-sided",
            "level_betting": "bets on a bounded mean (Waudby-Smith and Ramdas 2024), one-sided",
        }
        return names.get(result.test, "")

    def effect_label(self, declared: Level, context: Context) -> str:
        (name,) = context.labels(declared)
        return f"{context.measured(declared)}, {declared.statistic}: {name}"

    def found(self, declared: Level, context: Context, found: Found) -> str:
        (name,) = context.labels(declared)
        _, limit = _limit(declared)
        text = digits(fmt.fixed, context.measurement(declared).digits)
        (value,) = apart([found.result.effect], [limit], text)
        reach = ends(found.interval, (limit,), text)
        said = f"the {declared.statistic} of {name} is {_sign(found.result)}{value}{reach}"
        return headed(context.measured(declared), said)

    def therefore(self, declared: Level, context: Context, found: Found) -> str:
        return _therefore(declared, found)

    def limits(self, declared: Level, context: Context) -> tuple[base.LimitPart, ...]:
        return tuple(
            base.LimitPart(value=known_value(limit), label=_limit_words(declared), why=limit.why)
            for limit in declared.sides.values()
        )

    def claimed(self, declared: Level, context: Context) -> base.Side:
        return "below" if _limit(declared)[0] == "at_most" else "above"

    def planned(self, declared: Level, context: Context, plan: base.PlannedSeeds) -> PlannedTest:
        from repro.stats.one_sample import PlannedMedian
        from repro.stats.planning import PlannedLevel

        if declared.statistic == "median":
            return PlannedMedian(**{**plan.design(context), "paired": True})
        items = _planned_items(declared, context, plan)
        if items is not None:
            return items
        if declared.sd is not None:
            plan = replace(plan, sd=(declared.sd.value,))
        known = declared.sd is not None
        return PlannedLevel(**{**plan.design(context), "paired": True}, known=known)

    def doubt(self, declared: Level, context: Context, read: Read) -> str:
        """A scatter larger than the one that is said to be known; or shares near an end."""
        from repro.stats.one_sample import level_where_sd_is, p_of_scatter

        arm = read(declared.of[0], declared.measurement)
        if declared.statistic == "median":
            return ""
        if declared.sd is None:
            return _near_an_end(declared, context, arm)
        sd = declared.sd.value
        p = p_of_scatter(arm, sd)
        if p is None or p > REFUTED:
            return ""
        found = summarise(arm)
        rate = level_where_sd_is(found.spread, sd=sd, alpha=context.alpha)
        return (
            f"The z-test takes a standard deviation of {fmt.setting(sd)} for known, and the "
            f"{found.n} {context.unit}s have {fmt.significant(found.spread, 2)}, more than chance "
            f"explains ({fmt.p_value(p)}). Were that the true one, it would err in "
            f"{fmt.share(rate)} of cases instead of {fmt.share(context.alpha)}. Leave `sd` "
            f"out, or say why these {context.unit}s scatter more."
        )

    def on_power(self, declared: Level, context: Context, plan: base.PlannedSeeds) -> str:
        if declared.statistic == "mean":
            alike = "Computed for seeds that scatter no more than their items do."
            return "" if _planned_items(declared, context, plan) is None else alike
        return "Computed for normal values, whose median is their mean."

    def details(self, declared: Level, context: Context, result: TestResult) -> dict[str, str]:
        if beyond_what := _sign(result):
            shown = fmt.fixed(result.effect, context.measurement(declared).digits)
            return {"median": f"{beyond_what}{shown}; no more is known of the runs in the middle"}
        if declared.sd is not None:
            sd = fmt.setting(declared.sd.value)
            return {"standard deviation": f"{sd}, known beforehand: {declared.sd.why}"}
        return _bounded_details(result)


def _planned_items(
    declared: Level, context: Context, plan: base.PlannedSeeds
) -> PlannedTest | None:
    """The test of all items together, where that of the means would err too often."""
    from repro.stats.bounded_mean import FEW_FAILURES, PlannedItems, failures

    scale, (side, limit) = context.measurement(declared).scale, _limit(declared)
    if scale is None or scale.items is None or declared.sd or is_sequential(declared, context):
        return None
    span = scale.high - scale.low
    if failures(limit, span / scale.items, scale.low, scale.high) >= FEW_FAILURES:
        return None
    share = (limit - scale.low if side == "at_least" else scale.high - limit) / span
    return PlannedItems(
        n=(plan.n,),
        alpha=context.alpha,
        effect=plan.effect,
        low=share,
        items=scale.items,
        span=span,
    )


def _near_an_end(declared: Level, context: Context, arm: Arm) -> str:
    """How often a t-test errs of shares that are nearly all right, or nearly all wrong."""
    from repro.stats.bounded_mean import FEW_FAILURES, failures_of
    from repro.stats.error_rates import worst_level
    from repro.stats.measured_cells import CellDesign

    measurement = context.measurement(declared)
    if measurement.scale is not None and not (
        isinstance(arm, Summary) or is_sequential(declared, context)
    ):
        return ""
    found = failures_of(arm, measurement.scale, better=measurement.better)
    if found is None or found[0] >= FEW_FAILURES:
        return ""
    rate = worst_level("level near an end", [CellDesign(summarise(arm).n)])
    if rate is None:
        return ""
    advice = "Declare `range` and `items` of the measurement: the test is then exact."
    if measurement.scale is not None:
        advice = "With the values of a table, judged once, the test of a declared range is exact."
    few, items = found
    return (
        f"If its values are shares of items ({items:,.0f}, by their steps), {few:.1f} a seed are "
        f"wrong on average, so few that they are skewed. {rate} {advice}"
    )


def _bounded_details(result: TestResult) -> dict[str, str]:
    """How the mean of a declared range was tested near an end of it."""
    from repro.stats.bounded_mean import BoundedResult

    if not isinstance(result, BoundedResult):
        return {}
    if result.right is not None and result.items is not None:
        scatter = fmt.p_value(result.p_scatter or 0.0)
        return {
            "items": f"{result.right:,} of {result.items:,} are right, all seeds together; seeds "
            f"scatter no more than items do ({scatter})"
        }
    why = "near an end of the range a t-test errs too often; declared `items` make it exact"
    if result.p_scatter is not None:
        why = f"seeds scatter more than their items do ({fmt.p_value(result.p_scatter)})"
    return {"bounded mean": why}


def _unfit_sd(declared: Level, context: Context) -> Iterator[Mistake]:
    """Where a known standard deviation would have no say."""
    if declared.statistic == "median":
        mistake, expected = "the sign test of a median needs no standard deviation", "a mean"
        yield Mistake(("sd",), mistake, expected, "leave `sd` or `statistic: median` out")
    if is_sequential(declared, context):
        mistake = "a sequential test estimates the standard deviation"
        yield Mistake(("sd",), mistake, "a claim without `sequential`", "leave `sd` out")


def known_value(limit: Limit) -> float:
    """The constant; ``ClaimError`` for the structural bound, which is none."""
    return known(None if isinstance(limit.value, str) else limit.value)


def _limit(declared: Level) -> tuple[Side, float]:
    ((side, limit),) = declared.sides.items()
    return side, known_value(limit)


def _sign(result: TestResult) -> str:
    """`> ` before a median of which is known only beyond which value it lies."""
    from repro.stats.one_sample import MedianResult

    sign = result.beyond if isinstance(result, MedianResult) else ""
    return f"{sign} " if sign else ""


def _limit_words(declared: Level) -> str:
    """`at most 3.28`, as it was declared."""
    side, limit = _limit(declared)
    return f"{side.replace('_', ' ')} {fmt.setting(limit)}"


def _therefore(declared: Level, found: Found) -> str:
    side, limit = _limit(declared)
    words, (p, contrary) = _limit_words(declared), both_p(found.result)
    more = "above" if side == "at_most" else "below"
    outside = found.result.effect > limit if side == "at_most" else found.result.effect < limit
    if declared.statistic == "median":
        outside = known(found.result.p_opposite) < known(found.result.p)
    shown = f"{words.capitalize()} is not shown{p}."
    if outside:
        shown = against(f"it looks {more} {fmt.setting(limit)}", contrary)
    confirmed = f"{words.capitalize()}, as claimed{p}."
    contradicted = f"{more.capitalize()} {fmt.setting(limit)}, against the claim{contrary}."
    return follows(found, confirmed, contradicted, shown)
