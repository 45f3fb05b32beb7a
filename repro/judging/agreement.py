"""Agreement with the paper's numbers, by the prediction interval of a replication.

The interval is widened by what rounding may have hidden: every printed mean and standard
deviation is known only to half a unit of its last digit, which a shared baseline cancels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from repro.errors import ClaimError
from repro.expectations.kinds import kind_of
from repro.expectations.verdict_words import Agreement, Validity
from repro.judging import document as part
from repro.judging.digits import digits_of_effect
from repro.judging.document_parts import ReplicationPart
from repro.schema import numbers as fmt
from repro.specs.claim import UNSCALED, Claim, Published
from repro.stats.records import Arm, Interval, Sample, Summary, TestResult
from repro.stats.replication import (
    Prediction,
    Replication,
    predict,
    ratio_of,
    replicate,
)

OTHER_UNITS = frozenset(
    {
        "brunner_munzel",
        "tost_relative",
        "non_superiority_relative",
        "non_inferiority_relative",
    }
)
"""Tests of two means whose effect is a probability or relative."""


def agree(prediction: Prediction | None, result: TestResult) -> Agreement:
    """Compares our effect with what the paper's number predicts; ``None``: NOT-CHECKABLE.

    Inside the prediction interval, ends included: COMPATIBLE. Outside: OPPOSITE if the sign
    differs from the paper's and our own result excludes *no difference*, else LARGER or
    SMALLER by size signed so that the paper's effect is positive. A paper's effect of exactly
    none has no opposite and can only be exceeded. NOT-CHECKABLE, too, for a test whose effect
    is not in the units of the paper's number. statistics.md 2.1.
    """
    if prediction is None or result.test in OTHER_UNITS:
        return Agreement.NOT_CHECKABLE
    if result.effect in prediction.interval:
        return Agreement.COMPATIBLE
    theirs, ours = prediction.effect - prediction.null, result.effect - prediction.null
    if theirs * ours < 0 and _excludes(result, prediction.null):
        return Agreement.OPPOSITE
    return Agreement.LARGER if (ours - theirs) * (theirs or ours) > 0 else Agreement.SMALLER


def _excludes(result: TestResult, null: float) -> bool:
    """Whether a result with an effect other than ``null`` shows that it is not ``null``.

    By its interval; without one by p, at its level, of a one-sided test by the p of the side
    where the effect lies. A comparison without either is certain if it is exact.
    """
    if result.interval is not None:
        return null not in result.interval
    if result.p is None:
        return result.exact
    p: float | None = result.p
    one_sided = result.alternative in ("greater", "less")
    if one_sided and (result.alternative == "greater") != (result.effect > null):
        p = result.p_opposite
    return p is not None and p <= result.alpha


Pair = tuple[Arm, Arm]


def _part(found: Replication) -> ReplicationPart:
    """As the report holds it: a ratio is shown as a ratio, not as a difference of logarithms.

    ``ClaimError`` where one is too large for a number.
    """
    logs = found.scale == "log ratio"
    shown = ratio_of if logs else float
    ratio, pooled, doubt = found.effect_ratio, found.fixed_effect, found.sceptical
    notes = found.notes if ratio.low is not None else (*found.notes, f"effect ratio: {ratio.said}")
    return ReplicationPart(
        scale="ratio" if logs else "difference",
        original=shown(found.original.effect),
        ours=shown(found.ours.effect),
        prediction=(found.prediction.interval.low, found.prediction.interval.high),
        inside=found.compatible,
        effect_ratio=ratio.ratio,
        effect_ratio_low=ratio.low,
        effect_ratio_high=ratio.high,
        same_sign=found.same_sign,
        significant=found.significant,
        original_in_interval=found.covered,
        detectable=shown(found.small_telescopes.d33),
        telescope_p=found.small_telescopes.p,
        sceptical_nominal=None if doubt is None else doubt.nominal,
        sceptical_golden=None if doubt is None else doubt.golden,
        sceptical_controlled=None if doubt is None else doubt.controlled,
        pooled=shown(pooled.effect),
        pooled_low=shown(pooled.interval.low),
        pooled_high=shown(pooled.interval.high),
        q=pooled.q,
        q_p=pooled.q_p,
        notes=notes,
    )


Judged = Mapping[str, tuple[TestResult, Pair]]
"""Id of an expectation -> its result and the samples it is about."""

LEAST_SEEDS = 2
"""The number of seeds of a structural value, whose standard error is 0 whatever their number."""

WORST_FIRST = (Agreement.OPPOSITE, Agreement.LARGER, Agreement.SMALLER, Agreement.COMPATIBLE)


def judge_published(
    claim: Claim, validity: Validity, judged: Judged
) -> tuple[part.PublishedPart, ...]:
    """Every printed comparison and ours; only valid evidence at the paper's scale compares."""
    return tuple(_published_part(claim, printed, validity, judged) for printed in claim.published)


