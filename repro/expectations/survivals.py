"""Times to a target that some runs do not reach within their budget: which arm is there sooner?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from repro.errors import ClaimError
from repro.expectations import base
from repro.expectations.base import Found, Kind, Read, arms_of
from repro.expectations.decision_rules import by_p, by_sign
from repro.expectations.declared import Context, Declared, Mistake, Pair
from repro.expectations.exact import least_pairs, least_splits
from repro.expectations.phrases import against, both_p, digits, ends, follows, headed
from repro.expectations.verdict_words import Finding
from repro.schema import numbers as fmt
from repro.schema.base import Reason, Spec
from repro.stats.records import Alternative, TestResult, expect, known

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest

Direction = Literal["sooner", "later", "different"]

TAILS: dict[Direction, Alternative] = {
    "sooner": "less",
    "later": "greater",
    "different": "two-sided",
}

NO_PLAN = "no power is computed: `planned` gives no shares of runs that get there"

PAIRS = (
    "Runs of a pair are planned as if they shared nothing; what makes both sooner or later adds "
    "to the power."
)

EXPECTED_SHARES: dict[Direction, str] = {
    "sooner": "a larger share of a than of b",
    "later": "a smaller share of a than of b",
    "different": "two different shares",
}

OpenShare = Annotated[float, Field(gt=0, lt=1)]


class PlannedReach(Spec):
    """The shares of the runs of a and of b that are expected to be there within the budget."""

    reached: tuple[OpenShare, OpenShare]
    why: Reason


class Survivals(Declared):
    """Arm a reaches the target sooner than b, or later, or not at the same time.

    The measurement is the time, and says with ``censored`` from which value on it was not reached.
    ``sooner`` and ``later`` are tested on one side, at alpha. The power is that of ``planned``.
    """

    kind: Literal["survivals"]
    of: Pair
    direction: Direction
    planned: PlannedReach | None = None


class SurvivalsKind(Kind[Survivals]):
    """The log-rank test by permutation, with the difference of mean times within the budget."""

    Declared = Survivals

    def mistakes(self, declared: Survivals, context: Context) -> Iterator[Mistake]:
        if context.measurement(declared).censored_at is None:
            mistake = f"'{declared.measurement}' does not say from which value on it is not reached"
            advice = "add `censored: {at: 4000, why: ...}` to the measurement, with its budget"
            yield Mistake(("measurement",), mistake, "a censored measurement", advice)
        if declared.planned is not None:
            a, b = declared.planned.reached
            if not {"sooner": a > b, "later": a < b, "different": a != b}[declared.direction]:
                mistake = f"{a:g} of a and {b:g} of b in time is not '{declared.direction}'"
                expected = EXPECTED_SHARES[declared.direction]
                advice = "write the share of a first, or turn the direction"
                yield Mistake(("planned", "reached"), mistake, expected, advice)

    def by_order(self, declared: Survivals) -> bool:
        return True

    def either_way(self, declared: Survivals) -> bool:
        return declared.direction == "different"

    def unpaired(self, declared: Survivals) -> Survivals:
        return declared

    def least_seeds(self, declared: Survivals, alpha: float, *, paired: bool) -> int:
        tails = 2 if declared.direction == "different" else 1
        return least_pairs(alpha, tails) if paired else least_splits(alpha, tails)

    def test(self, declared: Survivals, context: Context, read: Read) -> TestResult:
        from repro.stats.survival import log_rank

        a, b = arms_of(declared, read)
        at = known(context.measurement(declared).censored_at)
        return log_rank(a, b, at=at, alternative=TAILS[declared.direction], **context.level)

    def conclude(self, declared: Survivals, result: TestResult) -> Finding:
        return by_sign(result, sign=None) if result.p_opposite is None else by_p(result)

    def statement(self, declared: Survivals, context: Context) -> str:
        a, b = context.labels(declared)
        said = f"{a} is there {declared.direction} than {b}"
        if declared.direction == "different":
            said = f"{a} and {b} are not there at the same time"
        return headed(context.measured(declared), said)

    def name_of_test(self, declared: Survivals, context: Context) -> str:
        exchanged = "exchanges within pairs" if context.paired else "permutation"
        side = "two-sided" if declared.direction == "different" else "one-sided"
        return f"log-rank test by {exchanged}, {side}"

    def effect_label(self, declared: Survivals, context: Context) -> str:
        a, b = context.labels(declared)
        return f"{context.measured(declared)}, mean within the budget: {a} minus {b}"

    def limits(self, declared: Survivals, context: Context) -> tuple[base.LimitPart, ...]:
        return (
            base.LimitPart(value=0.0, label="zero, no difference", why="as soon as each other"),
        )

    def claimed(self, declared: Survivals, context: Context) -> base.Side:
        sides: dict[Direction, base.Side] = {
            "sooner": "below",
            "later": "above",
            "different": "outside",
        }
        return sides[declared.direction]

    def sentence(self, declared: Survivals, context: Context, found: Found) -> str:
        from repro.stats.survival import LogRankResult

        result = expect(found.result, LogRankResult)
        a, b = context.labels(declared)
        (reached_a, reached_b), (n_a, n_b) = result.reached, result.n
        budget = fmt.fixed(result.at, context.measurement(declared).digits)
        there = (
            f"{a} is there by {budget} in {reached_a} of {n_a} runs and {b} in {reached_b} of {n_b}"
        )
        text = digits(fmt.fixed, found.digits)
        size, word = text(abs(result.effect), 0), "longer" if result.effect > 0 else "shorter"
        reach = ends(found.interval, (0.0,), text)
        mean = f"The mean time within {budget} is {size} {word} with {a} than with {b}{reach}"
        said = headed(context.measured(declared), there)
        return f"{said}. {mean}. {_therefore(declared, found)}".rstrip()

    def assumes(self, declared: Survivals) -> str:
        if declared.planned is None:
            return ""
        a, b = (fmt.percent(share) for share in declared.planned.reached)
        return f"{a} there, against {b}"

    def planned(
        self, declared: Survivals, context: Context, plan: base.PlannedSeeds
    ) -> PlannedTest:
        from repro.stats.survival import PlannedSurvivals

        if declared.planned is None:
            raise ClaimError(NO_PLAN)
        a, b = declared.planned.reached
        return PlannedSurvivals(
            (plan.n,),
            effect=a,
            low=b,
            at=known(context.measurement(declared).censored_at),
            two_sided=declared.direction == "different",
            **context.level,
        )

    def on_power(self, declared: Survivals, context: Context, plan: base.PlannedSeeds) -> str:
        if declared.planned is None:
            return ""
        why = fmt.sentence(f"The planned shares: {declared.planned.why}")
        return f"{PAIRS} {why}" if context.paired else why

    def details(self, declared: Survivals, context: Context, result: TestResult) -> dict[str, str]:
        return {"not_reached": "runs that were not there count as longer than any that were"}


def _therefore(declared: Survivals, found: Found) -> str:
    p, contrary = both_p(found.result)
    if declared.direction == "different":
        return follows(
            found, f"Not at the same time, as claimed{p}.", "", f"No difference is shown{p}."
        )
    claimed = declared.direction
    other = "later" if claimed == "sooner" else "sooner"
    shown = f"{fmt.upper_first(claimed)} is not shown{p}."
    result = found.result
    if known(result.p_opposite) < known(result.p):
        shown = against(f"it looks {other}", contrary)
    confirmed = f"{fmt.upper_first(claimed)}, as claimed{p}."
    return follows(
        found, confirmed, f"{fmt.upper_first(other)}, against the claim{contrary}.", shown
    )
