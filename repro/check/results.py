"""Tested expectations as entries of the report document."""

from __future__ import annotations

import math
from typing import Literal

from repro.check import words
from repro.check.expectations import Judged, Read, bound_limits, judge, published_rule
from repro.check.fragility import left_out
from repro.evidence import Evidence
from repro.report import document as doc
from repro.report import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import (
    Bound,
    Difference,
    Equivalence,
    Expectation,
    Margin,
    NonSuperiority,
    Ratio,
)
from repro.stats.equivalence import MARGIN
from repro.stats.result import TestResult
from repro.verdict import Conclusion

Side = Literal["below", "above", "between", "none"]


def as_entry(judged: Judged, claim: Claim, evidence: Evidence, *, valid: bool) -> doc.Result:
    """The document's entry of a judged expectation; without ``valid`` evidence no conclusion."""
    one, result = judged.expectation, judged.result
    concludes = valid and not published_rule(one)
    conclusion = judged.conclusion if concludes else None
    interval = None if result is None else _interval(result)
    scale = _scale(one)
    text = judged.refused
    if result is not None:
        text = words.sentence(one, claim, result, interval, conclusion)
    return doc.Result(
        id=one.id,
        kind=one.kind,
        role=one.role,
        statement=words.statement(one, claim),
        measurement=one.measurement,
        arms=one.of,
        test=words.name_of_test(one),
        alpha=claim.alpha,
        scale=scale,
        effect_label=words.effect_label(one, claim),
        effect=None if result is None else result.effect,
        interval=None if scale == "none" else interval,
        limits=_limits(one, claim),
        claimed=_claimed(one, claim),
        p=None if result is None else result.p,
        df=None if result is None else result.df,
        conclusion=None if conclusion is None else conclusion.value,
        sentence=text,
        smallest_confirmable_margin=_smallest_margin(result),
        left_out=_left_out(one, claim, evidence) if concludes else (),
        details=_details(one, result),
    )


def _left_out(one: Expectation, claim: Claim, evidence: Evidence) -> tuple[doc.LeftOut, ...]:
    def again(read: Read) -> Conclusion | None:
        judged = judge(one, claim, read)
        return None if judged.refused else judged.conclusion

    return left_out(evidence, again, one.of)


def _interval(result: TestResult) -> doc.Interval | None:
    own = result.interval
    if own is None:
        return None
    low = own.low if math.isfinite(own.low) else None
    high = own.high if math.isfinite(own.high) else None
    return doc.Interval(low=low, high=high, level=own.level)


def _scale(one: Expectation) -> Literal["difference", "ratio", "none"]:
    if isinstance(one, Ratio):
        return "ratio"
    return "difference" if isinstance(one, Difference | Equivalence | NonSuperiority) else "none"


def _limits(one: Expectation, claim: Claim) -> tuple[doc.Limit, ...]:
    """The declared limits on the axis of the effect, a minus b or a over b."""
    match one:
        case Difference():
            if one.smallest_effect is None:
                return (doc.Limit(value=0, label="no difference, 0", why=""),)
            margin = one.smallest_effect
            sign = -1 if one.direction == "lower" else 1
            label = f"smallest effect of interest, {_signed(sign * margin.abs)}"
            return (doc.Limit(value=sign * margin.abs, label=label, why=margin.why),)
        case Equivalence():
            return tuple(_margin(sign, one.margin) for sign in (-1, 1))
        case NonSuperiority():
            better = claim.measurements[one.measurement].better
            return (_margin(-1 if better == "lower" else 1, one.margin),)
        case Bound():
            sides = zip(bound_limits(one, claim), (one.at_least, one.at_most), strict=True)
            return tuple(
                doc.Limit(value=value, label=f"bound, {value:g}", why=declared.why)
                for value, declared in sides
                if value is not None and declared is not None
            )
        case _:
            least = one.at_least
            label = f"least ratio, {words.least_ratio(one)}"
            return (doc.Limit(value=least.value, label=label, why=least.why),)


def _margin(sign: int, margin: Margin) -> doc.Limit:
    value = sign * margin.abs
    return doc.Limit(value=value, label=f"margin, {_signed(value)}", why=margin.why)


def _signed(value: float) -> str:
    return fmt.signed(f"{value:+g}")


def _claimed(one: Expectation, claim: Claim) -> Side:
    match one:
        case Difference():
            sides: dict[str, Side] = {"lower": "below", "higher": "above", "different": "none"}
            return "none" if one.rule == "as_published" else sides[one.direction]
        case Equivalence():
            return "between"
        case NonSuperiority():
            lower = claim.measurements[one.measurement].better == "lower"
            return "above" if lower else "below"
        case Bound():
            return "between" if one.at_most and one.at_least else "none"
        case _:
            return "above"


def _smallest_margin(result: TestResult | None) -> float | None:
    margin = None if result is None else result.details.get(MARGIN)
    return float(margin) if isinstance(margin, float | int) else None


def _details(one: Expectation, result: TestResult | None) -> dict[str, str]:
    """Facts about the test that have no field of their own."""
    if result is None:
        return {}
    details = {"seeds": " and ".join(str(n) for n in result.n)}
    if isinstance(one, Ratio) and result.details.get("exact"):
        details["exact"] = "every seed of an arm gives the same value, so ratios compare exactly"
    return details