def overall(claim: Claim, published: tuple[part.PublishedPart, ...]) -> tuple[Agreement, str]:
    """The claim's agreement: that of its decisive expectations, disagreement first."""
    roles = {expectation.id: expectation.role for expectation in claim.expectations}
    deciding = [p for p in published if roles[p.expectation] == "decisive"]
    checked = [p for p in deciding if p.agreement is not Agreement.NOT_CHECKABLE]
    if not checked:
        none = "no printed number belongs to a decisive expectation"
        return Agreement.NOT_CHECKABLE, deciding[0].reason if deciding else none
    worst = min(checked, key=lambda p: WORST_FIRST.index(p.agreement))
    rest = len(deciding) - len(checked)
    more = f"; {rest} of {len(deciding)} printed comparisons cannot be checked" if rest else ""
    return worst.agreement, worst.reason + more


def _published_part(
    claim: Claim, printed: Published, validity: Validity, judged: Judged
) -> part.PublishedPart:
    agreement, reason = _agreement(claim, printed, validity, judged)
    compared = claim.scale == "paper" and validity is Validity.VALID
    return part.PublishedPart(
        expectation=printed.expectation,
        locator=_located(claim, printed),
        arms=tuple(
            part.PublishedArmPart(
                arm=arm, mean=printed_arm.mean, sd=printed_arm.sd, n=printed_arm.n
            )
            for arm, printed_arm in printed.arms.items()
        ),
        p=printed.p,
        agreement=agreement,
        reason=reason,
        replication=_replication(claim, printed, judged) if compared else None,
    )


def _located(claim: Claim, printed: Published) -> str:
    """Where it is printed, its note, and which of its values are structural and why."""
    said = [printed.locator, printed.note]
    for name, arm in printed.arms.items():
        if arm.structural is not None:
            said.append(f"{claim.arms[name].label}: {arm.structural}")
    return "; ".join(text for text in said if text)


def _replication(claim: Claim, printed: Published, judged: Judged) -> ReplicationPart | None:
    """Every measure of replication, where the paper prints what they need.

    None where arm a is the paper's own: the measures are those of a new a against b.
    """
    expectation = next(each for each in claim.expectations if each.id == printed.expectation)
    kind = kind_of(expectation)
    if printed.expectation not in judged or not kind.compares_means:
        return None
    _, ours = judged[printed.expectation]
    try:
        original = (_summary(printed, expectation.of[0]), _summary(printed, expectation.of[1]))
        if ours[0] == original[0]:
            return None
        found = replicate(
            original,
            ours,
            ratio=kind.scale(expectation) == "ratio",
            alpha=claim.alpha,
            shared_baseline=ours[1] == original[1],
            paired=_paired(claim, ours),
            original_test=kind.original_test(expectation),
        )
        return _part(found)
    except ClaimError:
        return None


