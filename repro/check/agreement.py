"""Agreement with the paper's numbers, by the prediction interval of a replication."""

from __future__ import annotations

from collections.abc import Mapping

from repro.errors import ClaimError
from repro.report import document as doc
from repro.specs.claim import Claim, Published
from repro.specs.expectation import Bound, Ratio, Separation
from repro.stats.prediction import predict_difference, predict_ratio
from repro.stats.result import TestResult
from repro.stats.sample import Sample, Summary
from repro.verdict import Agreement, agree

Judged = Mapping[str, tuple[TestResult, tuple[Sample, Sample]]]
"""Id of an expectation -> its result and the samples it is about."""


def judge_published(claim: Claim, judged: Judged) -> tuple[doc.Published, ...]:
    """Every printed comparison beside ours; only the paper's own scale is compared."""
    return tuple(_one(claim, printed, judged) for printed in claim.published)


def overall(claim: Claim, published: tuple[doc.Published, ...]) -> tuple[Agreement, str]:
    """The claim's agreement: that of its decisive expectations, disagreement first."""
    roles = {one.id: one.role for one in claim.expectations}
    own = [p for p in published if roles[p.expectation] == "decisive"]
    checked = [p for p in own if p.agreement != "NOT-CHECKABLE"]
    if not checked:
        reason = own[0].reason if own else "no printed number belongs to a decisive expectation"
        return Agreement.NOT_CHECKABLE, reason
    order = [Agreement.OPPOSITE, Agreement.LARGER, Agreement.SMALLER, Agreement.COMPATIBLE]
    worst = min(checked, key=lambda p: order.index(Agreement(p.agreement)))
    return Agreement(worst.agreement), worst.reason


def _one(claim: Claim, printed: Published, judged: Judged) -> doc.Published:
    agreement, reason = _agreement(claim, printed, judged)
    return doc.Published(
        expectation=printed.expectation,
        locator=printed.locator,
        arms=tuple(
            doc.PublishedArm(arm=arm, mean=one.mean, sd=one.sd, n=one.n)
            for arm, one in printed.arms.items()
        ),
        p=printed.p,
        agreement=agreement.value,
        reason=reason,
    )


def _agreement(claim: Claim, printed: Published, judged: Judged) -> tuple[Agreement, str]:
    if claim.scale != "paper":
        reason = f"the {claim.scale} scale is not the paper's experiment"
        return Agreement.NOT_CHECKABLE, reason
    expectation = next(one for one in claim.expectations if one.id == printed.expectation)
    if printed.expectation not in judged or isinstance(expectation, Bound | Separation):
        return Agreement.NOT_CHECKABLE, "nothing of ours to compare with the printed numbers"
    result, ours = judged[printed.expectation]
    try:
        a, b = (_summary(printed, arm) for arm in expectation.of)
        predict = predict_ratio if isinstance(expectation, Ratio) else predict_difference
        prediction = predict((a, b), ours)
    except ClaimError as error:
        return Agreement.NOT_CHECKABLE, str(error)
    low, high = prediction.interval.low, prediction.interval.high
    reason = (
        f"from {printed.locator} a replication should lie between {low:.4g} and {high:.4g}; "
        f"ours is {result.effect:.4g}"
    )
    return agree(prediction, result), reason


def _summary(printed: Published, arm: str) -> Summary:
    one = printed.arms.get(arm)
    if one is None or one.sd is None or one.n is None:
        message = f"{printed.locator} prints no standard deviation and number of seeds"
        raise ClaimError(message)
    return Summary(one.n, float(one.mean), float(one.sd))
