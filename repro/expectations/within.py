"""A new run, or the mean of several, against what the runs of a reference lead to expect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from repro.errors import ClaimError
from repro.expectations import base
from repro.expectations.base import Found, Kind, PlannedSeeds, Read, arms_of
from repro.expectations.decision_rules import by_p
from repro.expectations.declared import Context, Declared, Mistake, Pair
from repro.expectations.phrases import apart, digits, headed, margin_limit, margin_words, p_words
from repro.expectations.verdict_words import Conclusion, Finding
from repro.schema import numbers as fmt
from repro.schema.base import Margin
from repro.stats.records import TestResult, expect, known

if TYPE_CHECKING:
    from repro.stats.planning import PlannedTest
    from repro.stats.reference_runs import ReferenceUse, WithinResult


class WithinReference(Declared):
    """A run of a, or the mean of several, is what the runs of b, the reference, lead to expect.

    ``side`` is where a run is bad: on both sides, or only `higher`, or only `lower`, than that.
    Outside is against the claim, whatever the margin. Inside confirms it only where a ``margin``
    is declared and the whole interval of the shift lies within it. ``nights`` share alpha: so often
    one reference is used. ``tolerance`` is a confidence, such as 0.9: of so many references at most
    alpha of all runs lie beyond the limit, in any number of nights; it needs one side.
    """

    kind: Literal["within"]
    of: Pair
    side: Literal["both", "higher", "lower"] = "both"
    margin: Margin | None = None
    nights: Annotated[int, Field(ge=2, le=10_000)] | None = None
    tolerance: Annotated[float, Field(gt=0.5, lt=1)] | None = None

    @property
    def margins(self) -> tuple[float | None, float | None]:
        """The least and the largest shift that the margin allows; None where any is."""
        size = None if self.margin is None else self.margin.size
        low = None if size is None or self.side == "higher" else -size
        return low, None if self.side == "lower" else size


class WithinKind(Kind[WithinReference]):
    """The prediction interval of the reference; a limit of tolerance; alpha shared over nights."""

    Declared = WithinReference
    paired = False
    passes_open = True

    def mistakes(self, declared: WithinReference, context: Context) -> Iterator[Mistake]:
        if declared.margin is not None and declared.margin.relative is not None:
            mistake = "a relative margin moves with the mean of the reference, which has an error"
            advice = "write it as `abs` or `of_gain`"
            yield Mistake(("margin", "relative"), mistake, "one of abs, of_gain", advice)
        if declared.tolerance is None:
            return
        if declared.side == "both":
            mistake = "a limit of tolerance is on one side, and both are bad"
            advice = "name the bad side, or share alpha over `nights`"
            yield Mistake(("tolerance",), mistake, "side: higher, or side: lower", advice)
        if declared.nights is not None:
            mistake = "a limit of tolerance holds for any number of nights"
            advice = "leave `nights` or `tolerance` out"
            yield Mistake(("nights",), mistake, "one of the two", advice)

    def needs_values(self, declared: WithinReference, context: Context) -> Mistake | None:
        return None

    def least_seeds(self, declared: WithinReference, alpha: float, *, paired: bool) -> int:
        return 1

    def lone(self, declared: WithinReference) -> tuple[str, ...]:
        return declared.of[:1]

    def means_of(self, declared: WithinReference) -> tuple[str, ...]:
        return declared.of[:1]

    def test(self, declared: WithinReference, context: Context, read: Read) -> TestResult:
        from repro.stats.reference_runs import within

        new, reference = arms_of(declared, read)
        return within(
            new,
            reference,
            side=declared.side,
            margin=None if declared.margin is None else declared.margin.size,
            nights=declared.nights or 1,
            confidence=declared.tolerance,
            alpha=context.alpha,
        )

    def conclude(self, declared: WithinReference, result: TestResult) -> Finding:
        """Outside is against the claim, and inside confirms only within a margin."""
        return by_p(result)

    def either_way(self, declared: WithinReference) -> bool:
        return declared.side == "both"

    def cannot_settle(self, declared: WithinReference, result: TestResult) -> str:
        if declared.margin is not None:
            return ""
        return "No number of runs confirms it without a `margin`."

    def statement(self, declared: WithinReference, context: Context) -> str:
        new, reference = context.labels(declared)
        side = {"both": "within", "higher": "not above", "lower": "not below"}[declared.side]
        said = f"{new} is {side} what {reference} leads to expect"
        if declared.margin is not None:
            said += f", and {_shifted(declared, margin_words(declared.margin))}"
        return headed(context.measured(declared), said)

    def name_of_test(self, declared: WithinReference, context: Context) -> str:
        if declared.tolerance is not None:
            held = fmt.percent(declared.tolerance)
            return f"one-sided limit of tolerance, for {held} of references (noncentral t)"
        sided = "two-sided" if declared.side == "both" else "one-sided"
        shared = "" if declared.nights is None else f", alpha shared over {declared.nights} nights"
        return f"{sided} prediction interval of the reference (Student's t){shared}"

    def effect_label(self, declared: WithinReference, context: Context) -> str:
        a, b = context.labels(declared)
        return f"{context.measured(declared)}, {a} minus {b}"

    def sentence(self, declared: WithinReference, context: Context, found: Found) -> str:
        said = headed(context.measured(declared), _where(declared, context, _result(found)))
        return f"{said}. {_therefore(declared, found)}".rstrip()

    def limits(self, declared: WithinReference, context: Context) -> tuple[base.LimitPart, ...]:
        if declared.margin is None:
            return (base.LimitPart(value=0.0, label="no shift, 0", why=""),)
        ends = zip((-1, 1), declared.margins, strict=True)
        return tuple(margin_limit(sign, declared.margin) for sign, end in ends if end is not None)

    def claimed(self, declared: WithinReference, context: Context) -> base.Side:
        if declared.margin is None:
            return "none"
        sides: dict[str, base.Side] = {"both": "between", "higher": "below", "lower": "above"}
        return sides[declared.side]

    def details(
        self, declared: WithinReference, context: Context, result: TestResult
    ) -> dict[str, str]:
        from repro.stats.reference_runs import SCATTER

        found = _typed(result)
        places = context.measurement(declared).digits
        mean, sd = fmt.fixed(found.reference, places), fmt.significant(found.sd, 2)
        facts = {
            "reference": f"{found.n[-1]} runs, mean {mean}, standard deviation {sd}",
            "missed half of the time": f"a shift of {_missed(found)}",
            "night after night": _nights(found.watch),
        }
        if found.wider is not None:
            facts["scatter of new runs"] = (
                f"{fmt.significant(found.wider, 2)} times that of the reference (F-test, p at most "
                f"{SCATTER:g})"
            )
        if declared.tolerance is not None:
            most, sure = fmt.percent(context.alpha), fmt.percent(declared.tolerance)
            facts["limit of tolerance"] = f"for {sure} of references at most {most} lie beyond it"
        return facts

    def planned(
        self, declared: WithinReference, context: Context, plan: PlannedSeeds
    ) -> PlannedTest:
        from repro.stats.reference_runs import PlannedWithin

        watch = _planned_watch(declared, context, plan)
        try:
            sd = plan.design(context)["sd"][-1:]
        except ClaimError as error:
            raise ClaimError(f"{error}. {_half_missed(watch)}".rstrip(".")) from None
        size = (watch.k, watch.n)
        return PlannedWithin(size, sd, watch.tail, plan.effect, *declared.margins)

    def on_power(self, declared: WithinReference, context: Context, plan: PlannedSeeds) -> str:
        try:
            return _half_missed(_planned_watch(declared, context, plan))
        except ClaimError:
            return ""

    def assumes(self, declared: WithinReference) -> str:
        return "" if declared.margin is None else "no shift"


def _planned_watch(declared: WithinReference, context: Context, plan: PlannedSeeds) -> ReferenceUse:
    """As it is planned; ClaimError where the size of the reference is not known beforehand."""
    from repro.stats.reference_runs import ReferenceUse

    new, reference = declared.of
    n = plan.sizes.get(reference)
    if n is None:
        raise ClaimError("how many runs the reference has is known when its table is read")
    return ReferenceUse(
        n,
        plan.sizes.get(new, plan.n),
        declared.side,
        context.alpha,
        declared.nights or 1,
        declared.tolerance,
    )


def _half_missed(watch: ReferenceUse) -> str:
    shift = f"{fmt.significant(watch.missed_half(), 2)} standard deviations"
    return f"With {watch.n} runs of the reference a shift of {shift} is missed half of the time."


def _result(found: Found) -> WithinResult:
    return _typed(found.result)


def _typed(result: TestResult) -> WithinResult:
    from repro.stats.reference_runs import WithinResult

    return expect(result, WithinResult)


def _where(declared: WithinReference, context: Context, result: WithinResult) -> str:
    """`New is 3.41, outside 3.08 to 3.32, the range of a new run by the 10 runs of Old`."""
    new, reference = context.labels(declared)
    text = digits(fmt.fixed, context.measurement(declared).digits)
    low, high = result.limits
    value = result.reference + result.effect
    shown, first, last = apart([value, low, high], [low, high, value], text)
    k, n = result.n
    expected = "a new run" if k == 1 else f"a mean of {k}"
    outside = result.p_opposite is not None and result.p_opposite <= result.alpha
    if declared.side == "both":
        said, what = f"{'outside' if outside else 'inside'} {first} to {last}", "range of"
    else:
        side, end, most = "above", last, "highest"
        if declared.side == "lower":
            side, end, most = "below", first, "lowest"
        said, what = f"{side if outside else f'not {side}'} {end}", f"{most} to expect of"
    if result.wider is not None and not outside:
        times = fmt.significant(result.wider, 2)
        why = f"but its runs scatter {times} times as much as those of {reference}"
        return f"{new} is {shown}, {said}, {why}: nothing is confirmed"
    return f"{new} is {shown}, {said}, the {what} {expected} by the {n} runs of {reference}"


def _less(result: WithinResult) -> bool:
    """Whether the whole interval lies within a margin."""
    low, high, interval = result.low, result.high, known(result.interval)
    inside = (low is None or low < interval.low) and (high is None or interval.high < high)
    return inside and not low is high is None


def _therefore(declared: WithinReference, found: Found) -> str:
    """What follows; where nights are declared, with the false alarms that they make."""
    result = _result(found)
    over = "" if declared.nights is None else f" over {declared.nights} nights"
    alarms = "" if declared.nights is None else f" {_a_month(result.watch)}"
    margin = "" if declared.margin is None else margin_words(declared.margin)
    if found.conclusion is Conclusion.CONFIRMED:
        held = f"within the margin of {margin}" if declared.side == "both" else ""
        said = f"Inside, and {held or _shifted(declared, margin)}, as claimed"
        said += f"{p_words(result, against=over)}."
    elif found.conclusion is Conclusion.CONTRADICTED:
        said = f"Outside, against the claim{p_words(result, opposite=True, against=over)}"
        said += f", though shifted by less than the margin of {margin}." if _less(result) else "."
    elif found.conclusion is None:
        return ""
    elif result.wider is not None:
        said = "The interval has the scatter of the reference alone."
    else:
        within = f", and not shown to be within the margin of {margin}" if margin else ""
        said = f"Inside{within}, which proves little: a shift of {_missed(result)} would be inside "
        said += "half of the time."
    return f"{said}{alarms}"


def _shifted(declared: WithinReference, margin: str) -> str:
    """What a margin allows: on one side alone, where only that is bad."""
    both = declared.side == "both"
    return f"shifted by less than {margin}" if both else f"less than {margin} {declared.side}"


def _missed(result: WithinResult) -> str:
    """`0.12 (2.4 standard deviations)`: what is inside half of the time."""
    shift = fmt.significant(result.missed, 2)
    return f"{shift} ({fmt.significant(result.watch.missed_half(), 2)} standard deviations)"


def _a_month(watch: ReferenceUse) -> str:
    """The false alarms that are expected while nothing changes."""
    from repro.stats.reference_runs import MONTH

    found = fmt.significant(MONTH * watch.tail * watch.sides, 2)
    return f"False alarms to expect while nothing changes: {found} in {MONTH} nights."


def _nights(watch: ReferenceUse) -> str:
    """What one reference does, held against a new run every night, while nothing changes."""
    from repro.stats.reference_runs import MONTH, false_alarms

    found = false_alarms(watch)
    alarms, some = fmt.significant(found.a_month, 2), fmt.share(found.any_in_a_month, 2)
    return (
        f"{alarms} false alarms in {MONTH} nights on average, some in {some} of months; one "
        f"reference in ten has a rate above {fmt.share(found.one_in_ten, 3)} a night"
    )