def _agreement(
    claim: Claim, printed: Published, validity: Validity, judged: Judged
) -> tuple[Agreement, str]:
    if claim.scale != "paper":
        which = "what is declared" if claim.scale == UNSCALED else f"the {claim.scale} scale"
        return Agreement.NOT_CHECKABLE, f"{which} is not the paper's experiment"
    if validity is not Validity.VALID:
        return Agreement.NOT_CHECKABLE, f"the evidence is {validity}"
    expectation = next(each for each in claim.expectations if each.id == printed.expectation)
    if printed.expectation not in judged or not kind_of(expectation).compares_means:
        return Agreement.NOT_CHECKABLE, "nothing of ours to compare with the printed numbers"
    result, ours = judged[printed.expectation]
    if result.test in OTHER_UNITS:
        return Agreement.NOT_CHECKABLE, "our effect is in other units than the printed means"
    ratio = kind_of(expectation).scale(expectation) == "ratio"
    try:
        a, b = expectation.of
        prediction = _predict(printed, (a, b), ours, ratio=ratio, paired=_paired(claim, ours))
    except ClaimError as error:
        return Agreement.NOT_CHECKABLE, str(error)
    shown = digits_of_effect(expectation, claim, result, ours)
    low, high, ours_text = _distinct(
        (prediction.interval.low, prediction.interval.high, result.effect), shown, ratio=ratio
    )
    between = f"a replication should lie between {low} and {high}; ours is {ours_text}"
    reason = f"from {printed.locator} {between}"
    return agree(prediction, result), reason


def _paired(claim: Claim, ours: Pair) -> bool:
    """Whether our replicates are pairs; nothing of ours is the partner of a printed arm."""
    return claim.design == "paired" and all(isinstance(arm, Sample) for arm in ours)


def _predict(
    printed: Published, arms: tuple[str, str], ours: Pair, *, ratio: bool, paired: bool = False
) -> Prediction:
    """The prediction, over all originals that the printed digits allow.

    The digits of a baseline that both studies share allow nothing: the same printed number is
    subtracted on both sides.
    """
    a, b = (_summary(printed, arm) for arm in arms)
    if ours[0] == a:
        turned = _predict(printed, (arms[1], arms[0]), (ours[1], ours[0]), ratio=ratio)
        return _inverse(turned, ratio=ratio)
    shared = ours[1] == b
    means = (printed.arms[arm] for arm in arms)
    half_a, half_b = (half_unit(m.mean) if m.structural is None else 0.0 for m in means)
    half_b = 0.0 if shared else half_b
    corners = []
    for sign in (-1, 1):
        wide_a = replace(a, mean=a.mean + sign * half_a, sd=_widest(printed, arms[0]))
        wide_b = replace(b, mean=b.mean - sign * half_b, sd=_widest(printed, arms[1]))
        corners.append(
            predict((wide_a, wide_b), ours, ratio=ratio, shared_baseline=shared, paired=paired)
        )
    low = min(corner.interval.low for corner in corners)
    high = max(corner.interval.high for corner in corners)
    effect = a.mean / b.mean if ratio else a.mean - b.mean
    level = corners[0].interval.level
    return replace(corners[0], effect=effect, interval=Interval(low, high, level))


def _inverse(prediction: Prediction, *, ratio: bool) -> Prediction:
    """The same prediction of b minus a (or b over a) as one of a minus b (or a over b)."""

    def turn(value: float) -> float:
        return 1 / value if ratio else -value

    interval = Interval(
        turn(prediction.interval.high), turn(prediction.interval.low), prediction.interval.level
    )
    return replace(prediction, effect=turn(prediction.effect), interval=interval)


def _summary(printed: Published, arm: str) -> Summary:
    printed_arm = printed.arms.get(arm)
    if printed_arm is not None and printed_arm.structural is not None:
        return Summary(printed_arm.n or LEAST_SEEDS, float(printed_arm.mean), 0.0)
    if printed_arm is None or printed_arm.sd is None or printed_arm.n is None:
        message = f"{printed.locator} prints no standard deviation and number of seeds"
        raise ClaimError(message)
    return Summary(printed_arm.n, float(printed_arm.mean), float(printed_arm.sd))


def _widest(printed: Published, arm: str) -> float:
    """The largest standard deviation that rounds to the printed one; 0 of a structural value."""
    if printed.arms[arm].structural is not None:
        return 0.0
    sd = printed.arms[arm].sd or "0"
    return float(sd) + half_unit(sd)


def half_unit(number: str) -> float:
    """Half a unit of the last printed digit."""
    exponent = Decimal(number).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)


def _distinct(values: tuple[float, ...], shown: int, *, ratio: bool) -> list[str]:
    """Values as text, with as many digits as it takes to tell different ones apart."""
    for more in range(5):
        texts = [
            fmt.significant(value, 3 + more) if ratio else fmt.plus(value, shown + more)
            for value in values
        ]
        if len(set(texts)) == len(set(values)):
            break
    return texts
