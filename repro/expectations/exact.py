"""Exact statements about replicates: complete separation, and bounds that every one keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from repro.errors import ClaimError
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
    what,
)
from repro.expectations.ratio import least_limit, least_ratio, no_least_ratio, with_least_ratio
from repro.expectations.rules import Conclusion, Finding, by_interval, by_p, certain
from repro.expectations.sentences import headed, p_words
from repro.schema import numbers as fmt
from repro.schema.base import LeastRatio, Limit, Name, Share
from repro.stats.records import TestResult, expect

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest


class Separation(Declared):
    """Every replicate of a is above every replicate of b times a factor; exact."""

    kind: Literal["separation"]
    of: Pair
    at_least: LeastRatio


def least_splits(alpha: float, tails: int) -> int:
    """Fewest n with which complete separation of n from n is unlikely enough.

    Of the C(2n, n) splits of all values, which are equally likely when the arms are equal, one
    has all of a above all of b, and one all of b above all of a.
    """
    n = 1
    while tails / math.comb(2 * n, n) > alpha:
        n += 1
    return n


def least_pairs(alpha: float, tails: int) -> int:
    """Fewest pairs that all differ the same way seldom enough, when either way is as likely."""
    return math.ceil(math.log2(tails / alpha) - 1e-9)


class SeparationKind(Kind[Separation]):
    """Every replicate of a lies beyond every one of b."""

    Declared = Separation

    def least_seeds(self, declared: Separation, alpha: float, *, paired: bool) -> int:
        """Enough for complete separation to be unlikely by chance."""
        return least_pairs(alpha, tails=1) if paired else least_splits(alpha, tails=1)

    def by_order(self, declared: Separation) -> bool:
        return True

    def overridden(self, declared: Separation, sizes: Mapping[str, Any]) -> Separation:
        return super().overridden(declared, with_least_ratio(sizes))

    def unfit_sizes(self, sizes: Mapping[str, Any]) -> Iterator[base.Mistake]:
        return no_least_ratio(sizes)

    def scale(self, declared: Separation) -> base.EffectScale:
        return "none"

    def test(self, declared: Separation, context: Context, read: Read) -> TestResult:
        """Complete separation, with its chance were both arms alike."""
        from repro.stats.ranks import separation

        a, b = arms_of(declared, read)
        factor, paired = declared.at_least.value, context.design == "paired"
        return separation(
            a, b, direction="higher", factor=factor, alpha=context.alpha, paired=paired
        )

    def conclude(self, declared: Separation, result: TestResult) -> Finding:
        return by_p(result)

    def statement(self, declared: Separation, context: Context) -> str:
        a, b = labels(declared, context)
        said = (
            f"{a} is above {least_ratio(declared.at_least)} {b} in every {_unit(context)} of seeds"
        )
        return headed(what(declared, context), said)

    def name_of_test(self, declared: Separation, context: Context) -> str:
        return f"complete separation{' of pairs' if context.design == 'paired' else ''}, exact"

    def effect_label(self, declared: Separation, context: Context) -> str:
        a, b = labels(declared, context)
        share = (
            f"share of {_unit(context)}s in which {a} is above {least_ratio(declared.at_least)} {b}"
        )
        return f"{what(declared, context)}, {share}"

    def sentence(self, declared: Separation, context: Context, found: Found) -> str:
        """In how many pairs; and whether that is all of them."""
        a, b = labels(declared, context)
        pairs = found.result.n[0] * found.result.n[1]
        held = round(found.result.effect * pairs)
        unit = _unit(context)
        least = least_ratio(declared.at_least)
        said = f"{a} is above {least} {b} in {held} of {pairs} {unit}s of seeds"
        return f"{headed(what(declared, context), said)}. {_separated(a, b, unit, found)}".rstrip()

    def limits(self, declared: Separation, context: Context) -> tuple[base.LimitPart, ...]:
        return (least_limit(declared.at_least),)

    def planned(
        self, declared: Separation, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        from repro.stats.planning import PlannedSeparation

        if context.design == "paired":
            raise ClaimError("no power is computed for a separation of pairs")
        return PlannedSeparation((plan.n,), plan.scatter, context.alpha, plan.effect)

    def claimed(self, declared: Separation, context: Context) -> base.Side:
        return "above"


def _unit(context: Context) -> str:
    """A seed of one arm with a seed of the other: no pair where the design has pairs of its own."""
    return "combination" if context.design == "paired" else "pair"


def _separated(a: str, b: str, unit: str, found: Found) -> str:
    if found.conclusion is Conclusion.CONFIRMED:
        return f"In every {unit}, as claimed{p_words(found.result)}."
    if found.conclusion is Conclusion.CONTRADICTED:
        p = p_words(found.result, opposite=True)
        return f"Against the claim, {b} is above {a} in every {unit}{p}."
    if found.conclusion is Conclusion.INCONCLUSIVE:
        return f"In every {unit} is not shown, and {b} is not above {a} in every {unit} either."
    return ""


class Bound(Declared):
    """Every replicate of one arm is at most, or at least, a limit; exact.

    With ``share``, more than that share of all replicates that could be run keeps the limit,
    judged by the exact binomial interval.
    """

    kind: Literal["bound"]
    of: tuple[Name]
    at_most: Limit | None = None
    at_least: Limit | None = None
    share: Share | None = None


class BoundKind(Kind[Bound]):
    """Every replicate, or more than a share of all that could be run, keeps a limit."""

    Declared = Bound
    paired = False

    def mistakes(self, declared: Bound, context: Context) -> Iterator[base.Mistake]:
        limits = [each for each in (declared.at_most, declared.at_least) if each is not None]
        if len(limits) != 1:
            what = f"a bound with {'two limits' if limits else 'no limit'} says nothing exact"
            advice = "keep one of the two" if limits else "add one of the two"
            yield base.Mistake((), what, "either at_most or at_least", advice)

    def least_seeds(self, declared: Bound, alpha: float, *, paired: bool) -> int:
        """One: the report says what so few seeds can carry."""
        return 1

    def by_order(self, declared: Bound) -> bool:
        return True

    def structural(self, declared: Bound) -> tuple[str, ...]:
        """The limits that are d + 2 of the model of its arm."""
        limits = {"at_most": declared.at_most, "at_least": declared.at_least}
        return tuple(key for key, limit in limits.items() if limit and limit.value == "structural")

    def scale(self, declared: Bound) -> base.EffectScale:
        """A share is estimated; a bound in every replicate is exact."""
        return "none" if declared.share is None else "share"

    def test(self, declared: Bound, context: Context, read: Read) -> TestResult:
        """Count the replicates outside; with a share, the exact binomial test."""
        from repro.stats.counts import bound, share

        (arm,) = arms_of(declared, read)
        low, high = bound_limits(declared, context)
        if declared.share is None:
            return bound(arm, at_least=low, at_most=high, alpha=context.alpha)
        return share(arm, of=declared.share.value, at_least=low, at_most=high, alpha=context.alpha)

    def conclude(self, declared: Bound, result: TestResult) -> Finding:
        """One beyond the limit contradicts a bound; a share is judged by its interval."""
        from repro.stats.counts import BoundResult

        if declared.share is None:
            return certain(holds=not expect(result, BoundResult).violators)
        return by_interval(result, edge_is_claimed=True)

    def statement(self, declared: Bound, context: Context) -> str:
        (name,) = labels(declared, context)
        kept = f"{name} keeps within {_bound_words(declared, context)}"
        often = "every seed" if declared.share is None else f"more than {_least(declared)} of seeds"
        return headed(what(declared, context), f"{kept} in {often}")

    def name_of_test(self, declared: Bound, context: Context) -> str:
        if declared.share is None:
            return "bound in every replicate, exact"
        return "exact binomial test with the Clopper-Pearson interval"

    def effect_label(self, declared: Bound, context: Context) -> str:
        arm = labels(declared, context)[0]
        return f"{what(declared, context)}, share of seeds within the bound: {arm}"

    def sentence(self, declared: Bound, context: Context, found: Found) -> str:
        """How many seeds keep it, and what that says of those that were not run."""
        (name,) = labels(declared, context)
        inside, n = round(found.result.effect * found.result.n[0]), found.result.n[0]
        kept = f"{name} keeps within {_bound_words(declared, context)} in {inside} of {n} seeds"
        interval, said = found.interval, headed(what(declared, context), kept)
        if declared.share is not None and interval is not None:
            low, high = (
                fmt.significant(100 * end) for end in (interval.low or 0.0, interval.high or 0.0)
            )
            said += f", so {low}% to {high}% of all seeds would"
        return f"{said}. {_kept(declared, found)}".rstrip()

    def limits(self, declared: Bound, context: Context) -> tuple[base.LimitPart, ...]:
        """The bound itself, or the share on the axis of shares."""
        if declared.share is not None:
            label = f"least share, {fmt.percent(declared.share.value)}"
            return (
                base.LimitPart(value=declared.share.value, label=label, why=declared.share.why),
            )
        sides = zip(
            bound_limits(declared, context), (declared.at_least, declared.at_most), strict=True
        )
        return tuple(
            base.LimitPart(value=value, label=f"bound, {value:g}", why=limit.why)
            for value, limit in sides
            if value is not None and limit is not None
        )

    def planned(self, declared: Bound, context: Context, plan: base.PlannedSeeds) -> PlannedTest:
        from repro.stats.planning import PlannedShare

        if declared.share is None:
            raise ClaimError("no power is computed for a bound on every seed")
        return PlannedShare(
            (plan.n,), alpha=context.alpha, effect=plan.effect, low=declared.share.value
        )

    def claimed(self, declared: Bound, context: Context) -> base.Side:
        return "none" if declared.share is None else "above"

    def details(self, declared: Bound, context: Context, result: TestResult) -> dict[str, str]:
        """The limit of a bound whose axis shows shares; what the seeds say of others."""
        interval = result.interval
        facts = {}
        if interval is not None and declared.share is None:
            level = fmt.percent((1 + interval.level) / 2)
            least = fmt.significant(100 * interval.low)
            facts["other_seeds"] = f"at least {least}% of all would keep it (one-sided {level})"
        if declared.share is not None:
            shown = [f"{v:g}" for v in bound_limits(declared, context) if v is not None]
            facts["bound"] = " and ".join(shown)
        return facts


def _bound_words(declared: Bound, context: Context) -> str:
    sides = zip(("at least", "at most"), bound_limits(declared, context), strict=True)
    limits = (f"{side} {fmt.setting(value)}" for side, value in sides if value is not None)
    return f"the bound of {' and '.join(limits)}"


def _least(declared: Bound) -> str:
    return "" if declared.share is None else fmt.percent(declared.share.value)


def _kept(declared: Bound, found: Found) -> str:
    """What follows; of a bound in every seed also what so few seeds say of all others."""
    words = {
        Conclusion.CONFIRMED: f"More than {_least(declared)}, as claimed.",
        Conclusion.CONTRADICTED: f"Less than {_least(declared)}, against the claim.",
        Conclusion.INCONCLUSIVE: f"More than {_least(declared)} is not shown.",
    }
    if declared.share is None:
        words = {
            Conclusion.CONFIRMED: f"Every seed, as claimed{_others(found.result)}.",
            Conclusion.CONTRADICTED: "Not every seed, against the claim.",
        }
    return "" if found.conclusion is None else words.get(found.conclusion, "")


def _others(result: TestResult) -> str:
    """What seeds without an exception can carry: `; 3 seeds show that for at least 37% of all`."""
    if result.interval is None:
        return ""
    least = fmt.significant(100 * result.interval.low)
    level = fmt.percent((1 + result.interval.level) / 2)
    seeds = fmt.number_of(result.n[0], "seed")
    shows = "shows" if result.n[0] == 1 else "show"
    return f"; {seeds} {shows} that for at least {least}% of all (one-sided {level})"


def bound_limits(declared: Bound, context: Context) -> tuple[float | None, float | None]:
    """The limits of a bound as numbers; ``structural`` is d + 2 of the arm's own model."""
    structural = context.arms[declared.of[0]].rank_bound

    def number(value: float | str) -> float:
        if not isinstance(value, str):
            return value
        if structural is None:
            raise ClaimError(f"arm '{declared.of[0]}' has no structural bound on its rank")
        return float(structural)

    low = None if declared.at_least is None else number(declared.at_least.value)
    high = None if declared.at_most is None else number(declared.at_most.value)
    return low, high
