"""Exact statements about replicates: complete separation, and bounds that every one keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from repro.errors import ClaimError
from repro.expectations import base
from repro.expectations.base import Found, Kind, Read, arms_of
from repro.expectations.decision_rules import by_interval, by_p, certain
from repro.expectations.declared import Context, Declared, Mistake
from repro.expectations.phrases import both_p, follows, headed
from repro.expectations.ratio import LeastRatioKind, RatioClaim, least_ratio
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.schema.base import Limit, Name, Share
from repro.stats.records import Interval, TestResult, expect

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest


class Separation(RatioClaim):
    """Every replicate of a is above every replicate of b times a factor; exact."""

    kind: Literal["separation"]


def least_splits(alpha: float, tails: int) -> int:
    """Fewest n with which complete separation of n from n is unlikely enough.

    Of the C(2n, n) splits, equally likely when the arms are equal, one separates them each way.
    """
    n = 1
    while tails / math.comb(2 * n, n) > alpha:
        n += 1
    return n


def least_pairs(alpha: float, tails: int) -> int:
    """Fewest pairs that all differ the same way seldom enough, when either way is as likely."""
    return math.ceil(math.log2(tails / alpha) - 1e-9)


class SeparationKind(LeastRatioKind[Separation]):
    """Every replicate of a lies beyond every one of b."""

    Declared = Separation
    effect_scale = "none"

    def least_seeds(self, declared: Separation, alpha: float, *, paired: bool) -> int:
        """Enough for complete separation to be unlikely by chance."""
        return least_pairs(alpha, tails=1) if paired else least_splits(alpha, tails=1)

    def by_order(self, declared: Separation) -> bool:
        return True

    def cannot_settle(self, declared: Separation, result: TestResult) -> str:
        return "No number of seeds can settle it: pairs that are out of order stay so."

    def test(self, declared: Separation, context: Context, read: Read) -> TestResult:
        from repro.stats.ranks import separation

        a, b = arms_of(declared, read)
        factor = declared.at_least.value
        return separation(a, b, direction="higher", factor=factor, **context.level)

    def conclude(self, declared: Separation, result: TestResult) -> Finding:
        return by_p(result)

    def statement(self, declared: Separation, context: Context) -> str:
        a, b = context.labels(declared)
        said = f"{a} is above {_least(declared)}{b} in every {_unit(context)}"
        return headed(context.measured(declared), f"{said} of {context.unit}s")

    def name_of_test(self, declared: Separation, context: Context) -> str:
        return f"complete separation{' of pairs' if context.paired else ''}, exact"

    def effect_label(self, declared: Separation, context: Context) -> str:
        a, b = context.labels(declared)
        share = f"{context.measured(declared)}, share of {_unit(context)}s"
        return f"{share} in which {a} is above {_least(declared)}{b}"

    def sentence(self, declared: Separation, context: Context, found: Found) -> str:
        (a, b), unit = context.labels(declared), _unit(context)
        pairs = found.result.n[0] * found.result.n[1]
        held = round(found.result.effect * pairs)
        said = f"{a} is above {_least(declared)}{b}"
        said = headed(
            context.measured(declared), f"{said} in {held} of {pairs} {unit}s of {context.unit}s"
        )
        p, contrary = both_p(found.result)
        therefore = follows(
            found,
            f"In every {unit}, as claimed{p}.",
            f"Against the claim, {b} is above {a} in every {unit}{contrary}.",
            f"In every {unit} is not shown, and {b} is not above {a} in every {unit} either.",
        )
        return f"{said}. {therefore}".rstrip()

    def planned(
        self, declared: Separation, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        from repro.stats.planning import PlannedSeparation

        if context.paired:
            raise ClaimError("no power is computed for a separation of pairs")
        return PlannedSeparation(**plan.design(context))


def _least(declared: Separation) -> str:
    """`1.1 times `; nothing where it is once."""
    return "" if declared.at_least.value == 1 else f"{least_ratio(declared.at_least)} "


def _unit(context: Context) -> str:
    """A seed of one arm with a seed of the other: no pair where the design has pairs of its own."""
    return "combination" if context.paired else "pair"


def unknown_limits(limits: Mapping[Any, Limit], censored_at: float | None) -> Iterator[Mistake]:
    """Limits beyond the value from which on nothing is known: nobody could say what keeps them."""
    for key, limit in limits.items():
        if censored_at is None or isinstance(limit.value, str):
            continue
        if limit.value > censored_at or (limit.value == censored_at and key == "at_most"):
            mistake = (
                f"values from {censored_at:g} on are censored, and the limit is {limit.value:g}"
            )
            expected = f"a limit below {censored_at:g}, or at_least {censored_at:g}"
            yield Mistake((key, "value"), mistake, expected, "lower the limit")


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

    @property
    def limits(self) -> dict[str, Limit]:
        """The limits that are declared, by key."""
        both = {"at_least": self.at_least, "at_most": self.at_most}
        return {key: limit for key, limit in both.items() if limit is not None}


class BoundKind(Kind[Bound]):
    """Every replicate, or more than a share of all that could be run, keeps a limit."""

    Declared = Bound
    paired = False

    def mistakes(self, declared: Bound, context: Context) -> Iterator[Mistake]:
        limits = declared.limits
        if len(limits) != 1:
            mistake = f"a bound with {'two limits' if limits else 'no limit'} says nothing exact"
            advice = "keep one of the two" if limits else "add one of the two"
            yield Mistake((), mistake, "either at_most or at_least", advice)
        yield from unknown_limits(limits, context.measurement(declared).censored_at)

    def least_seeds(self, declared: Bound, alpha: float, *, paired: bool) -> int:
        """One: the report says what so few seeds can carry."""
        return 1

    def by_order(self, declared: Bound) -> bool:
        return True

    def takes_draws(self, declared: Bound) -> bool:
        return declared.share is not None

    def structural(self, declared: Bound) -> tuple[str, ...]:
        limits = declared.limits.items()
        return tuple(key for key, limit in limits if limit.value == "structural")

    def scale(self, declared: Bound) -> base.EffectScale:
        return "none" if declared.share is None else "share"

    def test(self, declared: Bound, context: Context, read: Read) -> TestResult:
        from repro.stats.counts import bound, share

        (arm,) = arms_of(declared, read)
        limits, alpha = bound_limits(declared, context), context.alpha
        if declared.share is None:
            return bound(arm, **limits, alpha=alpha)
        return share(arm, of=declared.share.value, **limits, alpha=alpha)

    def conclude(self, declared: Bound, result: TestResult) -> Finding:
        """One beyond the limit contradicts a bound; a share is judged by its interval."""
        from repro.stats.counts import BoundResult

        if declared.share is None:
            return certain(holds=not expect(result, BoundResult).violators)
        return by_interval(result, edge_is_claimed=True)

    def statement(self, declared: Bound, context: Context) -> str:
        (name,) = context.labels(declared)
        kept = f"{name} keeps within {_bound_words(declared, context)}"
        often = f"every {context.unit}"
        if declared.share is not None:
            often = f"more than {fmt.percent(declared.share.value)} of {context.unit}s"
        return headed(context.measured(declared), f"{kept} in {often}")

    def name_of_test(self, declared: Bound, context: Context) -> str:
        if declared.share is None:
            return "bound in every replicate, exact"
        return "exact binomial test with the Clopper-Pearson interval"

    def effect_label(self, declared: Bound, context: Context) -> str:
        arm = context.labels(declared)[0]
        return f"{context.measured(declared)}, share of {context.unit}s within the bound: {arm}"

    def sentence(self, declared: Bound, context: Context, found: Found) -> str:
        (name,) = context.labels(declared)
        inside, n = round(found.result.effect * found.result.n[0]), found.result.n[0]
        unit, words = context.unit, _bound_words(declared, context)
        kept = f"{name}{_values(found, context)} keeps within {words} in {inside} of {n} {unit}s"
        interval, said = found.interval, headed(context.measured(declared), kept)
        if declared.share is not None and interval is not None:
            low, high = (fmt.share(end or 0.0) for end in (interval.low, interval.high))
            said += f", so {low} to {high} of all {unit}s would"
        return f"{said}. {_kept(declared, found, unit)}".rstrip()

    def limits(self, declared: Bound, context: Context) -> tuple[base.LimitPart, ...]:
        share = declared.share
        if share is not None:
            label = f"least share, {fmt.percent(share.value)}"
            return (base.LimitPart(value=share.value, label=label, why=share.why),)
        return tuple(
            base.LimitPart(
                value=value, label=f"bound, {fmt.setting(value)}", why=declared.limits[key].why
            )
            for key, value in bound_limits(declared, context).items()
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
        if declared.share is not None:
            limits = bound_limits(declared, context).values()
            return {"bound": " and ".join(map(fmt.setting, limits))}
        if interval is None:
            return {}
        least, level = _least_of_all(interval)
        return {
            f"other_{context.unit}s": f"at least {least} of all would keep it (one-sided {level})"
        }


def _bound_words(declared: Bound, context: Context) -> str:
    sides = bound_limits(declared, context).items()
    limits = (f"{key.replace('_', ' ')} {fmt.setting(value)}" for key, value in sides)
    return f"the bound of {' and '.join(limits)}"


def _values(found: Found, context: Context) -> str:
    """The least and the largest value where a claim says what it counts."""
    from repro.stats.counts import BoundResult

    if context.unit == "seed" or not isinstance(found.result, BoundResult):
        return ""
    least, largest = fmt.setting(found.result.smallest), fmt.setting(found.result.largest)
    return f" at {least}" if least == largest else f" at {least} to {largest}"


def _kept(declared: Bound, found: Found, unit: str) -> str:
    """What follows; of a bound in every seed also what so few seeds say of all others."""
    if declared.share is None:
        kept = f"Every {unit}, as claimed{_others(found.result, unit)}."
        return follows(found, kept, f"Not every {unit}, against the claim.", "")
    least = fmt.percent(declared.share.value)
    more, less = f"More than {least}, as claimed.", f"Less than {least}, against the claim."
    return follows(found, more, less, f"More than {least} is not shown.")


def _others(result: TestResult, unit: str) -> str:
    """What seeds without an exception can carry: `; 3 seeds show that for at least 37% of all`."""
    if result.interval is None:
        return ""
    least, level = _least_of_all(result.interval)
    seeds = fmt.number_of(result.n[0], unit)
    shows = "shows" if result.n[0] == 1 else "show"
    return f"; {seeds} {shows} that for at least {least} of all (one-sided {level})"


def _least_of_all(interval: Interval) -> tuple[str, str]:
    """The least share of all seeds that would keep a bound, and its one-sided level."""
    return fmt.share(interval.low), fmt.percent((1 + interval.level) / 2)


def bound_limits(declared: Bound, context: Context) -> dict[str, float]:
    """The limits of a bound as numbers; ``structural`` is that of the arm's own model."""
    structural = context.arms[declared.of[0]].bound
    found: dict[str, float] = {}
    for key, limit in declared.limits.items():
        if not isinstance(limit.value, str):
            found[key] = limit.value
        elif structural is None:
            raise ClaimError(f"arm '{declared.of[0]}' has no structural bound on its rank")
        else:
            found[key] = float(structural)
    return found
