"""Tested expectations as entries of the report document."""

from __future__ import annotations

import math

from repro.check.expectations import Judged, published_rule
from repro.check.kinds import Found, kind_of, name_of_test
from repro.check.kinds.association import AssociationKind, points_of
from repro.check.settle import settling
from repro.check.strength import strength_of
from repro.check.without import Case
from repro.evidence import Evidence
from repro.report import document as doc
from repro.report import format as fmt
from repro.specs.claim import Claim
from repro.specs.expectation import Association, Expectation, Proportion
from repro.stats.equivalence import MarginResult
from repro.stats.result import TestResult
from repro.stats.spending import GroupResult
from repro.stats.stopping import SequentialResult


def as_entry(
    judged: Judged, claim: Claim, evidence: Evidence, cases: tuple[Case, ...], *, valid: bool
) -> doc.Result:
    """The document's entry of a judged expectation; without ``valid`` evidence no conclusion.

    ``cases`` are the claim without each seed in turn.
    """
    one, result, kind = judged.expectation, judged.result, kind_of(judged.expectation)
    concludes = valid and not published_rule(one)
    conclusion = judged.conclusion if concludes else None
    interval = None if result is None else _interval(result)
    scale = kind.scale(one)
    text = _not_tested(judged)
    if result is not None:
        text = kind.sentence(one, claim, Found(result, interval, conclusion))
        more = settling(judged, claim, evidence) if concludes else None
        text = text if more is None else f"{text} {more.text}"
    return doc.Result(
        id=one.id,
        kind=one.kind,
        role=one.role,
        statement=kind.statement(one, claim),
        measurement=one.measurement,
        against=one.against if isinstance(one, Association) else None,
        arms=one.of,
        test=name_of_test(one, claim),
        alpha=claim.alpha,
        scale=scale,
        effect_label=kind.effect_label(one, claim),
        effect=None if result is None else result.effect,
        interval=None if scale == "none" else interval,
        limits=kind.limits(one, claim),
        claimed=kind.claimed(one, claim),
        p=None if result is None else result.p,
        p_against=None if result is None else result.p_opposite,
        df=None if result is None else result.df,
        conclusion=None if conclusion is None else conclusion.value,
        sentence=text,
        smallest_confirmable_margin=_smallest_margin(result),
        left_out=_left_out(one, cases) if concludes and result is not None else (),
        points=_points(one, evidence) if result is not None else (),
        details={} if result is None else _details(one, claim, evidence, result),
        strength=strength_of(judged) if concludes else None,
    )


def _not_tested(judged: Judged) -> str:
    """Why the test was refused, and whether more seeds would help; empty where it was not."""
    if not judged.refused:
        return ""
    help_ = "" if judged.too_few else ", and more seeds would not help"
    return f"Not tested{help_}: {judged.refused}."


def _left_out(one: Expectation, cases: tuple[Case, ...]) -> tuple[doc.LeftOut, ...]:
    """Without each seed of its own arms; what goes whole has the number of its first arm."""
    found = []
    for case in cases:
        again = case.judged.get(one.id)
        if again is not None and case.concerns(one):
            found.append(
                doc.LeftOut(
                    arm=case.arm if case.arm in one.of else one.of[0],
                    replicate=case.number,
                    conclusion=None if again.refused else again.conclusion.value,
                    refused=again.refused,
                )
            )
    return tuple(found)


def _interval(result: TestResult) -> doc.Interval | None:
    own = result.interval
    if own is None:
        return None
    low = own.low if math.isfinite(own.low) else None
    high = own.high if math.isfinite(own.high) else None
    return doc.Interval(low=low, high=high, level=own.level)


def _smallest_margin(result: TestResult | None) -> float | None:
    """The smallest margin that these data could have confirmed; of looks, by the present one."""
    if result is None:
        return None
    own = result.interval
    if isinstance(result, SequentialResult) and result.kind != "difference" and own is not None:
        low = 0.0 if result.low is None else -own.low
        high = 0.0 if result.high is None else own.high
        reach = max(0.0, low, high)
        return reach if math.isfinite(reach) else None
    return result.smallest_confirmable_margin if isinstance(result, MarginResult) else None


def _points(one: Expectation, evidence: Evidence) -> tuple[doc.Point, ...]:
    """The points of an association, for its picture."""
    if not isinstance(one, Association):
        return ()
    every = points_of(one, evidence.read)
    inside = [one.within is None or one.within.low <= y <= one.within.high for y in every.y]
    return tuple(
        doc.Point(arm=arm, replicate=seed, x=x, y=y, counted=counted)
        for arm, seed, x, y, counted in zip(
            every.arms, every.seeds, every.x, every.y, inside, strict=True
        )
    )


def _details(
    one: Expectation, claim: Claim, evidence: Evidence, result: TestResult
) -> dict[str, str]:
    """Facts about the test that have no field of their own."""
    kind = kind_of(one)
    facts = kind.details(one, claim, result)
    if isinstance(one, Association) and isinstance(kind, AssociationKind):
        return {**facts, **kind.facts_of_points(one, evidence.read)}
    if isinstance(result, SequentialResult) and result.left_out:
        alone = ", ".join(map(str, result.left_out))
        facts = {**facts, "without_a_partner": f"{alone}; left out"}
    if isinstance(result, GroupResult) and result.waiting:
        waiting = f"{result.waiting}, which count at the next planned look"
        facts = {**facts, "pairs_after_the_last_look": waiting}
    units = isinstance(one, Proportion)
    seeds = list(dict.fromkeys(fmt.count(n) for n in result.n))
    said = f"{seeds[0]} per arm" if len(seeds) == 1 < len(result.n) else " and ".join(seeds)
    return ({} if units else {"seeds": said}) | facts
